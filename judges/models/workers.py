"""Workers that were seen."""

from django.db import models


class Worker(models.Model):
    """A worker process and when it last said that it lives."""

    name = models.CharField(max_length=200, unique=True)
    queue = models.CharField(max_length=10)
    started_at = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField()

    class Meta:
        ordering = ["queue", "name"]

    def __str__(self) -> str:
        return self.name
