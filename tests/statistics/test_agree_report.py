"""What `manage.py agree` tells a person: the answer, how it was come by, and what is wrong with a file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

KINDS = {"ann": "human", "bob": "human", "cy": "human", "gpt": "judge", "bleu": "metric"}


def _agree(path: Path, *options: str, scale: str = "ordinal") -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--scale", scale, "--resamples", "50", *options, stdout=out)
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
    assert "; percent agreement 0." in shown
    assert "bleu tracks the mean of the people with Spearman's rho" in shown
    assert "gpt passes the alternative annotator test" in shown
    assert "score neg_rmse, epsilon 0.15, t-test, Benjamini-Yekutieli q 0.05" in shown
    assert "Raters: ann, bob, cy (human); gpt (judge); bleu (metric)." in shown


def test_a_flag_of_a_tiny_pair_is_said_of_that_pair(tmp_path: Path) -> None:
    lines = [f"i{i},{r},{i * k % 2},human" for i in range(200) for k, r in ((1, "ann"), (3, "bob"))]
    lines += [f"i{i},cid,{int(i > 1)},human" for i in range(1, 20, 2)]
    path = _file(tmp_path, "\n".join(["item,rater,value,kind", *lines]))
    limits = _agree(path, scale="nominal").split("What limits this")[1]
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
    "semicolons": (
        "item;rater;value\na;x;3\n",
        "line 1: the cells are separated by semicolons: save it with",
    ),
    "tabs": ("item\trater\tvalue\na\tx\t3\n", "line 1: the cells are separated by tabs: name the file .tsv"),
    "a decimal comma": (
        'item,rater,value\na,x,"3,5"\n',
        "line 2, column value: value '3,5' is not a number: write it with a decimal point",
    ),
    "blank lines alone": ("\n\n", "no header; a ratings file has the columns item, rater and value"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_as_spreadsheets_write_it_is_refused_with_what_to_do(case: str, tmp_path: Path) -> None:
    text, said = REFUSED[case]
    with pytest.raises(CommandError) as refused:
        _agree(_file(tmp_path, text))
    assert said in str(refused.value)


def test_a_key_that_comes_late_is_refused_and_not_dropped(tmp_path: Path) -> None:
    text = '{"item": "a", "ann": 1}\n{"item": "b", "ann": 1, "bob": 2}\n'
    with pytest.raises(CommandError, match="line 2: the first line has no key 'bob'"):
        _agree(_file(tmp_path, text, "ratings.jsonl"))


def test_not_a_number_in_json_is_missing(tmp_path: Path) -> None:
    lines = [f'{{"item": "{i}", "ann": 1, "bob": {"NaN" if i == "a" else 0}}}' for i in "abc"]
    shown = _agree(_file(tmp_path, "\n".join(lines), "ratings.jsonl"), scale="nominal")
    assert "5 ratings of 3 items" in shown
    assert "nan" not in shown.split("Panel")[0]


def test_a_question_that_is_not_there_is_refused_beside_one_that_is(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,rater,value,question\na,x,1,good\na,y,2,good\na,x,1,true\n")
    with pytest.raises(CommandError, match="no ratings for question fluent; there are good, true"):
        _agree(path, "--question", "good", "--question", "fluent")


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
                lines.append(f"i{i},{rater},{int((i + j) % 11 == 0)},human")
        lines += [f"i{i},never,0,judge", f"i{i},gpt,{int(i % 11 == 0)},judge"]
    shown = _agree(_file(tmp_path, "\n".join(lines)), scale="binary")
    assert "never does not pass the alternative annotator test: never gave one value throughout" in shown
    assert "of 3 people tested, winning rate" in shown
    assert "1 of the 4 people shares fewer than 30 items with it and another person" in shown
    assert (
        "Raters for whom the figure is undefined" not in shown.split("What limits this")[1].split("test")[0]
    )


def test_the_answer_about_an_interval_scale_is_spearman_s(tmp_path: Path) -> None:
    shown = _agree(_rated(tmp_path), scale="interval")
    assert "gpt reaches Spearman's rho" in shown.split("Panel:")[0]
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
