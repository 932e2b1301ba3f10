"""Hooks by which suites extend the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from annotation.script_records import KIND as LONGFORM
from jobs.tables import Functions, Table

if TYPE_CHECKING:
    from annotation import records
    from annotation.corpora.import_staging import ImportResult
    from annotation.formats import Faults
    from annotation.models import Campaign, Continuation, Corpus, Dialogue, Import
    from annotation.schemes import SchemeDefinition
    from annotation.text.context import NamedText
    from annotation.work.leases import Seat
    from annotation.work.screens import Screen

LABEL_CONTINUATIONS: Functions[Callable[[Corpus, Sequence[int] | None], Any]] = Functions(
    "label_continuations"
)
"""Write the labels that keys and scores give to continuations of a corpus (ids, None for all of an import).

Called in the transaction that added the continuations.
"""

WRITE_RECORDS: Functions[
    Callable[[Corpus, Import, ImportResult, Faults, Sequence[tuple[int, records.Dialogue]]], None]
] = Functions("write_records")
"""Write an import's data beside turns, for dialogues with their database ids.

Called once per batch, in the import's transaction; data that cannot be written is added to the faults.
"""

MAKE_ITEMS: Table[Callable[[Corpus], int]] = Table("make_items")
"""By key of a scheme with continuations of its own: create missing continuations, return their number."""


RATERS_PER_ITEM: Table[int] = Table("raters_per_item")
"""By key of a scheme: raters per item of a campaign that names no number."""

SCREEN_NOTES: Table[Callable[[Screen], Sequence[NamedText]]] = Table("screen_notes")
"""By key of a scheme: named texts beside its tasks, from what a screen shows and nothing else."""


START_TEXTS: Table[Callable[[Screen], Mapping[str, str]]] = Table("start_texts")
"""By key of a scheme: texts with which questions in words begin, by question, from what a screen shows.

A text that comes back unchanged is no answer.
"""


class OwnPages(NamedTuple):
    """Pages for dialogues of a kind: URL names that take the ids of a corpus and a dialogue."""

    page: str
    api_turns: str


OWN_PAGES: Table[OwnPages] = Table("own_pages")
"""By kind of dialogue, for kinds with too many turns for the general page."""


class CampaignForm(NamedTuple):
    """A form of campaign whose members write continuations, on a page of the suite.

    `page` is the URL name of that page, which takes a campaign's id. `check` raises CampaignRefused for
    invalid settings. `make` creates the continuations that are still missing, without turns and items and
    with the campaign's `own_key`, when it opens, and `count` says how many those are. `copy` gives a copied
    campaign the form's own settings. `has_work` says whether the page has something for a member. `scheme` is
    that of its campaigns where none is chosen; it has no questions, since it is in no list of schemes.
    """

    page: str
    check: Callable[[Campaign], None]
    make: Callable[[Campaign], int]
    count: Callable[[Campaign], int]
    copy: Callable[[Campaign, Campaign], None]
    has_work: Callable[[Seat], bool]
    scheme: SchemeDefinition | None = None


CAMPAIGN_FORMS: Table[CampaignForm] = Table("campaign_forms")
"""By a campaign's `form`; ratings are none."""

LINK_TURNS: Functions[Callable[[Dialogue, Continuation], dict[int, tuple[str, str]]]] = Functions(
    "link_turns"
)
"""Return links of a continuation's turns by turn id: text and address."""


def own_pages(dialogue: Dialogue) -> OwnPages | None:
    """Return the pages of a dialogue; None for the general one."""
    return OWN_PAGES.get(LONGFORM) if dialogue.script is not None else None
