"""The calls in which improving models are asked: made ready, read, and what they proposed taken down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from annotation.text.views import one_line
from calibration.models import Search, SearchRequest
from calibration.searches.bounds import REPLY_TOKENS
from jobs.calls.outcomes import Outcome
from jobs.calls.prepared import Asked, Read
from jobs.models import Call, Run
from jobs.prompt import Prompt, Tokens
from judges.drafts import benches
from judges.models import BenchTarget
from judges.prompts import search as reflection
from judges.prompts import versions
from judges.prompts.search import Answers, Disagreement, Target, Value
from judges.protocols import PROTOCOLS
from judges.protocols.base import Asking
from judges.runs.material import answers_for_needs, case_of, load
from judges.runs.plans import asker_of

# What an improving model is shown of a disagreement: what the judge saw, what it said, what people said.

MATERIAL = (
    "facts",
    "people",
    "profiles",
    "history",
    "context",
    "turns",
    "responses",
    "turn_scores",
    "rated",
    "reference",
    "response",
)
"""The variables that hold what a judge sees, in the order in which they are shown."""


def disagreement(search: Search, row: BenchTarget, target: Target, answers: Answers) -> Disagreement:
    """Return a case for the improving model; of turns without any difference nothing is said."""
    spec = search.texts.select_related("draft__rater").earliest("number").draft.rater.spec
    asker = asker_of(spec)
    assert isinstance(asker.protocol, Asking)
    loaded = load({row.continuation_id})
    given = answers_for_needs(asker.protocol, spec["needs"], loaded) if "needs" in spec else {}
    material = loaded[row.continuation_id]
    case = case_of(material, row.item_id, spec, given.get(row.continuation_id), asker.parts()[0])
    values = asker.protocol.values(case, asker.variant)
    shown = tuple(
        filling if isinstance(filling, str) else filling()
        for filling in (values[name] for name in MATERIAL if name in values)
    )
    number = {item: place + 1 for place, item in enumerate(_in_order(material.items))}
    many = len({item for _, item in target.people}) > 1
    judged: list[str] = []
    said: list[str] = []
    for (name, item), people in target.people.items():
        judge = answers.get((name, item))
        if many and all(judge == value for value in people):
            continue
        where = f"[{number[item]}] " if many else ""
        judged.append(f"{where}{name}: {_written(judge)}")
        said.append(f"{where}{name}: {', '.join(map(_written, people))}")
    return Disagreement(target.key, shown, tuple(judged), tuple(said))


def _in_order(items: Mapping[int | None, int]) -> Sequence[int]:
    return [item for turn, item in sorted((turn, item) for turn, item in items.items() if turn is not None)]


def _written(value: Value | None) -> str:
    if value is None:
        return "(no answer)"
    return one_line(value) if isinstance(value, str) else f"{value:g}"


class ImproveRun:
    """Runs of improving models: a call is a request of a search."""

    def preparer(self) -> ImproveRun:
        """Nothing is remembered from one batch to the next."""
        return self

    def make(self, calls: Sequence[Call]) -> list[Asked]:
        """Return the calls made ready, in order."""
        rows = SearchRequest.objects.select_related(
            "search__bench", "search__improver", "search__rater", "base"
        )
        found = {
            (row.search_id, row.digest): row for row in rows.filter(digest__in=[call.part for call in calls])
        }
        return [self._asked(call, found[call.run.scope["search"], call.part]) for call in calls]

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Improving models are asked, not computed."""
        raise AssertionError(f"{len(calls)} requests for proposals on the queue of metrics")

    def record(self, given: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Take down what was proposed; a proposal is no label."""
        for _, answers in given:
            for request, proposal in answers:
                SearchRequest.objects.filter(pk=request, done=False).update(
                    text=versions.store(wording=proposal.wording), diagnosis=proposal.diagnosis, done=True
                )
        return 0

    def reopened(self, run: Run) -> None:
        """Nothing but its calls says what is asked again."""

    def settled(self, run: Run) -> None:
        """Let the search go on."""
        run.values = SearchRequest.objects.filter(search=run.scope["search"], text__isnull=False).count()
        run.missing, run.missing_reason = 0, ""
        benches.settled(run)

    def _asked(self, call: Call, row: SearchRequest) -> Asked:
        prompt = Prompt(row.system, row.user, reflection.SCHEMA)
        search = row.search
        sent = search.rater.spec.get("parameters", {})
        read = partial(_read, row)
        return Asked(call, "improve", prompt, None, search.improver.model, sent, read, REPLY_TOKENS)


def _read(row: SearchRequest, reply: str, _tokens: Tokens) -> Read:
    protocol = PROTOCOLS[row.search.bench.protocol]
    assert isinstance(protocol, Asking)
    known = protocol.known_variables(row.search.variant)
    proposal = reflection.read(reply, versions.wording_of(row.base), known)
    return Read(((row.pk, proposal),))


RUN = ImproveRun()
