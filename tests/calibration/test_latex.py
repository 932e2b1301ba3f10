"""The LaTeX of reports and of `agree` compiles, for all names and options."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from calibration.reports.renderings import RENDERINGS
from calibration.statistics.table import described
from calibration.studies import study_actions as studies
from tests.calibration.conftest import Compiled
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
HOSTILE = r"100% & \input{x} $y_1^2$ #{~}[<|>]*"
ITEMS = 24


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Tags and a scale under names that LaTeX could take for commands, answered by people and a judge."""
    built = world(dialogues=ITEMS // 2, turns=2)
    for key, wording in (("one", HOSTILE), ("two", "Off topic")):
        built.ask(key, "binary", [0, 1], scheme="tags", wording=wording, group="Tags", positive=1)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    raters = {f"ann {HOSTILE}": "human", "ben": "human", "cid": "human", f"gpt {HOSTILE}": "judge"}
    for place, (name, kind) in enumerate(raters.items()):
        built.say(name, "one", [float((n + (n % (5 + place) == 0)) % 2) for n in range(ITEMS)], kind=kind)
        built.say(name, "two", [float(n % (3 + place) == 0) for n in range(ITEMS)], kind=kind)
        built.say(
            name, "quality", [float(1 + (n * 7 + n % (4 + place)) % 5) for n in range(ITEMS)], kind=kind
        )
    return built


@pytest.mark.exhaustive
def test_a_report_of_every_statistic_compiles(rated: World, compiled: Compiled) -> None:
    definition = {"statistics": list(described()), "resamples": 20}
    study = studies.create(name=HOSTILE, corpus=rated.corpus, definition=definition, by=None)
    text = RENDERINGS["latex"].write(studies.compute(study=study, part="all", by=None))
    assert "policy cocoeval" in text
    compiled(text, packages="booktabs,graphicx")


def test_what_agree_prints_compiles(compiled: Compiled, tmp_path: Path) -> None:
    lines = ["item,rater,kind,question,value"]
    for place, (name, kind) in enumerate((("ann", "human"), ("b & c", "human"), ("gpt_4%", "judge"))):
        lines += [f"i{n},{name},{kind},{HOSTILE},{int(n % (3 + place) == 0)}" for n in range(ITEMS)]
    file = tmp_path / "tags.csv"
    file.write_text("\n".join(lines) + "\n")
    out = io.StringIO()
    given = ["--scale", "binary", "--values", "0,1", "--resamples", "20", "--table7", "--latex"]
    call_command("agree", str(file), *given, stdout=out)
    compiled(out.getvalue(), packages="booktabs,graphicx")
    out = io.StringIO()
    call_command("agree", str(file), *(option for option in given if option != "--table7"), stdout=out)
    assert r"\item gpt\_4\%: Cannot say yet." in out.getvalue()
    compiled(out.getvalue(), packages="booktabs,longtable")


def test_tables_by_level_compile(compiled: Compiled, tmp_path: Path) -> None:
    lines = ["item,dialogue,continuation,system,turn,rater,kind,question,value"]
    for n in range(120):
        place = f"d{n // 4 % 5},c{n // 20},s{n // 20} {HOSTILE},{n % 4}"
        for rater, kind, value in (
            ("ann", "human", n % 5),
            ("bo & co_2", "metric", n % 7),
            ("x", "judge", 1),
        ):
            lines.append(f"i{n},{place},{rater},{kind},{HOSTILE},{value}")
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join(lines) + "\n")
    out = io.StringIO()
    given = ["--scale", "interval", "--levels", "turn,dialogue,system", "--resamples", "20", "--latex"]
    call_command("agree", str(file), *given, "--best-of", "kind", stdout=out)
    compiled(out.getvalue(), packages="booktabs,graphicx")
