"""`manage.py agree` on untidy files: cells without an answer, columns of no rater, spellings, kinds."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.text.table_cells import kind_of_rater, looks_like_nothing, number

LONG = (
    "item,rater,value\n0,r1,yes\n1,r1,yes\n2,r1,no\n0,r2,yes\n1,r2,yes\n2,r2,{0}\n"
    "1,r3,yes\n2,r3,no\n0,r3,{0}\n"
)
NOTHING = [
    *("NA", "n/a", "N/A (spam)", "None", "<NA>", "NaN", "null", "#N/A", "#VALUE!", "#REF!", "#DIV/0!"),
    *(".", "?", "-", "–", "SYSMIS", "NA_character_", "1.#IND", "###"),
]
KINDS = "item,rater,kind,value\n" + "".join(
    f"i{i},{rater},{{{n}}},{(i + shift) % 3 + 1}\n"
    for i in range(12)
    for n, (rater, shift) in enumerate((("ann", 0), ("ben", 1), ("gpt", 0)))
)


def _file(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _agree(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--resamples", "50", "--full", *options, stdout=out)
    return " ".join(out.getvalue().split())


def _alpha(path: Path, *options: str) -> tuple[float, int]:
    found = json.loads(_agree(path, "--json", *options))["statistics"]
    alpha = next(one for one in found if one["name"] == "krippendorff_alpha")
    return round(alpha["value"], 3), alpha["n_raters"]


def _refusal(path: Path, *options: str) -> str:
    with pytest.raises(CommandError) as caught:
        _agree(path, *options)
    return str(caught.value)


@pytest.mark.parametrize("word", NOTHING)
def test_a_word_that_means_no_answer_is_refused_unless_it_is_named(tmp_path: Path, word: str) -> None:
    path = _file(tmp_path, LONG.format(word))
    assert "line 7, column value" in _refusal(path, "--scale", "nominal")
    assert "looks like no answer" in _refusal(path, "--scale", "nominal")
    assert _alpha(path, "--scale", "nominal", f"--missing={word}") == (1.0, 3)


def test_a_declared_value_is_an_answer_whatever_it_looks_like(tmp_path: Path) -> None:
    path = _file(tmp_path, LONG.format("None"))
    assert _alpha(path, "--scale", "nominal", "--values", "yes,no,None")[0] < 1


@pytest.mark.parametrize("answer", ["1", "-1", "1.5", ".5", "yes", "nature", "#1", "some", "n"])
def test_an_answer_does_not_look_like_nothing(answer: str) -> None:
    assert not looks_like_nothing(answer)


def test_a_number_is_digits_with_one_decimal_point() -> None:
    assert [number(text) for text in ("4", "-1.5", ".5", "1e3", " 2 ")] == [4.0, -1.5, 0.5, 1000.0, 2.0]
    assert [number(text) for text in ("1_0", "3,5", "３", "nan", "inf", "1 000", "")] == [None] * 7


def test_an_index_and_columns_without_a_name_are_no_raters(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"item": [f"d1/{n}" for n in range(6)], "ann1": [1, 2, 3] * 2, "ann2": [1, 2, 3] * 2}
    )
    frame.to_csv(tmp_path / "index.csv")
    frame.set_axis(list("abcdef")).to_parquet(tmp_path / "index.parquet")
    frame.rename_axis("Unnamed: 0").reset_index().to_csv(tmp_path / "again.csv", index=False)
    for name in ("index.csv", "index.parquet", "again.csv"):
        assert _alpha(tmp_path / name, "--scale", "ordinal") == (1.0, 2), name
        assert "Raters: ann1, ann2." in _agree(tmp_path / name), name


def test_commas_at_the_ends_and_rows_of_commas_are_passed_over(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,ann1,ann2,,\na,1,1,,\nb,2,1,,\nc,3,3,,\n,,,,\n ,,,,\n")
    assert _alpha(path, "--scale", "ordinal") == (0.778, 2)


def test_columns_of_other_numbers_are_no_raters(tmp_path: Path) -> None:
    rows = "item,length,ann1,ann2,mean\na,10,1,1,1\nb,25,2,1,1.5\nc,7,3,3,3\nd,4,2,2,2\n"
    path = _file(tmp_path, rows)
    assert "Columns not read: length, mean." in _agree(path, "--scale", "ordinal")
    assert _alpha(path) == _alpha(path, "--raters", "ann1, ann2") == (0.79, 2)
    assert "no rater 'ann3'" in _refusal(path, "--scale", "ordinal", "--raters", "ann1,ann3")
    long = _file(tmp_path, LONG.format("no"), "long.csv")
    assert _alpha(long, "--raters", "r1,r2") == (1.0, 2)


def test_space_around_names_is_no_part_of_them(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,rater,value\nd1,x,1\nd1 ,y,1\nd2,x ,2\nd2, y,2\nd3,x,3\n d3,y,1\n")
    report = _agree(path, "--scale", "nominal")
    assert "over 3 items" in report
    assert "Raters: x, y." in report


def test_names_that_differ_in_case_alone_are_listed_and_joined_where_that_is_said(tmp_path: Path) -> None:
    rows = "a,ann,yes\na,ben,yes \nb,ann,no\nb,ben,No\nA b,Ann,yes\nab,ben,yes\nd,ann,no\nd,ben,no\n"
    path = _file(tmp_path, f"item,rater,value\n{rows}")
    told = _refusal(path, "--scale", "nominal")
    for clash in ("raters 'ann' and 'Ann'", "items 'A b' and 'ab'", "values 'no' and 'No'", "--fold-names"):
        assert clash in told
    assert _alpha(path, "--scale", "nominal", "--fold-names") == (1.0, 2)
    assert "Joined: raters 'ann' and 'Ann'." in _agree(path, "--scale", "nominal", "--fold-names")
    apart, raters = _alpha(path, "--scale", "nominal", "--fold-names=no")
    assert apart < 1, "no and No are two answers"
    assert raters == 2, "Ann shares no item with anybody"


def test_joined_answers_take_the_declared_spelling(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,rater,value\na,x,YES\na,y,yes\nb,x,no\nb,y,No\n")
    options = ("--scale", "nominal", "--values", "yes,no")
    assert _alpha(path, *options, "--fold-names") == (1.0, 2)
    assert "value 'YES': expected" in _refusal(path, *options)


@pytest.mark.parametrize(
    "words", [("Human", "human", "LLM"), ("person", "ANNOTATOR", "model"), ("human", "human", "judge")]
)
def test_a_kind_is_one_of_four_in_any_case_and_with_its_synonyms(
    tmp_path: Path, words: tuple[str, str, str]
) -> None:
    path = _file(tmp_path, KINDS.format(*words))
    report = _agree(path, "--scale", "ordinal")
    assert "among the 2 people is −0.438" in report
    assert "* gpt: Cannot say yet. Only 8 items got another answer" in report


def test_another_word_for_a_kind_is_refused(tmp_path: Path) -> None:
    told = _refusal(_file(tmp_path, KINDS.format("human", "human", "oracle")), "--scale", "ordinal")
    assert "line 4, column kind: 'oracle' is not a kind of rater" in told
    with pytest.raises(ValueError, match="oracle"):
        kind_of_rater("oracle")
    assert [kind_of_rater(word) for word in ("LLM-judge", "answer key")] == ["judge", "key"]


def test_raters_without_a_kind_beside_others_with_one_are_asked_for(tmp_path: Path) -> None:
    path = _file(tmp_path, KINDS.format("human", "human", ""))
    assert "no kind for gpt" in _refusal(path, "--scale", "ordinal")
    assert "among the 2 people" in _agree(path, "--scale", "ordinal", "--judges", "gpt")


def test_judges_are_named_where_the_file_does_not_say(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 3},{i % 3},{i % 2}\n" for i in range(12))
    path = _file(tmp_path, f"item,ann,ben,gpt-4\n{rows}")
    assert "Taken for models, by their names: gpt-4 (--judges none" in _agree(path, "--scale", "ordinal")
    report = _agree(path, "--scale", "ordinal", "--judges", "gpt-4")
    assert "alpha among the 2 people is 1.000" in report
    assert "among the 3 people" in _agree(path, "--scale", "ordinal", "--judges", "none")
    assert "no rater 'gpt4'" in _refusal(path, "--scale", "ordinal", "--judges", "gpt4")


def test_columns_that_are_not_read_may_hold_anything_and_are_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": list("aabb"), "rater": list("xyxy"), "value": [1, 1, 2, 2]})
    frame.assign(timestamp=pd.Timestamp("2026-01-01")).to_parquet(tmp_path / "time.parquet")
    rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False)]
    meta = [row | {"meta": {"a": 1}, "tags": ["b"]} for row in rows]
    optional = [rows[0], rows[1] | {"comment": "hm"}, *rows[2:]]
    for name, lines in (("meta.jsonl", meta), ("optional.jsonl", optional)):
        _file(tmp_path, "".join(json.dumps(line, default=int) + "\n" for line in lines), name)
    for name, unread in (
        ("time.parquet", "timestamp"),
        ("meta.jsonl", "meta.a, tags[]"),
        ("optional.jsonl", "comment"),
    ):
        assert f"Columns not read: {unread}." in _agree(tmp_path / name, "--scale", "ordinal"), name


def test_answers_to_pairs_have_kinds_and_names_by_the_same_rules(tmp_path: Path) -> None:
    rows = "item,rater,value,first_system,second_system,kind\na,ann,first,x,y,{}\nb,{},second,x,{},human\n"
    for row, told in (
        (("oracle", "ann", "y"), "'oracle' is not a kind of rater"),
        (("human", "Ann", "Y"), "raters 'ann' and 'Ann'; systems 'y' and 'Y' differ in case"),
    ):
        path = _file(tmp_path, rows.format(*row))
        with pytest.raises(CommandError, match=told):
            call_command("pairs", str(path), "--resamples", "50", stdout=io.StringIO())
    out = io.StringIO()
    call_command("pairs", str(path), "--resamples", "50", "--fold-names", stdout=out)
    assert "Joined: systems 'y' and 'Y'." in " ".join(out.getvalue().split())
