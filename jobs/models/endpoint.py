"""Where LLM judges are called."""

from django.db import models


class Endpoint(models.Model):
    """An OpenAI-compatible server and a model on it. The key stays in the environment, named by `key_env`.

    Prices are in `currency` per million tokens; null where unknown, and then no cost is shown. One that the
    environment declares is changed there (`from_environment`). `concurrency` is shared by all workers.
    `allow_private` lets it be at this machine or in its private network; see `jobs.endpoints.addresses`.
    The `test_` fields say what the last test came to: asked for, done once a worker answered; `test_error` is
    empty where a reply came, after `test_ms` milliseconds.
    """

    name = models.CharField(max_length=100, unique=True)
    base_url = models.URLField(max_length=500)
    model = models.CharField(max_length=200)
    key_env = models.CharField(max_length=100, blank=True)
    price_in = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=10, default="USD")
    concurrency = models.PositiveIntegerField(default=16)
    timeout_s = models.PositiveIntegerField(default=120)
    active = models.BooleanField(default=True)
    allow_private = models.BooleanField(default=False)
    from_environment = models.BooleanField(default=False)
    test_asked = models.DateTimeField(null=True, editable=False)
    test_done = models.DateTimeField(null=True, editable=False)
    test_error = models.TextField(blank=True, editable=False)
    test_ms = models.PositiveIntegerField(null=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
