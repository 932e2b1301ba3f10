"""Searches in which a model proposes texts for a judge, and what the improving model was asked in them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Search(models.Model):
    """A search for a better text of a judge, on a bench's dev dialogues.

    It begins with `text` and puts its proposals into `prompt`. `material` is what it works on, taken down
    when it starts: per target of the bench its cluster, its part (learn, choose, held_back) and people's
    answers, so that the same replies lead to the same proposals whatever people answer meanwhile. `rater`
    stands in the improving model's calls alone. At most `rounds` proposals are asked for, from `few` cases
    each; no call is begun that would pass `most_calls` or `most_cost` (in the endpoint's currency).
    """

    class State(models.TextChoices):
        SEARCHING = "searching"
        SCORING = "scoring"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    bench = models.ForeignKey("judges.Bench", on_delete=models.CASCADE, related_name="searches")
    prompt = models.ForeignKey("judges.Prompt", on_delete=models.PROTECT, related_name="searches")
    parent = models.CharField(max_length=120)
    text = models.ForeignKey("judges.PromptText", on_delete=models.PROTECT, related_name="+")
    variant = models.CharField(max_length=60, blank=True)
    endpoint = models.ForeignKey("jobs.Endpoint", on_delete=models.PROTECT, related_name="+")
    improver = models.ForeignKey("jobs.Endpoint", on_delete=models.PROTECT, related_name="+")
    rater = models.OneToOneField("annotation.Rater", on_delete=models.PROTECT, related_name="search")
    options = models.JSONField(default=dict)
    rounds = models.PositiveIntegerField()
    few = models.PositiveIntegerField()
    most_calls = models.PositiveIntegerField()
    most_cost = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    seed = models.PositiveIntegerField(default=0)
    material = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.SEARCHING)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "searches"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["searching", "scoring", "done", "failed", "cancelled"]),
                name="search_state_known",
            ),
            models.CheckConstraint(
                condition=Q(rounds__gte=1, few__gte=1, most_calls__gte=1), name="search_has_bounds"
            ),
        ]

    def __str__(self) -> str:
        return f"search {self.pk} on bench {self.bench_id}"

    @property
    def active(self) -> bool:
        """Whether it goes on."""
        return self.state in (self.State.SEARCHING, self.State.SCORING)


class SearchText(models.Model):
    """A text that a search came upon: the one it began with (no `parent`), or a proposal.

    `draft` asks with it. `score` is its mean on the choosing fold, null where it was not tried there; `cases`
    are the keys of the items whose disagreements it came from; `version` is where it is kept as a proposal.
    """

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="texts")
    number = models.PositiveIntegerField()
    draft = models.OneToOneField("judges.Draft", on_delete=models.CASCADE, related_name="search_text")
    digest = models.CharField(max_length=64)
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    score = models.FloatField(null=True)
    cases = models.JSONField(default=list)
    diagnosis = models.TextField(blank=True)
    version = models.ForeignKey(
        "judges.PromptVersion", null=True, on_delete=models.SET_NULL, related_name="search_texts"
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["search", "number"], name="search_text_number_once"),
            models.UniqueConstraint(fields=["search", "digest"], name="search_text_once"),
        ]

    def __str__(self) -> str:
        return f"text {self.number} of search {self.search_id}"


class SearchRequest(models.Model):
    """What the improving model was asked in a search: once for the same words. Once it is `done`, `text` is
    what was proposed, or `error` says why there is nothing to be used."""

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="requests")
    digest = models.CharField(max_length=64)
    system = models.TextField()
    user = models.TextField()
    base = models.ForeignKey("judges.PromptText", on_delete=models.PROTECT, related_name="+")
    cases = models.JSONField(default=list)
    text = models.ForeignKey("judges.PromptText", null=True, on_delete=models.PROTECT, related_name="+")
    diagnosis = models.TextField(blank=True)
    error = models.TextField(blank=True)
    done = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["search", "digest"], name="search_asks_once")]

    def __str__(self) -> str:
        return f"request {self.pk} of search {self.search_id}"
