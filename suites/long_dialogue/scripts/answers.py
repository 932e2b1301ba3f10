"""What an answer to a question about a script is worth: its scores, and what its raters say of it.

The content of an answer is the JSON that stands at the answer turn (`extra["answer"]`); what was replied is
the turn's text (`dialsim.md`, section 8).
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

# Reading what a model replies to a question about a script (`dialsim.md`, section 8).
#
# A reply to a question with options (A) to (E) is read for a letter, any other reply for a text: whether it
# is one of the right answers, and whether it says that its writer does not know.

Verdict = Literal["right", "wrong", "undecided"]

UNKNOWN_TEXT = "I don't know"
"""The text of option (E)."""
AMBIGUOUS, NONE, LATE, TEXT, FAILED = "ambiguous", "none", "late", "text", "failed"
"""Outcomes that are no letter: several letters; nothing that can be read; slower than the limit; a free
reply that names no option; a call that brought no reply."""

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
"""What says at the start of a sentence that its writer does not know."""
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
"""What says so where it is the whole reply."""
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
"""What leaves open whether a reply that says so answers all the same."""

_EMPHASIS = regex.compile(r"[*_`]+")
_BRACKETED = regex.compile(r"\(([A-E])\)")
_LEADING = regex.compile(r"^[ \t]*([A-E])(?:[):]|\.(?!\p{L}\b))", regex.MULTILINE)
_SINGLE = regex.compile(r"\s*([A-Ea-e])\s*")
_ARTICLES = frozenset(("a", "an", "the"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reply says: a letter A to E, or a word for why there is none.

    `lenient` letters were read off an option's text; they are right in the lenient score alone.
    """

    value: str
    lenient: bool = False

    @property
    def letter(self) -> str | None:
        """The letter, None where there is none."""
        return self.value if self.value in LETTERS else None


def read_template(reply: str, choices: Sequence[str]) -> Outcome:
    """Return what a reply to options (A) to (E) says; `choices` are the texts of A to D as shown.

    A letter is a capital in brackets anywhere, a capital with `)`, `.` or `:` at the start of a line, or a
    reply that is nothing but one letter. Marks of emphasis (`**C**`) are no part of a reply.
    """
    letters = _letters(_EMPHASIS.sub("", unicodedata.normalize("NFKC", reply)))
    if len(letters) > 1:
        return Outcome(AMBIGUOUS)
    if letters:
        return Outcome(letters.pop())
    named_letters = named_options(reply, choices)
    return Outcome(named_letters.pop(), lenient=True) if len(named_letters) == 1 else Outcome(NONE)


def read_natural(reply: str, choices: Sequence[str]) -> Outcome:
    """Return which option a free reply is, by its text alone; `text` where it is none of them.

    A reply that is more than an option's text is `lenient`, where it names exactly one.
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
    """Return whether a free reply is right, as far as that can be seen without a judge.

    `answers` are all texts that are right of what was asked; with the key (E) a reply is right where it says
    that it does not know, and `answers` are what it must not say. `undecided` waits for a judge. A reply
    that says that it does not know although the answer can be known is wrong, and so is an empty one.
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
    """Whether a reply plainly says that its writer does not know, and hedges no answer."""
    text = "\n".join(map(_plain, reply.splitlines()))
    if bare(reply) in UNKNOWING_ALONE:
        return True
    return bool(_phrases(UNKNOWING, starts=True).search(text)) and not _phrases(HEDGES).search(text)


def bare(text: str) -> str:
    """Return a text as it is compared with an answer: folded, without articles and final punctuation."""
    plain = _plain(text)
    end = len(plain)
    while end and unicodedata.category(plain[end - 1])[0] in "PZ":
        end -= 1
    words = plain[:end].split()
    return " ".join(word for word in words if word not in _ARTICLES) or " ".join(words) or plain


def named_options(reply: str, choices: Sequence[str]) -> set[str]:
    """Return the letters of the options whose text stands in a reply as whole words, (E) among them.

    What stands there as part of a longer option's text is that option alone: `Ben Stone` is not `Ben`.
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
    """Return a pattern for any of the phrases as whole words, `starts` where a sentence or part starts."""
    either = "|".join(map(whole_word, phrases))
    return regex.compile(rf"(?:\A|[.!?…,;:\n])\s*(?:{either})" if starts else either, regex.V1)


# How much of a question's evidence stands in a prompt (`dialsim.md`, section 9).

Extent = Literal["sufficient", "partly", "none"]


@dataclass(frozen=True, slots=True)
class PromptContent:
    """The parts of a script that a prompt shows.

    `sessions` are the numbers of those that stand there as all that was heard of them, or as their summary;
    `turns` are positions of own turns that stand there by themselves.
    """

    sessions: frozenset[int] = field(default_factory=frozenset)
    turns: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a question is asked: in the session of a number, right after the own turn at a position."""

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
    """Return how much of a question's evidence a prompt shows. `evidence` are numbers of sessions.

    One session suffices, or all are needed (`evidence_all`). A session counts where it stands in the prompt
    whole, or where its evidence turns do; where these are not known, all that was heard of it. The running
    session counts by evidence turns that are known and were heard, since the evidence may otherwise lie on
    either side of the asking point. What is not heard by then never counts.
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
    """Return how much of a question's evidence a prompt shows; see `sufficiency`."""
    numbers = [sessions.numbers[session] for session in question.evidence]
    return sufficiency(
        numbers, question.evidence_all, question.evidence_turns, content, sessions=sessions, moment=moment
    )


def _extent(
    number: int, evidence_turns: frozenset[int], content: PromptContent, sessions: Sessions, moment: Moment
) -> Extent:
    """Return how much of the evidence in one session a prompt shows."""
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
    """Return the positions of what was said in a session, as far as it was heard."""
    turns = sessions.dialogue.turns
    heard = sessions.heard_turns(number, until)
    return frozenset(place for place in heard if turns[place].act not in (*EVENTS, "silence"))


Rule = Literal["strict", "lenient"]

RULES: tuple[Rule, ...] = ("strict", "lenient")
TEMPLATE, NATURAL, OPEN = "template", "natural", "open"
FORMATS = (TEMPLATE, NATURAL, OPEN)
OBSERVED, KEY = "observed", "key"
STRICT, LENIENT = "score:strict", "score:lenient"
"""The raters of an answer that no person and no model is."""
CHOICE, RIGHT, ABSTAINED = "choice", "right", "abstained"
WAITS = "waits for a judge"
"""Why it is missing whether an answer is right, until a judge has read it."""


class Answered(NamedTuple):
    """What one rater says of an answer; `missing` says why exactly where `value` is None."""

    rater: str
    question: str
    value: float | str | None
    missing: str = ""


def score(outcome: Outcome, key: str, rule: Rule = "strict") -> bool:
    """Whether an outcome is right; what was read off an option's text is so in the lenient score alone."""
    return outcome.value == key and (rule == "lenient" or not outcome.lenient)


def late(seconds: float, limit: float | None) -> bool:
    """Whether an answer took longer than its limit in seconds; None: there is none."""
    return limit is not None and seconds > limit


def labels_of(answer: Mapping[str, Any], reply: str) -> list[Answered]:
    """Return what the rater that observes, the key and both scores say of an answer and its reply.

    An open question has no choices, so nobody is asked which was taken. What no rule can score waits for a
    judge; of a failed call everything but the key is missing.
    """
    outcome = Outcome(answer["outcome"], bool(answer.get("lenient")))
    labels = [] if answer["format"] == OPEN else _choices(outcome, answer["key"])
    labels += _scores(STRICT, "strict", outcome, answer, reply)
    labels += _scores(LENIENT, "lenient", outcome, answer, reply)
    return labels


def verdict_of(answer: Mapping[str, Any], reply: str, rule: Rule = "strict") -> Verdict:
    """Return whether an answer that came is right by a rule, `undecided` where a judge has to read it."""
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
    """Return all right texts: the answer, others that are right, and the key's own as it was shown."""
    key_text = dict(zip(LETTERS, answer.get("choices") or (), strict=False)).get(answer["key"])
    return tuple(text for text in (answer.get("answer"), *(answer.get("answers") or ()), key_text) if text)
