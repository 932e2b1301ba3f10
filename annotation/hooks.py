"""What suites do at moments of the core: each adds its functions to these tables when the program starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from annotation.script_records import KIND as LONGFORM

if TYPE_CHECKING:
    from annotation import records
    from annotation.corpora.import_staging import ImportResult
    from annotation.formats import Faults
    from annotation.models import Continuation, Corpus, Dialogue, Import

LABEL_CONTINUATIONS: list[Callable[[Corpus, Sequence[int] | None], Any]] = []
"""Write the labels that keys and scores give to continuations of a corpus, named by their ids; None: all of
an import. Called in the transaction that added them."""

WRITE_RECORDS: list[
    Callable[[Corpus, Import, ImportResult, Faults, Sequence[tuple[int, records.Dialogue]]], None]
] = []
"""Write what dialogues of an import, each with its id in the database, hold beside their turns. Called once
a batch, in the import's transaction; what cannot be written is added to the faults."""

MAKE_ITEMS: dict[str, Callable[[Corpus], int]] = {}
"""Per key of a scheme that asks about continuations of its own: makes them, and returns how many are new."""


class OwnPages(NamedTuple):
    """Where dialogues of a kind are read: names of addresses that take a corpus's id and a dialogue's."""

    page: str
    api_turns: str


OWN_PAGES: dict[str, OwnPages] = {}
"""By the kind of a dialogue whose turns are too many for the page that all have."""

LINK_TURNS: list[Callable[[Dialogue, Continuation], dict[int, tuple[str, str]]]] = []
"""Return links of a continuation's turns by their ids: a text and an address."""


def own_pages(dialogue: Dialogue) -> OwnPages | None:
    """Return where a dialogue is read; None for the page that all have."""
    return OWN_PAGES.get(LONGFORM) if dialogue.script is not None else None
