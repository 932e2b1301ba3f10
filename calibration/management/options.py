"""Shared command options: naming a corpus, campaign, study or gold, and the output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from annotation.formats.corpus_format import manifest_path
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from calibration.errors import CalibrationError, ExportRefused
from calibration.exports.parts import PARTS, ExportPart, take
from calibration.exports.writing import FORMATS, ExportQuery, FileSummary, RowTable, write
from calibration.models import Gold, Study
from calibration.studies import study_actions as studies
from config.commands import refuse_unused
from judges.management.run_options import add_exclude

# Command options that name gold labels.


def find_gold(number: int) -> Gold:
    """Return a gold by its number. Raises CommandError if it does not exist."""
    related = ("corpus", "campaign", "scheme_version__scheme")
    gold = Gold.objects.select_related(*related).filter(pk=number).first()
    if gold is None:
        raise CommandError(f"there is no gold {number}")
    return gold


# Command options that name a corpus or campaign.


def add_place_arguments(parser: CommandParser) -> None:
    """Add --corpus and --campaign; exactly one is required."""
    parser.add_argument("--corpus", metavar="NAME", help="labels of a whole corpus")
    parser.add_argument("--campaign", metavar="NAME", help="labels of a campaign")


def find_place(corpus: str | None, campaign: str | None) -> tuple[Corpus, Campaign | None]:
    """Return the corpus, and the campaign if one is named. Raises CommandError that lists the names."""
    if bool(corpus) == bool(campaign):
        raise CommandError("name either --corpus or --campaign")
    if campaign:
        campaign_row = Campaign.objects.select_related("corpus").filter(name=campaign).first()
        if campaign_row is None:
            raise CommandError(
                f"no campaign {campaign!r}; {list_existing(Campaign.objects.values_list('name', flat=True))}"
            )
        return campaign_row.corpus, campaign_row
    corpus_row = Corpus.objects.filter(name=corpus).first()
    if corpus_row is None:
        raise CommandError(
            f"no corpus {corpus!r}; {list_existing(Corpus.objects.values_list('name', flat=True))}"
        )
    return corpus_row, None


def refuse_purpose(options: Mapping[str, Any], opening: Collection[str] = ("test",)) -> None:
    """Raise CommandError for a --purpose with a --part that does not open test."""
    if options["part"] not in opening:
        refuse_unused(options, ["purpose"], f"it says what --part {' or '.join(opening)} is opened for")


def list_existing(names: Iterable[str]) -> str:
    """Return a phrase that lists up to 20 existing names, for an error message."""
    first_names = sorted(names)[:20]
    return f"there are {', '.join(first_names)}" if first_names else "there are none yet"


# Command options that name a study.


def find_study(options: dict[str, Any]) -> Study:
    """Return the study named by a command, or the automatic study of a place. Raises CommandError."""
    if not options["name"]:
        corpus, campaign = find_place(options["corpus"], options["campaign"])
        everyone = bool(options.get("everyone"))
        return studies.automatic(corpus=corpus, campaign=campaign, everyone=everyone)
    study = Study.objects.select_related("corpus", "campaign__corpus").filter(name=options["name"]).first()
    if study is None:
        existing = list_existing(Study.objects.values_list("name", flat=True))
        raise CommandError(
            f"no study {options['name']!r}; {existing}. "
            "Every corpus and campaign has a report of its own: --corpus NAME or --campaign NAME"
        )
    return study


# Output of a command to the file of `--output`, or to standard output.


def write_output(command: BaseCommand, content: str | bytes, path: str | None) -> None:
    """Write to a file or standard output. Raises CommandError if that fails."""
    if path:
        try:
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
    elif isinstance(content, bytes):
        if sys.stdout.isatty():
            raise CommandError("a picture is not for the terminal: name a file with --output")
        sys.stdout.buffer.write(content)
    else:
        command.stdout.write(content, ending="")


# Shared by the export commands: write a query to a file or to standard output.


def add_export_arguments(parser: CommandParser, packages: Iterable[str] = ()) -> None:
    """Add --part and --purpose, --format and --output; `packages` are forms beside those of rows."""
    add_part_arguments(parser)
    parser.add_argument(
        "--format",
        choices=[*FORMATS, *packages],
        default="csv",
        help="csv (default), csv-excel (with the mark by which Excel knows UTF-8), xlsx, jsonl or parquet"
        + (f"; or a zip for another tool: {', '.join(packages)}" if packages else ""),
    )
    parser.add_argument(
        "--output", metavar="PATH", default="-", help="file to write; - is standard output (default)"
    )


def add_part_arguments(parser: CommandParser) -> None:
    """Add --part and --purpose."""
    parser.add_argument(
        "--part",
        choices=PARTS,
        default="",
        help="of a corpus that is split: dev (default), test or all; or training, left out else",
    )
    parser.add_argument(
        "--purpose", default="", metavar="TEXT", help="what test is taken out for: logged as a look at test"
    )
    add_exclude(parser)


def take_part(corpus: Corpus, about: Campaign | Gold | None, options: dict[str, Any]) -> ExportPart:
    """Return the part of a corpus named by the options. Raises CommandError for test without a purpose."""
    refuse_purpose(options, ("test", "all"))
    try:
        part_options = {name: options[name] for name in ("part", "purpose", "exclude")}
        return take(corpus=corpus, about=about, **part_options, by=None)
    except CalibrationError as refused:
        raise CommandError(str(refused)) from refused


def export_query(
    command: BaseCommand, rows: ExportQuery | RowTable, options: dict[str, Any], facts: dict[str, Any]
) -> None:
    """Write the rows and a one-line JSON summary, on standard error if the rows go to standard output.

    A file also gets a manifest with the same line, against which an import checks the file.
    """
    form = options["format"]
    export_file(command, lambda file: write(rows, form, file), form, options["output"], facts)


def export_file(
    command: BaseCommand,
    write_into: Callable[[IO[bytes]], FileSummary],
    form: str,
    path: str,
    facts: dict[str, Any],
) -> None:
    """Write a file and a summary of the export; `facts` may be filled during the writing."""
    try:
        if path == "-":
            result = write_into(sys.stdout.buffer)
            sys.stdout.flush()
        else:
            result = _write_whole(Path(path), write_into)
        manifest = {"rows": result.rows, "format": form, "sha256": result.sha256, **facts}
        line = json.dumps(manifest, ensure_ascii=False)
        if path != "-":
            manifest_path(path).write_text(line + "\n")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except ExportRefused as refused:
        raise CommandError(str(refused)) from refused
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        raise CommandError(f"the export broke off, the database went away: {reason}") from error
    (command.stderr if path == "-" else command.stdout).write(line)


def _write_whole(path: Path, write_into: Callable[[IO[bytes]], FileSummary]) -> FileSummary:
    """Write a file under a temporary name first, so that an interrupted export never looks complete."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            result = write_into(file)
    except CalibrationError:
        part.unlink(missing_ok=True)
        raise
    manifest_path(path).unlink(missing_ok=True)  # an old manifest must not stay with the new file
    part.replace(path)
    return result
