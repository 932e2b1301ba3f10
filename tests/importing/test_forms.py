"""Tests of the forms of other programs: every fixture is recognised as its own form, and imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from tests.importing.helpers import imported

FORMS = Path(__file__).parent / "forms"
FIXTURES = sorted(FORMS.iterdir())

CONTAINED = {"wildchat": {"lmsys-chat"}}
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


@pytest.mark.django_db
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_each_form_imports_with_something_to_rate(fixture: Path) -> None:
    key = key_of(fixture)
    if FORMATS[key].labels_only:
        pytest.skip("needs the corpus that its labels are about")
    result = imported(fixture, format=key)
    assert result.created
    assert result.items > 0
