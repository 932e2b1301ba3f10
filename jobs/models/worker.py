"""Workers that were seen."""

from django.db import models


class Worker(models.Model):
    """A worker process and when it last said that it lives.

    `machine`, `pid` and `birth` are what `jobs.queue.identity` says of its process, so that another worker of
    the same machine can tell that it is gone; empty where the system does not say.
    `lacks` are the ids of the endpoints whose key its environment does not have: it leaves their calls to
    others.
    """

    name = models.CharField(max_length=200, unique=True)
    queue = models.CharField(max_length=10)
    machine = models.CharField(max_length=200, blank=True)
    pid = models.PositiveIntegerField(null=True)
    birth = models.CharField(max_length=40, blank=True)
    lacks = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    started_at = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField()

    class Meta:
        ordering = ["queue", "name"]

    def __str__(self) -> str:
        return self.name
