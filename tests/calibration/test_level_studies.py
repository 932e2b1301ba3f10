"""A study by level: its rows, the labels counted, and its report in every format."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.models import Continuation, Rater, Scheme, SchemeVersion
from annotation.models import Question as Asked
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import LevelRow, LevelTable
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.conftest import Compiled
from tests.calibration.levels_world import asked, static
from tests.calibration.rated_world import HOSTILE, PEOPLE, SYSTEMS, Rated

pytestmark = pytest.mark.django_db

TURN, WHOLE = "comperdial_turn@1/overall", "comperdial_dialogue@1/overall"
PLAIN: dict[str, Any] = {"baselines": False}


@pytest.fixture
def rated() -> Rated:
    return Rated(static(systems=SYSTEMS, turns=3))


def report(rated: Rated, **definition: Any) -> Report:
    plan = {"resamples": 30, "statistics": ["spearman"], "baselines": False}
    study = studies.create(name="levels", corpus=rated.corpus, definition=plan | definition, by=None)
    return studies.compute(study=study, part="all", by=None)


def tables(rated: Rated, **definition: Any) -> tuple[LevelTable, ...]:
    return snapshot_of(report(rated, **definition)).levels


def across(missing: str = "skip", **more: Any) -> dict[str, Any]:
    links = [{"question": TURN, "missing": missing}, {"question": "cpd@1/score", "map": "rank"}]
    question = {"question": WHOLE, "answered_by": links}
    return {"questions": [question], "level": ["dialogue", "system"]} | more


def row(table: LevelTable, name: str) -> LevelRow:
    return next(row for row in table.rows if row.name == name)


def value(found: LevelRow, level: str, coefficient: str = "pearson") -> float | None:
    return next(c.result.value for c in found.cells if (c.level, c.coefficient) == (level, coefficient))


@pytest.mark.exhaustive
def test_rows_stand_under_what_their_scores_come_from_people_last(rated: Rated) -> None:
    (table,) = tables(rated, **across())
    assert [(r.heading, r.name, r.kind) for r in table.rows] == [
        ("From turn scores", "noise", "metric"),
        ("From turn scores", "judge", "judge"),
        ("From turn scores", "People (turn labels)", "human"),
        ("From dialogue scores", HOSTILE, "judge"),
    ]
    assert (table.about, table.levels) == ("dialogue", ("dialogue", "system"))


def test_turn_labels_meet_dialogue_labels_as_pandas_computes_them(rated: Rated) -> None:
    (table,) = tables(rated, **across())
    people = row(table, "People (turn labels)")
    turns = rated.frame(PEOPLE, turns=True)
    wholes = rated.frame(PEOPLE, turns=False).droplevel("turn")
    joined = pd.concat([turns.groupby(["dialogue", "system"]).mean(), wholes], axis=1).dropna()
    assert value(people, "dialogue") == pytest.approx(joined.corr().iloc[0, 1], abs=1e-12)
    systems = pd.concat([turns.groupby("system").mean(), wholes.groupby("system").mean()], axis=1)
    assert value(people, "system") == pytest.approx(systems.corr().iloc[0, 1], abs=1e-12)


@pytest.mark.exhaustive
def test_by_whole_a_continuation_with_a_missing_turn_is_left_out(rated: Rated) -> None:
    (table,) = tables(rated, **across("whole", samples="first"))
    people = row(table, "People (turn labels)")
    turns = rated.frame(PEOPLE, turns=True)
    whole = turns.groupby(["dialogue", "system"]).agg(["mean", "size"])
    kept = whole[whole["size"] == 3]["mean"]
    joined = pd.concat([kept, rated.frame(PEOPLE, turns=False).droplevel("turn")], axis=1).dropna()
    assert value(people, "dialogue") == pytest.approx(joined.corr().iloc[0, 1], abs=1e-12)
    assert (people.continuations, people.continuations_left_out) == (48, 48 - len(joined))
    assert people.continuations_left_out > 0


@pytest.mark.exhaustive
def test_a_judge_at_one_and_at_two_samples_has_two_rows(rated: Rated) -> None:
    (table,) = tables(rated, questions=[TURN], level=["turn", "system"], samples=["first", "mean"])
    assert [r.name for r in table.rows] == ["noise", "judge (first of 2)", "judge (mean of 2)"]
    first = rated.frame(["judge"], turns=True)
    joined = pd.concat([first, rated.frame(PEOPLE, turns=True)], axis=1).dropna()
    expected = stats.kendalltau(joined.iloc[:, 0], joined.iloc[:, 1]).statistic
    judge = row(table, "judge (first of 2)")
    assert value(judge, "turn", "kendall_tau_b") == pytest.approx(expected, abs=1e-12)


@pytest.mark.exhaustive
def test_the_best_of_each_model_is_marked_beside_the_best_of_all(rated: Rated) -> None:
    (table,) = tables(rated, **across(best_per="model", heading="model"))
    assert {r.name: (r.heading, r.group) for r in table.rows} == {
        "noise": ("Metrics", ""),
        "judge": ("m-1", "m-1"),
        "People (turn labels)": ("People", ""),
        HOSTILE: ("m-2", "m-2"),
    }
    judges = [row(table, "judge"), row(table, HOSTILE)]
    assert all(cell.best_of_group for judge in judges for cell in judge.cells)
    assert sum(cell.best for r in table.rows for cell in r.cells) == len(judges[0].cells)
    assert not any(cell.best for cell in row(table, "People (turn labels)").cells)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("question", "turns"), [(TURN, True), (WHOLE, False)])
def test_length_stands_below_the_judges_as_their_floor_and_is_never_the_best(
    rated: Rated, question: str, turns: bool
) -> None:
    for number, item in enumerate(rated.built.turns.values()):
        item.turn.text = "word " * (1 + number * number % 7)  # type: ignore[union-attr]
        item.turn.save(update_fields=["text"])  # type: ignore[union-attr]
    definition = across() if question == WHOLE else {"questions": [TURN], "level": ["turn", "dialogue"]}
    (table,) = tables(rated, **definition, baselines=True)
    *others, characters, words = table.rows
    assert "baseline" not in {found.kind for found in others}
    assert [(r.heading, r.name) for r in (characters, words)] == [
        ("Baselines", "length in characters"),
        ("Baselines", "length in words"),
    ]
    assert not any(cell.best or cell.best_of_group for r in (characters, words) for cell in r.cells)
    long = pd.Series({place: len(item.turn.text.split()) for place, item in rated.built.turns.items()})  # type: ignore[union-attr]
    asked = rated.frame(PEOPLE, turns=turns)
    by_place = long.rename_axis(["dialogue", "system", "turn"])
    if turns:
        joined = pd.concat([by_place, asked], axis=1).dropna()
    else:
        whole = by_place.groupby(["dialogue", "system"]).sum()
        joined = pd.concat([whole, asked.droplevel("turn")], axis=1).dropna()
    expected = joined.corr(method="spearman").iloc[0, 1]
    assert value(words, "turn" if turns else "dialogue", "spearman") == pytest.approx(expected, abs=1e-12)


@pytest.mark.exhaustive
def test_any_rater_can_be_the_reference(rated: Rated) -> None:
    (table,) = tables(rated, questions=[TURN], level="system", reference="judge")
    assert [r.name for r in table.rows] == ["noise", "People (turn labels)"]
    (other,) = tables_again(rated, **across(reference="judge"))
    assert other.reason == "judge did not answer this question, so there is no reference"


def tables_again(rated: Rated, **definition: Any) -> tuple[LevelTable, ...]:
    study = studies.create(name="again", corpus=rated.corpus, definition=PLAIN | definition, by=None)
    return snapshot_of(studies.compute(study=study, part="all", by=None)).levels


@pytest.mark.exhaustive
def test_conditions_make_systems(rated: Rated) -> None:
    for made in Continuation.objects.filter(dialogue__corpus=rated.corpus).exclude(key="self"):
        made.condition = {"turns_per_call": len(made.dialogue.key + made.key) % 2 + ord(made.key) % 2}
        made.save(update_fields=["condition"])
    (table,) = tables(rated, questions=[TURN], level="system", by=["turns_per_call"])
    assert table.n_systems == 12
    names = {dot.system for dot in table.rows[0].dots}
    assert names == {f"{s} (turns_per_call {ord(s) % 2 + 1})" for s in SYSTEMS}


@pytest.mark.exhaustive
def test_static_continuations_and_own_turns_are_two_tables(rated: Rated) -> None:
    for number in range(4):
        dialogue = factories.dialogue(rated.corpus, f"own{number}", turns=4, system="abcd"[number])
        own = dialogue.continuations.get(key="self")
        for item in own.items.filter(kind="turn").select_related("turn"):
            rated.built.turns[dialogue.key, "own", item.turn.position] = item  # type: ignore[union-attr]
    only = {place: item for place, item in rated.built.turns.items() if place[1] == "own"}
    rated.built.turns = only
    for name, kind in (("ann", "human"), ("judge", "judge")):
        rated.built.say(name, rated.turn, lambda d, s, t: 1.0 + (int(d[-1]) + t) % 5, kind=kind)
    found = tables(rated, questions=[TURN], level=["turn", "system"])
    assert [(t.made, t.n_dialogues, t.n_systems) for t in found] == [("static", 4, 12), ("rollout", 4, 4)]
    assert [r.name for r in found[1].rows] == ["judge"]
    (joined,) = tables_again(rated, questions=[TURN], level="system", unit="dialogue_system", resamples=30)
    assert (joined.made, joined.n_dialogues) == ("", 8)


@pytest.mark.exhaustive
def test_a_system_with_other_dialogues_is_named_and_may_be_left_out(rated: Rated) -> None:
    gone = [item for (d, s, _), item in rated.built.turns.items() if (d, s) == ("d0", "a")]
    for item in gone:
        item.labels.update(superseded_at="2026-01-01T00:00:00Z")
    rated.built.wholes["d0", "a"].labels.update(superseded_at="2026-01-01T00:00:00Z")
    (table,) = tables(rated, questions=[TURN], level="system")
    assert any("answered other dialogues than most did (a)" in warning for warning in table.warnings)
    (shared,) = tables_again(rated, questions=[TURN], level="system", shared_dialogues=True, resamples=30)
    assert value(shared.rows[1], "system") != value(table.rows[1], "system")


@pytest.mark.exhaustive
def test_what_has_no_mean_and_what_nobody_else_answered_say_why(rated: Rated) -> None:
    version = SchemeVersion.objects.create(
        scheme=Scheme.objects.create(key="words", title="Words"),
        version=1,
        item_kind="turn",
        content_hash="w",
    )
    words = Asked.objects.create(
        version=version, key="w", position=0, wording="W", level="nominal", values=["x", "y"]
    )
    rated.built.say("ann", words, lambda *place: "x")
    rated.built.say("ben", words, lambda *place: "y")
    (found,) = tables(rated, questions=["words@1/w"], level="turn")
    assert found.reason == "categories have no mean, so there is nothing to correlate"
    (alone,) = tables_again(rated, questions=[WHOLE], level="system")
    assert alone.reason == "only the reference answered this question or one that is read as an answer to it"


@pytest.mark.exhaustive
def test_with_two_systems_there_is_a_reason_and_no_figure() -> None:
    built = static(systems=("a", "b"))
    turn = asked(built, "comperdial_turn")
    for name, kind in (("ann", "human"), ("judge", "judge")):
        built.say(name, turn, lambda d, s, t: 1.0 + (int(d[-1]) + t + ord(s)) % 5, kind=kind)
    study = studies.create(name="two", corpus=built.corpus, definition={"level": "system"}, by=None)
    (table,) = snapshot_of(studies.compute(study=study, part="all", by=None)).levels
    assert {cell.result.status for cell in table.rows[0].cells} == {"insufficient"}
    assert all("system" in cell.result.reason for cell in table.rows[0].cells)


@pytest.mark.exhaustive
def test_simulated_raters_are_not_called_people(rated: Rated) -> None:
    Rater.objects.filter(name__in=PEOPLE).update(fingerprint="")
    specs = {"simulated": True}
    built = static("simulated", systems=SYSTEMS)
    turn, whole = asked(built, "comperdial_turn"), asked(built, "comperdial_dialogue")
    for question in (turn, whole):
        built.say("bot", question, lambda d, s, t: 1.0 + (int(d[-1]) + t + ord(s)) % 5, spec=specs)  # type: ignore[arg-type]
    links = [{"question": TURN}]
    definition = PLAIN | {"questions": [{"question": WHOLE, "answered_by": links}], "level": "dialogue"}
    study = studies.create(name="bots", corpus=built.corpus, definition=definition, by=None)
    (table,) = snapshot_of(studies.compute(study=study, part="all", by=None)).levels
    assert [r.name for r in table.rows] == ["Simulated raters (turn labels)"]


@pytest.mark.exhaustive
def test_the_page_shows_marks_and_says_what_they_mean(researcher: Client, rated: Rated) -> None:
    made = report(rated, **across(best_per="model"))
    shown = " ".join(researcher.get(reverse("report", args=[made.study_id])).content.decode().split())
    assert "Correlation with people’s dialogue labels: Overall" in shown
    assert 'scope="colgroup" colspan="3" class="n">Dialogue level</th>' in shown
    assert 'scope="rowgroup" colspan="100" class="text-secondary">From dialogue scores</th>' in shown
    assert "the highest of its column" in shown
    assert "not significant: p" in shown
    assert "<b>50%" not in shown
    assert re.search(r'<details class="card fold" id="by-level" open>', shown)
    assert not re.search(r'id="judge-agrees" open>', shown)


@pytest.mark.exhaustive
def test_a_scatter_can_be_chosen_and_downloaded(researcher: Client, rated: Rated) -> None:
    made = report(rated, **across())
    address = reverse("report", args=[made.study_id])
    assert (
        "Systems by noise and by people’s dialogue labels"
        in researcher.get(address, {"systems": "systems-1-1"}).content.decode()
    )
    for form, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("csv", b"system,x")):
        file = researcher.get(reverse("report-chart", args=[made.study_id, "systems-1-3", form])).content
        assert file.startswith(start)
    lines = list(csv.DictReader(io.StringIO(file.decode())))
    wholes = rated.frame(PEOPLE, turns=False).groupby("system").mean()
    assert {line["system"]: float(line["x"]) for line in lines} == pytest.approx(dict(wholes), abs=1e-12)


@pytest.mark.exhaustive
def test_csv_and_json_have_every_figure_with_its_p(rated: Rated) -> None:
    made = report(rated, **across(p="item"))
    lines = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(made))))
    judge = {line["name"]: line for line in lines if line["raters"] == "mean(kind:human); judge"}
    people = rated.frame(PEOPLE, turns=False).droplevel("turn")
    assert float(judge["dialogue_level_spearman_p"]["value"]) <= 1
    assert "ignores_clusters" in judge["dialogue_level_spearman"]["flags"]
    assert float(judge["turns_left_out"]["value"]) < 1
    assert len(people) > 40
    kept = json.loads(RENDERINGS["json"].write(made))["levels"][0]
    assert kept["rows"][0]["name"] == "noise"
    assert kept["rows"][0]["cells"][0]["p_method"]


@pytest.mark.exhaustive
def test_latex_compiles_and_markdown_marks(rated: Rated, compiled: Compiled) -> None:
    made = report(rated, **across(best_per="model", samples=["first", "mean"]))
    text = RENDERINGS["latex"].write(made)
    assert r"\multicolumn{3}{c}{Dialogue level}" in text
    assert r"\underline{\textbf{" in text
    assert r"\rlap{$^{*}$}" in text
    compiled(text, packages="booktabs,graphicx")
    markdown = RENDERINGS["md"].write(made)
    assert "**<u>" in markdown
    assert "| *From turn scores* |" in markdown
    assert r"Star: not significant (p of 0.05 or more" in markdown
    assert "Systems by noise" in RENDERINGS["html"].write(made)


@pytest.mark.exhaustive
def test_the_same_labels_give_the_same_hash_and_a_moved_system_another(rated: Rated) -> None:
    made = report(rated, **across())
    assert studies.compute(study=made.study, part="all", by=None) == made
    Continuation.objects.filter(key="a").update(condition={"x": 1})
    assert studies.compute(study=made.study, part="all", by=None) == made
    other = Continuation.objects.get(key="b", dialogue__key="d0").system
    Continuation.objects.filter(key="a", dialogue__key="d0").update(system=other)
    assert studies.compute(study=made.study, part="all", by=None) != made


@pytest.mark.exhaustive
def test_a_panel_of_judges_has_a_row_at_every_level(rated: Rated, researcher: Client) -> None:
    rated.say("second", rated.turn, lambda d, s, t: rated._near(SYSTEMS.index(s) / 3, 1.0), "judge")
    names = {"mean": "both", "median": "middle", "majority": "most"}
    panels = [{"name": name, "rule": rule} for rule, name in names.items()]
    found = report(rated, questions=[TURN], level=["turn", "dialogue", "system"], panels=panels)
    (table,) = snapshot_of(found).levels
    rows = [row for row in table.rows if row.kind == "panel"]
    assert [(row.name, row.heading) for row in rows] == [
        (name, "From turn scores") for name in names.values()
    ]
    judges = rated.frame(("judge", "second"), turns=True)
    answered = pd.DataFrame(rated.said).query("rater in ('judge', 'second') and turn >= 0")
    judge = answered[answered.rater == "judge"].groupby(["dialogue", "system", "turn"])["value"].mean()
    second = answered[answered.rater == "second"].set_index(["dialogue", "system", "turn"])["value"]
    mean = ((judge + second) / 2).dropna()
    people = rated.frame(PEOPLE, turns=True)
    both = pd.concat([mean, people], axis=1, join="inner")
    assert len(mean) < len(judges), "where one judge has no answer the panel has none"
    assert value(rows[0], "turn") == pytest.approx(both.corr().iloc[0, 1], abs=1e-12)
    means = both.groupby(level="system").mean()
    assert value(rows[0], "system") is not None
    assert len(means) == len(SYSTEMS)
    page = researcher.get(reverse("report", args=[found.study_id])).content.decode()
    for form in (page, *(str(rendering.write(found)) for rendering in RENDERINGS.values())):
        assert all(name in form for name in names.values())
    told = [told.name for told in snapshot_of(found).panels]
    assert told == list(names.values())


@pytest.mark.exhaustive
def test_panels_of_judges_of_turns_and_of_wholes_stand_apart(rated: Rated) -> None:
    rated.say("second", rated.turn, lambda d, s, t: rated._near(SYSTEMS.index(s) / 3, 1.0), "judge")
    (table,) = tables(rated, **across(panels=[{"name": "both", "rule": "mean"}]))
    assert [(row.heading, row.name) for row in table.rows if row.kind == "panel"] == [
        ("From turn scores", "both")
    ], "of whole dialogues there is one judge, which is no panel"
