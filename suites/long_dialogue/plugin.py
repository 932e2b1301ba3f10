"""Entries of long dialogues in the tables of the core and of the continuation suite."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from annotation.hooks import OwnPages
from annotation.script_records import KIND
from config.links import Link

ENTRIES = {
    "formats": ["suites.long_dialogue.longdialqa:FORMATS", "suites.long_dialogue.longform:FORMATS"],
    "own_fields": ["suites.long_dialogue.native_fields:READERS"],
    "schemes": ["suites.long_dialogue.schemes:SCHEMES"],
    "protocols": ["suites.long_dialogue.answer_match:PROTOCOLS"],
    "generators": [
        "suites.long_dialogue.agent.quiz:GENERATORS",
        "suites.long_dialogue.agent.styles:GENERATORS",
        "suites.long_dialogue.agent.agent:GENERATORS",
    ],
    "loaders": ["suites.long_dialogue.simulations.material:LOADERS"],
    "results": [
        "suites.long_dialogue.editing.drafts:RESULTS",
        "suites.long_dialogue.simulations.material:RESULTS",
    ],
    "layouts": ["suites.long_dialogue.screen:LAYOUTS"],
    "write_records": ["suites.long_dialogue.editing.import_records:write_records"],
    "label_continuations": ["suites.long_dialogue.simulations.steps:write"],
    "own_pages": ["suites.long_dialogue.plugin:OWN_PAGES"],
    "links": ["suites.long_dialogue.plugin:LINKS"],
    "job_kinds": ["suites.long_dialogue.plugin:JOB_KINDS"],
    "sweeps": ["suites.long_dialogue.simulations.simulation_actions:sweep"],
}

JOB_KINDS = {
    "simulation": "suites.long_dialogue.simulations.simulation_actions",
    "questions": "suites.long_dialogue.editing.question_sets",
}
OWN_PAGES = {KIND: OwnPages("script", "api-script-turns")}


def _of_corpus(name: str, context: Mapping[str, Any]) -> str:
    """Return a page's URL for a corpus that has scripts, '' for others."""
    return reverse(name, args=[context["corpus"].pk]) if context["corpus"].has_scripts else ""


def _script(context: Mapping[str, Any]) -> str:
    dialogue = context["dialogue"]
    return reverse("script", args=[dialogue.corpus_id, dialogue.pk]) if dialogue.script else ""


LINKS = {
    "tabs": [
        Link("Script questions", lambda context: _of_corpus("questions", context)),
        Link("Simulation", lambda context: _of_corpus("simulate", context)),
    ],
    "results": [Link("Answers", lambda context: _of_corpus("answers", context))],
    "dialogue": [Link("Script", _script)],
}
