"""What other names change: accuracy under original, anonymised and swapped names, paired by question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.scripts.records import ANONYMISED, ORIGINAL, SWAPPED
from annotation.scripts.records import NAMES as KINDS
from calibration.answers.figures import Answers, Figure, undefined
from calibration.answers.groups import (
    SCRIPT,
    Group,
    Pairing,
    groups,
    held_across_names,
    held_with_oracle,
    less,
    name_kind,
    varying,
)
from calibration.answers.rows import MODEL, NAMES, Rule
from calibration.statistics.core.types import Ints

COMPARED = ((ORIGINAL, ANONYMISED), (SWAPPED, ANONYMISED), (SWAPPED, ORIGINAL))
"""Which names are held against which: the first less the second."""
UNPAIRED = "no question was asked under both"


@dataclass(frozen=True, eq=False)
class NamesRow:
    """A model under one condition: its accuracy by names, and the paired differences of two of them."""

    group: Group
    accuracy: Mapping[str, Figure]
    differences: Mapping[tuple[str, str], Figure]

    @property
    def label(self) -> str:
        """How the row is called."""
        return f"{self.group.name} (fake model)" if self.group.fake_model else self.group.name


def names_rows(answers: Answers, rows_by: tuple[str, ...], rule: Rule) -> list[NamesRow]:
    """Return a row for every model and condition that answered under more than one kind of names."""
    rows = answers.sheet.rows
    keys = (MODEL, *(key for key in varying(rows) if key not in (MODEL, NAMES)))
    held = groups(rows, (*keys, SCRIPT) if SCRIPT in rows_by else keys)
    return [row for group in held if (row := names_row(answers, group, rule)) is not None]


def names_row(answers: Answers, group: Group, rule: Rule) -> NamesRow | None:
    """Return what names change among the answers of a group; None where all have names of one kind."""
    parts = parts_of(answers, group)
    if len(parts) < 2:
        return None
    accuracy = {
        kind: answers.sheet.figure("accuracy", own, answers.right[rule][own]) for kind, own in parts.items()
    }
    return NamesRow(
        group,
        accuracy,
        {
            (one, other): difference(answers, parts[one], parts[other], rule)
            for one, other in COMPARED
            if one in parts and other in parts
        },
    )


def parts_of(answers: Answers, group: Group) -> dict[str, Ints]:
    """Return the positions of a group's answers by the kind of their names."""
    rows = answers.sheet.rows
    kinds = [name_kind(rows[at].condition(NAMES)) for at in group.rows]
    found = {kind: group.rows[np.array([one == kind for one in kinds], dtype=bool)] for kind in KINDS}
    return {kind: own for kind, own in found.items() if len(own)}


def difference(answers: Answers, one: Ints, other: Ints, rule: Rule) -> Figure:
    """Return the accuracy of one less that of the other, over the questions that both were asked."""
    return paired(answers, one, other, rule, held_across_names, UNPAIRED)


def gap(answers: Answers, oracle: Ints, own: Ints, rule: Rule) -> Figure:
    """Return the accuracy of the oracle less that of others, over the questions that both were asked."""
    return paired(answers, oracle, own, rule, held_with_oracle, UNPAIRED)


def paired(answers: Answers, one: Ints, other: Ints, rule: Rule, pairing: Pairing, reason: str) -> Figure:
    """Return the paired difference of two accuracies; undefined, with the reason, without any pair."""
    places, differences = less(answers.sheet.rows, one, other, answers.right[rule], pairing)
    if not len(places):
        return undefined("difference", reason)
    return answers.sheet.figure("difference", places, differences)
