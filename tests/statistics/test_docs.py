"""The worked examples of the documentation print what their pages show."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from calibration.statistics import FLAGS, STATISTICS

from .results_tables import tables

PAGES = sorted((Path(__file__).parents[2] / "docs" / "statistics").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_examples_of_a_page_print_what_it_shows(page: Path) -> None:
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8", verbose=False)
    assert found.failed == 0


@pytest.mark.shared
@pytest.mark.exhaustive
def test_the_results_on_public_data_are_what_is_computed(shared_data: Path) -> None:
    page = (PAGES[0].parent / "results.md").read_text(encoding="utf-8").splitlines()
    for name, rows in tables(shared_data).items():
        assert [row for row in rows if row not in page] == [], name


def test_every_link_between_the_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((\w+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} -> {target}"


def test_every_flag_and_the_names_of_the_statistics_are_explained() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [flag for flag in FLAGS if f"`{flag}`" not in text] == []
    assert [s.title for s in STATISTICS.values() if s.source and s.source.split(" (")[0] not in text] == []
