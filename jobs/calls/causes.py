"""Failed calls of a run by cause: equal errors once, with their number, an example and the next step."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import CharField, Count, F, Func, Min, Q, QuerySet, TextField, Value
from django.db.models.functions import Coalesce, Concat

from jobs import errors
from jobs.errors import JobError
from jobs.models.run import Call, Run

MOST_CAUSES = 20
"""Causes listed, the commonest first: a run with more has errors that differ in their texts."""
MOST_CALLS = 20_000
"""Failed calls that are grouped, the first ones of the run, so that a page stays quick."""

NEXT_STEPS: dict[str, str] = {
    errors.TRANSPORT: "Check that the endpoint's server runs and its address is right, then ask again.",
    errors.SERVER: "The fault is at the endpoint: ask again once it has recovered.",
    errors.RATE_LIMIT: "Lower the endpoint's requests a minute or at once, then ask again.",
    errors.ACCESS: "Correct the key, the model or the address on the endpoint's page, then ask again.",
    errors.PARAMETER: "Start the judge anew without this parameter: a run never changes its parameters.",
    errors.REQUEST: "Read the endpoint's message; correct the endpoint or the prompt.",
    errors.CONTEXT_TOO_LONG: "Use a model with a longer context, or a smaller budget of characters.",
    errors.OVER_BUDGET: "Start the judge anew with a larger budget of characters.",
    errors.TEST_EXAMPLES: "Pick the prompt's worked examples anew, then start the judge with that version.",
    errors.REFUSAL: "The model refuses this content; another model may answer. Asking again rarely helps.",
    errors.CONTENT_FILTER: "Relax the filter at the endpoint, or use another; asking again rarely helps.",
    errors.TRUNCATED: "Start the judge anew with more tokens for a reply.",
    errors.UNPARSEABLE: "Read the example: ask again if it looks like chance, else correct the prompt.",
    errors.OUT_OF_SCALE: "Name the scale's values in the prompt, or ask again if it looks like chance.",
    errors.CHANGED: "Ask again: the calls then read the present texts.",
    errors.LOST_WORKER: "Look into the worker's log for the reason of its ends, then ask again.",
    errors.DEFECT: "Report the error with the example; asking again gives the same.",
}
"""The next step for each error kind, in one sentence."""
UNKNOWN_STEP = "Read the example, then ask again."


class _Replaced(Func):
    function = "regexp_replace"
    output_field = TextField()


_CAUSE = _Replaced(
    _Replaced(F("error"), Value(errors.TRIES_PATTERN), Value("")),
    Value(errors.NUMBERS_PATTERN.replace(r"\b", r"\y")),
    Value("#"),
    Value("gi"),
)
_KEY = Func(
    Concat("error_kind", Value("\n"), "cause", output_field=TextField()),
    function="md5",
    output_field=CharField(),
)


@dataclass(frozen=True, slots=True)
class Cause:
    """Failed calls with the same error, apart from numbers and ids.

    `key` names the group, `kind` is its error kind ('' if none was recorded), `error` the text of the
    example, `n` the number of calls. The example is the first call with a reply, else the first.
    """

    key: str
    kind: str
    error: str
    n: int
    example: Call

    @property
    def description(self) -> str:
        """Its error kind in words."""
        return errors.describe_kind(self.kind)

    @property
    def next_step(self) -> str:
        """What to do, in one sentence."""
        return NEXT_STEPS.get(self.kind, UNKNOWN_STEP)


def failure_causes(run: Run) -> list[Cause]:
    """Return the causes of a run's failed calls, the commonest first; at most `MOST_CAUSES`.

    Counts are exact up to `MOST_CALLS` failed calls; of more, the first are grouped.
    """
    failed = run.calls.filter(state=Call.State.FAILED).order_by("pk")
    first = failed.values("pk")[:MOST_CALLS]
    rows = list(
        Call.objects.filter(pk__in=first)
        .annotate(cause=_CAUSE)
        .annotate(key=_KEY)
        .values("key")
        .annotate(n=Count("pk"), example=Coalesce(Min("pk", filter=~Q(reply="")), Min("pk")))
        .order_by("-n", "example")[:MOST_CAUSES]
    )
    related = ("continuation__dialogue", "item__turn", "run__rater", "run__endpoint")
    examples = Call.objects.select_related(*related).in_bulk([row["example"] for row in rows])
    return [
        Cause(row["key"], call.error_kind, errors.without_tries(call.error), row["n"], call)
        for row in rows
        if (call := examples.get(row["example"]))
    ]


def calls_of_cause(run: Run, key: str) -> QuerySet[Call]:
    """Return the failed calls of one cause; raise JobError where there is none."""
    calls = run.calls.filter(state=Call.State.FAILED).annotate(cause=_CAUSE).annotate(key=_KEY)
    calls = calls.filter(key=key)
    if not calls.exists():
        raise JobError("No failed call of this run has that cause any more: see its page.")
    return calls
