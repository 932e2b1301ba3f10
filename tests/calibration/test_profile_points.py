"""The rows of a profile are compared at the same points of the same dialogues."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus, Rater
from calibration import figure_cache
from calibration.comparisons import profiles
from calibration.comparisons.profile_cells import ALL, APART, SAME
from jobs.models import Job
from tests import factories
from tests.calibration.compared_world import rater, rollout, score, static
from tests.jobs.work import work_off

pytestmark = pytest.mark.django_db
PEOPLE = {"human": (0.2, 0.4), "bot": (0.3, 0.5)}


def own_turns_and_answers() -> tuple[Corpus, Rater]:
    """Return a corpus with values of 60 own turns, and of a model's answers at the second turn of a few.

    There people have 0.2 and 0.4 and the model 0.3 and 0.5; at all other turns people have 0.9.
    """
    corpus, by = factories.corpus(), rater("info_gain")
    for number in range(6):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=10)
        own = dialogue.continuations.get(key="self")
        for turn in range(10):
            is_shared = turn == 2 and number < 2
            score(by, own, PEOPLE["human"][number] if is_shared else 0.9, turn=turn)
        if number < 2:
            score(by, static(dialogue, "answer", system="bot"), PEOPLE["bot"][number])
    return corpus, by


def means(corpus: Corpus, points: str = SAME) -> dict[str, tuple[float | None, int, int]]:
    (panel,) = profiles.profile(corpus, points)
    return {
        row.system: (
            None if cell.mean is None else round(cell.mean, 9),
            cell.n,
            cell.elsewhere,
        )
        for row in panel.rows
        for cell in row.cells
    }


@pytest.mark.exhaustive
def test_people_are_compared_with_a_model_at_the_points_that_it_answered() -> None:
    corpus, _ = own_turns_and_answers()
    assert means(corpus) == {"bot": (0.4, 2, 0), "human": (0.3, 2, 58)}
    assert means(corpus, ALL) == {"bot": (0.4, 2, 0), "human": (round((58 * 0.9 + 0.6) / 60, 9), 60, 0)}
    (panel,) = profiles.profile(corpus)
    assert panel.shared == {"info_gain@paper": (2, 60)}
    (cell,) = panel.people[0].cells
    assert (cell.low, cell.high, cell.marks) == (0.2, 0.4, ("lowest",))
    assert cell.spread == pytest.approx(0.1)


@pytest.mark.exhaustive
def test_the_better_end_is_that_of_the_shared_points() -> None:
    corpus, _ = own_turns_and_answers()
    best = {
        points: [
            row.system for row in profiles.profile(corpus, points)[0].rows if "best" in row.cells[0].marks
        ]
        for points in (SAME, ALL)
    }
    assert best == {SAME: ["bot"], ALL: ["human"]}


def test_a_chart_has_the_values_of_the_shared_points() -> None:
    corpus, by = own_turns_and_answers()
    column = profiles.column(corpus, by.pk)
    assert column is not None
    drawn = {
        row["system"]: (row["n"], row["low"], row["high"]) for row in profiles.distribution(corpus, column)
    }
    assert drawn == {"bot": (2, 0.3, 0.5), "human": (2, 0.2, 0.4)}
    everywhere = {row["system"]: row["n"] for row in profiles.distribution(corpus, column, ALL)}
    assert everywhere == {"bot": 2, "human": 60}


@pytest.mark.exhaustive
def test_page_api_and_files_say_which_points_they_speak_of(client: Client) -> None:
    corpus, by = own_turns_and_answers()
    client.force_login(factories.user(researcher=True))
    page, api = reverse("profile", args=[corpus.pk]), reverse("api-profile", args=[corpus.pk])
    shown = client.get(page).content.decode()
    assert "compared at the same points" in shown
    assert "Compared at 2 of 60 points (info_gain@paper)" in shown
    assert "n 2 · 58 elsewhere" in shown
    everything = client.get(f"{page}?points=all").content.decode()
    assert "All points: each system’s mean is of all its own values" in everything
    assert "n 60<" in everything
    assert "profile.csv?points=all" in everything

    told = {points: client.get(f"{api}?points={points}").json() for points in (SAME, ALL)}
    assert client.get(api).json() == told[SAME]
    assert {points: answer["points"] for points, answer in told.items()} == {SAME: SAME, ALL: ALL}
    for points, n in ((SAME, 2), (ALL, 60)):
        cells = {cell["system"]: cell for cell in told[points]["cells"]}
        assert (cells["human"]["points"], cells["human"]["n"], cells["human"]["elsewhere"]) == (
            points,
            n,
            60 - n,
        )
        written = client.get(f"/corpora/{corpus.pk}/profile.csv?points={points}").content.decode()
        rows = {row["system"]: row for row in csv.DictReader(io.StringIO(written))}
        assert (rows["human"]["points"], rows["human"]["n"]) == (points, str(n))
        chart = client.get(reverse("profile-chart", args=[corpus.pk, by.pk, "svg"]) + f"?points={points}")
        assert chart.status_code == 200
        assert (
            profiles.SENTENCES[points]
            in client.get(f"/corpora/{corpus.pk}/profile.tex?points={points}").content.decode()
        )
    assert client.get(f"{api}?points=some").status_code == 400


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_kept_profile_has_both_the_shared_and_all_points(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, by = own_turns_and_answers()
    client.force_login(factories.user(researcher=True))
    api = reverse("api-profile", args=[corpus.pk])
    chart = reverse("profile-chart", args=[corpus.pk, by.pk, "svg"])
    paths = [f"{path}?points={points}" for path in (api, chart) for points in (SAME, ALL)]

    def read(path: str) -> object:
        answer = client.get(path)
        return answer.json()["cells"] if path.startswith(api) else answer.content

    small = [read(path) for path in paths]
    monkeypatch.setattr(figure_cache, "SMALL", 0)
    assert client.get(api).status_code == 202
    work_off()
    assert Job.objects.get(kind="profile").state == Job.State.DONE
    monkeypatch.setattr(profiles, "figures_of", lambda *_: pytest.fail("labels are read in the request"))
    monkeypatch.setattr(profiles, "distribution", lambda *_: pytest.fail("labels are read in the request"))
    assert [read(path) for path in paths] == small


def test_an_answer_after_the_whole_history_shares_its_point_with_the_first_turn_of_a_rollout() -> None:
    corpus, by = factories.corpus(), rater("info_gain")
    dialogue = factories.dialogue(corpus, "d", turns=4)
    score(by, static(dialogue, "late", at=(4,)), 0.5)
    made = rollout(dialogue, "long", turns=3)
    for turn, value in enumerate((0.1, 0.7, 0.7)):
        score(by, made, value, turn=turn)
    assert means(corpus) == {"late": (0.5, 1, 0), "long": (0.1, 1, 2)}


def test_answers_after_other_given_turns_are_not_at_the_same_point() -> None:
    corpus, by = factories.corpus(), rater("info_gain")
    dialogue = factories.dialogue(corpus, "d", turns=4)
    for key, said in (("a", "Yes?"), ("b", "Yes?"), ("c", "No?")):
        lines = [{"text": said, "at": 2, "given": True}, {"text": "Well.", "at": 2}]
        made = factories.continuation(dialogue, key, system=key, turns=lines, mode="static")
        score(by, made, 0.5, turn=1)
    assert means(corpus) == {"a": (0.5, 1, 0), "b": (0.5, 1, 0), "c": (None, 0, 1)}


def test_a_row_without_a_common_point_is_left_out_with_its_reason_and_the_others_are_compared() -> None:
    corpus, by = factories.corpus(), rater("info_gain")
    near, far = factories.dialogue(corpus, "near", turns=4), factories.dialogue(corpus, "far", turns=4)
    for key, value in (("a", 0.2), ("b", 0.6)):
        score(by, static(near, key), value)
    score(by, static(far, "a-far", system="a"), 1.0)
    score(by, static(far, "c", at=(1,)), 0.9)
    assert means(corpus) == {"a": (0.2, 1, 1), "b": (0.6, 1, 0), "c": (None, 0, 1)}
    (panel,) = profiles.profile(corpus)
    assert {row.system: row.cells[0].reason for row in panel.rows} == {"a": "", "b": "", "c": APART}


def test_whole_conversations_are_compared_where_they_begin_at_the_same_place() -> None:
    corpus, by = factories.corpus(), rater("nse")
    for number, value in enumerate((0.1, 0.3)):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=4)
        score(by, dialogue.continuations.get(key="self"), 0.9)
        score(by, rollout(dialogue, "by people", system="human"), value)
        if not number:
            score(by, rollout(dialogue, "bot"), 0.5)
    assert means(corpus) == {"bot": (0.5, 1, 0), "human": (0.1, 1, 3)}


def test_a_metric_that_ran_on_one_system_alone_has_all_its_values() -> None:
    corpus, by = factories.corpus(), rater("info_gain")
    score(by, static(factories.dialogue(corpus, "d"), "bot", at=(1, 2)), 0.5, turn=1)
    assert means(corpus) == means(corpus, ALL) == {"bot": (0.5, 1, 0)}
