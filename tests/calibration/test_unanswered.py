"""Possible effect of failed calls on a report: in its caveats, in all its formats, and in `agree`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Continuation, System
from annotation.text.display import number
from calibration.models import Report, Study
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import BoundsRow
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import inputs
from calibration.studies import study_actions as studies
from jobs.models import Call, Run
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
DIALOGUES, TURNS = 30, 4
N = DIALOGUES * TURNS
RNG = np.random.default_rng(8)
TRUTH = (RNG.random(N) < 0.4).astype(float)
MARKS = {
    name: np.where(RNG.random(N) < wrong, 1 - TRUTH, TRUTH)
    for name, wrong in {"ann": 0.1, "ben": 0.1, "gpt": 0.15}.items()
}
FAILED = {3: "refusal", 10: "refusal", 50: "truncated", 77: "refusal"}


def rated(
    name: str = "talks",
    *,
    ask_of: str = "item",
    failed: Mapping[int, str] = FAILED,
    judge: np.ndarray = MARKS["gpt"],
) -> World:
    """Two people and a judge, who was asked about everything and failed on some items, or their dialogues."""
    built = world(name, dialogues=DIALOGUES, turns=TURNS)
    built.ask("off_topic", "binary", [0, 1], scheme=name, wording="Off topic", positive=1)
    built.say("ann", "off_topic", MARKS["ann"].tolist())
    built.say("ben", "off_topic", MARKS["ben"].tolist())
    lost = set(failed) if ask_of == "item" else {n for n in range(N) if _dialogue(n) & set(failed)}
    given = {item: judge[n] for n, item in enumerate(built.turns) if n not in lost}
    built.say("gpt", "off_topic", given, kind="judge")
    _calls(built, ask_of, failed)
    return built


def _dialogue(turn: int) -> set[int]:
    first = turn // TURNS * TURNS
    return set(range(first, first + TURNS))


def _calls(built: World, ask_of: str, failed: Mapping[int, str]) -> None:
    judge = built.rater("gpt", "judge")
    run = Run.objects.create(kind="judge", corpus=built.corpus, rater=judge)
    asked: dict[tuple[int, int | None], Call] = {}
    for n, item in enumerate(built.turns):
        key = (item.continuation_id, item.pk if ask_of == "item" else None)
        made = Call(run=run, rater=judge, continuation_id=key[0], item_id=key[1], state=Call.State.DONE)
        call = asked.setdefault(key, made)
        if n in failed:
            call.state, call.error_kind = Call.State.FAILED, failed[n]
    Call.objects.bulk_create(asked.values())


def report(built: World, **definition: Any) -> Report:
    study = studies.create(
        name=built.corpus.name, corpus=built.corpus, definition={"resamples": 60} | definition, by=None
    )
    return studies.compute(study=study, part="all", by=None)


def _row(result: Snapshot) -> BoundsRow:
    (row,) = result.bounds
    return row


def test_a_failed_call_leaves_its_item_open_and_bounds_hold_what_it_would_have_said() -> None:
    found = snapshot_of(report(rated()))
    row = _row(found)
    assert (row.n_asked, row.n_unanswered, row.n_failed, row.n_partial) == (N, 4, 4, 0)
    kappa, share = row.figure("bounds_cohen_kappa"), row.figure("bounds_share")
    assert kappa is not None
    assert share is not None
    (question,) = found.questions
    reported = next(f for f in question.gaps if f.name == "judge_cohen_kappa")
    assert kappa.value == pytest.approx(reported.value, abs=1e-12)
    assert (kappa.n_items, kappa.n_missing, kappa.n_clusters) == (N, 4, DIALOGUES)
    assert share.low == pytest.approx(np.delete(MARKS["gpt"], list(FAILED)).sum() / N)
    whole = snapshot_of(report_of_all())
    assert not whole.bounds
    (question,) = whole.questions
    true = next(f.point for f in question.gaps if f.name == "judge_cohen_kappa")
    assert (kappa.low or 1) <= true <= (kappa.high or -1)


@pytest.mark.parametrize("ask_of", ["item", "continuation"])
def test_a_narrowed_study_counts_the_calls_about_its_own_items_and_days(ask_of: str) -> None:
    built = rated(ask_of=ask_of)
    other = System.objects.create(corpus=built.corpus, name="other")
    first = Continuation.objects.filter(pk=built.turns[0].continuation_id)
    first.update(system=other)
    Call.objects.update(finished_at=timezone.now())
    n_failed = 3 if ask_of == "item" else 3 * TURNS
    of_humans = snapshot_of(report(built, subset={"systems": ["human"]}))
    assert (_row(of_humans).n_asked, _row(of_humans).n_failed) == (N - TURNS, n_failed)
    (calls,) = of_humans.calls
    assert (calls.calls, calls.failed) == (N - TURNS if ask_of == "item" else DIALOGUES - 1, 3)
    Call.objects.update(finished_at=datetime(2026, 1, 1, tzinfo=UTC))
    of_today = inputs.read(_narrowed(built, {"from": timezone.now().date().isoformat()}), "all")
    assert not of_today.calls
    assert not of_today.subjects[0].unanswered
    assert of_today.subjects[0].records


def _narrowed(built: World, subset: dict[str, Any]) -> Study:
    return studies.create(name="days", corpus=built.corpus, definition={"subset": subset}, by=None)


def report_of_all() -> Report:
    built = world("whole", dialogues=DIALOGUES, turns=TURNS)
    built.ask("tag", "binary", [0, 1], positive=1)
    for name, marks in MARKS.items():
        built.say(name, "tag", marks.tolist(), kind="judge" if name == "gpt" else "human")
    return report(built)


@pytest.mark.exhaustive
def test_a_failed_call_about_a_continuation_leaves_all_its_turns_open() -> None:
    row = _row(snapshot_of(report(rated(ask_of="continuation"))))
    assert (row.n_asked, row.n_unanswered, row.n_failed) == (N, 4 * TURNS, 4 * TURNS)


@pytest.mark.exhaustive
def test_every_form_of_a_report_shows_the_bounds_and_says_what_they_are(researcher: Client) -> None:
    found = report(rated(), statistics=["cohen_kappa", "mcc", "precision"])
    row = _row(snapshot_of(found))
    kappa = row.figure("bounds_cohen_kappa")
    assert kappa is not None
    ends = f"{number(kappa.low)} to {number(kappa.high)}"
    page = researcher.get(reverse("report", args=[found.study_id])).content.decode()
    written = {key: str(rendering.write(found)) for key, rendering in RENDERINGS.items()}
    for form in (page, written["html"], written["md"], written["latex"]):
        assert "Bounds over unanswered items" in form
        assert (
            f"Off topic could be anywhere from {ends} (reported without them: {number(kappa.value)})" in form
        )
        assert "bounds, not confidence intervals" in form
        assert "No bounds for Precision: with several people it is a mean over pairs of raters" in form
        for figure in row.figures:
            low, high = number(figure.low), number(figure.high)
            assert re.search(f"lowest {low},(<br>| )highest {high}", form.replace("$-$", "−"))
    lines = {line["name"]: line for line in csv.DictReader(io.StringIO(written["csv"]))}
    assert (lines["bounds_mcc"]["n_missing"], lines["bounds_n_unanswered"]["value"]) == ("4", "4.0")
    assert lines["bounds_cohen_kappa"]["low"] == str(kappa.low)
    assert "no confidence interval; sharp" in lines["bounds_cohen_kappa"]["method"]
    (kept,) = json.loads(written["json"])["bounds"]
    assert kept["n_failed"] == 4
    answer = researcher.get(f"/api/v1/studies/{found.study_id}/report/").json()
    assert answer["result"]["bounds"] == [kept]


@pytest.mark.exhaustive
def test_the_caveat_says_how_far_the_failures_could_move_the_figure_that_is_led_with() -> None:
    found = snapshot_of(report(rated()))
    kappa = _row(found).figure("bounds_cohen_kappa")
    assert kappa is not None
    (said,) = (text for text in caveats(found) if "failed" in text)
    assert said == (
        "4 of 120 calls of gpt failed and gave no answer (3 refusal and 1 truncated). With all items "
        f"answered, Cohen’s kappa on Off topic could be anywhere from {number(kappa.low)} to "
        f"{number(kappa.high)} (reported without them: {number(kappa.value)})."
    )


@pytest.mark.exhaustive
def test_many_failures_are_said_to_outweigh_chance() -> None:
    built = rated(failed=dict.fromkeys(range(0, N, 3), "transport"))
    (said,) = (text for text in caveats(snapshot_of(report(built))) if "failed" in text)
    assert said.endswith("This is wider than the interval: the failures matter more than chance.")


@pytest.mark.exhaustive
def test_bounds_that_hold_what_people_reach_are_said_to_turn_what_is_shown() -> None:
    built = rated(
        failed=dict.fromkeys(range(84), "transport"), judge=np.where(np.arange(N) % 4, TRUTH, 1 - TRUTH)
    )
    found = snapshot_of(report(built))
    (question,) = found.questions
    gap = next(f for f in question.gaps if f.name == "gap_cohen_kappa")
    assert gap.high is not None
    assert gap.high < 0, "the judge is shown to agree less than people do"
    (said,) = (text for text in caveats(found) if "failed" in text)
    assert said.endswith("This could reverse the comparison with people.")


@pytest.mark.exhaustive
def test_where_nothing_failed_nothing_is_shown(researcher: Client) -> None:
    found = report_of_all()
    page = researcher.get(reverse("report", args=[found.study_id])).content.decode()
    assert "Bounds over unanswered items" not in page
    assert all("Bounds over" not in str(rendering.write(found)) for rendering in RENDERINGS.values())


def _file(tmp_path: Path) -> str:
    path = tmp_path / "ratings.csv"
    lines = ["item,rater,kind,cluster,value"]
    for name, marks in MARKS.items():
        for n, mark in enumerate(marks):
            value = "" if name == "gpt" and n in FAILED else int(mark)
            lines.append(f"i{n},{name},{'judge' if name == 'gpt' else 'human'},c{n // TURNS},{value}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["", "--json", "--csv", "--latex", "--html"])
def test_agree_shows_them_in_every_form_where_they_are_asked_for(tmp_path: Path, form: str) -> None:
    path, out, plain = _file(tmp_path), io.StringIO(), io.StringIO()
    options = [path, "--scale", "binary", "--resamples", "40", *([form] if form else [])]
    call_command("agree", *options, "--bounds", stdout=out)
    call_command("agree", *options, stdout=plain)
    wanted = "bounds_cohen_kappa" if form in ("--json", "--csv") else "bounds with people"
    assert wanted in out.getvalue()
    assert "bounds" not in plain.getvalue()


@pytest.mark.exhaustive
def test_agree_and_a_report_give_the_same_bounds(tmp_path: Path) -> None:
    out = io.StringIO()
    call_command(
        "agree", _file(tmp_path), "--scale", "binary", "--resamples", "0", "--json", "--bounds", stdout=out
    )
    entries = {entry["name"]: entry for entry in json.loads(out.getvalue())["statistics"]}
    row = _row(snapshot_of(report(rated(), statistics=["cohen_kappa", "mcc", "scott_pi"])))
    assert len(row.figures) == 5
    for figure in row.figures:
        entry = entries[figure.name]
        assert (entry["value"], entry["low"], entry["high"]) == (figure.value, figure.low, figure.high)
