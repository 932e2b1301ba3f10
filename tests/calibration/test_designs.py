"""Reports on labels of review campaigns: figures are weighted by 1 / probability, or their limit is named."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from sklearn.metrics import cohen_kappa_score

from annotation.campaigns import review_queue
from annotation.models import Campaign, Corpus, Import, Label, Question, Rater
from annotation.models.campaigns import SampledItem
from calibration.exports.writing import write
from calibration.gold import export
from calibration.gold.derivation import make
from calibration.gold.shares import GONE, sentences, shares_of
from calibration.models import Gold
from calibration.ratings.definitions import parse
from calibration.ratings.designs import Design, rated_only
from calibration.ratings.ratings import load, places, subjects_of
from calibration.ratings.scope import census, of_campaign, of_corpus
from calibration.reports import designs
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.statistics import Plan, Ratings
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.corrected_shares import corrected_shares
from calibration.statistics.corrected_systems import systems_of_ratings
from calibration.statistics.describe import average
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.test_preferences import world as compared_world

pytestmark = pytest.mark.django_db

N, SHARE = 60, 0.25


def truth(number: int) -> float:
    """Return the planted answer of a dialogue: the judge errs on every ninth."""
    return float((number % 4 == 0) != (number % 9 == 0))


@pytest.fixture
def corpus() -> Corpus:
    """Sixty dialogues of one turn; the judge flags every fourth."""
    corpus = factories.corpus("talks")
    for number in range(N):
        factories.dialogue(corpus, f"d{number:02}", turns=1)
    question = factories.scheme_version("cocoeval_behaviours").questions.order_by("position").first()
    assert question is not None
    judge = Rater.objects.create(name="judge", kind="judge")
    say(judge, corpus, question, {key: float(number % 4 == 0) for number, key in enumerate(keys(corpus))})
    return corpus


def question() -> Question:
    found = Question.objects.filter(version__scheme__key="cocoeval_behaviours").order_by("position").first()
    assert found is not None
    return found


def keys(corpus: Corpus) -> list[str]:
    return list(corpus.dialogues.order_by("key").values_list("key", flat=True))


def say(
    rater: Rater,
    corpus: Corpus,
    about: Question,
    answers: dict[str, float],
    campaign: Campaign | None = None,
) -> None:
    items = dict(corpus.items.filter(kind="turn").values_list("continuation__dialogue__key", "pk"))
    for key, value in answers.items():
        Label.objects.create(
            item_id=items[key],
            question=about,
            rater=rater,
            campaign=campaign,
            occasion="main" if campaign else "imported",
            number=value,
        )


def reviewed(
    corpus: Corpus,
    seed: int = 0,
    share: float = SHARE,
    person: str = "ann",
    name: str = "",
    *,
    answered: bool = True,
    strata: Sequence[Mapping[str, Any]] = (),
) -> Campaign:
    """Return a review campaign, by default of all flagged items and a share of the rest, with answers."""
    strata = strata or [{"rule": "flagged", "share": 1}, {"rule": "rest", "share": share}]
    campaign = factories.campaign(
        corpus,
        "cocoeval_behaviours",
        name=name or f"review {seed}",
        opened=True,
        seed=seed,
        review={"judges": ["judge"], "question": question().key, "strata": list(strata)},
    )
    if answered:
        answer(corpus, campaign, person)
    return campaign


def answer(corpus: Corpus, campaign: Campaign, person: str) -> None:
    numbers = {key: number for number, key in enumerate(keys(corpus))}
    rater = Rater.objects.create(name=person, kind="human")
    drawn = campaign.tasks.values_list("continuation__dialogue__key", flat=True)
    say(rater, corpus, question(), {key: truth(numbers[key]) for key in sorted(set(drawn))}, campaign)


def report(corpus: Corpus, campaign: Campaign | None = None) -> Snapshot:
    study = studies.create(
        by=None,
        corpus=corpus,
        campaign=campaign,
        name=f"study {corpus.studies.count()}",
        definition={"resamples": 200},
    )
    return snapshot_of(studies.compute(study=study, part="all", by=None))


def weights_of(snapshot: Snapshot, campaign: Campaign) -> tuple[np.ndarray, ...]:
    """Return people's answers, the judge's, and the weights of the items that a campaign drew."""
    numbers = sorted(
        int(key[1:])
        for key in campaign.tasks.values_list("continuation__dialogue__key", flat=True).distinct()
    )
    judge = np.array([number % 4 == 0 for number in numbers])
    return np.array([truth(number) for number in numbers]), judge, np.where(judge, 1.0, 45 / 11)


def test_a_report_weighs_the_items_of_a_review_campaign_and_shows_its_strata(corpus: Corpus) -> None:
    campaign = reviewed(corpus)
    result = report(corpus)
    person, judge, weights = weights_of(result, campaign)
    assert len(person) == 15 + 11
    (compared,) = result.questions
    kappa = next(f for f in compared.pairs if f.name == "cohen_kappa")
    assert kappa.value == pytest.approx(cohen_kappa_score(person, judge, sample_weight=weights))
    assert kappa.value != pytest.approx(cohen_kappa_score(person, judge))
    assert kappa.n_items == 26
    assert "unequal_probabilities" in kappa.flags
    ann = next(rater for rater in compared.raters if rater.name == "ann")
    assert ann.mean == pytest.approx(np.average(person, weights=weights))
    judged = next(rater for rater in compared.raters if rater.name == "judge")
    assert judged.mean == 15 / 60
    assert compared.design == {
        "strata": [
            {
                "campaign": "review 0",
                "stratum": name,
                "items": items,
                "sampled": n,
                "answered": n,
                "probability": n / items,
            }
            for name, items, n in (("flagged", 15, 15), ("rest", 45, 11))
        ],
        "problem": "",
        "population": 60,
        "combination": "",
    }
    assert result.raters == ()
    assert all(figure.status == "rejected" for figure in compared.replacement)


def test_items_of_strata_that_were_left_out_are_in_no_corrected_figure(corpus: Corpus) -> None:
    reviewed(corpus, strata=[{"rule": "flagged", "share": 0.8}])
    (share,) = corrected_shares(_ratings(corpus))
    assert (share.n_labelled, share.n_unlabelled) == (12, 3)
    alone = share.figures["judge_share"]
    assert (alone.value, alone.n_items) == (1.0, 15), "the 45 other items could not be drawn"
    (judged,) = systems_of_ratings(_ratings(corpus))
    assert judged.result.systems[0].figures["judge"].n_items == 15


def test_strata_that_were_left_out_and_can_no_longer_be_read_correct_nothing(corpus: Corpus) -> None:
    campaign = reviewed(corpus, strata=[{"rule": "flagged", "share": 0.8}])
    assert campaign.review_strata is not None
    campaign.review_strata["strata"][0]["items"] += 1  # as after the deletion of an item
    campaign.save()
    (compared,) = report(corpus).questions
    assert compared.design is not None
    assert "can no longer be read" in compared.design["problem"]


def _ratings(corpus: Corpus) -> Ratings:
    scope = of_corpus(corpus)
    (subject,) = subjects_of(parse({}), census(scope))
    return load(scope, subject, census(scope), places(scope, {"turn"})).ratings()


def test_the_biases_of_a_judge_are_weighted_and_say_what_has_no_weighted_form(
    corpus: Corpus, researcher: Client
) -> None:
    campaign = reviewed(corpus)
    result = report(corpus)
    person, judge, weights = weights_of(result, campaign)
    (biased,) = result.biases
    rows = {row.check: row for row in biased.rows}
    effect = rows["severity"].effect
    assert effect.value == pytest.approx(np.average(judge - person, weights=weights))
    assert effect.value != pytest.approx(np.mean(judge - person))
    assert (effect.n_items, "unequal_probabilities" in effect.flags, rows["severity"].people) == (
        26,
        True,
        (),
    )
    assert rows["length"].effect.reason.startswith("too few items were rated by two people")
    page = researcher.get(reverse("report", args=[corpus.studies.get().pk])).content.decode()
    assert "effects are weighted by 1 / probability" in page
    assert "has no weighted form" in page


def test_a_campaigns_own_report_is_the_same(corpus: Corpus) -> None:
    campaign = reviewed(corpus)
    whole, own = (report(corpus, scope).questions[0] for scope in (None, campaign))
    first, second = (next(f for f in q.pairs if f.name == "cohen_kappa") for q in (whole, own))
    assert (first.value, first.n_items) == pytest.approx((second.value, second.n_items))
    assert first.low == pytest.approx(second.low, abs=0.1)


def test_every_form_of_the_report_says_what_the_items_were_drawn_from(
    corpus: Corpus, researcher: Client
) -> None:
    reviewed(corpus)
    study = studies.create(by=None, corpus=corpus, campaign=None, name="all", definition={"resamples": 200})
    made = studies.compute(study=study, part="all", by=None)
    sentence = "drawn from 60 with known probabilities"
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert sentence in page
    assert "Items drawn for people" in page
    for form in ("md", "html"):
        assert sentence in RENDERINGS[form].write(made)
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(made))))
    (probability,) = [row for row in rows if "drawn_probability" in row.values() and row["raters"] == "rest"]
    assert float(probability["value"]) == pytest.approx(11 / 45)


def test_answers_that_no_campaign_drew_leave_figures_unweighted_and_the_report_says_so(
    corpus: Corpus,
) -> None:
    campaign = reviewed(corpus)
    drawn = set(campaign.tasks.values_list("continuation__dialogue__key", flat=True))
    outside = next(key for key in keys(corpus) if key not in drawn)
    say(Rater.objects.get(name="ann"), corpus, question(), {outside: 0.0})
    (compared,) = report(corpus).questions
    kappa = next(f for f in compared.pairs if f.name == "cohen_kappa")
    assert "unequal_probabilities" not in kappa.flags
    assert compared.design is not None
    assert compared.design["problem"].startswith("People answered 1 item that no review campaign drew")
    say(
        Rater.objects.get(name="ann"),
        corpus,
        question(),
        {key: truth(n) for n, key in enumerate(keys(corpus)) if key not in drawn | {outside}},
    )
    assert report(corpus).questions[0].design is None  # people answered every item


def design(corpus: Corpus, campaign: Campaign | None = None) -> Design:
    """Return the design of the answers of people in a corpus, or in one of its campaigns."""
    scope = of_corpus(corpus) if campaign is None else of_campaign(campaign)
    counted = census(scope)
    (subject,) = subjects_of(parse({}), census(of_corpus(corpus)))
    return load(scope, subject, counted, places(scope, {"turn"})).design


def by_dialogue(weights: Mapping[str, float]) -> dict[int, float]:
    return {int(key[1:3]): weight for key, weight in weights.items()}


def test_an_item_counts_by_the_probability_that_any_of_two_campaigns_draws_it(corpus: Corpus) -> None:
    first, second = (reviewed(corpus, seed, share, f"p{seed}") for seed, share in ((1, 0.2), (2, 0.4)))
    both = design(corpus)
    expected = 1 - (1 - 9 / 45) * (1 - 18 / 45)
    assert (both.combination, both.population, both.campaigns) == ("union", N, (first.pk, second.pk))
    assert by_dialogue(both.probabilities) == pytest.approx(
        {number: 1.0 if number % 4 == 0 else expected for number in by_dialogue(both.weights)}
    )
    assert {key: 1 / weight for key, weight in both.weights.items()} == pytest.approx(both.probabilities)
    dialogues = {
        key
        for campaign in (first, second)
        for key in campaign.tasks.values_list("continuation__dialogue__key", flat=True)
    }
    assert {key.split("/")[0] for key in both.weights} == dialogues
    assert sum(design(corpus, first).weights.values()) == pytest.approx(N)
    assert "any of the review campaigns" in report_sentence(corpus)


def report_sentence(corpus: Corpus) -> str:
    return next(caveat for caveat in designs.caveats(report(corpus)))


def test_the_probabilities_are_those_of_the_judges_answers_when_each_campaign_drew(corpus: Corpus) -> None:
    reviewed(corpus, 1, 0.2, "first")
    judge = Rater.objects.get(name="judge")
    for label in judge.labels.all():  # the judge now flags every third
        Label.objects.filter(pk=label.pk).update(superseded_at=timezone.now())
    say(judge, corpus, question(), {key: float(n % 3 == 0) for n, key in enumerate(keys(corpus))})
    reviewed(corpus, 2, 0.4, "second")
    before, after = (lambda n: 1.0 if n % 4 == 0 else 9 / 45), (lambda n: 1.0 if n % 3 == 0 else 16 / 40)
    probabilities = by_dialogue(design(corpus).probabilities)
    assert probabilities == pytest.approx({n: 1 - (1 - before(n)) * (1 - after(n)) for n in probabilities})


def test_campaigns_that_drew_from_different_items_speak_of_the_items_of_both(corpus: Corpus) -> None:
    reviewed(corpus, 1, 0.2, "first")
    grown = Import.objects.create(corpus=corpus, format="native", file_name="more", content_hash="1")
    for number in range(N, N + 40):
        factories.dialogue(corpus, f"d{number:02}", turns=1)
    corpus.dialogues.filter(key__gte=f"d{N}").update(imported=grown)
    judge = Rater.objects.get(name="judge")
    say(judge, corpus, question(), {key: float(n % 4 == 0) for n, key in enumerate(keys(corpus)) if n >= N})
    reviewed(corpus, 2, 0.4, "second")
    both = design(corpus)
    assert (both.problem, both.population) == ("", N + 40)
    of_rest = {n: p for n, p in by_dialogue(both.probabilities).items() if n % 4}
    assert of_rest == pytest.approx({n: 0.4 if n >= N else 1 - 0.8 * 0.6 for n in of_rest})


def test_draws_of_one_seed_hold_each_other_so_the_larger_probability_counts(corpus: Corpus) -> None:
    reviewed(corpus, 3, 0.2, "first")
    larger = reviewed(corpus, 3, 0.4, "second", name="larger")
    both = design(corpus)
    assert both.combination == "union"
    assert both.probabilities == pytest.approx(design(corpus, larger).probabilities)


def averaged(corpus: Corpus, campaigns: Sequence[Campaign], shares: Sequence[float]) -> dict[int, float]:
    """Return the weights of two campaigns, averaged by their effective numbers of items."""
    parts = []
    for campaign, share in zip(campaigns, shares, strict=True):
        dialogues = set(campaign.tasks.values_list("continuation__dialogue__key", flat=True))
        numbers = [int(key[1:3]) for key in dialogues]
        parts.append({n: 1.0 if n % 4 == 0 else 1 / share for n in numbers})
    sizes = [sum(part.values()) ** 2 / sum(w * w for w in part.values()) for part in parts]
    return {
        n: sum(size / sum(sizes) * part.get(n, 0.0) for size, part in zip(sizes, parts, strict=True))
        for n in {*parts[0], *parts[1]}
    }


def test_campaigns_are_averaged_while_drawn_items_have_no_answer(corpus: Corpus) -> None:
    campaigns = [reviewed(corpus, 1, 0.2, "first"), reviewed(corpus, 2, 0.4, "second", answered=False)]
    key = campaigns[1].tasks.values_list("continuation__dialogue__key", flat=True).first()
    say(Rater.objects.create(name="second", kind="human"), corpus, question(), {key: 0.0}, campaigns[1])
    both = design(corpus)
    assert (both.combination, both.probabilities) == ("average", {})
    assert by_dialogue(both.weights) == pytest.approx(averaged(corpus, campaigns, (0.2, 0.4)))
    assert "averaged" in report_sentence(corpus)


def test_campaigns_are_averaged_where_the_strata_of_one_can_no_longer_be_read(corpus: Corpus) -> None:
    campaigns = [reviewed(corpus, seed, share, f"p{seed}") for seed, share in ((1, 0.2), (2, 0.4))]
    factories.dialogue(corpus, "extra", turns=1)  # of no import: nobody knows since when it is there
    both = design(corpus)
    assert both.combination == "average"
    assert by_dialogue(both.weights) == pytest.approx(averaged(corpus, campaigns, (0.2, 0.4)))


def test_strata_are_read_as_they_were_or_not_at_all(corpus: Corpus) -> None:
    campaign = reviewed(corpus, 1, 0.2, "first")
    expected = {
        item: (1.0, "flagged") if flag else (9 / 45, "rest")
        for item, flag in Rater.objects.get(name="judge").labels.values_list("item", "number")
    }
    assert review_queue.drawn_from(campaign) == expected
    assert campaign.review_strata is not None
    early = campaign.review_strata | {"drawn_at": "2020-01-01T00:00:00+00:00"}  # before the judge answered
    assert review_queue.drawn_from(Campaign(pk=campaign.pk, review_strata=early)) is None


def gold_of(corpus: Corpus, campaign: Campaign | None = None, **how: Any) -> Gold:
    version = question().version
    return make(corpus=corpus, campaign=campaign, scheme_version=version, by=None, **how)


def gold_rows(gold: Gold) -> list[dict[str, str]]:
    text = io.BytesIO()
    write(export.query(gold), "csv", text)
    return list(csv.DictReader(io.StringIO(text.getvalue().decode())))


def test_shares_of_gold_are_those_of_all_items_drawn_from(corpus: Corpus, researcher: Client) -> None:
    campaign = reviewed(corpus)
    gold = gold_of(corpus, campaign)
    person, _, weights = weights_of(report(corpus, campaign), campaign)
    (shares,) = shares_of(gold)
    (yes,) = shares.rows
    assert (shares.is_weighted, shares.population, shares.n_items) == (True, N, len(person))
    assert (yes.value, yes.n_items, yes.share.n_clusters) == ("1", person.sum(), len(person))
    assert yes.share.value == pytest.approx(np.average(person, weights=weights))
    ratings = Ratings.from_matrix(person[:, None].astype(float), level="binary", weights=weights)
    same = average(ratings.values, 0, resampling_of(ratings, Plan()), ratings.weights)
    assert (yes.share.low, yes.share.high) == pytest.approx((same.low, same.high), abs=0.03)
    assert {"unequal_probabilities", "few_events", "few_heavy_events"} <= set(yes.share.flags)
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "all 60 items drawn from" in page
    assert f"{np.average(person, weights=weights):.0%}" in page
    assert f"{person.mean():.0%}" not in page  # never the plain share of the rated items
    answer = researcher.get(reverse("api-gold", args=[gold.pk])).json()
    assert answer["shares"] == [json.loads(json.dumps(shares.as_dict()))]
    assert answer["options"]["designs"] == {
        question().key: {"campaigns": [campaign.pk], "combination": ""},
    }


def test_each_row_of_gold_has_the_probability_with_which_its_item_was_drawn(corpus: Corpus) -> None:
    campaign = reviewed(corpus)
    for row in gold_rows(gold_of(corpus, campaign)):
        is_flagged = int(row["dialogue"][1:]) % 4 == 0
        assert float(row["inclusion_probability"]) == pytest.approx(1.0 if is_flagged else 11 / 45)
        assert float(row["weight"]) == pytest.approx(1.0 if is_flagged else 45 / 11)


def test_gold_of_several_campaigns_counts_by_the_probability_that_any_draws_an_item(corpus: Corpus) -> None:
    for seed, share in ((1, 0.2), (2, 0.4)):
        reviewed(corpus, seed, share, f"p{seed}")
    gold = gold_of(corpus)
    (shares,) = shares_of(gold)
    expected = design(corpus)
    assert (shares.combination, shares.population) == ("union", N)
    by_item = {row["item"]: float(row["inclusion_probability"]) for row in gold_rows(gold)}
    assert by_item == pytest.approx(expected.probabilities)
    factories.dialogue(corpus, "extra", turns=1)  # of no import: the strata can no longer be read
    review_queue._drawn_from.cache_clear()
    (later,) = shares_of(gold)
    assert (later.is_weighted, later.problem) == (False, GONE)
    assert {row["inclusion_probability"] + row["weight"] for row in gold_rows(gold)} == {""}


def test_averaged_campaigns_give_gold_weights_and_no_probabilities(corpus: Corpus) -> None:
    campaigns = [reviewed(corpus, 1, 0.2, "first"), reviewed(corpus, 2, 0.4, "second", answered=False)]
    key = campaigns[1].tasks.values_list("continuation__dialogue__key", flat=True).first()
    say(Rater.objects.create(name="second", kind="human"), corpus, question(), {key: 0.0}, campaigns[1])
    gold = gold_of(corpus)
    (shares,) = shares_of(gold)
    rows = gold_rows(gold)
    assert {row["inclusion_probability"] for row in rows} == {""}
    weights = averaged(corpus, campaigns, (0.2, 0.4))
    assert {int(row["dialogue"][1:]): float(row["weight"]) for row in rows} == pytest.approx(
        {int(row["dialogue"][1:]): weights[int(row["dialogue"][1:])] for row in rows}
    )
    assert any("have no gold value" in sentence for sentence in sentences([shares]))


def test_shares_of_gold_without_known_probabilities_are_of_the_items_with_gold(
    corpus: Corpus, researcher: Client
) -> None:
    campaign = reviewed(corpus)
    dialogues = set(campaign.tasks.values_list("continuation__dialogue__key", flat=True))
    outside = next(key for key in keys(corpus) if key not in dialogues)
    say(Rater.objects.get(name="ann"), corpus, question(), {outside: 0.0})
    gold = gold_of(corpus)
    (shares,) = shares_of(gold)
    assert (shares.is_weighted, shares.subject) == (False, "the 27 items with gold")
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "no review campaign drew" in page
    assert "the 27 items with gold" in page
    assert {row["inclusion_probability"] + row["weight"] for row in gold_rows(gold)} == {""}


def test_gold_that_a_judge_helped_to_make_is_not_weighted(corpus: Corpus) -> None:
    campaign = reviewed(corpus)
    gold = gold_of(corpus, raters=["ann", "judge"])
    (shares,) = shares_of(gold)
    assert (shares.is_weighted, shares.n_items) == (False, gold.n - gold.without)
    assert shares.problem.startswith("No review campaign drew 34 of the items with gold")
    assert campaign.tasks.count() == N - 34


def test_pages_without_weights_say_that_figures_are_of_the_rated_items(
    corpus: Corpus, researcher: Client
) -> None:
    campaign = reviewed(corpus)
    sentence = "of the rated items, not of all items"
    for rater, is_of_people in (("people", True), ("judge", False)):
        query = {"rater": rater, "questions": question().key, "resamples": "100"}
        page = researcher.get(reverse("counts", args=[corpus.pk]), query).content.decode()
        assert (sentence in page) is is_of_people
    whole = factories.scheme_version("cocoeval_overall").questions.order_by("position").first()
    items = list(corpus.items.filter(kind="dialogue").order_by("pk")[:4])
    ann = Rater.objects.get(name="ann")
    for item in items:
        Label.objects.create(item=item, question=whole, rater=ann, occasion="imported", number=5)
    assert sentence in researcher.get(reverse("turns-and-whole", args=[corpus.pk])).content.decode()
    assert rated_only(of_campaign(campaign), [question().pk]) != ""
    assert rated_only(of_corpus(corpus), [whole.pk]) == ""


def test_watching_a_review_campaign_says_what_is_weighted(corpus: Corpus, researcher: Client) -> None:
    campaign = reviewed(corpus)
    answer(corpus, campaign, "ben")
    page = researcher.get(reverse("campaign-watch", args=[campaign.pk])).content.decode()
    assert "agreement is weighted to all items drawn from" in page
    told = researcher.get(reverse("api-campaign-watch", args=[campaign.pk])).json()
    assert told["agreement"]["weighted"] is True


def test_an_order_effect_of_people_is_weighted_and_preferences_say_that_they_are_not(
    researcher: Client,
) -> None:
    corpus = compared_world(dialogues=8)
    about = factories.scheme_version("preference").questions.get()
    campaign = factories.campaign(corpus, "preference", name="pairs", opened=False)
    pairs = list(corpus.items.filter(kind="pair").order_by("pk"))
    sizes = (("flagged", pairs[:8], 1.0), ("rest", pairs[8:12], 4 / 16))
    strata = [
        {"stratum": name, "items": round(len(items) / p), "sampled": len(items), "probability": p}
        for name, items, p in sizes
    ]
    Campaign.objects.filter(pk=campaign.pk).update(review_strata={"strata": strata})
    bea, twice = (
        Rater.objects.create(name=name, kind=kind) for name, kind in (("bea", "human"), ("twice", "judge"))
    )
    gains = []
    for name, items, p in sizes:
        for number, item in enumerate(items):
            SampledItem.objects.create(campaign=campaign, item=item, probability=p, stratum=name)
            shown, text = [[0, 1], [1, 0]][number % 2], "second" if number % 3 else "first"
            own = {"item": item, "question": about, "shown": shown, "text": text}
            Label.objects.create(rater=bea, campaign=campaign, occasion="main", **own)
            gains.append((1 / p, shown == [1, 0], (text == "second") == (shown == [1, 0])))
    for number, item in enumerate(pairs):
        for sample, (shown, text) in enumerate(
            (([0, 1], "first"), ([1, 0], "second" if number % 3 else "first"))
        ):
            own = {"item": item, "question": about, "shown": shown, "text": text}
            Label.objects.create(rater=twice, occasion="main", sample=sample, **own)
    definition = {"raters": ["bea", "twice"], "resamples": 200}
    study = studies.create(by=None, corpus=corpus, campaign=None, name="pairs", definition=definition)
    result = snapshot_of(studies.compute(study=study, part="all", by=None))
    ((row,),) = [biased.rows for biased in result.biases]
    (control,) = row.people
    orders = [
        np.average(
            [won for _, order, won in gains if order is swapped],
            weights=[w for w, order, _ in gains if order is swapped],
        )
        for swapped in (False, True)
    ]
    assert control.value == pytest.approx(np.mean(orders) - 0.5)
    assert "unequal_probabilities" in control.flags
    assert (row.effect.n_items, "unequal_probabilities" in row.effect.flags) == (len(pairs), False)
    assert row.effect.value == pytest.approx((1 + 2 / 3) / 2 - 0.5)
    assert result.preferences[0].caveat.startswith("People’s items were drawn with unequal probabilities")
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert "Preferences have no weighted form" in page
    assert "equal answers in both orders has no weighted form" in page
