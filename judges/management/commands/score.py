"""Compute metrics from a file, without a database."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from tqdm import tqdm

from annotation.records import Dialogue
from judges.metrics import (
    DEFAULT_MODEL,
    METRICS,
    Embedder,
    Instrument,
    MetricError,
    Tools,
    instrument_for,
    split_keys,
)
from judges.metrics.kit.metric import LEARN_FROM
from judges.runs.scoring import Averages, Line, count, expand, groups, lines, read

_HUB = [key for key, metric in METRICS.items() if "language_model" in metric.needs]
KEYS_HELP = (
    "metric keys, comma-separated, each with an optional variant and parameters "
    "(hmp@reference:epsilon=0.01), or a group: " + ", ".join(groups()) + ". Known: " + " ".join(METRICS)
)

EPILOG = (
    "For example: manage.py score dialogues.jsonl --metrics local,nse,hmp@paper --window 10 --output "
    "scores.jsonl. A value that is undefined is null and has a reason. Groups leave out metrics that need a "
    f"language model, which must be on this machine: {', '.join(_HUB)}. "
    "docs/metrics/index.md tells what each metric means, its variants and its parameters."
)


class Command(BaseCommand):
    help = (
        "Score the dialogues of a file or folder (native JSONL, or MPCEval's own input format) and write "
        "one JSON line a value: dialogue, continuation, system, turn, metric, variant, value, reason."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        parser.epilog = EPILOG
        add = parser.add_argument
        add("path", type=Path, help="a .jsonl or .json file, or a folder of them")
        add("--metrics", required=True, nargs="+", metavar="KEYS", help=KEYS_HELP)
        add("--output", required=True, type=Path, metavar="OUT.jsonl", help="where the values are written")
        add("--window", type=int, metavar="K", help="local context: the last K turns (default: all)")
        add("--no-history", action="store_true", help="global metrics see only what the system produced")
        add("--own", action="store_true", help="also score dialogues' own turns where there are others")
        add("--against", metavar="ID", help="continuation that comparisons take as the reference")
        add(
            "--fit-on",
            type=Path,
            metavar="PATH",
            help="corpus that fitted metrics learn from (default: PATH)",
        )
        add("--target", default="", metavar="FIELD", help="MPCEval field with the predicted conversation")
        add("--averages", action="store_true", help="add the means by continuation and by system")
        add(
            "--embedding-model",
            metavar="MODEL",
            help="a sentence-transformers model: a folder or a name "
            f"(default: {settings.EMBEDDING_MODEL or DEFAULT_MODEL})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Score everything; the output appears under its name when it is complete."""
        output: Path = options["output"]
        if not output.parent.is_dir():
            raise CommandError(f"{output}: there is no folder {output.parent}")
        if output.is_dir():
            raise CommandError(f"{output}: is a folder; --output names a file")
        part = output.with_name(output.name + ".part")
        try:
            with part.open("w", encoding="utf-8") as out:
                n_values = _run(options, out, self.stderr)
            os.replace(part, output)
        except MetricError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename or output}: {error.strerror or error}") from None
        finally:
            part.unlink(missing_ok=True)
        self.stdout.write(f"{n_values} values written to {output}")


def _run(options: dict[str, Any], out: TextIO, notes: OutputWrapper) -> int:
    """Write the values; return their number."""
    path, target = options["path"], options["target"]
    instruments = _read_instruments(options)
    tools = Tools(embed=Embedder(options["embedding_model"] or settings.EMBEDDING_MODEL or DEFAULT_MODEL))
    total = count(path)
    instruments = [_fit(instrument, options, tools) for instrument in instruments]
    _warn_unused(options, instruments, notes)
    averages = Averages() if options["averages"] else None
    n_values = 0
    with tqdm(total=total, unit="dialogue", desc="Scoring") as bar:
        mixed: list[str] = []
        dialogues = _note_mixed(read(path, target), mixed)
        for line in lines(dialogues, instruments, tools, own=options["own"], advance=bar.update):
            n_values += _put(line, out)
            if averages is not None:
                averages.add(line)
    if options["own"] and not mixed:
        notes.write("--own: no dialogue here has turns of its own beside others")
    return n_values + sum(_put(line, out) for line in (averages.lines() if averages else ()))


def _read_instruments(options: dict[str, Any]) -> list[Instrument]:
    """Return the instruments of `--metrics`, each once.

    Raises CommandError for two instruments whose lines in one file would be indistinguishable.
    """
    keys = expand(key for text in options["metrics"] for key in split_keys(text))
    by_name = {
        instrument.name: instrument
        for instrument in (instrument_for(key, _shared_parameters(options)) for key in keys)
    }
    if not by_name:
        raise CommandError("--metrics names no metric")
    seen: dict[tuple[str, str], str] = {}
    for name, instrument in by_name.items():
        other = seen.setdefault((instrument.metric.key, instrument.variant), name)
        if other != name:
            raise CommandError(
                f"{other} and {name} differ in parameters alone, which lines do not show: "
                "score them into two files"
            )
    return list(by_name.values())


def _note_mixed(dialogues: Iterable[Dialogue], mixed: list[str]) -> Iterator[Dialogue]:
    """Yield dialogues, and note the first with both original turns and continuations."""
    for dialogue in dialogues:
        if not mixed and dialogue.turns and dialogue.continuations:
            mixed.append(dialogue.id)
        yield dialogue


def _warn_unused(options: dict[str, Any], instruments: list[Instrument], notes: OutputWrapper) -> None:
    """Warn of each option that no metric uses."""
    parameters = {name for instrument in instruments for name in instrument.settings.values}
    unused = {
        "window": "window" not in parameters and "no metric here has a local context",
        "no_history": "history" not in parameters and "no metric here sees the history as a choice",
        "against": "against" not in parameters and "no metric here compares with a reference",
        "fit_on": not any(instrument.learns for instrument in instruments)
        and "no metric here learns from a corpus",
        "embedding_model": not any("embeddings" in instrument.metric.needs for instrument in instruments)
        and "no metric here embeds texts",
    }
    for name, reason in unused.items():
        if reason and options[name]:
            notes.write(f"--{name.replace('_', '-')}: {reason}")


def _put(line: Line, out: TextIO) -> int:
    out.write(json.dumps(line, ensure_ascii=False) + "\n")
    return 1


def _fit(instrument: Instrument, options: dict[str, Any], tools: Tools) -> Instrument:
    """Return the instrument, fitted on a corpus if its metric learns from one."""
    if not instrument.learns:
        return instrument
    if learn_from := instrument.settings.values.get(LEARN_FROM):
        raise CommandError(
            f"{LEARN_FROM}={learn_from} is for runs over a corpus: "
            "here --fit-on PATH says what is learned from"
        )
    path = options["fit_on"] or options["path"]
    corpus = read(path, options["target"])
    bar = tqdm(
        corpus, total=count(path), unit="dialogue", desc=f"Fitting {instrument.metric.key}", leave=False
    )
    return instrument.fit(bar, tools)


def _shared_parameters(options: dict[str, Any]) -> dict[str, str]:
    """Return the parameters that options set for every metric with such parameters."""
    shared = {"history": "0"} if options["no_history"] else {}
    if options["window"] is not None:
        if options["window"] < 1:
            raise CommandError(f"--window must be at least 1, not {options['window']}")
        shared["window"] = str(options["window"])
    if options["against"]:
        shared["against"] = options["against"]
    return shared
