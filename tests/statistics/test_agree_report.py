"""The report of `manage.py agree`: the main results, their methods, and problems of a file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

KINDS = {"ann": "human", "bob": "human", "cy": "human", "gpt": "judge", "bleu": "metric"}


def _agree(path: Path, *options: str, scale: str = "ordinal") -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--scale", scale, "--resamples", "50", "--full", *options, stdout=out)
    return " ".join(out.getvalue().split())


def _file(folder: Path, text: str, name: str = "ratings.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


def _rated(folder: Path, names: dict[str, str] | None = None, head: str = "cluster") -> Path:
    lines = [f"item,rater,value,{head},kind"]
    for i in range(60):
        for j, (rater, kind) in enumerate(KINDS.items()):
            value = i % 5 + (0.25 if kind == "metric" else (i + j) % 7 == 0 and i % 5 < 4)
            lines.append(f"i{i},{(names or {}).get(rater, rater)},{float(value)},d{i // 3},{kind}")
    return _file(folder, "\n".join(lines))


def test_the_answer_speaks_of_people_judge_metric_and_the_test(tmp_path: Path) -> None:
    shown = _agree(_rated(tmp_path))
    assert "Krippendorff's alpha among the 3 people is" in shown
    assert "; percent agreement is 0." in shown
    assert "bleu rises strongly with the people’s mean: Spearman's rho" in shown
    assert "gpt passes the alternative annotator test" in shown
    assert "score neg_rmse, epsilon 0.15, t-test, Benjamini-Yekutieli q 0.05" in shown
    assert "Raters: ann, bob, cy (human); gpt (judge); bleu (metric)." in shown


def test_a_flag_of_a_tiny_pair_is_said_of_that_pair(tmp_path: Path) -> None:
    lines = [f"i{i},{r},{i * k % 2},human" for i in range(200) for k, r in ((1, "ann"), (3, "bob"))]
    lines += [f"i{i},cid,{int(i > 1)},human" for i in range(1, 20, 2)]
    path = _file(tmp_path, "\n".join(["item,rater,value,kind", *lines]))
    limits = _agree(path, scale="nominal").split("Limitations")[1]
    said = limits.split("One category has 90% of the ratings or more")[1].split("*")[0]
    assert "of ann, cid" in said
    assert "people with people" not in said


def test_against_a_reference_every_pair_is_answered(tmp_path: Path) -> None:
    shown = _agree(_rated(tmp_path), "--against", "ann")
    for other in ("bob", "cy", "gpt"):
        assert f"Cohen's kappa, quadratic weights of ann, {other} is" in shown


def test_what_was_not_read_is_said_and_a_dialogue_could_be_the_cluster(tmp_path: Path) -> None:
    shown = _agree(_rated(tmp_path, head="dialogue"))
    assert "Columns not read: dialogue." in shown
    assert "--cluster dialogue takes it" in shown


def test_repeated_answers_are_said_to_be_averaged(tmp_path: Path) -> None:
    rows = [f"i{i},{r},{(i + s) % 3},{s}" for i in range(9) for r in "ab" for s in (0, 1)]
    path = _file(tmp_path, "\n".join(["item,rater,value,sample", *rows]))
    assert "Repeated answers of a rater: their mean is taken; agreement, which" in _agree(path)
    assert "the first is taken" in _agree(path, "--samples", "first")


def test_the_positive_class_is_said(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,ann,bob\na,yes,no\nb,no,no\nc,yes,yes\n")
    assert "Positive class: yes." in _agree(path, "--positive", "yes", scale="binary")
    assert "Positive class: none of the values" in _agree(path, scale="binary")


@pytest.mark.parametrize("form", [(), ("--html",), ("--latex",)])
def test_a_name_cannot_steer_the_terminal_or_turn_the_text_around(
    form: tuple[str, ...], tmp_path: Path
) -> None:
    shown = _agree(_rated(tmp_path, {"ann": "\x1b[2Jann\u202e"}), *form)
    assert "ann" in shown
    assert not {"\x1b", "\u202e"} & set(shown)


REFUSED = {
    "a decimal comma": (
        'item,rater,value\na,x,"3,5"\n',
        "line 2, column value: value '3,5' is not a number: write it with a decimal point",
    ),
    "blank lines alone": ("\n\n", "the file is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_as_spreadsheets_write_it_is_refused_with_what_to_do(case: str, tmp_path: Path) -> None:
    text, said = REFUSED[case]
    with pytest.raises(CommandError) as refused:
        _agree(_file(tmp_path, text))
    assert said in str(refused.value)


def test_a_key_that_comes_late_is_read(tmp_path: Path) -> None:
    text = '{"item": "a", "ann1": 1}\n{"item": "b", "ann1": 1, "ann2": 2}\n'
    assert "3 ratings of 2 items by 2 raters" in _agree(_file(tmp_path, text, "ratings.jsonl"))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_cells_may_be_separated_by_other_signs(separator: str, tmp_path: Path) -> None:
    text = "item,rater,value\na,x,3\na,y,3\nb,x,1\nb,y,2\n".replace(",", separator)
    assert "4 ratings of 2 items by 2 raters" in _agree(_file(tmp_path, text))


def test_not_a_number_in_json_is_missing(tmp_path: Path) -> None:
    lines = [f'{{"item": "{i}", "ann": 1, "bob": {"NaN" if i == "a" else 0}}}' for i in "abc"]
    path = _file(tmp_path, "\n".join(lines), "ratings.jsonl")
    shown = _agree(path, "--raters", "ann,bob", scale="nominal")
    assert "5 ratings of 3 items" in shown
    assert "nan" not in shown.split("Panel")[0]


def test_a_question_that_is_not_there_is_refused_beside_one_that_is(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,rater,value,question\na,x,1,good\na,y,2,good\na,x,1,true\n")
    with pytest.raises(CommandError, match="no ratings for question fluent; there are good, true"):
        _agree(path, "--questions", "good,fluent")


@pytest.mark.parametrize("margin", ["nan", "inf", "-1"])
def test_a_margin_that_is_no_number_from_zero_on_is_refused(margin: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--epsilon and --seed must be numbers of 0 or more"):
        _agree(_rated(tmp_path), f"--epsilon={margin}")


def test_anonymous_slots_are_not_counted_as_people(tmp_path: Path) -> None:
    rows = [f"i{i},slot {s},{(i + s * (i % 3 == 0)) % 2},human,false" for i in range(40) for s in range(3)]
    shown = _agree(_file(tmp_path, "\n".join(["item,rater,value,kind,identified", *rows])), scale="binary")
    assert "Krippendorff's alpha among the ratings in 3 anonymous slots is" in shown
    assert "3 people" not in shown


def test_the_test_names_who_was_tested_of_how_many_and_never_passes_a_constant_judge(tmp_path: Path) -> None:
    lines = ["item,rater,value,kind"]
    for i in range(60):
        for j, rater in enumerate(("ann", "bob", "cy", "dee")):
            if rater != "dee" or i < 12:
                lines.append(f"i{i},{rater},{int((i + (i % 13 == j)) % 3 == 0)},human")
        lines += [f"i{i},never,0,judge", f"i{i},gpt,{int(i % 3 == 0)},judge"]
    shown = _agree(_file(tmp_path, "\n".join(lines)), scale="binary")
    assert "never does not pass the alternative annotator test: never gave one value throughout" in shown
    assert "of 3 people, and at least half are needed" in shown
    assert (
        "1 of 4 people was not tested, because they share fewer than 30 items with the judge and another"
        in shown
    )
    assert "Raters for whom the figure is undefined" not in shown.split("Limitations")[1].split("test")[0]


def test_the_answer_about_an_interval_scale_is_spearman_s(tmp_path: Path) -> None:
    shown = _agree(_rated(tmp_path), scale="interval")
    assert "Spearman's rho of gpt with people is" in shown.split("Panel:")[0]
    assert "Pearson" not in shown.split("Panel:")[0]


@pytest.mark.parametrize("kind", ["judge", ""])
def test_many_judges_are_ranked(tmp_path: Path, kind: str) -> None:
    lines = ["item,rater,value,kind"]
    for i in range(60):
        people = ("ann", "bob") if kind else ("ann",)
        lines += [
            f"i{i},{name},{(i + (i % 9 == j)) % 2},{'human' if kind else ''}" for j, name in enumerate(people)
        ]
        lines += [f"i{i},j{j:02},{(i + (i < 24 - 2 * j)) % 2},{kind}" for j in range(12)]
    path = _file(tmp_path, "\n".join(lines))
    told = _agree(path, *(() if kind else ("--against", "ann")), scale="binary").split("Raters:")[0]
    assert told.index("j11") < told.index("j10") < told.index("j09")
    assert "These are the highest of 12" in told
    assert "the lowest is " in told


def _written(folder: Path, rows: dict[str, tuple[str, list[float | None]]]) -> Path:
    """Write ratings of turns, five a dialogue: raters with their kind and their values by turn."""
    lines = ["item,rater,value,cluster,kind"]
    for rater, (kind, values) in rows.items():
        given = ((i, v) for i, v in enumerate(values) if v is not None)
        lines += [f"i{i},{rater},{value},d{i // 5},{kind}" for i, value in given]
    return _file(folder, "\n".join(lines))


def _three_people(n: int = 300, one_in: int = 3) -> dict[str, tuple[str, list[float | None]]]:
    return {
        name: ("human", [float((i + (i % 17 == slip)) % one_in == 0) for i in range(n)])
        for slip, name in enumerate(("ann", "bob", "cid"))
    }


def test_a_judge_that_left_out_half_of_the_items_is_said_to_have_done_so_first(tmp_path: Path) -> None:
    half = [float(i % 3 == 0) if i % 2 else None for i in range(300)]
    shown = _agree(_written(tmp_path, _three_people() | {"gpt": ("judge", half)}), scale="binary")
    first = shown[shown.index("gpt ") :]
    assert first.startswith("gpt answered 150 of the 300 items that people rated (50%). Cohen's kappa")
    assert "gpt passes the alternative annotator test on the 150 items that it answered" in shown


def test_nothing_is_said_of_a_judge_that_answered_nearly_all(tmp_path: Path) -> None:
    most = [None if i % 25 == 0 else float(i % 3 == 0) for i in range(300)]
    shown = _agree(_written(tmp_path, _three_people() | {"gpt": ("judge", most)}), scale="binary")
    assert "gpt answered" not in shown


def test_a_judge_that_guesses_at_the_base_rate_does_not_pass_in_any_form(tmp_path: Path) -> None:
    coin = [float(i % 53 == 7) for i in range(600)]
    path = _written(tmp_path, _three_people(600, 50) | {"coin": ("judge", coin)})
    shown = _agree(path, scale="binary")
    assert "coin does not pass the alternative annotator test: its Cohen's kappa with people could" in shown
    assert "answering 0 to every item does as well (accuracy 0.9" in shown
    assert "coin passes" not in shown
    told = json.loads(_agree(path, "--json", scale="binary"))
    (verdict,) = told["stand_in"]
    assert (verdict["rater"], verdict["state"], len(verdict["reasons"])) == ("coin", "not_passed", 2)
    rate = next(e for e in told["statistics"] if e["name"] == "alt_test_winning_rate")
    assert {"by_chance", "constant_too"} <= set(rate["flags"])


def test_no_gap_is_held_against_a_bound_that_excludes_nothing(tmp_path: Path) -> None:
    coin = [float(i % 53 == 7) for i in range(600)]
    people = _three_people(600, 50)
    shown = _agree(_written(tmp_path, people | {"coin": ("judge", coin)}), scale="binary")
    assert "coin agrees with people less than they agree with each other" in shown
    assert "up to" not in shown
    del people["cid"]
    shown = _agree(_written(tmp_path, people | {"coin": ("judge", coin)}), scale="binary")
    assert "; 2 people are too few to tell whether one more person would differ as much." in shown
    assert "The alternative annotator test says nothing about coin: the test needs 3 people, and 2" in shown


def test_one_person_stands_beside_each_of_the_others_and_is_mixed_with_none(tmp_path: Path) -> None:
    ann = [float(i % 5 + 1) for i in range(200)]
    judge = [min(5.0, value + (i % 7 == 0)) for i, value in enumerate(ann)]
    metric = [value * 1.1 + i % 3 for i, value in enumerate(ann)]
    rows = {"ann": ("human", ann), "judge": ("judge", judge), "metric": ("metric", metric)}
    path = _written(tmp_path, rows)  # type: ignore[arg-type]
    answer = _agree(path, "--values", "1,2,3,4,5", scale="ordinal").split("600 ratings")[0]
    assert "raters" not in answer
    assert "Cohen's kappa, quadratic weights of judge with ann is 0." in answer
    assert "metric rises strongly with ann: Spearman's rho 0." in answer


def test_a_metric_that_falls_is_said_to_fall_and_counts_by_its_strength(tmp_path: Path) -> None:
    people = {
        name: ("human", [float((i + slip * (i % 11 == 0)) % 5) for i in range(200)])
        for slip, name in enumerate(("ann", "bob"))
    }
    weak = {f"m{n}": ("metric", [float(i % 5 + i * (3 * n + 1) % 29) for i in range(200)]) for n in range(9)}
    rows = people | weak | {"perplexity": ("metric", [-float(i % 5) for i in range(200)])}
    shown = _agree(_written(tmp_path, rows), scale="interval")  # type: ignore[arg-type]
    first = "perplexity falls strongly as the people’s mean rises: Spearman's rho −"
    assert shown.index(first) < shown.index(" rises ")
    assert "tracks" not in shown
    assert "These are the strongest of 10; the weakest is m" in shown


def test_one_dialogue_is_one_cluster_and_an_undefined_figure_is_not_depressed(tmp_path: Path) -> None:
    rows = {name: ("human", [1.0, 1.0, 1.0]) for name in ("ann", "bob")}
    shown = _agree(_written(tmp_path, rows), scale="binary")  # type: ignore[arg-type]
    assert "no variation: every rating is 1" in shown
    assert "which lowers" not in shown
    varied = {"ann": ("human", [1.0, 0.0, 1.0]), "bob": ("human", [1.0, 0.0, 0.0])}
    shown = _agree(_written(tmp_path, varied), scale="binary")  # type: ignore[arg-type]
    assert "over 3 items in 1 cluster;" in shown


def test_bounds_never_look_like_an_interval(tmp_path: Path) -> None:
    half = [float(i % 3 == 0) if i % 2 else None for i in range(300)]
    path = _written(tmp_path, _three_people() | {"gpt": ("judge", half)})
    block = _agree(path, "--bounds", scale="binary").split("Bounds over the unanswered items of gpt")[1]
    table = block.split("Limitations")[0]
    assert "statistic value bounds items clusters" in table
    assert " to 0." not in table
    assert "lowest 0." in table
    assert r", highest $0." in _agree(path, "--bounds", "--latex", scale="binary")
    page = _agree(path, "--bounds", "--html", scale="binary").split(
        "Bounds over the unanswered items of gpt"
    )[1]
    assert ">Bounds</th>" in page.split("</table>")[0]
    assert "<svg" not in page.split("</table>")[0]
