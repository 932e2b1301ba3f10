"""The questions of LongDialQA: what is asked in a scene, gathered into questions and their uses.

A question of a scene has a wording for each speaker, five options of which the last one is "I don't know",
and its answer. The same wording with the same four choices is one question, wherever it is asked. The file
does not say what gives the answer, nor the true answer of a question that is asked where it cannot be known;
the latter is taken from another use of it, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.fields import Fields, kind_of
from annotation.formats.longform import TOLD
from annotation.formats.problems import ImportProblem
from annotation.scripts import records
from annotation.scripts.records import DEFAULT_STYLE, LETTERS, UNKNOWN, Form, Question, Use
from annotation.text.tokens import fold

ASKED = frozenset({"questions", "options", "answer"})
EASY = {
    name: name
    for name in (
        "ans_wo_time",
        "ans_w_time",
        "before_event_unans",
        "dont_know_unans",
        "dont_know_unans_time",
    )
}
HOPS = {"past": "past", "cur": "current", "current": "current", "fu": "future", "future": "future"}
HOPS |= {"undated": "undated", "unheard": "unheard"}
FORMS: dict[str, Form] = {"past": "past", "current": "present", "future": "present", "undated": "undated"}
DATED = ("ans_w_time", "dont_know_unans_time")
DONT_KNOW = "i don't know"
LENGTH = 10_000
"""The characters that a wording or an option may have."""


@dataclass(slots=True)
class _Gathered:
    """A question, as far as its uses have told it; `types` are those of its uses."""

    id: str
    source: records.Source
    type: str
    text: str
    choices: tuple[str, ...]
    styles: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    number: str = ""


class Questions:
    """The questions of all scenes, and their uses in order."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, tuple[str, ...]], _Gathered] = {}
        self._uses: list[Use] = []
        self._counts = {"quiz": 0, "tkg": 0}
        self._asked: set[tuple[str, str]] = set()
        self._twice: list[str] = []
        self._unmatched: list[str] = []
        self._reworded: list[str] = []

    def take(self, scene: Fields, session: str) -> None:
        """Take what is asked in a scene; raise ImportProblem with the path of what does not fit."""
        for name, known in (("easy_q", EASY), ("hard_q", None)):
            for type, asked in _object(scene, name).items():
                path = f"{scene.at(name)}.{type}"
                meant = _quiz_type(type, path) if known else _tkg_type(type, path)
                for key, raw in _each(asked, path):
                    fields = Fields(raw, f"{path}.{key}", ASKED)
                    self._take("quiz" if known else "tkg", meant, key, fields, session)

    def _take(self, source: records.Source, type: str, number: str, fields: Fields, session: str) -> None:
        styles = _styles(fields)
        options = _options(fields)
        answer = fold(fields.text("answer"))
        letter = next(
            (
                letter
                for letter, option in zip(LETTERS, options, strict=True)
                if fold(option) == answer or (letter == UNKNOWN and _is_dont_know(answer))
            ),
            "",
        )
        if not letter or not styles or len(set(map(fold, options))) < len(options):
            self._unmatched.append(fields.path)
            return
        question = self._question(source, type, number, styles, options[:4])
        if (question.id, session) in self._asked:
            self._twice.append(fields.path)
            return
        self._asked.add((question.id, session))
        self._reword(question, styles, fields.path)
        if letter != UNKNOWN:
            question.answer = question.answer or options[LETTERS.index(letter)]
        self._uses.append(
            Use(
                question=question.id,
                session=session,
                answerable=letter != UNKNOWN,
                key=letter,
                type=type,
                order=_order(question.choices, options[:4]),
                rule="file",
            )
        )

    def _question(
        self, source: records.Source, type: str, number: str, styles: dict[str, str], choices: tuple[str, ...]
    ) -> _Gathered:
        text = styles.get(DEFAULT_STYLE) or next(iter(styles.values()))
        place = (source, fold(text), tuple(sorted(map(fold, choices))))
        if place not in self._known:
            self._counts[source] += 1
            key = f"{'q' if source == 'quiz' else 'k'}{self._counts[source]}"
            self._known[place] = _Gathered(key, source, type, text, choices, number=number)
        return self._known[place]

    def _reword(self, question: _Gathered, styles: dict[str, str], path: str) -> None:
        """Add wordings that are new; the first one of a speaker stays."""
        for speaker, text in styles.items():
            if question.styles.setdefault(speaker, text) != text:
                self._reworded.append(path)
                return

    def whole(self) -> tuple[tuple[Question, ...], tuple[Use, ...]]:
        """Return the questions and their uses."""
        bases = {
            (one.number, tuple(sorted(map(fold, one.choices)))): one.id
            for one in self._known.values()
            if one.source == "quiz" and one.type not in DATED
        }
        return tuple(_record(one, bases) for one in self._known.values()), tuple(self._uses)

    def notes(self) -> Iterator[str]:
        """Yield what is to be told of the questions, with the first places."""
        for paths, told in (
            (
                self._unmatched,
                "uses without a wording, with equal options, or whose answer is none of them, left out",
            ),
            (self._twice, "questions that a scene asks twice, of which the first one counts"),
            (self._reworded, "questions that are worded anew for a speaker; the first wording is kept"),
        ):
            if paths:
                yield f"{told}: {len(paths)} ({', '.join(paths[:TOLD])})"


def _record(one: _Gathered, bases: dict[tuple[str, tuple[str, ...]], str]) -> Question:
    hops = one.type.split("_") if one.source == "tkg" else []
    dated = one.type in DATED
    forms = tuple(FORMS[hop] for hop in hops) if all(hop in FORMS for hop in hops) else ()
    return Question(
        id=one.id,
        source=one.source,
        text=one.text,
        choices=one.choices,
        answer=one.answer,
        hops=len(hops),
        forms=forms,
        dated=dated or "past" in hops,
        base=bases.get((one.number, tuple(sorted(map(fold, one.choices)))), "") if dated else "",
        styles=one.styles,
        status="accepted",
    )


def _object(fields: Fields, name: str) -> dict[str, Any]:
    value = fields.raw.get(name)
    if value is None:
        return {}
    if type(value) is not dict:
        raise fields.problem(name, f"must be an object of questions by type, not {kind_of(value)}")
    return value


def _each(asked: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield (number, question) of an object or a list."""
    if isinstance(asked, dict):
        yield from asked.items()
    elif isinstance(asked, list):
        yield from ((str(number), raw) for number, raw in enumerate(asked))
    else:
        raise ImportProblem(f"must be an object or a list of questions, not {kind_of(asked)}", field=path)


def _quiz_type(name: str, path: str) -> str:
    if name not in EASY:
        raise ImportProblem(f"is no type of quiz question; there are {', '.join(EASY)}", field=path)
    return EASY[name]


def _tkg_type(name: str, path: str) -> str:
    hops = name.split("_")
    if len(hops) > 2 or not all(hop in HOPS for hop in hops):
        told = "is no type of question about facts: past, cur or fu, or a pair of them such as past_cur"
        raise ImportProblem(told, field=path)
    return "_".join(HOPS[hop] for hop in hops)


def _styles(fields: Fields) -> dict[str, str]:
    styles = fields.object("questions")
    for speaker, text in styles.items():
        if type(text) is not str or len(text) > LENGTH:
            where = f"{fields.at('questions')}.{speaker[:60]}"
            raise ImportProblem(f"must be a text of at most {LENGTH} characters", field=where)
    return {speaker: text for speaker, text in styles.items() if text.strip()}


def _options(fields: Fields) -> tuple[str, ...]:
    options = fields.texts("options")
    if len(options) != len(LETTERS) or any(len(option) > LENGTH for option in options):
        raise fields.problem("options", f"must be five texts, of at most {LENGTH} characters each")
    if not _is_dont_know(fold(options[-1])):
        raise fields.problem("options", f"must end with “I don't know”, not {options[-1][:60]!r}")
    return options


def _is_dont_know(text: str) -> bool:
    return text.replace("’", "'").rstrip(".! ") == DONT_KNOW


def _order(choices: tuple[str, ...], shown: tuple[str, ...]) -> str:
    """Return which of a question's choices stands at A to D."""
    left = {number: fold(choice) for number, choice in enumerate(choices)}
    order = ""
    for option in shown:
        number = next(number for number, choice in left.items() if choice == fold(option))
        del left[number]
        order += str(number)
    return order
