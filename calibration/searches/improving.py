"""The calls in which improving models are asked: made ready, read, and what they proposed taken down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from calibration.models import SearchRequest
from calibration.searches.bounds import REPLY_TOKENS
from jobs.asking.asked import Asked, Read
from jobs.asking.outcomes import Outcome
from jobs.models import Call, Run
from jobs.prompt import Prompt, Tokens
from judges.drafts import steps
from judges.prompt_search import reflection
from judges.prompt_versions import texts
from judges.protocols import PROTOCOLS, Asking


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
                    text=texts.store(wording=proposal.wording), diagnosis=proposal.diagnosis, done=True
                )
        return 0

    def reopened(self, run: Run) -> None:
        """Nothing but its calls says what is asked again."""

    def settled(self, run: Run) -> None:
        """Let the search go on."""
        run.values = SearchRequest.objects.filter(search=run.scope["search"], text__isnull=False).count()
        run.missing, run.missing_reason = 0, ""
        steps.settled(run)

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
    proposal = reflection.read(reply, texts.wording_of(row.base), known)
    return Read(((row.pk, proposal),))


RUN = ImproveRun()
