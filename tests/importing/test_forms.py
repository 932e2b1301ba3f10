"""Tests of the forms of other programs: every fixture is recognised as its own form, and imports."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import (
    FORMATS,
    ImportProblem,
    Source,
    chat_forms,
    chat_platforms,
    dialogue_corpora,
    speech,
)
from annotation.formats.corpus_format import guess, read_start
from tests.importing.helpers import imported

FORMS = Path(__file__).parent / "forms"
FIXTURES = sorted(FORMS.iterdir())

CONTAINED = {"preferences": {"messages"}, "wildchat": {"lmsys-chat"}}
"""Forms that are another form with more fields: the table has them before it."""


def key_of(fixture: Path) -> str:
    """Return the form of a fixture: `slack--folder` and `slack.json` are both of slack."""
    return fixture.name.partition(".")[0].partition("--")[0]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_each_form_is_recognised_as_itself(fixture: Path) -> None:
    assert guess(FORMATS, read_start(fixture)) == key_of(fixture)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_no_other_form_takes_a_file_for_its_own(fixture: Path) -> None:
    head = read_start(fixture)
    others = {key for key, format in FORMATS.items() if format.looks_like(head)} - {key_of(fixture)}
    assert others <= CONTAINED.get(key_of(fixture), set())


WITH_DIALOGUES = [fixture for fixture in FIXTURES if not FORMATS[key_of(fixture)].labels_only]
"""Fixtures that are imported by themselves; the others are labels about a corpus."""


@pytest.mark.django_db
@pytest.mark.parametrize("fixture", WITH_DIALOGUES, ids=lambda path: path.name)
def test_each_form_imports_with_something_to_rate(fixture: Path) -> None:
    result = imported(fixture, format=key_of(fixture))
    assert result.created
    assert result.items > 0


READERS = {
    form.key
    for form in (*chat_forms.FORMS, *chat_platforms.FORMS, chat_forms.SLACK, speech.SPEECH)
    + tuple(dialogue_corpora.FORMS)
}
DOCUMENTS = [path for path in FIXTURES if path.suffix in (".json", ".jsonl") and key_of(path) in READERS]
WRONG: list[Any] = [None, 4, -1.5, True, "x", "", [], {}, [1], ["a", None], {"a": {}}, [[]], "\0"]


@pytest.mark.parametrize("fixture", DOCUMENTS, ids=lambda path: path.name)
def test_a_wrong_value_anywhere_is_read_or_refused_but_never_an_error_of_the_program(
    fixture: Path, tmp_path: Path
) -> None:
    text = fixture.read_text()
    content = (
        [json.loads(line) for line in text.splitlines()] if fixture.suffix == ".jsonl" else json.loads(text)
    )
    chance = random.Random(fixture.name)
    path = tmp_path / fixture.name
    all_places = list(places(content))
    for place in chance.sample(all_places, min(12, len(all_places))):
        for wrong in chance.sample(WRONG, 4):
            changed = with_value(content, place, wrong)
            lines = changed if fixture.suffix == ".jsonl" else [changed]
            path.write_text("\n".join(map(json.dumps, lines)))
            with suppress(ImportProblem):
                list(FORMATS[key_of(fixture)].read(Source(path)))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def with_value(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a JSON value with another value at a place."""
    if not place:
        return value
    copy = content.copy()
    copy[place[0]] = with_value(content[place[0]], place[1:], value)
    return copy
