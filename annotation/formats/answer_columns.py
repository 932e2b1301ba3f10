"""Which columns of a table hold answers: of which rater, to which question, about which item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from annotation.formats.columns import ColumnProfile
from annotation.formats.header_words import (
    GENERIC,
    HEADERS,
    ITEMS,
    NUMBER_AT_END,
    PEOPLE,
    QUALITIES,
    REMARKS,
    TWO_RESPONSES,
    AnswerName,
    answer_name,
    is_nameless,
    name_for_key,
    plain_name,
    tokens_of,
    word_set,
)
from annotation.formats.mapping import Column
from annotation.formats.nested_answers import dictionaries_by_rater, lists_by_position
from annotation.text.table_cells import looks_like_a_model

KIND_ROLES = {"human": "label", "judge": "judge", "key": "key", "metric": "metric", "": "label"}
STRUCTURE = word_set("dialogue session turn time language speaker system rater kind context")
"""Meanings of headers whose columns are no answers."""
DERIVED = word_set(
    "mean avg average median std stdev sd var variance sum total min max count length len num n majority"
    " consensus"
    " agreement aggregated aggregate tokens words chars duration seconds price cost age year kappa alpha"
    " gender"
    " time spent elapsed latency country education native confidence delta diff difference composite"
)
"""Words in the headers of figures that follow from others or describe the text."""
NAMES_OF_PARTS = ITEMS.union(
    *(HEADERS[meaning] for meaning in ("response", "text", "system", "prompt", "context"))
)
SYSTEM_OF_PAIR = re.compile(r"(?:model|system|bot)[_ -]?(?:a|b|1|2|left|right)\b", re.IGNORECASE)
CONTEXT_PREFIXES = ("input.", "input:", "hint:", "meta.", "metadata.")
"""What platforms put before the names of columns that are not answers."""
NUMBERED_QUESTION = re.compile(r"(?:q|qn|question|frage|pregunta|item_q)[_ .-]?\d{1,3}[a-z]?", re.IGNORECASE)
NO_LABELS = frozenset(["response", "answer", "code", "points"])
"""Words for answers that are words for other things, too."""
CONTENTS = word_set("answer answers response responses reply output outputs completion summary target")
"""Words for what is rated."""
ROLES_OF_BOTH = word_set("evaluator assessor reviewer rater labeler annotator")
"""Names of raters who may be models where another one is called human."""
NAMING = word_set("id ids uuid name names email username")
"""Last words of headers whose columns name somebody or something."""
FACT = re.compile(r"(?:is|has|was|did|are)(?=[A-Z_ ])")
"""Names of columns that say what is the case, such as `is_pass`."""
MOST_WORDS = 8
"""Words of a rater's name in a header, at most."""
OPEN_QUESTION = re.compile(
    r".*[?？]\s*$|^(how|what|which|is|does|do|did|are|was|please|rate)\b.*", re.I | re.S
)


@dataclass(slots=True)
class Answers:
    """The columns of answers of a table with their roles, and of explanations; what is doubtful about them.

    `derived` are columns with figures that were left out, `unclear` those that may hold answers as well.
    """

    columns: list[Column] = field(default_factory=list)
    explanations: list[Column] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)

    @property
    def raters(self) -> list[str]:
        """Raters that columns name, in their order."""
        return list(dict.fromkeys(column.rater for column in self.columns if column.rater))

    @property
    def questions(self) -> list[str]:
        return list(dict.fromkeys(column.question for column in self.columns))


def answer_columns(
    columns: Mapping[str, ColumnProfile],
    excluded: Iterable[str] = (),
    *,
    has_rater: bool = False,
    varying: Collection[str] = (),
    are_sure: bool = False,
) -> Answers:
    """Find the columns of answers among those that are not excluded; `has_rater`: rows name their rater.

    `varying` are the columns that differ between rows about the same item, as answers of several raters do.
    With `are_sure`, columns whose header does not say that they are answers are left out.
    """
    answers = Answers()
    passed = set(excluded)
    names: dict[str, AnswerName] = {}
    reasons: list[AnswerName] = []
    people = _people(columns.values(), passed) if are_sure and not has_rater else {}
    others = {name: column for name, column in columns.items() if column.is_outside or not has_rater}
    nested, answers.doubts = lists_by_position(others, passed)
    by_rater, doubts = dictionaries_by_rater(others.values(), passed)
    nested |= by_rater
    answers.doubts += doubts
    for column in columns.values():
        if column.name in passed or column.looks_like == "empty" or is_nameless(column.name):
            continue
        name = _name_of(column)
        if column.is_outside and not name.rater and column.name not in nested:
            if column.is_list and column.is_answers and not _is_derived(column):
                answers.doubts.append(
                    f"{column.name} is in another list than the raters, and would be left out"
                )
            continue  # the raters are in a list, and this is none of their answers
        if has_rater and not column.is_outside and name.kind == "human" and name.rater.casefold() in PEOPLE:
            name = replace(name, rater="", kind="")  # such as annotator_label: the row's rater
        if column.name in people:
            names[column.name] = people[column.name]
        elif column.name in nested:
            name = nested[column.name]
            if name.is_reason:
                reasons.append(name)
            elif column.is_answers:
                names[column.name] = name
        elif name.is_reason and not (column.is_answers and _is_short_range(column)):
            reasons.append(name)
        elif column.is_answers and column.has_repeats and _is_sure(column, name):
            answers.doubts.append(f"{column.name} has lists of answers, and nothing says who gave each")
        elif column.is_answers and (_may_answer(column, name) or column.name in varying):
            if _is_derived(column):
                answers.derived.append(column.name)
            elif not (are_sure and column.name not in varying and not _is_sure(column, name)):
                names[column.name] = name
            elif column.looks_like == "scale" and column.n_different > 2:
                answers.unclear.append(column.name)
                answers.doubts.append(f"{column.name} may hold answers, too")
    if people:
        answers.doubts.append(f"{_join_names(people)} may be raters or questions")
    _leave_out_contents(names, columns, answers)
    if not has_rater:
        _take_numbered_for_raters(names, columns, answers)
    _name_judges(names, columns)
    _split_unknown(names, columns, answers, has_rater, varying)
    _number_raters(names)
    _name_questions(names)
    _add_columns(names, columns, answers)
    _doubt_raters(names, columns, answers)
    _add_explanations(reasons, names, answers)
    return answers


def _people(columns: Iterable[ColumnProfile], excluded: Collection[str]) -> dict[str, AnswerName]:
    """Return columns that may be raters: plain names such as `Anna` with the same answers on some rows."""
    plain = [
        column
        for column in columns
        if column.name not in excluded
        and column.name.isalpha()
        and not column.meanings
        and not column.is_list
        and column.guess.look in ("scale", "yes_no", "ordered")
        and column.coverage < 1
        and not _is_derived(column)
        and not _is_sure(column, answer_name(column.name))
    ]
    best: list[ColumnProfile] = []
    for first in plain:
        alike = [column for column in plain if _shares_values(first, [column])]
        best = alike if len(alike) > len(best) else best
    if len(best) < 2:
        return {}
    return {column.name: AnswerName(column.name, rater=column.name, kind="human") for column in best}


def _leave_out_contents(
    names: dict[str, AnswerName], columns: Mapping[str, ColumnProfile], answers: Answers
) -> None:
    """Leave out what is rated, such as `gold_answer` beside `judge_label`, and facts that never change."""
    labels = [columns[name] for name, parts in names.items() if not _names_content(parts)]
    for name in [name for name in names if name not in answers.unclear]:
        column, others = columns[name], [label for label in labels if label.name != name]
        is_fact = column.looks_like == "constant" and column.guess.look == "category"
        is_fact = is_fact and any(label.looks_like != "constant" for label in others)
        is_content = len(labels) > 1 and _names_content(names[name]) and bool(names[name].rater)
        if (is_fact or is_content) and others and not _shares_values(column, others):
            names.pop(name)
            answers.unclear.append(name)


def _names_content(parts: AnswerName) -> bool:
    words = {token.base for token in tokens_of(parts.question)}
    return bool(words) and words <= CONTENTS


def _take_numbered_for_raters(
    names: dict[str, AnswerName], columns: Mapping[str, ColumnProfile], answers: Answers
) -> None:
    """Take `label_1`, `label_2` with the same answers for the raters 1 and 2 of one question, and ask."""
    if any(parts.rater or parts.item for parts in names.values()):
        return
    groups: dict[str, list[str]] = {}
    for name in names:
        tokens = tokens_of(plain_name(name))
        match = NUMBER_AT_END.search(name)
        if match and {token.base for token in tokens} - {""} <= GENERIC - NO_LABELS:
            groups.setdefault(name[: match.start()], []).append(name)
    for stem, group in groups.items():
        if len(group) > 1 and all(_shares_values(columns[group[0]], [columns[name]]) for name in group):
            for name in group:
                names[name] = replace(names[name], rater=name, kind="human", question=stem)
            answers.doubts.append(f"{_join_names(group)} may be raters or questions")


def _name_judges(names: dict[str, AnswerName], columns: Mapping[str, ColumnProfile]) -> None:
    """Take `judge_tulu` for a judge beside `judge_gpt-4`, with the same answers, and not for a question."""
    judges = [parts for parts in names.values() if parts.kind == "judge"]
    models = [parts for parts in judges if looks_like_a_model(parts.rater) and parts.is_generic]
    if not models:
        return
    for parts in judges:
        is_unnamed = {token.base for token in tokens_of(parts.rater)} <= {"judge", "llm"}
        is_question = parts.is_generic or parts.has_quality or parts.item
        if is_unnamed and not is_question and _shares_values(columns[parts.name], [columns[models[0].name]]):
            names[parts.name] = replace(parts, rater=plain_name(parts.name), question=models[0].question)


def _is_short_range(column: ColumnProfile) -> bool:
    return column.guess.look in ("scale", "yes_no", "ordered")


def _name_of(column: ColumnProfile) -> AnswerName:
    wording = column.wording
    if wording and len(wording) <= 120 and wording != column.name:
        return replace(answer_name(wording), name=column.name, is_prefixed=True)
    if column.name.casefold().startswith(("golden:", "gold:")):
        return AnswerName(column.name, rater="golden", kind="key", question=column.name.partition(":")[2])
    return answer_name(column.name)


def _may_answer(column: ColumnProfile, name: AnswerName) -> bool:
    """Whether nothing in the header of a column with answers says that it holds something else."""
    last = tokens_of(name.name)[-1:]
    if last and last[0].word in NAMING:
        return False
    if (
        (column.is_list and "[]." in name.name)
        or SYSTEM_OF_PAIR.search(name.name)
        or name.name.casefold().startswith(CONTEXT_PREFIXES)
    ):
        return False
    if (column.is_list or column.looks_like == "constant") and not _is_sure(column, name):
        return False
    if column.guess.look in ("category", "set") and TWO_RESPONSES.fullmatch(column.name):
        return False
    if name.kind in ("human", "judge", "key", "metric") and name.rater:
        return True
    if column.meanings & STRUCTURE and not column.meanings & {"value", "key"}:
        return False
    is_said = column.meanings & {"response", "prompt", "text", "context"} and column.n_words >= 2
    if is_said and column.guess.look in ("category", "text"):
        return False
    if column.looks_like == "category" or column.guess.look == "category":
        return bool(
            column.meanings & {"value", "key", "winner"}
            or name.has_quality
            or name.is_prefixed
            or _has_answer_word(name)
            or (not column.meanings and column.n_words <= 3)
        )
    return not (column.guess.look == "score" and "item" in column.meanings)


def _has_answer_word(name: AnswerName) -> bool:
    words = {token.base for token in tokens_of(plain_name(name.name))}
    return bool(words & (GENERIC - NO_LABELS))


def _is_derived(column: ColumnProfile) -> bool:
    words = [token.base for token in tokens_of(plain_name(column.name))]
    if (
        words[-1:] == ["accuracy"]
        and words[0] not in DERIVED
        and column.guess.look in ("scale", "ordered", "yes_no")
    ):
        return False  # a quality that people rate
    return "derived" in column.meanings or any(word in DERIVED for word in (words[:1] + words[-1:]))


def _is_sure(column: ColumnProfile, name: AnswerName) -> bool:
    return bool(
        name.rater
        or name.is_prefixed
        or name.has_quality
        or column.meanings & {"value", "key", "winner"}
        or column.guess.look == "ordered"
        or _has_answer_word(name)
        or name.item
        or OPEN_QUESTION.fullmatch(name.name)
    )


def _shares_values(column: ColumnProfile, others: Iterable[ColumnProfile]) -> bool:
    """Whether a column's answers are on the scale of another."""
    values = set(column.guess.scale.values)
    for other in others:
        others_values = set(other.guess.scale.values)
        if column.guess.look == other.guess.look == "score" or (
            values and others_values and len(values & others_values) * 2 >= len(values)
        ):
            return True
    return False


def _different_scales(columns: Iterable[ColumnProfile]) -> list[ColumnProfile]:
    """Return the first column of each scale."""
    first: dict[tuple[str, tuple[str, ...]], ColumnProfile] = {}
    for column in columns:
        first.setdefault((column.guess.look, column.guess.scale.values), column)
    return list(first.values())


def _split_unknown(
    names: dict[str, AnswerName],
    columns: Mapping[str, ColumnProfile],
    answers: Answers,
    has_rater: bool,
    varying: Collection[str],
) -> None:
    """Say of names without a usual word for a rater whether they name raters or questions."""
    weak = [name for name, parts in names.items() if parts.is_weak]
    if len(weak) == 1:
        parts = names[weak[0]]
        names[weak[0]] = answer_without_rater(parts)
    with_rater = {name: parts for name, parts in names.items() if parts.rater}
    unnamed = [name for name, parts in names.items() if not parts.rater and not parts.item]
    shared = {parts.question.casefold() for parts in with_rater.values() if not parts.is_generic}
    split = _split_by_question(unnamed, names, shared, answers) if unnamed else {}
    if not split and len(unnamed) >= 3:
        split = _grid(unnamed, answers)
    split |= _rest_of_grid([name for name in unnamed if name not in split], split)
    for name, (rater, question) in split.items():
        names[name] = replace(names[name], rater=rater, kind="human", question=question)
    rest = [name for name in unnamed if name not in split]
    sure = [name for name in rest if name in varying or _is_sure(columns[name], names[name])]
    unsure = [name for name in rest if name not in sure]
    other_scales = _different_scales(columns[name] for name in names.keys() - set(unsure))
    if not unsure:
        return
    if has_rater and not with_rater and not split:
        others = [name for name in unsure if columns[name].guess.look in ("category", "score")]
        for name in unsure:
            if varying or (sure and (name in others or not _shares_values(columns[name], other_scales))):
                names.pop(name)
                answers.unclear.append(name)
        remaining = [name for name in unsure if name in names]
        if remaining:
            answers.doubts.append(f"{_join_names(remaining)} may be something other than questions")
        return
    if with_rater or split:
        generic = _different_scales(
            columns[name] for name, parts in names.items() if parts.rater and parts.is_generic
        )
        for name in unsure:
            if generic and _shares_values(columns[name], generic) and columns[name].guess.look != "score":
                names[name] = replace(names[name], rater=name, kind="human", question="")
                if FACT.match(name):
                    answers.doubts.append(f"{name} may be a rater or the right answer")
                elif not all(parts.is_generic for parts in with_rater.values()):
                    answers.doubts.append(f"{name} may be a rater or a question")
            else:
                if _shares_values(columns[name], other_scales) and columns[name].guess.look != "score":
                    answers.doubts.append(f"{name} may hold answers, too")
                names.pop(name)
                answers.unclear.append(name)
        return
    if sure:
        for name in unsure:
            if _shares_values(columns[name], other_scales) and columns[name].guess.look != "score":
                answers.doubts.append(f"{name} may be a question, too")
            names.pop(name)
            answers.unclear.append(name)
        return
    _raters_or_questions(unsure, names, columns, answers)


def answer_without_rater(name: AnswerName) -> AnswerName:
    """Return a name whose only word such as `a1` is no rater, but its question."""
    return replace(name, rater="", kind="", question=name.question or name.rater, is_weak=False)


def _raters_or_questions(
    unsure: list[str], names: dict[str, AnswerName], columns: Mapping[str, ColumnProfile], answers: Answers
) -> None:
    """Take columns with unknown names and the same answers for raters, others for nothing."""
    if all(NUMBERED_QUESTION.fullmatch(plain_name(name)) for name in unsure):
        return
    best: list[str] = []
    for first in _different_scales(columns[name] for name in unsure):
        alike = [name for name in unsure if _shares_values(first, [columns[name]])]
        best = alike if len(alike) > len(best) else best
    is_figures = all(columns[name].guess.look == "score" for name in best)
    for name in unsure:
        if name not in best or is_figures:
            names.pop(name)
            answers.unclear.append(name)
        elif len(best) > 1:
            names[name] = replace(names[name], rater=names[name].name, kind="human", question="")
    if len(best) > 1 and not is_figures:
        answers.doubts.append(f"{_join_names(best)} may be raters or questions")
    elif best and not is_figures:
        answers.doubts.append(f"{best[0]} may be something other than answers")


def _split_by_question(
    unnamed: list[str], names: dict[str, AnswerName], shared: set[str], answers: Answers
) -> dict[str, tuple[str, str]]:
    """Split `anna_quality`, where several columns end or begin with a question that others have, too."""
    splits: dict[str, tuple[str, str]] = {}
    usual = Counter(
        side.casefold() for name in unnamed for sides in _sides(name) for side in sides if _is_usual(side)
    )
    for name in unnamed:
        for before, after in _sides(name):
            for rater, question in ((before, after), (after, before)):
                is_part = {token.base for token in tokens_of(rater)} & (NAMES_OF_PARTS | QUALITIES | GENERIC)
                is_shared = question.casefold() in shared
                recurs = _is_usual(question) and usual[question.casefold()] > 1
                if not is_part and (is_shared or recurs) and name not in splits:
                    splits[name] = (rater, question)
    unknown = [name for name, (_, question) in splits.items() if question.casefold() not in shared]
    raters = {rater.casefold() for rater, _ in splits.values()}
    is_grid = len(raters) > 1 and len(splits) > len(raters)
    if unknown and not is_grid:
        answers.doubts.append(f"{_join_names(unknown)} may be questions of one rater")
    return splits


def _rest_of_grid(names: Iterable[str], split: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Split further names, of questions that every rater of a grid has an answer to."""
    raters = {rater.casefold() for rater, _ in split.values()}
    questions: dict[str, dict[str, tuple[str, str]]] = {}
    for name in names if len(raters) > 1 else ():
        for before, after in _sides(name):
            for rater, question in ((before, after), (after, before)):
                if rater.casefold() in raters:
                    questions.setdefault(question.casefold(), {})[name] = (rater, question)
    complete = [
        columns
        for columns in questions.values()
        if {rater.casefold() for rater, _ in columns.values()} == raters
    ]
    return {name: parts for columns in complete for name, parts in columns.items()}


def _is_usual(text: str) -> bool:
    tokens = tokens_of(text)
    return len(tokens) == 1 and tokens[0].base in QUALITIES


def _sides(name: str) -> list[tuple[str, str]]:
    """Return the parts before and behind each of the places where a rater may end or begin."""
    plain = plain_name(name)
    tokens = tokens_of(plain)
    return [
        (plain[: tokens[place - 1].end].strip(" ([{"), plain[tokens[place].start :].strip(" )]}"))
        for place in range(1, len(tokens))
        if place <= MOST_WORDS or len(tokens) - place <= MOST_WORDS
    ]


def _grid(unnamed: list[str], answers: Answers) -> dict[str, tuple[str, str]]:
    """Split names whose parts recur as raters and questions: each of two or more with each."""
    befores = Counter(before.casefold() for name in unnamed for before, _ in _sides(name))
    afters = Counter(after.casefold() for name in unnamed for _, after in _sides(name))
    splits = {}
    for name in unnamed:
        sides = [
            (min(befores[before.casefold()], afters[after.casefold()]), before, after)
            for before, after in _sides(name)
        ]
        count, before, after = max(sides, default=(0, "", ""))
        if count > 1:
            splits[name] = (before, after)
    first = {before.casefold() for before, _ in splits.values()}
    second = {after.casefold() for _, after in splits.values()}
    if len(first) < 2 or len(second) < 2 or len(splits) < max(4, 0.75 * len(first) * len(second)):
        return {}
    usual_first, usual_second = (sum(_has_quality(side) for side in sides) for sides in (first, second))
    if usual_first == usual_second:
        answers.doubts.append(
            f"either {_join_names(sorted(first))} or {_join_names(sorted(second))} are the raters"
        )
    if usual_first > usual_second:
        return {name: (after, before) for name, (before, after) in splits.items()}
    return splits


def _has_quality(text: str) -> bool:
    return any(token.base in QUALITIES for token in tokens_of(text))


def _number_raters(names: dict[str, AnswerName]) -> None:
    """Read `human_score_1` as the score of human 1, where several columns differ in the number alone."""
    groups: dict[tuple[str, str], list[AnswerName]] = {}
    for parts in names.values():
        number = NUMBER_AT_END.search(parts.question)
        if parts.kind == "human" and number and not re.search(r"\d", parts.rater):
            groups.setdefault((parts.rater, parts.question[: number.start()]), []).append(parts)
    for (rater, question), group in groups.items():
        if len(group) > 1:
            for parts in group:
                own_number = parts.question[len(question) :].strip(" _-.")
                names[parts.name] = replace(parts, rater=f"{rater} {own_number}", question=question)


def _name_questions(names: dict[str, AnswerName]) -> None:
    """Give the same question one name: in any case, and where all raters have a single general one."""
    spellings: dict[str, str] = {}
    for name, parts in names.items():
        folded = "".join(token.word for token in tokens_of(parts.question))
        question = spellings.setdefault(folded, parts.question)
        names[name] = replace(parts, question=question[:120])
    generic = [parts for parts in names.values() if parts.rater and parts.is_generic and not parts.item]
    per_rater = Counter(parts.rater.casefold() for parts in generic)
    if generic and max(per_rater.values()) == 1:
        questions = [parts.question for parts in generic if parts.question]
        specific = {parts.question for parts in names.values() if parts.rater and not parts.is_generic}
        question = next(iter(specific)) if len(specific) == 1 else questions[0] if questions else ""
        for parts in generic:
            names[parts.name] = replace(parts, question=question)


def _add_columns(
    names: dict[str, AnswerName], columns: Mapping[str, ColumnProfile], answers: Answers
) -> None:
    """Turn names into columns with roles; each answer once."""
    seen: dict[tuple[str, str, str], str] = {}
    for name, parts in names.items():
        kind = parts.kind or ("key" if "key" in columns[name].meanings else "human")
        rater = parts.rater or ("key" if kind == "key" else "")
        question = parts.question or ("" if rater or parts.item else plain_name(name))
        key = (name_for_key(question), name_for_key(rater), name_for_key(parts.item))
        if key in seen:
            answers.doubts.append(f"{name} and {seen[key]} may be the same answer")
            key = (name_for_key(name), *key[1:])
        if key in seen:
            continue
        seen[key] = name
        answers.columns.append(Column(name, KIND_ROLES[kind], *key))
    read = [columns[name] for name in names]
    pairs = [
        column.name
        for column in columns.values()
        if column.is_answers and column.name not in names and SYSTEM_OF_PAIR.fullmatch(column.name)
    ]
    answers.doubts += [
        f"{name} may hold answers, too"
        for name in pairs
        if columns[name].guess.look != "score" and _shares_values(columns[name], read)
    ]
    answers.items = list(dict.fromkeys(column.item for column in answers.columns if column.item))


def _doubt_raters(
    names: Mapping[str, AnswerName], columns: Mapping[str, ColumnProfile], answers: Answers
) -> None:
    """Ask about judges that may be people, and about columns that name the rater of another column."""
    raters = {parts.rater: parts.kind for parts in names.values() if parts.rater}
    called = [
        rater for rater in raters if {token.base for token in tokens_of(rater)} <= {"judge", "judges", ""}
    ]
    if len(called) > 1 or (called and "human" not in raters.values()):
        are_numbers = all(rater.isdigit() for rater in called)
        others = "raters, or other things that are rated" if are_numbers else "people or models"
        answers.doubts.append(f"{_join_names(called)} may be {others}")
    if any(rater.casefold() == "human" for rater in raters):
        answers.doubts += [
            f"{rater} may be a person or a model"
            for rater, kind in raters.items()
            if kind == "human" and rater.casefold() in ROLES_OF_BOTH
        ]
    for column in columns.values():
        name = answer_name(column.name)
        last = tokens_of(column.name)[-1:]
        if name.rater in raters and last and last[0].word in NAMING and column.name not in names:
            answers.doubts.append(f"{column.name} may name the rater of each row")


def _add_explanations(reasons: list[AnswerName], names: dict[str, AnswerName], answers: Answers) -> None:
    """Attach columns of explanations to the answers of the same rater and question."""
    used: set[tuple[str, str]] = set()
    for reason in reasons:
        target = _explained(reason, answers)
        if target is not None and target not in used:
            used.add(target)
            answers.explanations.append(Column(reason.name, "explanation", target[0], target[1]))


def _explained(reason: AnswerName, answers: Answers) -> tuple[str, str] | None:
    """Return question and rater of the answers that a column explains, empty for all of a row."""
    folded = "".join(token.word for token in tokens_of(reason.question))
    pairs = [(column.question, column.rater) for column in answers.columns]
    exact = [
        pair
        for pair in pairs
        if pair[1].casefold() == reason.rater.casefold()
        and (not folded or reason.is_generic or "".join(token.word for token in tokens_of(pair[0])) == folded)
    ]
    if len(exact) == 1:
        return exact[0]
    if len(exact) > 1:
        return ("", reason.rater)
    if not reason.rater and (not reason.question or reason.is_generic):
        is_remark = any(token.base in REMARKS for token in tokens_of(reason.name))
        if is_remark and len(answers.raters) > 1:
            return None
        judges = [(column.question, column.rater) for column in answers.columns if column.role == "judge"]
        return (
            judges[0]
            if len(judges) == 1 and answers.raters
            else ("", "")
            if pairs and not answers.raters
            else None
        )
    by_question = [pair for pair in pairs if "".join(t.word for t in tokens_of(pair[0])) == folded and folded]
    return by_question[0] if len(by_question) == 1 else None


def _join_names(names: Iterable[str], most: int = 6) -> str:
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
