"""Uploading a file to be imported, and watching its import."""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.formats import FORMATS, ImportProblem, guessing
from annotation.formats.guessing import columns_of, guess
from annotation.formats.head import SIZE
from annotation.formats.problems import MOST
from annotation.formats.settings import SETTINGS, Setting, settings_of
from annotation.importing import uploads
from annotation.importing.engine import NAME
from annotation.importing.own_scheme import OWN
from annotation.models import Corpus, Upload
from annotation.schemes import SCHEMES
from config.permissions import researcher_only
from jobs.errors import JobError

# The form of an import: the file, its format, and the corpus it becomes or joins.

# A form's field for one file, or for the several files of a data set.


class SeveralFiles(forms.FileInput):
    """A file input in which several may be chosen."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Cleans to a list of files, with one at least."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return the files that were sent; each must be there and not be empty."""
        clean = super().clean
        sent = data if isinstance(data, list) else [data]
        return [clean(file, initial) for file in sent or [None]]


def size(files: list[UploadedFile[Any]]) -> int:
    """Return how many bytes the files have together."""
    return sum(file.size or 0 for file in files)


def _schemes() -> list[tuple[str, str]]:
    built_in = [(key, scheme.title) for key, scheme in SCHEMES.items()]
    return [("", "Found by the questions' names"), *built_in, (OWN, "Questions of the corpus's own")]


def _field(setting: Setting) -> forms.Field:
    """Return the form's field for what a user may say of a file."""
    shown: dict[str, Any] = {"required": False, "label": setting.title, "help_text": setting.help}
    if setting.kind == "choice":
        none = "no" if len(setting.choices) == 1 else "neither"
        words = setting.words or (none, *setting.choices)
        choices = list(zip(("", *setting.choices), words, strict=True))
        return forms.ChoiceField(choices=choices, **shown)
    return forms.CharField(max_length=setting.limit, **shown)


class ImportForm(forms.Form):
    """What is imported, and where to. Either a new name or an existing corpus is needed."""

    file = FilesField(help_text="A data set of several files: choose all of them together.")
    format = forms.ChoiceField(
        choices=lambda: [
            ("", "Found from the file's content"),
            *((key, format.title) for key, format in FORMATS.items()),
        ],
        required=False,
    )
    columns = forms.CharField(
        required=False,
        max_length=500,
        label="Columns",
        help_text="Where a table calls its columns otherwise: item=turn_id, rater=annotator, value=score.",
    )
    name = forms.RegexField(
        NAME,
        required=False,
        max_length=100,
        label="Name of the new corpus",
        help_text="Leave it empty to add to an existing corpus.",
        error_messages={"invalid": "1 to 100 characters, no slash."},
    )
    into = forms.ModelChoiceField(
        Corpus.objects.none(),
        required=False,
        to_field_name="name",
        label="Or add to",
        empty_label="no existing corpus",
    )
    scheme = forms.ChoiceField(
        choices=_schemes, required=False, label="Labels answer", help_text="Only for files with labels."
    )
    source = forms.CharField(required=False, max_length=2000, label="Source", help_text="Where it is from.")
    licence = forms.CharField(required=False, max_length=200, label="Licence")
    sha256 = forms.CharField(
        required=False,
        max_length=64,
        label="SHA-256",
        help_text="From an export's manifest: a file that was cut off or changed is refused.",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        into = self.fields["into"]
        assert isinstance(into, forms.ModelChoiceField)
        into.queryset = Corpus.objects.order_by("name")
        for setting in SETTINGS.values():
            self.fields[setting.key] = _field(setting)

    def file_settings(self) -> list[forms.BoundField]:
        """Return the fields of what a user may say of a file."""
        return [self[key] for key in SETTINGS]

    def has_more(self) -> bool:
        """Whether something of what is folded away was filled in, or is wrong."""
        names = ("columns", "scheme", "source", "licence", "sha256", *SETTINGS)
        return any(self[name].errors for name in names) or any(
            self[name].value() for name in ("columns", *SETTINGS)
        )

    def clean(self) -> dict[str, Any]:
        """Check that exactly one corpus is named, and that the file is not too large."""
        cleaned = super().clean() or {}
        if bool(cleaned.get("name")) == bool(cleaned.get("into")) and "name" not in self.errors:
            self.add_error("name", "Name a new corpus, or choose an existing one: one of the two.")
        files = cleaned.get("file")
        if files and size(files) > settings.UPLOAD_LIMIT_BYTES:
            self.add_error("file", f"Larger than {settings.UPLOAD_LIMIT_BYTES >> 20} MiB.")
        elif files and len(files) == 1 and cleaned.get("sha256"):
            self._check_content(files[0], cleaned["sha256"])
        if files and not self.errors:
            self._tell_format(cleaned, files)
        return cleaned

    def _tell_format(self, cleaned: dict[str, Any], files: list[UploadedFile[Any]]) -> None:
        """Read the columns and settings, and find the format where none is named."""
        cleaned["guessed"] = not cleaned["format"]
        file = uploads.first(files)
        try:
            cleaned["columns"] = columns_of(cleaned["columns"])
            cleaned["format"] = cleaned["format"] or guess(FORMATS, file.read(SIZE), cleaned["columns"])
            uploads.check(files, cleaned["format"])
            format = FORMATS[cleaned["format"]]
            told = {key: cleaned.get(key) for key in SETTINGS}
            cleaned["settings"] = settings_of(told, format.key, format.settings)
        except ImportProblem as problem:
            self.add_error(problem.field, problem.reason)
        file.seek(0)

    def _check_content(self, file: UploadedFile[Any], sha256: str) -> None:
        """Refuse a file that is not the one that its manifest describes."""
        digest = hashlib.sha256()
        for chunk in file.chunks():
            digest.update(chunk)
        try:
            guessing.check(digest.hexdigest(), sha256)
        except ImportProblem as problem:
            self.add_error("sha256", f"The file {problem.reason}.")

    @staticmethod
    def as_sent(upload: Upload) -> dict[str, Any]:
        """Return what the form held when a file was sent, without the file."""
        return {
            "format": "" if upload.guessed else upload.format,
            "columns": ", ".join(f"{ours}={theirs}" for ours, theirs in upload.columns.items()),
            "into" if upload.into else "name": upload.corpus_name,
            "scheme": upload.scheme,
            "source": upload.source,
            "licence": upload.licence,
            **upload.file_settings,
        }

    def arguments(self) -> dict[str, Any]:
        """Return what `uploads.receive` takes."""
        data = self.cleaned_data
        into = data["into"]
        return {
            "file": data["file"][0],
            "more": data["file"][1:],
            "format": data["format"],
            "guessed": data["guessed"],
            "columns": data["columns"],
            "file_settings": data["settings"],
            "corpus_name": into.name if into else data["name"],
            "into": bool(into),
            "scheme": data["scheme"],
            "source": data["source"],
            "licence": data["licence"],
            "sha256": data["sha256"].strip().lower(),
        }


ROOM = {"active_room": "corpora"}
FORM_OVERHEAD = 2**20


@csrf_exempt
@researcher_only
def import_corpus(request: HttpRequest) -> HttpResponse:
    """Researchers: the form of an import, and receiving the file.

    The size is checked before any of the body is read, and so before the form's token, which is in the body.
    """
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > settings.UPLOAD_LIMIT_BYTES + FORM_OVERHEAD:
        form = ImportForm()
        form.errors["file"] = form.error_class([f"Larger than {settings.UPLOAD_LIMIT_BYTES >> 20} MiB."])
        return _form(request, form, status=413)
    return _import(request)


@csrf_protect
def _import(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, ImportForm(initial=_initial(request)))
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form(request, form, status=422)
    return redirect("upload", uploads.receive(by=_user(request), **form.arguments()).pk)


def _initial(request: HttpRequest) -> dict[str, Any]:
    """Return what the form begins with: what was sent with the upload `like`, or the corpus `into`."""
    like = request.GET.get("like", "")
    if like.isascii() and like.isdigit() and len(like) < 19:
        return ImportForm.as_sent(access.upload(_user(request), int(like)))
    return {"into": request.GET.get("into", "")}


def _form(request: HttpRequest, form: ImportForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "formats": FORMATS.values(), "limit": settings.UPLOAD_LIMIT_BYTES, **ROOM}
    return render(request, "corpora/import.html", context, status=status)


@require_GET
@researcher_only
def upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far the import of a file of theirs is."""
    found = access.upload(_user(request), pk)
    context: dict[str, Any] = {
        "upload": found,
        "job": found.job,
        "repeatable": uploads.can_be_repeated(found),
    }
    template = "corpora/_upload.html" if request.headers.get("HX-Request") else "corpora/upload.html"
    context |= {"format": FORMATS.get(found.format), "most": MOST}
    return render(request, template, context | ROOM)


@require_POST
@researcher_only
def cancel_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: cancel the import of a file of theirs."""
    uploads.cancel(upload=access.upload(_user(request), pk), by=_user(request))
    return redirect("upload", pk)


@require_POST
@researcher_only
def resume_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: import a file of theirs again whose import was cancelled or failed."""
    try:
        uploads.repeat(upload=access.upload(_user(request), pk), by=_user(request))
    except JobError as error:
        messages.error(request, f"Not imported again: {error}.")
    return redirect("upload", pk)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
