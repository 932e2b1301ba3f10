"""Table of the import formats; related formats share a file."""

from annotation.formats import (
    annotation_tools,
    chat_forms,
    chat_platforms,
    comparisons,
    convokit,
    crowd_formats,
    dialogue_corpora,
    eval_logs,
    json_documents,
    jsonl,
    label_studio,
    mapped_formats,
    messenger_texts,
    mpceval,
    preferences,
    rated_responses,
    ratings,
    speech,
    traces,
    transcripts,
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
            *eval_logs.FORMATS,
            *traces.FORMATS,
            *crowd_formats.FORMATS,
            *preferences.FORMATS,
            comparisons.FORMAT,
            ratings.COCOEVAL_COUNTS,
            *annotation_tools.FORMATS,
            jsonl.FORMAT,
            label_studio.FORMAT,
            rated_responses.FED,
            rated_responses.FED_GPT4,
            json_documents.QMSUM,
            *(form.format() for form in (*chat_platforms.FORMS, *chat_forms.FORMS)),
            chat_forms.SLACK.format(folder=True),
            *(form.format() for form in dialogue_corpora.FORMS),
            mpceval.FORMAT,
            rated_responses.COMPERDIAL,
            rated_responses.USR,
            json_documents.MPDD,
            json_documents.TCR,
            convokit.IQ2,
            convokit.DELIDATA,
            dialogue_corpora.CONVOKIT,
            *speech.FORMATS,
            *messenger_texts.FORMATS,
            *transcripts.FORMATS,
            ratings.RATINGS_CSV,
            wide_ratings.WIDE_RATINGS,
            mapped_formats.TURN_TABLE,
            mapped_formats.TABLE,
        )
    },
)

__all__ = ["FORMATS", "SourceRecord", "Faults", "Format", "ImportProblem", "Rating", "Source"]
