"""The Celery edge, without Celery."""
