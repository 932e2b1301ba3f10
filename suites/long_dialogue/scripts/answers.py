"""Scores of an answer to a question about a script, and the labels of its raters.

The record of an answer is the JSON at the answer turn (`extra["answer"]`); the reply is the turn's text.
After DialSim (Kim et al. 2024).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import regex  # type: ignore[import-untyped]

from annotation.records import EVENTS
from annotation.script_records import LETTERS, UNKNOWN, Question
from annotation.text.words import fold, whole_word
from suites.long_dialogue.scripts.sessions import Sessions

# Parsing of a model's replies to questions about a script.
#
# A reply to a question with options (A) to (E) is parsed for a letter, any other reply for a text: whether it
# is a right answer, and whether it says that the writer does not know.

Verdict = Literal["right", "wrong", "undecided"]

UNKNOWN_TEXT = "I don't know"
"""Text of option (E)."""
AMBIGUOUS, NONE, LATE, TEXT, FAILED = "ambiguous", "none", "late", "text", "failed"
"""Outcomes other than a letter.

Several letters; no readable letter; slower than the limit; a free reply that names no option; a failed call.
"""

UNKNOWING = (
    "i don't know",
    "i dont know",
    "i do not know",
    "i don't remember",
    "i do not remember",
    "i can't remember",
    "i cannot remember",
    "i don't recall",
    "i do not recall",
    "i can't recall",
    "i cannot recall",
    "i can't say",
    "i cannot say",
    "i can't tell",
    "i cannot tell",
    "i couldn't say",
    "i couldn't tell you",
    "i have no idea",
    "i've no idea",
    "i haven't got a clue",
    "i have no clue",
    "i'm not sure",
    "i am not sure",
)
"""Phrases at the start of a sentence by which a reply says that its writer does not know."""
UNKNOWING_ALONE = (
    "don't know",
    "dont know",
    "do not know",
    "dunno",
    "i dunno",
    "no idea",
    "no clue",
    "not sure",
    "unknown",
    "can't say",
    "cannot say",
    "can't tell",
    "cannot tell",
    "not enough information",
)
"""Full replies that say so."""
HEDGES = (
    "but",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "might",
    "i think",
    "i guess",
    "i believe",
    "i'd say",
    "i would say",
    "if i had to",
    "my guess",
)
"""Hedges, after which a reply may contain an answer all the same."""

_EMPHASIS = regex.compile(r"[*_`]+")
_BRACKETED = regex.compile(r"\(([A-E])\)")
_LEADING = regex.compile(r"^[ \t]*([A-E])(?:[):]|\.(?!\p{L}\b))", regex.MULTILINE)
_SINGLE = regex.compile(r"\s*([A-Ea-e])\s*")
_ARTICLES = frozenset(("a", "an", "the"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a reply: a letter A to E, or the reason for none.

    A `lenient` letter comes from an option's text and counts as right in the lenient score only.
    """

    value: str
    lenient: bool = False

    @property
    def letter(self) -> str | None:
        """The letter, None for other outcomes."""
        return self.value if self.value in LETTERS else None


def read_template(reply: str, choices: Sequence[str]) -> Outcome:
    """Parse a reply to options (A) to (E); `choices` are the texts of A to D as shown.

    A letter is a capital in brackets anywhere, a capital with `)`, `.` or `:` at the start of a line, or a
    reply that is a single letter. Emphasis marks (`**C**`) are ignored.
    """
    letters = _letters(_EMPHASIS.sub("", unicodedata.normalize("NFKC", reply)))
    if len(letters) > 1:
        return Outcome(AMBIGUOUS)
    if letters:
        return Outcome(letters.pop())
    named_letters = named_options(reply, choices)
    return Outcome(named_letters.pop(), lenient=True) if len(named_letters) == 1 else Outcome(NONE)


def read_natural(reply: str, choices: Sequence[str]) -> Outcome:
    """Parse a free reply as an option, by its text alone; the outcome is `text` if it matches none.

    A reply that contains more than an option's text is `lenient`, if it names exactly one.
    """
    if not reply.strip():
        return Outcome(NONE)
    if says_unknown(reply):
        return Outcome(UNKNOWN)
    equal = {letter for letter, text in zip(LETTERS, choices, strict=False) if bare(text) == bare(reply)}
    if len(equal) == 1:
        return Outcome(equal.pop())
    named_letters = named_options(reply, choices)
    return Outcome(named_letters.pop(), lenient=True) if len(named_letters) == 1 else Outcome(TEXT)


def read_free(reply: str, answers: Iterable[str], key: str) -> Verdict:
    """Return whether a free reply is right, as far as rules can decide.

    `answers` are all right answers to the question; with the key (E) a reply is right if it says that it does
    not know, and wrong if it gives one of the `answers`. `undecided` waits for a judge. A reply that says
    that it does not know although the question is answerable is wrong, and so is an empty one.
    """
    if not reply.strip():
        return "wrong"
    equal = bare(reply) in {bare(answer) for answer in answers}
    if equal:
        return "wrong" if key == UNKNOWN else "right"
    if says_unknown(reply):
        return "right" if key == UNKNOWN else "wrong"
    return "undecided"


def says_unknown(reply: str) -> bool:
    """Whether a reply clearly says that its writer does not know, without hedging an answer."""
    text = "\n".join(map(_plain, reply.splitlines()))
    if bare(reply) in UNKNOWING_ALONE:
        return True
    return bool(_phrases(UNKNOWING, starts=True).search(text)) and not _phrases(HEDGES).search(text)


def bare(text: str) -> str:
    """Normalise a text for comparison with an answer: folded, without articles and final punctuation."""
    plain = _plain(text)
    end = len(plain)
    while end and unicodedata.category(plain[end - 1])[0] in "PZ":
        end -= 1
    words = plain[:end].split()
    return " ".join(word for word in words if word not in _ARTICLES) or " ".join(words) or plain


def named_options(reply: str, choices: Sequence[str]) -> set[str]:
    """Return the letters of the options whose text a reply contains as whole words, including (E).

    Within a longer option's text, only that option counts: `Ben Stone` is not `Ben`.
    """
    options: dict[str, set[str]] = {}
    for letter, text in zip(LETTERS, (*choices[:4], UNKNOWN_TEXT), strict=False):
        if plain := _plain(text):
            options.setdefault(plain, set()).add(letter)
    texts = sorted(options, key=len, reverse=True)
    if not texts:
        return set()
    pattern = regex.compile("|".join(map(whole_word, texts)), regex.V1)
    return set().union(*(options[match.group()] for match in pattern.finditer(_plain(reply))))


def _letters(reply: str) -> set[str]:
    if single := _SINGLE.fullmatch(reply):
        return {single.group(1).upper()}
    return {match.group(1) for pattern in (_BRACKETED, _LEADING) for match in pattern.finditer(reply)}


def _plain(text: str) -> str:
    return fold(text).replace("’", "'")


@lru_cache
def _phrases(phrases: tuple[str, ...], starts: bool = False) -> regex.Pattern[str]:
    """Return a pattern for any phrase as whole words; `starts` anchors it to a sentence or clause start."""
    either = "|".join(map(whole_word, phrases))
    return regex.compile(rf"(?:\A|[.!?…,;:\n])\s*(?:{either})" if starts else either, regex.V1)


# Extent of a question's evidence in a prompt.

Extent = Literal["sufficient", "partly", "none"]


@dataclass(frozen=True, slots=True)
class PromptContent:
    """Parts of a script that a prompt shows.

    `sessions` are the numbers of sessions shown completely, as all turns heard or as their summary; `turns`
    are positions of own turns shown individually.
    """

    sessions: frozenset[int] = field(default_factory=frozenset)
    turns: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Moment:
    """Moment of a question: the number of its session, and the position of the own turn right before it."""

    session: int
    point: int


def sufficiency(
    evidence: Iterable[int],
    evidence_all: bool,
    evidence_turns: Iterable[int],
    content: PromptContent,
    *,
    sessions: Sessions,
    moment: Moment,
) -> Extent:
    """Return the extent of a question's evidence in a prompt. `evidence` are numbers of sessions.

    One session suffices, or all are needed (`evidence_all`). A session counts if the prompt shows all of it,
    or its evidence turns; where these are unknown, everything heard of it is required. The running session
    counts by known evidence turns that were heard, since the evidence may otherwise lie on either side of the
    asking point. Turns not yet heard never count.
    """
    turns = frozenset(evidence_turns)
    extents = [_extent(number, turns, content, sessions, moment) for number in sorted(set(evidence))]
    counted = extents.count("sufficient")
    if extents and counted >= (len(extents) if evidence_all else 1):
        return "sufficient"
    return "none" if all(extent == "none" for extent in extents) else "partly"


def question_sufficiency(
    question: Question, content: PromptContent, *, sessions: Sessions, moment: Moment
) -> Extent:
    """Return the extent of a question's evidence in a prompt; see `sufficiency`."""
    numbers = [sessions.numbers[session] for session in question.evidence]
    return sufficiency(
        numbers, question.evidence_all, question.evidence_turns, content, sessions=sessions, moment=moment
    )


def _extent(
    number: int, evidence_turns: frozenset[int], content: PromptContent, sessions: Sessions, moment: Moment
) -> Extent:
    """Return the extent of one session's evidence in a prompt."""
    if number > moment.session:
        return "none"
    running = number == moment.session
    heard = _heard(sessions, number, moment.point if running else None)
    known_turns = frozenset(place for place in evidence_turns if sessions.of_turn[place] == number)
    visible = heard if number in content.sessions else heard & content.turns
    needed = known_turns or heard
    if not needed & visible:
        return "none"
    return "sufficient" if needed <= visible and (known_turns or not running) else "partly"


def _heard(sessions: Sessions, number: int, until: int | None) -> frozenset[int]:
    """Return the positions of the spoken turns of a session, as far as they were heard."""
    turns = sessions.dialogue.turns
    heard = sessions.heard_turns(number, until)
    return frozenset(place for place in heard if turns[place].act not in (*EVENTS, "silence"))


Rule = Literal["strict", "lenient"]

RULES: tuple[Rule, ...] = ("strict", "lenient")
TEMPLATE, NATURAL, OPEN = "template", "natural", "open"
FORMATS = (TEMPLATE, NATURAL, OPEN)
OBSERVED, KEY = "observed", "key"
STRICT, LENIENT = "score:strict", "score:lenient"
"""Raters of an answer by rule, neither person nor model."""
CHOICE, RIGHT, ABSTAINED = "choice", "right", "abstained"
WAITS = "waits for a judge"
"""Reason why correctness is missing until a judge has rated the answer."""


class Answered(NamedTuple):
    """A rater's label of an answer; `missing` is the reason exactly where `value` is None."""

    rater: str
    question: str
    value: float | str | None
    missing: str = ""


def score(outcome: Outcome, key: str, rule: Rule = "strict") -> bool:
    """Whether an outcome is right; a letter from an option's text is right in the lenient score only."""
    return outcome.value == key and (rule == "lenient" or not outcome.lenient)


def late(seconds: float, limit: float | None) -> bool:
    """Whether an answer took longer than its limit in seconds; None means no limit."""
    return limit is not None and seconds > limit


def labels_of(answer: Mapping[str, Any], reply: str) -> list[Answered]:
    """Return the labels of the observing rater, the key and both scores for an answer and its reply.

    An open question has no choices, and so no labels of a choice. Replies that no rule can score wait for a
    judge; for a failed call, all labels but the key's are missing.
    """
    outcome = Outcome(answer["outcome"], bool(answer.get("lenient")))
    labels = [] if answer["format"] == OPEN else _choices(outcome, answer["key"])
    labels += _scores(STRICT, "strict", outcome, answer, reply)
    labels += _scores(LENIENT, "lenient", outcome, answer, reply)
    return labels


def verdict_of(answer: Mapping[str, Any], reply: str, rule: Rule = "strict") -> Verdict:
    """Return whether a received answer is right by a rule, `undecided` if a judge must decide."""
    outcome = Outcome(answer["outcome"], bool(answer.get("lenient")))
    if outcome.value == LATE:
        return "wrong"
    if answer["format"] != TEMPLATE:
        return read_free(reply, right_texts(answer), answer["key"])
    return "right" if score(outcome, answer["key"], rule) else "wrong"


def _choices(outcome: Outcome, key: str) -> list[Answered]:
    letter = outcome.letter
    observed = Answered(OBSERVED, CHOICE, letter, "" if letter else outcome.value)
    return [observed, Answered(KEY, CHOICE, key)]


def _scores(
    rater: str, rule: Rule, outcome: Outcome, answer: Mapping[str, Any], reply: str
) -> Iterable[Answered]:
    if outcome.value == FAILED:
        return [Answered(rater, question, None, FAILED) for question in (RIGHT, ABSTAINED)]
    verdict = verdict_of(answer, reply, rule)
    right = Answered(rater, RIGHT, None, WAITS) if verdict == "undecided" else None
    return [
        right or Answered(rater, RIGHT, float(verdict == "right")),
        Answered(rater, ABSTAINED, float(_abstained(outcome, rule, answer["format"], reply))),
    ]


def _abstained(outcome: Outcome, rule: Rule, form: str, reply: str) -> bool:
    if form == TEMPLATE or outcome.value == LATE:
        return score(outcome, UNKNOWN, rule)
    return says_unknown(reply)


def right_texts(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return all right texts: the answer, other right answers, and the text of the key's option."""
    key_text = dict(zip(LETTERS, answer.get("choices") or (), strict=False)).get(answer["key"])
    return tuple(text for text in (answer.get("answer"), *(answer.get("answers") or ()), key_text) if text)
