"""Reports on labels of review campaigns: figures are weighted by 1 / probability, or their limit is named."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score

from annotation.models import Campaign, Corpus, Label, Question, Rater
from calibration.ratings.definitions import parse
from calibration.ratings.ratings import load, places, subjects_of
from calibration.ratings.scope import census, of_campaign, of_corpus
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests import factories

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


def reviewed(corpus: Corpus, seed: int = 0, share: float = SHARE, person: str = "ann") -> Campaign:
    """Return a review campaign of all flagged items and a share of the rest, answered by a person."""
    strata = [{"rule": "flagged", "share": 1}, {"rule": "rest", "share": share}]
    campaign = factories.campaign(
        corpus,
        "cocoeval_behaviours",
        name=f"review {seed}",
        opened=True,
        seed=seed,
        review={"judges": ["judge"], "question": question().key, "strata": strata},
    )
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
    }
    assert result.raters == ()
    assert all(figure.status == "rejected" for figure in compared.replacement)


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


def test_two_campaigns_over_the_same_items_are_averaged(corpus: Corpus) -> None:
    campaigns = [reviewed(corpus, seed, share, f"p{seed}") for seed, share in ((1, 0.2), (2, 0.4))]
    scope = of_corpus(corpus)
    counted = census(scope)
    where = places(scope, {"turn"})
    (subject,) = subjects_of(parse({}), counted)
    data = load(scope, subject, counted, where)
    sizes = [(15 + 9 * 5) ** 2 / (15 + 9 * 25), (15 + 18 * 2.5) ** 2 / (15 + 18 * 6.25)]
    shares = [size / sum(sizes) for size in sizes]
    drawn = [set(c.tasks.values_list("continuation__dialogue__key", flat=True)) for c in campaigns]
    for key, weight in data.design.weights.items():
        name = key.split("/")[0]
        if int(name[1:]) % 4 == 0:
            assert weight == pytest.approx(1)
        else:
            expected = sum(
                share * w for share, w, d in zip(shares, (5, 2.5), drawn, strict=True) if name in d
            )
            assert weight == pytest.approx(expected)
    assert len(data.design.weights) == len(drawn[0] | drawn[1])
    own = load(of_campaign(campaigns[0]), subject, census(of_campaign(campaigns[0])), where)
    assert sum(own.design.weights.values()) == pytest.approx(N)
