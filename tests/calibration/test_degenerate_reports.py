"""If a figure is undefined, a report gives the reason; it never shows 0 or NaN instead."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from calibration.reports import charts, sentences, tables
from calibration.reports.charts import inline_svg
from calibration.reports.figures import figures
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


def _tagged(**answers: list[float | None]) -> World:
    built = world(dialogues=3, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for name, values in answers.items():
        built.say(name, "off_topic", values, kind="judge" if name == "gpt" else "human")
    return built


def test_a_corpus_without_labels_has_an_empty_report() -> None:
    result = world().snapshot()
    assert result.questions == ()
    assert sentences.lede(result) == []
    assert charts.charts(result) == []


def test_one_rater_alone_is_nothing_to_compare() -> None:
    assert _tagged(ann=[1, 0, 1]).snapshot().questions == ()


def test_raters_who_share_no_item_are_too_few_with_the_reason() -> None:
    built = _tagged(ann=[1, 0])
    built.say("ben", "off_topic", dict.fromkeys(built.turns[2:4], 1.0))
    (question,) = figures(built.snapshot())
    entry = question.among("krippendorff_alpha")
    assert entry is not None
    assert (entry.status, entry.value) == ("insufficient", None)
    assert entry.reason


def test_all_answers_alike_have_no_kappa_but_percent_agreement() -> None:
    result = _tagged(ann=[0] * 6, ben=[0] * 6).snapshot()
    (question,) = figures(result)
    kappa, agreement = question.among("cohen_kappa"), question.among("percent_agreement")
    assert kappa is not None
    assert agreement is not None
    assert (kappa.status, kappa.value) == ("undefined", None)
    assert "no variation" in kappa.reason
    assert agreement.value == 1.0
    (answer,) = sentences.lede(result)
    assert answer.figure == "100%"
    assert answer.text == (
        "Share of pairs of ratings that agree on Off topic, over 6 turns. Krippendorff’s alpha has no value: "
        "no variation: every rating is 0; read percent agreement instead."
    )


def test_people_have_their_figures_where_a_judge_answered_nothing() -> None:
    people = {"ann": [0, 1, 0, 1, 0, 1], "ben": [0, 1, 1, 1, 0, 0], "cid": [0, 1, 0, 1, 0, 0]}
    result = _tagged(**people, gpt=[1, None, None, None, None, None]).snapshot()
    (question,) = figures(result)
    among, beside = question.among("cohen_kappa"), question.people_beside("cohen_kappa", "gpt")
    assert among is not None
    assert beside is not None
    assert (among.n_items, beside.n_items) == (6, 1)
    pairs = [(np.array(one), np.array(other)) for one, other in combinations(people.values(), 2)]
    apart = sum((one != other).mean() for one, other in pairs)
    by_chance = sum(np.subtract.outer(one, other).astype(bool).mean() for one, other in pairs)
    assert among.value == pytest.approx(1 - apart / by_chance)


def test_a_constant_judge_is_said_to_be_one() -> None:
    result = _tagged(ann=[0, 1, 0, 1, 0, 1], ben=[0, 1, 1, 1, 0, 0], gpt=[0] * 6).snapshot()
    said = "On Off topic, gpt gave the same answer to every item, which says nothing about agreement."
    assert said in sentences.caveats(result)
    mcc = figures(result)[0].with_people("mcc", "gpt")
    assert mcc is not None
    assert mcc.status == "undefined"


def test_what_a_tiny_pair_raises_is_not_said_of_the_data() -> None:
    """Cid answered three turns, all alike, as did ann and ben there; the data hold both answers."""
    built = world(dialogues=20, turns=6)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    both = [i % 2 for i in range(120)]
    built.say("ann", "off_topic", [1, 1, 1, *both[3:]])
    built.say("ben", "off_topic", [1, 1, 1, *both[3:60], *reversed(both[60:])])
    built.say("cid", "off_topic", [1, 1, 1])
    result = built.snapshot()
    (question,) = result.questions
    of_cid = [e for e in question.pairs if "cid" in e.raters]
    assert any({"few_events", "one_item"} & set(e.flags) or e.status != "ok" for e in of_cid)
    said = " ".join(sentences.caveats(result))
    assert "90%" not in said
    assert "gave the same answer" not in said
    assert "fewer than 30 items with the rarer" not in said


def test_missing_answers_are_counted() -> None:
    result = _tagged(ann=[0, 1, None, 1], ben=[0, 1, 1, 1]).snapshot()
    assert result.counts.missing == 1
    assert any(sentence.startswith("1 of 8 answers is missing") for sentence in sentences.caveats(result))


def test_a_single_dialogue_has_values_without_intervals() -> None:
    built = world(dialogues=1, turns=6)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    built.say("ben", "quality", [1.0, 2.0, 3.0, 2.0, 2.0, 3.0])
    result = built.snapshot()
    entry = figures(result)[0].among("krippendorff_alpha")
    assert entry is not None
    assert entry.value is not None
    assert entry.low is None
    assert any("one dialogue" in sentence for sentence in sentences.caveats(result))


def test_few_dialogues_are_a_caveat() -> None:
    assert sentences.caveats(_tagged(ann=[0, 1, 1], ben=[0, 1, 0]).snapshot())[0].startswith(
        "With two dialogues (fewer than 50), the intervals are too narrow"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("dialogues", "said"),
    [
        (49, "With 49 dialogues (fewer than 50), the intervals are too narrow."),
        (50, "With 50 dialogues (fewer than 150), the intervals are somewhat too narrow."),
        (150, ""),
    ],
)
def test_the_caveat_says_how_narrow_the_intervals_of_few_dialogues_are(dialogues: int, said: str) -> None:
    found = _narrow(_doubly_rated(dialogues, dialogues))
    assert found == ([said] if said else [])


@pytest.mark.exhaustive
def test_the_caveat_counts_the_dialogues_of_the_figure_and_not_of_the_corpus() -> None:
    assert _narrow(_doubly_rated(160, 20)) == [
        "With 20 dialogues (fewer than 50), the intervals are too narrow."
    ]


@pytest.mark.exhaustive
def test_the_caveat_names_the_figures_that_rest_on_few_dialogues() -> None:
    built = _doubly_rated(160, 160)
    answers = [float(n % 3 == 0) for n in range(160)]
    built.ask("tone", "binary", [0, 1])
    built.say("ann", "tone", answers)
    built.say("ben", "tone", [*answers[1:6], *[None] * 155])
    assert _narrow(built) == [
        "With fewer than 50 dialogues, intervals are too narrow. This concerns Tone (5)."
    ]


def _doubly_rated(dialogues: int, twice: int) -> Any:
    """One turn a dialogue: ann answers all of them, ben the first few."""
    built = world(dialogues=dialogues, turns=1)
    built.ask("act", "binary", [0, 1])
    answers = [float(n % 2) for n in range(dialogues)]
    built.say("ann", "act", answers)
    built.say("ben", "act", [*answers[1:twice], 0.0, *[None] * (dialogues - twice)])
    return built


def _narrow(built: Any) -> list[str]:
    return [
        sentence
        for sentence in sentences.caveats(built.snapshot())
        if "dialogues" in sentence and "narrow" in sentence
    ]


def test_few_of_the_rarer_answer_are_a_caveat() -> None:
    found = sentences.caveats(_tagged(ann=[0, 1, 1], ben=[0, 1, 0]).snapshot())
    assert any("fewer than 30 items with the rarer answer" in sentence for sentence in found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", list(RENDERINGS))
@pytest.mark.parametrize(
    "answers",
    [{}, {"ann": [1.0]}, {"ann": [0.0] * 6, "ben": [0.0] * 6}, {"ann": [None, None], "ben": [1.0, 1.0]}],
)
def test_every_form_of_every_degenerate_report_can_be_written(form: str, answers: dict[str, Any]) -> None:
    report = studies.compute(study=studies.automatic(corpus=_tagged(**answers).corpus), part="all", by=None)
    text = RENDERINGS[form].write(report)
    assert "NaN" not in text
    if form == "json":
        assert json.loads(text)["inputs_hash"] == report.inputs_hash


@pytest.mark.exhaustive
def test_hostile_names_are_escaped_in_charts_and_pages() -> None:
    built = world(dialogues=3, turns=2)
    built.ask("q", "binary", [0, 1], wording="<script>alert(1)</script>")
    for name in ("<b onload=x>", '"><img src=x>'):
        built.say(name, "q", [0, 1, 1, 0, 1, 0])
    built.say("</text><script>x()</script>", "q", [0, 1, 0, 0, 1, 0], kind="judge")
    report = studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)
    drawn = [inline_svg(chart) for chart in charts.charts(snapshot_of(report))]
    assert drawn
    for text in (*drawn, RENDERINGS["html"].write(report)):
        assert "<script" not in text
        assert "<img" not in text
        assert "<b onload" not in text


def test_metrics_meet_people_by_correlation_alone() -> None:
    built = world(dialogues=4, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.ask("value", "interval", scheme="metric:m_sns_avg")
    values = [1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 1.0, 3.0, 2.0, 2.0, 1.0, 3.0]
    built.say("ann", "quality", values)
    built.say("ben", "quality", [*values[:-2], 2.0, 3.0])
    built.say("m_sns_avg@paper", "value", [v * 0.31 + 0.01 * i for i, v in enumerate(values)], kind="metric")
    result = built.snapshot()
    table = tables.metrics(result)
    assert table is not None
    assert [(row.question, row.compared) for row in table.rows] == [("Quality", "m_sns_avg@paper")]
    (question,) = result.questions
    with_metric = {e.name for e in question.pairs if "m_sns_avg@paper" in e.raters}
    assert with_metric == {"spearman"}
