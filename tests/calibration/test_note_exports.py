"""Notes are exported as a separate file: pseudonymous, unchanged, without bookmarks."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Rater
from annotation.work import notes
from annotation.work import task_actions as labelling
from annotation.work.labels import name_of
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db
HOSTILE = "=HYPERLINK(1)\n汉字, „so“"


@pytest.fixture(scope="module")
def rei(module_database: None):
    return factories.user("rei", researcher=True)


@pytest.fixture(scope="module")
def campaign(rei):
    people = [factories.user(name) for name in ("ana", "ben")]
    corpus = factories.corpus()
    for number in range(2):
        talk = factories.dialogue(corpus, f"d{number}", turns=3)
        factories.continuation(talk, "x", system="model-x", turns=[{"text": "a"}, {"text": "b"}])
    made = factories.campaign(corpus, annotators=people, raters=2, by=rei, name="pilot", task_order="fixed")
    ana, ben = people
    _, hold = labelling.start(by=ana, campaign=made.pk)
    place = {"by": ana, "campaign": made.pk, "assignment": hold.assignment}
    notes.set_note(line=4, comment="first thought", **place)
    notes.set_note(line=4, comment=HOSTILE, **place)
    notes.set_note(line=1, flagged=True, bookmarked=True, **place)
    item = made.tasks.get(pk=hold.task).item
    labelling.submit(
        answers={str(item.pk): {"overall": 3}}, comment="the whole is odd", flagged=True, **place
    )
    _, other = labelling.start(by=ben, campaign=made.pk)
    notes.set_note(by=ben, campaign=made.pk, assignment=other.assignment, line=2, comment="no label yet")
    return made


def rows(client, campaign, form="csv"):
    answer = client.get(reverse("export-labels", args=[form]), {"campaign": campaign.pk, "notes": "1"})
    content = b"".join(answer.streaming_content)
    assert answer["Content-Disposition"] == f'attachment; filename="notes-campaign-{campaign.pk}.{form}"'
    if form == "csv":
        return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    if form == "parquet":
        return pq.read_table(io.BytesIO(content)).to_pylist()
    return [json.loads(line) for line in content.decode().splitlines()]


def test_each_note_is_a_row_with_its_place_under_a_pseudonym(client, rei, campaign):
    client.force_login(rei)
    found = rows(client, campaign, "jsonl")
    ana, ben = (
        name_of(Rater.objects.get(user__username=name), campaign.corpus_id) for name in ("ana", "ben")
    )
    told = [(row["about"], row["item"], row["turn_number"], row["rater"], row["comment"]) for row in found]
    assert told == [
        ("turn", "d0/self/0", 1, ana, ""),
        ("turn", "d0/self/1", 2, ben, "no label yet"),
        ("task", "d0/x/0", 4, ana, "the whole is odd"),
        ("turn", "d0/x/0", 4, ana, HOSTILE),
    ]
    assert [row["flagged"] for row in found] == [True, False, True, False]
    assert {
        (row["system"], row["campaign"], row["occasion"]) for row in found if row["continuation"] == "x"
    } == {("model-x", "pilot", "main")}
    text = json.dumps(found)
    assert "ana" not in text
    assert "bookmark" not in text


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_format_has_the_same_rows_and_no_cell_is_a_formula(client, rei, campaign, form):
    client.force_login(rei)
    found = rows(client, campaign, form)
    expected = HOSTILE if form == "parquet" else f"'{HOSTILE}"
    assert found[3]["comment"] == expected
    assert len(found) == 4


def test_api_and_command_give_the_same_bytes(client, rei, campaign, tmp_path):
    client.force_login(rei)
    answer = client.get(f"/api/v1/exports/labels.csv?campaign={campaign.pk}&notes=true")
    assert answer["Concord-Rows"] == "4"
    path = tmp_path / "notes.csv"
    call_command(
        "export_labels", "--campaign", "pilot", "--notes", "--output", str(path), stdout=io.StringIO()
    )
    assert path.read_bytes() == b"".join(answer.streaming_content)
    told = json.loads((tmp_path / "notes.csv.manifest.json").read_text())
    assert (told["rows"], told["what"]) == (4, "notes")
    assert Event.objects.filter(verb="export", detail__what="notes").exists()


def test_of_a_split_corpus_dev_alone_leaves_without_a_look(client, rei, campaign):
    split = splits.draw(corpus=campaign.corpus, seed=1, test_share=0.5, by=rei)
    test = splits.clusters(split=split, part="test")
    client.force_login(rei)
    found = rows(client, campaign, "jsonl")
    assert len(found) == (0 if "d0" in test else 4)
    told = {"campaign": campaign.pk, "notes": True, "part": "all", "purpose": "the release"}
    answer = client.post("/api/v1/exports/labels.jsonl", told, content_type="application/json")
    assert len(b"".join(answer.streaming_content).splitlines()) == 4


def test_the_page_offers_notes_where_there_are_some(client, rei, campaign):
    client.force_login(rei)
    page = client.get(f"{reverse('exports')}?campaign={campaign.pk}").content.decode()
    assert "4 comments and flags" in page
    other = factories.campaign(factories.corpus(), opened=False, by=rei)
    assert "Notes, CSV" not in client.get(f"{reverse('exports')}?campaign={other.pk}").content.decode()
