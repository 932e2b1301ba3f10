"""`agree --raters`: each rater of a question, one table a figure, from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from calibration.agree.report import Block
from calibration.agree.words import title_of
from calibration.statistics import Analysis, Entry, Plan, Ratings, Result
from calibration.statistics.rater_panel import RaterPanel, rater_panel
from calibration.statistics.repeats import repeats_of, right_answers

REPEATED = "Answering alike is not answering right: a rater can repeat its mistakes."
NOTES = {
    "rater_difference": "The rest are the people other than the rater; where there are none, all others.",
    "rater_severity": (
        "Least squares of value = item + rater: each rater is taken to be off by the same amount on every "
        "item. 0 is the average person, each by the number of ratings; below 0 a rater is severe."
    ),
    "rater_misfit": "Above 1 a rater is less predictable than the others once severity is allowed for.",
    "rater_spread": "Below 1 a rater keeps to the middle of the scale, above 1 to its ends.",
    "rater_alpha_gain": "Below 0 the rater pulls alpha down.",
}


def raters(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    """Return a table per figure; a sentence in their place where nobody can be described."""
    panel = rater_panel(ratings, plan=plan)
    if not panel.rows:
        return [Block("Raters, one by one", (), note=f"Nobody is described: {panel.reason}.")]
    found = _tables((row.rater, row.figures) for row in panel.rows)
    found = [_noted(block, panel) for block in found]
    if panel.over is not None:
        people = tuple(row.rater for row in panel.rows if row.kind == "human")
        entry = Entry(panel.over, people)
        note = "The interval says what other people would have given on these items."
        found.append(Block("Pairs of people, over people", (entry,), note=note))
    return found


def repeats(ratings: Ratings, samples: Ratings, plan: Plan) -> list[Block]:
    """Return how alike each rater answers again; `samples` holds their repeated answers, each as a rater."""
    told: list[Block] = []
    for column, name in enumerate(ratings.raters):
        mine = [j for j, other in enumerate(samples.raters) if other.rpartition("#")[0] == name]
        if len(mine) > 1 and ratings.identified[column]:
            right = right_answers(ratings, name)
            found = repeats_of(samples.take(mine), name, "samples", reference=right, plan=plan)
            entries = tuple(Entry(figure, (name,)) for figure in found.figures)
            heading = f"How alike {name} answers, {found.n_answers} samples of an item"
            told.append(Block(heading, entries, note=REPEATED))
    return told


def _tables(told: Iterable[tuple[str, Sequence[Result]]]) -> list[Block]:
    by_name: dict[str, list[Entry]] = {}
    for rater, figures in told:
        for figure in figures:
            by_name.setdefault(figure.name, []).append(Entry(figure, (rater,)))
    return [
        Block(title_of(name), tuple(sorted(entries, key=_value)), each=True)
        for name, entries in by_name.items()
    ]


def _value(entry: Entry) -> tuple[bool, float]:
    return entry.result.value is None, entry.result.value or 0.0


def _noted(block: Block, panel: RaterPanel) -> Block:
    """Return a table with what its figure means, and who is not compared with whom."""
    name = block.entries[0].result.name
    said = [NOTES.get(name, "")]
    if name == "rater_severity" and panel.groups:
        groups = "; ".join(", ".join(group) for group in panel.groups)
        said.append(f"Groups that share no item, each with a zero of its own: {groups}.")
    if name == "rater_severity" and panel.through_judges:
        said.append("People are joined by the items that judges rated, not by items of their own.")
    return Block(block.heading, block.entries, note=" ".join(filter(None, said)), each=True)
