"""The page, the file and the API of a release check, and what its reviewers see."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Dialogue, Turn
from annotation.work import screens
from annotation.work import task_actions as labelling
from calibration.exports import downloads
from calibration.models import Export, Study
from jobs.models import Job
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.browser.working import work_off
from tests.suites.collecting.release_world import EXCLUDE, WHY, World, corpus_to_release, rate, world

pytestmark = pytest.mark.django_db
TELLING = "Call me, =1+1, at +49 30 1234567 or mail ana@example.org, and ask for Zoe Miller."


def tell(corpus_name: str = "chats", text: str = TELLING) -> None:
    """Write personal data into the first turn of d0, which annotators do not rate."""
    Turn.objects.filter(
        continuation__dialogue__corpus__name=corpus_name,
        continuation__dialogue__key="d0",
        continuation__key="self",
        position=0,
    ).update(text=text)


@pytest.fixture
def checked() -> World:
    tell_world = world()
    tell()
    return tell_world


def client_of(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_the_page_shows_states_reasons_and_flags_escaped(checked: World) -> None:
    page = client_of(checked.researcher).get(reverse("release-check", args=["chats"])).content.decode()
    assert "2 passed · 1 objected · 2 not checked" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert(1)" not in page
    for text in ("ana@example.org", "+49 30 1234567", "Zoe Miller", "3 of 4", "0 of 4"):
        assert text in page
    assert f"exclude={EXCLUDE.replace('>', '%3E').replace('=', '%3D')}" in page


def test_the_page_is_narrowed_to_a_state(checked: World) -> None:
    address = reverse("release-check", args=["chats"])
    page = client_of(checked.researcher).get(address, {"state": "objected"}).content.decode()
    assert "1 of 4" not in page
    assert ">d2</a>" in page
    assert ">d0</a>" not in page


def test_the_file_has_a_row_for_each_dialogue_and_its_cells_are_guarded(checked: World) -> None:
    answer: Any = client_of(checked.researcher).get(reverse("release-file", args=["chats"]))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["dialogue"], row["state"]) for row in rows] == [
        ("d0", "passed"),
        ("d1", "passed"),
        ("d2", "objected"),
        ("d3", "not_checked"),
        ("d4", "not_checked"),
    ]
    assert WHY in rows[2]["reasons"]
    assert "self/0 e-mail address: ana@example.org" in rows[0]["flags"]


@pytest.mark.django_db(transaction=True)
def test_the_file_of_a_large_corpus_is_written_by_a_worker(
    checked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, address = client_of(checked.researcher), reverse("release-file", args=["chats"])
    at_once: Any = client.get(address, {"state": "objected"})
    content = b"".join(at_once.streaming_content)
    monkeypatch.setattr(downloads, "AT_ONCE", 10)
    answer = client.get(address, {"state": "objected"})
    assert answer["Location"] == f"{reverse('exports')}?corpus={checked.corpus.pk}"
    work_off("jobs")
    job = Job.objects.get(kind="export")
    written: Any = client.get(reverse("export-file", args=[job.pk]))
    assert b"".join(written.streaming_content) == content
    assert job.result["rows"] == 1
    assert Export.objects.filter(what="release", corpus=checked.corpus).count() == 2


def test_the_api_lists_states_reasons_and_flags(checked: World) -> None:
    client = client_of(checked.researcher)
    rows = client.get("/api/v1/corpora/chats/release/").json()["results"]
    assert [row["state"] for row in rows] == ["passed", "passed", "objected", "not_checked", "not_checked"]
    assert [row["reason"] for row in rows[2]["reasons"]] == [WHY]
    assert {(flag["kind"], flag["text"], flag["turn_number"]) for flag in rows[0]["flags"]} == {
        ("phone", "+49 30 1234567", 1),
        ("email", "ana@example.org", 1),
        ("name", "Zoe Miller", 1),
    }
    objected = client.get("/api/v1/corpora/chats/release/", {"state": "objected"}).json()["results"]
    assert [row["dialogue"] for row in objected] == ["d2"]
    assert client.get("/api/v1/corpora/chats/release/", {"state": "gone"}).status_code == 400


def test_reviewers_are_called_by_their_pseudonyms(checked: World) -> None:
    rows = client_of(checked.researcher).get("/api/v1/corpora/chats/release/").json()["results"]
    (reason,) = rows[2]["reasons"]
    assert reason["rater"] == factories.called(checked.reviewers[2], checked.campaign)
    assert "cid" not in reason["rater"]


def test_answers_about_the_unopened_test_part_are_in_no_byte(checked: World) -> None:
    for seed in range(20):
        splits.draw(corpus=checked.corpus, by=None, test_share=0.4, seed=seed)
        split = splits.lock_of(checked.corpus)
        assert split is not None
        if "d2" in splits.clusters(split=split, part="test"):
            break
    client = client_of(checked.researcher)
    for address in (reverse("release-check", args=["chats"]), "/api/v1/corpora/chats/release/"):
        answer = client.get(address)
        assert "where she lives" not in answer.content.decode()
    assert "In the unopened test part" not in client.get(address).content.decode()
    rows = {row["dialogue"]: row for row in client.get("/api/v1/corpora/chats/release/").json()["results"]}
    assert (rows["d2"]["state"], rows["d2"]["objections"]) == ("hidden", None)
    address = "/api/v1/corpora/chats/left-out/"
    left_out = client.get(address, {"exclude": EXCLUDE}).json()
    assert "d2" not in [row["dialogue"] for row in left_out["left_out"]]
    assert left_out["hidden"] == 2


def test_left_out_dialogues_have_a_page_and_a_route(checked: World) -> None:
    client = client_of(checked.researcher)
    page = client.get(reverse("left-out", args=["chats"]), {"exclude": EXCLUDE}).content.decode()
    assert "1 person objects" in page
    assert "3 of 4 have answered" in page
    refused = client.get(reverse("left-out", args=["chats"]), {"exclude": "rudeness>=1"}).content.decode()
    assert "Not read: no question" in refused
    rows = client.get("/api/v1/corpora/chats/left-out/", {"exclude": EXCLUDE}).json()
    assert (rows["objected"], rows["not_checked"], rows["dialogues"]) == (1, 2, 5)
    assert client.get("/api/v1/corpora/chats/left-out/").status_code == 400
    refusal = client.get("/api/v1/corpora/chats/left-out/", {"exclude": "rudeness>=1"})
    assert (refusal.status_code, list(refusal.json()["fields"])) == (400, ["exclude"])


@pytest.mark.parametrize(
    "address",
    [
        "/corpora/chats/release/",
        "/corpora/chats/release/file/",
        "/corpora/chats/left-out/",
        "/api/v1/corpora/chats/release/",
        "/api/v1/corpora/chats/left-out/?exclude=objection>=1",
    ],
)
def test_reviewers_see_nothing_of_the_check(checked: World, address: str) -> None:
    assert client_of(checked.reviewers[0]).get(address).status_code == 403
    assert Client().get(address).status_code in (302, 401, 403)


def test_a_campaign_page_and_a_report_page_list_what_is_left_out(checked: World) -> None:
    campaign = factories.campaign(checked.corpus, exclude=EXCLUDE, by=checked.researcher)
    client = client_of(checked.researcher)
    page = client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    assert "Dialogues left out" in page
    assert "1 person objects" in page
    facts = client.get(f"/api/v1/campaigns/{campaign.pk}/").json()
    assert facts["exclude"] == EXCLUDE
    assert [row["dialogue"] for row in facts["excluded"]["left_out"]] == ["d2", "d3", "d4"]
    query: Any = {"corpus": checked.corpus.pk, "exclude": EXCLUDE}
    exports = client.get(reverse("exports"), query)
    assert "3 of 4 have answered" in exports.content.decode()


def test_a_run_and_a_study_are_begun_on_their_pages_and_list_what_they_leave_out(checked: World) -> None:
    rate(checked)
    client = client_of(checked.researcher)
    run = run_actions.start(
        by=None,
        plan=Judge("rules_baseline").plan(),
        selection=Selection(checked.corpus, exclude=EXCLUDE),
    )
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "Dialogues left out by" in page
    assert "1 person objects" in page
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["scope"]["exclude"] == EXCLUDE
    fields = {
        "name": "passed",
        "resamples": 20,
        "exclude": EXCLUDE,
        "questions": ["comperdial_turn@1/overall"],
    }
    form = {"seed": 0, "confidence": 0.95, "interval": "percentile", "map": "rank", **fields}
    answer = client.post(f"{reverse('new-study')}?corpus={checked.corpus.pk}", form)
    study = Study.objects.get(name="passed")
    assert study.definition["subset"] == {"exclude": EXCLUDE}
    report = client.get(answer["Location"], follow=True).content.decode()
    assert "3 of 4 have answered" in report
    assert "left out where objection is at least 1" in report


def test_forms_offer_an_exclusion_once_there_are_answers(checked: World) -> None:
    client, corpus = client_of(checked.researcher), corpus_to_release("fresh")
    for name, query in (
        ("new-campaign", ""),
        ("new-run", ""),
        ("new-run", "&kind=metrics"),
        ("new-study", ""),
    ):
        address = f"{reverse(name)}?corpus={{}}{query}"
        assert (
            "Leave out dialogues by an answer"
            in client.get(address.format(checked.corpus.pk)).content.decode()
        ), name
        if name != "new-study":
            assert (
                "Leave out dialogues by an answer"
                not in client.get(address.format(corpus.pk)).content.decode()
            ), name


def test_a_new_release_check_begins_with_four_reviewers_an_item(checked: World) -> None:
    address = f"{reverse('new-campaign')}?corpus={checked.corpus.pk}&scheme=ethics"
    form = client_of(checked.researcher).get(address).context["form"]
    assert (form["scheme"].value(), form["raters_per_item"].value()) == ("ethics", 4)


def test_the_form_knows_the_usual_number_when_the_scheme_is_chosen_on_it(checked: World) -> None:
    address = f"{reverse('new-campaign')}?corpus={checked.corpus.pk}"
    page = client_of(checked.researcher).get(address)
    usual = page.context["form"].fields["raters_per_item"].widget.attrs["data-usual"]
    assert json.loads(usual)["ethics"] == 4


@pytest.mark.parametrize(("number", "raters"), [({}, 4), ({"raters_per_item": 2}, 2)])
def test_a_release_check_of_the_api_has_four_reviewers_unless_a_number_is_named(
    checked: World, number: dict[str, int], raters: int
) -> None:
    body = {"name": "second check", "corpus": "chats", "scheme": "ethics", **number}
    answer = client_of(checked.researcher).post("/api/v1/campaigns/", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert answer.json()["raters_per_item"] == raters


# What a reviewer sees of the scan.


def fresh_check() -> World:
    """A corpus whose check has not begun, with personal data in d0."""
    corpus, researcher, reviewer = corpus_to_release("new"), factories.user(researcher=True), factories.user()
    tell("new")
    campaign = factories.campaign(
        corpus, "ethics", annotators=[reviewer], raters=4, task_order="fixed", by=researcher
    )
    return World(corpus, campaign, [reviewer], researcher)


def test_reviewers_see_the_flags_of_the_turns_on_their_screen() -> None:
    built = fresh_check()
    screen = built.screen(built.reviewers[0])
    ((_, text),) = [row for row in screen.metadata if row[0] == "possible personal data"]
    assert text.splitlines() == [
        "turn 1: e-mail address “ana@example.org”",
        "turn 1: phone number “+49 30 1234567”",
        "turn 1: name “Zoe Miller”",
    ]
    page = client_of(built.reviewers[0]).get(reverse("work", args=[built.campaign.pk])).content.decode()
    assert "ana@example.org" in page
    assert "possible personal data" in page


def test_a_flag_repeats_only_what_the_screen_shows_with_names_of_systems_hidden() -> None:
    built = fresh_check()
    tell("new", "I talked with Secret-Model yesterday and with secret-model@example.org as well.")
    screen = built.screen(built.reviewers[0])
    assert "secret-model" not in str(screen).casefold()


def test_other_schemes_and_people_without_flags_see_no_notes(checked: World) -> None:
    campaign = factories.campaign(checked.corpus, "comperdial_dialogue", annotators=[checked.reviewers[0]])
    _seat, hold = labelling.start(by=checked.reviewers[0], campaign=campaign.pk)
    assert hold is not None
    screen = screens.load(hold.task, assignment=hold.assignment)
    assert screens.with_notes(screen, "comperdial_dialogue") == screen
    assert screens.with_notes(screen, "ethics").metadata != screen.metadata
    Dialogue.objects.filter(key="d0").update(
        participants=[{"id": "A", "name": "Zoe"}, {"id": "B", "name": "Miller"}]
    )
    tell(text="Ask for Zoe Miller.")
    screen = screens.load(hold.task, assignment=hold.assignment)
    assert screens.with_notes(screen, "ethics") == screen
