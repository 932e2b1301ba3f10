"""Selections of dialogues to write for, and their records as generators read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation import records
from annotation.corpora import exclusion
from annotation.corpora.exclusion import LeftOutDialogues
from annotation.corpora.rows import turn_record
from annotation.corpora.splits import TRAINING, of_dialogues
from annotation.models import Continuation, Corpus, Dialogue, Split, Turn
from annotation.script_records import script_record
from annotation.text.context import dated
from jobs.endpoints.parameters import MOST_WHOLE, Parameter
from judges.runs.lookup import exclusion_for, split_for
from judges.runs.material import dialogue_record
from suites.continuation.errors import SystemsError

BATCH = 100
LIMITS = {
    limit.name: limit
    for limit in (
        Parameter("min_turns", "whole", "Minimum turns of a dialogue", "", 0, MOST_WHOLE),
        Parameter("max_turns", "whole", "Maximum turns of a dialogue", "", 0, MOST_WHOLE),
        Parameter(
            "first",
            "whole",
            "Maximum number of dialogues",
            "The first ones by their ids, to try it out. Empty or 0: all.",
            0,
            MOST_WHOLE,
        ),
    )
}
"""Limits of a selection, for forms and the API."""


@dataclass(frozen=True, slots=True)
class Dialogues:
    """A selection of a corpus's dialogues.

    `part` is dev or test of `split`, or training, which is left out unless named; `least` and `most` limit
    the number of the dialogue's own turns (0: no limit), `first` limits the selection to the first dialogues
    by id. `exclude` leaves out dialogues by people's answers (`annotation.corpora.exclusion`), as of now.
    """

    corpus: Corpus
    split: Split | None = None
    part: str = ""
    least: int = 0
    most: int = 0
    first: int = 0
    exclude: str = ""

    def __post_init__(self) -> None:
        if min(self.least, self.most, self.first) < 0:
            raise SystemsError("Limits of a selection cannot be below 0.")
        if self.most and self.least > self.most:
            raise SystemsError(f"No dialogue has at least {self.least} and at most {self.most} turns.")

    def as_json(self) -> dict[str, Any]:
        """Return the selection as plain data; the dialogues that `exclude` leaves out are part of it."""
        excluded = self.left_out()
        left_out = {"exclude": self.exclude, "left_out": excluded.digest()} if excluded else {}
        return left_out | {
            "corpus": self.corpus.pk,
            "split": self.split.pk if self.split else None,
            "part": self.part,
            "min_turns": self.least,
            "max_turns": self.most,
            "first": self.first,
        }

    def left_out(self) -> LeftOutDialogues | None:
        """Return the dialogues that `exclude` leaves out as of now; None without it."""
        return exclusion.left_out(self.corpus, self.exclude, training=self.part == TRAINING)

    def rows(self) -> QuerySet[Dialogue]:
        """Return the dialogues, by id."""
        excluded = self.left_out()
        passed = exclusion.without(excluded.ids if excluded else ())
        rows = Dialogue.objects.filter(of_dialogues(self.part), passed, corpus=self.corpus)
        if self.split is not None:
            clusters = self.split.clusters.filter(part=self.part).values("cluster")
            rows = rows.filter(cluster__in=clusters)
        if self.least or self.most:
            own = Q(continuations__key=records.SELF)
            rows = rows.annotate(own_turns=Count("continuations__turns", filter=own))
            rows = rows.filter(own_turns__gte=self.least)
            rows = rows.filter(own_turns__lte=self.most) if self.most else rows
        rows = rows.order_by("key")
        return rows[: self.first] if self.first else rows

    def read(self) -> Iterator[tuple[Dialogue, records.Dialogue]]:
        """Yield each dialogue with its record, which has its own turns only, without systems' turns."""
        for rows in in_batches(self.rows()):
            records_by_id = of_rows(rows)
            yield from ((row, records_by_id[row.pk]) for row in rows)


def select_dialogues(corpus: Corpus, fields: Mapping[str, Any]) -> Dialogues:
    """Return the dialogues that the fields of a form or of the API select: `part`, LIMITS and `exclude`.

    Raises JudgeError for a part that the corpus does not have and an invalid exclusion, SystemsError for
    limits that exclude each other.
    """
    part, exclude = fields.get("part", ""), exclusion_for(corpus, fields.get("exclude", ""))
    least, most, first = (fields.get(name) or 0 for name in LIMITS)
    return Dialogues(corpus, split_for(corpus, part), part, least, most, first, exclude)


def of_rows(rows: Sequence[Dialogue]) -> dict[int, records.Dialogue]:
    """Return the records of dialogues by primary key, in two queries."""
    own = {
        row.pk: row
        for row in Continuation.objects.select_related("system").filter(dialogue__in=rows, key=records.SELF)
    }
    turns_by_dialogue: dict[int, list[records.Turn]] = {row.dialogue_id: [] for row in own.values()}
    for turn in Turn.objects.filter(continuation__in=own).order_by("continuation_id", "position"):
        turns_by_dialogue[own[turn.continuation_id].dialogue_id].append(
            turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
        )
    systems = {row.dialogue_id: row.system.name for row in own.values()}
    return {
        row.pk: dialogue_record(
            row, _dated_turns(row, turns_by_dialogue), (), systems.get(row.pk, records.HUMAN)
        )
        for row in rows
    }


def _dated_turns(
    row: Dialogue, turns_by_dialogue: Mapping[int, Sequence[records.Turn]]
) -> tuple[records.Turn, ...]:
    """Return a dialogue's own turns; turns of a script carry the dates of their sessions, for prompts."""
    return tuple(dated(turns_by_dialogue.get(row.pk, ()), script_record(row.script)))


def in_batches(rows: QuerySet[Dialogue]) -> Iterator[list[Dialogue]]:
    """Yield rows in lists of at most `BATCH`."""
    ids = list(rows.values_list("pk", flat=True))
    for begin in range(0, len(ids), BATCH):
        rows_by_id = Dialogue.objects.in_bulk(ids[begin : begin + BATCH])
        yield [rows_by_id[pk] for pk in ids[begin : begin + BATCH] if pk in rows_by_id]
