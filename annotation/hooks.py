"""Hooks for suites into the core."""

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
"""Write the labels that keys and scores give to continuations of a corpus, by id; None: all of an import.

Called in the transaction that added them.
"""

WRITE_RECORDS: Functions[
    Callable[[Corpus, Import, ImportResult, Faults, Sequence[tuple[int, records.Dialogue]]], None]
] = Functions("write_records")
"""Write the data beside the turns of an import's dialogues, each given with its database id.

Called once a batch, in the import's transaction; unwritable data is added to the faults.
"""

MAKE_ITEMS: Table[Callable[[Corpus], int]] = Table("make_items")
"""Per key of a scheme with continuations of its own: creates them, and returns the number of new ones."""


class OwnPages(NamedTuple):
    """Pages for dialogues of a kind: URL names that take a corpus's id and a dialogue's."""

    page: str
    api_turns: str


OWN_PAGES: Table[OwnPages] = Table("own_pages")
"""By kind of dialogue, for those with too many turns for the general page."""

LINK_TURNS: Functions[Callable[[Dialogue, Continuation], dict[int, tuple[str, str]]]] = Functions(
    "link_turns"
)
"""Return links of a continuation's turns by their ids: a text and an address."""


def own_pages(dialogue: Dialogue) -> OwnPages | None:
    """Return the pages of a dialogue; None for the general one."""
    return OWN_PAGES.get(LONGFORM) if dialogue.script is not None else None
