"""Workers that were seen."""

from django.db import models


class Worker(models.Model):
    """A worker process and when it last said that it lives.

    `machine`, `pid` and `began` say which process it is (see `judges.work.identity`), so that others on its
    machine see that it is gone.
    """

    name = models.CharField(max_length=200, unique=True)
    queue = models.CharField(max_length=10)
    started_at = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField()
    machine = models.CharField(max_length=200, blank=True)
    pid = models.PositiveIntegerField(null=True)
    began = models.PositiveBigIntegerField(null=True)

    class Meta:
        ordering = ["queue", "name"]

    def __str__(self) -> str:
        return self.name
