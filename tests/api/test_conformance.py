"""The API conforms to its OpenAPI document, and no input breaks it: all routes.

Schemathesis generates valid and invalid requests, and checks the responses with all its checks. The seed is
fixed. Half of the requests are about existing objects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from config.wsgi import application
from tests.api.conftest import TOKEN

pytestmark = pytest.mark.django_db
HEADERS = {"Authorization": f"Token {TOKEN}", "Accept-Encoding": "identity"}
TIMES = int(os.environ.get("CONCORD_REQUESTS") or 1)
"""`CONCORD_REQUESTS=10` makes a campaign of it."""
MADE_UP = 5 * TIMES
"""Requests made up at random, for each operation."""
AT_THE_EDGES = 10 * TIMES
"""Requests at the edges of what is described, for each operation at most."""

BY_NAME = {
    "POST /api/v1/workbench/{id}/drafts/": "a version, a variant or a parent is named, and may be gone",
    "POST /api/v1/batches/{id}/adopt/": "a provider's id has no NUL in it",
    "GET /api/v1/corpora/{id}/report/": "there may be no such part, and test may be locked",
    "GET /api/v1/campaigns/{campaign}/report/": "there may be no such part, and test may be locked",
    "GET /api/v1/campaigns/{campaign}/plan/": "as for a study: question, width and part",
    "PATCH /api/v1/account/comfort/": "one key never has two commands, and a digit is none",
    "POST /api/v1/adjudication/rounds/": "questions and judges are named, and rules may pick nothing",
    "POST /api/v1/adjudication/rounds/preview/": "questions and judges are named in the rules",
    "POST /api/v1/adjudication/rounds/{id}/import/": "the file is read, line by line",
    "POST /api/v1/adjudication/decisions/{id}/withdraw/": "a decision is withdrawn once",
    "POST /api/v1/account/password/": "the old password is named",
    "GET /api/v1/corpora/{id}/counts/": "raters, questions and keys are named",
    "GET /api/v1/dialogues/{id}/compare/": "continuations are named, and there may be nothing to compare",
    "POST /api/v1/corpora/{id}/agents/": "there may be no scenario and no such part, and names are taken",
    "POST /api/v1/corpora/{id}/counts/": "there may be no split",
    "GET /api/v1/corpora/{id}/cascade/": "raters and keys are named, and there may be no scenarios",
    "POST /api/v1/corpora/{id}/cascade/": "there may be no split",
    "GET /api/v1/decisions/{id}/": "raters are named",
    "GET /api/v1/corpora/{id}/answers/": "judges and settings are named, and there may be no answers",
    "POST /api/v1/corpora/{id}/answers/": "there may be no split",
    "GET /api/v1/corpora/{id}/answers/list/": "judges are named, and there may be no such part",
    "GET /api/v1/answers/{id}/": "judges are named, and there may be no record of what was asked",
    "GET /api/v1/corpora/{id}/preferences/": "nobody may have compared anything, and systems are named",
    "POST /api/v1/corpora/{id}/preferences/": "there may be no split",
    "GET /api/v1/corpora/{id}/profile/": "there may be no question to exclude by",
    "GET /api/v1/corpora/{id}/turns-and-whole/": "questions are named, which people may not have answered",
    "POST /api/v1/exports/labels.{form}": "one of corpus and campaign, and for test a purpose",
    "GET /api/v1/exports/packages/{kind}.zip": "a corpus is named, and there may be nothing for the tool",
    "POST /api/v1/exports/packages/{kind}.zip": "as for GET, and test needs a purpose",
    "GET /api/v1/exports/transcripts.{form}": "corpus, continuations and raters are named",
    "POST /api/v1/exports/transcripts.{form}": "as for GET, and test needs a purpose",
    "GET /api/v1/exports/dialogues.jsonl": "a corpus is named, and there may be no question to exclude by",
    "GET /api/v1/exports/sft.jsonl": "a corpus is named, in which there may be no part and nothing to teach",
    "POST /api/v1/exports/sft.jsonl": "as for GET, and test needs a purpose",
    "POST /api/v1/gold/{id}/labels.{form}": "test needs a purpose",
    "GET /api/v1/gold/{id}/difference/{other}/": "a question may be named, which both answer",
    "GET /api/v1/gold/{id}/difference/{other}/rows.{form}": "test is taken by POST",
    "POST /api/v1/gold/{id}/difference/{other}/rows.{form}": "test needs a purpose",
    "GET /api/v1/gold/{id}/labels.{form}": "there may be no split, and test is taken by POST",
    "POST /api/v1/invitations/": "a name is taken, or like another",
    "DELETE /api/v1/people/{id}/": "the confirmation is the person's name",
    "POST /api/v1/groups/": "a name is taken, people are named",
    "PATCH /api/v1/groups/{id}/": "a name is taken, people are named",
    "PATCH /api/v1/annotators/{id}/": "a language has a tag",
    "PUT /api/v1/campaigns/{campaign}/rules/": "groups and fields are named",
    "POST /api/v1/campaigns/{campaign}/join-links/": "an address is https, a moment lies ahead",
    "POST /api/v1/campaigns/{campaign}/roles/": "people are named",
    "POST /api/v1/people/": "a name is taken or like another, a password is weak",
    "POST /api/v1/run-sets/": "corpus, systems, judges and metrics are named",
    "POST /api/v1/run-sets/estimate/": "corpus, systems and judges are named",
    "POST /api/v1/run-sets/{id}/changes/": "a change may apply to no run",
    "POST /api/v1/run-sets/{id}/report/": "no judge of the set may have a label yet",
    "POST /api/v1/runs/estimate/": "corpus, systems and protocol are named",
    "GET /api/v1/metrics/": "a corpus may be named",
    "POST /api/v1/campaigns/": "corpus, systems and annotators are named",
    "PATCH /api/v1/campaigns/{campaign}/": "corpus, systems and annotators are named, settings fit together",
    "POST /api/v1/campaigns/{campaign}/copy/": "a name is taken",
    "POST /api/v1/campaigns/{campaign}/held/": "a task and an annotator are named",
    "POST /api/v1/campaigns/{campaign}/held/{assignment}/": "an annotator may be named",
    "POST /api/v1/campaigns/{campaign}/order/": "a field and a judge are named",
    "POST /api/v1/campaigns/{campaign}/checks/people/": "an annotator is named",
    "POST /api/v1/campaigns/{campaign}/checks/keys/": "a task and its questions are named",
    "POST /api/v1/campaigns/{campaign}/members/": "people are named",
    "POST /api/v1/imports/": "the file is read, and corpora are named",
    "POST /api/v1/imports/preview/": "a mapping has roles that there are, and files have names",
    "POST /api/v1/corpora/{id}/scenarios/": "a scenario has a form of its own",
    "PUT /api/v1/corpora/{id}/scenarios/{dialogue}/": "a scenario has a form of its own",
    "PATCH /api/v1/corpora/{id}/scripts/{dialogue}/sessions/{number}/": "dates are dates, people are named",
    "GET /api/v1/corpora/{id}/scripts/{dialogue}/file/": "question sets are named, and test may be locked",
    "POST /api/v1/corpora/{id}/scripts/{dialogue}/names/": "people are named, and names fit the script",
    "POST /api/v1/corpora/{id}/facts/": "relations, sessions and turns are named",
    "POST /api/v1/corpora/{id}/questions/": "an answer is one of four choices, and sessions are named",
    "PATCH /api/v1/corpora/{id}/records/{record}/": "relations, sessions and turns are named",
    "POST /api/v1/corpora/{id}/question-sets/": "a corpus may have no long dialogue, and names have no @",
    "PUT /api/v1/corpora/{id}/relations/": "a table of relations has a form of its own",
    "POST /api/v1/scenarios/check/": "a scenario has a form of its own",
    "POST /api/v1/corpora/{name}/without-turns/": "corpora are named, and there may be nobody in one",
    "PATCH /api/v1/corpora/{name}/systems/": "systems are named",
    "PATCH /api/v1/dialogues/{id}/keys/": "turns and participants are named, keys fit their script",
    "POST /api/v1/corpora/{name}/splits/": "a split that is used is fixed",
    "DELETE /api/v1/corpora/{name}/": "the confirmation is the corpus's name",
    "POST /api/v1/endpoints/": "a name is taken, an address refused",
    "PUT /api/v1/endpoints/{id}/": "a name is taken, an address refused",
    "PATCH /api/v1/endpoints/{id}/": "a name is taken, an address refused",
    "POST /api/v1/model-prices/": "a model has prices already, a name has one * at its end",
    "PATCH /api/v1/model-prices/{id}/": "a model has prices already, a name has one * at its end",
    "GET /api/v1/exports/labels.{form}": "one of corpus and campaign, that there is",
    "POST /api/v1/gold/": "corpus, scheme and raters are named",
    "POST /api/v1/gold/preview/": "corpus, scheme and raters are named",
    "POST /api/v1/runs/": "corpus, systems, metric or protocol are named",
    "POST /api/v1/productions/": "corpus, generator and endpoint are named",
    "POST /api/v1/productions/estimate/": "corpus, generator and endpoint are named",
    "POST /api/v1/chat-campaigns/": "corpus and scheme are named, a name is taken",
    "POST /api/v1/campaigns/{campaign}/systems/": "an endpoint is named, a name is taken",
    "DELETE /api/v1/campaigns/{campaign}/systems/{system}/": "only a draft's systems are removed",
    "POST /api/v1/write-campaigns/": "corpus and scheme are named, a name is taken",
    "POST /api/v1/benchmarks/": "corpora, sources and endpoint are named",
    "POST /api/v1/personas/inventories/": "a name is taken, an inventory has a form of its own",
    "PUT /api/v1/personas/inventories/{id}/texts/": "two lists may be for one generation",
    "POST /api/v1/personas/inventories/{id}/heads/": "an end may be before its start, a text taken",
    "PUT /api/v1/personas/inventories/{id}/heads/{number}/": "an end may be before its start, a text taken",
    "DELETE /api/v1/personas/inventories/{id}/": "personas may be drawn from it",
    "POST /api/v1/personas/sets/": "an inventory is named, a name is taken",
    "PATCH /api/v1/personas/sets/{id}/personas/{number}/": "a correction has sentences",
    "POST /api/v1/personas/sets/{id}/dialogues/": "enough personas are accepted, a name is taken",
    "POST /api/v1/anchor-sets/": "corpus, gold and campaign are named",
    "PATCH /api/v1/anchor-sets/{id}/": "judges are named",
    "POST /api/v1/anchor-sets/{id}/rechecks/": "a judge is named",
    "POST /api/v1/anchor-sets/{id}/rechecks/estimate/": "a judge is named",
    "GET /api/v1/corpora/{name}/left-out/": "a question that people are asked is named",
    "GET /api/v1/corpora/{id}/monitor/": "judge and question are named",
    "POST /api/v1/benchmarks/estimate/": "corpora, sources and endpoint are named",
    "GET /api/v1/benchmarks/{id}/file/": "there is none before the benchmark is made",
    "POST /api/v1/benchmarks/{id}/go-on/": "only one that is stuck or was cancelled",
    "POST /api/v1/corpora/{id}/simulations/": "a question set and an endpoint are named",
    "POST /api/v1/corpora/{id}/simulations/estimate/": "a question set and an endpoint are named",
    "POST /api/v1/simulations/{id}/go-on/": "only one that is stuck or was cancelled",
    "POST /api/v1/benchmarks/{id}/checked/": "only one that is made",
    "POST /api/v1/runs/{id}/pause/": "only a run that waits or runs is paused",
    "POST /api/v1/runs/{id}/resume/": "only a paused run is resumed",
    "POST /api/v1/runs/{id}/caps/": "a run that asks nobody has no caps",
    "POST /api/v1/webhooks/": "an address is refused, or told already",
    "POST /api/v1/campaigns/{campaign}/messages/": "who is written to is named, and no text holds a NUL",
    "POST /api/v1/campaigns/{campaign}/webhooks/": "an address is refused, or told already",
    "POST /api/v1/work/messages/": "no text holds a NUL",
    "POST /api/v1/workbench/": "protocol, corpus and campaign are named",
    "POST /api/v1/workbench/{id}/searches/": "a text and endpoints are named",
    "POST /api/v1/workbench/{id}/searches/{search}/{verb}/": "a proposal that there is is named",
    "POST /api/v1/prompts/": "a prompt to begin with is named, and a text has variables",
    "GET /api/v1/prompts/diff/": "two versions are named",
    "POST /api/v1/prompts/import/": "the text is a file",
    "POST /api/v1/prompts/request/": "prompt, corpus, item and endpoint are named",
    "POST /api/v1/prompts/{name}/examples/": "corpus, items and judge are named",
    "POST /api/v1/prompts/{name}/versions/": "a text has variables",
    "DELETE /api/v1/prompts/{name}/versions/{number}/": "what comes with Concord stays",
    "GET /api/v1/schemes/diff/": "two versions are named",
    "POST /api/v1/schemes/from-corpus/": "a corpus is named",
    "POST /api/v1/studies/": "the corpus is named, and a definition has a language of its own",
    "GET /api/v1/studies/{id}/items/": "question and raters are named",
    "GET /api/v1/studies/{id}/plan/": "a question is named, one width, and a part that there may not be",
    "POST /api/v1/studies/{id}/open-test/": "there may be no split",
    "POST /api/v1/studies/{id}/recompute/": "there may be no such part",
}
"""Operations that may answer 400 to a request that is as described, because of what it names."""

ACCEPTED = ["2xx", "401", "403", "404", "409", "422"]
CONFIG = {
    "checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}},
    "operations": [
        {
            "include-name": label,
            "checks": {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, "400"]}},
        }
        for label in BY_NAME
    ],
}


@pytest.fixture(scope="module")
def schema(one_of_each: dict[str, Any]) -> Any:
    """The document, as the application hands it out."""
    import schemathesis
    from schemathesis.config import SchemathesisConfig

    address, config = "/api/v1/schema/?format=json", SchemathesisConfig.from_dict(CONFIG)
    return schemathesis.openapi.from_wsgi(address, application, headers=HEADERS, config=config)


def _modes() -> list[Any]:
    """Valid requests, and invalid ones."""
    from schemathesis import GenerationMode

    return [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


def _about_what_exists(case: Any, known: dict[str, Any]) -> None:
    """Replace even numbers, and names of an odd length, in a path by those of things that exist."""
    room = case.operation.path.split("/")[3]
    for name, value in dict(case.path_parameters or {}).items():
        if type(value) is int and value % 2 == 0:
            case.path_parameters[name] = known.get(name, known.get(room, value))
        elif name == "name" and isinstance(value, str) and len(value) % 2:
            case.path_parameters[name] = "talks"


def _made_up(operation: Any, ask: Callable[[Any], None], known: dict[str, Any]) -> None:
    """Ask with requests made up at random, valid and invalid ones."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, settings

    valid, invalid = (operation.as_strategy(generation_mode=mode) for mode in _modes())

    @hypothesis.seed(1)
    @settings(
        max_examples=MADE_UP,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @hypothesis.given(case=valid | invalid)
    def run(case: Any) -> None:
        _about_what_exists(case, known)
        ask(case)

    run()


def _at_the_edges(schema: Any, operation: Any) -> Iterator[Any]:
    """Return requests at the edges of what is described, and with other methods."""
    cases = operation.schema.iter_coverage_cases(
        operation, generation_modes=_modes(), generation_config=schema.config.generation
    )
    return islice(cases, AT_THE_EDGES)


@pytest.mark.exhaustive
def test_every_route_is_as_the_document_says(schema: Any, one_of_each: dict[str, Any]) -> None:
    from schemathesis.core.failures import FailureGroup

    found: list[str] = []

    def ask(case: Any) -> None:
        try:
            case.call_and_validate(headers=HEADERS)
        except FailureGroup as group:
            wrong = "; ".join(f"{one.title}: {one.message}" for one in group.exceptions)
            found.append(f"{case.operation.label}: {wrong[:800]} (body: {ascii(case.body)[:200]})")

    operations = [result.ok() for result in schema.get_all_operations()]
    for operation in operations:
        _made_up(operation, ask, one_of_each)
        for case in _at_the_edges(schema, operation):
            ask(case)
    assert len(operations) > 50
    assert not found, "\n\n".join(list(dict.fromkeys(found))[:40])


def test_the_document_is_made_without_a_warning() -> None:
    from drf_spectacular.drainage import GENERATOR_STATS
    from drf_spectacular.generators import SchemaGenerator

    with GENERATOR_STATS.silence():
        SchemaGenerator().get_schema(request=None, public=True)
        assert not GENERATOR_STATS._error_cache
        assert not GENERATOR_STATS._warn_cache


@pytest.mark.exhaustive
def test_the_operations_that_name_things_exist(schema: Any) -> None:
    assert BY_NAME.keys() <= {result.ok().label for result in schema.get_all_operations()}
