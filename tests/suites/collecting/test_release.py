"""The release check: one objection of four, or a missing review, leaves a dialogue out of every selection."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.test import Client

from annotation.campaigns import campaign_actions
from annotation.corpora import exclusion, splits
from annotation.corpora.exclusion import LeftOutDialogues
from annotation.errors import CampaignRefused, ExclusionRefused
from annotation.models import Campaign, Task
from calibration.errors import DefinitionError
from calibration.exports.labels import manifest
from calibration.gold.derivation import make
from calibration.models import Export
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from config.models import Event
from jobs.models import Call, Run
from judges.errors import JudgeError
from judges.runs import run_actions
from judges.runs.lookup import selection_of
from judges.runs.plans import Judge
from judges.runs.run_sets import start_run_set
from judges.runs.selection import Selection, continuations
from suites.continuation import tuning
from tests import factories
from tests.suites.collecting.release_world import (
    EXCLUDE,
    LEFT_OUT,
    PASSED,
    World,
    corpus_to_release,
    rate,
    world,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def checked() -> World:
    return world()


def left_out_of(checked: World) -> LeftOutDialogues:
    result = exclusion.left_out(checked.corpus, EXCLUDE)
    assert result is not None
    return result


def test_one_objection_of_four_and_a_missing_review_leave_a_dialogue_out(checked: World) -> None:
    result = left_out_of(checked)
    rows = {row.dialogue: (row.state, row.objections, row.reviews, row.needed) for row in result.rows}
    assert rows == {
        "d0": ("passed", 0, 4, 4),
        "d1": ("passed", 0, 4, 4),
        "d2": ("objected", 1, 4, 4),
        "d3": ("not_checked", 0, 3, 4),
        "d4": ("not_checked", 0, 0, 4),
    }
    assert [(row["dialogue"], row["reason"]) for row in result.as_json()["left_out"]] == [
        ("d2", "1 person objects"),
        ("d3", "3 of 4 have answered"),
        ("d4", "0 of 4 have answered"),
    ]
    assert result.as_json()["sentence"].endswith("1 objected and 2 not checked of 5 dialogues.")


def test_a_campaign_asks_about_what_passed_and_logs_what_it_left_out(checked: World) -> None:
    campaign = factories.campaign(checked.corpus, exclude=EXCLUDE, by=checked.researcher)
    tasks = Task.objects.filter(campaign=campaign)
    assert sorted(set(tasks.values_list("continuation__dialogue__key", flat=True))) == PASSED


def test_a_campaign_that_makes_no_number_has_four_reviewers() -> None:
    corpus = corpus_to_release()
    by = factories.user(researcher=True)
    assert campaign_actions.create(by=by, name="check", corpus=corpus, scheme="ethics").raters_per_item == 4
    made = campaign_actions.create(by=by, name="turns", corpus=corpus, scheme="comperdial_turn")
    assert made.raters_per_item == Campaign._meta.get_field("raters_per_item").default


def test_an_exclusion_by_a_question_that_nobody_asks_is_refused(checked: World) -> None:
    with pytest.raises(ExclusionRefused, match="has the key 'rudeness'"):
        exclusion.check(checked.corpus, "rudeness>=1")
    with pytest.raises(CampaignRefused, match="has the key 'rudeness'"):
        factories.campaign(checked.corpus, exclude="rudeness>=1")
    with pytest.raises(ExclusionRefused, match="is not an exclusion"):
        exclusion.check(checked.corpus, "objection")


def test_the_selection_holds_dialogues_of_every_other_corpus(checked: World) -> None:
    other = corpus_to_release("others")
    assert exclusion.excluded_ids(other, EXCLUDE) == list(
        other.dialogues.order_by("key").values_list("pk", flat=True)
    )
    campaign = factories.campaign(checked.corpus, exclude=EXCLUDE)
    assert not campaign.tasks.filter(continuation__dialogue__corpus=other).exists()


def started(checked: World) -> Run:
    selection = Selection(checked.corpus, exclude=EXCLUDE)
    return run_actions.start(by=None, plan=Judge("rules_baseline").plan(), selection=selection)


def dialogues_of(run: Run) -> list[str]:
    keys = run.calls.values_list("continuation__dialogue__key", flat=True)
    return sorted(set(keys))


def test_a_run_covers_what_passed_and_is_another_run_once_that_changes(checked: World) -> None:
    run = started(checked)
    assert dialogues_of(run) == PASSED
    assert [row["dialogue"] for row in run.scope["excluded"]["left_out"]] == LEFT_OUT
    assert started(checked) == run
    checked.review(checked.reviewers[3])
    later = started(checked)
    assert later != run
    assert dialogues_of(later) == [*PASSED, "d3"], "it takes over the calls that are not done"
    assert Call.objects.filter(rater=run.rater).count() == 3


def test_metrics_and_run_sets_cover_what_passed(checked: World) -> None:
    selection = selection_of(corpus="chats", exclude=" objection >= 1 ")
    run_set = start_run_set(by=checked.researcher, metrics=["dnr", "ir"], selection=selection)
    assert [dialogues_of(run) for run in run_set.runs] == [PASSED, PASSED]
    with pytest.raises(JudgeError, match="has the key 'rudeness'"):
        selection_of(corpus="chats", exclude="rudeness>=1")


def test_a_draft_campaign_lends_its_exclusion_to_judges(checked: World) -> None:
    draft = factories.campaign(checked.corpus, exclude=EXCLUDE, opened=False)
    rows = continuations(Selection(checked.corpus, draft))
    assert sorted(rows.values_list("dialogue__key", flat=True)) == PASSED


def test_a_study_reads_what_passed_and_has_another_hash_once_that_changes(checked: World) -> None:
    rate(checked)
    definition = {"subset": {"exclude": EXCLUDE}, "resamples": 20, "questions": ["comperdial_turn@1/overall"]}
    study = studies.create(name="passed", corpus=checked.corpus, definition=definition, by=None)
    report = studies.compute(study=study, part="all", by=None)
    result = snapshot_of(report)
    assert result.counts.items == len(PASSED)
    assert result.excluded is not None
    assert [row["dialogue"] for row in result.excluded["left_out"]] == LEFT_OUT
    assert "left out where objection is at least 1" in result.definition.subset.in_words()
    assert not studies.is_stale(report)
    checked.review(checked.reviewers[3])
    assert studies.is_stale(report)
    later = studies.compute(study=study, part="all", by=None)
    assert snapshot_of(later).counts.items == 3
    assert later.inputs_hash != report.inputs_hash


def test_a_study_by_a_question_that_nobody_asks_is_refused(checked: World) -> None:
    rate(checked)
    with pytest.raises(DefinitionError, match="has the key 'rudeness'"):
        studies.create(
            name="no", corpus=checked.corpus, definition={"subset": {"exclude": "rudeness>=1"}}, by=None
        )


def test_counts_are_of_what_passed(checked: World) -> None:
    rate(checked, scheme="comperdial_dialogue", kind="dialogue")
    query: Any = {"exclude": EXCLUDE, "rater": "judge-1", "resamples": 20, "by": "system"}
    table = signed_in(checked).get(f"/api/v1/corpora/{checked.corpus.pk}/counts/", query).json()
    assert [row["n_continuations"] for row in table["rows"]] == [len(PASSED)]
    assert [row["dialogue"] for row in table["excluded"]["left_out"]] == LEFT_OUT
    assert table["excluded"]["sentence"] in table["notes"]
    page = signed_in(checked).get(f"/corpora/{checked.corpus.pk}/counts/", query)
    del query["exclude"]
    everything = signed_in(checked).get(f"/api/v1/corpora/{checked.corpus.pk}/counts/", query).json()
    assert [row["n_continuations"] for row in everything["rows"]] == [5]
    assert everything["excluded"] is None
    assert "3 of 4 have answered" in page.content.decode()


def signed_in(checked: World) -> Client:
    client = Client()
    client.force_login(checked.researcher)
    return client


def download(checked: World, path: str, **query: Any) -> bytes:
    answer: Any = signed_in(checked).get(f"/{path}", {"exclude": EXCLUDE, **query})
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content)


def check_manifest() -> None:
    facts = manifest(Export.objects.latest("pk"))["excluded"]
    assert facts["exclude"] == EXCLUDE
    assert [(row["dialogue"], row["state"]) for row in facts["left_out"]] == [
        ("d2", "objected"),
        ("d3", "not_checked"),
        ("d4", "not_checked"),
    ]


@pytest.mark.parametrize("api", ["", "api/v1/"])
def test_a_file_of_labels_has_what_passed_and_its_manifest_the_rest(checked: World, api: str) -> None:
    rate(checked)
    lines = download(checked, f"{api}exports/labels.jsonl", corpus=checked.corpus.pk).decode().splitlines()
    assert sorted({json.loads(line)["dialogue"] for line in lines}) == PASSED
    check_manifest()
    wide = download(checked, f"{api}exports/labels.csv", corpus=checked.corpus.pk, shape="wide").decode()
    assert sorted({row["dialogue"] for row in csv.DictReader(io.StringIO(wide))}) == PASSED


def test_a_gold_file_has_what_passed(checked: World) -> None:
    rate(checked)
    version = factories.scheme_version()
    gold: Any = make(
        corpus=checked.corpus,
        campaign=None,
        scheme_version=version,
        rule="mean",
        options={},
        raters=(),
        by=None,
    )
    lines = download(checked, f"api/v1/gold/{gold.pk}/labels.jsonl").decode().splitlines()
    assert sorted({json.loads(line)["dialogue"] for line in lines}) == PASSED
    check_manifest()


def test_a_data_set_of_the_corpus_has_what_passed(checked: World) -> None:
    rate(checked)
    content = download(checked, "exports/packages/hugging-face.zip", corpus=checked.corpus.pk)
    with zipfile.ZipFile(io.BytesIO(content)) as bundle:
        for name in ("dialogues", "labels"):
            table = pq.read_table(io.BytesIO(bundle.read(f"data/{name}/full.parquet")))
            assert sorted(set(table.column("dialogue").to_pylist())) == PASSED
        facts = json.loads(bundle.read("manifest.json"))["excluded"]
    assert [row["dialogue"] for row in facts["left_out"]] == LEFT_OUT


def test_examples_for_fine_tuning_are_of_what_passed(checked: World) -> None:
    selection, part = tuning.taken_for(corpus=checked.corpus, exclude=EXCLUDE, by=None)
    examples = tuning.Tuning(checked.corpus, selection, part, tuning.settings_of({}))
    assert list(examples.dialogues().values_list("key", flat=True)) == PASSED
    assert [row["dialogue"] for row in examples.facts()["excluded"]["left_out"]] == LEFT_OUT


def test_a_transcript_of_a_dialogue_left_out_is_refused(checked: World) -> None:
    rate(checked)
    pk = checked.corpus.dialogues.get(key="d2").continuations.get(key="x").pk
    query: Any = {"corpus": checked.corpus.pk, "continuation": pk, "exclude": EXCLUDE}
    answer = signed_in(checked).get("/api/v1/exports/transcripts.csv", query)
    assert answer.status_code == 400
    assert "d2 is left out by objection>=1" in answer.json()["detail"]


def test_an_export_by_an_unreadable_answer_is_refused(checked: World) -> None:
    query: Any = {"corpus": checked.corpus.pk, "exclude": "objection ~ 1"}
    answer = signed_in(checked).get("/api/v1/exports/labels.csv", query)
    assert answer.status_code == 400
    assert "is not an exclusion" in answer.json()["fields"]["exclude"][0]


def test_the_audit_log_says_what_a_campaign_and_a_download_left_out(checked: World) -> None:
    factories.campaign(checked.corpus, exclude=EXCLUDE, by=checked.researcher)
    opened = Event.objects.filter(verb="campaign: open").latest("pk")
    assert [row["dialogue"] for row in opened.detail["left_out"]["left_out"]] == LEFT_OUT
    rate(checked)
    download(checked, "exports/labels.csv", corpus=checked.corpus.pk)
    assert Event.objects.filter(verb="export").latest("pk").detail["exclude"] == EXCLUDE


def test_the_unopened_test_part_is_left_out_and_not_shown(checked: World) -> None:
    splits.draw(corpus=checked.corpus, by=None, test_share=0.4)
    split = splits.lock_of(checked.corpus)
    assert split is not None
    hidden = splits.clusters(split=split, part="test")
    result = left_out_of(checked)
    facts = result.as_json()
    assert facts["hidden"] == len(hidden)
    assert not hidden & {row["dialogue"] for row in facts["left_out"]}
    assert len(result.ids) == len(LEFT_OUT)
    splits.open_test(split=split, by=None, purpose="release")
    assert [row.dialogue for row in left_out_of(checked).visible] == LEFT_OUT
