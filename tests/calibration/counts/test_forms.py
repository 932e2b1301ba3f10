"""Output of counts: by the command, and as files."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.core.management import CommandError

from annotation.models import Continuation
from calibration.comparisons import count_files
from calibration.comparisons.count_files import RENDERINGS
from calibration.comparisons.count_files import write_text as as_text
from tests.calibration.counts.built import (
    KEYS,
    Made,
    cells,
    contract,
    planted,
    said,
)

pytestmark = pytest.mark.django_db


def test_the_command_prints_json_as_other_programs_rely_on_it(made: Made) -> None:
    made.mark("ann", planted, kind="human")
    arguments = (
        "--corpus",
        "coco",
        "--rater",
        "judge",
        "--by",
        "prompting,turns_per_call",
        "--strata",
        "source",
    )
    found = json.loads(said(*arguments, "--format", "json"))
    contract(found)
    assert found["strata"] == "source"
    assert [row["by"] for row in found["rows"]][1] == {"prompting": "vanilla", "turns_per_call": 1}
    assert [row["human"] for row in found["rows"]] == [True, False, False, False]
    assert list(found["rows"][0]["cells"]) == [*KEYS, "group:Inconsistent", "group:Uncollaborative", "any"]
    people, model = found["rows"][0]["cells"]["any"], found["rows"][2]["cells"]["any"]
    assert model["difference"]["value"] == pytest.approx(model["value"] - people["value"], abs=1e-12)
    assert found["rows"][0]["distance"] is None
    again = json.loads(said(*arguments, "--format", "json"))
    assert again == found


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["table", "csv", "md", "latex", "json", "svg"])
def test_the_command_prints_every_form(made: Made, form: str) -> None:
    written = said("--corpus", "coco", "--by", "prompting", "--format", form, "--resamples", "50")
    assert "vanilla" in written
    assert written.endswith(("\n", "</svg>"))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name either --corpus or --campaign"),
        (["--corpus", "x"], "no corpus 'x'; there are coco"),
        (["--corpus", "coco", "--rater", "x"], "no rater 'x'"),
        (["--corpus", "coco", "--output", "/nowhere/counts.csv"], "No such file or directory"),
        (["--corpus", "coco", "--part", "test"], "no split"),
    ],
)
def test_the_command_answers_a_mistake_in_one_line(made: Made, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        said(*arguments)
    assert "\n" not in str(refused.value)


@pytest.mark.exhaustive
def test_the_csv_holds_every_figure_unrounded_and_guards_hostile_names(made: Made) -> None:
    Continuation.objects.filter(key="v1").update(condition={"prompting": "=HYPERLINK(1)"})
    found = made.counts(by="prompting")
    lines = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(found))))  # type: ignore[arg-type]
    assert "'=HYPERLINK(1)" in {line["by:prompting"] for line in lines}
    row = next(row for row in found.table.rows if found.by[row.code] == ("taxonomy",))
    own = {line["column"]: line for line in lines if line["by:prompting"] == "taxonomy"}
    assert float(own["any"]["value"]) == cells(row)["any"].result.value
    assert float(own["any"]["p_holm"]) == cells(row)["any"].difference.p_holm
    assert float(own["distance:tv"]["value"]) == row.distance["tv"].value
    assert float(own["distance:tv"]["halves"]) == found.table.halves["tv"].value


@pytest.mark.exhaustive
def test_latex_and_markdown_print_hostile_names_as_text(made: Made) -> None:
    Continuation.objects.filter(key="v1").update(condition={"prompting": "\\input{x} & | <b>\n# head"})
    found = made.counts(by="prompting")
    latex, markdown = RENDERINGS["latex"].write(found), RENDERINGS["md"].write(found)
    assert isinstance(latex, str)
    assert isinstance(markdown, str)
    assert r"\textbackslash{}input\{x\} \& \textbar{} \textless{}b\textgreater{}" in latex
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows[:8]}) == 1
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3
    assert "\n# head" not in markdown
    assert r"\<b\>" in markdown
    assert "\x1b" not in as_text(found)


@pytest.mark.exhaustive
def test_the_chart_has_a_panel_a_row_and_people_as_a_line(made: Made) -> None:
    found = made.counts(by="prompting,turns_per_call")
    drawn = count_files.svg(found)
    assert drawn.startswith("<svg")
    for title in ("vanilla, turns_per_call 1", "taxonomy, turns_per_call 30"):
        assert title in " ".join(re.sub("<[^>]*>", " ", drawn).split())
        assert f"{title}: " in count_files.alt_text(found)
    assert "Line: people" in count_files.caption(found)
    assert "All panels share one axis" in count_files.caption(found)
    assert RENDERINGS["png"].write(found)[:4] == b"\x89PNG"


@pytest.mark.exhaustive
def test_panels_have_their_own_axes_where_one_is_three_times_another_s_and_the_chart_says_so() -> None:
    built = Made()
    built.mark(
        "judge",
        lambda item, key: float(
            item.turn.position < {"human": 2, "v1": 1, "t1": 4, "t30": 2}[item.continuation.key]
        ),
    )
    found = built.counts(by="prompting,turns_per_call")
    assert count_files.own_axes(found)
    assert "Each panel has an axis of its own" in count_files.svg(found)
    assert "Each panel has an axis of its own" in count_files.caption(found)
