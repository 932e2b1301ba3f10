"""The import formats, one file each, in one table."""

from annotation.formats import (
    cocoeval_counts,
    comperdial,
    delidata,
    fed,
    fed_gpt4,
    iq2,
    jsonl,
    label_studio,
    longdialqa,
    longform,
    messages,
    mpceval,
    mpdd,
    pairs,
    qmsum,
    ratings_csv,
    tcr,
    turn_table,
    turns_xlsx,
    usr,
)
from annotation.formats.entry import Format, Rating, SourceRecord
from annotation.formats.problems import Faults, ImportProblem
from annotation.formats.source import Source

FORMATS: dict[str, Format] = {
    format.key: format
    for format in (
        pairs.FORMAT,
        cocoeval_counts.FORMAT,
        jsonl.FORMAT,
        label_studio.FORMAT,
        longdialqa.FORMAT,
        longform.FORMAT,
        fed.FORMAT,
        fed_gpt4.FORMAT,
        qmsum.FORMAT,
        messages.FORMAT,
        mpceval.FORMAT,
        comperdial.FORMAT,
        usr.FORMAT,
        mpdd.FORMAT,
        tcr.FORMAT,
        iq2.FORMAT,
        delidata.FORMAT,
        ratings_csv.FORMAT,
        turn_table.FORMAT,
        turns_xlsx.FORMAT,
    )
}

__all__ = ["FORMATS", "SourceRecord", "Faults", "Format", "ImportProblem", "Rating", "Source"]
