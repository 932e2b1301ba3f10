"""Importing files into corpora: atomic, recognised by content, bounded in memory."""

from annotation.formats import ImportProblem
from annotation.importing.engine import import_path
from annotation.importing.staging import ImportResult

__all__ = ["ImportProblem", "ImportResult", "import_path"]
