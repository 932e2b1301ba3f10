"""In which mode judges were asked, where their calls say it: at once, or in the provider's batches."""

from __future__ import annotations

from calibration.reading.calls import AT_ONCE, CACHED, IN_BATCHES, Calls
from calibration.reports.snapshot import Snapshot
from calibration.reports.wording import counted


def how_asked(result: Snapshot) -> list[str]:
    """Return a sentence per judge whose mode is known; nothing is said of labels that came otherwise."""
    return [_sentence(row) for row in result.calls if row.modes]


def _sentence(row: Calls) -> str:
    found = dict(row.modes)
    taken, modes = found.pop(CACHED, 0), [mode for mode in (AT_ONCE, IN_BATCHES) if mode in found]
    if not modes:
        return f"{row.rater} took the replies that equal requests of other runs had got, {_calls(taken)}."
    how = modes[0]
    if len(modes) > 1:
        how = " and ".join(f"{mode} for {_calls(found[mode])}" for mode in modes)
    cached = f"; {_calls(taken)} took the reply that an equal request of another run had got" if taken else ""
    return f"{row.rater} was asked {how}{cached}."


def _calls(n: int) -> str:
    return counted(n, "call")
