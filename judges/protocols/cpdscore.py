"""CPDScore: judges of single responses and of whole continuations, and the prompts they derive from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from annotation.records import Turn
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.schemes.ratings import COMPERDIAL_TURN as TURN_SCHEME
from annotation.text.context import happening
from jobs.prompt import Tokens
from judges.protocols.protocol import Asking, Case, Need, Reading, Verdict, find_verdict, score
from judges.protocols.questions import scale_lines
from judges.protocols.quoting import (
    AROUND,
    FACTS,
    REFERENCE,
    Seen,
    around,
    no_reference,
    quote,
    reference_block,
)
from judges.protocols.replies import explained, explanation, numbers, scores
from judges.protocols.wording import Filling, Variable, Wording

# CPDScore-Simple: six scores from 1 to 5 for one response, with or without a reference.
#
# After Wakaki et al. 2024 (ComperDial), appendix B.1: the same six scores, scale and output lines; the
# wording is Concord's own. The paper averages three calls: use three samples.

SCALE = (1, 2, 3, 4, 5)
ASPECTS = {
    "humanness": "How much does the response read as if a person had written it?",
    "fluency": "How natural and correct is the wording?",
    "coherency": "How well does the response follow from what was said before?",
    "consistency": "How well does the response agree with what was said before?",
    "engagingness": "How much does the response invite the talk to go on?",
}
WITHOUT_REFERENCE, WITH_REFERENCE = "without_reference", "with_reference"

SIMPLE_SCHEME = SchemeDefinition(
    key="cpdscore_simple",
    version=1,
    title="CPDScore-Simple: five aspects of a response",
    item_kind="turn",
    unit="item",
    introduction="Rate five aspects of the marked response from 1 (very bad) to 5 (very good).",
    questions=tuple(
        QuestionDefinition(
            key=key,
            wording=wording,
            level="ordinal",
            values=SCALE,
            anchors={1: "very bad", 5: "very good"},
            required=False,
            short_name=key.capitalize(),
        )
        for key, wording in ASPECTS.items()
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.1",
)


class CpdscoreSimple(Asking):
    """One call per turn; `overall` answers the ComperDial turn question, the rest a separate scheme."""

    key = "cpdscore_simple"
    title = "CPDScore-Simple: six scores from 1 to 5 per response"
    covers = "turn"
    reply_tokens = 40
    variants: ClassVar[tuple[str, ...]] = (WITHOUT_REFERENCE, WITH_REFERENCE)
    answers = {"overall": (TURN_SCHEME, "overall")} | {key: (SIMPLE_SCHEME, key) for key in ASPECTS}

    def refusal(self, case: Case, variant: str) -> str:
        """Refuse turns without a reference if the variant needs one."""
        return no_reference(case) if variant == WITH_REFERENCE else ""

    def prompt_file(self, variant: str) -> str:
        """Return the name of the variant's text."""
        return f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the response, history, and the reference if the variant uses it."""
        reference = (REFERENCE,) if variant == WITH_REFERENCE else ()
        return (
            Variable("context", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            *reference,
            *AROUND,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the context, the reference if the variant uses it, and the response."""
        assert case.turn is not None
        seen = Seen(case)
        context = seen.before()
        values: dict[str, Filling] = {
            "context": lambda: quote("CONTEXT", seen.transcript(context)),
            "response": lambda: quote("RESPONSE", seen.response(context)),
            **around(seen),
        }
        if variant == WITH_REFERENCE:
            values["reference"] = lambda: reference_block(case, seen)
        return values

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse six lines `name - x`."""
        assert case.turn is not None
        read_scores = scores(reply, [*ASPECTS, "overall"], SCALE, case)
        return Reading(tuple(Verdict(key, case.turn, read_scores[key]) for key in self.answers))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the six lines."""
        return "\n".join(f"{key} - {score(reading, key, case.turn)}" for key in (*ASPECTS, "overall"))


# CPDScore-Detail: one humanness score from 1 to 5 with steps and a brief explanation.
#
# After Wakaki et al. 2024 (ComperDial), appendix B.2: the same criterion, scale and steps, with and without a
# reference; the wording is Concord's own. Both speakers' profiles are the paper's "facts".


class CpdscoreDetail(Asking):
    """One call per turn; the humanness score answers the ComperDial turn question `overall`."""

    key = "cpdscore_detail"
    title = "CPDScore-Detail: humanness from 1 to 5 with an explanation"
    covers = "turn"
    variants = (WITHOUT_REFERENCE, WITH_REFERENCE)
    answers = {"overall": (TURN_SCHEME, "overall")}

    def refusal(self, case: Case, variant: str) -> str:
        """Refuse turns without a reference if the variant needs one."""
        return no_reference(case) if variant == WITH_REFERENCE else ""

    def prompt_file(self, variant: str) -> str:
        """Return the name of the variant's text."""
        return f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the response, history, profiles, and the reference if the variant uses it."""
        return (
            Variable("profiles", "what is known of each speaker"),
            Variable("history", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            *((REFERENCE,) if variant == WITH_REFERENCE else ()),
            FACTS,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the profiles, the history, the response, and the reference if the variant uses it."""
        assert case.turn is not None
        seen = Seen(case)
        history = seen.before()
        values: dict[str, Filling] = {
            "profiles": lambda: quote("PROFILES", seen.people()),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "response": lambda: quote("RESPONSE", seen.response(history)),
            "facts": lambda: quote("FACTS", seen.facts()),
        }
        if variant == WITH_REFERENCE:
            values["reference"] = lambda: reference_block(case, seen)
        return values

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the line `Humanness: x` and the explanation."""
        assert case.turn is not None
        score = scores(reply, ["humanness"], SCALE, case)["humanness"]
        why = explanation(reply, until="humanness")
        return Reading((Verdict("overall", case.turn, score, explanation=why),))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the explanation, if there is one, and the score."""
        why = explained(find_verdict(reading, "overall", case.turn).explanation, until="humanness")
        line = f"Humanness: {score(reading, 'overall', case.turn)}"
        return f"{why}\n{line}" if why else line


# CPDScore-Dialogue: three scores of a whole continuation, based on another rater's scores of its turns.
#
# After Wakaki et al. 2024 (ComperDial), appendix B.3: the same two steps, criteria, scores and output lines;
# the wording is Concord's own. Step 1 is a judge of turns, bound to the need `turn_scores`. Step 2 sees these
# scores and the responses, and gives a score T of the turns taken together, a score I of aspects visible only
# over all of them, and a final score F by a rule. The model applies the rule; as far as it can be checked, it
# is (see `broken`).

# The rule of CPDScore-Dialogue: whether the final score depends on the turn score alone or on both scores.
#
# Below 4 both scores count; above 4 the turn score alone; at exactly 4 the judge's variant decides. With
# inordinately long responses, both may count from 4 on, too. "Both" means the model's own weighting, so the
# only check is that the result lies between the two.

DISREGARD, BOTH = "disregard", "both"
"""Effect of a turn score of exactly 4 on the interaction score."""
BORDER = 4.0
MOST_WORDS = 20
TOLERANCE = 0.05
_DUST = 1e-9
"""Slack for floating point, so that 4.55 is not further than 0.05 from 4.5."""


def words(text: str) -> int:
    """Return the number of whitespace-separated parts with a letter or a digit."""
    return sum(any(character.isalnum() for character in part) for part in text.split())


def broken(
    turn_score: float, interaction: float, final: float, word_counts: Sequence[int], at_four: str
) -> str:
    """Return the way in which three scores break the rule, '' if they do not or it cannot be decided.

    `rule_not_followed`: the turn score alone counts, no response is long, and the final score differs.
    `final_outside`: both count, and the final score is not between them. Both by more than TOLERANCE.
    """
    alone = turn_score > BORDER or (turn_score == BORDER and at_four == DISREGARD)
    if alone:
        long = any(count > MOST_WORDS for count in word_counts)
        if long or abs(final - turn_score) <= TOLERANCE + _DUST:
            return ""
        return f"rule_not_followed: final {final:g}, though the turn score {turn_score:g} alone counts"
    low, high = sorted((turn_score, interaction))
    if low - TOLERANCE - _DUST <= final <= high + TOLERANCE + _DUST:
        return ""
    return f"final_outside: final {final:g} is not between {low:g} and {high:g}"


ENDS = (1, 5)
"""Range of the scores."""
LINES = {
    "turn_score": "Overall Dialogue Turn Score",
    "interaction": "Dialogue Interaction Score",
    "final": "Final Score",
}
WITH_CONTEXT = "_with_context"
AT_FOUR = {
    DISREGARD: "If the Overall Dialogue Turn Score is 4 or more, it alone decides",
    BOTH: "If the Overall Dialogue Turn Score is more than 4, it alone decides",
}
BELOW = {
    DISREGARD: "If the Overall Dialogue Turn Score is less than 4, both scores count",
    BOTH: "If the Overall Dialogue Turn Score is 4 or less, both scores count",
}


def _question(key: str, wording: str) -> QuestionDefinition:
    return QuestionDefinition(key, wording, "interval", anchors={1: "very bad", 5: "very good"})


DIALOGUE_SCHEME = SchemeDefinition(
    key="cpdscore_dialogue",
    version=1,
    title="CPDScore-Dialogue: three scores of a dialogue, 1 to 5",
    item_kind="dialogue",
    unit="item",
    introduction="Three scores from 1 to 5, decimals allowed.",
    questions=(
        _question("turn_score", "How good are the responses, by the scores of the single turns?"),
        _question("interaction", "How good are the responses over all turns: varied, lively, not too long?"),
        _question("final", "How good is the dialogue, all in all?"),
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.3",
)


class CpdscoreDialogue(Asking):
    """One call per continuation, about the responses of a static one or the system's turns of a rollout.

    The paper does not cover a turn score of exactly 4: by default it then counts alone (variants
    `disregard`), or both scores count (`both`). With context, each response follows the turn it answers.
    """

    key = "cpdscore_dialogue"
    title = "CPDScore-Dialogue: three scores of a dialogue from the scores of its turns"
    covers = "dialogue"
    reply_tokens = 40
    variants = (DISREGARD, BOTH, DISREGARD + WITH_CONTEXT, BOTH + WITH_CONTEXT)
    answers = {key: (DIALOGUE_SCHEME, key) for key in LINES}
    needs = (Need("turn_scores", "comperdial_turn/overall"),)

    def prompt_file(self, variant: str) -> str:
        """Return the name of the variant's text."""
        return f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the turn scores, the responses, and the rule."""
        beside = ", each after what it answers" if variant.endswith(WITH_CONTEXT) else ", as texts only"
        return (
            Variable("turn_scores", "the score of every turn, by the other rater", required=True),
            Variable("responses", f"the responses in order{beside}", required=True),
            Variable("below", "the rule for a low turn score, as a sentence without its end"),
            Variable("above", "the rule for a high turn score, as a sentence without its end"),
            Variable("n", "the number of responses"),
            *AROUND,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the given scores with two decimals, and the responses."""
        seen = Seen(case)
        with_context, at_four = variant.endswith(WITH_CONTEXT), at_four_of(variant)
        return {
            "turn_scores": lambda: quote("TURN SCORES", _score_lines(case)),
            "responses": lambda: quote("RESPONSES", _responses(case, seen, with_context=with_context)),
            "below": BELOW[at_four],
            "above": AT_FOUR[at_four],
            "n": str(len(case.judged())),
            **around(seen),
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse three lines `name - x`, decimals allowed; record the basis of the scores with them."""
        read_numbers = numbers(reply, list(LINES.values()), ENDS, case)
        beside = {"turn_score": mean_in_words(case), "interaction": words_in_words(case)}
        return Reading(
            tuple(
                Verdict(key, None, read_numbers[line], explanation=beside.get(key, ""))
                for key, line in LINES.items()
            )
        )

    def read(
        self, reply: str, tokens: Tokens, case: Case, variant: str, wording: Wording | None = None
    ) -> Reading:
        """Parse the lines, and flag scores that break the variant's rule."""
        reading = self.parse(reply, case)
        turn_score, interaction, final = (float(verdict.value or 0) for verdict in reading.verdicts)
        violation = broken(turn_score, interaction, final, _word_counts(case), at_four_of(variant))
        return replace(reading, flags=(violation,) if violation else ())

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the three lines."""
        return "\n".join(f"{line} - {score(reading, key, None)}" for key, line in LINES.items())


def at_four_of(variant: str) -> str:
    """Return a variant's treatment of a turn score of exactly 4."""
    return variant.removesuffix(WITH_CONTEXT)


def mean_in_words(case: Case) -> str:
    """Return the mean of the given turn scores, stored beside the model's own turn score."""
    values = [answer.value for answer in case.need_answers.get("turn_scores", {}).values()]
    scores = [value for value in values if isinstance(value, int | float)]
    return f"mean of the turn scores given: {sum(scores) / len(scores):.4g}" if scores else ""


def words_in_words(case: Case) -> str:
    """Return the number of words in the responses, as text."""
    return f"words of the responses: {', '.join(map(str, _word_counts(case)))}"


def _word_counts(case: Case) -> list[int]:
    return [words(case.continuation.turns[index].text) for index in case.judged()]


def _score_lines(case: Case) -> list[str]:
    turn_scores = case.need_answers["turn_scores"]
    values = [turn_scores[index].value for index in case.judged()]
    return [f"Turn {n} - {float(value or 0):.2f}" for n, value in enumerate(values, start=1)]


def _responses(case: Case, seen: Seen, *, with_context: bool) -> list[str]:
    """Return the numbered responses in order; with context, each after the turn that it answers."""
    lines: list[str] = []
    for number, index in enumerate(case.judged(), start=1):
        before = case.dialogue.context(case.continuation, index)
        if with_context and before:
            lines += seen.turn(before[-1], before[-1], f"[before {number}] ")
        first, *rest = _text(case.continuation.turns[index], seen).split("\n")
        lines += [f"[{number}] {first}", *(f"      {line}" for line in rest)]
    return lines


def _text(turn: Turn, seen: Seen) -> str:
    """Return the text or action of a turn, without the speaker."""
    event = happening(turn, seen.names, seen.view.spoken(turn.text))
    return event.text if turn.act == "message" and event.text else f"{event.how} {event.text}".strip()


# The prompt from which CPDScore-Simple was derived: five scores from 1 to 5 for one response.
#
# After Wakaki et al. 2024 (ComperDial), appendix B.1.1: the same scores, scale and output lines; the
# wording is Concord's own.

ORIGINAL_ASPECTS = {
    "relevance": "How much does the response bear on what was said before?",
    "specificity": "How particular is the response to this dialogue, rather than fit for any?",
    "interestingness": "How interesting is the response?",
    "understandability": "How easily can the response be understood?",
    "overall": "How good is the response on the whole?",
}

ORIGINAL_SIMPLE_SCHEME = SchemeDefinition(
    key="original_simple",
    version=1,
    title="Five scores of a response, 1 to 5",
    item_kind="turn",
    unit="item",
    introduction="Rate the marked response from 1 (lowest) to 5 (highest).",
    questions=tuple(
        QuestionDefinition(
            key=key,
            wording=wording,
            level="ordinal",
            values=SCALE,
            anchors={1: "lowest", 5: "highest"},
            short_name=key.capitalize(),
        )
        for key, wording in ORIGINAL_ASPECTS.items()
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.1.1",
)


class CpdscoreOriginalSimple(Asking):
    """One call per turn; its `overall` matches the ComperDial turn question on the same scale."""

    key = "cpdscore_original_simple"
    title = "The original of CPDScore-Simple: five scores from 1 to 5 per response"
    covers = "turn"
    reply_tokens = 40
    answers = {key: (ORIGINAL_SIMPLE_SCHEME, key) for key in ORIGINAL_ASPECTS}

    def prompt_file(self, variant: str) -> str:
        """Return the name of the only text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the response and the turns before it."""
        return (
            Variable("context", "the turns before the response"),
            Variable("response", "the response that is judged", required=True),
            *AROUND,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the context and the response."""
        seen = Seen(case)
        context = seen.before()
        return {
            "context": lambda: quote("CONTEXT", seen.transcript(context)),
            "response": lambda: quote("RESPONSE", seen.response(context)),
            **around(seen),
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse five lines `name - x`, in any order."""
        read_scores = scores(reply, list(ORIGINAL_ASPECTS), SCALE, case)
        return Reading(tuple(Verdict(key, case.turn, read_scores[key]) for key in ORIGINAL_ASPECTS))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the five lines."""
        return "\n".join(f"{key} - {score(reading, key, case.turn)}" for key in ORIGINAL_ASPECTS)


# The prompt from which CPDScore-Detail was derived: engagingness of one response, 1 to 3, with steps.
#
# After Wakaki et al. 2024 (ComperDial), appendix B.2.1: the same score, scale and steps; the wording is
# Concord's own. Both speakers' profiles serve as the fact for the response.

QUESTION = "engagingness"

ORIGINAL_SCALE = (1, 2, 3)

ORIGINAL_DETAIL_SCHEME = SchemeDefinition(
    key="original_detail",
    version=1,
    title="How engaging a response is, 1 to 3",
    item_kind="turn",
    unit="item",
    introduction="Rate how engaging the marked response is, in view of what is known of the speakers.",
    questions=(
        QuestionDefinition(
            key="engagingness",
            wording="How engaging is this response?",
            short_name="Engagingness",
            level="ordinal",
            values=ORIGINAL_SCALE,
            anchors={
                1: "Dull: it could be said anywhere, and leads nowhere",
                2: "Somewhat interesting: an opinion or a thought that one could take up",
                3: "Interesting: one wants to go on, or learns something worth knowing",
            },
        ),
    ),
    source="ComperDial (Wakaki et al. 2024), appendix B.2.1",
)


class CpdscoreOriginalDetail(Asking):
    """One call per turn; the score matches the ComperDial turn question only in rank order."""

    key = "cpdscore_original_detail"
    title = "The original of CPDScore-Detail: engagingness from 1 to 3"
    covers = "turn"
    answers = {QUESTION: (ORIGINAL_DETAIL_SCHEME, QUESTION)}

    def prompt_file(self, variant: str) -> str:
        """Return the name of the only text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the response, the turns before it, the fact, and the scale."""
        return (
            Variable("history", "the turns before the response"),
            Variable("fact", "what is known of each speaker"),
            Variable("response", "the response that is judged", required=True),
            Variable("scale", "the three scores and what they stand for"),
            FACTS,
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the history, both profiles and the response."""
        seen = Seen(case)
        history = seen.before()
        return {
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "fact": lambda: quote("FACT", seen.people()),
            "response": lambda: quote("RESPONSE", seen.response(history)),
            "scale": lambda: "\n".join(scale_lines(ORIGINAL_DETAIL_SCHEME.question(QUESTION))),
            "facts": lambda: quote("FACTS", seen.facts()),
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the line `Engagingness: x`, and the explanation if there is one."""
        read_score = scores(reply, [QUESTION], ORIGINAL_SCALE, case)[QUESTION]
        why = explanation(reply, until=QUESTION)
        return Reading((Verdict(QUESTION, case.turn, read_score, explanation=why),))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the explanation, if there is one, and the score."""
        why = explained(find_verdict(reading, QUESTION, case.turn).explanation, until=QUESTION)
        line = f"Engagingness: {score(reading, QUESTION, case.turn)}"
        return f"{why}\n{line}" if why else line
