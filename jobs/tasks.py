"""Where Celery looks for tasks."""

from jobs.queue.celery_tasks import sweep, work_queue

__all__ = ["sweep", "work_queue"]
