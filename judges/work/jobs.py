"""A claimed call with all that it takes to do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotation.text.views import DEFAULT, View
from judges.material import Material, load
from judges.models import Call, Endpoint, Run
from judges.protocols import PROTOCOLS, Case, Prompt, Protocol, Reading
from judges.protocols.base import Asking, Computing
from judges.protocols.budget import TooLong, within


@dataclass(frozen=True, slots=True)
class Job:
    """A leased call of a judge: what it is about, and what to ask or how to compute it.

    `trouble` says why neither could be made; `flags` are about the prompt.
    """

    call: Call
    protocol: Protocol
    case: Case
    material: Material
    variant: str
    prompt: Prompt | None = None
    reading: Reading | None = None
    flags: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the call is made."""
        return self.call.run.endpoint


class Jobs:
    """Makes jobs of claimed calls; remembers the material of continuations whose calls follow each other."""

    KEPT = 256

    def __init__(self) -> None:
        self._material: dict[int, Material] = {}

    def make(self, ids: Sequence[int]) -> list[Job]:
        """Return the jobs of calls in order; those that need no request carry their reading."""
        rows = list(Call.objects.filter(pk__in=ids).order_by("pk"))
        self._remember({row.continuation_id for row in rows})
        runs = Run.objects.select_related("rater", "endpoint").in_bulk({row.run_id for row in rows})
        for row in rows:
            row.run = runs[row.run_id]
        return [self._job(row) for row in rows]

    def _job(self, call: Call) -> Job:
        spec = call.run.rater.spec
        protocol, variant = PROTOCOLS[spec["protocol"]], spec.get("variant", "")
        material = self._material[call.continuation_id]
        turn = None
        if call.item_id is not None:
            turn = next(index for index, item in material.items.items() if item == call.item_id)
        view = View(material.systems, tuple(spec.get("shows", DEFAULT)))
        case = Case(material.dialogue, material.continuation, turn, view)
        job = Job(call, protocol, case, material, variant)
        reading = _without_asking(protocol, case, variant)
        if reading is not None:
            return replace(job, reading=reading)
        assert isinstance(protocol, Asking)
        try:
            prompt, flags = within(protocol, case, variant, spec.get("budget"))
        except TooLong as error:
            return replace(job, trouble=str(error))
        return replace(job, prompt=prompt, flags=flags)

    def _remember(self, ids: set[int]) -> None:
        missing = ids - self._material.keys()
        if len(self._material) + len(missing) > self.KEPT:
            self._material = {pk: self._material[pk] for pk in ids & self._material.keys()}
        if missing:
            self._material |= load(missing)


def _without_asking(protocol: Protocol, case: Case, variant: str) -> Reading | None:
    """Return the answers that need no request, None where a model must be asked."""
    refusal = protocol.refusal(case, variant)
    if refusal:
        return protocol.unanswered(case, refusal)
    return protocol.judge(case) if isinstance(protocol, Computing) else None
