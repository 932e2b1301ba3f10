"""Every operation that selects dialogues leaves out what a release check has not passed, or says why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

SELECTORS = {"corpus", "corpora", "campaign", "sources", "part", "dialogues"}
"""Names by which an operation selects dialogues; so does the corpus of its address."""
CORPUS = "/api/v1/corpora/{"
ITSELF = "it shows, changes or asks about the corpus itself; states are on the page of the release check"
ONE = "it is about one dialogue, conversation or record that is named"
BY_STUDY = "a study has the exclusion in its subset, and whatever is read from its reports follows it"
REASONS = {
    "adjudication_rounds_begin": "its `rules` have `exclude`",
    "adjudication_rounds_preview_create": "its `rules` have `exclude`",
    "benches_open": "a bench is for development, and its campaign leaves dialogues out",
    "campaigns_defaults": ITSELF,
    "campaigns_plan_retrieve": BY_STUDY,
    "campaigns_report_retrieve": "it reports on the tasks of a campaign, which leaves out what it excludes",
    "chat_campaigns_create": "its campaign has the setting `exclude`",
    "corpora_agents_retrieve": ITSELF,
    "corpora_dialogues_list": ITSELF,
    "corpora_facts_create": ONE,
    "corpora_facts_list": ITSELF,
    "corpora_items_list": ITSELF,
    "corpora_monitor_retrieve": "a monitor follows a judge through all of its answers in time",
    "corpora_overview_retrieve": ITSELF,
    "corpora_partial_update": ITSELF,
    "corpora_question_sets_list": ITSELF,
    "corpora_question_sets_questions": "a question set leaves out what it excludes",
    "corpora_question_sets_retrieve": "a question set leaves out what it excludes",
    "corpora_question_sets_uses": "a question set leaves out what it excludes",
    "corpora_questions_create": ONE,
    "corpora_questions_list": ITSELF,
    "corpora_records_decide_create": ONE,
    "corpora_records_partial_update": ONE,
    "corpora_records_retrieve": ONE,
    "corpora_records_reviews_create": "people review what no release check has passed yet",
    "corpora_records_reviews_retrieve": "people review what no release check has passed yet",
    "corpora_relations_retrieve": ITSELF,
    "corpora_relations_update": ITSELF,
    "corpora_release_list": "it is the release check",
    "corpora_report_retrieve": "it reports on everything that is there; " + BY_STUDY,
    "corpora_retrieve": ITSELF,
    "corpora_scenarios_create": ONE,
    "corpora_scenarios_overview": ITSELF,
    "corpora_scenarios_retrieve": ONE,
    "corpora_scenarios_update": ONE,
    "corpora_scripts_file": ONE,
    "corpora_scripts_list": ITSELF,
    "corpora_scripts_names_create": ONE,
    "corpora_scripts_names_list": ONE,
    "corpora_scripts_sessions": ONE,
    "corpora_scripts_sessions_partial_update": ONE,
    "corpora_scripts_sessions_retrieve": ONE,
    "corpora_scripts_turns": ONE,
    "corpora_simulations_create": "a simulation asks the questions of a set",
    "corpora_simulations_estimate_create": "a simulation asks the questions of a set",
    "corpora_simulations_list": ITSELF,
    "corpora_splits_create": "a split is of all clusters, so that what passes later has its part",
    "corpora_splits_list": ITSELF,
    "corpora_systems_list": ITSELF,
    "corpora_systems_partial_update": ITSELF,
    "corpora_turns_retrieve": ITSELF,
    "exports_names_create": "it is the key of pseudonyms, and has no dialogue",
    "prompts_request_create": "it shows the request about one item, and sends nothing",
    "schemes_from_corpus_create": "it reads the values of answers, and no dialogue",
    "studies_create": "its `definition` has `subset.exclude`",
    "work_messages_ask": ONE,
    "write_campaigns_create": "its campaign has the setting `exclude`",
}
REASONS |= dict.fromkeys(
    (
        *("studies_items_retrieve", "studies_plan_retrieve", "studies_recompute_create"),
        *("studies_report_file_retrieve", "studies_report_retrieve", "studies_report_tables_file_retrieve"),
        *("studies_report_tables_list", "studies_shares_create"),
    ),
    BY_STUDY,
)
"""Operations that select dialogues without `exclude`, each with the reason."""


def operations() -> Iterator[tuple[str, bool, set[str]]]:
    """Yield each operation of the API: its id, whether it selects dialogues, and the names that it takes."""
    document = SchemaGenerator().get_schema(public=True)
    schemas = document["components"]["schemas"]

    def names(schema: Mapping[str, Any]) -> set[str]:
        if "$ref" in schema:
            return names(schemas[schema["$ref"].rsplit("/", 1)[-1]])
        nested = (part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, ()))
        return set(schema.get("properties", {})).union(*map(names, nested))

    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            query = {row["name"] for row in operation.get("parameters", ()) if row["in"] == "query"}
            content = operation.get("requestBody", {}).get("content", {})
            body = set().union(*(names(media["schema"]) for media in content.values()))
            lists = method == "get" and not path.startswith(CORPUS) and "part" not in query
            is_selection = bool((query | body) & SELECTORS) or path.startswith(CORPUS)
            yield operation["operationId"], is_selection and not lists and method != "delete", query | body


@pytest.fixture(scope="module")
def selections() -> dict[str, set[str]]:
    """The operations that select dialogues, with the names that each takes."""
    return {name: taken for name, is_selection, taken in operations() if is_selection}


def test_every_selection_of_dialogues_has_an_exclusion_or_a_reason_for_none(
    selections: dict[str, set[str]],
) -> None:
    without = {name for name, taken in selections.items() if "exclude" not in taken}
    assert sorted(without - REASONS.keys()) == []
    assert sorted(REASONS.keys() - without) == [], "these have an exclusion, or are no longer there"


def test_most_of_what_computes_and_exports_has_an_exclusion(selections: dict[str, set[str]]) -> None:
    having = {name for name, taken in selections.items() if "exclude" in taken}
    assert having >= {
        *("anchor_sets_create", "benchmarks_create", "benchmarks_estimate_create", "campaigns_create"),
        *("corpora_agents_create", "corpora_answers_retrieve", "corpora_answers_list_list"),
        *("corpora_cascade_retrieve", "corpora_counts_retrieve", "corpora_preferences_retrieve"),
        *("corpora_profile_retrieve", "corpora_question_sets_create", "corpora_turns_and_whole_retrieve"),
        *("corpora_without_turns_create", "exports_labels_file_retrieve", "exports_packages_zip_retrieve"),
        *("exports_sft_jsonl_retrieve", "exports_transcripts_file_retrieve", "gold_create"),
        *("gold_labels_file_retrieve", "gold_preview_create", "productions_create", "run_sets_create"),
        *("productions_estimate_create", "prompts_examples_create", "runs_create", "runs_estimate_create"),
    }
