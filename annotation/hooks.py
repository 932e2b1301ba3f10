"""What suites do at moments of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from annotation.script_records import KIND as LONGFORM
from jobs.tables import Functions, Table

if TYPE_CHECKING:
    from annotation import records
    from annotation.corpora.import_staging import ImportResult
    from annotation.formats import Faults
    from annotation.models import Continuation, Corpus, Dialogue, Import

LABEL_CONTINUATIONS: Functions[Callable[[Corpus, Sequence[int] | None], Any]] = Functions(
    "label_continuations"
)
"""Write the labels that keys and scores give to continuations of a corpus, named by their ids; None: all of
an import. Called in the transaction that added them."""

WRITE_RECORDS: Functions[
    Callable[[Corpus, Import, ImportResult, Faults, Sequence[tuple[int, records.Dialogue]]], None]
] = Functions("write_records")
"""Write what dialogues of an import, each with its id in the database, hold beside their turns. Called once
a batch, in the import's transaction; what cannot be written is added to the faults."""

MAKE_ITEMS: Table[Callable[[Corpus], int]] = Table("make_items")
"""Per key of a scheme that asks about continuations of its own: makes them, and returns how many are new."""


class OwnPages(NamedTuple):
    """Where dialogues of a kind are read: names of addresses that take a corpus's id and a dialogue's."""

    page: str
    api_turns: str


OWN_PAGES: Table[OwnPages] = Table("own_pages")
"""By the kind of a dialogue whose turns are too many for the page that all have."""

LINK_TURNS: Functions[Callable[[Dialogue, Continuation], dict[int, tuple[str, str]]]] = Functions(
    "link_turns"
)
"""Return links of a continuation's turns by their ids: a text and an address."""


def own_pages(dialogue: Dialogue) -> OwnPages | None:
    """Return where a dialogue is read; None for the page that all have."""
    return OWN_PAGES.get(LONGFORM) if dialogue.script is not None else None
