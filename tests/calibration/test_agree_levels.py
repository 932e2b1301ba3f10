"""`manage.py agree --levels`: tables by level from a ratings file, in every format, and its errors."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from scipy import stats

from calibration.agree.report import number

SYSTEMS, DIALOGUES, TURNS = 12, 10, 3
TURN, WHOLE = "turn labels", "whole labels"
LEVELS = ("--levels", "turn,dialogue,system")


def _ratings() -> pd.DataFrame:
    """Three people, a judge and a metric on turns; the people and the judge on whole dialogues."""
    rng = np.random.default_rng(4)
    by_system = rng.normal(size=SYSTEMS)
    rows = []

    def say(item: str, rater: str, kind: str, question: str, value: float, **about: object) -> None:
        model = {"gpt": "A", "b<eu & co": "B"}.get(rater, "")
        rows.append(
            {"item": item, "rater": rater, "kind": kind, "question": question, "value": value, "model": model}
            | about
        )

    for s in range(SYSTEMS):
        for d in range(DIALOGUES):
            about = {"dialogue": f"d{d}", "continuation": f"c{s}", "system": f"system {s}"}
            quality = by_system[s] + rng.normal(size=TURNS)
            for t in range(TURNS):
                item, where = f"d{d}/c{s}/{t}", about | {"turn": t}
                for person in ("ann", "bob", "cy"):
                    seen = float(np.clip(np.round(3 + quality[t] + rng.normal()), 1, 5))
                    say(item, person, "human", TURN, seen if rng.random() > 0.1 else np.nan, **where)
                say(item, "gpt", "judge", TURN, float(np.round(quality[t] + rng.normal())), **where)
                score = rng.normal() if rng.random() > 0.05 else np.nan
                say(item, "b<eu & co", "metric", TURN, score, **where)
            whole = about | {"turn": np.nan}
            for rater, kind in (("ann", "human"), ("bob", "human"), ("gpt", "judge")):
                seen = float(np.round(3 + quality.mean() + rng.normal()))
                say(f"d{d}/c{s}", rater, kind, WHOLE, seen, **whole)
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return _ratings()


@pytest.fixture
def path(frame: pd.DataFrame, tmp_path: Path) -> Path:
    return _written(frame, tmp_path)


def _written(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "ratings.csv", index=False)
    return folder / "ratings.csv"


def _agree(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--scale", "interval", "--resamples", "40", *options, stdout=out)
    return out.getvalue()


def _json(path: Path, *options: str) -> dict:
    return json.loads(_agree(path, *LEVELS, "--json", *options))


def _entry(entries: list[dict], row: str, level: str, name: str) -> dict:
    (found,) = [e for e in entries if (e["row"], e["level"], e["name"]) == (row, level, name)]
    return found


def test_every_entry_has_its_level_and_the_fields_of_any_statistic(path: Path) -> None:
    whole = _json(path, "--reference-question", TURN)
    entries = whole["statistics"]
    fields = {"name", "raters", "question", "value", "low", "high", "status", "reason", "flags", "method"}
    fields |= {"n_items", "n_clusters", "n_raters", "n_missing", "level", "p", "p_test", "starred", "best"}
    assert all(fields <= set(entry) for entry in entries)
    assert {entry["level"] for entry in entries} == {"turn", "dialogue", "system"}
    assert len(entries) == 4 * 3 * 3
    judge = _entry(entries, f"gpt, {TURN}", "system", "spearman")
    assert judge["raters"] == ["mean(kind:human)", "gpt"]
    assert (judge["question"], judge["reference_question"]) == (TURN, TURN)
    assert (judge["n_items"], judge["n_clusters"]) == (SYSTEMS, DIALOGUES)
    assert judge["low"] <= judge["value"] <= judge["high"]
    assert "120 continuations by 12 systems in 10 dialogues." in whole["input"]["questions"][0]["facts"]


def _means(frame: pd.DataFrame, rater: str, question: str, by: str) -> pd.Series:
    own = frame[
        (frame.question == question) & (frame.kind == rater if rater == "human" else frame.rater == rater)
    ]
    item = own.groupby(["dialogue", "continuation", "turn"], dropna=False).value.mean().reset_index()
    return item.groupby(["dialogue", "continuation"] if by == "dialogue" else "continuation").value.mean()


@pytest.mark.parametrize("level", ["dialogue", "system"])
def test_people_s_turn_labels_are_a_row_against_their_labels_of_wholes(
    path: Path, frame: pd.DataFrame, level: str
) -> None:
    entries = _json(path, "--reference-question", WHOLE)["statistics"]
    both = pd.concat(
        [_means(frame, "human", WHOLE, level), _means(frame, "human", TURN, level)], axis=1
    ).round(10)
    for name, function in (("spearman", stats.spearmanr), ("kendall_tau_b", stats.kendalltau)):
        found = _entry(entries, "people (turn labels)", level, name)
        assert found["value"] == pytest.approx(function(*both.to_numpy().T)[0], abs=1e-12)
        assert not found["best"]
    at_turn_level = _entry(entries, "people (turn labels)", "turn", "spearman")
    assert (at_turn_level["status"], at_turn_level["value"]) == ("insufficient", None)
    assert "cannot meet at turn level" in at_turn_level["reason"]


@pytest.mark.exhaustive
def test_the_test_can_be_chosen(path: Path, frame: pd.DataFrame) -> None:
    by_item = _json(path, "--reference-question", TURN, "--p", "item")["statistics"]
    people = frame[(frame.kind == "human") & (frame.question == TURN)].groupby("item").value.mean()
    judge = frame[(frame.rater == "gpt") & (frame.question == TURN)].set_index("item").value
    x, y = people.align(judge, join="inner")
    there = x.notna()
    found = _entry(by_item, f"gpt, {TURN}", "turn", "pearson")
    assert found["p"] == pytest.approx(stats.pearsonr(x[there], y[there])[1], rel=1e-6)
    assert "ignores_clusters" in found["flags"]
    clustered = _json(path, "--reference-question", TURN)["statistics"]
    found = _entry(clustered, "b<eu & co", "turn", "pearson")
    assert found["p_method"] == "systems and clusters exchanged, 2000 permutations, seed 0"
    assert found["starred"] == (found["p"] >= 0.05)


@pytest.mark.exhaustive
def test_missing_turns_are_skipped_or_take_their_continuation_along(path: Path, frame: pd.DataFrame) -> None:
    metric = frame[frame.rater == "b<eu & co"]
    whole = metric.groupby(["dialogue", "continuation"]).value.apply(lambda v: v.notna().all())
    for choice, n in (("skip", SYSTEMS * DIALOGUES), ("whole", int(whole.sum()))):
        found = _json(path, "--reference-question", WHOLE, "--missing-turns", choice)["statistics"]
        assert _entry(found, "b<eu & co", "dialogue", "pearson")["n_items"] == n
    assert int(whole.sum()) < SYSTEMS * DIALOGUES


def test_the_text_shows_values_stars_marks_and_what_they_mean(path: Path) -> None:
    shown = _agree(path, *LEVELS, "--reference-question", WHOLE, "--best-of", "model")
    best = _entry(
        _json(path, "--reference-question", WHOLE)["statistics"], f"gpt, {TURN}", "system", "spearman"
    )
    said = " ".join(shown.split())
    assert f"Compared with people (dialogue labels), question {WHOLE}." in said
    assert "Turn level" not in shown.split("p is 0.05 or more")[0]
    assert f"{number(best['value'])}{'!' * best['best']}" in shown
    assert "* p is 0.05 or more by the permutation of systems and dialogues." in said
    assert "!: the highest of its column, people apart. _: the highest of its column in its group." in said
    assert "(from turn scores)" in said
    assert "b<eu & co: left out are" in said
    assert "System level: systems' means, resampled values centred on the value (Fisher's z)" in said


@pytest.mark.exhaustive
def test_html_latex_and_csv_show_the_same_figures_and_escape_names(path: Path) -> None:
    options = (*LEVELS, "--reference-question", TURN, "--best-of", "model")
    entries = _json(path, "--reference-question", TURN, "--best-of", "model")["statistics"]
    page, tex = _agree(path, *options, "--html"), _agree(path, *options, "--latex")
    for entry in entries:
        if entry["status"] == "ok":
            assert number(entry["value"]) in page
            assert f"{entry['value']:.3f}".replace("-", "$-$") in tex
    assert "<b>" in page
    assert "<u>" in page
    assert "b&lt;eu &amp; co" in page
    assert "<eu" not in page
    assert r"b\textless{}eu \& co" in tex
    assert r"\multicolumn{3}{c}{System level}" in tex
    assert r"\textbf{" in tex
    rows = list(csv.DictReader(io.StringIO(_agree(path, *options, "--csv"))))
    assert [(r["row"], r["level"], r["name"], r["value"]) for r in rows] == [
        (e["row"], e["level"], e["name"], "" if e["value"] is None else repr(e["value"])) for e in entries
    ]


def test_strata_have_a_table_each(frame: pd.DataFrame, tmp_path: Path) -> None:
    two = frame.assign(mode=np.where(frame.dialogue < "d5", "static", "own"))
    entries = _json(_written(two, tmp_path), "--reference-question", TURN, "--by", "mode")["statistics"]
    assert {entry["stratum"] for entry in entries} == {"static", "own"}
    assert {entry["n_clusters"] for entry in entries if entry["status"] == "ok"} == {5}


def test_one_rater_can_be_the_reference(path: Path) -> None:
    entries = _json(path, "--questions", TURN, "--against", "ann")["statistics"]
    assert list(dict.fromkeys(entry["row"] for entry in entries)) == ["bob", "cy", "gpt", "b<eu & co"]
    assert entries[0]["raters"] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--levels", "turn,word"), "--levels: 'word' is not a level; there are turn, dialogue, system"),
        (LEVELS, f"--reference-question is needed: the file has the questions {TURN}, {WHOLE}"),
        ((*LEVELS, "--reference-question", "no"), "--reference-question: no 'no'; there are"),
        ((*LEVELS, "--no-cluster", "--reference-question", TURN), "--levels does not go with --no-cluster"),
        ((*LEVELS, "--reference-question", TURN, "--against", "dee"), "--against: no rater 'dee'"),
        ((*LEVELS, "--reference-question", TURN, "--best-of", "x"), "--levels needs a column 'x'"),
        (("--reference-question", TURN), "--reference-question goes with --levels"),
    ],
)
def test_a_mistake_in_the_options_is_one_line(path: Path, options: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as raised:
        _agree(path, *options)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turn": "second"}, "line 2, column turn: value 'second': expected a turn's number from 0"),
        ({"dialogue": ""}, "line 2, column dialogue: empty; --levels needs the dialogue of every item"),
        ({"dialogue": "d9"}, "column item: item 'd0/c0/0' lies in two places"),
        ({"item": "x"}, "column item: items 'x' and 'd0/c0/0' are both turn 0 of continuation 'c0'"),
        ({"system": "other"}, "'d0/c0/0' is in two different values of system"),
    ],
)
def test_a_mistake_in_the_file_names_its_line(
    frame: pd.DataFrame, tmp_path: Path, change: dict[str, str], message: str
) -> None:
    wrong = frame.astype(dict.fromkeys(change, object))
    for column, value in change.items():
        wrong.loc[0, column] = value
    with pytest.raises(CommandError) as raised:
        _agree(_written(wrong, tmp_path), *LEVELS, "--reference-question", TURN)
    assert message in str(raised.value)


def test_a_file_without_people_or_with_a_mixed_question_is_refused(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    nobody = frame[frame.kind != "human"]
    with pytest.raises(CommandError, match="the column kind must say human"):
        _agree(_written(nobody, tmp_path), *LEVELS, "--reference-question", TURN)
    mixed = frame.assign(question="overall")
    with pytest.raises(CommandError, match="about turns and whole dialogues both"):
        _agree(_written(mixed, tmp_path), *LEVELS)
    alone = frame[(frame.kind == "human") & (frame.question == TURN)]
    with pytest.raises(CommandError, match=r"nothing to compare with mean\(kind:human\)"):
        _agree(_written(alone, tmp_path), *LEVELS)


@pytest.mark.exhaustive
def test_a_panel_of_judges_has_a_row_in_every_form(frame: pd.DataFrame, tmp_path: Path) -> None:
    turns = frame[frame.question == TURN]
    second = turns[turns.rater == "gpt"].assign(rater="second")
    second["value"] = second["value"] + np.arange(len(second)) % 2
    path = tmp_path / "two.csv"
    pd.concat([turns, second]).to_csv(path, index=False)
    options = [str(path), "--scale", "interval", *LEVELS, "--resamples", "20", "--panel", "mean"]
    for form in ([], ["--json"], ["--csv"], ["--latex"], ["--html"]):
        out = io.StringIO()
        call_command("agree", *options, *form, stdout=out)
        assert "panel: mean of all judges" in out.getvalue(), form
    out = io.StringIO()
    call_command("agree", *options, "--json", stdout=out)
    rows = json.loads(out.getvalue())["statistics"]
    found = next(e for e in rows if e["name"] == "pearson" and e["level"] == "turn" and "panel" in e["row"])
    people = turns[turns.kind == "human"].groupby("item")["value"].mean()
    mean = pd.concat([turns[turns.rater == "gpt"], second]).groupby("item")["value"].mean()
    both = pd.concat([people, mean], axis=1).dropna()
    assert found["value"] == pytest.approx(both.corr().iloc[0, 1], abs=1e-12)
    with pytest.raises(CommandError, match="panel: mean of all judges: 1 of its members answered"):
        call_command("agree", *_one_judge(turns, tmp_path), stdout=io.StringIO())


def _one_judge(turns: pd.DataFrame, tmp_path: Path) -> list[str]:
    path = tmp_path / "one.csv"
    turns.to_csv(path, index=False)
    return [str(path), "--scale", "interval", *LEVELS, "--resamples", "0", "--panel", "mean"]
