"""`manage.py agree FILE` on dialogues with labels, in every form that an import recognises."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

FORMS = Path(__file__).parents[1] / "importing" / "forms"
RATERS = {"ann": "human", "ben": "human", "gpt": "judge"}


def _screen(*arguments: str | Path) -> str:
    out = io.StringIO()
    call_command("agree", *map(str, arguments), "--resamples", "20", stdout=out)
    return " ".join(out.getvalue().split())


def _document(*arguments: str | Path) -> dict[str, Any]:
    out = io.StringIO()
    call_command("agree", *map(str, arguments), "--resamples", "20", "--json", stdout=out)
    return dict(json.loads(out.getvalue()))


def _alphas(*arguments: str | Path) -> list[tuple[float, int, int]]:
    return [
        (round(entry["value"], 6), entry["n_items"], entry["n_clusters"])
        for entry in _document(*arguments)["statistics"]
        if entry["name"] == "krippendorff_alpha" and entry["value"] is not None
    ]


def _refusal(*arguments: str | Path) -> str:
    with pytest.raises(CommandError) as refused:
        call_command("agree", *map(str, arguments), stdout=io.StringIO())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def _lines(folder: Path, name: str, objects: Iterable[Any]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(entry) + "\n" for entry in objects), encoding="utf-8")
    return path


def _value(dialogue: int, turn: int, rater: int) -> int:
    return 1 + (dialogue + turn * (rater + 1)) % 3


def _native(folder: Path, *, cluster: str = "", name: str = "dialogues.jsonl") -> Path:
    return _lines(
        folder,
        name,
        (
            {
                "id": f"d{number}",
                **({"cluster": f"{cluster}{number // 2}"} if cluster else {}),
                "turns": [{"speaker": "a", "text": "x"}, {"speaker": "b", "text": "y"}],
                "labels": [
                    {
                        **{"rater": rater, "kind": kind, "question": "clarity", "turn": turn},
                        "value": _value(number, turn, place),
                    }
                    for turn in (0, 1)
                    for place, (rater, kind) in enumerate(RATERS.items())
                ],
            }
            for number in range(12)
        ),
    )


def _long(folder: Path) -> Path:
    path = folder / "long.csv"
    rows = [
        f"d{number}/self/{turn},{rater},{kind},{_value(number, turn, place)},d{number},d{number // 2}\n"
        for number in range(12)
        for turn in (0, 1)
        for place, (rater, kind) in enumerate(RATERS.items())
    ]
    path.write_text("".join(["item,rater,kind,value,conv,pair\n", *rows]), encoding="utf-8")
    return path


def test_dialogues_with_labels_give_the_figures_of_their_long_ratings(tmp_path: Path) -> None:
    native, long = _native(tmp_path), _long(tmp_path)
    assert _alphas(native) == _alphas(long, "--cluster", "conv") != []
    clustered = _native(tmp_path, cluster="pair", name="clustered.jsonl")
    assert _alphas(clustered) == _alphas(long, "--cluster", "pair")
    assert _alphas(native, "--no-cluster") == _alphas(long)
    screen = _screen(native)
    assert "Read as: Concord's own JSON Lines (jsonl), 72 labels of 12 dialogues." in screen
    assert "Raters: ann, ben (human); gpt (judge)." in screen
    assert "Clusters: column dialogue, 12 of them." in screen


def test_options_name_columns_of_labels(tmp_path: Path) -> None:
    native = _native(tmp_path)
    assert "clarity, turn 1" in _screen(native, "--by", "turn")
    assert "Clusters: column item, 24 of them." in _screen(native, "--cluster", "item")
    assert _refusal(native, "--by", "moon").startswith("dialogues.jsonl: --by: no column 'moon'; the labels")
    assert "Raters: ann, gpt (human)" not in _screen(native, "--raters", "ann")
    assert "turn" in _screen(native, "--levels", "turn")


def test_a_form_is_described_without_computing(tmp_path: Path) -> None:
    screen = _screen(_native(tmp_path), "--describe")
    assert "Raters: ann (human), ben (human), gpt (judge)." in screen
    assert "Question clarity: 72 labels." in screen
    assert "alpha" not in screen


def test_dialogues_without_labels_are_refused_in_one_line(tmp_path: Path) -> None:
    turns = [{"speaker": "a", "text": "x"}]
    path = _lines(tmp_path, "bare.jsonl", ({"id": f"d{n}", "turns": turns} for n in range(12)))
    expected = "bare.jsonl: holds 12 dialogues and no labels (read as jsonl: Concord's own JSON Lines)"
    assert _refusal(path) == expected


def test_a_wide_export_has_its_raters_and_not_their_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    cells = [
        f"d{n}/self,quality,{n % 3},{n % 2 + n % 3 // 2},{'' if n == 5 else n % 3},{'skipped' * (n == 5)}\n"
        for n in range(9)
    ]
    header = "item,question,ann [human],gpt [judge],ben [human],ben [human] missing\n"
    path.write_text(header + "".join(cells), encoding="utf-8")
    screen = _screen(path)
    assert "Raters: ann, ben (human); gpt (judge)." in screen
    assert "26 ratings of 9 items by 3 raters; 1 cell is empty." in screen


def _pair(number: int, rater: str, *, swapped: bool) -> dict[str, Any]:
    systems = ["x", "y"][:: -1 if swapped else 1]
    best = "x" if number % 2 else "y"
    responses = [{"system": system, "text": f"{system} {number}"} for system in systems]
    return {
        **{"id": f"p{number}", "context": f"hello {number}", "responses": responses},
        **{"winner": best, "rater": rater, "kind": "human"},
    }


def test_raters_who_saw_a_pair_in_another_order_agree_on_its_winner(tmp_path: Path) -> None:
    lines = [_pair(n, rater, swapped=rater == "ben") for n in range(10) for rater in ("ann", "ben")]
    path = _lines(tmp_path, "pairs.jsonl", lines)
    assert _alphas(path) == [(1.0, 10, 10)]
    assert "20 labels of 10 dialogues" in _screen(path)


def test_questions_that_nobody_answered_and_rankings_are_left_out_with_a_note(tmp_path: Path) -> None:
    label = {"rater": "ann", "kind": "human", "question": "q", "turn": 0}
    skipped = {**label, "question": "why", "value": None, "missing": "skipped"}
    lines = [
        {
            "id": f"d{n}",
            "turns": [{"speaker": "a", "text": "x"}],
            "labels": [{**label, "value": n % 3}, {**label, "rater": "ben", "value": n % 3}, skipped],
        }
        for n in range(6)
    ]
    path = _lines(tmp_path, "some.jsonl", lines)
    assert "Nobody answered: why." in _screen(path)
    assert [alpha for alpha, _, _ in _alphas(path)] == [1.0]


@pytest.mark.parametrize("path", sorted(FORMS.iterdir()), ids=lambda path: path.name)
def test_every_form_gives_a_screen_or_one_line(path: Path) -> None:
    if path.is_dir():
        return
    said = ""
    try:
        said = _screen(path)
    except CommandError as refused:
        said = str(refused)
        screens = False
    else:
        screens = True
    assert path.name in said
    assert ("Read as: " in said and "Raters: " in said) if screens else "\n" not in said
