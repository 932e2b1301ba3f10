"""`manage.py agree` on files that declare missing answers, and the scale of each question."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError


def _file(folder: Path, lines: list[str], name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _entries(path: Path, *options: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("agree", str(path), "--resamples", "50", "--json", *options, stdout=out)
    return list(json.loads(out.getvalue())["statistics"])


def _told(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--resamples", "50", "--full", *options, stdout=out)
    return " ".join(out.getvalue().split())


def _answers(missing: str) -> list[str]:
    rows = [
        f"i{i},{rater},{'yes' if (i + s) % 3 else 'no'}" for i in range(30) for s, rater in enumerate("ab")
    ]
    return ["item,rater,value", *rows, f'i30,a,"{missing}"', "i30,b,yes"]


MARKS = ["NA", "N/A", "n/a", "N/A (not enough context)", "null", "-", "–", "NaN", "#N/A", "n.a."]


@pytest.mark.parametrize("mark", MARKS)
def test_what_looks_like_no_answer_is_never_silently_a_category(tmp_path: Path, mark: str) -> None:
    with pytest.raises(CommandError) as caught:
        _entries(_file(tmp_path, _answers(mark)), "--scale", "nominal")
    said = str(caught.value)
    assert f"line 62, column value: value {mark!r} looks like no answer" in said
    assert f"--missing={mark.partition(' (')[0]} takes it as missing" in said


@pytest.mark.parametrize("mark", MARKS)
def test_it_is_missing_where_that_is_asked(tmp_path: Path, mark: str) -> None:
    path = _file(tmp_path, _answers(mark))
    empty = _file(tmp_path, _answers(""), "empty.csv")
    asked = f"--missing={mark.partition(' (')[0]}"
    assert _entries(path, "--scale", "nominal", asked) == _entries(empty, "--scale", "nominal")


def test_several_marks_may_be_named_at_once(tmp_path: Path) -> None:
    path = _file(tmp_path, [*_answers("N/A"), "i31,a,unsure", "i31,b,no"])
    (alpha,) = [
        e for e in _entries(path, "--scale", "binary", "--missing", "N/A,Unsure", "--positive", "yes")
        if e["name"] == "krippendorff_alpha"
    ]  # fmt: skip
    assert (alpha["n_items"], alpha["n_missing"]) == (30, 2)


def test_a_declared_value_is_a_category_whatever_it_looks_like(tmp_path: Path) -> None:
    path = _file(tmp_path, _answers("NA"))
    assert "Scale: nominal, no, yes, NA" in _told(path, "--scale", "nominal", "--values", "no,yes,NA")


def test_columns_of_raters_are_read_alike(tmp_path: Path) -> None:
    path = _file(tmp_path, ["item,ann,bob", "i1,1,2", "i2,N/A (spam),1", "i3,3,3"])
    with pytest.raises(CommandError, match="line 3, column ann: value 'N/A \\(spam\\)' looks like no answer"):
        _entries(path, "--scale", "ordinal")
    assert _entries(path, "--scale", "ordinal", "--missing", "N/A")[0]["n_missing"] == 1


def _export(questions: dict[str, tuple[str, str, list[Any]]]) -> list[str]:
    """Return an export's lines: per question its scheme, level and values; answers go round the values."""
    lines = ["item,rater,value,question,scheme,kind,level,values"]
    for key, (scheme, level, values) in questions.items():
        for i in range(30):
            for s, rater in enumerate(("ann", "bob")):
                value = values[(i + s * (i % 4 == 0)) % len(values)]
                listed = json.dumps(values).replace('"', '""')
                asked = key.rsplit("/")[-1]
                lines.append(f'{scheme}{i},{rater},{value},{asked},{scheme},human,{level},"{listed}"')
    return lines


MIXED = {
    "quality": ("one@1", "ordinal", [1, 2, 3, 4, 5]),
    "tag": ("one@1", "binary", [0, 1]),
    "act": ("two@1", "nominal", ["ask", "tell", "N/A"]),
}


def test_one_file_holds_questions_of_different_scales(tmp_path: Path) -> None:
    path = _file(tmp_path, _export(MIXED))
    found = {(e["question"], e["name"]) for e in _entries(path)}
    assert ("quality", "cohen_kappa_quadratic") in found
    assert ("tag", "f1") in found
    assert ("act", "cohen_kappa_quadratic") not in found
    told = _told(path)
    assert "Scale: ordinal, 1, 2, 3, 4, 5 (as declared)." in told
    assert "Scale: nominal, ask, tell, N/A (as declared)." in told


def test_declared_values_count_where_nobody_used_them(tmp_path: Path) -> None:
    lines = _export({"quality": ("one@1", "ordinal", [1, 2, 3])})
    wider = [line.replace("[1, 2, 3]", "[1, 2, 3, 9]") for line in lines]
    declared = _entries(_file(tmp_path, wider), "--questions", "quality")
    asked = _entries(_file(tmp_path, lines, "b.csv"), "--scale", "ordinal", "--values", "1,2,3,9")
    assert [e["value"] for e in declared] == [e["value"] for e in asked]


def test_one_key_in_two_schemes_is_two_questions(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        _export(
            {
                "a/overall": ("fed_turn@1", "ordinal", [0, 1, 2]),
                "b/overall": ("fed_dialogue@1", "ordinal", [0, 1, 2, 3, 4]),
            }
        ),
    )
    assert {e["question"] for e in _entries(path)} == {"fed_turn@1/overall", "fed_dialogue@1/overall"}
    chosen = _entries(path, "--questions", "fed_turn@1/overall")
    assert {e["n_items"] for e in chosen} == {30}


def test_free_text_is_left_out_and_named(tmp_path: Path) -> None:
    path = _file(tmp_path, _export(MIXED | {"why": ("one@1", "text", ["because", "since"])}))
    assert "why" not in {e["question"] for e in _entries(path)}
    assert "Free text has no agreement statistics: why." in _told(path)


def test_the_lines_of_json_hold_their_values_as_a_list(tmp_path: Path) -> None:
    rows = [
        {"item": f"i{i}", "rater": r, "value": (i + s) % 3, "level": "ordinal", "values": [0, 1, 2]}
        for i in range(12) for s, r in enumerate("ab")
    ]  # fmt: skip
    path = _file(tmp_path, [json.dumps(row) for row in rows], "ratings.jsonl")
    assert "cohen_kappa_quadratic" in {e["name"] for e in _entries(path)}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("i1,a,1,often,[]", "line 2, column level: 'often' is not a measurement level"),
        ("i1,a,1,ordinal,many", "line 2, column values: 'many': expected a list"),
    ],
)
def test_a_scale_that_cannot_be_read_is_refused_where_it_stands(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        _entries(_file(tmp_path, ["item,rater,value,level,values", line]))


def test_without_a_scale_anywhere_it_is_guessed_and_that_is_said(tmp_path: Path) -> None:
    path = _file(tmp_path, ["item,rater,value", "i,a,1", "i,b,2", "j,a,4", "j,b,5"])
    assert "Scale: ordinal, 1, 2, 3, 4, 5 (guessed from the answers)." in _told(path)
