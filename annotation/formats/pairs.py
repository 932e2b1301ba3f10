"""Comparisons: a context, two or more responses to it, and which is better or in which order they are.

Concord's own form, one comparison a line: {"id", "context", "responses": [{"system", "text"}], "winner",
"rater"} (`annotation.formats.pair_lines`); battles as Chatbot Arena publishes them, and the judgments of
MT-Bench:
{"question_id", "model_a", "model_b", "winner", "judge", "conversation_a", "conversation_b", "turn"}
(`annotation.formats.arena`); and a CSV with the columns of either. Comparisons with the same id are about one
dialogue, whose responses each come once, so a file is read whole before anything is made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats import arena, pair_lines
from annotation.formats.compared import Comparison, Response
from annotation.formats.entry import Format, Rating, SourceRecord
from annotation.formats.fields import decode, kind_of
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.settings import JUDGES
from annotation.formats.source import Source
from annotation.formats.tables import csv_cells, row_of
from annotation.records import Continuation, Dialogue, Participant
from annotation.text.cells import unsaid_judges

SIDES = ({"conversation_a", "conversation_b"}, {"response_a", "response_b"})


@dataclass(slots=True)
class _Gathered:
    """A dialogue as the comparisons before told it, with the line that began it."""

    line: int
    comparison: Comparison
    continuations: dict[str, Continuation] = field(default_factory=dict)


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues with all responses to them, then an answer for each line that has one."""
    dialogues: dict[str, _Gathered] = {}
    ratings: list[tuple[int, Rating]] = []
    answered: Counter[Any] = Counter()
    unsaid: dict[str, None] = {}
    for line, content in _lines(source):
        try:
            comparison = content()
            unsaid |= {comparison.unsaid: None} if comparison.unsaid else {}
            rating = _placed(dialogues, line, comparison)
        except ImportProblem as problem:
            source.report(problem.placed(line=line))
            continue
        if rating is not None:
            ratings.append((line, _numbered(rating, answered)))
    if unsaid and JUDGES not in source.settings:
        _ask(source, list(unsaid))
    for key, gathered in dialogues.items():
        yield SourceRecord(_dialogue(key, gathered), gathered.line)
    for line, rating in ratings:
        yield SourceRecord(rating, line)


def _ask(source: Source, raters: list[str]) -> None:
    """Ask who of a battle's raters is a judge; where nobody is named, say that they are taken for people."""
    if raters == [arena.UNNAMED]:
        source.notes.append("The file names no judge: its answers are taken as one person's, `unnamed`.")
    else:
        source.report(ImportProblem(unsaid_judges(raters), field="judge"))


def _lines(source: Source) -> Iterator[tuple[int, Callable[[], Comparison]]]:
    """Yield the numbered lines, each with what makes a comparison of it."""
    with source.path.open("rb") as file:
        beginning = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning.startswith(b"{"):
        for line, content in source.lines():
            yield line, lambda content=content: _of_object(decode(content), source)  # type: ignore[misc]
        return
    rows = csv_cells(source)
    names = [name.strip().lower() for name in next(rows)[1]]
    if not any(sides <= set(names) for sides in SIDES):
        raise ImportProblem("has no columns response_a and response_b", line=1, field="response_a")
    source.is_table = True
    source.pass_over(name for name in names if name not in arena.COLUMNS)
    for line, values in rows:
        yield line, lambda values=values: arena.of_row(row_of(names, values))  # type: ignore[misc]


def _of_object(raw: Any, source: Source) -> Comparison:
    if not isinstance(raw, dict):
        raise ImportProblem(f"must be an object, not {kind_of(raw)}")
    if not SIDES[0] <= raw.keys():
        return pair_lines.of_object(raw)
    source.pass_over(name for name in raw if name not in arena.FIELDS)
    return arena.of_object(raw)


def _placed(dialogues: dict[str, _Gathered], line: int, comparison: Comparison) -> Rating | None:
    """Add a comparison's responses to its dialogue; return its answer, None where it has none."""
    gathered = dialogues.setdefault(comparison.dialogue, _Gathered(line, comparison))
    before = gathered.comparison
    for name in ("context", "cluster", "language"):
        if getattr(before, name) != getattr(comparison, name):
            told = f"differs from that of {comparison.dialogue!r} on line {gathered.line}"
            raise ImportProblem(told, field=name)
    members = tuple(
        (_kept(gathered.continuations, response), response.turn) for response in comparison.responses
    )
    if len(set(members)) < len(members):
        raise ImportProblem("two of the responses are the same, of the same system", field="responses")
    if comparison.label is None:
        return None
    (continuation, turn), *_ = members
    label = replace(comparison.label, continuation=continuation, turn=turn, members=members)
    return Rating(comparison.dialogue, label, label.level, label.values, field="responses")


def _kept(continuations: dict[str, Continuation], response: Response) -> str:
    """Return the id of the continuation that a response is: one that is there, else a new one."""
    asked = response.continuation
    number, key = 0, asked.id
    while key in continuations:
        known = continuations[key]
        if (known.system, known.mode, known.turns) == (asked.system, asked.mode, asked.turns):
            return key
        number += 1
        key = f"{asked.id}-{number + 1}"
    continuations[key] = replace(asked, id=key, trial=number)
    return key


def _numbered(rating: Rating, answered: Counter[Any]) -> Rating:
    """Number what one rater answers again about the same, unless the file does."""
    label = rating.label
    about = (rating.dialogue, frozenset(label.members), label.question, label.kind, label.rater)
    sample = label.sample or answered[about]
    answered[about] += 1
    return replace(rating, label=replace(label, sample=sample))


def _dialogue(key: str, gathered: _Gathered) -> Dialogue:
    told = gathered.comparison
    parts = tuple(gathered.continuations.values())
    speakers = dict.fromkeys(turn.speaker for turn in told.context)
    speakers |= dict.fromkeys(turn.speaker for part in parts for turn in part.turns)
    return Dialogue(
        id=key,
        turns=told.context,
        participants=tuple(Participant(speaker) for speaker in speakers),
        continuations=parts,
        cluster=told.cluster,
        language=told.language,
    )


def _looks_like(head: Head) -> bool:
    names: Mapping[str, Any] | frozenset[str] = head.keys or head.header
    own = {"responses"} <= set(names) and bool({"winner", "ranking"} & set(names))
    return own or any(sides <= set(names) for sides in SIDES)


FORMAT = Format(
    key="pairs",
    title="Comparisons: pairs and rankings",
    hint='{"id", "context", "responses": [{"system", "text"}], "winner", "rater"} a line; also files as '
    "Chatbot Arena and MT-Bench publish them, and CSV.",
    read=read,
    looks_like=_looks_like,
    settings=(JUDGES,),
)
