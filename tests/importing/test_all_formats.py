"""Tests of every format in the table: garbage, hostile text, folders, and users' options about a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS, ImportProblem, Source
from annotation.formats.corpus_format import COMMON, SETTINGS, settings_of
from annotation.formats.fields import decode_python
from annotation.models import Import
from tests.importing.helpers import census, imported, refusal

HOSTILE = '<script>alert("1")</script>\u202e =HYPERLINK("x") {"next_message": 1} \u0085'
GARBAGE = [b"\x00\x01", b"\xff\xfe", b"{", b"[[[", b"null", b'"x"', b"[4]", b'{"a": "\\ud800"}', b"[" * 5000]

LINE = {"line_id": 1.0, "speaker": HOSTILE, "start_s": 0.0, "contents": HOSTILE}
SAID = {"speaker": HOSTILE, "utterance": HOSTILE}
RATED = {name: [1] for name in ("Understandable", "Natural", "Maintains Context", "Engaging")}
SMALL: dict[str, dict[str, Any]] = {
    "mpceval": {
        "p.json": {"id": HOSTILE, "context": [SAID], "next_speaker": HOSTILE, "next_message": HOSTILE}
    },
    "mpdd": {
        "dialogue.json": {
            "1": [{**SAID, "listener": [{"name": "a", "relation": HOSTILE}], "emotion": HOSTILE}]
        }
    },
    "tcr": {"SIM.json": {"SIM": {"m": {"topics": {HOSTILE: {"transcripts": [LINE]}}, "metadata": {}}}}},
    "usr": {
        "pc_usr_data.json": [
            {
                "context": HOSTILE,
                "fact": HOSTILE,
                "annotators": [HOSTILE],
                "responses": [
                    {"model": HOSTILE, "response": HOSTILE, "Uses Knowledge": [1], "Overall": [5], **RATED}
                ],
            }
        ]
    },
    "comperdial": {
        "ComperDial_data.json": [
            {
                "persona": {"A": [HOSTILE], "B": []},
                "dialogue": [{"persona_id": who, "text": HOSTILE} for who in "AB"],
            }
        ],
        "ComperDial_turn_level_evaluation.json": [
            {"dialogue_id": 1, "system": HOSTILE, "turn": 1, "response": HOSTILE, "scores": {HOSTILE: 5}}
        ],
    },
}
for format in ("delidata", "iq2"):
    SMALL[format] = {
        "utterances.jsonl": {"id": "1", "conversation_id": HOSTILE, "speaker": HOSTILE, "text": HOSTILE},
        "conversations.json": {HOSTILE: {"meta": {"title": HOSTILE}}},
    }


def folder(path: Path, files: dict[str, Any]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("format", SMALL)
def test_hostile_text_comes_through_as_text_and_only_once(tmp_path: Path, format: str) -> None:
    path = folder(tmp_path / "in", SMALL[format])
    assert imported(path, format=format).created
    counts = census()
    again = imported(path, format=format)
    assert (again.created, again.dialogues, census()) == (False, 1, counts)
    assert Import.objects.count() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("format", SMALL)
def test_a_nul_character_anywhere_keeps_nothing(tmp_path: Path, format: str) -> None:
    files = json.loads(json.dumps(SMALL[format]).replace("HYPERLINK", "\\u0000"))
    problem = refusal(folder(tmp_path / "in", files), format=format)
    assert "NUL" in problem.reason


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", [key for key, format in FORMATS.items() if format.folder])
@pytest.mark.parametrize("content", GARBAGE)
def test_garbage_in_any_file_of_a_folder_is_a_problem(tmp_path: Path, format: str, content: bytes) -> None:
    files = SMALL.get(format, {"a.json": content})
    for number, name in enumerate(files):
        path = folder(tmp_path / str(number), {**files, name: content})
        with pytest.raises(ImportProblem) as caught:
            list(FORMATS[format].read(Source(path)))
        assert caught.value.file in ("", *files)


@pytest.mark.parametrize("format", [key for key, format in FORMATS.items() if format.folder])
def test_an_empty_folder_is_a_problem(tmp_path: Path, format: str) -> None:
    with pytest.raises(ImportProblem, match=r"holds no \.json file"):
        Source(folder(tmp_path / "none", {}))


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_takes_the_settings_that_it_names_and_no_others(format: str) -> None:
    taken = (*COMMON, *FORMATS[format].settings)
    assert set(taken) <= set(SETTINGS)
    said = {"system": "x", "given": "speaker", "min_turns": "3", "any_size": "yes"}
    said |= {"main": "Ana", "keep_directions": "yes", "dialogue": "d", "turns_from": "1"}
    said |= {"fold_names": "yes", "missing": "NA, -", "judges": "gpt-4", "rated": "bot"}
    said |= {"sheet": "Data", "encoding": "cp1252", "skip_bad_rows": "yes"}
    assert settings_of({key: said[key] for key in taken}, format, taken).keys() == set(taken)
    assert settings_of(dict.fromkeys(SETTINGS, ""), format, taken) == {}
    for key in sorted(SETTINGS.keys() - set(taken)):
        with pytest.raises(ImportProblem, match=f"is not a setting of the format {format}"):
            settings_of({key: said[key]}, format, taken)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("system", "x" * 201),
        ("system", "a\nb"),
        ("given", "half"),
        ("min_turns", "-1"),
        ("min_turns", "1.5"),
        ("min_turns", "9" * 30),
        ("min_turns", "٣"),
    ],
)
def test_a_setting_has_its_bounds(key: str, value: str) -> None:
    with pytest.raises(ImportProblem) as caught:
        settings_of({key: value}, "f", (key,))
    assert caught.value.field == key


def test_what_python_writes_for_no_value_is_null_outside_of_texts() -> None:
    assert decode_python(b'{"a": NaN, "b": "NaN \\" NaN", "NaN": [NaN]}') == {
        "a": None,
        "b": 'NaN " NaN',
        "NaN": [None],
    }
    for bad in (b'{"a": Infinity, "b": NaN}', b"NaNa", b'{"a": "NaN'):
        with pytest.raises(ImportProblem):
            decode_python(bad)
