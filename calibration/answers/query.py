"""What an Answers report is asked for, in the same words by page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.errors import SplitRefused
from annotation.kinds import ANSWER
from annotation.models import Continuation, Split
from annotation.models.corpora import Corpus
from annotation.scripts.answers import RULES, Rule
from calibration.answers.groups import BY, FORMAT, K
from calibration.answers.rows import MEMORY, MODEL, NAMES, RETRIEVER, SET
from calibration.errors import AnswersRefused
from calibration.reading.scope import PARTS, scope_of, shown_part
from calibration.statistics import Plan

# The settings that the conditions of a corpus's answers have, for whoever chooses what rows are by.

FIRST = (MODEL, MEMORY, RETRIEVER, K, NAMES, FORMAT, SET)


def settings_of(corpus: Corpus) -> list[str]:
    """Return the names of the settings, what the paper varies first."""
    parts = Continuation.objects.filter(items__corpus=corpus, items__kind=ANSWER.key).distinct()
    named = {key for condition in parts.values_list("condition", flat=True) for key in condition or {}}
    return [*FIRST, *sorted(named.difference(FIRST))]


REPORT, TABLE2, TABLE3, TABLE4 = "report", "table2", "table3", "table4"
LAYOUTS = (REPORT, TABLE2, TABLE3, TABLE4)
PEOPLE = "people"
"""The judge that is most of the people who answered."""
MOST_RESAMPLES, MOST_KEYS = 20_000, 20
LEVELS = (0.5, 0.999)
"""The least and the greatest confidence of an interval."""


@dataclass(frozen=True)
class AnswersQuery:
    """A question put to the answers of a corpus's scripts.

    ``by`` says what a row is by: `system`, `condition` (each setting that varies), `script`, or settings by
    name. ``rule`` is what counts as right; ``judge`` names who decides what no rule does: one, or `people`.
    ``sets`` are the names of question sets, all where none are named.
    """

    corpus: Corpus
    by: tuple[str, ...] = BY
    rule: Rule = "strict"
    judge: str = ""
    sets: tuple[str, ...] = ()
    layout: str = REPORT
    part: str = ""
    plan: Plan = field(default_factory=Plan)


def read(given: Mapping[str, Any], corpus: Corpus) -> AnswersQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Lists are separated by commas. Raises AnswersRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in given.items() if value is not None}
    rule = text.get("score") or "strict"
    layout = text.get("layout") or REPORT
    part = text.get("part", "")
    by = _list(text.get("by", "")) or BY
    if rule not in RULES:
        raise AnswersRefused(f"score is {' or '.join(RULES)}, not {rule!r}")
    if layout not in LAYOUTS:
        raise AnswersRefused(f"layout is one of {', '.join(LAYOUTS)}, not {layout!r}")
    if part not in PARTS:
        raise AnswersRefused(f"a part is dev, test, all or training, not {part!r}")
    if len(by) > MOST_KEYS:
        raise AnswersRefused(f"rows are by at most {MOST_KEYS} settings")
    return AnswersQuery(
        corpus,
        by=by,
        rule=rule,
        judge=text.get("judge", ""),
        sets=_list(text.get("set", "")),
        layout=layout,
        part=part,
        plan=_plan(text),
    )


def part_of(query: AnswersQuery) -> tuple[Split | None, str]:
    """Return the split that locks the corpus and the part to show: dev unless test or training is asked for.

    Raises AnswersRefused for test before it was opened, and for a part that there is not.
    """
    try:
        return shown_part(scope_of(query.corpus, None, query.part), query.part)
    except SplitRefused as error:
        raise AnswersRefused(str(error)) from error


def _plan(text: Mapping[str, str]) -> Plan:
    least, most = LEVELS
    try:
        level = float(text.get("level") or "0.95")
    except ValueError:
        level = -1.0
    if not least <= level <= most:
        raise AnswersRefused(f"level: a number from {least} to {most}, not {text.get('level', '')!r}")
    resamples = _whole("resamples", text.get("resamples") or "2000", MOST_RESAMPLES)
    return Plan(resamples, _whole("seed", text.get("seed") or "0", 2**31), level)


def _list(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _whole(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise AnswersRefused(f"{name}: a whole number from 0 to {most:,}, not {text!r}")
    return int(text)
