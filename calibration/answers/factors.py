"""What accuracy is broken down by: each factor gives a row the values that it counts under."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from calibration.answers.rows import AnswerRow

SESSIONS_AWAY = (0, 1, 9, 49, 99, 199)
TOKENS_AWAY = (999, 9_999, 49_999, 99_999, 199_999)
"""The last of each bin of a distance; the last bin is open."""
PARTS = ("first quarter", "second quarter", "third quarter", "last quarter")
BETWEEN = " to "


@dataclass(frozen=True)
class Factor:
    """A factor: its key in files, its title, the values of a row, and the order of its values.

    `order` names values that stand in an order of their own; others follow by name.
    """

    key: str
    title: str
    values: Callable[[AnswerRow], tuple[str, ...]]
    order: tuple[str, ...] = ()
    note: str = ""

    def sorted(self, values: Sequence[str]) -> list[str]:
        """Return values in the factor's order."""
        places = {value: at for at, value in enumerate(self.order)}
        return sorted(set(values), key=lambda value: (places.get(value, len(places)), value))


def _some(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


@lru_cache(maxsize=8)
def bins(ends: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of bins with these last values: `0`, `1`, `2 to 9`, ..., `200 or more`."""
    starts = [0, *(end + 1 for end in ends)]
    pairs = zip(starts, ends, strict=False)
    closed = [f"{low:,}" if low == high else f"{low:,}{BETWEEN}{high:,}" for low, high in pairs]
    return (*closed, f"{starts[-1]:,} or more")


def bin_of(amount: int | None, ends: tuple[int, ...]) -> tuple[str, ...]:
    """Return the bin of an amount, nothing for None."""
    if amount is None:
        return ()
    return (bins(ends)[sum(amount > end for end in ends)],)


def quarter(row: AnswerRow) -> tuple[str, ...]:
    """Return the quarter of the script that a question was asked in, nothing where its length is unknown."""
    if row.place.sessions < 1:
        return ()
    return (PARTS[min(4 * (row.session - 1) // row.place.sessions, 3)],)


FACTORS: dict[str, Factor] = {
    factor.key: factor
    for factor in (
        Factor("source", "Source", lambda row: _some(row.source), ("quiz", "tkg")),
        Factor(
            "hops",
            "Hops",
            lambda row: () if row.source == "quiz" else (str(row.hops),),
            note="Of questions about facts.",
        ),
        Factor(
            "answerable",
            "Can it be answered",
            lambda row: ("answerable" if row.answerable else "unanswerable",),
            ("answerable", "unanswerable"),
        ),
        Factor("type", "Type of use", lambda row: _some(row.use)),
        Factor("shape", "Time shape", lambda row: _some("-".join(row.forms))),
        Factor("asker", "Asker", lambda row: _some(row.asker)),
        Factor(
            "relation",
            "Relation",
            lambda row: tuple(dict.fromkeys(row.relations)),
            note="A question of two hops counts under both of its relations.",
        ),
        Factor(
            "sessions",
            "Sessions from evidence to question",
            lambda row: bin_of(row.distance[0], SESSIONS_AWAY),
            bins(SESSIONS_AWAY),
        ),
        Factor(
            "tokens",
            "Tokens from evidence to question",
            lambda row: bin_of(row.distance[1], TOKENS_AWAY),
            bins(TOKENS_AWAY),
        ),
        Factor("position", "Position in the script", quarter, PARTS),
    )
}
"""The factors, in the order of the report."""
