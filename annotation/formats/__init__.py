"""The import formats, one file each, in one table."""

from annotation.formats import jsonl
from annotation.formats.entry import Entry, Format, Rating
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source

FORMATS: dict[str, Format] = {format.key: format for format in (jsonl.FORMAT,)}

__all__ = ["FORMATS", "Entry", "Format", "ImportProblem", "Rating", "Source"]
