"""Turns and whole as files: CSV of continuations or of dialogues, JSON of both, and text for the terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from annotation.text.display import number
from annotation.text.table_cells import guarded
from calibration.rendering import Rendering
from calibration.statistics.by_level.inversions import Inversions
from calibration.turns_and_whole.computing import Line, TurnsAndWhole
from calibration.turns_and_whole.wording import facts

LINE = (
    *("dialogue", "continuation", "system", "n_turns", "by_turns", "by_whole", "difference"),
    *("rank_by_turns", "rank_by_whole", "moved"),
)
DIALOGUE = ("dialogue", "continuations", "inversions", "pairs", "share")


def line_out(line: Line) -> dict[str, Any]:
    """Return a continuation as JSON and CSV name its fields."""
    return {name: getattr(line, name) for name in LINE}


def dialogue_out(dialogue: Inversions) -> dict[str, Any]:
    """Return a dialogue's inversions as JSON and CSV name them."""
    return {
        "dialogue": dialogue.dialogue,
        "continuations": dialogue.n_units,
        "inversions": dialogue.inversions,
        "pairs": dialogue.pairs,
        "share": dialogue.share,
    }


def head_out(found: TurnsAndWhole) -> dict[str, Any]:
    """Return what a list rests on: its questions, its people, what is left out, all inversions."""
    asked = found.asked
    return {
        "corpus": asked.scope.corpus.name,
        "campaign": asked.scope.campaign.name if asked.scope.campaign else None,
        "turns": asked.turns.ref,
        "whole": asked.whole.ref,
        "same_scale": asked.same_scale,
        "people": len(asked.people),
        "left_out": found.left_out,
        "test_left_out": found.is_locked,
        "inversions": found.inversions,
        "pairs": found.pairs,
        "dialogues": [dialogue_out(dialogue) for dialogue in found.dialogues],
    }


def lines_csv(found: TurnsAndWhole) -> str:
    """Return a line a continuation, those that changed rank most first, unrounded."""
    return _csv(LINE, [line_out(line) for line in found.lines])


def dialogues_csv(found: TurnsAndWhole) -> str:
    """Return a line a dialogue with its inversions, unrounded."""
    return _csv(DIALOGUE, [dialogue_out(dialogue) for dialogue in found.dialogues])


def as_json(found: TurnsAndWhole) -> str:
    """Return everything, unrounded."""
    content = head_out(found) | {"continuations": [line_out(line) for line in found.lines]}
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_text(found: TurnsAndWhole, most: int = 20) -> str:
    """Return what the terminal shows: what it rests on, and the continuations that changed rank most."""
    told = [*facts(found), ""]
    for line in found.lines[:most]:
        told.append(
            f"{line.dialogue} {line.system} ({line.continuation}): turns {number(line.by_turns, 2)}, whole "
            f"{number(line.by_whole, 2)}; rank {line.rank_by_turns:g} by turns, "
            f"{line.rank_by_whole:g} by the whole"
        )
    if len(found.lines) > most:
        told.append(f"... {len(found.lines) - most:,} more: --format csv")
    return "\n".join([*told, ""])


def _csv(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([guarded(v) if isinstance(v := row[name], str) else v for name in columns])
    return out.getvalue()


FILES: dict[str, Rendering[TurnsAndWhole, str]] = {
    file.key: file
    for file in (
        Rendering("csv", "CSV, continuations", "csv", "text/csv; charset=utf-8", lines_csv),
        Rendering("dialogues", "CSV, dialogues", "csv", "text/csv; charset=utf-8", dialogues_csv),
        Rendering("json", "JSON", "json", "application/json", as_json),
    )
}
