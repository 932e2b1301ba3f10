"""Comparison of continuations on the page, as a file and through the API: same figures, escaped texts."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Continuation, Dialogue
from calibration.comparisons.side_by_side import NOT_SCORED, ComparisonQuery, as_json, compare, signed
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.compared_world import rater, rollout, score, static
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
HOSTILE = "<b>=HYPERLINK(1)</b>\x1b[31m"


@pytest.fixture
def dialogue() -> Dialogue:
    made = factories.dialogue(factories.corpus("c"), "d", turns=4)
    by = rater("m_sns_min")
    score(by, static(made, "x", (1, 2)), 0.3, turn=1, nearest=1)
    score(by, static(made, "=y", (2,), system=HOSTILE), 0.5)
    score(by, static(made, "people", (2,), system="human"), None)
    return made


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user(researcher=True))
    return client


def test_the_page_shows_values_differences_causes_and_reasons(researcher: Client, dialogue: Dialogue) -> None:
    page = researcher.get(reverse("compare", args=[dialogue.pk]), {"against": "x"}).content.decode()
    for told in ("0.300", "0.500", "+0.200", "nearest to turn 2", "there is no context", "x after 2"):
        assert told in page
    assert "People’s own is one of several valid continuations, not the right answer" in page
    assert HOSTILE not in page
    assert "&lt;b&gt;=HYPERLINK(1)" in page
    assert re.search(r'href="#turn-2"\s+aria-label="go to turn 2"', page)


def test_without_people_nothing_is_said_of_them(researcher: Client, dialogue: Dialogue) -> None:
    page = researcher.get(reverse("compare", args=[dialogue.pk]), {"continuation": ["x", "=y"]})
    assert "People’s own" not in page.content.decode()


def test_without_labels_the_page_says_what_to_do(researcher: Client) -> None:
    made = factories.dialogue(factories.corpus(), "d", turns=2)
    rollout(made, "a")
    alone = researcher.get(reverse("compare", args=[made.pk]))
    assert alone.status_code == 200
    assert "No two continuations of this dialogue continue the same turns" in alone.content.decode()
    rollout(made, "b")
    page = researcher.get(reverse("compare", args=[made.pk])).content.decode()
    assert "No metric has scored these continuations" in page
    assert reverse("new-run") in page
    assert "compare.csv" not in page


def test_what_was_not_scored_is_named_with_what_to_do(researcher: Client, dialogue: Dialogue) -> None:
    page = researcher.get(reverse("compare", args=[dialogue.pk]), {"continuation": ["x", "self"]})
    assert "that takes in dialogues’ own turns" in page.content.decode()


@pytest.mark.exhaustive
def test_what_cannot_be_compared_is_a_page_that_says_why(researcher: Client, dialogue: Dialogue) -> None:
    for query in ({"at": "3"}, {"continuation": "zz"}, {"against": "zz"}, {"metric": "lnr"}):
        page = researcher.get(reverse("compare", args=[dialogue.pk]), query)
        assert page.status_code == 422, query
        assert "Show the usual comparison" in page.content.decode()
        told = researcher.get(reverse("compare-file", args=[dialogue.pk, "csv"]), query)
        assert (told.status_code, told.content.count(b"\n")) == (422, 1)
    for at in ("x", "-1", "9" * 30):
        assert researcher.get(reverse("compare", args=[dialogue.pk]), {"at": at}).status_code == 200
    assert researcher.get(reverse("compare-file", args=[dialogue.pk, "pdf"])).status_code == 404
    assert researcher.get(reverse("compare", args=[10**6])).status_code == 404


def test_csv_has_guarded_cells_and_the_same_figures(researcher: Client, dialogue: Dialogue) -> None:
    address = reverse("compare-file", args=[dialogue.pk, "csv"])
    text = researcher.get(address, {"against": "x"}).content.decode()
    rows = {row["continuation"]: row for row in csv.DictReader(io.StringIO(text))}
    assert list(rows) == ["'=y", "x", "people"]
    assert (float(rows["'=y"]["difference"]), rows["x"]["difference"]) == (pytest.approx(0.2), "")
    assert (rows["people"]["value"], rows["people"]["missing"]) == ("", "there is no context")
    assert (rows["x"]["turn"], rows["x"]["against"], rows["x"]["causes"]) == ("1", "x", "nearest to turn 2")


def test_the_api_pages_the_metrics_and_gives_what_the_file_holds(
    researcher: Client, dialogue: Dialogue
) -> None:
    for made in dialogue.continuations.exclude(key="self"):
        score(rater("lnr"), made, 0.5, turn=1 if made.key == "x" else 0)
    address = reverse("api-compare", args=[dialogue.pk])
    told = researcher.get(address, {"limit": 1, "continuation": ["x", "people"]}).json()
    assert (told["count"], len(told["results"]), told["against"]) == (2, 1, "x")
    assert "limit=1" in told["next"]
    assert [column["human"] for column in told["columns"]] == [False, True]
    whole = researcher.get(address).json()
    file = researcher.get(reverse("compare-file", args=[dialogue.pk, "json"])).json()
    assert whole["results"] == file["rows"]
    assert {key: whole[key] for key in file if key != "rows"} == {
        key: value for key, value in file.items() if key != "rows"
    }
    assert file == json.loads(json.dumps(as_json(compare(dialogue, ComparisonQuery()))))


def test_the_api_takes_differences_from_one_and_says_why_a_value_is_missing(
    researcher: Client, dialogue: Dialogue
) -> None:
    address = reverse("api-compare", args=[dialogue.pk])

    def cells(**query: object) -> dict[str, dict[str, Any]]:
        (row,) = researcher.get(address, query).json()["results"]
        return {cell["column"]: cell for cell in row["cells"]}

    found = cells(against="x")
    assert (found["=y"]["value"], found["=y"]["difference"]) == (0.5, pytest.approx(0.2))
    assert (found["people"]["value"], found["people"]["missing"]) == (None, "there is no context")
    assert cells(continuation=["x", "self"])["self"]["missing"] == NOT_SCORED


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"at": "x"}, "integer"),
        ({"at": 3}, "no two continuations of d share the context"),
        ({"continuation": "zz"}, "zz shares no context"),
        ({"against": "zz"}, "zz is not among the continuations compared"),
        ({"limit": 0}, "limit"),
    ],
)
def test_the_api_refuses_with_a_line(
    researcher: Client, dialogue: Dialogue, query: dict[str, object], told: str
) -> None:
    refused = researcher.get(reverse("api-compare", args=[dialogue.pk]), query)
    assert refused.status_code == 400
    assert told in refused.json()["detail"]
    assert "\n" not in refused.json()["detail"]


def test_it_is_led_to_from_the_dialogue_and_from_a_turn_s_values(
    researcher: Client, dialogue: Dialogue
) -> None:
    address = reverse("compare", args=[dialogue.pk])
    assert address in researcher.get(reverse("dialogue", args=[dialogue.pk])).content.decode()
    made = dialogue.continuations.get(key="x")
    values = researcher.get(reverse("profile-continuation", args=[made.pk])).content.decode()
    assert f"{address}?at=2&amp;continuation=x" in values
    alone = factories.dialogue(dialogue.corpus, "alone", turns=2)
    assert "/compare/" not in researcher.get(reverse("dialogue", args=[alone.pk])).content.decode()


def test_it_is_led_to_from_an_item_on_which_raters_disagree(researcher: Client) -> None:
    built: World = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1, 2, 3, 1])
    built.say("ben", "quality", [1, 3, 2, 1])
    Continuation.objects.update(key="x")
    address = reverse("report-items", args=[studies.automatic(corpus=built.corpus).pk])
    query = {"question": "quality@1/quality", "a": "ann", "b": "ben"}
    assert "/compare/" not in researcher.get(address, query).content.decode()
    for made in built.corpus.dialogues.all():
        rollout(made, "another")
    assert "/compare/?continuation=x" in researcher.get(address, query).content.decode()


def test_differences_have_signs_and_nothing_has_none() -> None:
    assert [signed(value) for value in (0.2, -0.2, 0.0, 0.0001, -0.0001)] == [
        "+0.200",
        "−0.200",
        "0.000",
        "0.000",
        "0.000",
    ]
