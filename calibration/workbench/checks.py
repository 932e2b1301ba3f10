"""Checks of a draft: their cost, and their findings as a sentence and figures per question."""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Item, System
from annotation.models.turn_numbers import numbers_of
from calibration.errors import WorkbenchRefused
from calibration.ratings.ratings import lengths
from calibration.reports.figures import worded
from calibration.reports.wording import PEOPLE, PER_DOUBLING, length_effect, signed
from calibration.statistics import Plan, Result
from calibration.statistics.analysis import analyse, mean_of
from calibration.statistics.core.ratings import Floats
from calibration.statistics.describe import as_numbers
from calibration.statistics.judge_biases import family_preference, length_slope, turn_drift
from calibration.statistics.repeats import self_consistency
from calibration.workbench.sheets import Judged, Sheet, items_of, sheets, statistics_of
from calibration.workbench.versions import item_systems
from judges.drafts import draft_actions
from judges.models import Draft
from judges.prompts import versions
from judges.protocols.wording import Wording
from judges.runs.estimates import Estimate

BULLET = re.compile(r"^(\s*)[-*] ")
FORM = re.compile(r"^\s*\S+ - x\s*$|^\s*[{}\[\]\"]|:\s*(x|\.\.\.)\s*$")
"""A line with the reply form."""
WORDS: tuple[tuple[str, str], ...] = (
    ("Here is ", "Below is "),
    ("You see ", "You are shown "),
    ("Look for ", "Search for "),
    ("Answer with ", "Reply with "),
    ("Answer in ", "Reply in "),
    ("For each ", "For every "),
    ("Work in these steps", "Proceed in these steps"),
    ("Give the ", "Assign the "),
    ("You rate ", "You assess "),
    ("briefly", "in brief"),
    ("and with nothing else", "and nothing besides"),
    ("a whole number", "an integer"),
)
"""Framing phrases of a task, each with an equivalent."""
MOST_REWORDINGS = 3


@dataclass(frozen=True)
class Reworded:
    """A changed text: a description of the change, and the changed lines with their replacements."""

    key: str
    title: str
    wording: Wording
    lines: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the change as stored with a draft."""
        return {"title": self.title, "lines": [list(pair) for pair in self.lines]}


def rewordings(wording: Wording) -> list[Reworded]:
    """Return up to three rewordings of a text, deterministically; fewer if the rules find less to change."""
    candidates = (_reworded(key, title, change, wording) for key, (title, change) in CHANGES.items())
    return [candidate for candidate in candidates if candidate is not None][:MOST_REWORDINGS]


def reordered(wording: Wording, seed: int = 0) -> list[Reworded]:
    """Return a text with its worked examples reversed, and shuffled; none below two examples."""
    examples = list(wording.examples)
    if len(examples) < 2:
        return []
    shuffled = examples.copy()
    random.Random(seed).shuffle(shuffled)
    orders = {"reversed": ("Examples in reverse order", examples[::-1])}
    if shuffled not in (examples, examples[::-1]):
        orders["shuffled"] = ("Examples shuffled", shuffled)
    return [
        Reworded(key, title, replace(wording, examples=tuple(order)), _moved(examples, order))
        for key, (title, order) in orders.items()
    ]


def _moved(before: list[Mapping[str, Any]], after: list[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"example {place + 1}", f"is now example {after.index(example) + 1}")
        for place, example in enumerate(before)
    )


def _reworded(key: str, title: str, change: Callable[[str], str], wording: Wording) -> Reworded | None:
    changed = replace(wording, system=change(wording.system), user=change(wording.user))
    if changed == wording:
        return None
    pairs = [*_pairs(wording.system, changed.system), *_pairs(wording.user, changed.user)]
    return Reworded(key, title, changed, tuple(pairs))


def _pairs(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that differ, each with its replacement."""
    old_lines, new_lines = before.split("\n"), after.split("\n")
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag != "equal":
            yield "\n".join(old_lines[a:b]), "\n".join(new_lines[c:d])


def _layout(text: str) -> str:
    """Indent lists, mark their items with asterisks, and add one blank line between paragraphs."""
    if not text.strip():
        return text
    lines = (BULLET.sub(r"\1  * ", line) for line in text.split("\n"))
    return "\n".join(line if line.strip() else "\n" for line in lines)


def _words(text: str) -> str:
    """Replace framing sentences by equivalents."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if not FORM.search(line):
            for phrase, replacement in WORDS:
                line = line.replace(phrase, replacement)
            lines[place] = line
    return "\n".join(lines)


def _order(text: str) -> str:
    """Reverse every list of single-line items; a list with an item of several lines stays."""
    lines, ordered = text.split("\n"), []
    run: list[str] = []
    for line in [*lines, ""]:
        if BULLET.match(line) and not FORM.search(line):
            run.append(line)
            continue
        goes_on = line[:1].isspace() and line.strip() != ""
        ordered += [*(run if goes_on else run[::-1]), line]
        run = []
    return "\n".join(ordered[:-1])


def _frame(text: str) -> str:
    """Put a heading above a part."""
    return f"Your task\n\n{text}" if text.strip() else text


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "layout": ("Lists indented and starred, more space between paragraphs", _layout),
    "words": ("Framing sentences in other words", _words),
    "order": ("Lists in reverse order", _order),
    "frame": ("A heading above each part", _frame),
}


# Systems of a judge's own model family, as recorded for its endpoint and the corpus.


def own_systems(draft: Draft) -> list[str]:
    """Return the names of the corpus's systems in the family of the draft's model, ignoring case."""
    family = draft.endpoint.family.casefold() if draft.endpoint else ""
    if not family:
        return []
    systems = System.objects.filter(corpus=draft.bench.corpus).exclude(family="").order_by("name")
    return [name for name, its in systems.values_list("name", "family") if its.casefold() == family]


def why_none(draft: Draft) -> str:
    """Return advice for a check that knows no system of the judge's own family."""
    family = draft.endpoint.family if draft.endpoint else ""
    if not family:
        return (
            "Say which systems are of the judge's own family, or name its endpoint's family once and for all."
        )
    return (
        f"No system of {draft.bench.corpus.name} is of the family {family}: say so on the corpus's page, or "
        "which systems are of the judge's own family."
    )


PLAN = Plan(resamples=1000)
SAMPLES = 3
"""Number of calls per item for self-consistency."""


@dataclass(frozen=True)
class Figure:
    """A figure of a check: its question, the variant of the text, and its title.

    It covers the targets for which both were called; `not_asked` counts the bench's further targets.
    """

    question: str
    about: str
    title: str
    result: Result
    not_asked: int = 0


@dataclass(frozen=True)
class Check:
    """A check. `asks` names the calls it needs first; empty if it uses existing answers."""

    key: str
    title: str
    what: str
    asks: str = ""


CHECKS: dict[str, Check] = {
    check.key: check
    for check in (
        Check(
            "consistency",
            "Does it answer the same when asked again?",
            f"Each item is asked until it has {SAMPLES} samples.",
            "more samples",
        ),
        Check(
            "rewordings",
            "Does it answer the same in other words?",
            "Three changes of the text that leave what it asks as it is, made by rule.",
            "three texts",
        ),
        Check(
            "examples",
            "Does the order of the worked examples matter?",
            "The examples turned round, and shuffled.",
            "two texts",
        ),
        Check(
            "length",
            "Does it favour long answers?",
            "What a text of twice the characters gets more, people's answers held equal.",
        ),
        Check(
            "family",
            "Does it favour its own family?",
            "Judge less people, over systems of its family and over the others.",
        ),
        Check(
            "turns", "Does it drift over a long conversation?", "Slope of judge less people over the turns."
        ),
    )
}
"""All checks, in display order."""


@dataclass(frozen=True)
class Finding:
    """Result of a check: figures, or the reason why there are none; and the drafts it ran."""

    check: Check
    figures: tuple[Figure, ...] = ()
    reason: str = ""
    tried: tuple[Draft, ...] = field(default=())

    @property
    def sentence(self) -> str:
        """The first figure with a value, in words, with its interval; empty if there is none."""
        for figure in self.figures:
            if figure.result.value is not None:
                return sentence(self.check.key, figure)
        return ""


def sentence(key: str, figure: Figure) -> str:
    """Describe a figure with a value in words, with its interval or why it has none."""
    result, about = figure.result, f", {figure.about[:1].lower()}{figure.about[1:]}" if figure.about else ""
    value = result.value or 0.0
    says = {
        "consistency": f"asked again, it gives the same answer to {value:.0%} of pairs of calls",
        "rewordings": f"in other words{about}, it gives the same answer to {value:.0%} of the items",
        "examples": f"with the examples in another order{about}, {value:.0%} of the answers are the same",
        "length": f"it {length_effect(value, figure.title.lower(), PEOPLE.many)}",
        "family": f"it puts its own family {abs(value):.2f} {'higher' if value > 0 else 'lower'} than others",
        "turns": f"beside people it goes {'up' if value > 0 else 'down'} by {abs(value):.2f} in ten turns",
    }[key]
    if result.low is None or result.high is None:
        return f"{figure.question}: {says} ({result.reason or 'no interval'})."
    percent = key in ("consistency", "rewordings", "examples")
    low, high = (f"{end:.0%}" if percent else signed(end) for end in (result.low, result.high))
    doubt = "" if percent or not result.low <= 0 <= result.high else " It may be none: the interval holds 0."
    return f"{figure.question}: {says} (95% interval {low} to {high}).{doubt}"


def variants(draft: Draft, key: str) -> list[Reworded]:
    """Return the texts that a check varies; none for a check that changes no text."""
    wording = versions.wording_of(draft.text)
    return {"rewordings": rewordings, "examples": reordered}.get(key, lambda _: [])(wording)


@transaction.atomic
def start(*, by: User | None, draft: Draft, key: str) -> list[Draft]:
    """Start the calls that a check needs, on the items that the draft was run on; return the drafts called.

    Raises WorkbenchRefused for a check that needs no calls, or that finds nothing to change.
    """
    _refuse(draft, key)
    if key == "consistency":
        draft_actions.run(by=by, draft=draft, targets=draft.targets, samples=max(SAMPLES, draft.samples))
        return [draft]
    drafts = _write_variants(by, draft, key)
    for variant_draft in drafts:
        draft_actions.run(by=by, draft=variant_draft, targets=draft.targets)
    return drafts


def cost(draft: Draft, key: str) -> Estimate:
    """Return the cost of starting a check; nothing is stored. Raises WorkbenchRefused like `start`."""
    _refuse(draft, key)
    if key == "consistency":
        return draft_actions.estimate(draft, draft.targets, max(SAMPLES, draft.samples))
    with transaction.atomic():
        each = [
            draft_actions.estimate(estimate, draft.targets) for estimate in _write_variants(None, draft, key)
        ]
        transaction.set_rollback(True)
    prices = [estimate.cost for estimate in each if estimate.cost is not None]
    return replace(
        each[0],
        calls=sum(estimate.calls for estimate in each),
        done=sum(estimate.done for estimate in each),
        tokens_in=sum(estimate.tokens_in for estimate in each),
        tokens_out=sum(estimate.tokens_out for estimate in each),
        cost=sum(prices[1:], prices[0]) if prices else None,
    )


def _refuse(draft: Draft, key: str) -> None:
    if key not in CHECKS or not CHECKS[key].asks:
        raise WorkbenchRefused(f"The check {key!r} asks nothing; there are {', '.join(_asking())}.")
    if not draft.targets:
        raise WorkbenchRefused(f"Draft {draft.number} was not tried yet.")
    if draft.discarded_at is not None:
        raise WorkbenchRefused(f"Draft {draft.number} was thrown away.")
    if key != "consistency" and not variants(draft, key):
        raise WorkbenchRefused(_nothing_to_change(draft, key))


def _nothing_to_change(draft: Draft, key: str) -> str:
    reason = "it has fewer than two worked examples" if key == "examples" else "the rules find nothing in it"
    return f"There is nothing to change in the text of draft {draft.number}: {reason}."


def _asking() -> list[str]:
    return [key for key, check in CHECKS.items() if check.asks]


def _write_variants(by: User | None, draft: Draft, key: str) -> list[Draft]:
    return [
        draft_actions.write(
            by=by,
            bench=draft.bench,
            wording=changed.wording,
            variant=draft.variant,
            endpoint=draft.endpoint,
            options=draft.options,
            parent=draft.kept or draft.parent,
            of=draft,
            check_key=f"{key}:{changed.key}",
            change=changed.as_json(),
        )
        for changed in variants(draft, key)
    ]


def finding(draft: Draft, key: str, *, own: Sequence[str] = (), plan: Plan = PLAN) -> Finding:
    """Return the finding of a check so far.

    `own` names the systems of the judge's own family; if empty, those recorded in the corpus.
    """
    check, judged = CHECKS[key], Judged(draft.name, draft.asker, draft)
    if key in ("rewordings", "examples"):
        return _against_variants(check, draft, judged, plan)
    if key == "family" and not (own := own or own_systems(draft)):
        return Finding(check, reason=why_none(draft))
    if key == "turns" and not Item.objects.filter(pk__in=items_of(draft.bench), turn__isnull=False).exists():
        return Finding(check, reason="Its answers are about whole dialogues, which have no place in one.")
    sheet_list = sheets(draft.bench, [judged], _counts_asked(draft))
    if key == "consistency":
        result = _consistency(check, draft, judged, sheet_list, plan)
    else:
        result = _biases(check, judged, sheet_list, own, plan)
    later = _not_asked(draft)
    return replace(result, figures=tuple(replace(figure, not_asked=later) for figure in result.figures))


def _counts_asked(*drafts: Draft) -> list[int]:
    """Return the items on which all of these drafts of a bench were run."""
    least = min(draft.targets for draft in drafts)
    return [pk for pk, position in items_of(drafts[0].bench).items() if position < least]


def _not_asked(*drafts: Draft) -> int:
    """Return how many of a bench's targets at least one of its drafts was not run on."""
    return drafts[0].bench.targets.count() - min(draft.targets for draft in drafts)


def _consistency(
    check: Check, draft: Draft, judged: Judged, sheet_list: Sequence[Sheet], plan: Plan
) -> Finding:
    if draft.samples < 2:
        return Finding(check, reason="It answered each item once.")
    figures = [
        Figure(sheet.question.title, "", TITLES[result.name], result)
        for sheet in sheet_list
        if (answers := sheet.samples_of(judged)) is not None
        for result in self_consistency(answers, plan)
    ]
    return Finding(check, tuple(figures), "" if figures else "No item has two samples yet.")


TITLES = {
    "percent_agreement": "The same answer",
    "gwet_ac1": "AC1 with itself",
    "krippendorff_alpha": "Alpha with itself",
    "family_preference": "Own family less others",
    "turn_drift": "Scale points per ten turns",
}


def _against_variants(check: Check, draft: Draft, judged: Judged, plan: Plan) -> Finding:
    """Compare a draft's answers with those of the same judge given a changed text."""
    variant_drafts = tuple(
        draft.checks.select_related("rater", "bench", "text")
        .filter(check_key__startswith=f"{check.key}:", targets__gt=0, discarded_at=None)
        .order_by("number")
    )
    if not variant_drafts and not variants(draft, check.key):
        return Finding(replace(check, asks=""), reason=_nothing_to_change(draft, check.key))
    if not variant_drafts:
        return Finding(check, reason="Its changed texts were not tried yet.")
    figures = [
        Figure(sheet.question.title, str(variant.change["title"]), title, result, _not_asked(draft, variant))
        for variant in variant_drafts
        for other in [Judged(variant.name, variant.rater, variant)]
        for sheet in sheets(draft.bench, [judged, other], _counts_asked(draft, variant))
        for title, result in _same(sheet, judged, other, plan)
    ]
    reason = "" if figures else "No item has both answers yet."
    return Finding(check, tuple(figures), reason, variant_drafts)


def _same(sheet: Sheet, judged: Judged, other: Judged, plan: Plan) -> list[tuple[str, Result]]:
    first, second = sheet.of(judged), sheet.of(other)
    if not first or not second:
        return []
    ratings = sheet.ratings
    pair = ratings.take([ratings.column(first[0].rater), ratings.column(second[0].rater)])
    statistics = ("percent_agreement", statistics_of(sheet)[0])
    entries = analyse(pair, statistics=statistics, against=pair.raters[0], plan=plan).pairs
    return [
        (TITLES.get(judged.result.name, worded(judged.result.name).name), judged.result) for judged in entries
    ]


def _biases(
    check: Check, judged: Judged, sheet_list: Sequence[Sheet], own: Sequence[str], plan: Plan
) -> Finding:
    figures, reason = [], "Nobody has answered these questions on these items, or they have no order."
    for sheet in sheet_list:
        block = as_numbers(sheet.ratings)
        readings, people = sheet.of(judged), list(sheet.ratings.of_kind("human"))
        if block is None or not readings or not people:
            continue
        judge = block[:, sheet.ratings.column(readings[0].rater)]
        result = BIASES[check.key](sheet, judge, block[:, people], own, plan)
        per_doubling = PER_DOUBLING[sheet.ratings.level == "binary"].capitalize()
        title = per_doubling if check.key == "length" else TITLES[result.name]
        figures.append(Figure(sheet.question.title, "", title, result))
    return Finding(check, tuple(figures), "" if figures else reason)


def _length(sheet: Sheet, judge: Floats, people: Floats, _own: Sequence[str], plan: Plan) -> Result:
    sizes = lengths(sheet.items)
    characters = np.array([sizes[pk][0] if pk in sizes else np.nan for pk in sheet.items], np.float64)
    return length_slope(judge, people, characters, sheet.ratings.clusters, plan)


def _family(sheet: Sheet, judge: Floats, people: Floats, own: Sequence[str], plan: Plan) -> Result:
    mine = np.isin(np.array(item_systems(sheet.items)), list(own))
    return family_preference(judge, mean_of(people), mine, sheet.ratings.clusters, plan)


def _turns(sheet: Sheet, judge: Floats, people: Floats, _own: Sequence[str], plan: Plan) -> Result:
    turns = dict(Item.objects.filter(pk__in=sheet.items).values_list("pk", "turn"))
    numbers = numbers_of(pk for pk in turns.values() if pk is not None)
    position = np.array([numbers.get(turns[pk], np.nan) for pk in sheet.items], np.float64)
    return turn_drift(judge, mean_of(people), position, sheet.ratings.clusters, plan)


BIASES: dict[str, Callable[[Sheet, Floats, Floats, Sequence[str], Plan], Result]] = {
    "length": _length,
    "family": _family,
    "turns": _turns,
}
