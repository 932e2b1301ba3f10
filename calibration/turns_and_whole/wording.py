"""What turns and whole say, in sentences."""

from __future__ import annotations

from annotation.text.display import percent
from calibration.reports.wording import counted, crowd_of
from calibration.turns_and_whole.computing import TurnsAndWhole


def facts(found: TurnsAndWhole) -> list[str]:
    """Return what the list rests on: how many, by whom, what is left out, how many inversions."""
    asked = found.asked
    who = crowd_of(asked.people)
    lines = [
        f"{counted(len(found.lines), 'continuation')} in {counted(len(found.dialogues), 'dialogue')} that "
        f"{who.counted(len(asked.people))} labelled turn by turn ({asked.turns.ref}) and as a whole "
        f"({asked.whole.ref})."
    ]
    if found.pairs:
        lines.append(
            f"{_inversions(found.inversions)} among {counted(found.pairs, 'pair')} of continuations of one "
            f"dialogue, {percent(found.inversions / found.pairs, 1)}: the two scores order them differently."
        )
    elif found.lines:
        lines.append("No dialogue has two such continuations, so there is no order to compare.")
    if not asked.same_scale:
        lines.append("The two questions have different scales, so there are ranks and no differences.")
    if found.left_out:
        lines.append(
            f"Left out: {counted(found.left_out, 'continuation')} of which only turns, or only the whole, "
            "were labelled."
        )
    if found.is_locked:
        lines.append("The test part of the corpus is left out: nobody has opened it.")
    return lines


def _inversions(count: float) -> str:
    told = f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"
    return f"{told} inversion{'' if count == 1 else 's'}"
