"""One row per question, with its use and the outcome of its answer. Plain data, no database.

A row comes from the answer's record (`answer` in the turn's `extra`) and its labels. Where a score's label is
missing, the reply is scored again (`suites.long_dialogue.scripts.answers`); an answer that neither a rule nor
a judge has decided is pending, and an answer whose call failed is missing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from annotation.kinds import ANSWER
from annotation.models import Continuation
from annotation.models.corpora import Corpus
from annotation.script_records import NAMES as NAME_KINDS
from annotation.script_records import UNKNOWN
from calibration.reports.kinds import CorpusQuery, Parameters
from calibration.statistics.core.ratings import Floats, Ints
from suites.long_dialogue.scripts.answers import (
    ABSTAINED,
    FAILED,
    RULES,
    STRICT,
    WAITS,
    Rule,
    labels_of,
    verdict_of,
)
from suites.reports import ReportRefused

SUFFICIENT, PARTLY, NOTHING = "sufficient", "partly", "none"
RETRIEVED = (SUFFICIENT, PARTLY, NOTHING)
CALL_FAILED = "the call failed"
HALF = 0.5
MODEL, MEMORY, RETRIEVER, NAMES, SET = "model", "memory", "retriever", "names", "set"


@dataclass(frozen=True, slots=True)
class AnswerRatings:
    """Ratings of an answer: by each rule whether it is right, whether it abstains, and the judge's rating.

    None without such a label. `undecided` means that the judge could not decide, which counts as wrong.
    """

    strict: float | None = None
    lenient: float | None = None
    abstained: float | None = None
    judge: float | None = None
    undecided: bool = False

    def by(self, rule: Rule) -> float | None:
        """Return whether the answer is right by the label of a rule."""
        return self.strict if rule == "strict" else self.lenient


NOBODY = AnswerRatings()


@dataclass(frozen=True, slots=True)
class Place:
    """Context of an answer: its system, condition, trial and script.

    `sessions` is the script's number of sessions, `cluster` the unit of resampling (the session, or its
    season).
    """

    system: str
    script: str
    cluster: str
    condition: Mapping[str, str] = field(default_factory=dict)
    trial: int = 0
    sessions: int = 0
    item: int | None = None
    fake_model: bool = False


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A question and its answer.

    `strict` and `lenient` tell whether the answer is right, None if unknown (`why`). `distance` is the
    distance from the evidence to the question, in sessions and tokens.
    """

    place: Place
    question: str
    session: int
    use: str
    answerable: bool
    key: str
    source: str
    hops: int
    outcome: str
    strict: bool | None
    lenient: bool | None
    abstained: bool | None
    why: str = ""
    undecided: bool = False
    by_judge: bool = False
    relations: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    asker: str = ""
    format: str = ""
    names: str = ""
    question_set: str = ""
    retrieval: str = ""
    distance: tuple[int | None, int | None] = (None, None)
    drawn_class: str = ""
    asked_class: str = ""
    owed: tuple[str, ...] = ()

    def right(self, rule: Rule) -> bool | None:
        """Return whether the answer is right by a rule."""
        return self.strict if rule == "strict" else self.lenient

    @property
    def is_failed(self) -> bool:
        """Whether the call failed, so that there is no answer."""
        return self.outcome == FAILED

    def condition(self, key: str) -> str:
        """Return a setting of the condition, '' if unknown.

        The model defaults to the system, names and question set to those in the answer's record.
        """
        usual = {MODEL: self.place.system, NAMES: self.names, SET: self.question_set}
        return self.place.condition.get(key) or usual.get(key, "")


def row_of(answer: Mapping[str, Any], reply: str, place: Place, ratings: AnswerRatings = NOBODY) -> AnswerRow:
    """Return the row for an answer's record and its reply.

    Raises KeyError for a missing required field.
    """
    outcome, key = str(answer["outcome"]), str(answer["key"])
    strict, lenient = (_right(answer, reply, rule, ratings) for rule in RULES)
    by_judge = _by_judge(answer, reply, ratings)
    distance = answer.get("distance") or {}
    classes = answer.get("class") or {}
    return AnswerRow(
        place=place,
        question=str(answer["question"]),
        session=int(answer["session"]),
        use=str(answer["use"]),
        answerable=bool(answer["answerable"]),
        key=key,
        source=str(answer["source"]),
        hops=int(answer.get("hops") or 0),
        outcome=outcome,
        strict=strict,
        lenient=lenient,
        abstained=_abstained(answer, reply, ratings),
        why=_why(answer, strict, lenient),
        undecided=by_judge and ratings.undecided,
        by_judge=by_judge,
        relations=tuple(answer.get("relations") or ()),
        forms=tuple(answer.get("forms") or ()),
        asker=str(answer.get("asker") or ""),
        format=str(answer.get("format") or ""),
        names=str(answer.get("names") or ""),
        question_set=str(answer.get("set") or ""),
        retrieval=str((answer.get("retrieval") or {}).get("evidence") or ""),
        distance=(distance.get("sessions"), distance.get("tokens")),
        drawn_class=str(classes.get("wanted") or ""),
        asked_class=str(classes.get("asked") or ""),
        owed=tuple(classes.get("owed") or ()),
    )


def _right(answer: Mapping[str, Any], reply: str, rule: Rule, ratings: AnswerRatings) -> bool | None:
    """Return whether an answer is right: by its label, else by the rule, else by a judge."""
    if answer["outcome"] == FAILED:
        return None
    if (label := ratings.by(rule)) is not None:
        return label >= HALF
    verdict = verdict_of(answer, reply, rule)
    if verdict != "undecided":
        return verdict == "right"
    return None if ratings.judge is None else ratings.judge >= HALF


def _by_judge(answer: Mapping[str, Any], reply: str, ratings: AnswerRatings) -> bool:
    """Whether the judge decides: the rule does not, and the judge has answered."""
    if answer["outcome"] == FAILED or ratings.strict is not None or ratings.judge is None:
        return False
    return verdict_of(answer, reply) == "undecided"


def _abstained(answer: Mapping[str, Any], reply: str, ratings: AnswerRatings) -> bool | None:
    """Return whether the answer was that the question is unanswerable.

    Where a judge decides and the key is (E), a right answer abstained, in words that no list contains.
    """
    if answer["outcome"] == FAILED:
        return None
    if answer["key"] == UNKNOWN and _by_judge(answer, reply, ratings):
        return (ratings.judge or 0) >= HALF
    if ratings.abstained is not None:
        return ratings.abstained >= HALF
    values = {(label.rater, label.question): label.value for label in labels_of(answer, reply)}
    return bool(values[STRICT, ABSTAINED])


def _why(answer: Mapping[str, Any], strict: bool | None, lenient: bool | None) -> str:
    """Return why an answer's correctness is unknown."""
    if answer["outcome"] == FAILED:
        error = str(answer.get("error") or "")
        return f"{CALL_FAILED}: {error}" if error else CALL_FAILED
    return WAITS if strict is None or lenient is None else ""


# Groups of answers that form rows of the report, and pairs of answers across rows.

# Factors of accuracy: each gives a row the values under which it counts.

SESSIONS_AWAY = (0, 1, 9, 49, 99, 199)
TOKENS_AWAY = (999, 9_999, 49_999, 99_999, 199_999)
"""Last value of each bin of a distance; the final bin is open."""
QUARTERS = ("first quarter", "second quarter", "third quarter", "last quarter")
BETWEEN = " to "


@dataclass(frozen=True)
class Factor:
    """A factor: its key in files, its title, the values of a row, and the order of its values.

    `order` lists values with a fixed order; others follow alphabetically.
    """

    key: str
    title: str
    values: Callable[[AnswerRow], tuple[str, ...]]
    order: tuple[str, ...] = ()
    note: str = ""

    def sorted(self, values: Sequence[str]) -> list[str]:
        """Return distinct values in the factor's order."""
        places = {value: at for at, value in enumerate(self.order)}
        return sorted(set(values), key=lambda value: (places.get(value, len(places)), value))


def _some(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


@lru_cache(maxsize=8)
def bins(ends: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of bins with these last values: `0`, `1`, `2 to 9`, ..., `200 or more`."""
    starts = [0, *(end + 1 for end in ends)]
    pairs = zip(starts, ends, strict=False)
    closed = [f"{low:,}" if low == high else f"{low:,}{BETWEEN}{high:,}" for low, high in pairs]
    return (*closed, f"{starts[-1]:,} or more")


def bin_of(amount: int | None, ends: tuple[int, ...]) -> tuple[str, ...]:
    """Return the bin of an amount, () for None."""
    if amount is None:
        return ()
    return (bins(ends)[sum(amount > end for end in ends)],)


def quarter(row: AnswerRow) -> tuple[str, ...]:
    """Return the quarter of the script that contains the question, () if the script's length is unknown."""
    if row.place.sessions < 1:
        return ()
    return (QUARTERS[min(4 * (row.session - 1) // row.place.sessions, 3)],)


FACTORS: dict[str, Factor] = {
    factor.key: factor
    for factor in (
        Factor("source", "Source", lambda row: _some(row.source), ("quiz", "tkg")),
        Factor(
            "hops",
            "Hops",
            lambda row: () if row.source == "quiz" else (str(row.hops),),
            note="Of questions about facts.",
        ),
        Factor(
            "answerable",
            "Can it be answered",
            lambda row: ("answerable" if row.answerable else "unanswerable",),
            ("answerable", "unanswerable"),
        ),
        Factor("type", "Type of use", lambda row: _some(row.use)),
        Factor("shape", "Time shape", lambda row: _some("-".join(row.forms))),
        Factor("asker", "Asker", lambda row: _some(row.asker)),
        Factor(
            "relation",
            "Relation",
            lambda row: tuple(dict.fromkeys(row.relations)),
            note="A question of two hops counts under both of its relations.",
        ),
        Factor(
            "sessions",
            "Sessions from evidence to question",
            lambda row: bin_of(row.distance[0], SESSIONS_AWAY),
            bins(SESSIONS_AWAY),
        ),
        Factor(
            "tokens",
            "Tokens from evidence to question",
            lambda row: bin_of(row.distance[1], TOKENS_AWAY),
            bins(TOKENS_AWAY),
        ),
        Factor("position", "Position in the script", quarter, QUARTERS),
    )
}
"""Factors, in the order of the report."""


SYSTEM, CONDITION, SCRIPT = "system", "condition", "script"
BY = (SYSTEM, CONDITION)
"""Default grouping: a row for every condition of every system."""
ORACLE, K, FORMAT = "oracle", "k", "format"
_KIND = re.compile(r"[a-z]+")


@dataclass(frozen=True, eq=False)
class Group:
    """A row of the report: the answers with the same system and condition, or with the same grouping keys.

    ``system`` is '' for a group of several systems.
    """

    system: str
    condition: Mapping[str, str]
    rows: Ints
    script: str = ""
    fake_model: bool = False

    @property
    def name(self) -> str:
        """Name of the row."""
        setting_texts = [f"{key} {value}" for key, value in self.condition.items() if key != MODEL]
        parts = [self.system or self.condition.get(MODEL, ""), *setting_texts, self.script]
        return ", ".join(part for part in parts if part) or "all"


def groups(rows: Sequence[AnswerRow], rows_by: Sequence[str], among: Ints | None = None) -> list[Group]:
    """Return the groups of rows by the keys `rows_by`, in the order of their names.

    `condition` stands for every setting that varies between rows; any other key except `system` and `script`
    is a setting. With ``among``, positions of rows, the others are left out.
    """
    keys = settings(rows, rows_by)
    positions: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(rows)) if among is None else among.tolist():
        row = rows[at]
        place = row.place
        fixed = (place.system if SYSTEM in rows_by else "", place.script if SCRIPT in rows_by else "")
        positions[(*fixed, *(row.condition(key) for key in keys))].append(at)
    return [_group(rows, keys, values, positions[values]) for values in sorted(positions)]


def settings(rows: Sequence[AnswerRow], rows_by: Sequence[str]) -> list[str]:
    """Return the settings among the grouping keys, without duplicates; `condition` means those that vary."""
    setting_keys: list[str] = []
    for key in rows_by:
        if key == CONDITION:
            setting_keys += varying(rows)
        elif key not in (SYSTEM, SCRIPT):
            setting_keys.append(key)
    return list(dict.fromkeys(setting_keys))


def varying(rows: Sequence[AnswerRow]) -> list[str]:
    """Return the settings with more than one value among rows, in the order of `setting_names`.

    A setting that only some systems have, such as the memory that a baseline lacks, does not vary for that
    reason.
    """
    values: dict[str, set[str]] = defaultdict(set)
    lacking: dict[str, set[str]] = defaultdict(set)
    keys = setting_names(rows)
    systems: dict[str, set[str]] = defaultdict(set)
    for place in (row.place for row in rows):
        for key in keys:
            value = place.condition.get(key, "")
            (values if value else lacking)[key].add(value or place.system)
            if value:
                systems[key].add(place.system)
    return [key for key in keys if len(values[key]) > 1 or lacking[key] & systems[key]]


def setting_names(rows: Sequence[AnswerRow]) -> list[str]:
    """Return all settings of the rows' conditions: first those that the paper varies, then by name."""
    keys = {key for row in rows for key in row.place.condition}
    first = (MODEL, MEMORY, RETRIEVER, K, NAMES, FORMAT)
    return [*(key for key in first if key in keys), *sorted(keys.difference(first))]


def _group(rows: Sequence[AnswerRow], keys: Sequence[str], values: tuple[str, ...], own: list[int]) -> Group:
    systems = {rows[at].place.system for at in own}
    return Group(
        systems.pop() if len(systems) == 1 else "",
        {key: value for key, value in zip(keys, values[2:], strict=True) if value},
        np.array(own, dtype=np.int64),
        values[1],
        any(rows[at].place.fake_model for at in own),
    )


def name_kind(names: str) -> str:
    """Return the kind of a name map's version (`anonymised` of `anonymised-2`), '' for an unknown kind."""
    kind = _KIND.match(names)
    return kind[0] if kind and kind[0] in NAME_KINDS else ""


Pairing = Callable[[AnswerRow], Hashable]


def asked_at(row: AnswerRow) -> tuple[Hashable, ...]:
    """Return the key that answers to the same question in the same trial share."""
    return (row.place.script, row.place.trial, row.session, row.question)


def shared(rows: Sequence[AnswerRow], parts: Mapping[Any, Ints]) -> dict[Any, Ints]:
    """Return each part's answers to the questions that all parts share in the same trial."""
    questions = {key: [asked_at(rows[at]) for at in own.tolist()] for key, own in parts.items()}
    everywhere = set.intersection(*map(set, questions.values())) if questions else set()
    return {key: own[[place in everywhere for place in questions[key]]] for key, own in parts.items()}


def held_with_oracle(row: AnswerRow) -> Hashable:
    """Return the key that an answer shares with the oracle's: question, trial, model, names and format."""
    return (*asked_at(row), row.condition(MODEL), row.condition(NAMES), row.format)


def held_across_names(row: AnswerRow) -> Hashable:
    """Return the key that answers share if they differ in names only."""
    fixed_settings = tuple(row.condition(key) for key in (MODEL, MEMORY, RETRIEVER, K))
    return (*asked_at(row), *fixed_settings, row.format)


def less(
    rows: Sequence[AnswerRow], own: Ints, others: Ints, values: Floats, pairing: Pairing
) -> tuple[Ints, Floats]:
    """Return the answers of ``own`` that have a partner among ``others``, and own value minus the partner's.

    ``values`` are those of all rows; the mean of several partners counts, NaN if any of them is missing.
    """
    partners: dict[Hashable, list[int]] = defaultdict(list)
    for at in others:
        partners[pairing(rows[at])].append(int(at))
    paired = [(int(at), partners[key]) for at in own if (key := pairing(rows[at])) in partners]
    places = np.array([at for at, _ in paired], dtype=np.int64)
    theirs = np.array([values[with_].mean() for _, with_ in paired])
    return places, values[places] - theirs if len(paired) else np.empty(0)


# Query of an Answers report, in the same words on the page, in the command and in the API.

# Settings in the conditions of a corpus's answers, for the choice of grouping keys.

FIRST = (MODEL, MEMORY, RETRIEVER, K, NAMES, FORMAT, SET)


def settings_of(corpus: Corpus) -> list[str]:
    """Return the names of the settings, first those that the paper varies."""
    parts = Continuation.objects.filter(items__corpus=corpus, items__kind=ANSWER.key).distinct()
    keys = {key for condition in parts.values_list("condition", flat=True) for key in condition or {}}
    return [*FIRST, *sorted(keys.difference(FIRST))]


REPORT, TABLE2, TABLE3, TABLE4 = "report", "table2", "table3", "table4"
LAYOUTS = (REPORT, TABLE2, TABLE3, TABLE4)
PEOPLE = "people"
"""Judge that stands for the majority of people."""
MOST_KEYS = 20
LEVELS = (0.5, 0.999)
"""Minimum and maximum confidence level of an interval."""


@dataclass(frozen=True)
class AnswersQuery(CorpusQuery):
    """A query to the answers of a corpus's scripts.

    ``by`` lists the grouping keys: `system`, `condition` (each setting that varies), `script`, or settings by
    name. ``rule`` defines a right answer; ``judge`` decides where no rule does: a judge's name, or `people`.
    ``sets`` are the names of question sets, empty for all.
    """

    by: tuple[str, ...] = BY
    rule: Rule = "strict"
    judge: str = ""
    sets: tuple[str, ...] = ()
    layout: str = REPORT


def read(values: Mapping[str, Any], corpus: Corpus) -> AnswersQuery:
    """Parse a query from plain texts (of a URL, a form, a command).

    Lists are comma-separated. Raises ReportRefused with a one-line message.
    """
    parameters = Parameters.of(values, ReportRefused)
    rule, layout = parameters.text("score", "strict"), parameters.text("layout", REPORT)
    by = parameters.names("by") or BY
    if rule not in RULES:
        raise ReportRefused(f"score is {' or '.join(RULES)}, not {rule!r}")
    if layout not in LAYOUTS:
        raise ReportRefused(f"layout is one of {', '.join(LAYOUTS)}, not {layout!r}")
    if len(by) > MOST_KEYS:
        raise ReportRefused(f"rows are by at most {MOST_KEYS} settings")
    return AnswersQuery(
        corpus,
        by=by,
        rule=rule,
        judge=parameters.text("judge"),
        sets=parameters.names("set"),
        layout=layout,
        part=parameters.part,
        plan=parameters.plan(parameters.number("level", 0.95, *LEVELS)),
        exclude=parameters.exclude(corpus),
    )
