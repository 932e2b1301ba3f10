"""One question at a time on the page, all of them in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from calibration.reports.figures import figures
from calibration.reports.sections.base import Asked, Switch
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import label


class OfQuestion(Protocol):
    """Whatever a report holds of one question."""

    @property
    def ref(self) -> str: ...
    @property
    def title(self) -> str: ...


T = TypeVar("T", bound=OfQuestion)


def headed(result: Snapshot, held: Sequence[T]) -> list[tuple[str, T]]:
    """Return what is held of each question with the question's heading, in the order of the report."""
    titles = {question.data.ref: title for title, question in label(figures(result))}
    order = list(titles)
    found = [(titles.get(one.ref, one.title), one) for one in held]
    return sorted(found, key=lambda pair: order.index(pair[1].ref) if pair[1].ref in order else len(order))


def chosen(
    found: Sequence[tuple[str, T]], key: str, asked: Asked | None
) -> tuple[list[tuple[str, T]], tuple[Switch, ...]]:
    """Return the question that the page asks for, with the way to the others; for files every question.

    `key` is the name of the switch in the address. A question that is not there gives the first.
    """
    refs = dict.fromkeys(one.ref for _, one in found)
    if asked is None or len(refs) < 2:
        return list(found), ()
    ref = asked.get(key)
    ref = ref if ref in refs else next(iter(refs))
    words = {one.ref: title for title, one in found}
    switches = tuple(Switch(words[other], {key: other}, other == ref) for other in refs)
    return [pair for pair in found if pair[1].ref == ref], switches
