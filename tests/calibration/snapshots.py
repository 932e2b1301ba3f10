"""Reports built by hand for tests; fields that are not named stay empty."""

from __future__ import annotations

from typing import Any

from calibration.ratings.definitions import Definition
from calibration.reports.results import Answerer, Figure, Question, Totals
from calibration.reports.snapshot import FORMAT, Snapshot


def snapshot(**named: Any) -> Snapshot:
    """Return an empty report with the named fields."""
    plain: dict[str, Any] = {
        "format": FORMAT,
        "study": "made",
        "corpus": "made",
        "campaign": None,
        "occasions": (),
        "definition": Definition(),
        "part": "all",
        "split": None,
        "counts": Totals(labels=1, missing=0, items=1, clusters=30, raters=1),
        "calls": (),
        "answered": (),
        "uncompared": (),
        "questions": (),
    }
    return Snapshot(**(plain | named))


def question(**named: Any) -> Question:
    """Return a tag without results, with the named fields."""
    plain: dict[str, Any] = {
        "ref": "polite@1/polite",
        "key": "polite",
        "title": "Polite",
        "wording": "Polite?",
        "scheme": "polite@1",
        "scheme_title": "Polite",
        "item_kind": "turn",
        "level": "binary",
        "values": [0, 1],
        "group": "",
        "pooled": False,
        "links": (),
        "repeated": 0,
    }
    return Question(**(plain | named))


def answerer(name: str, kind: str = "human", *, simulated: bool = False) -> Answerer:
    """Return a rater of ninety items."""
    return Answerer(
        name, kind, True, True, n=90, constant=False, mean=0.5, missing=0, samples=1, simulated=simulated
    )


def figure(name: str, value: float | None, ends: tuple[float, float] | None = None, **named: Any) -> Figure:
    """Return a figure of four raters on ninety items; without a value, two people show nothing."""
    low, high = ends or (None, None)
    return Figure(
        name,
        value,
        low,
        high,
        n_items=90,
        n_clusters=30,
        n_raters=4,
        status="ok" if value is not None else "insufficient",
        reason="" if value is not None else "two people show nothing",
        **({"raters": ("gpt", "ann", "ben", "cid")} | named),
    )
