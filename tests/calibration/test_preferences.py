"""Preferences from labels: people, a judge with known position bias in both orders, and their display."""

from __future__ import annotations

import io
import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpora import comparisons, splits
from annotation.models import Corpus, Item, Label, Occasion, Rater
from annotation.work import labels as recording
from annotation.work.labels import Answer
from judges.runs.plans import Judge
from judges.runs.selection import Selection, items
from tests import factories
from tests.judges.helpers import begin, endpoint_of, finish

if TYPE_CHECKING:
    from django.test import Client

    from tests.fake_llm import FakeLLM

SYSTEMS = {"ash": (5, 4), "birch": (4, 3), "cedar": (2, 1)}
"""The qualities of each system's answers: never alike in one dialogue."""
BIAS, DIALOGUES = 0.3, 12


def world(dialogues: int = 6) -> Corpus:
    """Dialogues that three systems answer at one point, and a person who knows which answer is better."""
    rng, corpus = random.Random(7), factories.corpus()
    sets = []
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=1)
        turns = []
        for name, qualities in SYSTEMS.items():
            text = f"{rng.random()} {{quality {qualities[number % 2]}}}"
            line = [{"text": text, "at": 1, "speaker": "B"}]
            one = factories.continuation(dialogue, f"k{len(turns)}", system=name, turns=line, mode="static")
            turns.append((one.pk, one.turns.get().pk))
        sets += [[turns[i], turns[j]] for i, j in ((0, 1), (0, 2), (1, 2))]
    comparisons.make(corpus=corpus, sets=sets)
    question = factories.scheme_version("preference").questions.get()
    person = Rater.objects.create(corpus=corpus, kind="human", name="ann")
    pairs = comparisons.members_of(
        Item.objects.filter(corpus=corpus, kind="pair").values_list("pk", flat=True)
    )
    order = list(SYSTEMS)
    answers = []
    for item, members in pairs.items():
        first, second = (order.index(one.continuation.system.name) for one in members)
        shown = (1, 0) if item % 2 else (0, 1)
        answers.append(Answer(item, question, "first" if first < second else "second", shown=shown))
    recording.record(rater=person, answers=answers, occasion=Occasion.IMPORTED)
    return corpus


def _report(corpus: Corpus, *options: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("pairs", "--corpus", corpus.name, "--resamples", "200", "--json", *options, stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_what_a_report_says_of_a_judge_is_its_known_pull_to_the_first(fake: FakeLLM) -> None:
    fake.model.position_bias = BIAS
    corpus = world(DIALOGUES)
    run = begin(corpus, Judge("pairwise", endpoint=endpoint_of(fake), scheme="preference"), samples=2)
    finish(seconds=90)
    run.refresh_from_db()
    labels = Label.objects.filter(rater=run.rater)
    assert labels.count() == DIALOGUES * 3 * 2
    assert {(one.sample, tuple(one.shown or ())) for one in labels} == {(0, (0, 1)), (1, (1, 0))}
    assert not [prompt for prompt in fake.requests if any(name in prompt for name in (*SYSTEMS, "k0"))]
    people, judge = (found := _report(corpus)["questions"][0])["voters"]
    both = judge["position"]["both_orders"]
    for name, truth in (("consistent", 1 - BIAS), ("for_first", BIAS)):
        assert both[name]["low"] <= truth <= both[name]["high"], name
        assert both[name]["n_items"] == DIALOGUES * 3
    assert both["for_second"]["value"] == both["otherwise"]["value"] == 0
    first = judge["position"]["shown_first"]
    assert first["low"] <= 0.5 + BIAS / 2 <= first["high"]
    assert [one["system"] for one in judge["systems"]] == ["ash", "birch", "cedar"]
    agreed = {one["setup"]: one["figures"]["percent_agreement"]["value"] for one in found["agreement"][2:]}
    assert agreed["without_ties"] == 1
    assert agreed["with_ties"] == pytest.approx(both["consistent"]["value"])
    assert people["systems"][0]["win_rate"]["value"] == 1
    assert people["systems"][0]["strength"]["status"] == "undefined"


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_reply_that_says_nothing_leaves_the_answer_missing_with_a_reason(fake: FakeLLM) -> None:
    judge = Judge("pairwise", endpoint=endpoint_of(fake), scheme="preference")
    assert judge.usual_samples() == 2
    assert judge.plan().rater.name.endswith("pairwise preference@1")
    corpus = world(2)
    chosen = Selection(corpus, systems=("ash", "birch"))
    assert items(chosen, "pair").count() == 2
    assert items(Selection(corpus), "turn").count() == 2 * 3
    fake.mode = "malformed"
    run = begin(corpus, judge, samples=2)
    finish(seconds=90)
    run.refresh_from_db()
    assert run.values == 0
    assert _report(corpus)["questions"][0]["voters"][-1]["n_missing"] in (0, 2 * 3 * 2)


@pytest.mark.django_db
def test_the_page_its_files_and_the_api_show_the_same(researcher: Client) -> None:
    corpus = world()
    address = reverse("preferences", args=[corpus.pk])
    shown = researcher.get(address, {"resamples": "100"}).content.decode()
    assert "Systems, by people" in shown
    assert "ash never lost a point" in " ".join(shown.split()).replace("Ash", "ash")
    assert "<svg" in shown
    assert researcher.get(address, {"anchor": "oak"}).status_code == 422
    assert researcher.get(address, {"question": "tone"}).status_code == 422
    told = researcher.get(reverse("preferences-file", args=[corpus.pk, "json"]), {"resamples": "100"}).json()
    api = researcher.get(reverse("api-preferences", args=[corpus.pk]), {"resamples": "100"}).json()
    assert api == told
    assert api["questions"][0]["voters"][0]["systems"][0]["win_rate"]["n_items"] == 12
    for form, text in (("csv", "win_rate"), ("md", "| System |"), ("latex", r"\toprule"), ("svg", "<svg")):
        answer = researcher.get(reverse("preferences-file", args=[corpus.pk, form]), {"resamples": "0"})
        assert text in answer.content.decode()
    assert (
        reverse("preferences", args=[corpus.pk])
        in researcher.get(reverse("corpus-results", args=[corpus.name])).content.decode()
    )


@pytest.mark.django_db
def test_without_comparisons_it_says_what_to_do(researcher: Client) -> None:
    corpus = factories.corpus()
    shown = researcher.get(reverse("preferences", args=[corpus.pk])).content.decode()
    assert "No preferences yet" in shown
    with pytest.raises(CommandError, match="nobody compared responses here yet"):
        _report(corpus)
    with pytest.raises(CommandError, match="name a ratings file, or --corpus"):
        call_command("pairs")


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_test_is_shown_once_somebody_said_what_for(researcher: Client) -> None:
    corpus = world()
    split = splits.draw(corpus=corpus, by=None)
    clusters = split.clusters.filter(part="dev").count()
    page = reverse("preferences", args=[corpus.pk])
    assert "dev part of split" in researcher.get(page, {"resamples": "0"}).content.decode()
    rate = _report(corpus)["questions"][0]["voters"][0]["systems"][0]["win_rate"]
    assert rate["n_clusters"] == clusters
    with pytest.raises(CommandError, match="test was not opened"):
        _report(corpus, "--part", "test")
    refused = researcher.post(reverse("preferences-test", args=[corpus.pk]), {"purpose": " "}, follow=True)
    assert "Test was not opened" in refused.content.decode()
    opened = researcher.post(
        reverse("preferences-test", args=[corpus.pk]), {"purpose": "the final table"}, follow=True
    )
    assert "the final table" in opened.content.decode()
    assert _report(corpus, "--part", "test")["name"].endswith("test part")
