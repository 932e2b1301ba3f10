"""`manage.py agree FILE` without an option: what a file is read as, and what is asked instead of guessed."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError


def _file(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _screen(*arguments: str | Path) -> str:
    out = io.StringIO()
    call_command("agree", *map(str, arguments), "--resamples", "20", stdout=out)
    return " ".join(out.getvalue().split())


def _figures(*arguments: str | Path) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("agree", *map(str, arguments), "--resamples", "20", "--json", stdout=out)
    return list(json.loads(out.getvalue())["statistics"])


def _value(name: str, *arguments: str | Path) -> float:
    return round(next(entry["value"] for entry in _figures(*arguments) if entry["name"] == name), 3)


def _alpha(*arguments: str | Path) -> float:
    return _value("krippendorff_alpha", *arguments)


def _question(*arguments: str | Path) -> tuple[str, str, int]:
    """Return what is printed where nothing is computed, the line of the error, and the exit status."""
    out = io.StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("agree", *map(str, arguments), stdout=out)
    assert "\n" not in str(refused.value)
    return out.getvalue(), str(refused.value), refused.value.returncode


PAIR = "id,human_label,judge_label\n" + "".join(
    f"q{n},{'yes' if n % 3 else 'no'},{'yes' if n % 3 and n % 5 else 'no'}\n" for n in range(60)
)


def test_a_label_of_a_person_beside_that_of_a_judge_gives_their_kappa(tmp_path: Path) -> None:
    path = _file(tmp_path, PAIR)
    screen = _screen(path)
    assert "Read as: each row is one item with 2 raters in columns." in screen
    assert "Raters: human (human); judge (judge)." in screen
    assert "Words: yes is 1, no is 0." in screen
    assert "Taken for models, by their names: judge (--judges none: all are people)." in screen
    assert screen.index("Verdicts") < screen.index("judge with human Cohen's kappa 0.727")
    assert _value("cohen_kappa", path) == 0.727
    options = ("--map", "item=id", "--map", "label@human=human_label", "--map", "judge@judge=judge_label")
    assert _value("cohen_kappa", path, "--scale", "nominal", *options) == 0.727


def test_the_first_screen_is_short_and_the_rest_is_there_with_full(tmp_path: Path) -> None:
    path = _file(tmp_path, PAIR)
    out = io.StringIO()
    call_command("agree", str(path), stdout=out)
    assert out.getvalue().count("\n") < 35
    assert "Panel:" not in out.getvalue()
    assert "--full prints all 17 figures" in out.getvalue()
    full = _screen(path, "--full")
    assert "Panel:" in full
    assert "Pairs" in full


def test_the_blocks_that_options_ask_for_follow_the_first_screen(tmp_path: Path) -> None:
    rows = "".join(f"i{n},{n % 5 + 1},{(n + n % 3) % 5 + 1},{(n + n % 4) % 5 + 1}\n" for n in range(40))
    path = _file(tmp_path, f"item,ann1,ann2,gpt-4\n{rows}")
    screen = _screen(path, "--each-rater")
    assert "Verdicts" in screen
    assert "everity" in screen
    assert "Panel:" not in screen
    assert "Pairs raters statistic" in _screen(path, "--against", "ann1")


CASES = {
    "missing words": (
        "item,rater,value\n0,r1,yes\n1,r1,yes\n2,r1,no\n0,r2,yes\n1,r2,yes\n2,r2,None\n1,r3,yes\n2,r3,no\n"
        "0,r3,None\n",
        1.0,
        "Read as missing: None (2 answers).",
    ),
    "missing in columns": (
        "item,ann1,ann2,ann3\n0,yes,yes,#VALUE!\n1,yes,yes,yes\n2,no,<NA>,no\n3,no,no,no\n",
        1.0,
        "Read as missing: #VALUE!, <NA> (2 answers).",
    ),
    "an index": (",item,ann1,ann2\n0,a,1,1\n1,b,2,2\n2,c,3,3\n", 1.0, "Raters: ann1, ann2."),
    "commas at the end": (
        "item,ann1,ann2,,\na,1,1,,\nb,2,1,,\nc,3,3,,\n,,,,\n",
        0.778,
        "Raters: ann1, ann2.",
    ),
    "other numbers": (
        "item,length,ann1,ann2,mean\na,10,1,1,1\nb,25,2,1,1.5\nc,7,3,3,3\nd,4,2,2,2\n",
        0.790,
        "Columns not read: length, mean.",
    ),
    "space in names": (
        "item,rater,value\nd1,x,1\nd1 ,y,1\nd2,x,2\nd2,y,2\nd3,x,3\n d3,y,1\n",
        0.111,
        "Raters: x, y.",
    ),
    "semicolons and decimal commas": (
        "id;ann1;ann2\na;1,5;1,5\nb;2,25;2,5\nc;3,75;3,5\nd;0,5;1\n",
        0.965,
        "Scale: interval, any number (guessed from the answers).",
    ),
    "Likert words": (
        "item,ann1,ann2\na,Agree,Agree\nb,Neutral,Agree\nc,Disagree,Disagree\nd,Agree,Neutral\ne,Disagree,Neutral\n",
        0.590,
        "Words in this order: ",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_read_as_people_mean_it_and_that_is_said(tmp_path: Path, case: str) -> None:
    text, alpha, sentence = CASES[case]
    path = _file(tmp_path, text)
    assert sentence in _screen(path)
    assert _alpha(path) == alpha


def test_kinds_of_raters_are_read_in_the_words_of_the_file(tmp_path: Path) -> None:
    rows = "".join(
        f"i{n},{rater},{kind},{(n + shift) % 3 + 1}\n"
        for n in range(12)
        for rater, kind, shift in (("ann", "Human", 0), ("ben", "human", 1), ("gpt", "LLM", 0))
    )
    screen = _screen(_file(tmp_path, f"item,rater,kind,value\n{rows}"))
    assert "Raters: ann, ben (human); gpt (judge)." in screen
    assert "2 people Krippendorff's alpha −0.438" in screen


def test_tables_of_other_programs_are_read_alike(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": list("abcd"), "ann1": [1, 2, 3, 2], "ann2": [1, 1, 3, 2]})
    frame["time"] = pd.Timestamp("2026-01-01")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "a.json", orient="records")
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    with gzip.open(tmp_path / "a.csv.gz", "wt") as packed:
        packed.write(frame.to_csv(index=False))
    for name in ("a.xlsx", "a.parquet", "a.feather", "a.jsonl", "a.json", "a.tsv", "a.csv.gz"):
        assert _alpha(tmp_path / name) == 0.79, name


def test_one_file_a_rater_is_read_as_several_raters(tmp_path: Path) -> None:
    folder = tmp_path / "raters"
    folder.mkdir()
    ann = _file(folder, "id,score\na,1\nb,2\nc,3\nd,2\n", "ann.csv")
    ben = _file(folder, "id,score\nb,1\na,1\nc,3\nd,2\n", "ben.csv")
    assert _alpha(ann, ben) == _alpha(folder) == 0.79
    assert "Raters: ann, ben" in _screen(folder)
    lacking = _file(folder, "id,grade\na,1\n", "cy.csv")
    assert "cy.csv, line 1: no column 'score'" in _question(ann, lacking)[1]


def test_options_name_items_raters_judges_and_questions(tmp_path: Path) -> None:
    rows = "".join(f"{n},{n % 3},{(n + (n % 4 == 0)) % 3},{n % 3},x\n" for n in range(24))
    path = _file(tmp_path, f"nr,a,b,c,note\n{rows}")
    screen = _screen(path, "--item", "nr", "--raters", "a,b", "--judges", "c")
    assert "Raters: a, b (human); c (judge)." in screen
    assert "c with people Cohen's kappa, quadratic weights" in screen
    assert "24 items" in screen
    long = "item,rater,question,value\n" + "".join(
        f"{n},{rater},{question},{n % 3}\n" for n in range(9) for rater in "abc" for question in ("p", "q")
    )
    figures = _figures(_file(tmp_path, long, "long.csv"), "--raters", "a,b", "--questions", "q")
    assert {entry["question"] for entry in figures} == {"q"}
    assert {rater for entry in figures for rater in entry["raters"]} == {"a", "b"}
    assert "no rater 'd'" in _question(tmp_path / "long.csv", "--raters", "a,d")[1]


def test_a_mapping_says_what_the_columns_are(tmp_path: Path) -> None:
    rows = "".join(f"x{n},{'ja' if n % 2 else 'nein'},{'ja' if n % 3 else 'nein'}\n" for n in range(30))
    path = _file(tmp_path, f"what,first,second\n{rows}")
    options = ("--map", "item=what", "--map", "label:Good@ann=first", "--map", "judge:Good@bot=second")
    figures = _figures(path, *options)
    assert {entry["question"] for entry in figures} == {"Good"}
    assert "Raters: ann (human); bot (judge)." in _screen(path, *options)
    yaml = _file(tmp_path, "item: what\n'label:Good@ann': first\n'judge:Good@bot': second\n", "m.yaml")
    assert _figures(path, "--map-file", yaml) == figures
    assert "no column 'third'" in _question(path, "--map", "value=third")[1]


def test_describing_computes_nothing(tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("agree", str(_file(tmp_path, PAIR)), "--describe", stdout=out)
    assert "human_label" in out.getvalue()
    assert "yes or no" in out.getvalue()
    assert "kappa" not in out.getvalue()


UNCERTAIN = {
    "raters or questions": ("item,x,y\na,1,1\nb,2,1\nc,3,2\nd,1,1\n", "raters or questions"),
    "a rater of one answer": ("item,ann,bob,cy\na,1,1,1\nb,1,0,1\nc,0,0,1\nd,1,1,1\n", "is cy a rater"),
    "marks": ("item,ann1,ann2\na,yes,yes\nb,?,no\nc,no,no\n", "'?'"),
    "a person or a model": (
        "item,rater,value\n" + "".join(f"{n},{r},{n % 2}\n" for n in range(9) for r in ("Claude", "Ana")),
        "is Claude a model or a person?",
    ),
    "sets": (
        "item,rater,value\na,x,p;q\na,y,q;p\nb,x,p\nb,y,p\nc,x,q\nc,y,q;p\nd,x,q;r\nd,y,q\ne,x,r\ne,y,r;p\n",
        "--map 'separator:=;'",
    ),
    "none beside words in order": (
        "item,rater,value\n"
        + "".join(f"{n},{r},{('none', 'mild', 'severe')[n % 3]}\n" for n in range(9) for r in "xy"),
        "none",
    ),
}


@pytest.mark.parametrize("case", UNCERTAIN)
def test_nothing_is_computed_where_a_file_could_mean_several_things(tmp_path: Path, case: str) -> None:
    text, sentence = UNCERTAIN[case]
    _, line, status = _question(_file(tmp_path, text))
    assert line.startswith("ratings.csv")
    assert sentence in line
    assert status != 0


def test_an_uncertain_file_is_described_with_the_line_to_run(tmp_path: Path) -> None:
    path = _file(tmp_path, UNCERTAIN["raters or questions"][0])
    description, _, status = _question(path)
    assert status == 2
    assert f"manage.py agree {path} --map item=item --map label@x=x --map label@y=y" in description
    assert _alpha(path, "--map", "item=item", "--map", "label@x=x", "--map", "label@y=y") == _alpha(
        path, "--raters", "x,y"
    )


def test_a_set_in_a_cell_is_a_group_of_yes_or_no_questions_with_masi_s_alpha(tmp_path: Path) -> None:
    path = _file(tmp_path, UNCERTAIN["sets"][0])
    options = ("--map", "separator:=;")
    figures = _figures(path, *options)
    by_question = {(e["question"], e["name"]): e["value"] for e in figures}
    assert by_question["q", "krippendorff_alpha"] == 1.0
    assert round(by_question["p", "krippendorff_alpha"], 3) == 0.25
    assert round(by_question["answers", "krippendorff_alpha_masi"], 3) == 0.458
    assert "answers, as sets 2 raters Krippendorff's alpha over 0.458" in _screen(path, *options)


def test_figures_of_a_guess_are_those_of_the_named_scale(tmp_path: Path) -> None:
    rows = "".join(f"i{n},{n % 5 + 1},{(n + (n % 3 == 0)) % 5 + 1}\n" for n in range(30))
    path = _file(tmp_path, f"item,ann1,ann2\n{rows}")
    assert _figures(path) == _figures(path, "--scale", "ordinal", "--values", "1,2,3,4,5")


def test_a_table_of_dialogues_with_labels_is_read_with_the_dialogue_as_the_cluster(tmp_path: Path) -> None:
    rows = "".join(
        f"c{n},user,Where is my order number {n} please?,,,\n"
        f"c{n},bot,It left the depot on day {n} of the month.,{n % 5 + 1},{(n + n % 2) % 5 + 1},{n % 5 + 1}\n"
        for n in range(12)
    )
    path = _file(tmp_path, f"conv_id,author,utterance,ann1_helpful,ann2_helpful,gpt4_helpful\n{rows}")
    screen = _screen(path)
    assert "36 ratings of 12 items by 3 raters" in screen
    assert "Raters: ann1, ann2 (human); gpt4 (judge)." in screen
    assert "Clusters: column conv_id, 12 of them." in screen


def test_a_scale_that_is_named_decides_no_other_doubt(tmp_path: Path) -> None:
    path = _file(tmp_path, UNCERTAIN["raters or questions"][0])
    assert _question(path, "--scale", "ordinal")[2] == 2
    assert _question(_file(tmp_path, "id,score\na,1\nb,2\nc,4\n", "alone.csv"), "--scale", "ordinal")[2] == 2


def _lines(*arguments: str | Path) -> list[str]:
    out = io.StringIO()
    call_command("agree", *map(str, arguments), "--resamples", "20", stdout=out)
    return out.getvalue().splitlines()


def test_forty_questions_fit_the_first_screen_and_say_how_many_more_there_are(tmp_path: Path) -> None:
    rows = [
        f"i{n},{rater},{kind},question {question},{(n * 7 + question) % 4 + n % shift}\n"
        for question in range(40)
        for n in range(12)
        for rater, kind, shift in (
            ("ann", "human", 1),
            ("ben", "human", 2),
            ("gpt", "judge", 3),
        )
    ]
    path = _file(tmp_path, "item,rater,kind,question,value\n" + "".join(rows))
    lines = _lines(path)
    assert len(lines) < 75
    assert max(map(len, lines)) <= 100
    assert "  * These are 4 of 40 verdicts; --full has all." in lines
    assert any(re.fullmatch(r"  and \d+ more rows: --full", line) for line in lines)


def test_long_names_wrap_within_the_width_of_the_terminal(tmp_path: Path) -> None:
    question, person = (
        "How well does the reply answer what was asked before",
        "annotator-3c7b1c4e-0000-4000-8000",
    )
    rows = [
        f"i{n},{rater},{kind},{name},{n % 3 + n % shift}\n"
        for name in (question, "short")
        for n in range(12)
        for rater, kind, shift in ((person, "human", 1), ("gpt-4o-2024-08-06-preview-of-autumn", "judge", 2))
    ]
    lines = _lines(_file(tmp_path, "item,rater,kind,question,value\n" + "".join(rows)))
    assert max(map(len, lines)) <= 100


def test_a_file_of_free_text_is_refused_with_the_reason(tmp_path: Path) -> None:
    rows = "".join(
        f"i{n},{rater},The answer {n} is long and says {'very ' * (n + 1)}much indeed so\n"
        for n in range(20)
        for rater in ("ann", "ben")
    )
    path = _file(tmp_path, f"item,rater,value\n{rows}")
    assert _question(path)[1] == "ratings.csv: no ratings: every answer is free text"
