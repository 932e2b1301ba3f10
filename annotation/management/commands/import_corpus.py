"""Import a file into a corpus."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from annotation.corpora.import_file import Progress, import_path
from annotation.corpora.import_staging import ImportResult
from annotation.corpora.table_readings import UncertainReading, choose_reading
from annotation.formats import FORMATS, corpus_format
from annotation.formats.corpus_format import SETTINGS, guess, read_start
from annotation.formats.folders import name_together, one_path
from annotation.formats.mapping import entries_of_options
from annotation.formats.profile import profile_lines
from annotation.formats.source import ImportProblem, Source
from config.commands import DatabaseCommand

METAVARS = {"name": "NAME", "names": "NAMES", "count": "N"}


class Command(DatabaseCommand):
    """`manage.py import_corpus PATH --format F --name N`"""

    help = (
        "Import dialogues, continuations and labels from a file: as a new corpus with --name, or into an "
        "existing one with --into. All of the file is kept or nothing; the same content again changes "
        "nothing. The last line of output is one JSON object with the counts. Formats: "
        + "; ".join(f"{key} ({format.title})" for key, format in FORMATS.items())
        + "."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        folders = ", ".join(key for key, format in FORMATS.items() if format.folder)
        parser.add_argument(
            "paths",
            nargs="+",
            metavar="PATH",
            help=f"the file; or several, a folder or a zip of them ({folders})",
        )
        parser.add_argument(
            "--format", choices=list(FORMATS), help="the file's format (default: found from its content)"
        )
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="ROLE=COLUMN",
            help="what a column is, like dialogue=conv_id, text=utterance or label:Helpful=ann1,ann2 "
            "(repeatable)",
        )
        parser.add_argument("--map-file", type=Path, help="the same as a YAML file")
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--name", help="the name of the new corpus")
        target.add_argument("--into", help="the existing corpus to add to")
        parser.add_argument(
            "--scheme",
            help="schemes whose questions the labels answer, comma-separated; "
            "`own` for questions of the corpus's own",
        )
        parser.add_argument(
            "--sha256",
            help="what the file must hold, refused otherwise (default: as the manifest beside it, "
            f"PATH{corpus_format.SUFFIX}, says, where there is one)",
        )
        for setting in SETTINGS.values():
            parser.add_argument(
                f"--{setting.key.replace('_', '-')}",
                default="",
                nargs="?" if setting.choices[:1] == ("yes",) else None,
                const="yes" if setting.choices[:1] == ("yes",) else None,
                metavar="|".join(setting.choices) or METAVARS[setting.kind],
                help=_as_help(setting.help),
            )
        parser.add_argument("--source", default="", help="where the data is from")
        parser.add_argument("--licence", default="", help="under which licence it is")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import and print the counts."""
        with _bar(show=sys.stderr.isatty()) as progress:
            try:
                with one_path([Path(path) for path in options["paths"]]) as path:
                    result = self._import(path, progress, options)
            except ImportProblem as problem:
                raise CommandError(problem.lines()) from None
        for note in result.notes:
            self.stdout.write(note)
        if result.left_out:
            self.stdout.write(f"They are in {result.left_out_file}.")
        if result.unchanged:
            self.stdout.write(f"{result.unchanged} labels were there already")
        self.stdout.write(json.dumps(result.as_dict(), ensure_ascii=False))

    def _import(self, path: Path, progress: Progress, options: dict[str, Any]) -> ImportResult:
        paths = options["paths"]
        format, mapping, settings = self._reading(path, options)
        return import_path(
            path=path,
            name=name_together([Path(name).name for name in paths]),
            format=format,
            corpus=options["into"] or options["name"],
            into=bool(options["into"]),
            by=None,
            scheme=options["scheme"],
            source=options["source"],
            licence=options["licence"],
            sha256=options["sha256"] or ("" if paths[1:] else corpus_format.read_manifest_hash(paths[0])),
            mapping=mapping,
            left_out=left_out_place(paths[0]),
            settings=settings,
            progress=progress,
        )

    def _reading(self, path: Path, options: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return format, mapping and settings: as named, else as guessed where that is certain."""
        settings = {key: options[key] for key in SETTINGS}
        mapping = entries_of_options(options["map"], options["map_file"])
        source = Source(path, name=Path(options["paths"][0]).name, settings=settings)
        format = options["format"] or guess(FORMATS, read_start(path))
        if not options["format"]:
            self.stdout.write(f"format: {format} ({FORMATS[format].title}), found from the content")
        try:
            reading = choose_reading(source, format=format, mapping=mapping)
        except UncertainReading as uncertain:
            target = "--into" if options["into"] else "--name"
            command = f"manage.py import_corpus {shlex.join(options['paths'])} {target} "
            command += shlex.quote(options["into"] or options["name"])
            for line in profile_lines(uncertain.profile, command):
                self.stdout.write(line)
            raise CommandError("say what the columns are: run the line above, corrected") from None
        for line in reading.notes:
            self.stdout.write(line)
        return format, reading.mapping, reading.settings


def left_out_place(path: str) -> Path:
    """Return where the rows of a file that do not fit are written: beside it, without the suffix."""
    place = Path(path)
    return place.with_name(f"{place.name.partition('.')[0] or place.name}.left-out")


class _bar:
    """A progress bar on standard error, or nothing."""

    def __init__(self, *, show: bool) -> None:
        self.bar = tqdm(unit="B", unit_scale=True, disable=not show, leave=False)

    def __enter__(self) -> Progress:
        return self.update

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def update(self, done: int, total: int, _: ImportResult) -> None:
        """Move the bar to the current position of the import."""
        self.bar.total = total
        self.bar.update(done - self.bar.n)


def _as_help(sentence: str) -> str:
    """Return a sentence in the style of help texts; an abbreviation at its beginning keeps its capitals."""
    begins_small = sentence[1:2].islower() or sentence[1:2] == " "
    return (sentence[0].lower() + sentence[1:] if begins_small else sentence).rstrip(".")
