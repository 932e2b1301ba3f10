"""What long dialogues add to the core's tables."""

from annotation.formats import FORMATS
from annotation.hooks import LABEL_CONTINUATIONS, WRITE_RECORDS
from annotation.schemes import SCHEMES
from judges.protocols import PROTOCOLS
from suites.long_dialogue import longdialqa, longform, schemes
from suites.long_dialogue.answer_match import AnswerMatch


def add_entries() -> None:
    """Add formats, schemes and protocols; called once, before any models are loaded."""
    for format in (longdialqa.FORMAT, longform.FORMAT):
        FORMATS[format.key] = format
    for scheme in (schemes.FACT, schemes.QUIZ, schemes.STYLE, schemes.ANSWERS):
        SCHEMES[scheme.key] = scheme
    protocol = AnswerMatch()
    PROTOCOLS[protocol.key] = protocol


def add_hooks() -> None:
    """Add the records of imported scripts, and the labels of answers."""
    from suites.long_dialogue.editing import answer_labels, import_records

    LABEL_CONTINUATIONS.append(answer_labels.write)
    WRITE_RECORDS.append(import_records.write_records)
