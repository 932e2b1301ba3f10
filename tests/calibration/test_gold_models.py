"""Gold by rules that model raters, use adjudications or need a split; stored with their estimates."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Occasion
from calibration.errors import GoldRuleError
from calibration.gold.derivation import gold_or_job
from calibration.gold.export import provenance
from calibration.models import Gold
from jobs.models import Job
from tests import factories
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
NAMES = ("ann", "ben", "cem", "dee")


@pytest.fixture
def rated() -> World:
    """Forty turns rated by four people, each a little stricter than the one before."""
    built = world(dialogues=20, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    rng = np.random.default_rng(2)
    quality = rng.integers(2, 5, 40)
    for strict, name in enumerate(NAMES):
        noise = rng.integers(0, 2, 40) if name == "dee" else np.zeros(40)
        built.say(name, "quality", np.clip(quality - strict // 2 + noise, 1, 5).astype(float).tolist())
    return built


def _labels(gold: Gold) -> list:
    return list(gold.labels.order_by("item_id"))


def _decide(built: World, values: dict[int, float | None], name: str = "zoe") -> None:
    answers = {built.turns[place]: value for place, value in values.items()}
    built.say(name, "quality", answers, occasion=Occasion.ADJUDICATION)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


def test_options_are_kept_with_the_gold_and_in_its_hash(rated: World) -> None:
    one, other = rated.gold("trimmed_mean"), rated.gold("trimmed_mean", options={"share": "0.25"})
    assert (one.options["share"], other.options["share"]) == (0.2, 0.25)
    assert one.inputs_hash != other.inputs_hash
    assert rated.gold("trimmed_mean", options={"share": 0.25}) == other


def test_what_was_learned_about_raters_stays_with_the_gold(rated: World) -> None:
    gold = rated.gold("severity_adjusted_mean")
    found = provenance(gold)["findings"]["quality"]["raters"]
    assert list(found) == list(NAMES)
    assert found["ann"]["severity"] > found["cem"]["severity"]
    assert sum(row["severity"] for row in found.values()) == pytest.approx(0)
    assert {label.n_raters for label in _labels(gold)} == {4}


@pytest.mark.parametrize("rule", ["dawid_skene", "mace"])
def test_how_an_estimate_ended_stands_on_the_page_and_in_the_api(
    rated: World, researcher: Client, rule: str
) -> None:
    gold = rated.gold(rule)
    estimation = provenance(gold)["findings"]["quality"]["estimation"]
    assert set(estimation) == {"rounds", "log_likelihood", "converged"}
    assert estimation["converged"] is True
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    likelihood = f"{estimation['log_likelihood']:.1f}".replace("-", "\N{MINUS SIGN}")
    said = f"The estimate converged after {estimation['rounds']:,} rounds (log-likelihood {likelihood})."
    assert said in page
    answer = researcher.get(reverse("api-gold", args=[gold.pk])).json()
    assert answer["findings"]["quality"]["estimation"] == estimation


@pytest.mark.exhaustive
def test_what_was_learned_is_locked_with_a_test_part_that_nobody_opened(
    rated: World, researcher: Client
) -> None:
    gold = rated.gold("severity_adjusted_mean")
    split = splits.draw(corpus=rated.corpus, by=None)
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "Locked: it rests on answers about the test part" in page
    assert "Severity (below 0: stricter)</th>" not in page
    told = researcher.get(reverse("api-gold", args=[gold.pk])).json()["findings"]
    assert "raters" not in told["quality"]
    splits.open_test(split=split, by=None, purpose="the paper")
    assert (
        "Severity (below 0: stricter)</th>"
        in researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    )


@pytest.mark.exhaustive
def test_weights_are_learned_on_dev_alone_and_shown_while_test_is_locked(
    rated: World, researcher: Client
) -> None:
    split = splits.draw(corpus=rated.corpus, by=None)
    gold = rated.gold("weighted")
    split.refresh_from_db()
    assert split.fixed_at is not None
    assert gold.options["split"] == "main"
    assert "Weight</th>" in researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    tests = splits.clusters(split=split, part="test")
    hidden = [item for item in rated.turns if item.continuation.dialogue.cluster in tests]
    rated.say("eva", "quality", dict.fromkeys(hidden, 1.0))
    again = rated.gold("weighted")
    assert again != gold
    before, after = (made.findings["quality"]["raters"] for made in (gold, again))
    assert {name: after[name] for name in NAMES} == before
    assert after["eva"] == {"weight": 0, "agreement": None, "n": 0}


@pytest.mark.exhaustive
def test_weighting_without_a_split_is_refused(rated: World) -> None:
    with pytest.raises(GoldRuleError, match="the corpus has no split"):
        rated.gold("weighted")


@pytest.mark.exhaustive
def test_raters_nobody_knows_are_refused_by_a_rule_that_tells_them_apart(rated: World) -> None:
    rated.say("slot", "quality", [3.0] * 40, identified=False)
    for rule in ("dawid_skene", "mace", "severity_adjusted_mean"):
        with pytest.raises(GoldRuleError, match="it is not known who slot is"):
            rated.gold(rule)
    assert rated.gold("trimmed_mean").n == 40


@pytest.mark.exhaustive
def test_adjudications_win_and_each_label_says_where_it_is_from(rated: World) -> None:
    _decide(rated, {0: 5.0, 1: None, 2: 1.0})
    _decide(rated, {2: 2.0}, "yan")
    gold = rated.gold("adjudicated", options={"fallback": "median"})
    labels = _labels(gold)
    assert [(label.number, label.source, label.n_raters) for label in labels[:3]] == [
        (5.0, "adjudication", 1),
        (None, "adjudication", 0),
        (None, "adjudication", 2),
    ]
    assert labels[1].reason == "adjudicated as having no answer"
    assert labels[2].reason == "adjudicators decided differently: 1 and 2"
    plain = _labels(rated.gold("median"))
    assert [label.number for label in labels[3:]] == [label.number for label in plain[3:]]
    assert {label.source for label in labels[3:]} == {"median"}
    assert gold.options["adjudicators"] == ["yan", "zoe"]
    assert gold.options["raters"] == list(NAMES)


@pytest.mark.exhaustive
def test_what_was_decided_comes_first_in_every_rule_with_the_decision_and_its_reason(rated: World) -> None:
    before = rated.gold("mean")
    assert "decisions" not in before.options
    _decide(rated, {0: 5.0})
    first, second = _labels(rated.gold("mean"))[:2]
    assert (first.number, first.source, second.source, second.decisions) == (5.0, "adjudication", "mean", [])
    (told,) = first.decisions
    assert (told["by"], told["value"], told["reason"]) == ("zoe", 5.0, "")
    plain = rated.gold("mean", options={"decisions": "ignored"})
    assert [label.number for label in _labels(plain)] == [label.number for label in _labels(before)]


@pytest.mark.exhaustive
def test_a_new_decision_makes_another_gold_and_is_told_on_the_page(rated: World, researcher: Client) -> None:
    gold = rated.gold("adjudicated")
    plain = rated.gold("majority", options={"decisions": "ignored"})
    _decide(rated, {0: 5.0})
    assert rated.gold("adjudicated") != gold
    assert rated.gold("majority", options={"decisions": "ignored"}) == plain
    assert "1 label came" in researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "label came" not in researcher.get(reverse("gold", args=[plain.pk])).content.decode()
    assert rated.gold("majority") != plain


def test_an_item_that_was_adjudicated_alone_has_gold(rated: World) -> None:
    extra = world("more", dialogues=1, turns=2)
    extra.questions = rated.questions
    extra.say("ann", "quality", {extra.turns[0]: 2.0})
    _decide(extra, {1: 4.0})
    labels = _labels(extra.gold("adjudicated"))
    assert [(label.number, label.source, label.support) for label in labels] == [
        (2.0, "median", 1.0),
        (4.0, "adjudication", None),
    ]


def test_the_fallback_of_adjudication_follows_each_question_s_scale() -> None:
    built = world(dialogues=1, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3], scheme="both")
    built.ask("tone", "nominal", ["a", "b"], scheme="both")
    for name, score, tone in (("ann", 1.0, "a"), ("ben", 2.0, "a"), ("cem", 3.0, "b")):
        built.say(name, "quality", [score, score])
        built.say(name, "tone", [tone, tone])
    _decide(built, {0: 3.0})
    gold = built.gold("adjudicated")
    assert gold.options["fallback"] == "scale"
    labels = gold.labels.order_by("item_id", "question_id")
    assert [(label.number or label.text, label.source) for label in labels] == [
        (3.0, "adjudication"),
        ("a", "majority"),
        (2.0, "median"),
        ("a", "majority"),
    ]


@pytest.mark.exhaustive
def test_without_a_fallback_something_must_be_adjudicated(rated: World) -> None:
    with pytest.raises(GoldRuleError, match="nothing was adjudicated"):
        rated.gold("adjudicated", options={"fallback": "none"})


@pytest.mark.exhaustive
def test_a_rater_called_like_a_decision_is_a_rater(rated: World) -> None:
    rated.say("zoe (adjudication)", "quality", [5.0] * 40)
    _decide(rated, {0: 1.0})
    gold = rated.gold("adjudicated")
    assert sum(_labels(gold)[1].votes.values()) == 5


def test_nobody_waits_in_a_request_for_a_slow_rule(rated: World) -> None:
    version = rated.questions["quality"].version
    how = {"campaign": None, "scheme_version": version, "raters": [], "by": None}
    made = gold_or_job(corpus=rated.corpus, rule="mace", options={"seed": "3"}, **how)  # type: ignore[arg-type]
    assert isinstance(made, Job)
    assert made.params["options"] == {"ties": "none", "seed": 3, "decisions": "first"}
    assert not Gold.objects.exists()


@pytest.mark.exhaustive
def test_before_a_slow_rule_the_page_says_what_is_certain_and_what_is_not(researcher: Client) -> None:
    built = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben", "cem"):
        built.say(name, "quality", [1.0, 2.0, None, None])
    address = f"{reverse('new-gold')}?corpus={built.corpus.pk}"
    form = {"scheme": "quality@1", "rule": "mace"}
    preview = form | {"act": "preview"}
    page = researcher.post(address, preview)
    text = " ".join(page.content.decode().split())
    assert "At least 2 of 4 items would stay without a value, as nobody answered; how many stay " in text
    assert "without one because answers tie is known once MACE has been estimated." in text
    assert not Job.objects.exists()
    _decide(built, {2: 3.0, 3: 1.0})
    page = researcher.post(address, preview)
    assert "Each of 4 items has an answer; how many" in " ".join(page.content.decode().split())
    assert researcher.post(address, form | {"ties": "lowest"}).status_code == 302, "all have a value"
    assert researcher.post(address, form).status_code == 302
    assert Job.objects.count() == 2


@pytest.mark.exhaustive
def test_before_gold_of_many_labels_the_page_says_that_nothing_is_counted(
    rated: World, researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calibration.gold.derivation.AT_ONCE", 100)
    page = researcher.post(
        f"{reverse('new-gold')}?corpus={rated.corpus.pk}",
        {"scheme": "quality@1", "rule": "median", "act": "preview"},
    )
    assert "is not known: there are more than 100 labels" in " ".join(page.content.decode().split())
    assert not Job.objects.exists()


@pytest.mark.exhaustive
def test_the_form_takes_an_option_and_says_what_is_wrong_with_it(rated: World, researcher: Client) -> None:
    address = f"{reverse('new-gold')}?corpus={rated.corpus.pk}"
    form = {"scheme": "quality@1", "rule": "trimmed_mean", "share": "0.7", "seed": "x"}
    refused = researcher.post(address, form)
    assert refused.status_code == 422
    assert "share lies between 0 and 0.49, and 0.7 does not" in refused.content.decode()
    assert "whole number" not in refused.content.decode()
    researcher.post(address, form | {"share": "0.3"})
    assert Gold.objects.get().options["share"] == 0.3


@pytest.mark.exhaustive
def test_the_command_takes_options_and_refuses_what_they_cannot_be(rated: World, tmp_path) -> None:
    path = tmp_path / "gold.csv"
    asked = ("export_gold", "--corpus", "talks", "--rule", "trimmed_mean", "--output", str(path))
    out = io.StringIO()
    call_command(*asked, "--share", "0.25", stdout=out)
    assert json.loads(out.getvalue().splitlines()[-1])["options"]["share"] == 0.25
    assert {row["source"] for row in csv.DictReader(path.read_text().splitlines())} == {""}
    for wrong, message in (
        (("--share", "lots"), "share is a number, not 'lots'"),
        (("--ties", "none"), "Trimmed mean has no option 'ties'"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command(*asked, *wrong)


def test_questions_that_are_left_out_are_named_with_the_reason(researcher: Client) -> None:
    built = world(dialogues=1, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3], scheme="both")
    built.ask("tone", "nominal", ["a", "b"], scheme="both")
    built.say("ann", "quality", [1.0, 2.0])
    built.say("ann", "tone", ["a", "b"])
    gold = built.gold("mean")
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "tone: Mean needs an ordered scale, and this one is nominal" in page
