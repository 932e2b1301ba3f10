"""Answers in lists of JSON records: by position, or beside the names of their raters or questions.

`"ratings": [4, 5, 3]` and `"expert_annotations": [{"coherence": 4}, ...]` have raters who are numbered and
not identified: the same place need not be the same person. Each element of a list such as
`"judgments": [{"judge": "gpt-4", "score": 4}, ...]` is read like a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from annotation.formats.columns import ColumnProfile, list_of_cell
from annotation.formats.header_words import OF_JUDGES, OWNERS, AnswerName, answer_name, tokens_of
from annotation.formats.mapping import EVERY, RATER_KINDS, Column
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.source import ImportProblem
from annotation.formats.table_file import Cell, Row, text_of
from annotation.text.table_cells import looks_like_a_model

SLOT = "slot"
"""Name of raters who are only places in a list."""
OF_ELEMENTS = (
    *("rater", "question", "value", "explanation", "kind", "identified", "sample", "missing", "level"),
    *("values", *RATER_KINDS),
)
"""Roles of columns whose lists are read element by element."""
NUMBERS = ("scale", "yes_no")
BESIDE = ("explanation", "time", "constant", "empty")
"""What may stand beside the answers in an element that is one rater's."""


def is_of_list(name: str) -> bool:
    """Whether a column of a JSON record is in a list."""
    return "[]" in name


# Reading: elements with a rater or a question become rows, those of a list by position raters.


@dataclass(frozen=True, slots=True)
class Elements:
    """The columns of a mapping whose lists are read element by element; `once` are the other answers."""

    names: tuple[str, ...] = ()
    once: frozenset[str] = frozenset()

    @classmethod
    def of(cls, mapping: ColumnMapping) -> Elements:
        """Return those beside a list of raters or questions; raises ImportProblem for `map`."""
        if not is_of_list(mapping.of("rater") + mapping.of("question")):
            return cls()
        names = tuple(c.name for c in mapping.all_of(*OF_ELEMENTS) if is_of_list(c.name) and not c.rater)
        if names == (mapping.of("rater"),):
            return cls(names)
        if outside := outside_of_list(mapping):
            raise ImportProblem(
                f"the raters are those in {mapping.of('rater')}, and nothing says who answered {outside[0]}: "
                f"name its rater, like label:QUESTION@RATER={outside[0]}",
                field="map",
            )
        return cls(names, frozenset(c.name for c in mapping.answers if c.name not in names))

    def rows(self, row: Row) -> Iterator[Row]:
        """Yield a row for each element, the answers outside the list in the first; others as they are."""
        if not self.names:
            yield row
            return
        if len(self.names) == 1:  # a list alone, such as `["gpt-4", "single-v1"]`, is one name
            cell = row.get(self.names[0])
            yield {**row, self.names[0]: " ".join(map(text_of, cell)) if isinstance(cell, list) else cell}
            return
        lists = {name: cell for name in self.names if isinstance(cell := row.get(name), list) and cell}
        n = max(map(len, lists.values()), default=0)
        for name, cells in lists.items():
            if len(cells) != n:
                raise ImportProblem(f"has {len(cells)} entries, and a list beside it {n}", field=name)
        rest = {name: cell for name, cell in row.items() if name not in self.names}
        yield {**rest, **{name: cells[0] for name, cells in lists.items()}}
        rest = {name: cell for name, cell in rest.items() if name not in self.once}
        for place in range(1, n):
            yield {**rest, **{name: cells[place] for name, cells in lists.items()}}

    def fitting(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of several by their elements, without those whose lists do not fit together."""
        for row in rows:
            with suppress(ImportProblem):
                yield from self.rows(row)


def outside_of_list(mapping: ColumnMapping) -> list[str]:
    """Return the columns of answers without a rater, outside the list that has the raters."""
    is_alone = not any(
        is_of_list(c.name) and not c.rater for c in (*mapping.answers, *mapping.all_of("value"))
    )
    if is_alone or not is_of_list(mapping.of("rater")):
        return []
    return [c.name for c in mapping.answers if not c.rater and not is_of_list(c.name)]


def is_by_position(column: Column) -> bool:
    """Whether a column's lists have one answer of each of several raters, who are numbered."""
    return column.rater.endswith(EVERY)


def answers_by_position(column: Column, cell: Cell) -> Iterator[tuple[str, int, Cell]]:
    """Yield rater, repetition and answer for each element: a judge repeats, people are several."""
    stem = column.rater.removesuffix(EVERY).strip()
    parts = list_of_cell(cell)
    for place, part in enumerate([cell] if parts is None else parts):
        if column.role == "label":
            yield f"{stem or SLOT} {place + 1}", 0, part
        else:
            yield stem or column.role, place, part


# Guessing which lists those are.


def lists_with_names(columns: Mapping[str, ColumnProfile]) -> tuple[str, ...]:
    """Return the columns of the first list whose elements name their rater or question, with answers."""
    for group in _lists(columns.values()):
        names = [c for c in group if c.looks_like in ("rater", "judge") or _is_judge(c)]
        questions = [c for c in group if "question" in c.meanings and not c.is_answers] or [
            c for c in group if "question" in c.meanings and c.guess.look == "category"
        ]
        keys = names[:1] + questions[:1]
        rest = [c for c in group if c not in keys]
        if keys and any(c.is_answers for c in rest) and not any(map(_is_said, rest)):
            return tuple(c.name for c in group)
    alone = [
        c.name for c in columns.values() if c.lengths and c.looks_like == "judge" and "[]." not in c.name
    ]
    return tuple(alone[:1])


def columns_of_elements(
    columns: Mapping[str, ColumnProfile], names: Collection[str]
) -> dict[str, ColumnProfile]:
    """Return columns in which the models of a list of judgments are judges, and no element is a key."""
    elements = [columns[name] for name in names]
    has_raters = len(names) > 1 and any(c.looks_like in ("rater", "judge") or _is_judge(c) for c in elements)
    described = {name: replace(column, is_outside=has_raters) for name, column in columns.items()}
    for name in names:
        column = columns[name]
        looks_like = "judge" if _is_judge(column) else column.looks_like
        described[name] = replace(column, looks_like=looks_like, meanings=column.meanings - {"key"})
    return described


def _is_judge(column: ColumnProfile) -> bool:
    owner = column.name.rpartition("[].")[0]
    is_of_judges = any(token.word in OF_JUDGES or token.word == "judge" for token in tokens_of(owner))
    return column.looks_like == "system" and is_of_judges


def lists_by_position(
    columns: Mapping[str, ColumnProfile], excluded: Collection[str]
) -> tuple[dict[str, AnswerName], list[str]]:
    """Return the names of answers and reasons in lists with one element a rater, and what is doubtful.

    Values that recur in a list are no set of values. Lists as long as one of texts or words are about these.
    """
    unsure = {c.name: c.lengths for c in columns.values() if c.lengths and c.n and not _has_answers(c)}
    lengths_of_others = {*unsure.values()}
    free = [c for c in columns.values() if c.name not in excluded and c.name not in unsure]
    names: dict[str, AnswerName] = {}
    doubts: list[str] = []
    groups = []
    for group in _lists(free):
        answers = [c for c in group if c.is_answers and c.looks_like not in BESIDE]
        others = [c for c in group if not (c.is_answers and c.looks_like not in BESIDE)]
        are_parallel = group[0].lengths in lengths_of_others
        has_repeats = any(c.has_repeats for c in answers)
        are_numbers = all(c.guess.look in NUMBERS for c in answers) and max(group[0].lengths) > 1
        if not answers or are_parallel or not (has_repeats or are_numbers):
            continue
        if all(c.looks_like in BESIDE for c in others):
            groups.append((answers, others))
            if not has_repeats:
                doubts.append(f"{answers[0].name} may be answers of several raters, or sets of values")
    owners = [_named(answers[0].name) for answers, _ in groups]
    n_unnamed = sum(not owner.rater for owner in owners)
    for (answers, others), first in zip(groups, owners, strict=True):
        if first.kind in ("key", "metric"):
            continue
        owner = answers[0].name.rpartition("[].")[0] or answers[0].name.rpartition(".")[0]
        is_unnamed = not first.rater and n_unnamed > 1 and owner
        rater = f"{first.rater or (owner if is_unnamed else SLOT)} {EVERY}"
        kind = first.kind or "human"
        for column in (*answers, *others):
            own = _named(column.name)
            if column.looks_like not in BESIDE or own.is_reason:
                own_rater = f"{own.rater} {EVERY}" if own.rater else rater
                own = replace(own, rater=own_rater, kind=own.kind or kind)
                names[column.name] = replace(own, is_prefixed=True, is_weak=False)
        if kind == "judge":
            doubts.append(f"{answers[0].name} may be repeated answers of {first.rater}, or of several judges")
    return names, doubts


ID = re.compile(r"(?=\D*\d)(?:A[A-Z0-9]{7,20}|[0-9a-f]{8,36}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
"""Ids of workers, as MTurk, Prolific and Toloka give them."""


def _may_have_raters(name: str) -> bool:
    """Whether a dictionary of this name may have an entry for each rater, such as `human_annotations`."""
    parts = answer_name(name)
    return name.casefold() in OWNERS or (parts.kind in ("human", "judge") and parts.is_generic)


def dictionaries_by_rater(
    columns: Iterable[ColumnProfile], excluded: Collection[str]
) -> tuple[dict[str, AnswerName], list[str]]:
    """Return the names of answers in dictionaries whose keys are raters, and what is doubtful about them.

    Keys that only some rows have, and ids, name people; questions are the same in all rows.
    """
    names: dict[str, AnswerName] = {}
    doubts: list[str] = []
    owners: dict[str, list[tuple[str, str, ColumnProfile]]] = {}
    for column in columns:
        parts = column.name.split(".")
        place = next((n for n, part in enumerate(parts[:-1]) if _may_have_raters(part)), None)
        if place is not None and column.name not in excluded and column.n and not is_of_list(column.name):
            question = ".".join(parts[place + 2 :])
            owners.setdefault(parts[place], []).append((parts[place + 1], question, column))
    for owner, entries in owners.items():
        kind = answer_name(owner).kind or "human"
        keys = dict.fromkeys(key for key, _, _ in entries)
        answers = [column for _, _, column in entries if column.is_answers]
        first = next(iter(answers), None)
        are_ids = all(ID.fullmatch(key) for key in keys)
        are_sparse = sum(column.coverage < 1 for _, _, column in entries) * 2 >= len(entries)
        is_other = any(answer_name(key).has_quality or looks_like_a_model(key) for key in keys)
        asked_of = Counter(question for _, question, _ in entries if question)
        is_grid = owner.casefold() not in OWNERS and len(keys) in asked_of.values()
        if len(keys) < 2 or first is None or is_other or not (are_ids or are_sparse or is_grid):
            continue
        for key, question, column in entries:
            own = answer_name(question) if question else AnswerName("")
            own = replace(own, name=column.name, rater=key, kind=kind, is_prefixed=True)
            names[column.name] = replace(own, question=own.question or owner)
        if not (are_ids or is_grid):
            doubts.append(f"{', '.join(list(keys)[:6])} may be raters or questions")
    return names, doubts


def _named(name: str) -> AnswerName:
    """Return what a path says of its answers: `expert_annotations[].coherence`, `human.coherence[]`."""
    plain = name.removesuffix("[]")
    mark = "[]." if "[]." in plain else "."
    owner, _, last = plain.rpartition(mark)
    own, of_owner = answer_name(last), answer_name(owner)
    if owner and not own.rater and of_owner.rater:
        return replace(own, name=name, rater=of_owner.rater, kind=of_owner.kind)
    return replace(own, name=name)


def _has_answers(column: ColumnProfile) -> bool:
    """Whether a list is named like answers or reasons, and not like words or parts of a text."""
    owner, mark, last = column.name.removesuffix("[]").rpartition("[].")
    names = [owner.rpartition(".")[2]] if mark else [last, *last.split(".")[:-1]]
    return column.looks_like in BESIDE or any(
        (parts := answer_name(name)).kind in ("human", "judge")
        or parts.has_quality
        or bool(parts.question and parts.is_generic)
        or name.casefold() in OWNERS
        for name in names
    )


def _lists(columns: Iterable[ColumnProfile]) -> list[list[ColumnProfile]]:
    """Return the columns of each list of objects, and plain lists of the same lengths side by side."""
    groups: dict[tuple[object, ...], list[ColumnProfile]] = {}
    for column in columns:
        if column.lengths and column.n:
            owner, mark, _ = column.name.rpartition("[].")
            parent = column.name.rpartition(".")[0]
            groups.setdefault((owner,) if mark else (parent, column.lengths), []).append(column)
    return [group for group in groups.values() if not any(map(_is_said, group))]


def _is_said(column: ColumnProfile) -> bool:
    """Whether elements have texts that may be turns or responses, or their speakers."""
    if "explanation" in column.meanings:
        return False
    return column.looks_like in ("text", "transcript", "speaker") or (
        column.looks_like == "id" and bool(column.meanings & {"text", "response", "prompt"})
    )
