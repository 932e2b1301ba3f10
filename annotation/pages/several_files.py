"""A form's field for one file, or for the several files of a data set."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile


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
