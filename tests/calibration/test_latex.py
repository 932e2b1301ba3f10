"""A report in LaTeX: values with their intervals under them, reasons as notes, names as they are."""

from __future__ import annotations

import re

import pytest

from calibration.reports.renderings import as_latex
from calibration.studies import actions as studies
from tests.calibration.world import world

pytestmark = pytest.mark.django_db


def test_values_stand_over_their_intervals_and_reasons_are_notes() -> None:
    built = world(dialogues=6, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off_topic & 50%")
    built.say("ann", "off_topic", [0.0, 1.0, 0.0, 1.0, 0.0, 1.0] * 2)
    built.say("ben", "off_topic", [0.0, 1.0, 1.0, 1.0, 0.0, 0.0] * 2)
    built.say("gpt", "off_topic", [0.0] * 12, kind="judge")
    report = studies.compute(study=studies.automatic(corpus=built.corpus), part="all", by=None)
    written = as_latex.write(report)
    table = written[written.index(r"\midrule") : written.index(r"\bottomrule")]
    rows = [line.removesuffix(r" \\").split(" & ") for line in table.splitlines()[1:]]
    assert rows[0][0] == r"Off\_topic \& 50\%"
    assert [row[1] for row in rows] == ["2 people", "", "gpt with people", ""]
    assert len({len(row) for row in rows}) == 1
    assert rows[0][3] == "0.667"
    assert re.fullmatch(r"\{\\scriptsize 0\.\d\d to \d\.\d\d\}", rows[1][3])
    assert r"---\textsuperscript{1}" in rows[2]
    assert r"\textsuperscript{1} gpt gave one value throughout." in written
