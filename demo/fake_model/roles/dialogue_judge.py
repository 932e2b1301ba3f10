"""Three scores of a whole continuation from the scores of its turns: turn score, interaction, final."""

from __future__ import annotations

import re
from statistics import fmean

from demo.fake_model.errors import fold
from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.truth import planted_number

TURN, INTERACTION, FINAL = "Overall Dialogue Turn Score", "Dialogue Interaction Score", "Final Score"
SCALE = tuple(round(1 + step / 10, 1) for step in range(41))
HIGH = 4.0
MOST_WORDS = 20
_NUMBER = re.compile(r"\d+\.\d+")


class DialogueJudge(Role):
    """Reads the turn scores that it is shown, and `{interaction 2.6}` in the first response (3 without it).

    It follows the rule: below 4 both count, and their mean is the final score; from 4 on the turn score
    alone counts, unless a response is longer than twenty words. Where it ignores the rule, both count
    whenever one alone should, and the turn score alone whenever both should.
    """

    key = "dialogue_judge"
    title = "three scores from the scores of turns"

    def recognises(self, request: Request) -> bool:
        """These three lines as reply."""
        return {TURN, INTERACTION, FINAL} <= set(request.score_lines)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the three lines."""
        responses = _responses(request)
        text = responses[0] if responses else ""
        turn = round(fmean(_scores(request) or [3.0]), 2)
        told = planted_number(text, "interaction")
        at = min(max((3.0 if told is None else told) - 1, 0.0), 4.0) * 10
        interaction = mind.score("interaction", text, SCALE, at)
        follows = mind.draw("rule", text) >= mind.errors.ignores_rule
        long = any(_words(response) > MOST_WORDS for response in responses)
        at_four = "4 or less, both" in fold(request.instruction)
        final = ruled(turn, interaction, at_four=at_four, long=long, follows=follows)
        shown = {TURN: turn, INTERACTION: interaction, FINAL: final}
        return Answer(lines=[f"{name} - {shown[name]:g}" for name in request.score_lines if name in shown])


def ruled(turn: float, interaction: float, *, at_four: bool, long: bool, follows: bool = True) -> float:
    """Return the final score by the rule, or against it; `at_four`: at exactly 4 both count."""
    both = turn < HIGH or long or (at_four and turn == HIGH)
    return round((turn + interaction) / 2, 2) if both == follows else turn


def _scores(request: Request) -> list[float]:
    """Return the numbers with decimals in the lines of the turn scores."""
    return [
        float(found) for line in request.block("TURN SCORES") or () for found in _NUMBER.findall(line)[:1]
    ]


def _responses(request: Request) -> list[str]:
    """Return the texts of the numbered responses; other lines say in their brackets that they are none."""
    return [turn.whole for turn in turns(request.block("RESPONSES") or ()) if turn.number is not None]


def _words(text: str) -> int:
    return sum(any(character.isalnum() for character in part) for part in text.split())
