"""Label export: labels per second as CSV, JSONL and Parquet, including the hash of the output.

100,000 labels of ten raters on the turns of 1,000 dialogues, in a PostgreSQL on the same machine. For
comparison: a plain COPY of the label table's own columns, and the time of the report of those labels. With
`--rollouts` the turns belong to a continuation of a history of twenty turns.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import _home

TURNS = 10
RATERS = 10
HISTORY = 20
GOAL = 100_000


class Counted(io.RawIOBase):
    """Output file that counts its bytes and discards them."""

    size = 0

    def write(self, block: Any) -> int:
        """Count the bytes of a block."""
        self.size += len(block)
        return len(block)


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks export", description=__doc__)
    parser.add_argument("--labels", type=int, default=100_000, help="labels to export (100,000)")
    parser.add_argument(
        "--repeats", type=int, default=3, help="times each format is written; the best counts (3)"
    )
    parser.add_argument("--rollouts", action="store_true", help="rate continuations that have a history")
    options = parser.parse_args(list(argv))
    with _home.home() as folder:
        labels = _filled(folder, options.labels, rollouts=options.rollouts)
        rates = {form: _rate(form, labels, options.repeats) for form in ("csv", "jsonl", "parquet")}
        bare = labels / _best(_bare_copy, options.repeats)
        report = _best(_report, 1)
    return {
        "labels": labels,
        "labels_per_second": {form: round(rate) for form, (rate, _) in rates.items()},
        "megabytes": {form: round(size / 1e6, 1) for form, (_, size) in rates.items()},
        "bare_copy_labels_per_second": round(bare),
        "report_seconds": round(report, 2),
        "headline": {
            "name": "labels a second, CSV",
            "value": round(rates["csv"][0]),
            "goal": GOAL,
            "better": "higher",
        },
    }


def _filled(folder: Path, labels: int, *, rollouts: bool = False) -> int:
    """Import a corpus with `labels` labels; return their number."""
    from annotation.corpora.import_file import import_path
    from annotation.models import Label

    path = folder / "labels.jsonl"
    dialogues = max(1, labels // (TURNS * RATERS))
    with path.open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in _dialogues(dialogues, rollouts))
    import_path(path=path, format="jsonl", corpus="export", into=False, by=None)
    return Label.objects.count()


def _dialogues(count: int, rollouts: bool) -> Iterator[dict[str, Any]]:
    for number in range(count):
        turns = [
            {"speaker": "AB"[turn % 2], "text": f"turn {turn} of dialogue {number}"} for turn in range(TURNS)
        ]
        labels = [
            {
                "rater": f"rater {rater}",
                "kind": "human",
                "turn": turn,
                "question": "overall",
                "scheme": "comperdial_turn",
                "value": 1 + (number * 7 + turn * 3 + rater % 3) % 5,
            }
            for turn in range(TURNS)
            for rater in range(RATERS)
        ]
        line: dict[str, Any] = {"id": f"dialogue {number}", "turns": turns, "labels": labels}
        if rollouts:
            line |= {"turns": turns[:1] * HISTORY, "continuations": [{"system": "model", "turns": turns}]}
            for label in labels:
                label["continuation"] = "model"
        yield line


def _rate(form: str, labels: int, repeats: int) -> tuple[float, int]:
    """Return labels per second and bytes of a format."""
    from annotation.models import Corpus
    from calibration.exports.labels import labels as query
    from calibration.exports.writing import write
    from calibration.ratings.scope import of_corpus

    files: list[Counted] = []

    def once() -> None:
        files.append(Counted())
        write(query(of_corpus(Corpus.objects.get())), form, files[-1])  # type: ignore[arg-type]

    return labels / _best(once, repeats), files[-1].size


def _bare_copy() -> None:
    from django.db import connection

    with (
        connection.cursor() as cursor,
        cursor.cursor.copy("COPY annotation_label TO STDOUT (FORMAT csv)") as copy,
    ):
        for _ in copy:
            pass


def _report() -> None:
    from annotation.models import Corpus
    from calibration.studies import study_actions as studies

    study = studies.automatic(corpus=Corpus.objects.get())
    studies.compute(study=study, part="all", by=None)


def _best(act: Callable[[], None], repeats: int) -> float:
    """Return the shortest of several runs, in seconds."""
    seconds = []
    for _ in range(max(1, repeats)):
        began = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
