"""Charts: nothing is cut, the picture of verdicts, texts for screen readers, and titles within a report."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Any
from xml.etree import ElementTree

import pytest

from annotation.models import Corpus
from calibration.reports import charts
from calibration.reports.chart_layout import MOST_LABELS, TOTAL, place_rows, text_width, wrap
from calibration.reports.charts import Chart, Point, alt_text, inline_svg, png, svg
from calibration.reports.overview import MOST_ROWS, overview
from calibration.reports.results import Floor, FloorRow, RaterVerdict, SystemDot
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.reports.view import charts_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.levels_world import static
from tests.calibration.rated_world import SYSTEMS, Rated
from tests.calibration.snapshots import answerer, figure, question, snapshot
from tests.calibration.world import world

LONG = (
    "How well does the assistant’s reply take up everything that the customer has said so far, including "
    "complaints, questions left open, and hints about feelings that were not spoken out in so many words?"
)
CHINESE = (
    "这个回复有多好？请考虑到目前为止对话中的所有内容，包括客户的抱怨、未回答的问题以及没有明确表达的情绪。"
)
KAPPA = "cohen_kappa_quadratic"


def point(question_text: str, series: str, value: float | None, **named: Any) -> Point:
    """Return a point with an interval of 0.2 around its value."""
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    reason = "" if value is not None else "nobody rated an item twice"
    plain: dict[str, Any] = {"n_items": 90, "n_clusters": 30, "reason": reason}
    return Point(question_text, series, value, *ends, **(plain | named))


def texts(markup: str) -> list[str]:
    """Return the texts of a drawing, those of several lines joined."""
    tree = ElementTree.fromstring(markup)
    elements = [element for element in tree.iter() if element.tag.rpartition("}")[2] == "text"]
    return ["".join(element.itertext()) for element in elements]


def squeezed(markup: str) -> str:
    """Return all texts of a drawing without white space, so that wrapped names can be looked for."""
    return "".join("".join(texts(markup)).split())


# Layout.


@pytest.mark.parametrize("text", [LONG, CHINESE, "x" * 200, "gpt-4o@support/v12_with-reasons", "", "a  b\nc"])
def test_wrapped_text_fits_its_width_and_loses_nothing_but_white_space(text: str) -> None:
    lines = wrap(text, MOST_LABELS)
    assert all(text_width(line) <= MOST_LABELS for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_names_break_at_their_joints_and_chinese_lines_do_not_begin_with_a_full_stop() -> None:
    assert wrap("gpt-4o-2024-08-06@support-judge/v12", 200)[1].startswith("judge/v12")
    assert not any(line.startswith(("？", "，", "、", "。")) for line in wrap(CHINESE, 150))


def test_rows_of_one_figure_a_question_are_named_by_the_question_others_stand_under_it() -> None:
    def names(*points: Point, title: str = "Agreement") -> list[list[str]]:
        rows = place_rows([asdict(of) for of in points], title)
        return [[text["text"] for text in group] for group in (rows.headings, rows.names, rows.key)]

    people, judge = point("Rude", "people", 0.4), point("Rude", "gpt", 0.3)
    kind, score = point("Kind", "gpt", 0.2), point("Kind", "USR", 0.2)
    assert names(people, judge, kind) == [["Rude", "Kind"], ["people", "gpt", "gpt"], []]
    assert names(judge, score) == [[], ["Rude", "Kind"], ["gpt", "USR"]]
    assert names(people, judge, title="Agreement: Rude") == [[], ["people", "gpt"], []]


def test_a_chart_of_one_row_is_as_high_as_its_row_and_no_wider_than_the_others() -> None:
    one = Chart("k", "Agreement", "κ", (point("Rude", "gpt", 0.4),), top=1.0)
    many = Chart("k", "Agreement", "κ", tuple(point(f"q{n}", "gpt", 0.4) for n in range(40)), top=1.0)
    boxes = [re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', inline_svg(chart)) for chart in (one, many)]
    (width, low), (same, high) = [(float(box[1]), float(box[2])) for box in boxes if box]
    assert width == same == TOTAL
    assert low < 110
    assert high > 40 * 24


# What is drawn.

AWKWARD = {
    "rows": Chart(
        "rows",
        "Agreement",
        "κ, 95% interval over dialogues",
        tuple(
            point(of, series, None if (of, series) == (LONG, "x" * 200) else 0.3, n_items=n)
            for of in (LONG, CHINESE, "Rude")
            for n, series in enumerate(("people with people", "x" * 200, "评判模型一号"), 1)
        ),
        top=1.0,
    ),
    "raters": Chart(
        "severity",
        "Who rates lower or higher",
        "Lower or higher",
        tuple(
            point(f"rater {n} {'y' * n}".strip(), ("people", "judges")[n % 2], n / 40 - 0.5)
            for n in range(40)
        ),
    ),
    "bars": Chart(
        "marked-1",
        "Marked turns",
        "Turns",
        (point(LONG, "people", 12.0), point(LONG, "gpt", 7.5)),
        bars=True,
    ),
    "curve": Chart(
        "reliability-1",
        "Reliability",
        "Share that people affirm",
        tuple(point("Rude", s, x, x=x) for s in ("Platt", "isotonic") for x in (0.1, 0.5, 0.9)),
        x_axis="Probability",
        diagonal=True,
    ),
    "systems": Chart(
        "systems-1-1",
        "Systems",
        LONG,
        (),
        dots=tuple(
            SystemDot(name, n, n - 0.1, n + 0.1, n, n - 0.2, n + 0.2)
            for n, name in enumerate(("z" * 200, "b", "模型"))
        ),
        up=CHINESE,
    ),
}


@pytest.mark.parametrize("chart", AWKWARD.values(), ids=list(AWKWARD))
def test_long_names_are_drawn_in_full_and_in_the_colours_of_the_page(chart: Chart) -> None:
    drawn = svg(chart)
    assert "…" not in drawn
    for name in (*chart.questions, *chart.series, *(dot.system for dot in chart.dots)):
        assert "".join(name.split()) in squeezed(drawn) or name in chart.title or chart.x_axis, name
    assert not re.search(r"#[0-9a-f]{6}", inline_svg(chart)), "every colour follows the page's scheme"
    assert png(chart).startswith(b"\x89PNG")


def test_a_file_has_a_white_ground_of_its_own() -> None:
    assert '<rect width="100%" height="100%" fill="#fff"/>' in svg(AWKWARD["rows"])
    assert 'fill="#fff"' not in inline_svg(AWKWARD["rows"])


def test_values_stand_beside_their_marks_and_items_once_where_they_are_the_same() -> None:
    same = Chart("k", "Agreement", "κ", (point("Rude", "people", 0.62), point("Rude", "gpt", 0.58)), top=1.0)
    assert {"0.62", "0.58", "κ; 90 items"} <= set(texts(svg(same)))
    differs = replace(same, points=(same.points[0], replace(same.points[1], n_items=1_234_567)))
    assert {"items", "90", "1,234,567", "κ"} <= set(texts(svg(differs)))


# The result in words.


def test_the_text_of_a_chart_says_its_result() -> None:
    people, judge = point("Rude", "People", 0.62), point("Rude", "gpt", 0.58)

    def spoken(title: str, *points: Point) -> str:
        return alt_text(Chart("k", title, "κ", points))

    assert spoken("Is it rude?", people, judge) == "Is it rude? Rude: People 0.62, gpt 0.58."
    assert spoken("Agreement: Rude", people, judge) == "Agreement: Rude: People 0.62, gpt 0.58."
    missing = point("Rude", "gpt", None)
    assert "gpt none (nobody rated an item twice)" in spoken("Agreement", people, missing)
    curve = "0.10 at 0.1, 0.50 at 0.5, 0.90 at 0.9"
    assert alt_text(AWKWARD["curve"]) == f"Reliability: Platt {curve}; isotonic {curve}."
    assert alt_text(AWKWARD["systems"]).startswith("Systems: 模型 2.00 beside 2.00, b 1.00 beside 1.00, zzz")


def test_of_many_values_the_text_has_the_extremes_of_each_series() -> None:
    assert alt_text(AWKWARD["raters"]) == (
        f"Who rates lower or higher: people from −0.50 (rater 0) to 0.45 (rater 38 {'y' * 38}); "
        f"judges from −0.47 (rater 1 y) to 0.47 (rater 39 {'y' * 39})."
    )


# The picture of verdicts.


def verdict(rater: str, value: float | None, *, ref: str = "quality", **named: Any) -> RaterVerdict:
    """Return a verdict whose agreement has a value, beside people's 0.62 on the same items."""
    ends = None if value is None else (value - 0.1, value + 0.1)
    plain: dict[str, Any] = {
        "ref": ref,
        "title": ref.title(),
        "rater": rater,
        "kind": "judge",
        "state": "trust",
        "reasons": (),
        "sentence": "Only 4 turns were marked.",
        "next_step": "",
        "step": "none",
        "statistic": KAPPA,
        "agreement": figure(f"judge_{KAPPA}", value, ends),
        "people": figure(f"people_{KAPPA}", 0.62, (0.51, 0.71)),
        "gap": None,
        "baseline": None,
        "baseline_name": "",
        "n_answered": 90,
        "n_items": 90,
    }
    return RaterVerdict(**(plain | named))


def judged(*verdicts: RaterVerdict, **named: Any) -> Snapshot:
    """Return a report with verdicts, whose questions two people answered."""
    refs = dict.fromkeys(of.ref for of in verdicts)
    raters = (answerer("ann"), answerer("ben"), *(answerer(of.rater, "judge") for of in verdicts))
    questions = tuple(
        question(ref=ref, key=ref, title=ref.title(), level="ordinal", values=[1, 2, 3], raters=raters)
        for ref in refs
    )
    return snapshot(questions=questions, verdicts=verdicts, **named)


def drawn(result: Snapshot) -> Chart:
    """Return the picture of a report that has one."""
    chart = overview(result)
    assert chart is not None
    return chart


def constant(value: float, name: str = KAPPA, ref: str = "quality") -> Floor:
    """Return a question's baselines: the most frequent answer."""
    row = FloorRow("majority", "baseline", "3", (figure(name, value),), "")
    return Floor(ref, ref.title(), "others", (row,))


def test_the_picture_has_people_each_judge_and_the_best_baseline_on_one_axis() -> None:
    chart = drawn(judged(verdict("v2", 0.58), verdict("v1", 0.31), floors=(constant(0.0),)))
    assert alt_text(chart) == (
        "Agreement with people: Quality: People with each other 0.62, v2 0.58, v1 0.31, "
        "Always the most frequent answer 0.00."
    )
    assert [of.role for of in chart.points] == ["people", "", "", "baseline"]
    assert chart.caption == (
        "Cohen’s kappa, quadratic weights on 90 turns; lines are 95% intervals over 30 dialogues."
    )
    assert "Agreementwithpeople" not in squeezed(svg(chart)), "the title stands above, once"
    assert charts_of(judged(verdict("v2", 0.58)))[0].key == "overview"


def test_a_report_without_a_verdict_that_has_a_figure_has_no_picture() -> None:
    assert overview(judged()) is None
    assert overview(judged(verdict("v2", None), verdict("v1", None, agreement=None))) is None


def test_a_baseline_by_another_statistic_is_not_on_the_axis() -> None:
    length = verdict("v2", 0.58, baseline=figure("baseline_spearman", 0.4), baseline_name="length in words")
    assert [of.series for of in drawn(judged(length)).points] == ["People with each other", "v2"]
    ranked = replace(length, statistic="spearman")
    assert [of.series for of in drawn(judged(ranked)).points][-1] == "length in words"


def test_people_have_a_row_for_each_set_of_items_that_raters_share_with_them() -> None:
    fewer = replace(figure(f"people_{KAPPA}", 0.7, (0.6, 0.8)), n_items=40)
    chart = drawn(judged(verdict("v2", 0.58), verdict("v1", 0.31, people=fewer), verdict("v3", 0.2)))
    assert [of.series for of in chart.points] == [
        "People with each other, items of v2 and v3",
        "v2",
        "v3",
        "People with each other, items of v1",
        "v1",
    ]
    assert "on 40 to 90 turns" in chart.caption


def test_raters_by_another_statistic_are_named_under_the_picture() -> None:
    metric = verdict("USR", 0.3, statistic="spearman", kind="metric")
    chart = drawn(judged(verdict("v2", 0.58), metric))
    assert "USR" not in chart.series
    assert chart.caption.endswith(
        "Measured otherwise, in the sections below: USR on Quality (Spearman’s rank correlation)."
    )
    scores = [
        verdict(name, 0.3, ref=f"score {n}", statistic="spearman") for n in range(5) for name in ("a", "b")
    ]
    assert drawn(judged(verdict("v2", 0.58), *scores)).caption.endswith(
        "a and b on Score 2 (Spearman’s rank correlation); 2 more questions."
    )


def test_kappas_of_tags_and_of_scales_share_an_axis() -> None:
    tag = verdict("a", 0.3, ref="tag", statistic="cohen_kappa")
    chart = drawn(judged(verdict("v2", 0.58), tag))
    assert chart.questions == ["Quality", "Tag"]
    assert chart.axis.startswith("Cohen’s kappa (quadratic weights on ordered scales)")


def test_a_rater_without_a_figure_says_why_and_one_person_has_no_row() -> None:
    nothing = verdict("v1", None, agreement=None, people=None)
    chart = drawn(judged(verdict("v2", 0.58, people=None), nothing))
    reasons = [(of.series, of.reason) for of in chart.points]
    assert reasons == [("v2", ""), ("v1", "Only 4 turns were marked.")]


def test_the_leading_question_comes_first_and_what_does_not_fit_is_counted() -> None:
    tags = [f"tag {n}" for n in range(10)]
    verdicts = [verdict(f"judge {n}", 0.3 + n / 10, ref=tag) for tag in tags for n in range(3)]
    verdicts += [verdict("judge 0", 0.5, ref="overall")]
    chart = drawn(judged(*verdicts, floors=tuple(constant(0.0, ref=tag) for tag in tags)))
    assert chart.questions == ["Overall", "Tag 0"]
    assert chart.title == "Agreement with people: Overall and 1 more question"
    assert len(chart.points) <= MOST_ROWS
    assert "45 more rows in the sections below." in chart.caption
    box = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', inline_svg(chart))
    assert box
    assert float(box[1]) < 500


def test_of_thirty_judges_the_first_are_drawn_with_people_and_the_baseline() -> None:
    chart = drawn(judged(*(verdict(f"judge {n}", n / 30) for n in range(30)), floors=(constant(0.0),)))
    assert len(chart.points) == MOST_ROWS
    assert chart.series[0] == "People with each other"
    assert chart.series[-1] == "Always the most frequent answer"
    assert "17 more rows in the sections below." in chart.caption


def test_simulated_raters_are_not_called_people_in_the_picture() -> None:
    raters = (answerer("r1", simulated=True), answerer("r2", simulated=True), answerer("v2", "judge"))
    named = question(ref="quality", key="quality", title="Quality", level="ordinal", raters=raters)
    chart = drawn(snapshot(questions=(named,), verdicts=(verdict("v2", 0.58),)))
    assert "people" not in f"{chart.title} {chart.series} {chart.caption}".lower()


# All charts of reports with every kind of chart.


def _behaviours() -> Corpus:
    """Two schemes of behaviours, with wordings of two hundred characters."""
    built = world(dialogues=24, turns=2)
    keys = {f"{scheme[0]}{n}": n for scheme in ("tags", "more tags") for n in range(3)}
    for key, n in keys.items():
        scheme, wording = ("tags" if key[0] == "t" else "more tags"), (LONG, CHINESE, "Repeats")[n]
        built.ask(key, "binary", [0, 1], scheme=scheme, wording=wording, group="Signs", positive=1)
    for key, n in keys.items():
        for every, name in enumerate(("ann", "ben", "gpt" * 30), 3 + n):
            kind = "judge" if name.startswith("gpt") else "human"
            built.say(name, key, [float(n % every == 0) for n in range(48)], kind=kind)
    return built.corpus


def _people() -> Corpus:
    """Three questions of one wording, three people and two judges."""
    built = world(dialogues=6, turns=4)
    for key, level, values in (
        ("quality", "ordinal", [1, 2, 3, 4, 5]),
        ("rude", "binary", [0, 1]),
        ("score", "interval", [1, 2, 3, 4, 5]),
    ):
        positive = {"positive": 1} if level == "binary" else {}
        built.ask(key, level, values, wording="The same wording", **positive)
        for place in range(5):
            answers = [values[(n + n // (place + 2)) % len(values)] for n in range(24)]
            kind = "human" if place < 3 else "judge"
            built.say(f"rater {place}", key, [float(answer) for answer in answers], kind=kind)
    return built.corpus


def _scores() -> Corpus:
    """A metric read as the answer to two questions of one wording."""
    built = world(dialogues=20, turns=3)
    built.ask("score", "ratio", wording="Score")
    for key in ("polite", "kind"):
        built.ask(key, "binary", [0, 1], positive=1, wording="The same wording")
        for place in range(3):
            built.say(f"rater {place}", key, [float((n + (n % (7 + place) == 0)) % 2) for n in range(60)])
    built.say("gauge", "score", [n % 2 + n / 90 for n in range(60)], kind="metric")
    return built.corpus


def _systems() -> Corpus:
    """Two tables of systems: of answers to given dialogues, and of dialogues of their own."""
    rated = Rated(static(systems=SYSTEMS))
    for number in range(4):
        dialogue = factories.dialogue(rated.corpus, f"own{number}", turns=4, system="abcd"[number])
        own = dialogue.continuations.get(key="self")
        for item in own.items.filter(kind="turn").select_related("turn"):
            rated.built.turns[dialogue.key, "own", item.turn.position] = item  # type: ignore[union-attr]
    rated.built.turns = {place: item for place, item in rated.built.turns.items() if place[1] == "own"}
    for name, kind in (("ann", "human"), ("judge", "judge")):
        rated.say(name, rated.turn, lambda d, s, t: 1.0 + (int(d[-1]) + t) % 5, kind=kind)
    return rated.corpus


@pytest.mark.django_db
@pytest.mark.parametrize(
    "build,definition,keys",
    [
        (_behaviours, {}, {"cohen_kappa", "marked-1", "marked-2"}),
        (_people, {}, {"cohen_kappa", "cohen_kappa_quadratic", "severity"}),
        (
            _scores,
            {
                "questions": [
                    {
                        "question": f"{key}@1/{key}",
                        "answered_by": [{"question": "score@1/score", "map": "rank"}],
                    }
                    for key in ("polite", "kind")
                ]
            },
            {"reliability-1", "reliability-2"},
        ),
        (
            _systems,
            {"questions": ["comperdial_turn@1/overall"], "level": ["turn", "system"]},
            {"systems-1-1", "systems-2-1"},
        ),
    ],
)
def test_the_charts_of_a_report_have_titles_of_their_own_nothing_cut_and_their_values_in_words(
    build: Any, definition: dict[str, Any], keys: set[str]
) -> None:
    study = studies.create(name="charts", corpus=build(), definition=definition | {"resamples": 30}, by=None)
    drawings = charts_of(snapshot_of(studies.compute(study=study, part="all", by=None)))
    assert {chart.key for chart in drawings} >= keys
    assert len({chart.title for chart in drawings}) == len(drawings), [chart.title for chart in drawings]
    assert len({chart.key for chart in drawings}) == len(drawings)
    for chart in drawings:
        check(chart)


def check(chart: Chart) -> None:
    """Hold a chart's drawing and its words against its points."""
    markup, spoken = svg(chart), alt_text(chart)
    assert "…" not in markup
    values = [of.value for of in chart.points if of.value is not None]
    values = values if len(values) <= charts.MOST_SPOKEN else [min(values), max(values)]
    for value in values:
        text = charts.value_text(chart, value)
        assert text in spoken
        assert chart.x_axis or text in texts(markup)
    for name in chart.series if chart.points and not chart.x_axis else ():
        assert name in spoken or name in charts.AMONG, name
