"""What long dialogues add to the core's tables."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from annotation.formats import FORMATS
from annotation.formats.jsonl import OWN_FIELDS, OwnFields
from annotation.hooks import LABEL_CONTINUATIONS, OWN_PAGES, WRITE_RECORDS, OwnPages
from annotation.schemes import SCHEMES
from annotation.script_records import KIND
from annotation.script_records import OWN_FIELDS as NAMES
from config.links import LINKS, Link
from judges.protocols import PROTOCOLS
from suites.continuation.generators import GENERATORS
from suites.long_dialogue import longdialqa, longform, native_fields, schemes
from suites.long_dialogue.agent.agent import DialsimAgent, DialsimSessionSummary
from suites.long_dialogue.agent.quiz import DialsimFacts, DialsimQuiz
from suites.long_dialogue.agent.styles import DialsimStyle
from suites.long_dialogue.answer_match import AnswerMatch


def add_entries() -> None:
    """Add the fields of scripts, formats, schemes and a protocol; called once, before models are loaded."""
    OWN_FIELDS[KIND] = OwnFields(
        frozenset(NAMES), lambda record, fields, _: native_fields.with_script(record, fields)
    )
    for format in (longdialqa.FORMAT, longform.FORMAT):
        FORMATS[format.key] = format
    for scheme in (schemes.FACT, schemes.QUIZ, schemes.STYLE, schemes.ANSWERS):
        SCHEMES[scheme.key] = scheme
    protocol = AnswerMatch()
    PROTOCOLS[protocol.key] = protocol
    for generator in (DialsimFacts(), DialsimQuiz(), DialsimStyle(), DialsimSessionSummary(), DialsimAgent()):
        GENERATORS[generator.key] = generator


def add_hooks() -> None:
    """Add screens, the records of imported scripts, and the labels of answers."""
    from annotation.work.screens import LAYOUTS
    from jobs.kinds import KINDS, SWEEPS
    from suites.continuation.productions.material import LOADERS, RESULTS
    from suites.long_dialogue import screen
    from suites.long_dialogue.editing import answer_labels, drafts, import_records
    from suites.long_dialogue.simulations import material

    KINDS["simulation"] = "suites.long_dialogue.simulations.actions"
    KINDS["questions"] = "suites.long_dialogue.editing.question_sets"
    SWEEPS.append("suites.long_dialogue.simulations.actions:sweep")
    LAYOUTS[KIND] = screen.LAYOUT
    LABEL_CONTINUATIONS.append(answer_labels.write)
    WRITE_RECORDS.append(import_records.write_records)
    LOADERS["script"], LOADERS["records"] = material.LOADER, material.RECORDS_LOADER
    RESULTS[DialsimFacts.key] = RESULTS[DialsimQuiz.key] = drafts.write
    RESULTS[DialsimStyle.key] = material.keep_wordings
    OWN_PAGES[KIND] = OwnPages("script", "api-script-turns")
    LINKS["corpus"].append(Link("Questions", lambda shown: _of_corpus("questions", shown)))
    LINKS["corpus"].append(Link("Simulate", lambda shown: _of_corpus("simulate", shown)))
    LINKS["corpus"].append(Link("Answers", lambda shown: _of_corpus("answers", shown)))
    LINKS["dialogue"].append(Link("Script", _script))


def _of_corpus(name: str, shown: Mapping[str, Any]) -> str:
    """Return an address of a corpus that has scripts, '' for others."""
    return reverse(name, args=[shown["corpus"].pk]) if shown["has_scripts"] else ""


def _script(shown: Mapping[str, Any]) -> str:
    dialogue = shown["dialogue"]
    return reverse("script", args=[dialogue.corpus_id, dialogue.pk]) if dialogue.script else ""
