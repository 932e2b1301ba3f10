"""Versions of replacement names for a script's people: from a seed, or written by hand; none ever changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation import records
from annotation.corpora.rows import participant_record, turn_record
from annotation.errors import ScriptRefused
from annotation.models import Record
from annotation.models.corpora import Dialogue
from annotation.script_records import (
    ANONYMISED,
    FACT,
    QUESTION,
    SWAPPED,
    NameMap,
    fact_record,
    question_record,
    script_json,
    script_record,
)
from config.models import Event
from jobs.endpoints.parameters import Parameter
from suites.long_dialogue.editing.sessions import own_turns
from suites.long_dialogue.scripts.names import GENDERS, Gender, anonymised, checked, people_of, swapped
from suites.long_dialogue.scripts.sessions import People, script_of

# A stored script as one record: all turns, facts and questions, for code that needs everything.


def record_of(dialogue: Dialogue) -> records.Dialogue:
    """Return a script with its own turns, and its facts and questions that are not superseded."""
    rows = list(
        Record.objects.filter(dialogue=dialogue, superseded_by=None)
        .order_by("id")
        .values_list("kind", "key", "content", "status")
    )
    columns = own_turns(dialogue).values_list("speaker", "text", "given", "at", "extra")
    return records.Dialogue(
        id=dialogue.key,
        turns=tuple(turn_record(*row) for row in columns.iterator(chunk_size=5_000)),
        participants=tuple(map(participant_record, dialogue.participants)),
        language=dialogue.language,
        script=script_record(dialogue.script),
        facts=tuple(fact_record(*row[1:]) for row in rows if row[0] == FACT),
        questions=tuple(question_record(*row[1:]) for row in rows if row[0] == QUESTION),
    )


KINDS = (ANONYMISED, SWAPPED)
MOST = 5_000
"""Maximum number of names in a map."""
LONGEST = 200
SEED = Parameter("seed", "whole", "Seed", "", 0, 2**31 - 1)
CAST = 6
"""Size of the default main cast: the people with the most turns."""


def maps_of(dialogue: Dialogue) -> tuple[NameMap, ...]:
    """Return a script's name maps by kind, the newest version first."""
    script = script_record(dialogue.script)
    name_maps = script.names if script else ()
    return tuple(sorted(name_maps, key=lambda name_map: (KINDS.index(name_map.kind), -name_map.version)))


@transaction.atomic
def make_names(
    *,
    dialogue: Dialogue,
    kind: str,
    seed: int,
    by: User | None,
    cast: Sequence[str] = (),
    kept: Sequence[str] = (),
    genders: Mapping[str, str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> NameMap:
    """Create the next version of a kind of names from a seed.

    `cast` lists the people whose names are swapped, by id or name; by default the people with the most turns
    (CAST of them). `kept` are spellings that stay. `genders` (female, male, neutral) and `aliases` add to the
    participants' declarations. Raises ScriptRefused, and saves nothing, where no such map is possible.
    """
    row, record = _locked(dialogue, kind)
    people = _Ids(record)
    gender_by_id = {
        people.id(name, "genders"): _gender(name, gender) for name, gender in (genders or {}).items()
    }
    also = {people.id(name, "aliases"): tuple(names) for name, names in (aliases or {}).items()}
    try:
        if kind == SWAPPED:
            cast_ids = [people.id(name, "cast") for name in cast] or main_cast(record)
            name_map = swapped(record, cast_ids, seed, aliases=also, unchanged=kept)
        else:
            name_map = anonymised(record, seed, genders=gender_by_id, aliases=also, unchanged=kept)
    except ValueError as error:
        raise ScriptRefused(str(error), field="cast" if kind == SWAPPED else "kept") from None
    return _keep(row, record, name_map, by, dialogue, seed=seed)


@transaction.atomic
def save_names(
    *,
    dialogue: Dialogue,
    kind: str,
    pairs: Sequence[tuple[str, str]],
    by: User | None,
    kept: Sequence[str] = (),
) -> NameMap:
    """Save names written by hand as the next version of a kind.

    Raises ScriptRefused, and saves nothing, for invalid names, with every problem in the message, and for
    names equal to those of the newest version.
    """
    row, record = _locked(dialogue, kind)
    cleaned = tuple((" ".join(old.split()), " ".join(new.split())) for old, new in pairs)
    if not cleaned or len(cleaned) > MOST or any(len(name) > LONGEST for pair in cleaned for name in pair):
        raise ScriptRefused(f"A map has 1 to {MOST} names of at most {LONGEST} characters.", field="pairs")
    before = [name_map for name_map in script_of(record).names if name_map.kind == kind]
    version = 1 + max((name_map.version for name_map in before), default=0)
    stays = tuple(dict.fromkeys(" ".join(spelling.split()) for spelling in kept if spelling.strip()))
    new_map = NameMap(kind, version, cleaned, stays)
    if any(
        name_map == replace(new_map, version=name_map.version)
        for name_map in before
        if name_map.version == version - 1
    ):
        raise ScriptRefused("Nothing would change: these are the names already.", field="pairs")
    try:
        checked(new_map, record)
    except ValueError as error:
        raise ScriptRefused(str(error), field="pairs") from None
    return _keep(row, record, new_map, by, dialogue)


def main_cast(record: records.Dialogue) -> list[str]:
    """Return the ids of the people with the most turns, at most CAST of them, in that order."""
    counts = Counter(turn.speaker for turn in record.turns)
    people = [person.id for person in people_of(record) if person.has_name and counts[person.id]]
    return sorted(people, key=lambda person_id: -counts[person_id])[:CAST]


class _Ids:
    """Ids of a script's people by id, name or alias."""

    def __init__(self, record: records.Dialogue) -> None:
        self.people = People(record.participants)
        self.ids = {person.name or person.id: person.id for person in record.participants}
        self.ids |= {person.id: person.id for person in record.participants}

    def id(self, name: str, field: str) -> str:
        """Return the id of a person by id or name; raise ScriptRefused about a field for an unknown name."""
        person_id = self.ids.get(name.strip()) or self.ids.get(self.people.name(name) or "")
        if person_id is None:
            raise ScriptRefused(f"Nobody of this dialogue is called {name[:80]!r}.", field=field)
        return person_id


def _gender(name: str, value: str) -> Gender:
    gender = GENDERS.get(value.strip().casefold())
    if gender is None:
        raise ScriptRefused(f"{name[:80]!r} is female, male or neutral, not {value[:40]!r}.", field="genders")
    return gender  # type: ignore[return-value]


def _locked(dialogue: Dialogue, kind: str) -> tuple[Dialogue, records.Dialogue]:
    """Return the locked row and its record; raise ScriptRefused for an unknown kind of names."""
    if kind not in KINDS:
        raise ScriptRefused(f"There are the names {' and '.join(KINDS)}.", field="kind")
    row = Dialogue.objects.select_for_update().select_related("corpus").get(pk=dialogue.pk)
    if row.script is None:
        raise ScriptRefused(f"The dialogue {row.key!r} is no script.")
    return row, record_of(row)


def _keep(
    row: Dialogue,
    record: records.Dialogue,
    name_map: NameMap,
    by: User | None,
    dialogue: Dialogue,
    **detail: Any,
) -> NameMap:
    script = script_of(record)
    row.script = script_json(replace(script, names=(*script.names, name_map)))
    row.save(update_fields=["script"])
    dialogue.script = row.script
    subject = f"names {name_map.kind}:{name_map.version} of {row.key} in {row.corpus.name}"[:300]
    Event.objects.create(
        by=by, verb="save names", subject=subject, detail={"names": len(name_map.pairs), **detail}
    )
    return name_map


def as_dict(names: NameMap) -> dict[str, Any]:
    """Return a name map as JSON data; `names` is its name in conditions."""
    return {
        "names": f"{names.kind}:{names.version}",
        "kind": names.kind,
        "version": names.version,
        "pairs": [list(pair) for pair in names.pairs],
        "kept": list(names.kept),
    }
