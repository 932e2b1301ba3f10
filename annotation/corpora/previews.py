"""Preview of a file before its import: its columns, its first dialogues as stored, its problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.corpora.import_file import NOTHING, batches, import_path, read_apart, records_of
from annotation.corpora.import_names import Tidying
from annotation.corpora.rows import continuation_json, head_json, turn_json
from annotation.corpora.table_readings import (
    AT_ONCE,
    CPU_SECONDS,
    Outline,
    guessed_settings,
    lacks_scales,
    outline,
    with_scales_at_once,
)
from annotation.formats import FORMATS, Rating, SourceRecord
from annotation.formats.corpus_format import SKIP_BAD_ROWS, settings_of
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.mapping import read_mapping
from annotation.formats.source import Faults, ImportProblem, Source
from annotation.models.corpora import Corpus, Import
from annotation.records import HUMAN, SELF, Dialogue, LabelRecord

FIRST_ROWS = 5_000
"""Rows, or lines, of a file that a preview reads."""
MOST_DIALOGUES, MOST_RATINGS, MOST_SPEAKERS, MOST_RATERS = 10, 50, 300, 50
"""First dialogues and ratings of a preview, and speakers and raters that it names."""
LATER = "The scales without values are guessed from all rows by the import: there are many rows."
MOST_EARLIER = 200
"""Newest imports that are searched for the columns of a file."""


@dataclass(slots=True)
class Preview:
    """First records of a file as they will be stored, with counts and problems.

    Counts are those of the part that was read: of the whole file where it `is_complete`. `speakers` say
    whether some of their turns are rated, `raters` their kind; the kind of the `open_raters` is not declared
    in the file.
    `n_left_out` rows are left out, because they do not fit.
    """

    dialogues: list[Dialogue] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    n_dialogues: int = 0
    n_turns: int = 0
    n_labels: int = 0
    n_ratings: int = 0
    speakers: dict[str, bool] = field(default_factory=dict)
    raters: dict[str, str] = field(default_factory=dict)
    open_raters: tuple[str, ...] = ()
    problems: list[ImportProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_problems: int = 0
    n_left_out: int = 0
    is_complete: bool = True

    def add(self, record: Dialogue | Rating) -> None:
        """Count a record, and keep it where it is among the first."""
        if isinstance(record, Rating):
            self.n_ratings += 1
            self._add_label(record.label)
            if len(self.ratings) < MOST_RATINGS:
                self.ratings.append(record)
            return
        self.n_dialogues += 1
        for part in record.all_continuations():
            self.n_turns += len(part.turns)
            for turn in part.turns:
                if turn.speaker in self.speakers or len(self.speakers) < MOST_SPEAKERS:
                    self.speakers[turn.speaker] = self.speakers.get(turn.speaker, False) or not turn.given
        for label in record.labels:
            self._add_label(label)
        if len(self.dialogues) < MOST_DIALOGUES:
            self.dialogues.append(record)

    @property
    def has_all_speakers(self) -> bool:
        """Whether all speakers of the part that was read are named."""
        return len(self.speakers) < MOST_SPEAKERS

    @property
    def is_empty(self) -> bool:
        """Whether the file was read to its end, without problems and without records."""
        return self.is_complete and not (self.n_dialogues or self.n_ratings or self.n_problems)

    def _add_label(self, label: LabelRecord) -> None:
        self.n_labels += 1
        if len(self.raters) < MOST_RATERS:
            self.raters.setdefault(label.rater, label.kind or HUMAN)


def preview(source: Source, *, format: str) -> Preview:
    """Read the beginning of a file as its import would; problems are part of the result."""
    result = Preview()
    faults = source.faults = Faults()
    tidying = Tidying(source, Corpus(), into=False)
    produce = _records(source, format)
    try:
        with AT_ONCE, closing(read_apart(produce, source, seconds=CPU_SECONDS)) as reading:
            for batch in reading:
                for entry in tidying.tidy(batch, faults):
                    result.add(entry.record)
        tidying.check(Import(), faults, dialogues=False)
        faults.refuse()
    except ImportProblem as problem:
        result.problems = problem.all() if problem in faults.problems else [problem, *faults.problems]
        for part in result.problems:
            source.locate(part)
        result.n_problems = max(faults.total, len(result.problems))
    result.is_complete = not source.is_cut
    result.open_raters = tuple(rater for rater in result.raters if rater in {*tidying.unsaid, *tidying.kinds})
    result.notes = [*source.all_notes(), *tidying.notes()]
    return result


def _records(source: Source, format: str) -> Any:
    def produce() -> Iterator[list[SourceRecord]]:
        return batches(records_of(FORMATS[format], source))

    return produce


# Mappings of earlier imports.


def earlier_import(columns: Iterable[str]) -> Import | None:
    """Return the newest import of a table with the same columns, which remembers their roles."""
    names = set(columns)
    for imported in Import.objects.exclude(mapping={}).order_by("-pk")[:MOST_EARLIER]:
        if set(imported.options.get("columns", ())) == names:
            return imported
    return None


# How a file is read, and its preview: from what its user chose, an earlier import, or a guess.


@dataclass(slots=True)
class PreparedImport:
    """A file with the format, mapping and settings that its import would use, and their preview.

    `earlier` is an import of the same columns; `reading` the key of the reading that the mapping is, empty
    where it is none; `missing` what the mapping still lacks.
    """

    outline: Outline
    mapping: ColumnMapping = field(default_factory=ColumnMapping)
    settings: dict[str, Any] = field(default_factory=dict)
    preview: Preview = field(default_factory=Preview)
    earlier: Import | None = None
    uses_earlier: bool = False
    reading: str = ""
    missing: tuple[str, ...] = ()


def prepare(
    path: Path,
    *,
    name: str,
    format: str,
    mapping: Mapping[str, Any],
    settings: Mapping[str, Any],
    corpus: str,
    into: bool,
    by: User,
    remembers: bool = True,
) -> PreparedImport:
    """Choose how a file is read, where its user has not, and preview it. An empty format is guessed.

    Without a mapping, that of an earlier import of the same columns is used, if this `remembers`; else the
    guess. Problems of the file are part of the preview.
    """
    prepared = PreparedImport(Outline(format), settings=dict(settings))
    has_scales = True
    try:
        prepared.outline = outline(Source(path, name=name, settings=settings), format=format)
        if prepared.outline.profile:
            if not prepared.outline.profile.n_rows:
                raise ImportProblem(NOTHING)
            _choose_mapping(prepared, mapping, remembers)
            has_scales = _complete_scales(prepared, Source(path, name=name, settings=settings))
        if not prepared.missing:
            prepared.preview = _preview_of(prepared, path, name)
            if prepared.preview.is_empty:
                raise ImportProblem(NOTHING)
            if prepared.preview.dialogues or into:
                _try_import(prepared, path, name=name, corpus=corpus, into=into, by=by)
    except ImportProblem as problem:
        prepared.preview.problems, prepared.preview.n_problems = problem.all(), problem.total
    if not has_scales:
        prepared.preview.notes.append(LATER)
    return prepared


def _try_import(prepared: PreparedImport, path: Path, **options: Any) -> None:
    """Find all problems of the import, and count what it would add, by a trial that is undone."""
    preview = prepared.preview
    result = import_path(
        path=path,
        format=prepared.outline.format,
        mapping=prepared.mapping.entries(),
        settings=prepared.settings,
        first_rows=FIRST_ROWS,
        **options,
    )
    preview.problems, preview.n_problems, preview.n_left_out = [], 0, result.left_out
    if result.left_out:
        preview.n_dialogues, preview.n_turns = result.dialogues, result.turns
        preview.n_labels, preview.n_ratings = result.labels, min(preview.n_ratings, result.labels)
    preview.notes = result.notes or preview.notes


def _choose_mapping(prepared: PreparedImport, mapping: Mapping[str, Any], remembers: bool) -> None:
    profile = prepared.outline.profile
    assert profile is not None
    names = [column.name for column in profile.columns]
    prepared.earlier = earlier_import(names)
    guesses = {reading.key: reading for reading in profile.readings}
    if mapping:
        prepared.mapping = read_mapping(mapping, names, allow_repeats=True)
        read_mapping(mapping, names)
    elif prepared.earlier and remembers:
        prepared.mapping = read_mapping(prepared.earlier.mapping, names)
        settings = {
            key: value for key, value in prepared.earlier.file_settings.items() if key != SKIP_BAD_ROWS
        }
        prepared.settings = settings | prepared.settings
    elif guesses:
        prepared.mapping = next(iter(guesses.values())).mapping
        prepared.settings = guessed_settings(profile, prepared.mapping) | prepared.settings
    entries = prepared.mapping.entries()
    prepared.uses_earlier = bool(prepared.earlier and prepared.earlier.mapping == entries)
    for key, reading in guesses.items():
        if reading.mapping.entries() == entries:
            prepared.reading, prepared.missing = key, reading.missing
            break
    if not entries:
        prepared.missing = prepared.missing or ("a column with texts or answers",)


def _complete_scales(prepared: PreparedImport, source: Source) -> bool:
    """Guess the scales that the mapping does not name as its import will; False where that takes long."""
    profile, mapping = prepared.outline.profile, prepared.mapping
    assert profile is not None
    if not mapping.columns:
        return True
    if prepared.reading:
        return not lacks_scales(profile, mapping)
    entries = with_scales_at_once(source, mapping.entries())
    if entries is not None:
        prepared.mapping = read_mapping(entries, [column.name for column in mapping.columns])
    return entries is not None


def _preview_of(prepared: PreparedImport, path: Path, name: str) -> Preview:
    format = FORMATS[prepared.outline.format]
    source = Source(
        path,
        name=name,
        mapping=prepared.mapping.entries(),
        settings=settings_of(prepared.settings, format.key, format.settings),
        first_rows=FIRST_ROWS,
    )
    return preview(source, format=format.key)


# As JSON, in the native format.


def dialogue_json(dialogue: Dialogue) -> dict[str, Any]:
    """Return a dialogue in the native format."""
    return {
        **head_json(dialogue),
        "turns": [turn_json(turn) for turn in dialogue.turns],
        "continuations": [
            {**continuation_json(part), "turns": [turn_json(turn) for turn in part.turns]}
            for part in dialogue.continuations
        ],
        "labels": [label_json(label) for label in dialogue.labels],
    }


def label_json(label: LabelRecord) -> dict[str, Any]:
    """Return a label as in the native format, without default values."""
    payload: dict[str, Any] = {"rater": label.rater, "kind": label.kind or HUMAN}
    if label.continuation != SELF:
        payload["continuation"] = label.continuation
    if label.turn is not None:
        payload["turn"] = label.turn
    payload |= {"question": label.question, "value": label.value}
    more = {
        "missing": label.missing,
        "sample": label.sample,
        "explanation": label.explanation,
        "scheme": label.scheme,
        "occasion": label.occasion,
        "level": label.level,
        "values": list(label.values),
        "evidence": [asdict(passage) for passage in label.evidence],
        "order": list(label.shown),
    }
    payload |= {name: value for name, value in more.items() if value}
    return payload if label.identified else {**payload, "identified": False}


def rating_json(rating: Rating) -> dict[str, Any]:
    """Return a label of a corpus's dialogue, with the dialogue and the turn's number where it has one."""
    number = {} if rating.turn_number is None else {"turn_number": rating.turn_number}
    return {"dialogue": rating.dialogue, **number, **label_json(rating.label)}
