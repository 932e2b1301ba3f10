"""Pages of an import: choose a file, correct how it is read beside a preview, and watch the import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access
from annotation.corpora import previews, uploads
from annotation.corpora.import_file import NAME
from annotation.corpora.import_names import OWN
from annotation.corpora.previews import FIRST_ROWS, PreparedImport, Preview
from annotation.corpora.table_readings import outline
from annotation.formats import FORMATS, Rating, corpus_format
from annotation.formats.corpus_format import (
    ANY_ROLES,
    COMMON,
    JUDGES,
    RATED,
    SETTINGS,
    SHEET,
    SKIP_BAD_ROWS,
    Setting,
    settings_of,
)
from annotation.formats.mapping import Entries, entries_of_yaml, yaml_of_entries
from annotation.formats.source import ImportProblem, Source
from annotation.models.corpora import Corpus, Upload
from annotation.pages.import_columns import EMPTIES, column_rows, posted_entries, role_choices, shortened
from annotation.records import SELF, Dialogue, LabelRecord
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import LEVELS
from annotation.text.display import language_tag, many
from annotation.text.table_cells import NOBODY, judges_of, list_names, looks_like_a_model
from config.files import file_response, row_id
from config.permissions import researcher_only, user_of
from jobs.errors import JobError

MOST_TURNS, MOST_CHARACTERS, MOST_ITEMS = 60, 600, 12
"""Turns of a dialogue in a preview, characters of a turn, and items of a file without dialogues."""
COLOURS = 6
MOST_DOUBTS = 8
"""Doubts about a guessed reading that are listed."""

# Choose a file.


class SeveralFiles(forms.FileInput):
    """A file input that accepts several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A field that cleans to a list of at least one file."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return the uploaded files; each must be present and not empty."""
        clean = super().clean
        sent = data if isinstance(data, list) else [data]
        return [clean(file, initial) for file in sent or [None]]


class FileForm(forms.Form):
    """A file to import, or the files of a data set."""

    file = FilesField(
        help_text="A file for each rater, or a data set of several: choose all together, or a zip."
    )

    def clean(self) -> dict[str, Any]:
        """Check size and names of the files."""
        cleaned = super().clean() or {}
        files = cleaned.get("file")
        if files and uploads.size(files) > settings.UPLOAD_LIMIT_BYTES:
            self.add_error("file", f"Larger than {settings.UPLOAD_LIMIT_BYTES >> 20} MiB.")
        elif files:
            try:
                uploads.check_names(files)
            except ImportProblem as problem:
                self.add_error("file", problem.reason)
        return cleaned


@csrf_exempt
@researcher_only
def import_corpus(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a file, which is stored until it is imported.

    The size is checked before any of the body is read, so before the form's token, which is in the body.
    """
    if uploads.is_too_large(request.META.get("CONTENT_LENGTH") or "0"):
        form = FileForm()
        form.errors["file"] = form.error_class([f"Larger than {settings.UPLOAD_LIMIT_BYTES >> 20} MiB."])
        return _file_page(request, form, status=413)
    return _receive(request)


@csrf_protect
def _receive(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _file_page(request, FileForm())
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _file_page(request, form, status=422)
    user = user_of(request)
    try:
        upload_row = uploads.keep(by=user, files=form.cleaned_data["file"], **_options(request))
    except ImportProblem as problem:
        form.add_error("file", f"The file {problem.reason}.")
        return _file_page(request, form, status=422)
    if (faulty := _faulty_upload(request)) is not None and faulty.state == "waiting":
        uploads.cancel(upload=faulty, by=user)
    return redirect("upload", upload_row.pk)


def _faulty_upload(request: HttpRequest) -> Upload | None:
    """Return the upload `like`, of which a corrected file is sent."""
    like = row_id(request.GET.get("like", ""))
    return None if like is None else access.upload(user_of(request), like)


def _options(request: HttpRequest) -> dict[str, Any]:
    """Return the options of the upload `like`, for its corrected file, or of the corpus `into`."""
    if (faulty := _faulty_upload(request)) is not None:
        return uploads.options_of(faulty)
    into = Corpus.objects.filter(name=request.GET.get("into", "")).first()
    return {"corpus_name": into.name, "into": True} if into else {}


def _file_page(request: HttpRequest, form: FileForm, status: int = 200) -> HttpResponse:
    options = _options(request)
    context = {
        "form": form,
        "formats": FORMATS.values(),
        "limit": settings.UPLOAD_LIMIT_BYTES,
        "into": options.get("corpus_name") if options.get("into") else "",
    }
    return render(request, "corpora/import.html", context, status=status)


# Correct how a file is read, beside a preview of it.


def _schemes() -> list[tuple[str, str]]:
    built_in = [(key, scheme.title) for key, scheme in SCHEMES.items()]
    return [("", "Found by the questions' names"), *built_in, (OWN, "Questions of the corpus's own")]


def _field(setting: Setting) -> forms.Field:
    """Return the form field of a file setting."""
    options: dict[str, Any] = {"required": False, "label": setting.title, "help_text": setting.help}
    if setting.kind == "choice":
        none = "no" if len(setting.choices) == 1 else "neither"
        words = setting.words or (none, *setting.choices)
        choices = list(zip(("", *setting.choices), words, strict=True))
        return forms.ChoiceField(choices=choices, **options)
    return forms.CharField(max_length=setting.limit, **options)


ON_PAGE = (RATED, JUDGES, SHEET, SKIP_BAD_ROWS)
"""Settings that have a place of their own on the page."""


class ImportForm(forms.Form):
    """How a stored file is imported: its format, its target, and the settings that its format takes."""

    name = forms.RegexField(
        NAME,
        required=False,
        max_length=Corpus.name.field.max_length,
        label="Name of the new corpus",
        error_messages={"invalid": "1 to 100 characters, no slash."},
    )
    into = forms.ModelChoiceField(
        Corpus.objects.none(),
        required=False,
        to_field_name="name",
        label="Or add to",
        empty_label="no existing corpus",
    )
    format = forms.ChoiceField(
        choices=lambda: [("", "not recognised"), *((key, form.title) for key, form in FORMATS.items())],
        required=False,
    )
    scheme = forms.ChoiceField(
        choices=_schemes, required=False, label="Labels answer", help_text="Only for files with labels."
    )
    source = forms.CharField(required=False, max_length=2000, label="Source", help_text="Where it is from.")
    licence = forms.CharField(required=False, max_length=Corpus.licence.field.max_length, label="Licence")
    sha256 = forms.CharField(
        required=False,
        max_length=Upload.sha256.field.max_length,
        label="SHA-256",
        help_text="From an export's manifest: a file that was cut off or changed is refused.",
    )

    def __init__(self, *args: Any, format: str, **options: Any) -> None:
        super().__init__(*args, **options)
        into = self.fields["into"]
        assert isinstance(into, forms.ModelChoiceField)
        into.queryset = Corpus.objects.order_by("name")
        accepted = FORMATS[format].settings if format in FORMATS else ()
        self.settings = [key for key in (*COMMON, *accepted) if key not in ON_PAGE]
        for key in self.settings:
            self.fields[key] = _field(SETTINGS[key])

    def offer_sheets(self, sheets: Sequence[str]) -> None:
        """Add a menu of the sheets of a workbook that has several."""
        if len(sheets) > 1:
            choices = [("", "the first with a table"), *((sheet, sheet) for sheet in sheets)]
            self.fields[SHEET] = forms.ChoiceField(choices=choices, required=False, label="Sheet")

    def more(self) -> list[forms.BoundField]:
        """Return the fields of the folded part: the format's settings first."""
        return [self[name] for name in (*self.settings, "scheme", "source", "licence", "sha256")]

    def has_more(self) -> bool:
        """Whether a field in the folded part was filled in, or is invalid."""
        return any(field.errors or field.value() for field in self.more())

    def targets(self, *, may_be_new: bool) -> list[forms.BoundField]:
        """Return the fields of the corpus and the format, with a new corpus's name where there may be one."""
        names = [*(["name"] if may_be_new else []), "into", "format", SHEET]
        return [self[name] for name in names if name in self.fields]


@require_http_methods(["GET", "POST"])
@researcher_only
def upload(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Researchers: correct how an own file is read, and import it; then watch its import."""
    upload_row = access.upload(user_of(request), pk)
    if upload_row.state == "waiting" and uploads.stored_file(upload_row).exists():
        return _change(request, upload_row) if request.method == "POST" else _preview(request, upload_row)
    if request.method == "POST":
        return redirect("upload", pk)
    context: dict[str, Any] = {
        "upload": upload_row,
        "job": upload_row.job,
        "repeatable": uploads.can_be_repeated(upload_row),
        "left_out": uploads.left_out_file(upload_row),
        "to_rate": uploads.corpus_to_rate(upload_row),
    }
    template = "corpora/_upload.html" if _is_part(request) else "corpora/upload.html"
    result = (upload_row.job.result if upload_row.job else None) or {}
    context |= {"format": FORMATS.get(upload_row.format), "n_problems": result.get("total", 0)}
    context |= {"facts": _facts(upload_row.result or {}), "ending": _outcome_of(upload_row)}
    return render(request, template, context)


def _facts(result: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the counts of a finished import, with their names."""
    names = {name: name.capitalize() for name in ("dialogues", "turns", "continuations", "items", "labels")}
    if result.get("continuations", 0) <= result.get("dialogues", 0):
        del names["continuations"]
    rare = {"missing": "of them missing", "unchanged": "Labels there before"}
    names |= {name: title for name, title in rare.items() if result.get(name)}
    return [(title, result.get(name, 0)) for name, title in names.items()]


def _outcome_of(upload_row: Upload) -> str:
    """Return how an import ended that brought nothing."""
    if upload_row.state == "failed" and upload_row.job:
        return f"Nothing was imported: {upload_row.job.error}."
    outcome = "cancelled" if upload_row.state == "cancelled" else "interrupted"
    return f"The import was {outcome}; nothing was kept."


def _is_part(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page; what replaces all of it is a page."""
    return bool(request.headers.get("HX-Request")) and request.headers.get("HX-Target") != "main"


def _change(request: HttpRequest, upload_row: Upload) -> HttpResponseBase:
    """Save what was posted; import the file where that was asked for, else show its preview again."""
    data = request.POST
    fields: dict[str, Any] = {
        "corpus_name": data.get("into")
        or data.get("name", uploads.propose_name(upload_row.file_name)).strip(),
        "into": bool(data.get("into")),
        **{name: data.get(name, "").strip() for name in ("scheme", "source", "licence", "sha256")},
    }
    problem: ImportProblem | None = None
    try:
        fields |= _posted_reading(request, upload_row)
    except ImportProblem as error:
        problem = error
    if data.get("do") == "download":
        text = yaml_of_entries(posted_entries(data))
        return file_response([text], media_type="application/yaml", name="mapping.yaml")
    form = _form(upload_row, data, str(fields.get("format") or upload_row.format))
    if data.get("do") != "import":
        uploads.revise(upload=upload_row, **_shortened(fields))
        return _preview(request, upload_row, problem=problem)
    adds_labels = _adds_labels(fields)
    if problem is None and form.is_valid() and _has_target(form, adds_labels=adds_labels):
        try:
            corpus_format.check(uploads.content_hash(upload_row), fields["sha256"])
            uploads.start(upload=upload_row, by=user_of(request), **fields)
        except ImportProblem as error:
            form.add_error("sha256", f"The file {error.reason}.")
        else:
            return redirect("upload", upload_row.pk)
    uploads.revise(upload=upload_row, **_shortened(fields))
    status = 200 if request.headers.get("HX-Request") else 422
    return _preview(request, upload_row, form=form, problem=problem, status=status)


def _adds_labels(fields: dict[str, Any]) -> bool:
    """Whether the file has no dialogues of its own."""
    format, keys = fields.get("format", ""), fields.get("mapping", {})
    if format in FORMATS and FORMATS[format].roles == ANY_ROLES:
        roles = {key.partition(":")[0].partition("[")[0] for key in keys}
        return roles.isdisjoint(("text", "transcript", "utterance", "response"))
    return format in FORMATS and FORMATS[format].labels_only


def _shortened(fields: dict[str, Any]) -> dict[str, Any]:
    """Return options with texts that the database can store, as long as they are not imported."""
    limits = {name: getattr(Upload._meta.get_field(name), "max_length", None) for name in fields}
    return {
        name: value[: limits[name]] if isinstance(value, str) and limits[name] else value
        for name, value in fields.items()
    }


def _has_target(form: ImportForm, *, adds_labels: bool) -> bool:
    """Whether a corpus is named to which the file can go; else the form has the error."""
    name = form.cleaned_data.get("name")
    if form.cleaned_data.get("into"):
        return True
    if adds_labels:
        form.add_error("into", "Choose the corpus that has the dialogues of these labels.")
    elif not name:
        form.add_error("name", "Name the new corpus, or choose an existing one.")
    elif Corpus.objects.filter(name=name).exists():
        form.add_error("name", "There is a corpus of this name: choose another name, or add to that corpus.")
    return form.is_valid()


def _posted_reading(request: HttpRequest, upload_row: Upload) -> dict[str, Any]:
    """Return format, mapping and settings of the posted page; raises ImportProblem."""
    data = request.POST
    format = data.get("format", "")
    if format not in FORMATS:
        raise ImportProblem("is not a format: choose one", field="format")
    is_changed = any(data.get(key, "") != data.get(f"{key}-was", "") for key in ("format", SHEET))
    stored = {key: upload_row.file_settings.get(key, "") for key in (RATED, JUDGES)}
    values = {key: data.get(key, "") for key in SETTINGS} | stored | _posted_names(data, format)
    accepted = FORMATS[format].settings
    values = {key: value for key, value in values.items() if key in (*COMMON, *accepted)}
    return {
        "format": format,
        "guessed": upload_row.guessed and format == data.get("format-was"),
        "mapping": {} if is_changed else _posted_mapping(request, upload_row, format),
        "file_settings": settings_of(values, format, accepted),
    }


def _posted_mapping(request: HttpRequest, upload_row: Upload, format: str) -> Entries:
    data, do = request.POST, request.POST.get("do", "")
    reading = data.get("reading", "")
    if do == "use-earlier":
        return {}
    if do == "guess" or reading != data.get("reading-was", ""):
        return _guess(upload_row, format, "" if do == "guess" else reading) or posted_entries(data)
    return posted_entries(data)


def _guess(upload_row: Upload, format: str, key: str) -> Entries:
    """Return the mapping of a reading of the file, of the most plausible one without a key."""
    source = Source(
        uploads.stored_file(upload_row), name=upload_row.file_name, settings=upload_row.file_settings
    )
    profile = outline(source, format=format).profile
    readings = profile.readings if profile else ()
    return next((reading.mapping.entries() for reading in readings if key in ("", reading.key)), {})


def _posted_names(data: Any, format: str) -> dict[str, str]:
    """Return the settings of the boxes: speakers whose turns are rated, and raters that are models."""
    names = {}
    speakers, rated = data.getlist("speaker"), data.getlist("rated")
    if speakers and not rated:
        raise ImportProblem("tick at least one speaker whose turns are rated", field="rated")
    if speakers:
        is_everyone = set(rated) >= set(speakers) and not FORMATS[format].rated
        names[RATED] = "" if is_everyone else list_names(rated)
    if any(map(looks_like_a_model, data.getlist("open-rater"))) or data.getlist("judge"):
        names[JUDGES] = list_names(data.getlist("judge")) or NOBODY
    return names


def _form(upload_row: Upload, data: Any, format: str) -> ImportForm:
    """Return the form with what was posted, else with what is stored."""
    if data is not None:
        return ImportForm(data, format=format)
    stored = {
        "format": format,
        "into" if upload_row.into else "name": upload_row.corpus_name,
        "scheme": upload_row.scheme,
        "source": upload_row.source,
        "licence": upload_row.licence,
        "sha256": upload_row.sha256,
        **upload_row.file_settings,
    }
    return ImportForm(initial=stored, format=format)


@dataclass(slots=True)
class PreviewLine:
    """A turn in a preview, with the answers about it."""

    number: int
    speaker: str
    colour: int
    text: str
    is_context: bool
    answers: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PreviewPart:
    """The dialogue's own turns, or the continuation of a `system`, with the answers about all of it."""

    system: str
    lines: list[PreviewLine]
    n_more: int
    answers: list[str]


def _parts(dialogue: Dialogue) -> list[PreviewPart]:
    """Return the turns of a dialogue and of its continuations, with their answers."""
    colours: dict[str, int] = {}
    several = len({label.question for label in dialogue.labels}) > 1
    parts = []
    for part in dialogue.all_continuations():
        labels: dict[int | None, list[LabelRecord]] = {}
        for label in dialogue.labels:
            if label.continuation == part.id and not label.members and label.record is None:
                labels.setdefault(label.turn, []).append(label)
        lines = [
            PreviewLine(
                number=number,
                speaker=turn.speaker,
                colour=colours.setdefault(turn.speaker, len(colours) % COLOURS + 1),
                text=_excerpt(turn.text),
                is_context=turn.given,
                answers=_answers(labels.get(number - 1, []), several=several),
            )
            for number, turn in enumerate(part.turns[:MOST_TURNS], start=1)
        ]
        system = "" if part.id == SELF else part.system
        answers = _answers(labels.get(None, []), several=several)
        parts.append(PreviewPart(system, lines, max(0, len(part.turns) - MOST_TURNS), answers))
    return parts


def _excerpt(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS].rstrip()} …"


@dataclass(slots=True)
class PreviewItem:
    """A dialogue, or the turn of this number, with the answers about it in a file without dialogues."""

    dialogue: str
    turn: int | None
    answers: list[str]


def _items(ratings: list[Rating]) -> list[PreviewItem]:
    """Return the first items of a file without dialogues, with all their answers."""
    labels: dict[tuple[str, int | None], list[LabelRecord]] = {}
    for rating in ratings:
        turn = rating.turn_number if rating.label.turn is None else rating.label.turn + 1
        labels.setdefault((rating.dialogue, turn), []).append(rating.label)
    several = len({rating.label.question for rating in ratings}) > 1
    items = [PreviewItem(*item, _answers(answers, several=several)) for item, answers in labels.items()]
    return items[:MOST_ITEMS]


def _answers(labels: list[LabelRecord], *, several: bool) -> list[str]:
    """Return the answers to each question in one text: `anna 4 · gpt 4 (judge)`."""
    by_question: dict[str, list[str]] = {}
    for label in labels:
        value = f"{label.value:g}" if isinstance(label.value, float) else label.value
        text = f"no answer ({label.missing})" if value is None else str(value)
        kind = "" if label.kind in ("", "human", label.rater) else f" ({label.kind})"
        by_question.setdefault(label.question, []).append(f"{label.rater}{kind} {text}")
    return [
        f"{shortened(question)}: {' · '.join(texts)}" if several else " · ".join(texts)
        for question, texts in by_question.items()
    ]


def _summary(prepared: PreparedImport) -> str:
    """Describe the file in one line: rows, columns, and what its reading makes of them."""
    preview, profile, format = prepared.preview, prepared.outline.profile, prepared.outline.format
    if profile:
        parts = [f"{many(profile.n_rows, 'row')}, {many(len(profile.columns), 'column')}"]
        readings = {reading.key: reading.sentence for reading in profile.readings}
        sentence = readings.get(prepared.reading, "").rstrip(".")
        parts += [sentence[:1].lower() + sentence[1:]] if sentence else []
    else:
        parts = [FORMATS[format].title] if format in FORMATS else []
    counts = {
        "dialogue": preview.n_dialogues,
        "turn": preview.n_turns,
        "label": preview.n_labels,
    }
    counted = ", ".join(many(number, noun) for noun, number in counts.items() if number)
    if counted and not preview.is_complete:
        counted = f"checked the first {FIRST_ROWS:,} rows: {counted}"
    return " · ".join([*parts, *([counted] if counted else [])])


def _doubts(prepared: PreparedImport) -> tuple[str, ...]:
    """Return what is not clear about a guessed reading; nothing once it is corrected, or was used before."""
    profile = prepared.outline.profile
    if profile is None or prepared.uses_earlier:
        return ()
    doubts = next((reading.doubts for reading in profile.readings if reading.key == prepared.reading), ())
    rest = len(doubts) - MOST_DOUBTS
    return doubts if rest <= 0 else (*doubts[:MOST_DOUBTS], f"and {rest} more like these")


def _action(preview: Preview) -> str:
    """Return the text of the button that imports the file."""
    if not preview.is_complete:
        return "Import"
    if preview.n_dialogues:
        return f"Import {many(preview.n_dialogues, 'dialogue')}"
    return f"Import {many(preview.n_ratings, 'label')}" if preview.n_ratings else "Import"


def _readings(prepared: PreparedImport) -> list[tuple[str, str]]:
    """Return the readings of a table from which to choose; none where there is no choice."""
    readings = prepared.outline.profile.readings if prepared.outline.profile else ()
    rows = [(reading.key, reading.sentence.replace("Each row ", "")) for reading in readings]
    none = [] if prepared.reading else [("", "is as chosen below")]
    return [*none, *rows] if len(rows) > 1 else []


def _roles_note(prepared: PreparedImport, upload_row: Upload) -> str:
    """Return where the roles of the columns are from."""
    source = "as you chose" if upload_row.mapping else "guessed"
    return f"{'remembered' if prepared.uses_earlier else source}; change what is wrong"


def _steps(number: int, many: int) -> list[tuple[str, str, str, int, bool]]:
    """Return the buttons to the dialogue before and after: id, label, sign, number, and whether it exists."""
    return [
        ("previous-dialogue", "Previous dialogue", "←", number - 1, number > 1),
        ("next-dialogue", "Next dialogue", "→", number + 1, number < many),
    ]


def _preview(
    request: HttpRequest,
    upload_row: Upload,
    *,
    form: ImportForm | None = None,
    problem: ImportProblem | None = None,
    status: int = 200,
) -> HttpResponse:
    prepared = previews.prepare(
        uploads.stored_file(upload_row),
        name=upload_row.file_name,
        format=upload_row.format,
        mapping=upload_row.mapping,
        settings=upload_row.file_settings,
        corpus=upload_row.corpus_name or uploads.propose_name(upload_row.file_name),
        into=upload_row.into,
        by=upload_row.by,
    )
    preview, profile = prepared.preview, prepared.outline.profile
    key = prepared.outline.format
    format = FORMATS.get(key)
    problems = [*([problem] if problem else []), *preview.problems]
    number = min(row_id(request.POST.get("show", "")) or 1, max(len(preview.dialogues), 1))
    dialogue = preview.dialogues[number - 1] if preview.dialogues else None
    upload_row.file_settings = prepared.settings
    form = form or _form(upload_row, None, key)
    form.offer_sheets(prepared.outline.sheets)
    adds_labels = bool(preview.ratings or (format and format.labels_only))
    if adds_labels:
        form["into"].label = "Add to"
    rows = column_rows(profile, prepared.mapping) if profile else []
    roles = {row.role for row in rows}
    context = {
        "upload": upload_row,
        "form": form,
        "targets": form.targets(may_be_new=not adds_labels and not upload_row.into),
        "readings": _readings(prepared),
        "roles_note": _roles_note(prepared, upload_row),
        "format_key": key,
        "prepared": prepared,
        "profile": profile,
        "preview": preview,
        "summary": _summary(prepared),
        "doubts": _doubts(prepared),
        "action": _action(preview),
        "can_import": bool(preview.n_dialogues or preview.n_ratings) and not problems,
        "adds_labels": adds_labels,
        "rows": rows,
        "roles": role_choices() if profile else [],
        "boxes_in_rows": {"speaker": "speaker" in roles, "rater": "rater" in roles},
        "shows_boxes": bool(
            (preview.speakers and "speaker" not in roles) or (preview.open_raters and "rater" not in roles)
        ),
        "is_open": dict.fromkeys(filter(None, request.POST.getlist("open")), True),
        "judges": judges_of(str(prepared.settings.get(JUDGES, ""))) or (),
        "rated": [speaker for speaker, is_rated in preview.speakers.items() if is_rated],
        "levels": LEVELS,
        "empties": EMPTIES,
        "items": _items(preview.ratings),
        "dialogue": dialogue,
        "title": f"{'The first dialogue' if number == 1 else f'Dialogue {number}'}, as it will be stored",
        "steps": _steps(number, len(preview.dialogues)),
        "language": language_tag(dialogue.language) if dialogue else "",
        "parts": _parts(dialogue) if dialogue else [],
        "problems": problems,
        "n_problems": preview.n_problems + len(problems) - len(preview.problems),
        "can_skip": any(problem.line for problem in problems),
        "skips": prepared.settings.get(SKIP_BAD_ROWS) == "yes",
        "notes": list(dict.fromkeys([*prepared.outline.notes, *preview.notes])),
    }
    template = "corpora/_preview.html" if _is_part(request) else "corpora/preview.html"
    return render(request, template, context, status=status)


@require_POST
@researcher_only
def load_mapping(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: use the mapping of a file, or of a pasted text, for an own file."""
    upload_row = access.upload(user_of(request), pk)
    file = request.FILES.get("file")
    content = file.read(uploads.OVERHEAD) if file else request.POST.get("text", "").encode()
    try:
        mapping = entries_of_yaml(content)
    except ImportProblem as problem:
        messages.error(request, f"These roles were not used: {problem.reason}.")
    else:
        if upload_row.state == "waiting":
            uploads.revise(upload=upload_row, mapping=mapping)
    return redirect("upload", pk)


@require_GET
@researcher_only
def rows_left_out(request: HttpRequest, pk: int) -> FileResponse:
    """Researchers: download the rows that an own import left out, with the reasons."""
    return uploads.left_out_response(access.upload(user_of(request), pk))


@require_POST
@researcher_only
def cancel_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: cancel an own import; a file that was not imported yet is deleted, and another chosen."""
    upload_row = access.upload(user_of(request), pk)
    is_waiting = upload_row.state == "waiting"
    uploads.cancel(upload=upload_row, by=user_of(request))
    if not is_waiting:
        return redirect("upload", pk)
    return redirect("import-corpus" if request.POST.get("next") == "file" else "corpora")


@require_POST
@researcher_only
def resume_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: repeat an own import that was cancelled or failed."""
    try:
        uploads.repeat(upload=access.upload(user_of(request), pk), by=user_of(request))
    except JobError as error:
        messages.error(request, f"Not imported again: {error}.")
    return redirect("upload", pk)
