"""Counts by system and condition: from labels to the table, the command, the route and the page."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora import splits
from annotation.labels.recording import Answer, record
from annotation.models import Campaign, Continuation, Corpus, Item, Question, Rater, TestLook
from calibration.counts import charts
from calibration.counts.computing import Counts, compute, facts
from calibration.counts.query import read
from calibration.counts.renderings import RENDERINGS
from calibration.counts.text import write as as_text
from calibration.errors import CountsRefused
from jobs.models import Call, Run
from tests import factories
from tests.factories import user

pytestmark = pytest.mark.django_db

KEYS = ("misunderstanding", "repetition", "interruption", "off_topic", "another_behaviour")
TURNS = 6
VANILLA = {"model": "m", "prompting": "vanilla", "turns_per_call": 1}
TAXONOMY = {"model": "m", "prompting": "taxonomy", "turns_per_call": 1}
SLOW = {"model": "m", "prompting": "taxonomy", "turns_per_call": 30}
SYSTEMS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("human", "human", {}),
    ("v1", "model", VANILLA),
    ("t30", "model", SLOW),
    ("t1", "model", TAXONOMY),
)


class Made:
    """A corpus of dialogues from two sources, each continued by people and a model in three conditions."""

    def __init__(self, dialogues: int = 6, turns: Callable[[int], int] = lambda number: TURNS) -> None:
        self.corpus: Corpus = factories.corpus("coco")
        self.questions = {q.key: q for q in factories.scheme_version("cocoeval_behaviours").questions.all()}
        for number in range(dialogues):
            source = "ab"[number % 2]
            dialogue = factories.dialogue(self.corpus, f"d{number}", turns=2, metadata={"source": source})
            for key, system, condition in SYSTEMS:
                lines = [{"text": f"line {at}"} for at in range(turns(number))]
                made = factories.continuation(dialogue, key, system=system, turns=lines)
                Continuation.objects.filter(pk=made.pk).update(condition=condition)

    def rater(self, name: str, kind: str = "judge", **fields: Any) -> Rater:
        return Rater.objects.get_or_create(corpus=self.corpus, kind=kind, name=name, defaults=fields)[0]

    def items(self, **where: Any) -> list[Item]:
        found = Item.objects.filter(corpus=self.corpus, kind="turn", **where).exclude(
            continuation__key="self"
        )
        return list(found.select_related("continuation__dialogue", "turn").order_by("pk"))

    def mark(
        self,
        name: str,
        marks: Callable[[Item, str], float | None],
        *,
        kind: str = "judge",
        items: Sequence[Item] | None = None,
        sample: int = 0,
        keys: Sequence[str] = KEYS,
        spec: Mapping[str, Any] | None = None,
        **how: Any,
    ) -> Rater:
        """Record a rater's marks on every item, or on some."""
        rater = self.rater(name, kind, spec=dict(spec or {}))
        answers = []
        for item in self.items() if items is None else items:
            for key in keys:
                value = marks(item, key)
                answers.append(
                    Answer(
                        item, self.questions[key], value, "" if value is not None else "unreadable", sample
                    )
                )
        record(rater=rater, answers=answers, **({"occasion": "main"} | how))
        return rater

    def counts(self, **given: Any) -> Counts:
        return compute(query=read({"resamples": 100} | given, self.corpus, None), by=None)


def planted(item: Item, key: str) -> float:
    """Marks that differ between conditions, dialogues and turns."""
    seed = [ord(c) for c in f"{item.continuation.dialogue.key}{item.continuation.key}{key}"]
    rate = {"human": 0.3, "v1": 0.2, "t1": 0.6, "t30": 0.4}[item.continuation.key]
    return float(np.random.default_rng([*seed, item.turn.position]).random() < rate)


@pytest.fixture
def made() -> Made:
    built = Made()
    built.mark("judge", planted)
    return built


@pytest.fixture
def api() -> APIClient:
    found = APIClient()
    found.force_authenticate(user(researcher=True))
    return found


def frame(built: Made, marks: Callable[[Item, str], float] = planted) -> pd.DataFrame:
    """The same marks counted by pandas: a line a continuation."""
    rows = [
        {
            "cont": item.continuation.key,
            "dialogue": item.continuation.dialogue.key,
            "source": item.continuation.dialogue.metadata["source"],
        }
        | {key: marks(item, key) for key in KEYS}
        for item in built.items()
    ]
    turns = pd.DataFrame(rows)
    tags = list(KEYS[:4])
    turns["any"] = turns[tags].max(axis=1)
    turns["group:Inconsistent"] = turns[["repetition", "misunderstanding"]].sum(axis=1)
    turns["group:Uncollaborative"] = turns[["off_topic", "interruption"]].sum(axis=1)
    return turns.groupby(["cont", "dialogue", "source"]).sum().reset_index()


def cells(row: Any) -> dict[str, Any]:
    return {cell.column.key: cell for cell in row.cells}


# From labels to the table.


@pytest.mark.parametrize("strata", ["", "source"])
def test_the_table_is_what_pandas_counts(made: Made, strata: str) -> None:
    found = made.counts(by="prompting,turns_per_call", strata=strata)
    counted = frame(made).drop(columns="dialogue")
    if strata:
        expected = counted.groupby(["cont", "source"]).mean().groupby("cont").mean()
    else:
        expected = counted.drop(columns="source").groupby("cont").mean()
    rows = {"human": (None, None), "v1": ("vanilla", 1), "t1": ("taxonomy", 1), "t30": ("taxonomy", 30)}
    by = {found.by[row.code]: row for row in found.table.rows}
    for key, values in rows.items():
        for column, cell in cells(by[values]).items():
            assert cell.result.value == pytest.approx(expected.loc[key, column], abs=1e-12), (key, column)
            assert cell.result.n_items == 6


def test_people_stand_first_and_rows_by_each_key_in_order(made: Made) -> None:
    found = made.counts(by="turns_per_call,prompting")
    assert [found.by[row.code] for row in found.table.rows] == [
        (None, None), (1, "vanilla"), (1, "taxonomy"), (30, "taxonomy"),
    ]  # fmt: skip
    assert [row.human for row in found.table.rows] == [True, False, False, False]


def test_the_rows_of_a_system_hold_all_its_conditions(made: Made) -> None:
    found = made.counts()
    assert [(found.by[row.code], row.n_continuations) for row in found.table.rows] == [
        (("human",), 6), (("model",), 18),
    ]  # fmt: skip


def test_another_behaviour_is_a_column_and_in_no_sum(made: Made) -> None:
    found = made.counts()
    kinds = {column.key: column.kind for column in found.columns}
    assert kinds["another_behaviour"] == "alone"
    assert kinds["any"] == "any"
    assert list(kinds)[-3:] == ["group:Inconsistent", "group:Uncollaborative", "any"]


def test_some_questions_by_key_reference_or_scheme(made: Made) -> None:
    assert [c.key for c in made.counts(questions="repetition").columns] == ["repetition"]
    ref = "cocoeval_behaviours@1/off_topic"
    assert [c.key for c in made.counts(questions=f"repetition,{ref}").columns] == [
        "repetition", "off_topic", "any",
    ]  # fmt: skip
    assert len(made.counts(questions="cocoeval_behaviours").columns) == 8


def test_the_first_sample_counts_unless_the_mean_is_asked_for(made: Made) -> None:
    made.mark("judge", lambda item, key: 1.0, sample=1)
    first = cells(made.counts(questions="repetition").table.rows[0])["repetition"].result.value
    mean = cells(made.counts(questions="repetition", samples="mean").table.rows[0])["repetition"].result.value
    expected = frame(made).query("cont == 'human'")["repetition"].mean()
    assert first == pytest.approx(expected, abs=1e-12)
    assert mean == pytest.approx((expected + TURNS) / 2, abs=1e-12)


def test_people_together_are_the_mean_of_each_one_s_count(made: Made) -> None:
    made.mark("ann", planted, kind="human")
    made.mark("ben", lambda item, key: 1.0, kind="human")
    row = made.counts(rater="people", questions="repetition").table.rows[0]
    expected = frame(made).query("cont == 'human'")["repetition"].mean()
    assert cells(row)["repetition"].result.value == pytest.approx((expected + TURNS) / 2, abs=1e-12)
    alone = made.counts(rater="ben", questions="repetition").table.rows[0]
    assert cells(alone)["repetition"].result.value == TURNS


def test_an_answer_given_again_in_another_campaign_counts_once(made: Made) -> None:
    made.mark("ann", lambda item, key: 0.0, kind="human", occasion="imported")
    campaign = factories.campaign(made.corpus, "cocoeval_behaviours", opened=False)
    made.mark("ann", lambda item, key: 1.0, kind="human", campaign=campaign)
    row = made.counts(rater="ann", questions="repetition").table.rows[0]
    assert cells(row)["repetition"].result.value == 0.0
    scoped = compute(query=read({"rater": "ann", "questions": "repetition"}, made.corpus, campaign), by=None)
    assert cells(scoped.table.rows[0])["repetition"].result.value == TURNS


def test_scores_of_whole_continuations_are_averaged() -> None:
    built = Made()
    version = factories.scheme_version("cocoeval_overall")
    judge = built.rater("overall")
    items = Item.objects.filter(corpus=built.corpus, kind="dialogue").exclude(continuation__key="self")
    values = {"human": [6.0, 5.0], "v1": [8.0, 9.0], "t1": [3.0, 3.0], "t30": [9.0, 9.0]}
    answers = [
        Answer(item, question, values[item.continuation.key][sample], sample=sample)
        for item in items.select_related("continuation")
        for question in version.questions.all()
        for sample in (0, 1)
    ]
    record(rater=judge, answers=answers, occasion="main")
    found = built.counts(by="prompting,turns_per_call")
    assert [(found.by[row.code], cells(row)["consistency"].result.value) for row in found.table.rows] == [
        ((None, None), 5.5), (("vanilla", 1), 8.5), (("taxonomy", 1), 3.0), (("taxonomy", 30), 9.0),
    ]  # fmt: skip
    first = built.counts(samples="first").table.rows[0]
    assert cells(first)["consistency"].result.value == 6.0
    assert found.table.rows[1].distance is None
    assert "scored by overall" in " ".join(facts(found))


# Edge cases.


def test_failed_calls_are_missing_and_bound_the_cell(made: Made) -> None:
    judge = Rater.objects.get(name="judge")
    lost = factories.continuation(
        made.corpus.dialogues.get(key="d0"), "lost", system="model", turns=[{"text": "x"}] * TURNS
    )
    run = Run.objects.create(
        rater=judge,
        corpus=made.corpus,
        kind="judge",
        queue="calls",
        scope_hash="x",
        questions={key: made.questions[key].pk for key in KEYS},
    )
    Call.objects.create(run=run, rater=judge, continuation=lost, state=Call.State.FAILED)
    row = made.counts().table.rows[1]
    cell = cells(row)["repetition"]
    assert (row.n_continuations, row.n_missing, cell.result.n_missing) == (18, 1, 1)
    total = cell.result.value * 18
    assert (cell.lowest, cell.highest) == (pytest.approx(total / 19), pytest.approx((total + TURNS) / 19))


def test_a_continuation_with_a_turn_left_out_is_missing_within_what_is_known() -> None:
    built = Made(dialogues=2)
    built.mark("judge", lambda item, key: None if item.turn.position == 0 else 1.0)
    cell = cells(built.counts(questions="repetition").table.rows[0])["repetition"]
    assert (cell.result.status, cell.lowest, cell.highest) == ("insufficient", TURNS - 1, TURNS)


def test_other_lengths_are_refused_unless_counted_per_turns() -> None:
    built = Made(turns=lambda number: 4 + number)
    built.mark("judge", planted)
    with pytest.raises(CountsRefused, match=r"4 to 9 turns.*per 30"):
        built.counts()
    found = built.counts(per_turns=30)
    counted = frame(built)
    lengths = {f"d{number}": 4 + number for number in range(6)}
    own = counted[counted["cont"] == "human"]
    cell = cells(found.table.rows[0])["off_topic"]
    rates = own["off_topic"] / own["dialogue"].map(lengths) * 30
    assert cell.result.value == pytest.approx(rates.mean(), abs=1e-12)
    assert cell.raw == pytest.approx(own["off_topic"].mean(), abs=1e-12)


def test_a_person_who_rated_some_continuations_is_flagged_where_numbers_differ(made: Made) -> None:
    some = [
        item
        for item in made.items()
        if item.continuation.dialogue.key in "d0 d1" or item.continuation.key == "human"
    ]
    made.mark("ann", planted, kind="human", items=some)
    people, model = made.counts(rater="ann", by="system").table.rows
    assert (people.n_continuations, model.n_continuations) == (6, 6)
    rows = made.counts(rater="ann", by="prompting").table.rows
    assert [row.n_continuations for row in rows] == [6, 2, 4]
    assert "unequal_n" in cells(rows[1])["repetition"].result.flags
    assert "unequal_n" not in cells(rows[0])["repetition"].result.flags


def test_without_people_s_row_the_reason_is_told(made: Made) -> None:
    items = [item for item in made.items() if item.continuation.key != "human"]
    made.mark("other", planted, items=items)
    found = made.counts(rater="other")
    assert found.table.rows[0].cells[0].difference is None
    assert "No differences and no distances: no continuation by people was rated" in " ".join(facts(found))


def test_a_behaviour_that_nobody_marked_has_wilson_s_interval(made: Made) -> None:
    made.mark("strict", lambda item, key: 0.0 if key == "off_topic" else planted(item, key))
    cell = cells(made.counts(rater="strict").table.rows[0])["off_topic"]
    assert (cell.result.value, cell.result.low) == (0.0, 0.0)
    assert cell.result.high == pytest.approx(TURNS * 3.8414588 / (36 + 3.8414588))
    assert "no_events" in cell.result.flags


def test_own_turns_count_where_people_wrote_nothing_else(made: Made) -> None:
    own = Item.objects.filter(corpus=made.corpus, kind="turn", continuation__key="self")
    record(
        rater=Rater.objects.get(name="judge"),
        answers=[Answer(item, made.questions[key], 1.0) for item in own for key in KEYS],
        occasion="main",
    )
    assert made.counts().table.rows[0].n_continuations == 6
    alone = factories.corpus("own turns")
    factories.dialogue(alone, turns=3)
    items = Item.objects.filter(corpus=alone, kind="turn")
    answers = [Answer(item, made.questions["repetition"], 1.0) for item in items]
    own_judge = Rater.objects.create(corpus=alone, kind="judge", name="judge of its own")
    record(rater=own_judge, answers=answers, occasion="main")
    (row,) = compute(query=read({}, alone, None), by=None).table.rows
    assert (row.human, cells(row)["repetition"].result.value) == (True, 3.0)


def test_a_question_that_the_rater_never_answers_is_left_out_and_named(made: Made) -> None:
    made.mark("half", lambda item, key: None if key == "misunderstanding" else planted(item, key))
    found = made.counts(rater="half")
    assert "misunderstanding" not in {column.key for column in found.columns}
    assert "Left out, in sums too, because the rater never answered it: Misunderstanding" in " ".join(
        facts(found)
    )
    assert found.table.rows[1].distance["tv"].value is not None


# People and the correction.


def test_what_people_rated_corrects_the_judge(made: Made) -> None:
    judge = made.counts(questions="repetition")
    assert cells(judge.table.rows[0])["repetition"].corrected is None
    some = [item for item in made.items() if item.continuation.dialogue.key in ("d0", "d1", "d2")]
    made.mark(
        "ann",
        lambda item, key: 0.0 if item.turn.position < 3 else planted(item, key),
        kind="human",
        items=some,
    )
    found = made.counts(questions="repetition")
    rows = found.table.rows
    assert cells(rows[0])["repetition"].corrected.method.startswith("Rogan-Gladen")
    assert found.n_rated == 12
    assert "Corrected by what people said of 12 continuations" in " ".join(facts(found))
    turns = pd.DataFrame(
        [
            {
                "m": 0.0 if item.turn.position < 3 else planted(item, "repetition"),
                "g": planted(item, "repetition"),
            }
            for item in some
        ]
    )
    se = (turns.m * turns.g).sum() / turns.m.sum()
    sp = ((1 - turns.m) * (1 - turns.g)).sum() / (1 - turns.m).sum()
    for row in rows:
        cell = cells(row)["repetition"]
        q = cell.result.value / TURNS
        assert cell.corrected.value == pytest.approx(TURNS * (q + sp - 1) / (se + sp - 1), abs=1e-12)


def test_simulated_raters_are_named_as_such(made: Made) -> None:
    made.mark("sim", planted, kind="human", spec={"simulated": True})
    assert "simulated raters mark them" in facts(made.counts(rater="people"))[0]
    assert "sim (simulated) marks them" in facts(made.counts(rater="sim"))[0]
    assert "what simulated raters said" in " ".join(facts(made.counts(rater="judge")))
    assert made.counts(rater="sim").chosen.simulated


# What cannot be asked.


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rater": "nobody"}, "no rater 'nobody' has counts or scores here; there are judge"),
        ({"rater": "people"}, "no rater 'people'"),
        (
            {"questions": "politeness"},
            "did not answer 'politeness'; there are cocoeval_behaviours@1/misunderstanding",
        ),
        ({"by": "temperature"}, "no continuation has the condition 'temperature'; there are system, model"),
        ({"strata": "genre"}, "metadata has 'genre'; there are source"),
        ({"per_turns": "0"}, "per turns: a whole number from 1"),
        ({"resamples": "many"}, "resamples: a whole number"),
        ({"correction": "magic"}, "no correction 'magic'"),
        ({"samples": "best"}, "samples are first or mean"),
        ({"part": "test"}, "has no split, so there is no test part"),
        ({"part": "train"}, "a part is dev, test or all"),
    ],
)
def test_a_mistake_is_refused_in_one_line(made: Made, given: dict[str, str], message: str) -> None:
    with pytest.raises(CountsRefused, match=re.escape(message)) as refused:
        made.counts(**given)
    assert "\n" not in str(refused.value)


def test_metrics_and_anonymous_slots_are_not_counted(made: Made) -> None:
    made.mark("dnr", planted, kind="metric")
    made.rater("slot 1", "human", identified=False)
    made.mark("slot 1", planted, kind="human")
    with pytest.raises(CountsRefused, match="the profile shows"):
        made.counts(rater="dnr")
    with pytest.raises(CountsRefused, match="an anonymous slot"):
        made.counts(rater="slot 1")
    assert made.counts(rater="people").chosen.name == "people"


# The forms.


def contract(found: dict[str, Any]) -> None:
    """What other programs rely on."""
    assert {"strata", "rows"} <= found.keys()
    for row in found["rows"]:
        assert {
            "by",
            "human",
            "n_continuations",
            "n_clusters",
            "n_missing",
            "cells",
            "distance",
        } <= row.keys()
        for cell in row["cells"].values():
            assert {"value", "low", "high", "lowest", "highest", "corrected", "difference"} <= cell.keys()
            if cell["corrected"] is not None:
                assert {"value", "low", "high", "method"} <= cell["corrected"].keys()
            if cell["difference"] is not None:
                assert {"value", "low", "high", "p_holm"} <= cell["difference"].keys()
        if row["distance"] is not None:
            assert row["distance"].keys() == {"tv", "js", "amount"}


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("counts", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_prints_json_as_other_programs_rely_on_it(made: Made) -> None:
    made.mark("ann", planted, kind="human")
    arguments = (
        "--corpus",
        "coco",
        "--rater",
        "judge",
        "--by",
        "prompting,turns_per_call",
        "--strata",
        "source",
    )
    found = json.loads(said(*arguments, "--format", "json"))
    contract(found)
    assert found["strata"] == "source"
    assert [row["by"] for row in found["rows"]][1] == {"prompting": "vanilla", "turns_per_call": 1}
    assert [row["human"] for row in found["rows"]] == [True, False, False, False]
    assert list(found["rows"][0]["cells"]) == [*KEYS, "group:Inconsistent", "group:Uncollaborative", "any"]
    people, model = found["rows"][0]["cells"]["any"], found["rows"][2]["cells"]["any"]
    assert model["difference"]["value"] == pytest.approx(model["value"] - people["value"], abs=1e-12)
    assert found["rows"][0]["distance"] is None
    again = json.loads(said(*arguments, "--format", "json"))
    assert again == found


@pytest.mark.parametrize("form", ["table", "csv", "md", "latex", "json", "svg"])
def test_the_command_prints_every_form(made: Made, form: str) -> None:
    written = said("--corpus", "coco", "--by", "prompting", "--format", form, "--resamples", "50")
    assert "vanilla" in written
    assert written.endswith(("\n", "</svg>"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name either --corpus or --campaign"),
        (["--corpus", "x"], "no corpus 'x'; there are coco"),
        (["--corpus", "coco", "--rater", "x"], "no rater 'x'"),
        (["--corpus", "coco", "--output", "/nowhere/counts.csv"], "No such file or directory"),
        (["--corpus", "coco", "--part", "test"], "no split"),
    ],
)
def test_the_command_answers_a_mistake_in_one_line(made: Made, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        said(*arguments)
    assert "\n" not in str(refused.value)


def test_the_csv_holds_every_figure_unrounded_and_guards_hostile_names(made: Made) -> None:
    Continuation.objects.filter(key="v1").update(condition={"prompting": "=HYPERLINK(1)"})
    found = made.counts(by="prompting")
    lines = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(found))))  # type: ignore[arg-type]
    assert "'=HYPERLINK(1)" in {line["by:prompting"] for line in lines}
    row = next(row for row in found.table.rows if found.by[row.code] == ("taxonomy",))
    own = {line["column"]: line for line in lines if line["by:prompting"] == "taxonomy"}
    assert float(own["any"]["value"]) == cells(row)["any"].result.value
    assert float(own["any"]["p_holm"]) == cells(row)["any"].difference.p_holm
    assert float(own["distance:tv"]["value"]) == row.distance["tv"].value
    assert float(own["distance:tv"]["halves"]) == found.table.halves["tv"].value


def test_latex_and_markdown_print_hostile_names_as_text(made: Made) -> None:
    Continuation.objects.filter(key="v1").update(condition={"prompting": "\\input{x} & | <b>\n# head"})
    found = made.counts(by="prompting")
    latex, markdown = RENDERINGS["latex"].write(found), RENDERINGS["md"].write(found)
    assert isinstance(latex, str)
    assert isinstance(markdown, str)
    assert r"\textbackslash{}input\{x\} \& \textbar{} \textless{}b\textgreater{}" in latex
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows[:8]}) == 1
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3
    assert "\n# head" not in markdown
    assert r"\<b\>" in markdown
    assert "\x1b" not in as_text(found)


def test_the_chart_has_a_panel_a_row_and_people_as_a_line(made: Made) -> None:
    found = made.counts(by="prompting,turns_per_call")
    drawn = charts.svg(found)
    assert drawn.startswith("<svg")
    for title in ("vanilla, turns_per_call 1", "taxonomy, turns_per_call 30"):
        assert title in drawn
    assert "Line: people" in charts.caption(found)
    assert "All panels share one axis" in charts.caption(found)
    assert RENDERINGS["png"].write(found)[:4] == b"\x89PNG"


def test_panels_have_their_own_axes_where_one_is_three_times_another_s_and_the_chart_says_so() -> None:
    built = Made()
    built.mark(
        "judge",
        lambda item, key: float(
            item.turn.position < {"human": 2, "v1": 1, "t1": 4, "t30": 2}[item.continuation.key]
        ),
    )
    found = built.counts(by="prompting,turns_per_call")
    assert charts.own_axes(found)
    assert "Each panel has an axis of its own" in charts.svg(found)
    assert "Each panel has an axis of its own" in charts.caption(found)


# The route and the page.


def test_the_route_gives_what_the_command_gives(made: Made, api: APIClient) -> None:
    address = f"/api/v1/corpora/{made.corpus.pk}/counts/"
    found = api.get(address, {"by": "prompting", "resamples": 50}).json()
    contract(found)
    printed = json.loads(
        said("--corpus", "coco", "--by", "prompting", "--resamples", "50", "--format", "json")
    )
    assert found == printed
    for wrong in ({"rater": "x"}, {"per_turns": "x"}, {"by": "x"}, {"campaign": "999999"}):
        assert api.get(address, wrong).status_code == 400
    other = factories.campaign(factories.corpus(), opened=False)
    assert api.get(address, {"campaign": other.pk}).status_code == 400


def test_the_answer_is_as_the_document_describes_it(made: Made, api: APIClient) -> None:
    from jsonschema import Draft4Validator

    some = [item for item in made.items() if item.continuation.dialogue.key in ("d0", "d1")]
    made.mark("ann", planted, kind="human", items=some)
    made.mark("judge", lambda item, key: 0.0, keys=["off_topic"])
    found = api.get(f"/api/v1/corpora/{made.corpus.pk}/counts/", {"by": "prompting", "resamples": 50}).json()
    document = api.get("/api/v1/schema/", {"format": "json"}).json()
    described = document["paths"]["/api/v1/corpora/{id}/counts/"]["get"]["responses"]["200"]
    schema = described["content"]["application/json"]["schema"]
    nullable = json.loads(json.dumps(document["components"]), object_hook=_with_null)
    Draft4Validator(schema | {"components": nullable}).validate(found)
    cell = found["rows"][1]["cells"]["repetition"]
    assert cell["corrected"] is not None
    assert cell["difference"] is not None


def _with_null(described: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI's `nullable`, as JSON schema says it."""
    if described.pop("nullable", False):
        return {"anyOf": [{"type": "null"}, described]}
    return described


def test_the_page_shows_the_table_with_people_apart(made: Made, researcher: Client) -> None:
    made.mark("<b>ann</b>", planted, kind="human")
    page = researcher.get(
        f"/corpora/{made.corpus.pk}/counts/?by=prompting&by=turns_per_call"
    ).content.decode()
    for text in (
        "vanilla, turns_per_call 1",
        "Difference from people",
        "Distance from people",
        "two halves of people",
    ):
        assert text in page
    assert "Corrected for the judge’s errors" in page
    assert "&lt;b&gt;ann&lt;/b&gt;, human" in page
    assert "<b>ann</b>" not in page
    assert 'role="img"' in page


def test_a_second_rater_stands_beside_the_first_with_the_same_rows(made: Made, researcher: Client) -> None:
    items = Item.objects.filter(corpus=made.corpus, kind="dialogue").exclude(continuation__key="self")
    questions = factories.scheme_version("cocoeval_overall").questions.all()
    answers = [Answer(item, question, 7.0) for item in items for question in questions]
    record(rater=made.rater("overall"), answers=answers, occasion="main")
    address = f"/corpora/{made.corpus.pk}/counts/?rater=judge&by=prompting"
    page = researcher.get(f"{address}&beside=overall").content.decode()
    assert "Beside it: overall" in page
    assert "Mean over continuations, scored by overall." in page
    assert page.count(">vanilla</th>") > researcher.get(address).content.decode().count(">vanilla</th>")
    assert researcher.get(f"{address}&beside=nobody").status_code == 422


def test_rows_without_end_are_refused(made: Made) -> None:
    for number, pk in enumerate(Continuation.objects.filter(key="v1").values_list("pk", flat=True)):
        Continuation.objects.filter(pk=pk).update(condition={"run": number})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibration.counts.computing.MOST_ROWS", 5)
        with pytest.raises(CountsRefused, match="rows by run are 8, more than 5"):
            made.counts(by="run")


def test_the_page_s_files_hold_what_it_shows(made: Made, researcher: Client) -> None:
    for form, rendering in RENDERINGS.items():
        answer = researcher.get(f"/corpora/{made.corpus.pk}/counts.{form}?by=prompting&resamples=50")
        assert answer.status_code == 200
        assert answer["Content-Type"] == rendering.media_type
        assert f'filename="counts-{made.corpus.pk}.{rendering.suffix}"' in answer["Content-Disposition"]
    assert researcher.get(f"/corpora/{made.corpus.pk}/counts.pdf").status_code == 404
    refused = researcher.get(f"/corpora/{made.corpus.pk}/counts.csv?rater=x")
    assert (refused.status_code, b"no rater" in refused.content) == (422, True)


def test_a_refusal_stands_above_the_form_that_leads_out_of_it(researcher: Client) -> None:
    built = Made(turns=lambda number: 4 + number)
    built.mark("judge", planted)
    answer = researcher.get(f"/corpora/{built.corpus.pk}/counts/")
    assert (answer.status_code, "4 to 9 turns" in answer.content.decode()) == (200, True)
    assert researcher.get(f"/corpora/{built.corpus.pk}/counts/?rater=x").status_code == 422
    empty = researcher.get(f"/corpora/{factories.corpus().pk}/counts/").content.decode()
    assert "Nothing to count yet" in empty


def test_the_corpus_leads_to_its_counts(made: Made, researcher: Client) -> None:
    page = researcher.get(reverse("corpus", args=[made.corpus.name])).content.decode()
    assert f'href="/corpora/{made.corpus.pk}/counts/"' in page


# Rights and the locked part.


def test_the_test_part_is_not_shown_without_a_logged_look(
    made: Made, researcher: Client, api: APIClient
) -> None:
    split = splits.draw(corpus=made.corpus, by=None, seed=1, test_share=0.5)
    address, page = f"/api/v1/corpora/{made.corpus.pk}/counts/", f"/corpora/{made.corpus.pk}/counts/"
    found = api.get(address).json()
    assert (found["part"], found["rows"][0]["n_continuations"]) == ("dev", 3)
    split.refresh_from_db()
    assert split.fixed_at is not None
    assert api.get(address, {"part": "test"}).status_code == 400
    assert api.get(address, {"part": "all"}).status_code == 400
    shown = researcher.get(f"{page}?part=test")
    assert (shown.status_code, "Test was not opened" in shown.content.decode()) == (422, True)
    assert researcher.get(f"{page.rstrip('/')}.csv?part=test").status_code == 422
    with pytest.raises(CommandError, match="say what test is opened for"):
        said("--corpus", "coco", "--part", "test")
    assert not TestLook.objects.exists()


def test_a_look_at_test_is_logged_with_its_purpose(made: Made, researcher: Client, api: APIClient) -> None:
    splits.draw(corpus=made.corpus, by=None, seed=1, test_share=0.5)
    address, page = f"/api/v1/corpora/{made.corpus.pk}/counts/", f"/corpora/{made.corpus.pk}/counts/"
    assert api.post(address, {"rater": "x", "purpose": "table 3"}, format="json").status_code == 400
    assert not TestLook.objects.exists()
    found = api.post(address, {"purpose": "table 3", "by": "prompting"}, format="json").json()
    assert (found["part"], found["rows"][0]["n_continuations"]) == ("test", 3)
    assert [look["purpose"] for look in found["looks_at_test"]] == ["table 3"]
    empty = researcher.post(f"{page}test/", {"purpose": " "}, follow=True).content.decode()
    assert "Test was not opened" in empty
    shown = researcher.post(
        f"{page}test/?by=prompting", {"purpose": "figure 4"}, follow=True
    ).content.decode()
    assert "“figure 4”" in shown
    assert "test part of split main" in shown
    said("--corpus", "coco", "--part", "test", "--purpose", "the command")
    assert list(TestLook.objects.values_list("purpose", flat=True)) == ["table 3", "figure 4", "the command"]


def test_a_campaign_has_counts_of_its_own(made: Made, researcher: Client) -> None:
    campaign: Campaign = factories.campaign(made.corpus, "cocoeval_behaviours", opened=False)
    some = [item for item in made.items() if item.continuation.dialogue.key == "d0"]
    made.mark("ann", planted, kind="human", items=some, campaign=campaign)
    page = researcher.get(
        f"/corpora/{made.corpus.pk}/counts/?campaign={campaign.pk}&rater=ann"
    ).content.decode()
    assert campaign.name in page
    assert (
        researcher.get(f"/corpora/{factories.corpus().pk}/counts/?campaign={campaign.pk}").status_code == 404
    )
    found = json.loads(
        said("--campaign", campaign.name, "--rater", "ann", "--format", "json", "--resamples", "50")
    )
    assert [row["n_continuations"] for row in found["rows"]] == [1, 3]


def test_reading_takes_as_many_queries_however_many_labels_there_are(
    made: Made, django_assert_max_num_queries: Any
) -> None:
    made.mark("ann", planted, kind="human")
    with django_assert_max_num_queries(20):
        made.counts(by="prompting", strata="source")
    assert Question.objects.filter(key="repetition").exists()
