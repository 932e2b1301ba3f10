"""Systems as people would have rated them: planted truth, designs of samples, and every form."""

from __future__ import annotations

import json

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.campaigns import sampling
from annotation.models import Item, Label, SampledItem
from annotation.work.labels import Answer, record
from calibration.comparisons.count_files import RENDERINGS, system_tables
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import Counts, compute, facts, ground_of, rated_sample
from tests import factories
from tests.calibration.counts.built import Made, planted, said

pytestmark = pytest.mark.django_db
RATED = {f"d{number}" for number in range(0, 24, 2)}


def _by_judge(item: Item, key: str) -> float:
    """Return a mark that is planted, or on every fourth turn."""
    assert item.turn is not None
    return max(planted(item, key), float(item.turn.position % 4 == 0))


@pytest.fixture
def judged() -> Made:
    """24 dialogues; a judge that marks every fourth unmarked turn, too, and a person who rated half."""
    built = Made(24)
    built.mark("judge", _by_judge)
    some = [item for item in built.items() if item.continuation.dialogue.key in RATED]
    built.mark("ann", planted, kind="human", items=some)
    return built


def _rows(counts: Counts) -> dict[str, dict]:
    (question,) = counts.systems
    names = {row.figures.code: row.name for row in counts.rows}
    return {names[row.system]: row.figures for row in question.result.systems}


def test_each_row_has_the_judge_alone_corrected_and_people(judged: Made) -> None:
    counts = judged.counts(questions="repetition", by="prompting,turns_per_call", rater="judge")
    figures = _rows(counts)
    assert len(figures) == 4
    truth: dict[str, list[float]] = {}
    for item in judged.items():
        condition = item.continuation.condition
        name = (
            "people"
            if not condition
            else (f"{condition['prompting']}, turns_per_call {condition['turns_per_call']}")
        )
        truth.setdefault(name, []).append(planted(item, "repetition"))
    for name, values in truth.items():
        own = figures[name]
        assert own["judge"].value - np.mean(values) > 0.08
        for corrected in ("prediction_powered", "confusion"):
            assert own[corrected].low < np.mean(values) < own[corrected].high
        assert own["people"].n_items == len(values) // 2


def test_pairs_are_corrected_too_and_holm_counts_them_all(judged: Made) -> None:
    counts = judged.counts(questions="repetition", by="prompting,turns_per_call", rater="judge")
    (question,) = counts.systems
    assert len(question.result.pairs) == 6
    for pair in question.result.pairs:
        assert pair.judge.low is not None
        assert pair.corrected.low is not None
        assert pair.p_holm >= pair.p  # type: ignore[operator]


def test_people_and_judges_of_other_items_have_no_such_table(made: Made) -> None:
    assert made.counts(rater="judge").systems == ()
    assert system_tables(made.counts(rater="judge")) == []


def test_items_rated_because_judge_and_people_differ_correct_nothing() -> None:
    built = Made(24)
    built.mark("judge", planted)
    campaign = factories.campaign(
        built.corpus, "cocoeval_behaviours", sample_apart=0.5, apart_judge="judge", opened=False
    )
    built.mark("ann", planted, kind="human", items=built.items()[:200], campaign=campaign)
    counts = built.counts(questions="repetition", rater="judge")
    for figures in _rows(counts).values():
        assert "judge and people differ" in figures["prediction_powered"].reason
        assert "judge and people differ" in figures["confusion"].reason
        assert figures["judge"].low is not None
    for row in counts.table.rows:
        assert row.cells[0].corrected is not None
        assert "judge and people differ" in row.cells[0].corrected.reason


def test_a_sample_that_is_not_random_by_the_user_s_word_has_the_confusion_matrix_alone(judged: Made) -> None:
    counts = judged.counts(questions="repetition", rater="judge", correction="rogan_gladen")
    for figures in _rows(counts).values():
        assert "by your choice" in figures["prediction_powered"].reason
        assert figures["people"].low is None
        assert figures["confusion"].low is not None


def test_the_probabilities_of_a_campaign_weight_its_items() -> None:
    """People rated all that the judge marked and a quarter of the rest: the weights undo that."""
    built = Made(40)
    campaign = factories.campaign(built.corpus, "cocoeval_behaviours", opened=False)
    built.mark("judge", _by_judge, keys=("repetition",))
    rng = np.random.default_rng(1)
    chance = {item.pk: 1.0 if _by_judge(item, "repetition") else 0.25 for item in built.items()}
    drawn = [item for item in built.items() if rng.random() < chance[item.pk]]
    SampledItem.objects.bulk_create(
        SampledItem(campaign=campaign, item=item, probability=chance[item.pk]) for item in drawn
    )
    built.mark("ann", planted, kind="human", items=drawn, keys=("repetition",), campaign=campaign)
    counts = built.counts(questions="repetition", rater="judge", by="system")
    for name, figures in _rows(counts).items():
        own = [
            item for item in built.items() if (item.continuation.system.name == "human") is (name == "people")
        ]
        truth = np.mean([planted(item, "repetition") for item in own])
        for corrected in ("prediction_powered", "confusion", "people"):
            assert figures[corrected].low < truth < figures[corrected].high
            assert "unequal_probabilities" in figures[corrected].flags
        rated = [item for item in own if item in drawn]
        assert np.mean([planted(item, "repetition") for item in rated]) > truth + 0.1
    for row in counts.table.rows:
        assert "unequal probabilities" in row.cells[0].corrected.reason  # type: ignore[union-attr]


def test_scores_of_continuations_are_corrected_with_the_scale_s_values() -> None:
    built = Made(60)
    version = factories.scheme_version("cocoeval_overall")
    question = version.questions.get(key="consistency")
    items = list(
        Item.objects.filter(corpus=built.corpus, kind="dialogue")
        .exclude(continuation__key="self")
        .select_related("continuation__dialogue")
        .order_by("pk")
    )
    rng = np.random.default_rng(2)
    truth = {item.pk: float(rng.integers(4, 8)) for item in items}
    errors = {item.pk: float(rng.integers(0, 2)) for item in items}
    rated = [item for item in items if int(item.continuation.dialogue.key[1:]) % 2]
    judge, ann = built.rater("scores"), built.rater("ann", "human")
    record(
        rater=judge,
        answers=[Answer(item, question, min(7.0, truth[item.pk] + errors[item.pk])) for item in items],
        occasion="main",
    )
    record(rater=ann, answers=[Answer(item, question, truth[item.pk]) for item in rated], occasion="main")
    counts = built.counts(questions="consistency", rater="scores", by="system")
    for name, figures in _rows(counts).items():
        own = [item for item in items if (item.continuation.key == "human") is (name == "people")]
        mean = np.mean([truth[item.pk] for item in own])
        assert figures["judge"].value - mean > 0.25
        for corrected in ("prediction_powered", "confusion"):
            assert figures[corrected].low < mean < figures[corrected].high


def test_page_route_command_and_files_have_the_same_figures(
    judged: Made, researcher: Client, api: APIClient
) -> None:
    query = {"rater": "judge", "questions": "repetition", "resamples": "100"}
    answer = api.get(reverse("api-counts", args=[judged.corpus.pk]), query).json()
    counts = compute(query=read(query, judged.corpus, None), by=None)
    assert len(answer["systems"]) == 2
    assert len(answer["pairs"]) == 1
    (question,) = counts.systems
    for row, other in zip(answer["systems"], question.result.systems, strict=True):
        assert row["corrected"]["value"] == other.figures["prediction_powered"].value
        assert row["confusion"]["low"] == other.figures["confusion"].low
        assert (row["n_items"], row["n_rated"]) == (other.n_items, other.n_rated)
    command = json.loads(said("--corpus", "coco", "--rater", "judge", "--questions", "repetition",
                              "--resamples", "100", "--format", "json"))  # fmt: skip
    assert command["systems"] == answer["systems"]
    assert command["pairs"] == answer["pairs"]
    page = researcher.get(reverse("counts", args=[judged.corpus.pk]), query).content.decode()
    for table in system_tables(counts):
        assert table.title in page
    assert "random sample of the same items" in " ".join(facts(counts))
    for form in ("csv", "md", "latex"):
        text = RENDERINGS[form].write(counts)
        assert ("system:confusion:repetition" if form == "csv" else "as people would have") in text.replace(
            "As people", "as people"
        )


def test_several_review_campaigns_weight_an_item_by_the_probability_that_any_draws_it() -> None:
    """Two campaigns drew all that the judge marked, and a quarter and a half of the rest."""
    built = Made(40)
    built.mark("judge", _by_judge, keys=("repetition",))
    campaigns = []
    for seed, share in ((1, 0.25), (2, 0.5)):
        strata = [{"rule": "flagged", "share": 1}, {"rule": "rest", "share": share}]
        review = {"judges": ["judge"], "question": "repetition", "strata": strata}
        about = {"name": f"review {seed}", "seed": seed, "review": review}
        campaigns.append(factories.campaign(built.corpus, "cocoeval_behaviours", opened=True, **about))
    for campaign, person in zip(campaigns, ("ann", "ben"), strict=True):
        inclusion = sampling.inclusion(campaign)
        assert inclusion is not None
        items = [item for item in built.items() if item.pk in inclusion]
        built.mark(person, planted, kind="human", items=items, keys=("repetition",), campaign=campaign)
    query = read({"questions": "repetition", "rater": "judge", "by": "system"}, built.corpus, None)
    ground = ground_of(query=query, by=None)
    sample = rated_sample(query, ground.selection)
    assert (sample.not_random, sample.other_errors) == ("", "")
    assert {round(probability, 2) for probability in sample.probabilities.values()} == {1.0, 0.63}
    for name, figures in _rows(built.counts(questions="repetition", rater="judge", by="system")).items():
        own = [
            item for item in built.items() if (item.continuation.system.name == "human") is (name == "people")
        ]
        truth = np.mean([planted(item, "repetition") for item in own])
        for corrected in ("prediction_powered", "people"):
            assert figures[corrected].low < truth < figures[corrected].high
    answer = Label.objects.filter(campaign=campaigns[1]).latest("pk")
    Label.objects.filter(rater__kind="human", item=answer.item).update(superseded_at=timezone.now())
    assert "do not combine" in rated_sample(query, ground.selection).not_random
