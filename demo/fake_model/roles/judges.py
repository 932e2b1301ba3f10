"""Judges: scores, behaviours and questions of a scheme; better instructions; the test of an endpoint."""

from __future__ import annotations

import re
from statistics import fmean
from typing import Any

from demo.fake_model.errors import fold
from demo.fake_model.requests import Question, Request, listed_questions, questions, turns
from demo.fake_model.role import QUALITY, Answer, Role, Sampler, planted_number, planted_value, shows_planted

# Scores of one response: five or six scores, humanness, and the papers' original prompts.

SCORE_NAMES = (
    "humanness",
    "fluency",
    "coherency",
    "consistency",
    "engagingness",
    "relevance",
    "specificity",
    "interestingness",
    "understandability",
    "overall",
)
"""Scores that an edited prompt may request in words alone."""
_EXPLAINED = re.compile(r"^explanation\b", re.I | re.M)


class TurnJudge(Role):
    """Reads `{quality 4}` in the response, or `{fluency 2}` for one score.

    The prompt sets the scores and their lines (`name - x`, `Name: x`); its first `from 1 to 5` is the scale.
    If an edited prompt has no such line, every score that it names counts as requested.
    """

    key = "turn_judge"
    title = "scores of one response"

    def recognises(self, request: Request) -> bool:
        """Whether it has a block RESPONSE, and asks for lines of scores."""
        return request.shows("RESPONSE") and bool(requested_scores(request))

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the requested lines, after an explanation if requested."""
        text, values = request.response() or "", request.scale(1, 5)
        lines = ["Explanation: it is as good as it says."] if _EXPLAINED.search(request.instruction) else []
        for name in requested_scores(request):
            lines.append(f"{name}{request.sign(name)} {sampler.score(name.casefold(), text, values)}")
        return Answer(lines=lines)


def requested_scores(request: Request) -> tuple[str, ...]:
    """Return the names of the scores requested by a prompt."""
    if request.score_lines or request.fields or listed_questions(request):
        return request.score_lines
    instruction = fold(request.instruction)
    return tuple(name for name in SCORE_NAMES if re.search(rf"\b{name}\b", instruction))


# Three scores of a whole continuation from the scores of its turns: turn score, interaction, final.

TURN, INTERACTION, FINAL = "Overall Dialogue Turn Score", "Dialogue Interaction Score", "Final Score"
DIALOGUE_SCALE = tuple(round(1 + step / 10, 1) for step in range(41))
HIGH = 4.0
MOST_WORDS = 20
_NUMBER = re.compile(r"\d+\.\d+")


class DialogueJudge(Role):
    """Reads the turn scores shown, and `{interaction 2.6}` in the first response (3 without it).

    It follows the rule: below 4 both count, and their mean is the final score; from 4 on the turn score alone
    counts, unless a response is longer than twenty words. When it ignores the rule, both count whenever one
    alone should, and the turn score alone whenever both should.
    """

    key = "dialogue_judge"
    title = "three scores from the scores of turns"

    def recognises(self, request: Request) -> bool:
        """Whether it asks for these three lines."""
        return {TURN, INTERACTION, FINAL} <= set(request.score_lines)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the three lines."""
        responses = _responses(request)
        text = responses[0] if responses else ""
        turn = round(fmean(_scores(request) or [3.0]), 2)
        planted = planted_number(text, "interaction")
        at = min(max((3.0 if planted is None else planted) - 1, 0.0), 4.0) * 10
        interaction = sampler.score("interaction", text, DIALOGUE_SCALE, at)
        follows = sampler.draw("rule", text) >= sampler.errors.ignores_rule
        long = any(_words(response) > MOST_WORDS for response in responses)
        at_four = "4 or less, both" in fold(request.instruction)
        final = final_by_rule(turn, interaction, at_four=at_four, long=long, follows=follows)
        values = {TURN: turn, INTERACTION: interaction, FINAL: final}
        return Answer(lines=[f"{name} - {values[name]:g}" for name in request.score_lines if name in values])


def final_by_rule(
    turn: float, interaction: float, *, at_four: bool, long: bool, follows: bool = True
) -> float:
    """Return the final score by the rule, or against it; `at_four`: at exactly 4 both count."""
    both = turn < HIGH or long or (at_four and turn == HIGH)
    return round((turn + interaction) / 2, 2) if both == follows else turn


def _scores(request: Request) -> list[float]:
    """Return the decimal numbers in the lines of the turn scores."""
    return [
        float(number) for line in request.block("TURN SCORES") or () for number in _NUMBER.findall(line)[:1]
    ]


def _responses(request: Request) -> list[str]:
    """Return the texts of the numbered responses; other lines say in brackets that they are none."""
    return [turn.full_text for turn in turns(request.block("RESPONSES") or ()) if turn.number is not None]


def _words(text: str) -> int:
    return sum(any(character.isalnum() for character in part) for part in text.split())


# Behaviours of numbered turns: turn numbers and count of each behaviour.

MARKED, _COUNT, _WHY_BEHAVIOUR_JUDGE = "_turns", "_count", "_explanation"


class BehaviourJudge(Role):
    """Reads `{repetition off_topic}` in each numbered turn, for the requested behaviours."""

    key = "behaviour_judge"
    title = "behaviours of every turn"

    def recognises(self, request: Request) -> bool:
        """Whether it has a block TURNS, and asks for fields such as `repetition_turns`."""
        return request.shows("TURNS") and only_behaviours(request)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return explanation, turns and count of each behaviour."""
        turns = request.numbered()
        reply: dict[str, Any] = {}
        for key in behaviours(request):
            seen = [turn.number for turn in turns if sampler.sees(key, turn.text)]
            reply |= {
                f"{key}{_WHY_BEHAVIOUR_JUDGE}": f"seen in {seen}" if seen else "",
                f"{key}{MARKED}": seen,
            }
            reply[f"{key}{_COUNT}"] = len(seen)
        fields = request.fields
        return Answer({name: value for name, value in reply.items() if name in fields})


def behaviours(request: Request) -> list[str]:
    """Return the behaviours whose turns are requested."""
    return [name.removesuffix(MARKED) for name in request.fields if name.endswith(MARKED) and name != MARKED]


def only_behaviours(request: Request) -> bool:
    """Whether only turns, counts and explanations of behaviours are requested."""
    endings = (MARKED, _COUNT, _WHY_BEHAVIOUR_JUDGE)
    return bool(behaviours(request)) and all(name.endswith(endings) for name in request.fields)


# Two scores of a whole continuation: consistency and collaborativeness from 1 to 10.

SCORES = ("consistency", "collaborativeness")
OVERALL_SCALE = tuple(range(1, 11))
_WHY = "_explanation"


class OverallJudge(Role):
    """Reads `{consistency 4}` and `{collaborativeness 6}` in any turn of the continuation; 5 without one."""

    key = "overall_judge"
    title = "two scores of a continuation"

    def recognises(self, request: Request) -> bool:
        """Whether it has a block TURNS, and asks for exactly these two scores."""
        requested = {name.removesuffix(_WHY) for name in request.fields}
        return request.shows("TURNS") and requested == set(SCORES)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return each score after its explanation."""
        text = "\n".join(turn.text for turn in request.numbered())
        reply: dict[str, Any] = {}
        for name in SCORES:
            value = sampler.score(name, text, OVERALL_SCALE)
            reply[f"{name}{_WHY}"] = (
                "" if value == OVERALL_SCALE[-1] else f"{OVERALL_SCALE[-1] - value} short of the best"
            )
            reply[name] = value
        return Answer(reply)


# Questions of any scheme about a turn or a continuation; the prompt sets the questions and the reply form.

_ENTRIES = re.compile(r'"([\w-]+)": \[\{(.*?)\}')
_NAME = re.compile(r'"([\w-]+)"\s*:')
YES_OR_NO = ((0, 1), (False, True), ("no", "yes"))
MIDDLE = 3
EVIDENCE, FIRST = "_evidence", 1


class RubricJudge(Role):
    """Reads `{question_key 4}` or `{question_key value}` in the judged text, or `{quality 4}` mapped to the
    values. A yes-or-no question is answered yes if `{question_key}` is planted.

    The reply is one value on a line, a JSON object, or an object with an entry for every numbered turn.
    """

    key = "rubric_judge"
    title = "any questions, listed under their keys or in a JSON schema"

    def recognises(self, request: Request) -> bool:
        """Whether it has a text to judge and questions with values, and belongs to none of the judges
        above.
        """
        if judged_text(request) is None or request.improves or request.score_lines:
            return False
        requested = {name.removesuffix(_WHY) for name in request.fields}
        return (
            bool(requested_questions(request)) and not only_behaviours(request) and requested != set(SCORES)
        )

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the one value on a line, or a JSON object with every requested field."""
        by_key, text = requested_questions(request), judged_text(request) or ""
        if not request.fields:
            value = answer_question(sampler, next(iter(by_key.values())), text)
            return Answer(lines=[f"{int(value) if isinstance(value, bool) else value}"])
        name, inner = entries(request)
        outer = [field for field in request.fields if field != name and field not in inner]
        reply: dict[str, Any] = {}
        for field in outer:
            if field in request.fields and field.removesuffix(MARKED) in behaviours(request):
                reply[field] = marked_turns(request, sampler, field.removesuffix(MARKED))
        reply |= fill_fields([field for field in outer if field not in reply], by_key, sampler, text)
        if name:
            reply[name] = [self._entry(turn.number, turn.text, inner, reply, by_key, sampler)
                           for turn in request.numbered()]  # fmt: skip
        return Answer({field: reply[field] for field in request.fields if field in reply})

    @staticmethod
    def _entry(
        number: int | None,
        text: str,
        inner: list[str],
        marks: dict[str, Any],
        by_key: dict[str, Question],
        sampler: Sampler,
    ) -> dict[str, Any]:
        beside = {
            field.removesuffix(MARKED): int(number in turns)
            for field, turns in marks.items()
            if field.endswith(MARKED) and isinstance(turns, list)
        }
        return {inner[0]: number} | fill_fields(inner[1:], by_key, sampler, text, beside)


def fill_fields(
    fields: list[str],
    by_key: dict[str, Question],
    sampler: Sampler,
    text: str,
    beside: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a value for every field that has values, null for a skipped question, the first turn for the
    turn that an answer points at, and a sentence for any other text.
    """
    reply: dict[str, Any] = {}
    for name in fields:
        question = by_key.get(name)
        if question is None:
            reply[name] = [FIRST] if name.endswith(EVIDENCE) else "as it says"
        elif not question.is_asked({**(beside or {}), **reply}):
            reply[name] = None
        else:
            reply[name] = answer_question(sampler, question, text)
    return reply


def answer_question(sampler: Sampler, question: Question, text: str) -> Any:
    """Return the answer to a question about a text."""
    key, values = question.key, question.values
    if question.in_words:
        return planted_value(text, key) or "as it says"
    if not values:
        planted = planted_number(text, key)
        return min(max(MIDDLE if planted is None else planted, question.low), question.high)
    if values in YES_OR_NO:
        says_yes = shows_planted(text, key) and planted_value(text, key) not in ("no", "False", "false")
        return values[sampler.yes_or_no(key, text, says_yes)]
    if all(isinstance(value, str) for value in values):
        return sampler.choose(key, text, values)
    return sampler.score(key, text, values)


def marked_turns(request: Request, sampler: Sampler, key: str) -> list[int | None]:
    """Return the numbers of the turns in which a behaviour is detected."""
    return [turn.number for turn in request.numbered() if sampler.sees(key, turn.text)]


def judged_text(request: Request) -> str | None:
    """Return the text to judge: the response, else the numbered turns; None if there is neither."""
    if (text := request.response()) is not None:
        return text
    if request.block("TURNS") is None:
        return None
    return "\n".join(turn.text for turn in request.numbered())


def requested_questions(request: Request) -> dict[str, Question]:
    """Return the requested questions by key: from the text, else from the schema."""
    schema = {key: Question(key, values) for key, values in questions(request).items()}
    return {**schema, **listed_questions(request)}


def entries(request: Request) -> tuple[str, list[str]]:
    """Return the name of the list with an entry per turn, and the fields of an entry."""
    if request.schema is not None:
        for name, field in request.schema.get("properties", {}).items():
            inner = field.get("items", {}).get("properties") if isinstance(field, dict) else None
            if inner:
                return str(name), list(inner)
    elif match := _ENTRIES.search(request.instruction):
        return match[1], _NAME.findall(match[2])
    return "", []


# Comparison or ranking of several responses: each response has its quality as a marker.

LETTERS_ASKED = "Write the letters, best first"
"""Phrase in the wording of a ranking question."""
TITLE = re.compile(r"RESPONSE ([A-J])")
TIE, BOTH_BAD = "tie", "both_bad"
MIDDLE_RANK, BAD = 3.0, 1.0
"""Quality of a response without a marker; quality at which two responses are both bad."""


class ComparisonJudge(Role):
    """Reads `{quality 4}` (or `{question_key 4}`) in each response: the highest is best, equal ones tie.

    Responses of quality 1 are both bad. `noise` is the chance of another answer, `position_bias` the chance
    of choosing the first response regardless of content.
    """

    key = "comparison_judge"
    title = "which of the responses under letters is better, or their order"

    def recognises(self, request: Request) -> bool:
        """Whether it has several lettered responses, and a reply form."""
        return not request.improves and len(responses(request)) > 1 and bool(request.fields)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return a JSON object with every requested field."""
        texts = responses(request)
        schema = {key: Question(key, values) for key, values in questions(request).items()}
        by_key = {**schema, **listed_questions(request)}
        text = "\n".join(texts.values())
        reply: dict[str, Any] = {}
        for field in request.fields:
            question = by_key.get(field)
            if question is not None and set(texts) & set(question.values):
                reply[field] = better(sampler, question, texts)
            elif question is not None and _is_order(request, question):
                reply[field] = order(sampler, question.key, texts)
            else:
                reply |= fill_fields([field], by_key, sampler, text)
        return Answer(reply)


def responses(request: Request) -> dict[str, str]:
    """Return the text of each response by its letter, in the order shown."""
    texts = {}
    for title in request.titles:
        if (letter := TITLE.fullmatch(title)) is not None:
            texts[letter[1]] = "\n".join(request.block(title) or ())
    return texts


def better(sampler: Sampler, question: Question, texts: dict[str, str]) -> str:
    """Return the letter of the better response, a tie, or both bad; among the question's values."""
    first, second = sorted(texts)[:2]
    first_quality, second_quality = (quality(texts[letter], question.key) for letter in (first, second))
    true = first if first_quality >= second_quality else second
    if first_quality == second_quality:
        verdict = BOTH_BAD if first_quality == BAD else TIE
        true = next((value for value in (verdict, TIE) if value in question.values), first)
    return str(_pick_answer(sampler, question.key, "\n".join(texts.values()), true, first, question.values))


def order(sampler: Sampler, question: str, texts: dict[str, str]) -> str:
    """Return the letters best first, with = between equal responses."""
    qualities = {letter: quality(text, question) for letter, text in texts.items()}
    levels = sorted(set(qualities.values()), reverse=True)
    groups = [[letter for letter in sorted(qualities) if qualities[letter] == level] for level in levels]
    true = ">".join("=".join(group) for group in groups)
    first = ">".join(sorted(texts))
    backwards = ">".join("=".join(group) for group in reversed(groups))
    return str(_pick_answer(sampler, question, "\n".join(texts.values()), true, first, (true, backwards)))


def quality(text: str, question: str) -> float:
    """Return the quality in a text's marker."""
    for name in (question, QUALITY):
        if (planted := planted_number(text, name)) is not None:
            return planted
    return MIDDLE_RANK


def _pick_answer(
    sampler: Sampler, key: str, text: str, true: str, first: str, values: tuple[Any, ...]
) -> Any:
    """Return the first response if position bias decides, else the true answer or, by chance, another."""
    bias = sampler.errors.position_bias
    if bias and sampler.draw(f"position {key}", text) < bias:
        return first
    others = [value for value in values if value != true]
    if others and (chance := sampler.draw(key, text)) < sampler.errors.of("noise", key):
        return others[int(chance / sampler.errors.of("noise", key) * len(others))]
    return true


def _is_order(request: Request, question: Question) -> bool:
    """Whether a question without values is answered with letters: by its wording, or a text field."""
    if re.search(rf"^{re.escape(question.key)}: .*{LETTERS_ASKED}", request.instruction, re.M):
        return True
    properties = {} if request.schema is None else request.schema.get("properties", {})
    field = properties.get(question.key, {"type": "string"})
    return not question.values and not question.in_words and '"string"' in str(field).replace("'", '"')


# Writer of a better instruction, given the disagreements of a judge and people.

_FENCED = re.compile(r"^```[a-z]*\n(.*?)\n```", re.S | re.M)
_WANTS_FENCE = re.compile(r"(within|in|between) ```", re.I)


class Improver(Role):
    """Adds one of the error model's `proposals` in front of the instruction shown.

    The proposal is drawn from the whole prompt, so that other disagreements bring other proposals. A sentence
    already in the instruction is not proposed again; if all are there, the instruction is returned unchanged.
    """

    key = "improver"
    title = "a better instruction"

    def recognises(self, request: Request) -> bool:
        """Whether it shows an instruction to improve: its two parts, or a text between fences if requested
        so.
        """
        return request.block("USER PART") is not None or between_fences(request) is not None

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the parts with a proposal in front of the first, in the requested form."""
        system, user = request.block("SYSTEM PART") or (), request.block("USER PART")
        prompt = "\n".join(text for _, text in request.messages)
        if user is None:
            new = propose(between_fences(request) or "", prompt, sampler)
            return Answer(lines=["```", *new.split("\n"), "```"])
        old, rest = "\n".join(system), "\n".join(user)
        new = propose(old, prompt, sampler, beside=rest)
        return Answer({"diagnosis": "The judge and the people differ.", "system": new, "user": rest})


def propose(old: str, prompt: str, sampler: Sampler, beside: str = "") -> str:
    """Return an instruction with a sentence in front that it does not have yet, drawn from the prompt."""
    unused = [sentence for sentence in sampler.proposals if fold(sentence) not in fold(f"{old}\n{beside}")]
    if not unused:
        return old
    proposal = unused[int(sampler.draw("proposal", prompt) * len(unused))]
    return f"{proposal}\n\n{old}"


def between_fences(request: Request) -> str | None:
    """Return the first text between fences, if another is requested."""
    match = _FENCED.search(request.instruction) if _WANTS_FENCE.search(request.instruction) else None
    return match[1] if match and not request.titles else None


# The question of an endpoint test.

_ONE_WORD = re.compile(r"\banswer with the one word:? [\"“']?(\w+)", re.I)


class Probe(Role):
    """Replies with the requested word."""

    key = "probe"
    title = "the test of an endpoint"

    def recognises(self, request: Request) -> bool:
        """Whether nothing is quoted, and one word is requested."""
        return not request.titles and bool(_ONE_WORD.search(request.instruction))

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the word."""
        match = _ONE_WORD.search(request.instruction)
        return Answer(lines=[match[1] if match else ""])
