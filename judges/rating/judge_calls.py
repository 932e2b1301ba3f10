"""The calls of judges: from a case to the prompt, from the reply to answers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from annotation.labels.recording import Answer
from annotation.text.views import DEFAULT, View
from jobs.asking.asked import Asked, Read
from jobs.asking.outcomes import DEFECTS, Outcome
from jobs.models import Call, Run
from judges.material.loading import Material, load
from judges.protocols import PROTOCOLS, Case, Prompt, Protocol, Reading
from judges.protocols.base import Asking, Computing
from judges.protocols.budget import TooLong, within
from judges.rating import recording

logger = logging.getLogger(__name__)


class JudgeRun:
    """Runs of judges: their protocol says what to ask, or computes the answer from the text."""

    def preparer(self) -> JudgePreparer:
        """Return what makes calls ready, for one slice of work."""
        return JudgePreparer()

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Judges are asked, not computed."""
        raise AssertionError(f"{len(calls)} calls of judges on the queue of metrics")

    def record(self, given: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers as labels; return how many are new."""
        return recording.record_all(given)

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers."""
        recording.count_values(run)


class JudgePreparer:
    """Makes calls ready; remembers the material of continuations whose calls follow each other."""

    KEPT = 256

    def __init__(self) -> None:
        self._material: dict[int, Material] = {}

    def make(self, calls: Sequence[Call]) -> list[Asked]:
        """Return the calls made ready, in order; those that need no request carry their outcome."""
        self._remember({call.continuation_id for call in calls})
        return [self._asked(call) for call in calls]

    def _asked(self, call: Call) -> Asked:
        spec = call.run.rater.spec
        protocol, variant = PROTOCOLS[spec["protocol"]], spec.get("variant", "")
        material = self._material[call.continuation_id]
        turn = None
        if call.item_id is not None:
            turn = next(index for index, item in material.items.items() if item == call.item_id)
        view = View(material.systems, tuple(spec.get("shows", DEFAULT)))
        case = Case(material.dialogue, material.continuation, turn, view)
        try:
            prompt, flags, reading = _prepared(protocol, case, variant, spec.get("budget"))
        except TooLong as error:
            return Asked(call, protocol.key, known=Outcome(call.pk, "failed", error=str(error)))
        except DEFECTS as error:
            logger.exception("%s failed on call %s", protocol.key, call.pk)
            trouble = f"defect in the protocol: {type(error).__name__}: {error}"
            return Asked(call, protocol.key, known=Outcome(call.pk, "failed", error=trouble))
        if reading is not None:
            done = Outcome(call.pk, "done", answers_of(call, material, reading), reading.flags)
            return Asked(call, protocol.key, known=done)
        read = partial(_read, call, protocol, case, material, flags)
        return Asked(call, protocol.key, prompt, None, spec["model"], spec.get("parameters", {}), read)

    def _remember(self, ids: set[int]) -> None:
        missing = ids - self._material.keys()
        if len(self._material) + len(missing) > self.KEPT:
            self._material = {pk: self._material[pk] for pk in ids & self._material.keys()}
        if missing:
            self._material |= load(missing)


def _prepared(
    protocol: Protocol, case: Case, variant: str, budget: int | None
) -> tuple[Prompt | None, tuple[str, ...], Reading | None]:
    """Return the prompt and its flags, or the answers that need no request. Raises TooLong."""
    refusal = protocol.refusal(case, variant)
    if refusal:
        return None, (), protocol.unanswered(case, refusal)
    if isinstance(protocol, Computing):
        return None, (), protocol.judge(case)
    assert isinstance(protocol, Asking)
    prompt, flags = within(protocol, case, variant, budget)
    return prompt, flags, None


def _read(
    call: Call, protocol: Protocol, case: Case, material: Material, flags: tuple[str, ...], reply: str
) -> Read:
    assert isinstance(protocol, Asking)
    reading = protocol.parse(reply, case)
    return Read(answers_of(call, material, reading), (*flags, *reading.flags))


def answers_of(call: Call, material: Material, reading: Reading) -> tuple[Answer, ...]:
    """Return the answers of a reading: verdicts speak of turns and names, labels of items and questions."""
    questions = call.run.questions
    return tuple(
        Answer(
            item=material.items[verdict.turn],
            question=questions[verdict.question],
            value=verdict.value,
            missing=verdict.missing,
            sample=call.sample,
            explanation=verdict.explanation.replace("\x00", "").encode("utf-8", "replace").decode(),
        )
        for verdict in reading.verdicts
    )


RUN = JudgeRun()
