"""The command `import_corpus`."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, load_command_class

from tests.importing.helpers import label, line, written

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("import_corpus", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_last_line_is_one_json_object_with_the_counts(tmp_path: Path) -> None:
    path = str(written(tmp_path, line(labels=[label()])))
    lines = run(path, "--format", "jsonl", "--name", "c")
    assert lines[0].startswith("Question overall about turns: ordinal")
    assert json.loads(lines[-1]) == {
        "corpus": "c",
        "dialogues": 1,
        "turns": 2,
        "continuations": 1,
        "items": 3,
        "labels": 1,
        "missing": 0,
        "created": True,
    }
    assert json.loads(run(path, "--into", "c")[-1])["created"] is False


def test_a_mistake_is_one_line_with_file_line_field_and_reason(tmp_path: Path) -> None:
    path = str(written(tmp_path, line(), line("d2", labels=[label(9)])))
    with pytest.raises(CommandError) as caught:
        run(path, "--name", "c")
    assert str(caught.value) == (
        "file.jsonl, line 2, field labels[0].value: "
        "9 is not on the scale of overall in comperdial_turn: 1, 2, 3, 4, 5"
    )


@pytest.mark.parametrize(
    "arguments", [[], ["--name", "a", "--into", "b"], ["--name", "a", "--format", "xml"]]
)
def test_the_arguments_must_make_sense(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        run(str(written(tmp_path, line())), *arguments)


def test_a_file_that_is_not_there_is_one_line() -> None:
    with pytest.raises(CommandError, match="there is no such file"):
        run("/nowhere/file.jsonl", "--name", "c")


@pytest.mark.exhaustive
@pytest.mark.shared
def test_fed_with_gpt4_comes_whole_and_twice_the_same(shared_data: Path) -> None:
    fed = [str(shared_data / "fed" / "fed_data.json"), "--format", "fed", "--name", "fed"]
    counts = json.loads(run(*fed)[-1])
    assert (counts["dialogues"], counts["labels"], counts["missing"]) == (125, 23_750, 167)
    assert json.loads(run(*fed)[-1]) == {**counts, "created": False}
    judge = str(shared_data / "fed_gpt4_judge" / "fed_gpt4_annotations.json")
    assert json.loads(run(judge, "--format", "fed_gpt4", "--into", "fed")[-1])["labels"] == 3125


def test_help_texts_keep_the_capitals_of_abbreviations() -> None:
    parser = load_command_class("annotation", "import_corpus").create_parser("manage.py", "import_corpus")
    helps = [str(action.help) for action in parser._actions]
    assert any(text.startswith("LLM judges") for text in helps)
    assert not any(text[:1].islower() and text[1:2].isupper() for text in helps)
