"""A command's option acts, is refused, or explains its lack of effect; `agree` has its own file."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

REFUSED = {
    "a purpose without test, answers": (
        "answers --corpus c --purpose paper",
        "--purpose: it says what --part test is opened for",
    ),
    "counts": ("counts --corpus c --part dev --purpose paper", "--purpose: it says what --part test"),
    "cascade": ("cascade --corpus c --purpose paper", "--purpose: it says what --part test"),
    "a study": ("study s --purpose paper", "--purpose: it says what --part test"),
    "pairs": ("pairs --corpus c --purpose paper", "--purpose: it says what --part test"),
    "tuning": (
        "export_sft --corpus c --part dev --purpose paper",
        "--purpose: it says what --part test or",
    ),
    "a part of a file": ("pairs votes.csv --part dev", "--part: a file has no parts"),
    "a rule for stored gold": (
        "export_gold --gold 1 --rule mean",
        "--rule: gold that is stored is",
    ),
    "a corpus for stored gold": ("export_gold --gold 1 --corpus c", "--corpus: gold that is stored"),
    "a policy of ties for stored gold": ("export_gold --gold 1 --ties none", "--ties: gold that is stored"),
    "raters for stored gold": ("export_gold --gold 1 --raters ann", "--raters: gold that is stored"),
    "a form of what is verified": ("study s --verify --format csv", "--format: --verify writes no report"),
    "a file of what is verified": ("study s --verify --output x", "--output: --verify writes no report"),
    "rows of a paper's table": (
        "answers --corpus c --layout table3 --by script",
        "--by: the rows of table3 are those of the paper",
    ),
    "resamples of counts": ("answers --corpus c --layout table2 --resamples 9", "--resamples: table2 counts"),
    "scores of counts": ("answers --corpus c --layout table2 --lenient", "--lenient: table2 counts"),
    "a threshold of nothing": (
        "cascade --corpus c --threshold 0.5",
        "--threshold: it goes with --success turn_score",
    ),
    "draws of a model": ("run_agent --endpoint e --corpus c --draws 3", "--draws: a model draws nothing"),
    "a cap of a baseline": (
        "run_agent --agent random --corpus c --cap-calls 3",
        "--cap-calls: it is for a model",
    ),
    "a temperature of a baseline": (
        "run_agent --agent random --corpus c --temperature 0",
        "--temperature: it is for a model",
    ),
    "a cache of a baseline": (
        "run_agent --agent random --corpus c --no-cache",
        "--no-cache: it is for a model",
    ),
}


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("case", list(REFUSED))
def test_an_option_that_could_do_nothing_is_refused(case: str) -> None:
    line, message = REFUSED[case]
    with pytest.raises(CommandError) as refused:
        call_command(*line.split())
    assert str(refused.value).startswith(message)


TURNS = [{"speaker": "a", "text": "How are you?"}, {"speaker": "b", "text": "Well."}]
SCORED = {
    "--window 3": ("nse", "--window: no metric here has a local context"),
    "--no-history": ("dnr", "--no-history: no metric here sees the history as a choice"),
    "--against x": ("nse", "--against: no metric here compares with a reference"),
    "--fit-on {file}": ("nse", "--fit-on: no metric here learns from a corpus"),
    "--embedding-model m": ("nse", "--embedding-model: no metric here embeds texts"),
    "--own": ("nse", "--own: no dialogue here has turns of its own beside others"),
}


@pytest.mark.parametrize("option", list(SCORED))
def test_an_option_that_no_metric_reads_is_named(tmp_path: Path, option: str) -> None:
    metric, message = SCORED[option]
    file, notes = tmp_path / "d.jsonl", io.StringIO()
    file.write_text(json.dumps({"id": "d1", "turns": TURNS}) + "\n")
    line = ["score", str(file), "--metrics", metric, "--output", str(tmp_path / "out.jsonl")]
    call_command(*line, stdout=io.StringIO(), stderr=notes)
    assert "--" not in notes.getvalue()
    call_command(*line, *option.format(file=file).split(), stdout=io.StringIO(), stderr=notes)
    assert message in notes.getvalue()
