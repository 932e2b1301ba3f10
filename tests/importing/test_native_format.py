"""The native format: accepted content, and errors with line and field."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem, Source
from annotation.records import SELF, Agenda, Dialogue

TURNS = [{"speaker": "A", "text": "Hello"}, {"speaker": "B", "text": "Hi"}]


def read(path: Path, *lines: Any) -> list[Dialogue]:
    file = path / "dialogues.jsonl"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return [entry.record for entry in FORMATS["jsonl"].read(Source(file))]  # type: ignore[misc]


def problem(path: Path, *lines: Any) -> ImportProblem:
    with pytest.raises(ImportProblem) as caught:
        read(path, *lines)
    return caught.value


def test_a_dialogue_comes_with_everything_that_its_line_says(tmp_path: Path) -> None:
    line = {
        "id": "d1",
        "language": "en",
        "cluster": "c1",
        "summary": "They greet.",
        "metadata": {"goal": ["greet"]},
        "participants": [
            {"id": "A", "name": "Ana", "role": "manager", "profile": ["brief"], "aliases": ["An"]},
            {"id": "B"},
        ],
        "agenda": {
            "items": [{"id": "a1", "text": "x"}, {"id": "a2", "text": "y"}],
            "edges": [["a1", "a2"]],
            "start": "a1",
            "terminal": "a2",
        },
        "turns": [
            {"speaker": "A", "text": "Hello", "time": "10:00", "addressees": ["B"], "audience": ["A", "B"]},
            {"speaker": "B", "text": "", "act": "silence", "given": True},
        ],
        "continuations": [
            {"system": "m", "turns": [{"speaker": "A", "text": "So"}]},
            {
                "id": "y",
                "system": "m",
                "mode": "static",
                "trial": 1,
                "condition": {"p": 1},
                "turns": [{"at": 1, "speaker": "B", "text": "Ready"}],
            },
        ],
        "labels": [
            {"rater": "r", "continuation": "y", "turn": 0, "question": "overall", "value": 4},
            {
                "rater": "j",
                "kind": "judge",
                "turn": None,
                "question": "overall",
                "value": None,
                "missing": "refused",
                "sample": 2,
            },
        ],
    }
    (record,) = read(tmp_path, line)
    assert record.participants[0].profile == ("brief",)
    assert record.agenda == Agenda({"a1": "x", "a2": "y"}, (("a1", "a2"),), "a1", "a2")
    assert record.turns[0].addressees == ("B",)
    assert record.turns[1].given
    assert [part.id for part in record.all_continuations()] == [SELF, "m", "y"]
    assert record.continuations[1].turns[0].at == 1
    assert record.labels[0].value == 4.0
    assert (record.labels[1].continuation, record.labels[1].missing, record.labels[1].sample) == (
        SELF,
        "refused",
        2,
    )


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "bom.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps({"id": "d", "turns": TURNS}).encode() + b"\r\n\n  \n")
    assert [entry.line for entry in FORMATS["jsonl"].read(Source(file))] == [1]


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        ('{"id": "d", "turns": [{"sp', "", "not valid JSON"),
        ("[1]", "", "must be an object, not a list"),
        ("{}", "id", "is missing"),
        ({"id": ""}, "id", "is empty"),
        ({"id": 7, "turns": TURNS}, "id", "must be a text, not a number"),
        ({"id": "x" * 301, "turns": TURNS}, "id", "longer than 300"),
        ({"id": "d"}, "turns", "neither turns nor continuations"),
        ({"id": "d", "turns": {}}, "turns", "must be a list, not an object"),
        ({"id": "d", "turns": ["hello"]}, "turns[0]", "must be an object, not a text"),
        ({"id": "d", "turns": [{"text": "x"}]}, "turns[0].speaker", "is missing"),
        ({"id": "d", "turns": [{"speaker": "A", "text": 5}]}, "turns[0].text", "must be a text"),
        (
            {"id": "d", "turns": [{"speaker": "A", "text": "x", "given": 1}]},
            "turns[0].given",
            "true or false",
        ),
        (
            {"id": "d", "turns": [{"speaker": "A", "text": "x", "act": "nod"}]},
            "turns[0].act",
            "one of message",
        ),
        ({"id": "d", "turns": [{"speaker": "A", "text": "x", "at": 0}]}, "turns", "only turns of a static"),
        ({"id": "d", "turnz": TURNS}, "turnz", "did you mean 'turns'?"),
        ({"id": "d", "turns": TURNS, "metadata": []}, "metadata", "must be an object"),
        (
            {"id": "d", "turns": TURNS, "participants": [{"id": "A"}]},
            "turns[1].speaker",
            "'B' is not the id of a part",
        ),
        (
            {"id": "d", "turns": TURNS, "participants": [{"id": "A"}, {"id": "A"}]},
            "participants[1].id",
            "twice",
        ),
        (
            {"id": "d", "turns": TURNS, "agenda": {"items": [], "edges": [["a", "b"]]}},
            "agenda.edges[0]",
            "two ids",
        ),
        (
            {"id": "d", "turns": TURNS, "agenda": {"items": [], "start": "a"}},
            "agenda.start",
            "not the id of an agenda",
        ),
        (
            {"id": "d", "turns": TURNS, "continuations": [{"turns": TURNS}]},
            "continuations[0].system",
            "is missing",
        ),
        (
            {"id": "d", "continuations": [{"system": "m", "turns": []}]},
            "continuations[0].turns",
            "has no turns",
        ),
        (
            {"id": "d", "continuations": [{"system": "m", "id": "self", "turns": TURNS}]},
            "continuations[0].id",
            "own turns",
        ),
        ({"id": "d", "continuations": [{"system": "m", "turns": TURNS}] * 2}, "continuations[1].id", "twice"),
        (
            {"id": "d", "turns": TURNS, "continuations": [{"system": "m", "mode": "static", "turns": TURNS}]},
            "continuations[0].turns[0].at",
            "is missing",
        ),
        (
            {
                "id": "d",
                "turns": TURNS,
                "continuations": [
                    {"system": "m", "mode": "static", "turns": [{"speaker": "A", "text": "x", "at": 3}]}
                ],
            },
            "continuations[0].turns[0].at",
            "history has 2",
        ),
        (
            {"id": "d", "turns": TURNS, "labels": [{"rater": "r", "question": "q"}]},
            "labels[0].value",
            "is missing",
        ),
        (
            {"id": "d", "turns": TURNS, "labels": [{"rater": "r", "question": "q", "value": True}]},
            "labels[0].value",
            "must be a number, a text or null, not true or false",
        ),
        (
            {
                "id": "d",
                "turns": TURNS,
                "labels": [{"rater": "r", "question": "q", "value": 1, "missing": "x"}],
            },
            "labels[0].missing",
            "but there is one",
        ),
        (
            {"id": "d", "turns": TURNS, "labels": [{"rater": "r", "question": "q", "value": 1, "turn": -1}]},
            "labels[0].turn",
            "whole number",
        ),
        (
            {
                "id": "d",
                "turns": TURNS,
                "labels": [{"rater": "r", "kind": "judge", "identified": False, "question": "q", "value": 1}],
            },
            "labels[0].identified",
            "only people",
        ),
        ('{"id": "d", "turns": [{"speaker": "A", "text": "x\\u0000"}]}', "turns[0].text", "NUL"),
        ('{"id": "d", "turns": [{"speaker": "A", "text": "\\ud800"}]}', "", "surrogate"),
        ('{"id": "d", "metadata": {"x": NaN}}', "", "NaN and infinite"),
        ('{"id": "d", "metadata": {"x": 1e999}}', "", "NaN and infinite"),
        (
            {"id": "d", "turns": TURNS, "metadata": json.loads('{"a":' * 60 + "1" + "}" * 60)},
            None,
            "too deeply",
        ),
        ("[" * 5000, "", "not valid JSON"),
    ],
)
def test_what_is_wrong_is_told_by_line_field_and_reason(
    tmp_path: Path, line: Any, field: str | None, reason: str
) -> None:
    found = problem(tmp_path, {"id": "fine", "turns": TURNS}, line)
    assert found.line == 2
    assert reason in found.reason
    if field is not None:
        assert found.field == field


def test_a_value_of_any_wrong_type_is_a_problem_and_never_a_crash(tmp_path: Path) -> None:
    whole = {
        "id": "d",
        "language": "en",
        "cluster": "c",
        "summary": "s",
        "metadata": {},
        "system": "m",
        "participants": [{"id": "A", "name": "n", "role": "r", "profile": [], "aliases": []}],
        "agenda": {
            "items": [{"id": "a", "text": "t"}],
            "edges": [],
            "start": "a",
            "terminal": "a",
            "success": [],
        },
        "turns": [
            {
                "speaker": "A",
                "text": "t",
                "given": False,
                "time": "t",
                "session": "s",
                "addressees": [],
                "audience": [],
                "act": "message",
            }
        ],
        "continuations": [
            {
                "id": "c",
                "system": "m",
                "mode": "static",
                "trial": 0,
                "condition": {},
                "turns": [{"speaker": "A", "text": "x", "at": 0}],
            }
        ],
        "labels": [
            {
                "rater": "r",
                "kind": "human",
                "identified": True,
                "continuation": "c",
                "turn": 0,
                "question": "q",
                "value": 1,
                "missing": "",
                "sample": 0,
                "explanation": "",
                "scheme": "",
                "occasion": "",
            }
        ],
    }
    read(tmp_path, whole)
    for path in _paths(whole):
        for wrong in (3.5, True, "x", [1], {"k": [None]}, [[]], None):
            with suppress(ImportProblem):
                read(tmp_path, _replaced(whole, path, wrong))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return (
        [path, *(inner for key, part in parts for inner in _paths(part, (*path, key)))]
        if path or parts
        else [path]
    )


def _replaced(value: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    if not path:
        return wrong
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], wrong)
    return copy
