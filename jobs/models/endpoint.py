"""Where LLM judges are called."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from jobs.endpoints.parameters import FORMS
from jobs.fake_models import aliased

LONGEST_ADDRESS = 500
MOST_IN_A_BATCH = 10_000
"""Requests of a batch, where nobody said otherwise; providers allow 50,000 and more."""


class Endpoint(models.Model):
    """An OpenAI-compatible server and a model on it. The key stays in the environment, named by `key_env`.

    Prices are in `currency` per million tokens; null where unknown, and then no cost is shown. One that the
    environment declares is changed there (`from_environment`). `concurrency` is shared by all workers.
    `allow_private` lets it be at this machine or in its private network; see `jobs.endpoints.wire`. The
    `test_` fields say what the last test came to: asked for, done once a worker answered; `test_error` is
    empty where a reply came, after `test_ms` milliseconds. `requests_per_minute` and `tokens_per_minute` are
    limits of the provider, shared by all workers; null where there is none. `reply_form` is the form of
    structured output that it was found to take (`jobs.endpoints.parameters`), empty until it was asked.
    `batch_share` is the share of its prices that a call in a batch costs, null where it takes no batches; a
    file of a batch has at most `batch_most` requests, and `keep_batch_files` leaves the files of batches
    that have ended where they are. `family` is that of its model (gpt, llama ...): checks ask whether a
    judge favours systems of its own. `revision` names what is served there under the model's name (a
    commit, a quantisation), where somebody said so. `fake_model` says that its replies had the mark of one.
    `tokenizer` is a file, or a folder with one, by which estimates count its tokens, empty where none is
    known.
    """

    name = models.CharField(max_length=100, unique=True)
    base_url = models.URLField(max_length=LONGEST_ADDRESS)
    model = models.CharField(max_length=200)
    revision = models.CharField(max_length=200, blank=True, default="", db_default="")
    key_env = models.CharField(max_length=100, blank=True)
    price_in = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=10, default="USD")
    concurrency = models.PositiveIntegerField(default=16)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    family = models.CharField(max_length=60, blank=True, default="", db_default="")
    fake_model = models.BooleanField(default=False, db_default=False, editable=False)
    tokenizer = models.CharField(max_length=300, blank=True, default="", db_default="")
    reply_form = models.CharField(max_length=10, blank=True)
    batch_share = models.DecimalField(
        max_digits=5,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    batch_most = models.PositiveIntegerField(default=MOST_IN_A_BATCH, validators=[MinValueValidator(1)])
    keep_batch_files = models.BooleanField(default=False, db_default=False)
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

    @property
    def server(self) -> dict[str, str]:
        """What of it is part of who a judge or a writer is: its address, and its revision where given."""
        identity = {"address": self.base_url.rstrip("/"), "revision": self.revision}
        return {name: value for name, value in identity.items() if value}

    @property
    def answering_model(self) -> str:
        """Its model as judges and conditions name it: a fake one behind another name says so."""
        return aliased(self.model) if self.fake_model else self.model

    @property
    def form_told(self) -> str:
        """The form of structured output that it takes, in words; '' where that is not known."""
        return FORMS.get(self.reply_form, "")

    @property
    def takes_batches(self) -> bool:
        """Whether it offers batches."""
        return self.batch_share is not None


class Pace(models.Model):
    """How fast an endpoint may be asked now: one row an endpoint, changed under its lock.

    `width` is how many requests at once it takes after it refused some for their number (429), null where
    that is all its `concurrency`. The next request may begin at `next_request`, and at `next_tokens` where
    tokens a minute are limited; null where it never was asked.
    """

    endpoint = models.OneToOneField(Endpoint, primary_key=True, on_delete=models.CASCADE, related_name="pace")
    width = models.FloatField(null=True)
    shrunk_at = models.DateTimeField(null=True)
    next_request = models.DateTimeField(null=True)
    next_tokens = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"pace of endpoint {self.endpoint_id}"


class Share(models.Model):
    """How many requests at once a worker may make of an endpoint; the sum over workers is within its limit.

    `wanted` is how many it has use for. A share whose worker was not heard of until `expires` is nobody's.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="shares")
    worker = models.CharField(max_length=200)
    slots = models.PositiveIntegerField(default=0)
    wanted = models.PositiveIntegerField(default=0)
    expires = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "worker"], name="share_once")]

    def __str__(self) -> str:
        return f"{self.slots} of endpoint {self.endpoint_id} for {self.worker}"
