"""What is correlated at levels: units, the items rated in them, and the scores of a reference and of rows.

A unit is what a score of a dialogue belongs to: a continuation, or a system's answer to a dialogue. Turn
items and dialogue items lie in the same units, so that scores of turns can meet labels of whole dialogues.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.statistics.core.types import Floats, Ints

Level = Literal["turn", "dialogue", "system"]
Kind = Literal["turn", "dialogue"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue", "system")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Units:
    """The units, in order: codes from 0 of each one's dialogue, cluster and system, and their names.

    A cluster holds one dialogue or several that share material; it is what is resampled.
    """

    dialogues: Ints
    clusters: Ints
    systems: Ints
    dialogue_names: tuple[str, ...]
    system_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse codes of different lengths, or without a name."""
        if not len(self.dialogues) == len(self.clusters) == len(self.systems):
            raise ValueError("every unit has one dialogue, one cluster and one system")
        for codes, names, what in (
            (self.dialogues, self.dialogue_names, "dialogue"),
            (self.systems, self.system_names, "system"),
        ):
            if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
                raise ValueError(f"{len(names)} {what} names for codes up to {int(codes.max())}")

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.dialogues)

    def take(self, chosen: Mask) -> Units:
        """Return some of the units, with the same names and codes."""
        return replace(
            self,
            dialogues=self.dialogues[chosen],
            clusters=self.clusters[chosen],
            systems=self.systems[chosen],
        )


@dataclass(frozen=True)
class Frame:
    """The items of one kind: each one's unit, and its position there (turn 0, 1, ...; 0 for a dialogue item).

    A unit's expected turns are those of the frame, rated or not: what is missing counts as missing.
    """

    kind: Kind
    units: Ints
    positions: Ints

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.units)


@dataclass(frozen=True)
class Scores:
    """One side's values of the items of the frame of this kind, NaN where it has none.

    `kind` is the rater's (human, judge, metric, composite). `group` is what the best is underlined for, such
    as a model; empty for none. Rows of people are not marked as best.
    """

    name: str
    frame: Kind
    values: Floats
    kind: str = ""
    group: str = ""

    @staticmethod
    def of_people(name: str, frame: Kind, values: Floats) -> Scores:
        """Return the mean over the people who answered each item; ``values`` is items x people."""
        given = ~np.isnan(values)
        counted = given.sum(axis=1)
        total = np.where(given, values, 0.0).sum(axis=1)
        return Scores(name, frame, np.where(counted > 0, total / np.maximum(counted, 1), np.nan), "human")


@dataclass(frozen=True)
class Scored:
    """Everything a table of levels reads. ``turns`` or ``dialogues`` is None where no side has such items."""

    units: Units
    reference: Scores
    rows: tuple[Scores, ...]
    turns: Frame | None = None
    dialogues: Frame | None = None

    def __post_init__(self) -> None:
        """Refuse scores without a frame, or with other items than it has."""
        for side in (self.reference, *self.rows):
            if len(side.values) != len(self.frame(side.frame)):
                raise ValueError(
                    f"{side.name}: {len(side.values)} values for {len(self.frame(side.frame))} items"
                )

    def frame(self, kind: Kind) -> Frame:
        """Return the frame of turn items or of dialogue items. ValueError where there is none."""
        found = self.turns if kind == "turn" else self.dialogues
        if found is None:
            raise ValueError(f"there are no {kind} items")
        return found

    def take(self, chosen: Mask) -> Scored:
        """Return what lies in some of the units, for example those with static turns only."""
        number = np.cumsum(chosen) - 1
        keep: dict[Kind, Mask] = {}
        frames: dict[str, Frame | None] = {"turns": self.turns, "dialogues": self.dialogues}
        for name, frame in frames.items():
            if frame is not None:
                keep[frame.kind] = chosen[frame.units]
                units = number[frame.units[keep[frame.kind]]]
                frames[name] = replace(frame, units=units, positions=frame.positions[keep[frame.kind]])

        def kept(side: Scores) -> Scores:
            return replace(side, values=side.values[keep[side.frame]])

        return Scored(
            self.units.take(chosen),
            kept(self.reference),
            tuple(kept(row) for row in self.rows),
            frames["turns"],
            frames["dialogues"],
        )

    def joined(self) -> Scored:
        """Return the same with one unit per dialogue and system: several continuations of a system are one.

        The turns of a later continuation follow those of an earlier one.
        """
        width = len(self.units.system_names)
        pairs = self.units.dialogues * width + self.units.systems
        _, first, unit = np.unique(pairs, return_index=True, return_inverse=True)
        unit = unit.ravel()
        kept = np.zeros(len(pairs), dtype=bool)
        kept[first] = True
        order = np.argsort(np.argsort(first))
        return replace(
            self,
            units=self.units.take(kept),
            turns=_joined(self.turns, order[unit]),
            dialogues=_joined(self.dialogues, order[unit]),
        )


def _joined(frame: Frame | None, unit: Ints) -> Frame | None:
    """Return the frame with its units joined: positions count on from one old unit to the next."""
    if frame is None:
        return None
    new = unit[frame.units]
    order = np.lexsort((frame.positions, frame.units, new))
    starts = np.flatnonzero(np.diff(new[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return replace(frame, units=new, positions=positions)
