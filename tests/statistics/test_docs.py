"""The pages on statistics have the results on public data, and explain every flag and statistic."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.statistics import FLAGS, STATISTICS

from .results_tables import tables

PAGES = sorted((Path(__file__).parents[2] / "docs" / "statistics").glob("*.md"))


@pytest.mark.shared
@pytest.mark.exhaustive
def test_the_results_on_public_data_are_what_is_computed(shared_data: Path) -> None:
    page = (PAGES[0].parent / "validation.md").read_text(encoding="utf-8").splitlines()
    for name, rows in tables(shared_data).items():
        assert [row for row in rows if row not in page] == [], name


def test_every_flag_and_the_names_of_the_statistics_are_explained() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [flag for flag in FLAGS if f"`{flag}`" not in text] == []
    assert [s.title for s in STATISTICS.values() if s.source and s.source.split(" (")[0] not in text] == []
