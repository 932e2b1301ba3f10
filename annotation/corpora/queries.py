"""Queries over corpora: counts, dialogues, items, and turns by text, speaker and system."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import BigIntegerField, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Left

from annotation.models import Continuation, Dialogue, Import, Item, ItemMember, System
from annotation.models.corpora import Corpus, Turn
from annotation.records import SELF
from annotation.text.views import DEFAULT, METADATA, PARTS, is_telltale

# Queries over corpora for pages and programs: counts, dialogues, and turns by text, speaker and system.

COUNTED = ("dialogues", "turns", "continuations", "items")
MOST_COUNTED = 1000
MOST_LISTED = 5_000
"""Maximum number of continuations of one system in which a page counts dialogues, and which it lists."""
MOST_SHOWN = 160
OPENING_TURNS = 3
KEYS = """
SELECT DISTINCT jsonb_object_keys(d.metadata)
  FROM (SELECT metadata FROM annotation_dialogue WHERE corpus_id = %s ORDER BY id LIMIT %s) AS d
"""

MOST_SPEAKERS = 12
SPEAKERS = """
SELECT coalesce(nullif(p.role, ''), u.speaker) AS name
  FROM (SELECT id, participants FROM annotation_dialogue WHERE corpus_id = %s ORDER BY id LIMIT %s) AS d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN annotation_item i ON i.continuation_id = c.id AND i.kind = 'turn'
  JOIN annotation_turn u ON u.id = i.turn_id
  LEFT JOIN LATERAL (SELECT person->>'role' AS role FROM jsonb_array_elements(d.participants) AS person
                      WHERE person->>'id' = u.speaker LIMIT 1) p ON true
 GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %s
"""
OF_SPEAKERS = """
SELECT DISTINCT name FROM unnest(%(names)s::text[]) AS name, annotation_dialogue d
 WHERE d.corpus_id = %(corpus)s AND (d.participants @> jsonb_build_array(jsonb_build_object('role', name))
   OR EXISTS (SELECT 1 FROM annotation_continuation c JOIN annotation_turn u ON u.continuation_id = c.id
               WHERE c.dialogue_id = d.id AND u.speaker = name))
"""


def counts(corpora: Sequence[Corpus]) -> dict[int, dict[str, int]]:
    """Sum the counts of each corpus's imports: nothing else adds dialogues or items."""
    totals = {corpus.pk: dict.fromkeys(COUNTED, 0) for corpus in corpora}
    for corpus, brought in Import.objects.filter(corpus__in=totals).values_list("corpus", "counts"):
        for name in COUNTED:
            totals[corpus][name] += brought.get(name, 0)
    return totals


def sum_of_counts(name: str) -> Coalesce:
    """Return the order of corpora by one of these counts."""
    count = Sum(Cast(KeyTextTransform(name, "counts"), BigIntegerField()))
    imports = Import.objects.filter(corpus=OuterRef("pk")).order_by().values("corpus")
    return Coalesce(Subquery(imports.annotate(n=count).values("n")), 0)


def systems(corpus: Corpus) -> QuerySet[System]:
    """Return a corpus's systems with the number of their continuations."""
    return corpus.systems.annotate(produced=Count("continuations")).order_by("name")


def showable(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the information that raters of a corpus may see beside the turns, as (name, title), usual first.

    Entries of the metadata are those of the first dialogues (MOST_COUNTED).
    """
    with connection.cursor() as cursor:
        cursor.execute(KEYS, [corpus.pk, MOST_COUNTED])
        keys = [key for (key,) in cursor.fetchall() if not is_telltale(key)]
    entries = {METADATA + key: f"{key.replace('_', ' ')} (metadata)" for key in keys}
    names = {name: title.capitalize() for name, title in PARTS.items()} | entries
    return sorted(names.items(), key=lambda pair: (pair[0] not in DEFAULT, pair[1].casefold()))


def speakers(corpus: Corpus) -> list[str]:
    """Return the roles of speakers whose turns can be rated (names without a role), most turns first.

    They are those of the first dialogues (MOST_COUNTED); [] where there are more than MOST_SPEAKERS.
    """
    with connection.cursor() as cursor:
        cursor.execute(SPEAKERS, [corpus.pk, MOST_COUNTED, MOST_SPEAKERS + 1])
        names = [name for (name,) in cursor.fetchall()]
    return names if len(names) <= MOST_SPEAKERS else []


def unknown_speakers(corpus: Corpus, names: Collection[str]) -> list[str]:
    """Return the names that are neither a speaker nor a participant's role in the corpus, sorted."""
    rest = set(names) - set(speakers(corpus))
    if rest:
        with connection.cursor() as cursor:
            cursor.execute(OF_SPEAKERS, {"names": sorted(rest), "corpus": corpus.pk})
            rest -= {name for (name,) in cursor.fetchall()}
    return sorted(rest)


def may_share(dialogues: Collection[int]) -> set[int]:
    """Return the dialogues among these ids in which two continuations may continue the same turns.

    Two rollouts may; an answer to a fixed point may be compared with the turn that the dialogue has there.
    """
    others = (
        Continuation.objects.written().filter(dialogue__in=dialogues).exclude(key=SELF).values("dialogue")
    )
    static = Count("pk", filter=Q(mode=Continuation.Mode.STATIC))
    counted = others.values("dialogue").annotate(n=Count("pk"), static=static)
    enough = counted.filter(Q(n__gte=2) | Q(static__gte=1))
    return set(enough.values_list("dialogue", flat=True))


def beginnings(dialogues: Sequence[Dialogue]) -> dict[int, tuple[int, str]]:
    """Return the number of each dialogue's own turns, and its beginning."""
    own = Continuation.objects.filter(dialogue__in=dialogues, key=SELF)
    lengths = dict(own.annotate(length=Count("turns")).values_list("dialogue", "length"))
    first: dict[int, list[str]] = {}
    opening_turns = Turn.objects.filter(continuation__in=own, position__lt=OPENING_TURNS).order_by("position")
    for dialogue, text in opening_turns.values_list("continuation__dialogue", Left("text", MOST_SHOWN)):
        first.setdefault(dialogue, []).append(text)
    return {dialogue: (length, " / ".join(first.get(dialogue, []))) for dialogue, length in lengths.items()}


def dialogues(corpus: Corpus, *, system: str = "", part: str = "") -> QuerySet[Dialogue]:
    """Return a corpus's dialogues, filtered by system or by part where these are given."""
    rows = corpus.dialogues.order_by("id")
    if part:
        rows = rows.filter(part=part)
    if system:
        theirs = Continuation.objects.written().filter(dialogue=OuterRef("pk"), system__name=system)
        rows = rows.filter(Exists(theirs))
    return rows


def find_turns(corpus: Corpus, *, text: str = "", speaker: str = "", system: str = "") -> QuerySet[Turn]:
    """Return turns filtered by text (in any case), speaker and system; empty filters are ignored."""
    turns = Turn.objects.filter(continuation__dialogue__corpus=corpus)
    if text:
        turns = turns.filter(text__icontains=text)
    if speaker:
        turns = turns.filter(speaker__iexact=speaker)
    if system:
        turns = turns.filter(continuation__system__name=system)
    return turns.order_by("id").select_related("continuation__dialogue", "continuation__system")


def count_dialogues(corpus: Corpus, *, system: str = "") -> tuple[int, bool]:
    """Count a corpus's dialogues (of a system, where given); the flag is true where there may be more.

    Dialogues of a system are counted among MOST_LISTED of its continuations.
    """
    if not system:
        stored_count = counts([corpus])[corpus.pk]["dialogues"]
        return stored_count or corpus.dialogues.count(), False
    theirs = Continuation.objects.written().filter(system__corpus=corpus, system__name=system)
    dialogue_ids = list(theirs.order_by().values_list("dialogue", flat=True)[:MOST_LISTED])
    return len(set(dialogue_ids)), len(dialogue_ids) == MOST_LISTED


def items(corpus: Corpus, *, kind: str = "", dialogue: str = "", system: str = "") -> QuerySet[Item]:
    """Return a corpus's items, filtered by kind, dialogue and system where given."""
    rows = corpus.items.order_by("id")
    if kind:
        rows = rows.filter(kind=kind)
    if dialogue:
        rows = rows.filter(continuation__dialogue__key=dialogue)
    if system:
        alone = Q(compared=None, continuation__system__name=system)
        rows = rows.filter(alone | Exists(_members(system)))
    return rows


def _members(system: str) -> QuerySet[ItemMember]:
    """Return the members of comparisons that are by a system."""
    return ItemMember.objects.filter(item=OuterRef("pk"), continuation__system__name=system)


# Time-limited search in the turns of a corpus: an unfinished search returns where to continue.

SECONDS = 0.2
"""Duration of a search before it returns its results so far."""
FIRST, LONGEST = 50, 5_000
"""Dialogues read at once: few at first, more as long as they are read quickly."""
QUICKLY = 0.05
PLACE = re.compile(r"\A([0-9]{1,18})-([0-9]{1,18})\Z")


@dataclass(frozen=True)
class SearchPage:
    """Turns found by a search, in the order of dialogues. `after` is where to continue, '' at the end.

    `begun` is set where it began at the corpus's start.
    """

    turns: list[Turn]
    after: str
    begun: bool

    @property
    def is_whole(self) -> bool:
        """Whether the whole corpus was searched."""
        return self.begun and not self.after


def search(
    corpus: Corpus, *, text: str = "", speaker: str = "", system: str = "", after: str = "", most: int
) -> SearchPage:
    """Return up to `most` turns that contain a text (in any case), by a speaker, of a system.

    `after` is where an earlier part of the same search ended. Dialogues are searched in import order, at
    least FIRST of them, until enough turns are found or SECONDS are over.
    """
    dialogue, turn = _place(after)
    deadline, step = time.monotonic() + SECONDS, FIRST
    turns: list[Turn] = []
    ids = corpus.dialogues.order_by("pk").values_list("pk", flat=True)
    matching = find_turns(corpus, text=text, speaker=speaker, system=system)
    matching = matching.order_by("continuation__dialogue_id", "pk")
    while window := list(ids.filter(pk__gte=dialogue)[:step]):
        began = time.monotonic()
        in_window = matching.filter(continuation__dialogue__in=window)
        if turn:
            in_window = in_window.exclude(continuation__dialogue=dialogue, pk__lte=turn)
        turns += in_window[: most + 1 - len(turns)]
        if len(turns) > most:
            last = turns[most - 1]
            return SearchPage(turns[:most], f"{last.continuation.dialogue_id}-{last.pk}", not after)
        dialogue, turn = window[-1] + 1, 0
        step = min(step * 2, LONGEST) if time.monotonic() - began < QUICKLY else max(step // 2, FIRST)
        if time.monotonic() > deadline:
            more = ids.filter(pk__gte=dialogue).exists()
            return SearchPage(turns, f"{dialogue}-0" if more else "", not after)
    return SearchPage(turns, "", not after)


def _place(after: str) -> tuple[int, int]:
    """Parse the dialogue to begin with, and the last of its turns found; an invalid value starts anew."""
    place = PLACE.match(after)
    return (int(place[1]), int(place[2])) if place else (0, 0)
