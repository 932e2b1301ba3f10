"""The work on calls: claim some, do them, write the results. The loop and Celery drive the same `work`."""

from judges.work.slices import work

__all__ = ["work"]
