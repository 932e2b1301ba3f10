"""Protocols for tests only: of whole dialogues, with text answers, and based on another rater's scores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from annotation.schemes.cocoeval import OVERALL_SCORES as OVERALL
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.schemes.ratings import COMPERDIAL_TURN as TURN_SCHEME
from judges.protocols import Asking, Case, Need, Prompt, Reading, Unparseable, Verdict, Wording
from judges.protocols.protocol import Covers
from tests.fake_llm import FakeLLM

STAGES = ("attend", "speak", "address")
STAGE_SCHEME = SchemeDefinition(
    key="stages",
    version=1,
    title="Stages",
    item_kind="turn",
    unit="item",
    introduction="Where did it fail?",
    questions=(QuestionDefinition("failed_at", "Where did it fail?", "nominal", STAGES),),
)
PLANTED = re.compile(r"\{stage (\w+)\}")


class Fixed(Asking):
    """Protocol whose prompt has no variable text."""

    def variables(self, variant: str) -> tuple[Any, ...]:
        return ()

    def values(self, case: Case, variant: str) -> dict[str, Any]:
        return {}

    def prompt_file(self, variant: str) -> str:
        return self.key

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        return str(reading.verdicts[0].value)


class Stage(Fixed):
    """Answers a nominal question about a turn with a text."""

    key = "stage"
    title = "Where a turn failed"
    covers = "turn"
    answers: ClassVar[Any] = {"failed_at": (STAGE_SCHEME, "failed_at")}

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        assert case.turn is not None
        return Prompt("Name the stage.", f"STAGE OF {case.continuation.turns[case.turn].text}")

    def parse(self, reply: str, case: Case) -> Reading:
        return Reading((Verdict("failed_at", case.turn, reply),))


class Whole(Fixed):
    """Answers the two questions about a dialogue."""

    key = "whole"
    title = "Two scores of a dialogue"
    covers: ClassVar[Covers] = "dialogue"
    answers: ClassVar[Any] = {key: (OVERALL, key) for key in (question.key for question in OVERALL.questions)}
    nothing_to_judge: ClassVar[str] = ""

    def refusal(self, case: Case, variant: str) -> str:
        return self.nothing_to_judge

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        return Prompt("Score it.", f"WHOLE {len(case.judged())} turns")

    def parse(self, reply: str, case: Case) -> Reading:
        if not reply.isdigit():
            raise Unparseable("no number")
        return Reading(tuple(Verdict(key, None, float(reply)) for key in self.answers))


class Both(Whole):
    """Answers about every turn and about the dialogue in one call."""

    key = "both"
    covers = "continuation"
    answers: ClassVar[Any] = Whole.answers | {"turn": (TURN_SCHEME, "overall")}

    def parse(self, reply: str, case: Case) -> Reading:
        of_turns = tuple(Verdict("turn", turn, 3.0) for turn in case.judged())
        of_whole = tuple(Verdict(key, None, float(reply)) for key in Whole.answers)
        return Reading((*of_turns, *of_whole))


class OnTop(Whole):
    """Scores a dialogue from another rater's scores of its turns, and lists them in its prompt."""

    key = "on_top"
    needs = (Need("turn_scores", "comperdial_turn/overall"),)

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        scores = [f"{turn}: {known.value}" for turn, known in case.need_answers["turn_scores"].items()]
        return Prompt("Score it.", f"WHOLE {', '.join(scores)}")


def say(fake: FakeLLM) -> Any:
    """Return the fake's reply function for these protocols; other prompts get its usual reply."""

    def answer(prompt: str) -> str:
        if prompt.startswith("STAGE OF"):
            found = PLANTED.search(prompt)
            return found[1] if found else "speak"
        return "7" if prompt.startswith("WHOLE") else type(fake).say(fake, prompt)

    return answer


def stand_ins() -> Iterator[Asking]:
    """Yield one stand-in of each kind."""
    yield from (Stage(), Whole(), Both(), OnTop())
