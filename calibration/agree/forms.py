"""Labels of dialogues as answers for `agree`: of every form that an import recognises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from annotation.formats import FORMATS
from annotation.formats.corpus_format import JUDGES, Format, Head, Rating, SourceRecord, guess, read_start
from annotation.formats.label_rows import COLUMNS, as_text, label_rows
from annotation.formats.mapping import Column, Scale
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_file import TableFile
from annotation.records import LabelRecord
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import RANKING
from annotation.text.table_cells import NOBODY
from calibration.agree.readings import AnswerTable, Numbered, RatingsFileError, Reading
from calibration.reports.wording import counted

READ_AS_TABLES = frozenset({"table", "turns-csv", "ratings-csv"})
"""Formats whose columns are read here by the same rules as those of other tables."""
PAIR = 2
MOST = 20
"""Maximum number of raters that a description names."""
ROLES = ColumnMapping(tuple(Column(name, name) for name in COLUMNS))


@dataclass
class FormAnswers(AnswerTable):
    """The labels of a file in a known form, as the rows of a table with the columns of long ratings."""

    format: Format = field(kw_only=True)
    reading: Reading = field(kw_only=True)
    clusters: dict[str, str] = field(default_factory=dict)
    scales: dict[tuple[str, str], Scale] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    n_labels: int = 0

    def records(self) -> Iterator[SourceRecord]:
        """Yield the records of the file."""
        settings = dict(self.reading.settings)
        if self.reading.judges is not None and JUDGES in self.format.settings:
            settings[JUDGES] = ", ".join(sorted(self.reading.judges)) or NOBODY
        self.source = Source(self.path, settings=settings)
        try:
            yield from self.format.read(self.source)
        except ImportProblem as problem:
            raise RatingsFileError(self.path, problem.reason, problem.line, problem.field or None) from None

    def survey(self) -> None:
        """Count dialogues and labels, and learn clusters and scales; refuse a file without labels."""
        dialogues, self.scales = set(), _scales_of(self.format)
        for entry in self.records():
            record = entry.record
            if isinstance(record, Rating):
                dialogues.add(record.dialogue)
                self._learn(record.label, record.level or record.label.level, record.values)
                continue
            dialogues.add(record.id)
            if record.cluster:
                self.clusters[record.id] = record.cluster
            for label in record.labels:
                self._learn(label, label.level)
        size = counted(len(dialogues), "dialogue")
        if not self.n_labels:
            raise RatingsFileError(
                self.path,
                f"holds {size} and no labels (read as {self.format.key}: {self.format.title})",
            )
        self.sentence = (
            f"{self.format.title} ({self.format.key}), {counted(self.n_labels, 'label')} of {size}"
        )

    def _learn(self, label: LabelRecord, level: str, values: Sequence[float | str] = ()) -> None:
        self.n_labels += 1
        if label.value is not None and len(label.members) <= PAIR:
            self.answered.add(label.question)
        if level:
            scale = Scale(level, tuple(map(as_text, label.values or values)))
            self.scales.setdefault((label.scheme, label.question), scale)

    def cluster(self, reading: Reading) -> str | None:
        """Return the column of the clusters: the dialogues where they have none."""
        if reading.no_cluster:
            return None
        return reading.cluster or ("cluster" if self.clusters else "dialogue")

    def unread(self, further: Iterable[str]) -> list[str]:
        """Return no columns: what a form holds beside labels is not listed."""
        return []

    def rows(self, further: Iterable[str] = ()) -> Iterator[Numbered]:
        """Yield the labels, one a row; rankings of three or more are left out, with a note."""
        names, reading = list(further), self.reading
        n_rankings, unanswered = 0, dict[str, None]()
        for line, row in label_rows(self.records(), self.clusters, self.scales):
            if row["level"] == RANKING or row["item"].count("/+/") > 1:
                n_rankings += 1
                continue
            if row["question"] not in self.answered:
                unanswered[row["question"]] = None
                continue
            row |= {f"\0{name}": row.get(name, "") for name in names}
            if reading.cluster:
                row["cluster"] = row.get(reading.cluster, "")
            if reading.item:
                row["item"] = row.get(reading.item, "")
            yield line, row
        if n_rankings:
            self.source.notes.append(f"Rankings of three or more are left out: {n_rankings:,} answers.")
        if unanswered:
            self.source.notes.append(f"Nobody answered: {', '.join(unanswered)}.")


def open_forms(paths: Sequence[Path], reading: Reading) -> list[FormAnswers]:
    """Open files in a form that has labels; [] where they are tables, or are to be read as tables.

    A folder is opened as one where its form reads folders, else file by file. Raises RatingsFileError for a
    form without labels.
    """
    if reading.mapping:
        return []
    if any(path.is_dir() for path in paths) and not _is_folder_form(paths, reading):
        paths = _files_of(paths)
    formats = [_format_of(path, reading) for path in paths]
    first = formats[0]
    if first is None:
        return []
    for path, format in zip(paths, formats, strict=True):
        if format is not first:
            raise RatingsFileError(path, f"is not in the form of {paths[0].name}, {first.key}")
    return [_opened(path, first, reading) for path in paths]


def _is_folder_form(paths: Sequence[Path], reading: Reading) -> bool:
    format = _format_of(paths[0], reading)
    return format is not None and format.folder


def _files_of(paths: Sequence[Path]) -> list[Path]:
    try:
        return [file for path in paths for file in Source(path).files()]
    except ImportProblem as problem:
        raise RatingsFileError(paths[0], problem.reason) from None


def _format_of(path: Path, reading: Reading) -> Format | None:
    """Return the form of a file; None where its columns are read, also because options name them."""
    try:
        head = read_start(path)
        format = FORMATS[guess(FORMATS, head)]
    except (ImportProblem, OSError):
        return None
    if format.key in READ_AS_TABLES or _names_columns(path, head, reading):
        return None
    return format


def _names_columns(path: Path, head: Head, reading: Reading) -> bool:
    """Whether options name columns of the file itself; raises RatingsFileError for those of nothing."""
    if reading.raters and {*reading.raters} <= head.paths:
        return True
    options = (("cluster", reading.cluster), ("by", reading.by), ("item", reading.item))
    for option, name in options:
        if name and name not in COLUMNS:
            if name in head.paths:
                return True
            raise RatingsFileError(
                path, f"--{option}: no column {name!r}; the labels have {', '.join(COLUMNS)}"
            )
    return False


def _opened(path: Path, format: Format, reading: Reading) -> FormAnswers:
    table = TableFile("labels", COLUMNS, lambda: iter(()))
    answers = FormAnswers(path, Source(path), table, ROLES, "", format=format, reading=reading)
    answers.survey()
    return answers


def _scales_of(format: Format) -> dict[tuple[str, str], Scale]:
    """Return the scales of the questions in a form's built-in schemes, by scheme (or none) and key."""
    scales = {}
    for key in format.schemes:
        for question in SCHEMES[key].questions:
            scale = Scale(question.level, tuple(map(as_text, question.values)))
            scales[key, question.key] = scale
            scales.setdefault(("", question.key), scale)
    return scales


def describe_form(answers: FormAnswers) -> str:
    """Return what a file holds: its form, raters, and labels of each question."""
    raters: dict[str, str] = {}
    questions: Counter[str] = Counter()
    for _, row in answers.rows():
        raters.setdefault(row["rater"], row["kind"])
        questions[row["question"]] += 1
    names = ", ".join(f"{name} ({kind})" if kind else name for name, kind in islice(raters.items(), MOST))
    more = f" and {len(raters) - MOST} more" if len(raters) > MOST else ""
    lines = [
        f"Read as: {answers.sentence}.",
        f"Raters: {names}{more}.",
        *(f"Question {name}: {counted(count, 'label')}." for name, count in questions.items()),
    ]
    return "\n".join([answers.path.name, "=" * len(answers.path.name), "", *lines, ""])
