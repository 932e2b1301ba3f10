"""Endpoints of LLM judges."""

from collections.abc import Iterable
from decimal import Decimal
from functools import cached_property
from typing import Self

from django.contrib.auth.models import User
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from jobs.endpoints.parameters import FORMS
from jobs.fake_models import aliased

LONGEST_ADDRESS = 500
MOST_IN_A_BATCH = 10_000
"""Default maximum requests per batch; providers allow 50,000 and more."""


class ModelPrice(models.Model):
    """Prices of a model, or of all models whose names begin alike, in `currency` per million tokens.

    `model` is a model's name as endpoints have it, or a beginning of names and one `*`. It is the price of
    endpoints without prices of their own (`Endpoint.model_price`).
    """

    model = models.CharField(
        max_length=200,
        unique=True,
        validators=[
            RegexValidator(r"^[^*\s][^*]*\*?$", "Give a name, with at most one * and only at its end.")
        ],
        help_text="The name as in the endpoint, or its beginning and *, such as example-large*.",
    )
    price_in = models.DecimalField(
        "Price of a million tokens read", max_digits=12, decimal_places=6, validators=[MinValueValidator(0)]
    )
    price_out = models.DecimalField(
        "Price of a million tokens written",
        max_digits=12,
        decimal_places=6,
        validators=[MinValueValidator(0)],
    )
    currency = models.CharField(
        max_length=10, default="USD", help_text="Endpoints in another currency do not take these prices."
    )
    changed_by = models.ForeignKey(
        User, null=True, editable=False, on_delete=models.SET_NULL, related_name="model_prices"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["model"]
        constraints = [
            models.CheckConstraint(
                name="model_price_not_negative", condition=Q(price_in__gte=0, price_out__gte=0)
            ),
            models.CheckConstraint(
                name="model_price_of_a_name", condition=Q(model__regex=r"^[^*[:space:]][^*]*[*]?$")
            ),
        ]

    def __str__(self) -> str:
        return self.model

    @property
    def prefix(self) -> str:
        """The name, or the beginning of names before `*`."""
        return self.model.removesuffix("*")

    def fits(self, model: str) -> bool:
        """Whether it is the price of a model, by its name."""
        return model.startswith(self.prefix) if self.model.endswith("*") else model == self.model

    @classmethod
    def best(cls, rows: Iterable[Self], model: str) -> Self | None:
        """Return the row of a model's name: the exact one, else that with the longest prefix."""
        fitting = [row for row in rows if row.fits(model)]
        return max(fitting, key=lambda row: (len(row.prefix), row.prefix == row.model), default=None)


class Endpoint(models.Model):
    """An OpenAI-compatible server and a model on it.

    Its key is in the environment variable `key_env` or, encrypted, in `stored_key`
    (`jobs.endpoints.endpoint_actions`). Without an `owner` it belongs to the installation. A researcher's own
    is used, changed and seen by the owner and administrators alone; with `shared` everybody uses and sees it.
    It never takes a key, a file or the private network of the server.

    Prices are in `currency` per million tokens; without its own, those of `model_price` apply. An endpoint
    declared in the environment is changed there (`from_environment`). `allow_private` permits an address on
    this machine or in its private network; see `jobs.endpoints.wire`. `reply_form` is one of
    `jobs.endpoints.parameters`, empty until the first request. `batch_share` is null if it takes no batches;
    a batch file has at most `batch_most` requests. `fake_model`: its replies had a fake model's mark. The
    `test_` fields hold the last test: when requested, when a worker finished it; `test_error` is empty if a
    reply came, `test_reply`, after `test_ms` ms.
    """

    name = models.CharField(max_length=100, unique=True)
    base_url = models.URLField(
        "Base URL",
        max_length=LONGEST_ADDRESS,
        help_text="Of an OpenAI-compatible API, such as https://api.openai.com/v1",
    )
    model = models.CharField(max_length=200)
    revision = models.CharField(
        "Served revision",
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="What the server really serves under this name: a commit, a date, a quantisation such as "
        "Q4. It is part of who a judge is, as the address is. May stay empty.",
    )
    family = models.CharField(
        "Family of the model",
        max_length=60,
        blank=True,
        default="",
        db_default="",
        help_text="Such as gpt or llama: a check asks whether a judge favours its own. May stay empty.",
    )
    tokenizer = models.CharField(
        max_length=300,
        blank=True,
        default="",
        db_default="",
        help_text="A tokenizer.json on this machine, or a folder with one: estimates of what is written "
        "count tokens by it. Empty: four characters to a token.",
    )
    key_env = models.CharField(
        "Variable of the key",
        max_length=100,
        blank=True,
        help_text="Instead of a stored key: the environment variable that holds it where the workers run, "
        "from CONCORD_KEY_VARIABLES.",
    )
    stored_key = models.TextField(blank=True, default="", db_default="", editable=False)
    owner = models.ForeignKey(
        User, null=True, editable=False, on_delete=models.PROTECT, related_name="endpoints"
    )
    shared = models.BooleanField(
        "Everybody may use it",
        default=False,
        db_default=False,
        help_text="Its calls are then paid with your key, whoever starts them. The key itself stays hidden.",
    )
    price_in = models.DecimalField(
        "Price of a million tokens read",
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Both empty: the prices by model apply, where there are some; else no cost is shown.",
    )
    price_out = models.DecimalField(
        "Price of a million tokens written", max_digits=12, decimal_places=6, null=True, blank=True
    )
    currency = models.CharField(max_length=10, default="USD")
    concurrency = models.PositiveIntegerField(
        "Requests at once", default=16, help_text="Shared by all workers."
    )
    requests_per_minute = models.PositiveIntegerField(
        "Requests a minute", null=True, blank=True, help_text="Shared by all workers; empty: no limit."
    )
    tokens_per_minute = models.PositiveIntegerField(
        "Tokens a minute",
        null=True,
        blank=True,
        help_text="Read and written, shared by all workers; empty: no limit.",
    )
    fake_model = models.BooleanField(default=False, db_default=False, editable=False)
    reply_form = models.CharField(
        "Structured output",
        max_length=10,
        blank=True,
        help_text="How replies with fields are asked for; what the endpoint takes is remembered here.",
    )
    batch_share = models.DecimalField(
        "Share of the price in a batch",
        max_digits=5,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="0 to 1: what a call in a batch costs of the prices above, such as 0.5. Empty: the "
        "endpoint takes no batches.",
    )
    batch_most = models.PositiveIntegerField(
        "Most requests of a batch",
        default=MOST_IN_A_BATCH,
        validators=[MinValueValidator(1)],
        help_text=f"Of its file; providers say how many they take. Empty: {MOST_IN_A_BATCH:,}.",
    )
    keep_batch_files = models.BooleanField(
        "Keep the files of batches at the provider",
        default=False,
        db_default=False,
        help_text="Without this they are deleted there once a batch is collected.",
    )
    timeout_s = models.PositiveIntegerField("Seconds to wait for a reply", default=120)
    allow_private = models.BooleanField(
        "At this machine or in its private network",
        default=False,
        help_text="Without this, addresses such as 127.0.0.1 or 10.0.0.5 are not connected to, whatever name "
        "leads there.",
    )
    active = models.BooleanField(default=True)
    from_environment = models.BooleanField(default=False)
    test_asked = models.DateTimeField(null=True, editable=False)
    test_done = models.DateTimeField(null=True, editable=False)
    test_error = models.TextField(blank=True, editable=False)
    test_ms = models.PositiveIntegerField(null=True, editable=False)
    test_reply = models.CharField(max_length=200, blank=True, default="", db_default="", editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(name="endpoint_has_one_key", condition=Q(key_env="") | Q(stored_key="")),
            models.CheckConstraint(
                name="own_endpoint_takes_nothing_of_the_server",
                condition=Q(owner__isnull=True)
                | Q(key_env="", tokenizer="", allow_private=False, from_environment=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def server(self) -> dict[str, str]:
        """Server identity as part of a judge's or writer's identity: URL, and revision if set."""
        identity = {"address": self.base_url.rstrip("/"), "revision": self.revision}
        return {name: value for name, value in identity.items() if value}

    @property
    def answering_model(self) -> str:
        """Model name as used in judges and conditions: a fake model under another name is marked."""
        return aliased(self.model) if self.fake_model else self.model

    @cached_property
    def model_price(self) -> ModelPrice | None:
        """Row of the table of prices for its model, at the first look; None with a price of its own."""
        return None if self.has_own_price else ModelPrice.best(ModelPrice.objects.all(), self.model)

    @property
    def has_own_price(self) -> bool:
        """Whether it has a price of its own, so that the table of prices does not apply."""
        return self.price_in is not None or self.price_out is not None

    @property
    def prices(self) -> tuple[Decimal, Decimal] | None:
        """Prices of a million tokens read and written, in `currency`; None if either is unknown.

        A price of its model in another currency counts as unknown: the costs of earlier calls are in this
        one.
        """
        source = self if self.has_own_price else self.model_price
        if source is None or source.currency != self.currency:
            return None
        price_in, price_out = source.price_in, source.price_out
        return None if price_in is None or price_out is None else (price_in, price_out)

    @property
    def needs_key(self) -> bool:
        """Whether requests carry a key."""
        return bool(self.key_env or self.stored_key)

    @property
    def form_text(self) -> str:
        """Supported form of structured output, in words; '' if unknown."""
        return FORMS.get(self.reply_form, "")

    @property
    def takes_batches(self) -> bool:
        """Whether it offers batches."""
        return self.batch_share is not None


class Pace(models.Model):
    """Current rate of an endpoint: one row per endpoint, changed under its lock.

    `width` is the limit on concurrent requests after some were refused with 429, null for the full
    `concurrency`. The next request may start at `next_request`, and at `next_tokens` if tokens per minute are
    limited; null before the first request.
    """

    endpoint = models.OneToOneField(Endpoint, primary_key=True, on_delete=models.CASCADE, related_name="pace")
    width = models.FloatField(null=True)
    shrunk_at = models.DateTimeField(null=True)
    next_request = models.DateTimeField(null=True)
    next_tokens = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"pace of endpoint {self.endpoint_id}"


class Share(models.Model):
    """A worker's share of an endpoint's concurrent requests; the sum over workers is within its limit.

    `wanted` is the number it could use. A share whose worker was not seen by `expires` is free.
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
