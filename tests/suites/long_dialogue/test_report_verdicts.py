"""Verdicts of the Answers report: each row beside guessing, always (E), and the same model without memory."""

from __future__ import annotations

import random
from typing import Any

import pytest

from calibration.statistics import Plan
from suites.long_dialogue.answers.figures import Answers, Sheet, row_figures
from suites.long_dialogue.answers.renderings import SECTIONS
from suites.long_dialogue.answers.report import compute
from suites.long_dialogue.answers.rows import AnswerRow, groups, read
from suites.long_dialogue.answers.verdicts import RowVerdict, row_verdicts
from tests.suites.long_dialogue.answers_small import row
from tests.suites.long_dialogue.answers_world import asked, bring, walked

SESSIONS = range(1, 21)
NO_MEMORY = {"model": "m", "memory": "no_memory"}


def judged(*rows: AnswerRow) -> dict[str, RowVerdict]:
    answers = Answers(Sheet(rows, Plan(400)))
    figures = row_figures(answers, groups(rows, ("system", "condition")), "strict")
    return {verdict.row.group.name: verdict for verdict in row_verdicts(answers, figures, "strict")}


def answered(share: float, **fields: Any) -> list[AnswerRow]:
    """Return an answer in each session, of which the first `share` are right."""
    n_right = round(share * len(SESSIONS))
    return [
        row(session=session, outcome="A" if session <= n_right else "B", **fields) for session in SESSIONS
    ]


def test_a_row_above_guessing_and_always_e_is_above_every_baseline() -> None:
    (result,) = judged(*answered(0.8)).values()
    assert result.verdict.state == "above"
    assert [each.baseline for each in result.verdict.comparisons] == ["guessing", "always (E)"]
    assert "Accuracy 0.60 above the best baseline, guessing" in result.verdict.sentence


def test_a_row_that_guesses_is_not_shown_to_be_better() -> None:
    (result,) = judged(*answered(0.25)).values()
    assert (result.verdict.state, result.verdict.step) == ("not_above", "add")
    assert "sessions would show such a difference" in result.verdict.sentence


def test_the_same_model_without_memory_is_a_baseline_on_the_same_questions() -> None:
    rows = judged(*answered(0.8), *answered(0.85, condition=NO_MEMORY))
    with_memory, without = rows["m, memory base"], rows["m, memory no_memory"]
    assert list(rows) == ["m, memory no_memory", "m, memory base"]
    assert with_memory.verdict.state == "not_above"
    assert "Accuracy 0.05 below the same model without memory" in with_memory.verdict.sentence
    assert [each.baseline for each in without.verdict.comparisons] == ["guessing", "always (E)"]


def test_guessing_is_no_baseline_where_no_letters_are_shown() -> None:
    rows = [
        row(session=session, format="open", choices=[], outcome="text", reply="red boots")
        for session in SESSIONS
    ]
    (result,) = judged(*rows).values()
    assert [each.baseline for each in result.verdict.comparisons] == ["always (E)"]
    assert result.verdict.state == "above"


def test_failed_answers_can_undo_a_verdict() -> None:
    failed = [row(session=session, outcome="failed") for session in range(12, 21)]
    (result,) = judged(*answered(1)[:11], *failed).values()
    assert result.scored.value == pytest.approx(11 / 20)
    assert result.verdict.state == "above"
    fewer = [row(session=session, outcome="A" if session <= 6 else "B") for session in range(1, 12)]
    (result,) = judged(*fewer, *failed).values()
    assert (result.verdict.state, result.verdict.step) == ("cannot_say", "complete")


@pytest.mark.exhaustive
def test_guessing_is_rarely_shown_to_be_better_and_knowing_half_usually_is() -> None:
    """Over 200 simulated rows of 40 sessions: above every baseline in at most 5%, and in at least 80%."""

    def share_above(accuracy: float) -> float:
        source = random.Random(f"{accuracy}")
        states = [
            result.verdict.state
            for _ in range(200)
            for result in judged(
                *(row(session=n, outcome="A" if source.random() < accuracy else "B") for n in range(40))
            ).values()
        ]
        return states.count("above") / len(states)

    assert share_above(0.2) <= 0.05
    assert share_above(0.5) >= 0.8


def test_few_sessions_are_no_verdict() -> None:
    (result,) = judged(*answered(1)[:9]).values()
    assert result.verdict.sentence == "Only 9 sessions; a verdict needs at least 10."


@pytest.mark.django_db
def test_the_page_begins_with_verdicts_and_folds_the_rest(signed_in, tmp_path) -> None:
    corpus = bring(tmp_path)
    page = signed_in.get(f"/corpora/{corpus.pk}/answers/?resamples=100").content.decode()
    order = (
        "Cannot say yet",
        "Accuracy: systems and baselines",
        'id="accuracy"',
        'id="memory"',
        'id="method"',
    )
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert '<a href="#factors">Factors</a>' in page
    table = signed_in.get(f"/corpora/{corpus.pk}/answers/?resamples=100&layout=table3").content.decode()
    assert "Cannot say yet" not in table
    assert "Accuracy by model, retriever and memory" in table


@pytest.mark.django_db
def test_programs_read_the_verdicts(signed_in, tmp_path) -> None:
    sessions = [asked(n, outcome="B") for n in (1, 2, 4, 5)]
    corpus = bring(tmp_path, walked("m", 0, *sessions))
    assert "Only 4 sessions" in signed_in.get(f"/corpora/{corpus.pk}/answers/").content.decode()
    payload = signed_in.get(f"/api/v1/corpora/{corpus.pk}/answers/?resamples=100").json()["verdicts"]
    assert [(row["system"], row["state"], row["scored"]) for row in payload] == [("m", "cannot_say", 1)]


@pytest.mark.django_db
def test_every_table_has_a_section(tmp_path) -> None:
    corpus = bring(tmp_path)
    keys = set()
    for layout in ("report", "table2", "table3"):
        report = compute(query=read({"layout": layout, "resamples": 50}, corpus), by=None)
        keys |= {table.key for table in report.tables}
    assert keys - {"verdicts"} <= {key for section in SECTIONS for key in section.tables}
