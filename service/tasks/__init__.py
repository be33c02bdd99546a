"""The Celery edge: passes messages to one use case."""
