"""Readings of a table as ratings: one answer a row, answers in columns, or people in rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from annotation.formats.answer_columns import answer_columns
from annotation.formats.columns import ColumnProfile
from annotation.formats.header_words import (
    LONGEST_ITEM,
    answer_name,
    is_nameless,
    name_for_key,
    names_answers,
    tokens_of,
)
from annotation.formats.mapping import MOST_ENTRIES
from annotation.formats.nested_answers import is_by_position
from annotation.formats.readings import (
    FILES,
    Draft,
    Reading,
    Sample,
    add_answers,
    add_rater,
    cell_text,
    row_raters,
)

LONG_ROLES = (
    *("kind", "identified", "sample", "missing", "turn_number", "level", "values", "scheme"),
    *("evidence", "occasion", "order", "continuation", "system", "cluster"),
)


def _item_columns(
    draft: Draft, sample: Sample, excluded: Iterable[str], rater: str, question: str = ""
) -> None:
    """Add the columns that say what is rated, so that each rater answers once for each item."""
    passed = set(excluded)
    free = [
        c
        for c in sample.columns.values()
        if not c.is_list and c.name not in passed and not is_nameless(c.name)
    ]
    items = [c for c in free if "item" in c.meanings and c.looks_like == "id"]
    exact = [c for c in items if c.name.casefold() in ("item", "item_id", "itemid")]
    dialogues = [c for c in free if "dialogue" in c.meanings and c.looks_like in ("id", "turn", "constant")]
    turns = [c for c in free if c.looks_like == "turn" and "item" not in c.meanings]
    by_row = [name for name in (rater, question) if name]

    def is_key(*names: str) -> bool:
        keys = [key for key in sample.keys(*names, *by_row) if not rater or key[len(names)]]
        return len(set(keys)) == len(keys)

    def recurs(column: ColumnProfile) -> bool:
        return column.n_different < len(sample.rows)

    candidates = exact or items
    good = [c for c in candidates if is_key(c.name) and (not by_row or recurs(c))]
    good = good or [c for c in candidates if is_key(c.name)]
    if good:
        draft.add(good[0].name, "item")
        others = good[1:2] if by_row and not exact else []
        if rater and not others and _is_running(sample, good[0].name, rater):
            keys = [c for c in free if c is not good[0] and _is_item(sample, c, by_row)]
            others = [c for c in keys if not _is_alike(sample, c, good[0])][:1]
        draft.doubts += [f"{good[0].name} and {other.name} may be the item" for other in others]
    elif dialogues and turns and is_key(dialogues[0].name, turns[0].name):
        draft.add(dialogues[0].name, "dialogue")
        draft.add(turns[0].name, "turn")
        if "0" not in {number for (number,) in sample.keys(turns[0].name)}:
            draft.doubts.append(f"{turns[0].name} may count from 0 or from 1")
    elif dialogues and is_key(dialogues[0].name):
        draft.add(dialogues[0].name, "dialogue")
    elif key := _key_with_systems(sample, [*dialogues, *candidates], turns, is_key, is_wide=not by_row):
        for role, name in key.items():
            draft.add(name, role)
    elif names := _joint_key(sample, [*candidates, *dialogues], free, by_row):
        for name in names:
            draft.add(name, "item")
    elif candidates:
        draft.add(candidates[0].name, "item")
        draft.doubts.append(f"rows repeat an answer to the same {candidates[0].name}")
    elif dialogues:
        draft.add(dialogues[0].name, "dialogue")
        draft.doubts.append(f"rows repeat an answer to the same {dialogues[0].name}")
    elif by_row:
        _others_as_items(draft, sample, free, by_row)
    has_item = any(column.role == "item" for column in draft.columns.values())
    clusters = [c for c in dialogues if c.name not in draft.columns and recurs(c)]
    own = [c for c in free if c.name.casefold() == "cluster"]
    if has_item and (own or clusters):
        draft.add((own or clusters)[0].name, "cluster")


RESPONSES = frozenset(["response", "output", "completion", "answer", "reply", "candidate", "summary"])
"""Words in the names of ids of what is said to the same unit."""


def _key_with_systems(
    sample: Sample,
    units: Sequence[ColumnProfile],
    turns: Sequence[ColumnProfile],
    is_key: Callable[..., bool],
    *,
    is_wide: bool,
) -> dict[str, str]:
    """Return the columns that together say what is rated: of several systems, or with two ids; by role."""
    systems = [c for c in sample.meaning("system", "system", "category", "id") if c.n_different < c.n]
    for unit in units[:2]:
        for system in systems[:2]:
            if system is unit:
                continue
            key = {"dialogue": unit.name, "continuation": system.name}
            if is_key(*key.values()):
                return key
            if turns and is_key(*key.values(), turns[0].name):
                return {**key, "turn": turns[0].name}
    ids = [c for c in units if c.looks_like == "id"]
    ids.sort(key=lambda column: bool(RESPONSES & {token.base for token in tokens_of(column.name)}))
    for unit, other in combinations(ids[:4], 2):
        pairs = sample.keys(unit.name, other.name)
        if is_key(unit.name, other.name) and (is_wide or len(set(pairs)) < len(pairs)):
            return {"dialogue": unit.name, "continuation": other.name}
    return {}


MOST_KEYS = 4
"""Maximum number of columns that name an item together."""
PARTS_OF_KEYS = ("id", "turn", "system", "text", "category")
"""Looks of columns that may name an item together with an id."""


def _joint_key(
    sample: Sample, units: Sequence[ColumnProfile], free: Sequence[ColumnProfile], by_row: Sequence[str]
) -> tuple[str, ...]:
    """Return the fewest columns that name what is rated together, such as a prompt and a system.

    Where rows name their raters, these must have several answers about most items, and texts are no part of
    the key. The first part is an id that recurs.
    """
    unit = next((c for c in units if c.n_different < c.n), None)
    if unit is None:
        return ()
    looks = [look for look in PARTS_OF_KEYS if look != "text" or not by_row]
    parts = [
        c
        for c in free
        if c is not unit
        and _look_of_part(c) in looks
        and c.coverage == 1
        and (c.n_different < c.n or not by_row)
        and not (names_answers(c.name) or {"derived", "time", "explanation", "kind", "question"} & c.meanings)
    ]
    parts.sort(key=lambda c: looks.index(_look_of_part(c)))
    parts = parts[:8]
    cells = {name: [key for (key,) in sample.keys(name)] for name in (unit.name, *by_row)}
    cells |= {c.name: [key for (key,) in sample.keys(c.name)] for c in parts}
    n_rows = len(sample.rows)

    def is_key(*names: str) -> bool:
        columns = [cells[name] for name in (*names, *by_row)]
        return all(
            len(set(zip(*(c[:n] for c in columns), strict=True))) == min(n, n_rows) for n in (200, n_rows)
        )

    names = (unit.name, *(c.name for c in parts))
    for n_parts in range(1, MOST_KEYS) if is_key(*names) else ():
        for others in combinations(names[1:], n_parts):
            if is_key(unit.name, *others):
                n_items = len(set(zip(*(cells[name] for name in (unit.name, *others)), strict=True)))
                if not by_row or n_items * 3 <= n_rows * 2:
                    return (unit.name, *others)
    return ()


def _look_of_part(column: ColumnProfile) -> str:
    is_number = column.looks_like in ("scale", "score")
    return "id" if is_number and "item" in column.meanings else column.looks_like


def _named_by(draft: Draft, sample: Sample) -> str:
    """Return the end of a sentence that says what names an item: several columns, or one not called so."""
    names = _items_of(draft)
    is_called_so = len(names) == 1 and "item" in sample.columns[names[0]].meanings
    return f"; an item is {' with '.join(names)}" if names and not is_called_so else ""


def _others_as_items(
    draft: Draft, sample: Sample, free: Sequence[ColumnProfile], by_row: Sequence[str]
) -> None:
    """Take what every rater answers once about for the item, where nothing is called one."""
    keys = [c for c in free if c.n == len(sample.rows) and _is_item(sample, c, by_row)]
    if keys:
        alike = [c for c in keys if _is_alike(sample, c, keys[0])]
        best = next((c for c in alike if c.looks_like in ("id", "turn")), keys[0])
        draft.add(best.name, "item")
        others = [c.name for c in keys if c not in alike]
        draft.doubts += [f"{best.name} and {others[0]} may be the item"] if others else []
        return
    texts = [c for c in free if c.looks_like in ("text", "id") and c.n_different < len(sample.rows) and c.n]
    if texts:
        draft.add(texts[0].name, "item")
        draft.doubts.append(f"{texts[0].name} may be something other than the item")
        draft.doubts.append(f"rows repeat an answer to the same {texts[0].name}")
    else:
        draft.missing.append("a column that says what is rated")


def _is_alike(sample: Sample, column: ColumnProfile, other: ColumnProfile) -> bool:
    """Whether two columns tell the same things from each other."""
    n_pairs = len(set(sample.keys(column.name, other.name)))
    return n_pairs == column.n_different == other.n_different


def _is_running(sample: Sample, name: str, rater: str) -> bool:
    """Whether a column numbers the rows of each rater, as the order in which items were shown."""
    counts: Counter[str] = Counter()
    for person, number in sample.keys(rater, name):
        counts[person] += 1
        if number not in (str(counts[person]), str(counts[person] - 1)):
            return False
    return True


def _is_item(sample: Sample, column: ColumnProfile, by_row: Sequence[str]) -> bool:
    """Whether every rater answers once about each cell of a column, and several about most of them."""
    if {"derived", "time", "value"} & column.meanings or column.n_different * 3 > len(sample.rows) * 2:
        return False
    keys = sample.keys(column.name, *by_row)
    return len(set(keys)) == len(keys)


def read_long(sample: Sample) -> Reading | None:
    """One answer a row: item, rater, value, and the question where a column has it."""
    draft = Draft("long")
    values = [
        c
        for c in sample.meaning("value")
        if (c.is_answers or (c.looks_like in ("text", "id") and c.name.casefold() == "value"))
        and not c.is_list
    ]
    raters = row_raters(sample)
    if not values or not raters:
        return None
    exact = [c for c in values if c.name.casefold() == "value"]
    rater = raters[0].name
    questions = [
        c
        for c in sample.meaning("question")
        if not c.is_list
        and c.looks_like in ("category", "id", "constant", "system", "text")
        and c.n_words <= 15
        and (c.name.casefold() == "question" or c.n_different <= max(2, c.n / 3) or c.n_different <= 3)
    ]
    own = {name.strip().casefold() for name in sample.columns}
    is_own = {"rater", "value"} <= own and bool(own & {"item", "dialogue"})
    excluded = {rater, *(c.name for c in values[:1]), *(c.name for c in questions[:1])}
    others = answer_columns(
        sample.columns,
        {*excluded, *(c.name for c in sample.columns.values() if c.name.casefold() in LONG_ROLES)},
        has_rater=True,
    )
    value = (exact or values)[0]
    keys = [c for c in others.columns if c.role == "key"] if not is_own else []
    rest = [c for c in others.columns if c not in keys]
    if not is_own and (len(values) > 1 or any(c.rater for c in rest) or (rest and not questions) or keys):
        return None
    if rest and not is_own:
        draft.doubts.append(f"{', '.join(c.name for c in rest[:4])} may be answers, too")
    draft.add(rater, "rater")
    if len(raters) > 1:
        draft.doubts.append(f"{rater} and {raters[1].name} may be the rater")
    draft.add(value.name, "value")
    question = ""
    if questions:
        question = questions[0].name
        draft.add(question, "question")
    if is_own:
        for role in ("item", "dialogue", "turn", *LONG_ROLES):
            draft.add(
                next((n for n in sample.columns if n.strip().casefold() == role and sample.columns[n].n), ""),
                role,
            )
    else:
        _item_columns(draft, sample, draft.columns, rater, question)
        kinds = [
            c
            for c in sample.meaning("kind")
            if c.n and c.looks_like in ("category", "constant", "id", "speaker", "system")
        ]
        if kinds:
            draft.add(kinds[0].name, "kind")
    reasons = [
        c for c in sample.meaning("explanation") if c.n and not c.is_list and c.name not in draft.columns
    ]
    if reasons:
        draft.add(reasons[0].name, "explanation")
    asks = " to one question" if question else ""
    return draft.reading(sample, f"Each row is one answer{asks} by one rater{_named_by(draft, sample)}.")


def read_wide(sample: Sample) -> Reading | None:
    """Answers in columns: one a rater, one a question, or one for each of both."""
    if _is_matrix(sample):
        return None
    draft = Draft("wide")
    raters = row_raters(sample)
    rater = raters[0].name if raters else ""
    _item_columns(draft, sample, [rater] if rater else [], rater)
    items = _items_of(draft)
    varying = sample.varying(rater, *items) if rater and items else ()
    facts = sample.facts_of_raters(rater, *items) if rater and items else ()
    passed = {*draft.columns, *facts}
    answers = answer_columns(sample.columns, passed, has_rater=bool(rater), varying=varying)
    doubts = [doubt for doubt in draft.doubts if doubt.endswith(" may be the item")]
    draft = Draft("wide", doubts=doubts if rater else [])
    if not answers.columns:
        lists = [c.name for c in sample.columns.values() if c.is_list and c.is_answers]
        draft.missing.append(
            f"who gave each answer in the lists of {', '.join(lists[:4])}"
            if lists
            else "columns with answers: numbers of a scale, yes or no, or a few words"
        )
        return draft.reading(sample, "Each row is one item with its answers in columns.")
    if answers.items:
        return None
    if rater and read_long(sample) is not None:
        return None
    add_answers(draft, answers)
    keys = {column.rater for column in answers.columns if column.role == "key"}
    names = [name for name in answers.raters if not rater or name not in keys]
    question = ""
    if rater and not all(column.rater for column in answers.columns):
        add_rater(draft, sample)
        if names:
            draft.doubts.append(f"{rater} and {', '.join(names[:3])} are both raters")
    elif rater:
        if FILES in sample.columns[rater].meanings and not any(answers.questions):
            question = rater
            draft.add(question, "question")
        rater, names = "", answers.raters
    _item_columns(draft, sample, draft.columns, rater, question)
    questions = [question for question in answers.questions if question]
    own_questions = dict.fromkeys(
        c.question or c.name for c in answers.columns if not (rater and c.role == "key")
    )
    n_questions = _count(len(own_questions), "question")
    if rater:
        sentence = f"Each row is one item rated by one rater, with {n_questions} in columns"
    elif len(names) > 0:
        raters_text = f"{_count(len(names), 'rater')} in columns"
        if any(map(is_by_position, answers.columns)):
            raters_text = "lists of answers by raters who are numbered, and not identified"
        asks = f", {_count(len(questions), 'question')}" if len(questions) > 1 else ""
        sentence = f"Each row is one item with {raters_text}{asks}"
        unnamed = [column.name for column in answers.columns if not column.rater]
        if unnamed:
            draft.doubts.append(f"nothing says who answered {', '.join(unnamed[:4])}")
    else:
        sentence = f"Each row is one item with {n_questions} in columns, all by one rater"
        draft.doubts.append("no column says who answered: the rater is named after the file")
    if not any(c.role in ("item", "dialogue") for c in draft.columns.values()) and not draft.missing:
        sentence += "; items are numbered by row"
        if len(sample.rows) == 1:
            draft.doubts.append("one row does not show which columns hold answers")
    return draft.reading(sample, f"{sentence}{_named_by(draft, sample)}.")


def _items_of(draft: Draft) -> list[str]:
    return [column.name for column in draft.columns.values() if column.role == "item"]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _is_matrix(sample: Sample) -> bool:
    """Whether a table has a row for each of few raters, and a column for each of many items."""
    columns = list(sample.columns.values())
    if len(columns) <= max(20, 3 * len(sample.rows)) or columns[0].n_different < len(sample.rows):
        return False
    return sum(column.is_answers for column in columns[1:]) >= 0.9 * (len(columns) - 1)


def _read_matrix(sample: Sample) -> Reading:
    """Read a row for each rater, and a column for each item, or for each item and question."""
    draft = Draft("survey")
    first, *others = (column.name for column in sample.columns.values())
    draft.add(first, "rater")
    names = [cell_text(row.get(first)) for row in sample.rows]
    if not all(answer_name(name).kind in ("human", "judge") for name in names):
        draft.doubts.append(f"{first} may be something other than the rater")
    parts = {name: re.split(r"__|[|/:#]", name) for name in others}
    last = Counter(pieces[-1] for pieces in parts.values())
    has_questions = all(len(pieces) > 1 for pieces in parts.values()) and len(last) * 4 <= len(parts)
    for name in others:
        question = parts[name][-1] if has_questions else ""
        item = name.removesuffix(question).rstrip("_|/:#") if question else name
        draft.add(name, "label", question=name_for_key(question), item=name_for_key(item, LONGEST_ITEM))
    if len(others) > MOST_ENTRIES - 1:
        draft.missing.append(f"at most {MOST_ENTRIES - 1:,} columns: a mapping has no more")
    n_items = len({column.item for column in draft.columns.values()} - {""})
    return draft.reading(
        sample, f"Each row is one rater with the answers about {_count(n_items, 'item')} in columns."
    )


def read_survey(sample: Sample) -> Reading | None:
    """People in rows and items in columns, as survey programs export."""
    if _is_matrix(sample):
        return _read_matrix(sample)
    draft = Draft("survey")
    raters = row_raters(sample)
    stamps = sample.look("time")
    has_wordings = any(column.wording for column in sample.columns.values())
    answers = answer_columns(sample.columns, (), has_rater=True)
    if len(answers.columns) < 2 or not (raters or stamps or has_wordings or answers.items):
        return None
    named_items = [column for column in answers.columns if column.item]
    has_ids = any(
        "item" in c.meanings and c.looks_like == "id" and c.n_different < c.n for c in sample.columns.values()
    )
    if not named_items and (has_ids or (raters and raters[0].n_different < raters[0].n)):
        return None
    if not raters:
        draft.missing.append("a column that says who answered")
    else:
        add_rater(draft, sample)
        if raters[0].n_different < raters[0].n:
            draft.doubts.append(f"{raters[0].name} answered more than once")
    if named_items:
        for column in named_items:
            draft.add(column.name, "label", question=column.question, item=column.item)
        unplaced = [column.name for column in answers.columns if not column.item]
        if unplaced:
            draft.doubts.append(f"nothing says which item {', '.join(unplaced[:3])} is about")
    else:
        alike = Counter(tuple(sample.columns[column.name].guess.scale.values) for column in answers.columns)
        for column in answers.columns:
            item = sample.columns[column.name].wording or column.name
            draft.add(column.name, "label", item=name_for_key(item, LONGEST_ITEM))
        draft.doubts.append("the columns may be items, or questions about one item")
        if len(alike) > 1:
            draft.doubts.append("the columns have different scales")
    draft.doubts += answers.doubts
    n_items = len(answers.items) or len(answers.columns)
    return draft.reading(
        sample, f"Each row is one rater with the answers about {_count(n_items, 'item')} in columns."
    )
