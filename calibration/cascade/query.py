"""What a Cascade report is asked for, in the same words by page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.errors import SplitRefused
from annotation.models import Corpus, Split
from annotation.scenarios.records import STAGES, CascadeSettings
from calibration.errors import CascadeRefused
from calibration.reading.scope import PARTS, scope_of, shown_part
from calibration.statistics import Plan

SYSTEM, CONDITION = "system", "condition"
BY = (SYSTEM, CONDITION)
COMPETENCE, TURN_SCORE = "competence", "turn_score"
MOST_K, MOST_RESAMPLES = 64, 20_000
USUAL_K = (1, 2, 4, 8)


@dataclass(frozen=True)
class CascadeQuery:
    """A question put to the decisions of a corpus.

    ``judges`` name the raters whose answers count beside what is observed; ``by`` says whether a system has a
    row for each condition. ``k`` are the numbers of trials of pass^k. A trial succeeds where every probed
    decision has competence 1, or with ``success`` turn_score at least ``threshold``.
    """

    corpus: Corpus
    judges: tuple[str, ...] = ()
    by: tuple[str, ...] = BY
    k: tuple[int, ...] = USUAL_K
    success: str = COMPETENCE
    threshold: float = 1.0
    settings: CascadeSettings = field(default_factory=CascadeSettings)
    part: str = ""
    plan: Plan = field(default_factory=Plan)


def read(given: Mapping[str, Any], corpus: Corpus) -> CascadeQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Lists are separated by commas. Raises CascadeRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in given.items() if value is not None}
    by = _list(text.get("by", "")) or BY
    if unknown := [one for one in by if one not in BY]:
        raise CascadeRefused(f"by: rows are by {' and '.join(BY)}, not by {unknown[0]!r}")
    success = text.get("success") or COMPETENCE
    if success not in (COMPETENCE, TURN_SCORE):
        raise CascadeRefused(f"success is {COMPETENCE} or {TURN_SCORE}, not {success!r}")
    part = text.get("part", "")
    if part not in PARTS:
        raise CascadeRefused(f"a part is dev, test, all or training, not {part!r}")
    k = tuple(sorted({_whole("k", one, 1, MOST_K) for one in _list(text.get("k", ""))})) or USUAL_K
    resamples = _whole("resamples", text.get("resamples") or "2000", 0, MOST_RESAMPLES)
    seed = _whole("seed", text.get("seed") or "0", 0, 2**31)
    return CascadeQuery(
        corpus,
        judges=_list(text.get("judge", "")),
        by=by,
        k=k,
        success=success,
        threshold=_share("threshold", text.get("threshold") or "1"),
        settings=_settings(text),
        part=part,
        plan=Plan(resamples, seed),
    )


def part_of(query: CascadeQuery) -> tuple[Split | None, str]:
    """Return the split that locks the corpus and the part to show: dev unless test or training is asked for.

    Raises CascadeRefused for test before it was opened, and for a part that there is not.
    """
    try:
        return shown_part(scope_of(query.corpus, None, query.part), query.part)
    except SplitRefused as error:
        raise CascadeRefused(str(error)) from error


def _settings(text: Mapping[str, str]) -> CascadeSettings:
    tau = _share("tau", text.get("tau") or "0")
    each = [_share(f"tau_{stage}", text.get(f"tau_{stage}") or str(tau)) for stage in STAGES]
    attend, speak, address, ground, compose, conduct = each
    jaccard = text.get("jaccard", "").lower() in ("1", "yes", "true", "on")
    return CascadeSettings((attend, speak, address, ground, compose, conduct), jaccard)


def _list(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _whole(name: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise CascadeRefused(f"{name}: a whole number from {least} to {most:,}, not {text!r}")
    return int(text)


def _share(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CascadeRefused(f"{name}: a number from 0 to 1, not {text!r}")
    return value
