"""An option of `agree` has an effect, or explains why it has none."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

WIDE = "item,ann,bob\n" + "".join(f"i{n},{n % 2},{(n // 2) % 2}\n" for n in range(12))
LONG = "item,rater,value,kind\n" + "".join(
    f"i{n},{rater},{(n + shift) % 4 + 1},{kind}\n"
    for n in range(12)
    for shift, (rater, kind) in enumerate([("ann", "human"), ("bob", "human"), ("gpt", "judge")])
)


def _agree(folder: Path, text: str, *options: str) -> tuple[str, str]:
    path = folder / "ratings.csv"
    path.write_text(text)
    out, err = io.StringIO(), io.StringIO()
    call_command("agree", str(path), "--resamples", "20", "--full", *options, stdout=out, stderr=err)
    return " ".join(out.getvalue().split()), err.getvalue()


NOTHING_TO_DO = {
    "--prevalence": ("binary", (), "--prevalence: no question is binary with a judge"),
    "--bounds": ("binary", (), "--bounds: no judge or metric left an item unanswered"),
    "--icc-f": ("nominal", (), "--icc-f: no intraclass correlation was computed"),
    "--baselines": ("binary", (), "--baselines: they stand beside judges and people"),
    "--verify": ("interval", ("--against", "ann"), "--verify: "),
    "--epsilon": ("binary", ("0.2",), "--epsilon: there was no alternative annotator test"),
    "--positive": ("ordinal", ("0",), "--positive: no question is binary"),
    "--samples": ("ordinal", ("first",), "--samples: no rater answered an item more than once"),
}


@pytest.mark.parametrize("option", list(NOTHING_TO_DO))
def test_an_option_without_an_effect_says_why(tmp_path: Path, option: str) -> None:
    scale, rest, said = NOTHING_TO_DO[option]
    shown, _ = _agree(tmp_path, WIDE, "--scale", scale, option, *rest)
    assert said in shown
    assert said not in _agree(tmp_path, WIDE, "--scale", scale)[0]


@pytest.mark.parametrize("form", ["--csv", "--latex"])
def test_a_form_of_figures_alone_says_it_on_stderr(tmp_path: Path, form: str) -> None:
    shown, said = _agree(tmp_path, WIDE, "--scale", "binary", "--prevalence", form)
    assert "--prevalence" not in shown
    assert said.startswith("--prevalence: no question is binary with a judge")


def test_the_json_says_it_among_what_was_read(tmp_path: Path) -> None:
    shown, _ = _agree(tmp_path, WIDE, "--scale", "binary", "--prevalence", "--json")
    assert any(f.startswith("--prevalence: ") for f in json.loads(shown)["input"]["questions"][0]["facts"])


def test_verify_says_how_many_values_were_computed_again(tmp_path: Path) -> None:
    assert (
        "values were computed by scikit-learn as well, and none differs"
        in _agree(tmp_path, WIDE, "--scale", "binary", "--verify")[0]
    )


def test_prevalence_is_done_on_a_wide_file_that_names_its_judge(tmp_path: Path) -> None:
    text = "item,ann,gpt\n" + "".join(f"i{n},{n % 2 if n < 20 else ''},{n % 2}\n" for n in range(40))
    shown, _ = _agree(tmp_path, text, "--scale", "binary", "--prevalence", "--judges", "gpt")
    assert "How often it occurs, by gpt and corrected" in shown


REFUSED = {
    "--policy goes with --table7": ("--policy", "cocoeval"),
    "--least goes with --panel": ("--least", "2"),
    "--p goes with --levels": ("--p", "item"),
    "--missing-turns goes with --levels": ("--missing-turns", "whole"),
    "--system-score goes with --levels": ("--system-score", "mean_of_dialogues"),
    "--unit goes with --levels": ("--unit", "dialogue_system"),
    "--shared-dialogues goes with --levels": ("--shared-dialogues",),
    "--best-of goes with --levels": ("--best-of", "model"),
    "--key does not go with --against": ("--key", "ann", "--against", "bob"),
    "--csv holds figures, and a plan is none": ("--csv", "--plan-width", "0.1"),
    "--levels does not go with --baselines": ("--levels", "turn", "--baselines"),
    "--levels does not go with --resample": ("--levels", "turn", "--resample", "items"),
    "--levels does not go with --epsilon": ("--levels", "turn", "--epsilon", "0.1"),
    "--levels does not go with --plan-width": ("--levels", "turn", "--plan-width", "0.1"),
    "--scale-maps": ("--scale-maps",),
}


@pytest.mark.parametrize("said", list(REFUSED))
def test_an_option_that_does_nothing_beside_the_others_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        _agree(tmp_path, LONG, "--scale", "ordinal", *REFUSED[said])


def test_a_power_plan_without_a_judge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--plan-power needs a judge"):
        _agree(tmp_path, WIDE, "--scale", "binary", "--plan-power", "0.8")
