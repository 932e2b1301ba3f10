"""A corpus's profile: means and spreads per system and metric, and the causes of a conversation's values."""

from __future__ import annotations

import csv
import io
import json
import re
import statistics

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import scheme_store
from annotation.models import Continuation, Corpus, Dialogue, Item, Rater
from annotation.work.labels import Answer, record
from calibration import figure_cache, renderings
from calibration.comparisons import metric_causes, profiles
from jobs.models import Call, Job, Run
from judges.metrics import METRICS
from judges.metrics.kit.metric import HALVES
from judges.runs.metric_calls import scheme_of
from tests import factories
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db

VALUES = {"human": [0.2, 0.4, 0.3], "model-a": [0.9, 0.7, 0.8], "model_b%": [0.5, 0.5, 0.5]}


def dialogue_of(corpus: Corpus, key: str) -> Dialogue:
    """Return a corpus's dialogue of a key, made with three turns where there is none."""
    found = Dialogue.objects.filter(corpus=corpus, key=key).first()
    return found or factories.dialogue(corpus, key, turns=3)


def scored(corpus: Corpus, metric: str, values: dict[str, list[float | None]], **details: object) -> Rater:
    """Give each system's continuations of the same dialogues a metric's labels."""
    declared = METRICS[metric]
    question = scheme_store.store(definition=scheme_of(declared)).questions.get()
    rater = Rater.objects.create(kind="metric", name=f"{metric}@paper", spec={"metric": metric})
    explanation = json.dumps(details) if details else ""
    for system, scores in values.items():
        for number, value in enumerate(scores):
            lines = [{"text": "first"}, {"text": "second"}]
            made = factories.continuation(
                dialogue_of(corpus, f"{metric}-{number}"), f"by {system}", system=system, turns=lines
            )
            item = (
                Item.objects.filter(continuation=made, kind=declared.kind).order_by("turn__position").last()
            )
            assert item is not None
            reason = "" if value is not None else "there is no context"
            answer = Answer(item, question, value, missing=reason, explanation=explanation)
            record(rater=rater, answers=[answer], occasion="main")
    return rater


def test_a_cell_is_the_mean_and_the_standard_deviation_of_the_items_with_a_value() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", VALUES | {"model-a": [0.9, 0.7, 0.8, None]})
    (panel,) = profiles.profile(corpus)
    cell = next(row.cells[0] for row in panel.rows if row.system == "model-a")
    assert (cell.n, cell.missing) == (3, 1)
    assert cell.mean == pytest.approx(0.8, abs=1e-12)
    assert cell.spread == pytest.approx(statistics.pstdev([0.9, 0.7, 0.8]), abs=1e-12)


def test_people_are_set_apart_and_the_ends_are_marked() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", VALUES)
    (panel,) = profiles.profile(corpus)
    assert [row.system for row in panel.people] == ["human"]
    marks = {row.system: row.cells[0].marks for row in panel.rows}
    assert marks == {"human": (), "model-a": ("farthest",), "model_b%": ("nearest", "best")}


@pytest.mark.parametrize(
    ("metric", "high", "low"),
    [
        ("info_gain", ("highest", "best"), ("lowest",)),
        ("pe", ("highest",), ("lowest", "best")),
        ("nse", ("highest",), ("lowest",)),
    ],
)
def test_the_better_end_is_the_one_that_the_metric_declares(
    metric: str, high: tuple[str, ...], low: tuple[str, ...]
) -> None:
    corpus = factories.corpus()
    scored(corpus, metric, {"model-a": [0.9], "model-b": [0.4], "model-c": [0.6]})
    (panel,) = profiles.profile(corpus)
    marks = {row.system: row.cells[0].marks for row in panel.rows}
    assert marks == {"model-a": high, "model-b": low, "model-c": ()}


def test_means_equally_near_to_a_half_are_not_marked() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", {"human": [0.25], "model-a": [0.75]})
    (panel,) = profiles.profile(corpus)
    assert [row.cells[0].marks for row in panel.rows] == [(), ()]


def test_a_metric_without_direction_has_no_better_end() -> None:
    corpus = factories.corpus()
    scored(corpus, "nse", {"human": [0.9], "model-a": [0.5]})
    (panel,) = profiles.profile(corpus)
    assert all("best" not in row.cells[0].marks for row in panel.rows)


def test_equal_means_are_not_marked() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", {"human": [0.5], "model-a": [0.5]})
    (panel,) = profiles.profile(corpus)
    assert [row.cells[0].marks for row in panel.rows] == [(), ()]


@pytest.mark.exhaustive
def test_the_queries_do_not_grow_with_the_labels(django_assert_num_queries: object) -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", VALUES)
    scored(corpus, "nse", VALUES)
    with django_assert_num_queries(6):  # type: ignore[operator]
        profiles.profile(corpus)


def test_the_files_hold_the_same_figures_and_print_hostile_names_as_text() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", {"=HYPERLINK(1)": [0.25], "model_b%": [0.75]})
    panels = profiles.profile(corpus)
    rows = list(csv.DictReader(io.StringIO(profiles.as_csv(panels))))
    assert [(row["system"], float(row["mean"])) for row in rows] == [
        ("'=HYPERLINK(1)", 0.25),
        ("model_b%", 0.75),
    ]
    written = profiles.as_latex(panels)
    assert "model\\_b\\% & 0.750 \\\\\n & {\\scriptsize $\\pm$ 0.000} \\\\" in written
    assert r"m\_sns\_avg@paper $\to .5$" in written


def test_latex_is_one_booktabs_table_a_panel_whatever_the_names_are() -> None:
    corpus = factories.corpus()
    scored(corpus, "nse", {"\\input{x} & $^~#<|>\n\n% end": [0.25], "model-a": [0.75], "human": [0.5]})
    written = profiles.as_latex(profiles.profile(corpus))
    assert r"\textbackslash{}input\{x\} \& \$\textasciicircum{}\textasciitilde{}\#" in written
    assert r"\textless{}\textbar{}\textgreater{} \% end & \underline{0.250} \\" in written
    rows = [line for line in written.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + 2 * 3
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {1}
    assert written.count(r"\begin{tabular}") == written.count(r"\end{tabular}") == 1
    rules = [line for line in written.splitlines() if line.endswith("rule")]
    assert rules == [r"\toprule", r"\midrule", r"\midrule", r"\bottomrule"]


@pytest.mark.parametrize("name", ["[2cm] model", "*starred"])
def test_a_name_is_no_argument_of_the_line_break_before_it(name: str) -> None:
    assert renderings.escaped(name).startswith("{")


def test_why_values_are_missing_is_told_with_how_often() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", {"model-a": [None, None, 0.5]})
    (panel,) = profiles.profile(corpus)
    assert [(gone.metric, gone.reason, gone.n) for gone in panel.gone] == [
        ("m_sns_avg@paper", "there is no context", 2)
    ]


@pytest.mark.exhaustive
def test_the_quartiles_are_those_of_the_values() -> None:
    corpus = factories.corpus()
    rater = scored(corpus, "m_sns_avg", {"model-a": [0.1, 0.2, 0.3, 0.4]})
    column = profiles.column(corpus, rater.pk)
    assert column is not None
    (box,) = profiles.distribution(corpus, column)
    assert (box["n"], box["low"], box["high"]) == (4, 0.1, 0.4)
    assert box["q1"] == pytest.approx(0.175)
    assert box["median"] == pytest.approx(0.25)
    long = box | {"system": "a long name " * 12}
    drawn = " ".join(re.sub("<[^>]*>", " ", profiles.svg([box, long], column)).split())
    assert all(part in drawn for part in ("a long name a long name", "model-a"))
    assert "…" not in drawn
    assert profiles.alt_text([box], column).endswith("by system, means: model-a 0.250.")


def test_a_value_names_the_turns_that_caused_it() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_min", {"model-a": [0.3]}, nearest=1)
    lines, values = metric_causes.values(Continuation.objects.get(system__name="model-a"))
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    (value,) = values
    assert (value.turn, value.value, value.turns) == (5, 0.3, (2,))
    assert value.causes == ("nearest to turn 2",)


@pytest.mark.exhaustive
def test_the_pages_show_it_all(client: Client) -> None:
    corpus = factories.corpus()
    rater = scored(corpus, "m_sns_min", {"<b>model</b>": [0.3], "human": [0.4]}, nearest=1)
    client.force_login(factories.user(researcher=True))
    page = client.get(f"/corpora/{corpus.pk}/profile/").content.decode()
    assert "0.300" in page
    assert "<b>model</b>" not in page
    assert "&lt;b&gt;model" in page
    for path in ("csv", "tex"):
        assert client.get(f"/corpora/{corpus.pk}/profile.{path}").status_code == 200
    assert b"<svg" in client.get(f"/corpora/{corpus.pk}/profile/{rater.pk}.part").content
    assert client.get(f"/corpora/{corpus.pk}/profile.pdf").status_code == 404
    made = Continuation.objects.filter(system__name="human", key="by human").get()
    assert "nearest to turn 2" in client.get(f"/profile/{made.pk}/").content.decode()
    cells = client.get(f"/api/v1/corpora/{corpus.pk}/profile/").json()["cells"]
    assert {cell["mean"] for cell in cells} == {0.3, 0.4}


def test_a_corpus_without_metrics_says_what_to_do(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    page = client.get(f"/corpora/{factories.corpus().pk}/profile/").content.decode()
    assert "No metric has been run" in page


def test_causes_are_told_in_the_words_of_the_dialogue() -> None:
    keys = ("cs", "ap", "sc_gini", "lnr", "m_sns_avg")
    declared = {name: cause for key in keys for name, cause in METRICS[key].causes.items()}
    names = metric_causes.Names({"A": "Ana", "B": "نور"}, {"a1": "pick a date", "a2": "choose a venue"})
    told = metric_causes.phrases(
        {
            "jumps": [["a1", "a2"]],
            "item": "a1",
            "longest_edge": [3, 5],
            "contributions": {"A": 0.25, "B": 3},
            "new": [],
            "shifts": True,
        },
        names,
        declared,
    )
    assert told == (
        "contributions: Ana 0.25, \u2068نور\u2069 3",
        "agenda item “pick a date”",
        "jumps “pick a date” to “choose a venue”",
        "longest edge between turns 4 and 6",
        "shifts True",
    )
    assert metric_causes.turns({"longest_edge": [3, 5], "nearest": 0, "item": "a1"}, declared) == (1, 4, 6)


@pytest.mark.exhaustive
def test_a_continuation_shows_one_metric_where_one_is_chosen(client: Client) -> None:
    corpus = factories.corpus()
    rater = scored(corpus, "m_sns_min", {"model-a": [0.3]}, nearest=1)
    client.force_login(factories.user(researcher=True))
    made = Continuation.objects.get(system__name="model-a")
    for query, count in (("", 1), (f"?metric={rater.pk}", 1), ("?metric=x", 1)):
        page = client.get(f"/profile/{made.pk}/{query}")
        assert page.content.decode().count("nearest to turn 2") == count
    empty = Continuation.objects.exclude(pk=made.pk).get(dialogue=made.dialogue)
    assert "No metric has scored this" in client.get(f"/profile/{empty.pk}/").content.decode()
    assert client.get(f"/api/v1/continuations/{empty.pk}/profile/").json() == []
    (told,) = client.get(f"/api/v1/continuations/{made.pk}/profile/").json()
    assert (told["metric"], told["value"], told["missing"], told["turns"]) == (rater.name, 0.3, "", [2])


@pytest.mark.exhaustive
def test_a_hundred_scored_continuations_cost_no_more_queries_than_one(
    client: Client, django_assert_max_num_queries: object
) -> None:
    corpus = factories.corpus()
    scored(corpus, "nse", {"model-a": [n / 50 for n in range(40)]})
    client.force_login(factories.user(researcher=True))
    with django_assert_max_num_queries(19):  # type: ignore[operator]  (one says how large the corpus is)
        client.get(f"/corpora/{corpus.pk}/profile/")


def given_halves(corpus: Corpus, metric: str, values: dict[tuple[str, str], list[float | None]]) -> None:
    """Give continuations a metric's labels, by system and what it was given; None: missing for that."""
    question = scheme_store.store(definition=scheme_of(METRICS[metric])).questions.get()
    named = {"name": f"{metric}@paper", "spec": {"metric": metric}}
    rater, _ = Rater.objects.get_or_create(kind="metric", **named)
    for (system, given), scores in values.items():
        for number, value in enumerate(scores):
            dialogue = dialogue_of(corpus, f"{metric}-{number}")
            key = f"by {system} given {given}"
            made = factories.continuation(dialogue, key, system=system, turns=[{"text": "one"}])
            Continuation.objects.filter(pk=made.pk).update(condition={given: "given"} if given else {})
            item = Item.objects.filter(continuation=made, kind="turn").last()
            reason = "" if value is not None else HALVES[given]
            record(rater=rater, answers=[Answer(item, question, value, missing=reason)], occasion="main")


SPEAKERS: dict[tuple[str, str], list[float | None]] = {
    ("solver", "speaker"): [None, None],
    ("solver", "content"): [0.25, 0.5],
    ("other", ""): [0.75, 0.75],
    ("half", "speaker"): [None],
}
MESSAGES: dict[tuple[str, str], list[float | None]] = {
    ("solver", "speaker"): [0.5, 1.0, 0.75],
    ("solver", "content"): [None],
    ("other", ""): [0.125, 0.125, 0.125],
}
BOTH: dict[tuple[str, str], list[float | None]] = {
    ("solver", "speaker"): [None],
    ("solver", "content"): [None],
}


@pytest.mark.exhaustive
def test_a_system_with_two_halves_has_a_row_that_joins_them_and_says_which() -> None:
    corpus = factories.corpus()
    for metric, values in (("pf", SPEAKERS), ("m_sns_avg", MESSAGES), ("lscc_es_avg", BOTH)):
        given_halves(corpus, metric, values)
    speaker, content, consistency = profiles.profile(corpus)
    rows = {row.system: row for row in speaker.rows}
    (cell,) = rows["solver"].cells
    assert (cell.n, cell.mean, cell.given) == (2, 0.375, "content")
    assert rows["solver"].note == "joined; values where the message was given"
    assert rows["other"].note == ""
    assert (rows["half"].note, rows["half"].cells[0].reason) == ("the speaker was given",) * 2
    (row,) = [row for row in content.rows if row.system == "solver"]
    assert (row.cells[0].n, row.cells[0].mean, row.note) == (
        3,
        0.75,
        "joined; values where the speaker was given",
    )
    (row,) = consistency.rows
    assert (row.cells[0].mean, row.cells[0].reason) == (None, "the message was given; the speaker was given")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("metric", "values", "half"), [("pf", SPEAKERS, "content"), ("m_sns_avg", MESSAGES, "speaker")]
)
def test_a_joined_row_equals_the_single_row_that_has_the_value(
    metric: str, values: dict[tuple[str, str], list[float | None]], half: str
) -> None:
    both, one = factories.corpus("both"), factories.corpus("one")
    solver = {key: scores for key, scores in values.items() if key[0] == "solver"}
    given_halves(both, metric, solver)
    given_halves(one, metric, {("solver", half): solver["solver", half]})
    (joined,), (single,) = (
        [row for panel in profiles.profile(corpus) for row in panel.rows] for corpus in (both, one)
    )
    assert joined.cells == single.cells


def test_a_dash_with_its_reason_stands_on_the_page_and_in_the_files() -> None:
    corpus = factories.corpus()
    given_halves(corpus, "pf", SPEAKERS)
    panels = profiles.profile(corpus)
    assert "--: the speaker was given" in profiles.as_latex(panels)
    rows = {row["system"]: row for row in csv.DictReader(io.StringIO(profiles.as_csv(panels)))}
    assert rows["half"]["reason"] == "the speaker was given"
    assert (rows["solver"]["given"], rows["half"]["given"], rows["other"]["given"]) == (
        "content",
        "speaker",
        "",
    )
    client = Client()
    client.force_login(factories.user(researcher=True))
    page = client.get(f"/corpora/{corpus.pk}/profile/").content.decode()
    assert re.search(r"–</span> <span[^>]*>the speaker was given", page)
    assert "joined; values where the message was given" in page
    column = profiles.column(corpus, Rater.objects.get().pk)
    assert column is not None
    told = [row["system"] for row in profiles.distribution(corpus, column)]
    assert told == ["other", "solver (the message was given)"]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_the_profile_of_a_large_corpus_is_computed_by_a_worker_and_kept(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = factories.corpus()
    rater = scored(corpus, "m_sns_avg", VALUES | {"model-a": [0.9, 0.7, 0.8, None]})
    client.force_login(factories.user("rea", researcher=True))
    page, api = reverse("profile", args=[corpus.pk]), reverse("api-profile", args=[corpus.pk])
    chart = reverse("profile-chart", args=[corpus.pk, rater.pk, "svg"])
    small, drawn = client.get(api).json(), client.get(chart).content
    assert (small["computed_at"], small["labels_since"]) == (None, False)

    monkeypatch.setattr(figure_cache, "SMALL", 0)
    assert client.get(api).status_code == 202
    assert "Computing the figures" in client.get(page).content.decode()
    work_off()
    for module, name in ((profiles, "figures_of"), (profiles, "distribution"), (profiles, "doubtful_values")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("labels are read in the request"))
    large = client.get(api).json()
    assert large["cells"] == small["cells"]
    assert large["computed_at"]
    assert client.get(chart).content == drawn
    shown = client.get(page).content.decode()
    assert "Computed on" in shown
    assert "One conversation at a time" in shown

    continuation = Continuation.objects.filter(dialogue__corpus=corpus).earliest("pk")
    run = Run.objects.create(kind="metric", corpus=corpus, rater=rater, queue="metrics", state="done")
    Call.objects.create(run=run, rater=rater, continuation=continuation, state="failed")
    later = client.get(api).json()
    assert (later["labels_since"], later["calls_since"]) == (False, True)
    shown = client.get(page).content.decode()
    assert "No labels have been added since, but calls of judges or metrics have finished." in shown
    assert "Labels have been added or withdrawn since" not in shown

    scored(corpus, "m_sns_max" if "m_sns_max" in METRICS else "pe", {"model-a": [0.5]})
    later = client.get(api).json()
    assert (later["labels_since"], later["cells"]) == (True, large["cells"])
    assert "Labels have been added or withdrawn since" in client.get(page).content.decode()
    assert Job.objects.filter(kind="profile", state="queued").count() == 1
