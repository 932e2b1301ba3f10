"""Scripts for programs: the API's windows and changes, and name maps."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.errors import ScriptRefused
from annotation.models import Dialogue, SessionVersion
from config.models import Event
from suites.long_dialogue.editing.name_maps import make_names, maps_of, record_of, save_names
from suites.long_dialogue.scripts.replacing import renamed
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.test_native import bring

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaf(tmp_path: Path) -> Dialogue:
    return bring(tmp_path, script()).dialogues.select_related("corpus").get()


@pytest.fixture
def rea(client: Client) -> Client:
    client.force_login(factories.user("rea", researcher=True))
    return client


def address(dialogue: Dialogue, name: str, *more: Any) -> str:
    return reverse(name, args=[dialogue.corpus_id, dialogue.pk, *more])


def run(name: str, *told: str) -> tuple[str, str]:
    """Run a command; return what it says and warns."""
    out, err = StringIO(), StringIO()
    call_command(name, "--corpus", "loaf", *told, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_scripts_are_listed_in_numbers(rea: Client, loaf: Dialogue) -> None:
    (row,) = rea.get(reverse("api-scripts", args=[loaf.corpus_id])).json()["results"]
    assert row == {
        "id": loaf.pk,
        "key": "loaf",
        "main": "ana",
        "sessions": 5,
        "heard": 4,
        "turns": 10,
        "facts": 2,
        "questions": 1,
        "names": [],
        "warnings": [],
    }


def test_sessions_come_in_pages(rea: Client, loaf: Dialogue) -> None:
    told = rea.get(address(loaf, "api-script") + "?limit=2&offset=2").json()
    assert (told["count"], [row["id"] for row in told["results"]]) == (5, ["s3", "s4"])
    assert told["results"][0] == {
        "number": 3,
        "id": "s3",
        "date": "1994-11-05",
        "place": "",
        "episode": "",
        "scene": "",
        "season": "",
        "present": ["ben", "cara"],
        "listed": [],
        "heard": False,
        "turns": 2,
        "first": 4,
        "last": 5,
        "facts": 0,
        "questions": 0,
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("limit=2", [1, 2]),
        ("session=4", [7, 8]),
        ("text=BEN", [1, 8]),
        ("speaker=Cara&text=ben", [8]),
        ("session=4&speaker=ana", [7]),
        ("session=9", []),
    ],
)
def test_turns_come_by_windows(rea: Client, loaf: Dialogue, query: str, numbers: list[int]) -> None:
    told = rea.get(address(loaf, "api-script-turns") + f"?{query}").json()
    assert [row["number"] for row in told["results"]] == numbers


def test_a_session_that_is_no_number_is_refused(rea: Client, loaf: Dialogue) -> None:
    answer = rea.get(address(loaf, "api-script-turns") + "?session=s1")
    assert (answer.status_code, "session" in str(answer.json())) == (400, True)


def test_a_program_changes_a_date_and_is_told_what_follows(rea: Client, loaf: Dialogue) -> None:
    route = address(loaf, "api-script-session", 3)
    assert rea.get(route).json()["versions"] == []
    change = {"date": "1999", "kind": "distance", "reason": "two days after s2", "seen": 1}
    told = rea.patch(route, change, content_type="application/json").json()
    assert (told["date"], told["warnings"][0][:19]) == ("1999", "Dates run backwards")
    assert [(row["name"], row["version"]) for row in told["stale"]] == [("first", 1)]
    assert [(row["version"], row["kind"], row["by"]) for row in told["versions"]] == [
        (2, "distance", "rea"),
        (1, "imported", ""),
    ]
    refused = rea.patch(route, {"date": "never", "kind": "talk"}, content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (400, "date")
    lost = rea.patch(address(loaf, "api-script-session", 9), change, content_type="application/json")
    assert lost.status_code == 404
    assert (SessionVersion.objects.count(), Event.objects.filter(verb="change session").count()) == (2, 1)


def test_a_program_changes_who_is_there_and_where(rea: Client, loaf: Dialogue) -> None:
    def change(number: int, **told: Any) -> Any:
        told |= {"kind": "other", "reason": "seen"}
        return rea.patch(address(loaf, "api-script-session", number), told, content_type="application/json")

    changed = change(3, date="1999", present=["Ana"]).json()
    assert changed["warnings"][0].startswith("Dates run backwards")
    assert changed["stale"][0]["stale"].startswith("Session s3")
    assert [(row["version"], row["date"], row["kind"], row["reason"]) for row in changed["versions"]] == [
        (2, "1999", "other", "seen"),
        (1, "1994-11-05", "imported", ""),
    ]
    assert change(1, place="the shop").status_code == 200
    rows = rea.get(address(loaf, "api-script")).json()["results"]
    assert (rows[2]["date"], rows[2]["heard"], rows[0]["place"]) == ("1999", True, "the shop")


def test_a_script_is_one_record_again(loaf: Dialogue) -> None:
    record = record_of(loaf)
    assert (len(record.turns), len(record.facts), record.questions[0].id) == (10, 2, "q1")
    assert record.script is not None
    assert record.script.main == "ana"


def test_names_are_made_by_a_seed_as_versions_that_stay(loaf: Dialogue) -> None:
    first = make_names(dialogue=loaf, kind="anonymised", seed=1, by=None, genders={"Ana": "female"})
    second = make_names(dialogue=loaf, kind="anonymised", seed=2, by=None, aliases={"ana": ["Annie"]})
    assert [(one.version, one.pairs) for one in maps_of(loaf)] == [(2, second.pairs), (1, first.pairs)]
    assert {old for old, _ in second.pairs} == {"Ana", "Annie", "Ben", "Cara"}
    assert "Ana" not in renamed("Ana, I bought red boots.", first)


def test_names_of_the_cast_are_swapped(loaf: Dialogue) -> None:
    made = make_names(dialogue=loaf, kind="swapped", seed=1, by=None)
    assert {old for old, _ in made.pairs} == {new for _, new in made.pairs} == {"Ana", "Ben", "Cara"}
    two = make_names(dialogue=loaf, kind="swapped", seed=1, by=None, cast=["Ana", "ben"])
    assert set(two.pairs) == {("Ana", "Ben"), ("Ben", "Ana")}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"kind": "original", "pairs": [("Ana", "Yvette")]}, "kind"),
        ({"kind": "anonymised", "pairs": []}, "pairs"),
        ({"kind": "anonymised", "pairs": [("Ana", "Anna Lee")]}, "pairs"),
        ({"kind": "swapped", "pairs": [("Ana", "Ben")]}, "pairs"),
        ({"kind": "anonymised", "pairs": [("Ana", "x" * 201)]}, "pairs"),
    ],
)
def test_names_that_do_not_fit_are_refused(loaf: Dialogue, told: dict[str, Any], field: str) -> None:
    with pytest.raises(ScriptRefused) as caught:
        save_names(dialogue=loaf, by=None, **told)
    assert (caught.value.field, maps_of(loaf)) == (field, ())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"kind": "anonymised", "genders": {"Zoe": "female"}}, "genders"),
        ({"kind": "anonymised", "genders": {"Ana": "queen"}}, "genders"),
        ({"kind": "anonymised", "aliases": {"Zoe": ["Zo"]}}, "aliases"),
        ({"kind": "swapped", "cast": ["Ana", "Zoe"]}, "cast"),
        ({"kind": "swapped", "cast": ["Ana"]}, "cast"),
    ],
)
def test_names_that_cannot_be_made_are_refused(loaf: Dialogue, told: dict[str, Any], field: str) -> None:
    with pytest.raises(ScriptRefused) as caught:
        make_names(dialogue=loaf, by=None, seed=0, **told)
    assert (caught.value.field, maps_of(loaf)) == (field, ())


def test_the_page_makes_names_and_keeps_what_is_written(rea: Client, loaf: Dialogue) -> None:
    page = address(loaf, "name-maps")
    assert "No other names yet" in rea.get(page).content.decode()
    told = {"do": "make", "kind": "anonymised", "seed": "3", "people": "Ana: female; Annie\nBen: male"}
    made = rea.post(page, told, follow=True).content.decode()
    assert "Version 1 of the anonymised names is kept." in made
    assert "Annie" in made
    write = {
        "do": "write",
        "kind": "anonymised",
        "pairs": "Ana -> Yvette\nBen -> Quentin",
        "kept": "Ben Nevis",
    }
    assert "Quentin" in rea.post(page, write, follow=True).content.decode()
    again = rea.post(page, write)
    assert (again.status_code, "Nothing would change" in again.content.decode()) == (422, True)
    for bad in ({"pairs": "Ana Yvette"}, {"pairs": "Ana -> Mary Ann"}, {"pairs": ""}):
        assert rea.post(page, write | bad).status_code == 422
    for people in ("Ana female", "Zoe: female", "Ana: queen"):
        assert rea.post(page, told | {"people": people}).status_code == 422
    assert [one.version for one in maps_of(Dialogue.objects.get(pk=loaf.pk))] == [2, 1]
    assert rea.get(page + "?names=swapped:1").status_code == 404


def test_programs_make_and_write_names(rea: Client, loaf: Dialogue) -> None:
    route = address(loaf, "api-script-names")

    def post(**told: Any) -> Any:
        return rea.post(route, told, content_type="application/json")

    assert post(kind="swapped", seed=1).json()["names"] == "swapped:1"
    written = post(kind="anonymised", pairs=[["Ana", "Yvette"]], kept=["Ana Street"])
    assert (written.status_code, written.json()["kept"]) == (201, ["Ana Street"])
    assert post(kind="anonymised", pairs=[["Ana", "A B"]]).json()["field"] == "pairs"
    assert post(kind="anonymised", pairs=[["Ana"]]).status_code == 400
    assert [row["names"] for row in rea.get(route).json()] == ["anonymised:1", "swapped:1"]
    made = post(kind="anonymised", seed=4, genders={"Ana": "female"}, kept=["Ana Bar"]).json()
    assert (made["names"], "Ana Bar" in made["kept"]) == ("anonymised:2", True)
    assert post(kind="swapped", pairs=[["Ana", "Cara"], ["Cara", "Ana"]]).json()["names"] == "swapped:2"
    versions = {row["names"]: row["version"] for row in rea.get(route).json()}
    assert versions == {"anonymised:1": 1, "anonymised:2": 2, "swapped:1": 1, "swapped:2": 2}
    assert post(kind="swapped", genders="x").status_code == 400


def test_a_dialogue_that_is_a_script_says_where_its_turns_are(rea: Client, tmp_path: Path) -> None:
    answers = {
        "id": "m 1",
        "system": "m",
        "mode": "static",
        "turns": [
            {"speaker": "cara", "text": "What did I buy?", "at": 7, "given": True, "session": "s4"},
            {"speaker": "ana", "text": "(C)", "at": 7, "session": "s4"},
        ],
    }
    loaf = bring(tmp_path, script(continuations=[answers])).dialogues.get()
    parts = rea.get(reverse("api-dialogue", args=[loaf.pk])).json()["continuations"]
    assert [(part["id"], part["n_turns"], part["turns"]) for part in parts] == [
        ("self", 10, []),
        ("m 1", 2, []),
    ]
    own, other = (rea.get(part["turns_at"]).json() for part in parts)
    assert (own["count"], own["results"][0]["text"]) == (10, script()["turns"][0]["text"])
    assert [(turn["number"], turn["text"], turn["at"], turn["given"]) for turn in other["results"]] == [
        (1, "What did I buy?", 7, True),
        (2, "(C)", 7, False),
    ]
    assert rea.get(parts[1]["turns_at"] + "&session=1").json()["count"] == 0
    assert rea.get(parts[1]["turns_at"] + "&session=4&speaker=Ana").json()["count"] == 1


def test_another_dialogue_has_its_turns_at_once(rea: Client, tmp_path: Path) -> None:
    plain = {"id": "talk", "turns": [{"speaker": "ana", "text": "Hm."}]}
    talk = bring(tmp_path, plain, corpus="talks").dialogues.get()
    (part,) = rea.get(reverse("api-dialogue", args=[talk.pk])).json()["continuations"]
    assert (part["n_turns"], part["turns_at"], part["turns"][0]["text"]) == (1, None, "Hm.")
