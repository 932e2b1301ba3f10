"""Table of the import formats; related formats share a file."""

from annotation.formats import (
    comparisons,
    convokit,
    json_documents,
    jsonl,
    label_studio,
    mapped,
    mpceval,
    rated_responses,
    ratings,
    wide_ratings,
)
from annotation.formats.corpus_format import Format, Rating, SourceRecord
from annotation.formats.source import Faults, ImportProblem, Source
from jobs.tables import Table

FORMATS: Table[Format] = Table(
    "formats",
    {
        format.key: format
        for format in (
            comparisons.FORMAT,
            ratings.COCOEVAL_COUNTS,
            jsonl.FORMAT,
            label_studio.FORMAT,
            rated_responses.FED,
            rated_responses.FED_GPT4,
            json_documents.QMSUM,
            json_documents.MESSAGES,
            mpceval.FORMAT,
            rated_responses.COMPERDIAL,
            rated_responses.USR,
            json_documents.MPDD,
            json_documents.TCR,
            convokit.IQ2,
            convokit.DELIDATA,
            ratings.RATINGS_CSV,
            wide_ratings.WIDE_RATINGS,
            mapped.TURN_TABLE,
            mapped.TABLE,
        )
    },
)

__all__ = ["FORMATS", "SourceRecord", "Faults", "Format", "ImportProblem", "Rating", "Source"]
