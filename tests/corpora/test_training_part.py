"""Training dialogues of a benchmark are excluded from every selection that does not name them."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import sampling
from annotation.campaigns.choice import selected_continuations
from annotation.corpora import splits
from annotation.corpora.splits import part_in, sizes
from annotation.errors import CampaignRefused, SplitRefused
from annotation.models import Continuation, Corpus, Dialogue, Item, Label, LabelCount, Rater, SchemeVersion
from annotation.work import labels as counts
from calibration.adjudication.cases import raters_scope
from calibration.comparisons.count_inputs import CountsQuery, failed_continuations
from calibration.comparisons.profile_cells import cells_of, metric_labels
from calibration.comparisons.profiles import Profile, ProfileQuery, profile_or_job
from calibration.errors import (
    CalibrationError,
    ExportRefused,
    GoldDifferenceRefused,
    GoldRuleError,
    StudyError,
)
from calibration.exports import hugging_face
from calibration.exports.package_contents import Contents, by_continuation
from calibration.exports.parts import take
from calibration.exports.transcripts import _refuse_locked
from calibration.gold import derivation
from calibration.gold.derivation import changes_of, reference
from calibration.gold.difference import comparable, difference
from calibration.models import Gold, Study
from calibration.ratings.calls import calls, doubtful
from calibration.ratings.scope import (
    Scope,
    census,
    items_of,
    of_campaign,
    of_corpus,
    of_study,
    scope_of,
    shown_part,
)
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import snapshot_of
from calibration.studies import inputs
from calibration.studies import study_actions as studies
from jobs.models import Call, Endpoint, Run
from judges.errors import JudgeError
from judges.metrics.acts import FITTED_ON_ITSELF
from judges.prompts import prompt_actions as prompts
from judges.prompts import versions
from judges.prompts.examples import Pick, agreed
from judges.protocols import PROTOCOLS
from judges.runs import run_actions
from judges.runs.estimates import estimate
from judges.runs.lookup import part_choices, selection_of, split_for
from judges.runs.material import contents
from judges.runs.metric_calls import metric_plan
from judges.runs.plans import Judge
from judges.runs.selection import Selection, continuations, locked
from suites.continuation.productions.dialogues import Dialogues
from tests import factories
from tests.corpora.test_api import api, get
from tests.importing.helpers import continuation, imported, label, line, refusal, written
from tests.judges.helpers import finish

pytestmark = pytest.mark.django_db

PARTS = {"e1": "evaluation", "e2": "evaluation", "e3": "evaluation", "t1": "train", "t2": "train"}
EVALUATION, TRAINING = ["e1", "e2", "e3"], ["t1", "t2"]
RULES = Judge("rules_baseline")
SCORES = {"x": (3, 3), "e1": (4, 4), "e2": (2, 3), "e3": (5, 4), "t1": (1, 5), "t2": (5, 1)}


@pytest.fixture
def bench(tmp_path: Path) -> Corpus:
    """A benchmark of three dialogues for evaluation and two for training, rated by two people and a judge."""
    lines = [_line(key, part) for key, part in PARTS.items()]
    imported(written(tmp_path, *lines), "bench")
    return Corpus.objects.get(name="bench")


def _line(key: str, part: str) -> dict[str, Any]:
    ann, ben = SCORES[key]
    place = {"continuation": "model-x"}
    labels = [
        label(ann, rater="ann", kind="human", **place),
        label(ben, rater="ben", kind="human", **place),
        label(ben, rater="gpt", kind="judge", **place),
    ]
    said = [continuation("human", "Well"), continuation("model-x", "So"), continuation("model-y", "Oh")]
    return line(key, metadata={"part": part, "goal": "meet"}, continuations=said, labels=labels)


def test_the_part_comes_from_the_metadata_which_stay_as_they_were(bench: Corpus) -> None:
    stored = {row.key: (row.part, row.metadata) for row in bench.dialogues.all()}
    assert stored == {
        key: ("training" if part == "train" else part, {"part": part, "goal": "meet"})
        for key, part in PARTS.items()
    }
    assert sizes(bench) == {"training": 2, "evaluation": 3}
    words = {"train": "training", " Training ": "training", "EVALUATION": "evaluation"}
    assert {word: part_in({"part": word}) for word in words} == words
    assert [part_in(metadata) for metadata in ({}, {"part": "dev"}, {"part": 1}, {"part": None})] == [""] * 4


def test_items_know_that_they_are_of_training(bench: Corpus) -> None:
    of_training = Item.objects.filter(corpus=bench, training=True)
    assert set(of_training.values_list("continuation__dialogue__key", flat=True)) == set(TRAINING)
    assert of_training.count() * 3 == Item.objects.filter(corpus=bench, training=False).count() * 2
    with pytest.raises(IntegrityError, match="in training"), transaction.atomic():
        of_training.update(training=False)


def test_a_part_is_the_one_that_the_dialogue_came_with(bench: Corpus) -> None:
    with pytest.raises(IntegrityError, match="the one that it came with"), transaction.atomic():
        Dialogue.objects.filter(corpus=bench, key="t1").update(part="")


def test_no_other_part_is_stored() -> None:
    with pytest.raises(IntegrityError, match="dialogue_part_known"), transaction.atomic():
        factories.dialogue(factories.corpus(), part="practice")


def test_labels_are_counted_by_training(bench: Corpus) -> None:
    rows = LabelCount.objects.filter(corpus=bench)
    assert [counts.total_labels(rows.filter(training=training)).n for training in (False, True)] == [9, 6]
    assert counts.count_labels(bench) == 15
    counts.compact()
    assert [counts.total_labels(rows.filter(training=training)).n for training in (False, True)] == [9, 6]


def test_splits_are_drawn_of_what_is_not_training(bench: Corpus) -> None:
    assert splits.of_corpus(bench) == set(EVALUATION)
    split = splits.draw(corpus=bench, by=None)
    assert set(split.clusters.values_list("cluster", flat=True)) == set(EVALUATION)


@pytest.mark.exhaustive
def test_the_part_stands_in_the_api(bench: Corpus) -> None:
    assert get("bench/")["parts"] == {"training": 2, "evaluation": 3}
    rows = get("bench/dialogues/")["results"]
    assert {row["key"]: row["part"] for row in rows} == {row.key: row.part for row in bench.dialogues.all()}
    assert [row["key"] for row in get("bench/dialogues/?part=training")["results"]] == TRAINING
    items = get("bench/items/?dialogue=t1")["results"] + get("bench/items/?dialogue=e1")["results"]
    assert {row["part"] for row in items if row["key"].startswith("t1/")} == {"training"}
    assert {row["part"] for row in items if row["key"].startswith("e1/")} == {"evaluation"}
    detail = api(researcher=True).get(f"/api/v1/dialogues/{bench.dialogues.get(key='t1').pk}/")
    assert detail.json()["part"] == "training"
    assert api(researcher=True).get("/api/v1/corpora/bench/dialogues/?part=practice").status_code == 400


def test_the_part_stands_on_the_pages(bench: Corpus, researcher: Client) -> None:
    page = researcher.get("/corpora/bench/settings/").content.decode()
    assert "2 dialogues, left out unless named" in " ".join(page.split())
    dialogues = researcher.get("/corpora/bench/dialogues/").content.decode()
    assert dialogues.count("<td>training</td>") == 2
    pk = bench.dialogues.get(key="t1").pk
    assert "<dt>Part</dt><dd>training</dd>" in researcher.get(reverse("dialogue", args=[pk])).content.decode()


def test_a_corpus_without_parts_shows_none(corpus: Corpus, researcher: Client) -> None:
    assert get("c/")["parts"] == {}
    assert "In training" not in researcher.get("/corpora/c/settings/").content.decode()
    assert ">Part<" not in researcher.get("/corpora/c/dialogues/").content.decode()


def keys_of(rows: Any, dialogue: str) -> list[str]:
    """Return the keys of the dialogues that rows are about, in order, each once."""
    return sorted(set(rows.values_list(f"{dialogue}__key", flat=True)))


def judged(corpus: Corpus, part: str) -> list[str]:
    run = run_actions.start(by=None, plan=RULES.plan(), selection=selection_of(corpus=corpus.name, part=part))
    return keys_of(Call.objects.filter(run=run), "continuation__dialogue")


def measured(corpus: Corpus, part: str) -> list[str]:
    plan = metric_plan("dnr", corpus)
    run = run_actions.start(by=None, plan=plan, selection=selection_of(corpus=corpus.name, part=part))
    return keys_of(Call.objects.filter(run=run), "continuation__dialogue")


def generated_for(corpus: Corpus, part: str) -> list[str]:
    return list(Dialogues(corpus, split_for(corpus, part), part).rows().values_list("key", flat=True))


def learned_from(corpus: Corpus, part: str) -> list[str]:
    return [key for key, _ in contents(corpus.pk, part=part)]


RUNS = {"judge": judged, "metric": measured, "metric's material": learned_from}
"""What goes over a corpus, by the dialogues that it takes."""


@pytest.mark.parametrize("door", list(RUNS))
def test_runs_leave_training_out_unless_it_is_named(door: str, bench: Corpus) -> None:
    assert RUNS[door](bench, "") == EVALUATION
    assert RUNS[door](bench, "training") == TRAINING
    splits.draw(corpus=bench, by=None)
    assert RUNS[door](bench, "") == EVALUATION
    assert RUNS[door](bench, "training") == TRAINING


def test_generation_leaves_training_out_unless_it_is_named(bench: Corpus) -> None:
    for part, keys in (("", EVALUATION), ("training", TRAINING)):
        assert generated_for(bench, part) == keys
        chosen = Dialogues(bench, split_for(bench, part), part)
        assert [record.id for _, record in chosen.read()] == keys
        assert chosen.as_json()["part"] == part


@pytest.mark.exhaustive
def test_a_cluster_in_both_parts_is_refused(bench: Corpus, tmp_path: Path) -> None:
    """Also where the corpus has one side of it already; nothing of the file is kept."""
    lines = {key: _line(key, part) for key, part in (("e1", "evaluation"), ("t1", "train"), ("x", ""))}
    shared = [lines["e1"] | {"cluster": "c"}, lines["t1"] | {"cluster": "c"}]
    why = str(refusal(written(tmp_path, *shared), "other"))
    assert "field cluster: the cluster 'c' has dialogues in training ('t1') and outside it ('e1')" in why
    assert "give its dialogues one `part`" in why
    plain = {key: value for key, value in lines["x"].items() if key != "labels"} | {"metadata": {}}
    why = str(refusal(written(tmp_path, plain | {"cluster": "t2"}), "bench", into=True))
    assert "the cluster 't2' has dialogues in training ('t2') and outside it ('x')" in why
    imported(written(tmp_path, plain | {"cluster": "e2"}), "bench", into=True)


def test_a_run_on_training_opens_no_test_and_is_another_run(bench: Corpus) -> None:
    split = splits.draw(corpus=bench, by=None)
    splits.fix(split=split, by=None)
    whole, training = (selection_of(corpus="bench", part=part) for part in ("", "training"))
    assert locked(whole) == split
    assert locked(training) is None
    assert whole.digest() != training.digest()
    assert run_actions._selection(training.as_json()) == training


@pytest.mark.exhaustive
def test_an_estimate_and_the_api_take_the_part(bench: Corpus) -> None:
    endpoint = Endpoint.objects.create(
        name="e", base_url="http://localhost:9/v1", model="m", allow_private=True
    )
    judge = Judge("cpdscore_detail", endpoint=endpoint)
    for part, n in (("", 3), ("training", 2)):
        assert estimate(judge, selection_of(corpus="bench", part=part)).dialogues == n
        body = {"corpus": "bench", "metric": "dnr", "part": part}
        made = api(researcher=True).post("/api/v1/runs/", body, format="json").json()
        calls = Call.objects.filter(run=made["id"])
        assert len(keys_of(calls, "continuation__dialogue")) == n
    body = {"corpus": "bench", "metric": "dnr", "part": "practice"}
    assert api(researcher=True).post("/api/v1/runs/", body, format="json").status_code == 400


def test_a_corpus_without_training_has_no_such_part(corpus: Corpus) -> None:
    with pytest.raises(JudgeError, match="No dialogue of c is in training"):
        selection_of(corpus="c", part="training")
    assert part_choices(corpus) == []
    splits.draw(corpus=corpus, by=None)
    assert [value for value, _ in part_choices(corpus)] == ["", "dev", "test"]


def test_pages_offer_training_where_there_is_some(bench: Corpus, researcher: Client) -> None:
    for address in (reverse("new-run"), f"{reverse('generate')}?generator=cocoeval_continuation"):
        joined = "&" if "?" in address else "?"
        page = researcher.get(f"{address}{joined}corpus={bench.pk}").content.decode()
        assert '<option value="training">training only</option>' in page
        assert "all but training" in page


def test_worked_examples_come_from_outside_training(bench: Corpus) -> None:
    protocol = PROTOCOLS["cpdscore_simple"]
    found = agreed(protocol, bench, None)
    assert keys_of(Item.objects.filter(pk__in=found), "continuation__dialogue") == EVALUATION


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", ["action", "API", "page", "command"])
def test_worked_examples_come_from_training_where_it_is_named(
    door: str, bench: Corpus, researcher: Client
) -> None:
    """No split is asked for or fixed: training is never tested."""
    split = splits.draw(corpus=bench, by=None)
    prompts.copy(by=None, version=versions.find("cpdscore_simple_without_reference"), name="own")
    version = versions.find("own@1")
    sent = {"corpus": "bench", "rule": "balanced", "part": "training"}
    if door == "action":
        prompts.add_examples(by=None, version=version, criteria=Pick(bench, "balanced", part="training"))
    elif door == "API":
        address = "/api/v1/prompts/own/examples/"
        assert api(researcher=True).post(address, sent | {"part": "x"}, format="json").status_code == 400
        assert api(researcher=True).post(address, sent, format="json").status_code == 201
    elif door == "page":
        page = reverse("pick-examples", args=["own", 1])
        assert 'value="training"' in researcher.get(page).content.decode()
        assert researcher.post(page, sent | {"corpus": bench.pk}).status_code == 302
    else:
        call_command("prompts", "examples", "own@1", corpus="bench", rule="balanced", part="training")
    wording = versions.find("own@2").wording
    assert wording.picking["part"] == "training"
    assert {example["key"].partition("/")[0] for example in wording.examples} <= set(TRAINING)
    assert wording.examples
    split.refresh_from_db()
    assert split.fixed_at is None
    by_hand = Pick(bench, "by_hand", keys=("e1/model-x/0",), part="training")
    with pytest.raises(JudgeError, match="is not in training"):
        prompts.add_examples(by=None, version=version, criteria=by_hand)
    both = Pick(bench, "balanced", whole_corpus=True, part="training")
    with pytest.raises(JudgeError, match="training or from the whole corpus: choose one"):
        prompts.add_examples(by=None, version=version, criteria=both)


def labelled(scope: Scope) -> list[str]:
    return keys_of(scope.labels(), "item__continuation__dialogue")


def in_a_report(corpus: Corpus, part: str) -> list[str]:
    definition = {"split": part} if part else {}
    study = studies.create(name=part or "whole", corpus=corpus, definition=definition, by=None)
    result = snapshot_of(studies.compute(study=study, part="all", by=None))
    assert result.definition.is_of_training == bool(part)
    assert ("for training" in " ".join(caveats(result))) == bool(part)
    n = result.counts.clusters
    assert n == len(labelled(of_study(study)))
    return labelled(of_study(study))


def compared(corpus: Corpus, part: str) -> list[str]:
    """The table of agreement: 100% apart is training alone."""
    study = studies.create(
        name=f"c{part}", corpus=corpus, definition={"split": part} if part else {}, by=None
    )
    read = inputs.read(study, "all")
    return sorted({record.item.partition("/")[0] for data in read.subjects for record in data.records})


def exported(corpus: Corpus, part: str) -> list[str]:
    given = {"corpus": corpus.pk} | ({"part": part} if part else {})
    answer: Any = api(researcher=True).get("/api/v1/exports/labels.csv", given)
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert {row["part"] for row in rows} == {part or "evaluation"}
    return sorted({row["dialogue"] for row in rows})


def packed(corpus: Corpus, part: str) -> list[str]:
    taken = take(corpus=corpus, part=part, by=None)
    contents = Contents(scope_of(corpus, None, part), taken)
    assert keys_of(hugging_face._continuations(contents, taken), "dialogue") == sorted(
        EVALUATION if not part else TRAINING
    )
    return sorted({material.dialogue.id for material, _ in by_continuation(contents)})


def adjudicated(corpus: Corpus, part: str) -> list[str]:
    return [] if part else labelled(raters_scope(corpus, None))


def gold_of(corpus: Corpus, part: str, rule: str = "mean") -> Gold:
    version = SchemeVersion.objects.filter(questions__labels__item__corpus=corpus).distinct().get()
    return derivation.make(
        corpus=corpus, campaign=None, part=part, scheme_version=version, rule=rule, options={}, by=None
    )


def gold_chosen(corpus: Corpus, part: str) -> list[str]:
    return keys_of(gold_of(corpus, part).labels, "item__continuation__dialogue")


READ = {
    "report": in_a_report,
    "comparison": compared,
    "labels file": exported,
    "package": packed,
    "gold": gold_chosen,
}
"""What reads labels, by the dialogues that it reads."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", list(READ))
def test_what_reads_labels_leaves_training_out_unless_it_is_named(door: str, bench: Corpus) -> None:
    assert READ[door](bench, "") == EVALUATION
    assert READ[door](bench, "training") == TRAINING


def test_census_stamp_and_size_follow_the_labels_that_are_read(bench: Corpus) -> None:
    whole, training = of_corpus(bench), scope_of(bench, None, "training")
    assert [labelled(scope) for scope in (whole, training)] == [EVALUATION, TRAINING]
    assert [scope.most() for scope in (whole, training)] == [9, 6]
    assert [census(scope).n_labels for scope in (whole, training)] == [9, 6]
    assert [items_of(scope).count() for scope in (whole, training)] == [3 * 9, 2 * 9]
    before = whole.stamp(), training.stamp()
    Label.objects.filter(item__training=True, rater__name="ann").update(superseded_at=timezone.now())
    assert (whole.stamp(), training.stamp() == before[1]) == (before[0], False)


def test_rounds_of_adjudication_leave_training_out(bench: Corpus) -> None:
    assert adjudicated(bench, "") == EVALUATION


@pytest.mark.exhaustive
def test_gold_of_training_is_of_it_everywhere(bench: Corpus, researcher: Client) -> None:
    """It is told, downloaded, compared and counted as such; it opens no test, and test locks none of it."""
    splits.draw(corpus=bench, by=None)
    rest, training = gold_of(bench, ""), gold_of(bench, "training")
    assert gold_of(bench, "training") == training != rest
    assert (rest.part, training.part) == ("", "training")
    page = " ".join(researcher.get(reverse("gold", args=[training.pk])).content.decode().split())
    assert "bench, training part" in page
    assert "Locked:" not in page
    assert "Take test out" not in page
    Gold.objects.update(created_at=timezone.now() - timedelta(hours=1))
    rest.refresh_from_db()
    training.refresh_from_db()
    assert [changes_of(gold).came for gold in (rest, training)] == [9, 6]
    page = researcher.get(reverse("gold", args=[training.pk])).content.decode()
    assert f'"{reverse("new-gold")}?corpus={bench.pk}&amp;part=training"' in page
    address = f"/api/v1/gold/{training.pk}/labels.csv"
    answer: Any = api(researcher=True).get(address)
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [(row["dialogue"], row["part"]) for row in rows] == [(key, "training") for key in TRAINING]
    assert api(researcher=True).get(address, {"part": "dev"}).status_code == 400
    other = gold_of(bench, "training", "median")
    assert list(comparable(training)) == [other]
    (question,) = difference(training, other).questions
    assert sum(question.counts.values()) == len(TRAINING)
    with pytest.raises(GoldDifferenceRefused, match="not of the same part"):
        difference(rest, training)
    with pytest.raises(ExportRefused, match="there is no training part of it"):
        take(corpus=bench, about=rest, part="training", by=None)
    with pytest.raises(GoldRuleError, match="split"):
        gold_of(bench, "training", "weighted")


@pytest.mark.exhaustive
def test_gold_of_training_is_made_by_page_command_and_api(
    bench: Corpus, researcher: Client, tmp_path: Path
) -> None:
    new = f"{reverse('new-gold')}?corpus={bench.pk}"
    assert "Training dialogues instead" in researcher.get(new).content.decode()
    assert (
        "One answer per item of the training dialogues"
        in researcher.get(f"{new}&part=training").content.decode()
    )
    scheme = reference(gold_of(bench, "").scheme_version)
    answer = researcher.post(f"{new}&part=training", {"scheme": scheme, "rule": "mean"})
    assert answer.status_code == 302, answer.content.decode()
    made = Gold.objects.latest("pk")
    assert (made.part, made.n) == ("training", 2)
    body = {"corpus": bench.pk, "scheme": scheme, "rule": "median"}
    for part, n in (("training", 2), ("", 3)):
        told = body | ({"part": part} if part else {})
        counted = api(researcher=True).post("/api/v1/gold/preview/", told, format="json").json()
        assert counted["n"] + counted["without"] == n
        sent = api(researcher=True).post("/api/v1/gold/", told, format="json").json()
        assert (sent["part"], sent["n"] + sent["without"]) == (part, n)
    refused = api(researcher=True).post("/api/v1/gold/", body | {"part": "dev"}, format="json")
    assert refused.status_code == 400
    path = tmp_path / "gold.csv"
    call_command("export_gold", corpus="bench", rule="mean", part="training", output=str(path))
    assert {row["dialogue"] for row in csv.DictReader(path.read_text().splitlines())} == set(TRAINING)
    assert Gold.objects.filter(rule="mean").count() == 2, "the page's gold is the command's"


@pytest.mark.exhaustive
def test_gold_of_training_needs_some(corpus: Corpus, bench: Corpus) -> None:
    campaign = factories.campaign(bench, name="rest")
    version = SchemeVersion.objects.filter(questions__labels__item__corpus=bench).distinct().get()
    for of, about, part, why in (
        (corpus, None, "training", "no dialogue of c is in training"),
        (bench, campaign, "training", "rest is about all but training"),
        (bench, None, "practice", "no part 'practice'"),
    ):
        with pytest.raises(GoldRuleError, match=why):
            derivation.make(
                corpus=of, campaign=about, part=part, scheme_version=version, rule="mean", by=None
            )


@pytest.mark.exhaustive
def test_a_report_on_training_is_no_look_at_test(bench: Corpus) -> None:
    split = splits.draw(corpus=bench, by=None)
    study = studies.create(name="fit", corpus=bench, definition={"split": "training"}, by=None)
    assert studies.default_part(study) == "all"
    studies.compute(study=study, part="all", by=None)
    assert not split.looks.exists()
    with pytest.raises(StudyError, match="no test part"):
        studies.open_test(study=study, by=None, purpose="to see")
    whole = studies.create(name="whole", corpus=bench, definition={}, by=None)
    assert studies.default_part(whole) == "dev"
    with pytest.raises(SplitRefused, match="training is no split"):
        splits.draw(corpus=bench, by=None, name="training")


def test_a_training_study_needs_a_training_part(corpus: Corpus) -> None:
    with pytest.raises(CalibrationError):
        studies.create(name="fit", corpus=corpus, definition={"split": "training"}, by=None)
    with pytest.raises(SplitRefused, match="no dialogue of c is in training"):
        shown_part(scope_of(corpus, None, "training"), "training")
    with pytest.raises(ExportRefused, match="no dialogue of c is in training"):
        take(corpus=corpus, part="training", by=None)


def test_a_chosen_transcript_of_training_needs_its_part(bench: Corpus) -> None:
    own = Continuation.objects.get(dialogue__key="t1", key="model-x")
    with pytest.raises(ExportRefused, match="t1 is in the training part"):
        _refuse_locked(of_corpus(bench), take(corpus=bench, by=None), [own.pk])
    _refuse_locked(scope_of(bench, None, "training"), take(corpus=bench, part="training", by=None), [own.pk])


@pytest.mark.exhaustive
def test_the_profile_of_metrics_leaves_training_out(bench: Corpus) -> None:
    for part in ("", "training"):
        measured(bench, part)
    finish("metrics")
    assert Label.objects.filter(rater__kind="metric", item__training=True).exists()
    assert keys_of(metric_labels(bench), "item__continuation__dialogue") == EVALUATION
    cells = cells_of(bench)
    assert {cell.n for cell in cells.values()} == {3}


@pytest.mark.exhaustive
def test_pages_of_figures_offer_the_training_part(bench: Corpus, researcher: Client) -> None:
    """Counts, preferences, Cascade and Answers reports have the same field for it."""
    for part, first in (("", "all but training"), ("dev", "dev"), ("test", "test"), ("training", "all but")):
        field = render_to_string("calibration/_part.html", {"corpus": bench, "part": part})
        assert f">{first}" in field
        assert ('value="training" selected' in field) == (part == "training")
    plain = {"corpus": factories.corpus(), "part": ""}
    assert not render_to_string("calibration/_part.html", plain).strip()
    new = reverse("new-study")
    assert "Training dialogues instead" in researcher.get(f"{new}?corpus={bench.pk}").content.decode()
    sent = {
        "name": "fit",
        "map": "rank",
        "interval": "percentile",
        "resamples": 0,
        "seed": 0,
        "confidence": 0.95,
    }
    answer = researcher.post(f"{new}?corpus={bench.pk}&part=training", sent)
    assert answer.status_code == 302, answer.content.decode()
    assert Study.objects.get(name="fit").definition["split"] == "training"
    page = researcher.get(answer.headers["Location"]).content.decode()
    assert "training part" in " ".join(page.split())
    files = researcher.get(f"{reverse('exports')}?corpus={bench.pk}").content.decode()
    assert f"?corpus={bench.pk}&amp;part=training" in files
    got: Any = researcher.get(f"{reverse('export-labels', args=['csv'])}?corpus={bench.pk}&part=training")
    assert got.headers["Concord-Rows"] == "6"


@pytest.mark.exhaustive
def test_counts_of_a_judge_are_of_the_part(bench: Corpus) -> None:
    """Continuations that a call failed for follow it, too."""
    for part in ("", "training"):
        run = run_actions.start(by=None, plan=RULES.plan(), selection=selection_of(corpus="bench", part=part))
        Call.objects.filter(run=run).update(state=Call.State.FAILED)
    raters, questions = [run.rater_id], list(run.questions.values())
    for part, keys in (("", EVALUATION), ("training", TRAINING)):
        lost = failed_continuations(CountsQuery(bench, part=part), raters, questions)
        assert keys_of(Continuation.objects.filter(pk__in=lost), "dialogue") == keys
        assert [row.calls for row in calls(scope_of(bench, None, part), {run.answerer.pk: "rules"})] == [
            Call.objects.filter(continuation__dialogue__key__in=keys).count()
        ]


@pytest.mark.exhaustive
def test_failures_and_doubts_are_those_of_the_part(bench: Corpus) -> None:
    """Of training, of the rest, of dev and of a campaign each its own; the profile's as its figures."""
    of_judge: dict[int, str] = {}
    of_metric: dict[int, str] = {}
    for part in ("", "training"):
        run = run_actions.start(by=None, plan=RULES.plan(), selection=selection_of(corpus="bench", part=part))
        of_judge[run.answerer.pk] = "rules"
        kind = "refusal" if part else "truncated"
        Call.objects.filter(run=run).update(state=Call.State.FAILED, error_kind=kind)
        run = run_actions.start(
            by=None, plan=metric_plan("dnr", bench), selection=selection_of(corpus="bench", part=part)
        )
        of_metric[run.answerer.pk] = "dnr"
    finish("metrics")
    Call.objects.filter(rater__in=of_metric).update(flags=["odd letters", FITTED_ON_ITSELF])
    split = splits.draw(corpus=bench, by=None)
    campaign = factories.campaign(bench, name="some", sample_dialogues=2)
    in_campaign = keys_of(Continuation.objects.filter(task__campaign=campaign), "dialogue")
    assert len(in_campaign) == 2
    dev = splits.clusters(split=split, part="dev")
    parts = {
        "": (of_corpus(bench), None, EVALUATION, "truncated"),
        "training": (scope_of(bench, None, "training"), None, TRAINING, "refusal"),
        "dev": (of_corpus(bench), dev, sorted(dev), "truncated"),
        "campaign": (of_campaign(campaign), None, in_campaign, "truncated"),
    }
    for scope, within, keys, kind in parts.values():
        about = Call.objects.filter(continuation__dialogue__key__in=keys)
        (row,) = calls(scope, of_judge, within)
        n = about.filter(rater__in=of_judge).count()
        assert (row.calls, row.failed, row.kinds) == (n, n, ((kind, n),))
        (row,) = doubtful(scope, of_metric, within)
        assert (row.calls, row.doubtful) == (about.filter(rater__in=of_metric).count(),) * 2
    shown = profile_or_job(query=ProfileQuery(bench), by=None)
    assert isinstance(shown, Profile)
    n = Call.objects.filter(rater__in=of_metric, continuation__dialogue__part="evaluation").count()
    assert [(doubt.calls, doubt.flagged) for doubt in shown.doubts.values()] == [(n, n)]
    assert list(shown.learned.values()) == [n]
    gpt = Rater.objects.get(name="gpt")
    whole = Call.objects.filter(rater__in=of_judge, error_kind="truncated")
    Run.objects.filter(pk=whole[0].run_id).update(rater=gpt)
    study = studies.create(name="dev", corpus=bench, definition={}, by=None)
    of_dev = [(row.rater, row.failed, row.doubtful) for row in inputs.read(study, "dev").calls]
    about = Call.objects.filter(continuation__dialogue__key__in=dev)
    n, doubtful_ones = (about.filter(run__rater__in=raters).count() for raters in ([gpt], of_metric))
    assert of_dev == [("gpt", n, 0), ("dnr@paper", 0, doubtful_ones)]


def asked_about(corpus: Corpus, part: str) -> list[str]:
    campaign = factories.campaign(corpus, name=f"c{part}", part=part)
    return keys_of(Continuation.objects.filter(task__campaign=campaign), "dialogue")


def asked_about_pairs(corpus: Corpus, part: str) -> list[str]:
    campaign = factories.campaign(corpus, "preference", name=f"p{part}", part=part)
    return keys_of(Item.objects.filter(task__campaign=campaign), "continuation__dialogue")


def drawn(corpus: Corpus, part: str) -> list[str]:
    campaign = factories.campaign(corpus, opened=False, name=f"d{part}", part=part, sample_dialogues=2)
    assert keys_of(selected_continuations(campaign), "dialogue") == (TRAINING if part else EVALUATION)
    return sorted(corpus.dialogues.filter(pk__in=sampling.dialogues(campaign)).values_list("key", flat=True))


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", [asked_about, asked_about_pairs, drawn])
def test_campaigns_leave_training_out_unless_it_is_their_part(door: Any, bench: Corpus) -> None:
    rest = door(bench, "")
    assert rest == EVALUATION if door is not drawn else set(rest) < set(EVALUATION)
    assert door(bench, "training") == TRAINING


@pytest.mark.exhaustive
def test_what_a_training_campaign_is_read_and_judged_by_follows_it(bench: Corpus) -> None:
    campaign = factories.campaign(bench, name="fit", part="training")
    splits.draw(corpus=bench, by=None)
    assert labelled(of_campaign(campaign)) == TRAINING
    covered = Selection(bench, campaign)
    assert keys_of(continuations(covered), "dialogue") == TRAINING
    assert locked(covered) is None
    study = studies.automatic(corpus=bench, campaign=campaign, by=None)
    assert studies.default_part(study) == "all"
    assert take(corpus=bench, about=campaign, by=None).part == "training"
    with pytest.raises(ExportRefused, match="no dev part of it"):
        take(corpus=bench, about=campaign, part="dev", by=None)
    answer: Any = api(researcher=True).get("/api/v1/exports/labels.csv", {"campaign": campaign.pk})
    assert answer.headers["Concord-Rows"] == "2"


@pytest.mark.exhaustive
def test_a_campaign_of_training_needs_some(corpus: Corpus, bench: Corpus, researcher: Client) -> None:
    with pytest.raises(CampaignRefused, match="No dialogue of c is in training"):
        factories.campaign(corpus, part="training")
    with pytest.raises(CampaignRefused, match="part is training, or empty"):
        factories.campaign(bench, part="evaluation")
    pages = [researcher.get(f"{reverse('new-campaign')}?corpus={one.pk}").content for one in (corpus, bench)]
    assert [b"Training alone" in page for page in pages] == [False, True]
