"""Every kind of item in the table, and consistency of code elsewhere with the table."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from django.db import connection

from annotation.corpora.import_names import own_key
from annotation.kinds import KINDS, OF_RECORDS, ItemKind, Place, kind_at
from annotation.models import Item, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.text.references import (
    item_key,
    item_key_sql,
    members_key,
    parse_item_key,
    place_of,
    record_key,
)
from calibration.reports.wording import units
from judges.metrics import METRICS
from judges.protocols import PROTOCOLS
from judges.runs.plans import CONTINUATION
from tests import factories

HOSTILE = ("d", "a/b", "100%", "%2F", "//", " ", "ünï/%25")
ALL = pytest.mark.parametrize("key", KINDS)
WITHOUT_RECORD = pytest.mark.parametrize("key", [key for key in KINDS if key not in OF_RECORDS])


@ALL
def test_a_kind_is_listed_under_its_own_key_and_fits_its_column(key: str) -> None:
    kind = KINDS[key]
    assert kind.key == key
    assert re.fullmatch(r"[a-z]{1,10}", key), "the column of kinds has ten characters; SQL quotes keys as is"


@ALL
def test_a_kind_says_what_its_items_are_called(key: str) -> None:
    kind = KINDS[key]
    assert kind.singular
    assert kind.plural != kind.singular
    assert kind.heading == kind.heading.capitalize()
    assert kind.name(3 if kind.has_turn else None).startswith(("the ", kind.singular))


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", OF_RECORDS)
@pytest.mark.parametrize("dialogue", HOSTILE)
@pytest.mark.parametrize("record", HOSTILE)
def test_a_records_key_is_read_as_it_was_written(key: str, dialogue: str, record: str) -> None:
    place = Place(dialogue, "", record=(key, record))
    assert KINDS[key].read(KINDS[key].key_parts(place)) == place
    assert place_of(record_key(dialogue, (key, record))) == place
    assert KINDS[key].key_form.count("/") == len(KINDS[key].key_parts(place)) - 1


@pytest.mark.exhaustive
@WITHOUT_RECORD
@pytest.mark.parametrize("dialogue", HOSTILE)
@pytest.mark.parametrize("continuation", HOSTILE)
def test_a_key_is_read_as_it_was_written(key: str, dialogue: str, continuation: str) -> None:
    kind = KINDS[key]
    others = tuple((other, None) for other in ("+", "7", "c")[: (kind.members or (1,))[0] - 1])
    place = Place(dialogue, continuation, 7 if kind.has_turn else None, others)
    assert kind.read(kind.key_parts(place)) == place
    assert place_of(members_key(dialogue, place.members)) == place
    if not others:
        assert members_key(dialogue, place.members) == item_key(dialogue, continuation, place.turn)
        assert parse_item_key(item_key(dialogue, continuation, place.turn)) == (
            place.dialogue,
            place.continuation,
            place.turn,
        )
    assert kind.key_form.count("/") == len(kind.key_parts(place)) - 1


def test_an_import_makes_one_kind_of_item_of_a_turn_and_one_of_a_continuation() -> None:
    made = Counter(kind.points_at for kind in KINDS.values() if kind.imported)
    assert made == {"turn": 1, "continuation": 1}, "a turn has at most one item"
    assert (kind_at(0).key, kind_at(None).key) == ("turn", "dialogue")


def test_what_is_no_key_is_refused_with_the_forms_there_are() -> None:
    told = "expected dialogue/continuation or dialogue/continuation/turn"
    for text in ("d", "d/c/x", "d/c/-1", "d/c/1/2", "d/c/²", ""):
        with pytest.raises(ValueError, match=told):
            parse_item_key(text)


def test_whatever_is_about_items_is_about_a_kind_of_the_table() -> None:
    assert {scheme.item_kind for scheme in SCHEMES.values()} <= KINDS.keys()
    assert {metric.kind for metric in METRICS.values()} <= KINDS.keys()
    for protocol in PROTOCOLS.values():
        if protocol.takes_scheme:
            continue  # about what its scheme is about
        assert protocol.covers == CONTINUATION or protocol.item_kinds() == (protocol.covers,)
        assert set(protocol.item_kinds()) <= KINDS.keys()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["item_kind_fits_turn", "scheme_kind_known"], ids=["items", "scheme versions"]
)
def test_the_database_knows_the_kinds_of_the_table_and_no_other(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [name])
        (definition,) = cursor.fetchone()
    assert set(re.findall(r"'(\w+)'", definition)) == KINDS.keys()


@pytest.mark.django_db
def test_the_models_offer_the_kinds_of_the_table() -> None:
    for model, field in ((Item, "kind"), (SchemeVersion, "item_kind")):
        assert [key for key, _ in model._meta.get_field(field).choices or ()] == list(KINDS)


@pytest.mark.django_db
def test_a_campaign_about_all_items_of_a_continuation_takes_those_of_its_kind() -> None:
    from annotation.campaigns.tasks import count

    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    made = factories.campaign(corpus, "cocoeval_behaviours", opened=False)
    assert count(made) == 1
    assert own_key(corpus, "turn") == f"corpus:{corpus.name}:turn"


def test_a_later_kind_is_one_line_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, headings and sentences ask the table; nothing else has to learn of it."""
    decision = replace(KINDS["turn"], key="decision", singular="decision", plural="decisions", imported=False)
    monkeypatch.setitem(KINDS, "decision", decision)
    assert units("decision", 2) == "2 decisions"
    assert parse_item_key("d/c/4") == ("d", "c", 4)
    assert kind_at(4).key == "turn"
    assert isinstance(decision, ItemKind)
    assert decision.name(4) == "decision 4"


@pytest.mark.django_db
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("turn", [None, 3])
def test_the_database_writes_the_same_keys(name: str, turn: int | None) -> None:
    key = item_key_sql("d", "c", "t")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {key} FROM (SELECT %s::text AS d, %s::text AS c, %s::int AS t) p", [name, name, turn]
        )
        assert cursor.fetchone() == (item_key(name, name, turn),)
