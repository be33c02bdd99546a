"""The Celery edge: turns messages into calls of one use case."""
