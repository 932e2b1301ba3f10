"""Permissions of every URL: a URL missing in this table, or open to others, fails."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests import factories
from tests.security.addresses import Address, addresses

pytestmark = pytest.mark.django_db


def _names(*lines: str) -> set[str]:
    return {name for line in lines for name in line.split()}


PUBLIC = _names("healthz readyz login use-link join sign-in-with sign-in-return shared-report")
SIGNED_IN = _names(
    "home time-zone account password make-token revoke-token logout my-campaigns api-schema api-docs",
    "api-my-campaigns api-password api-tokens api-token comfort api-comfort my-submissions my-messages",
    "api-own-submissions api-own-messages my-adjudication api-my-adjudication",
)
MEMBERS = _names(
    "work work-next work-reopen work-guidelines work-accept work-task work-draft work-submit work-skip",
    "api-work-next api-work-reopen api-work-draft api-work-submit api-work-skip api-work-guidelines",
    "api-work-accept work-note work-ask work-answer ask-researcher answer-message own-agreement",
    "api-own-notes api-own-thread api-own-agreement",
    "adjudicate adjudicate-case adjudicate-draft adjudicate-pass",
    "api-claim-case api-decide-case api-draft-case api-pass-case",
    "lobby lobby-wait lobby-stop lobby-events chat chat-state chat-events chat-send chat-typing chat-leave",
    "api-lobby api-own-chat api-chat-send api-chat-typing api-chat-leave",
    "chat-retry chat-pick api-chat-retry api-chat-pick",
    "write write-send write-draft write-skip api-write api-write-send api-write-draft api-write-skip",
)
RESEARCHERS = _names(
    "new-chat-campaign conversations conversation end-conversation conversation-dialogues",
    "new-chat-system remove-chat-system api-chat-systems api-chat-system",
    "api-chat-campaigns api-conversations api-conversation api-end-conversation api-conversation-dialogues",
    "new-write-campaign writings writing api-write-campaigns api-writings api-writing",
    "corpora hide-first-steps corpus dialogue import-corpus upload load-mapping cancel-upload resume-upload",
    "draw-split corpus-dialogues corpus-annotation corpus-judges corpus-results corpus-gold corpus-settings",
    "search",
    "change-families change-marks rows-left-out left-out api-left-out",
    "release-check release-file api-release-check",
    "copy-without-turns api-without-turns api-answer-keys",
    "script script-file script-session edit-session name-maps api-scripts api-script api-script-turns",
    "api-script-session api-script-names api-script-file",
    "questions question-set question-uses relations question-records new-record edit-record decide-records",
    "record-reviews api-facts api-questions api-record api-record-reviews api-decide-records",
    "api-question-sets api-question-set api-set-questions api-set-uses api-relations",
    "scenarios new-scenario scenario api-scenarios api-scenario api-check-scenario",
    "api-imports api-import-preview rows-left-out api-rows-left-out",
    "api-corpora api-corpus api-corpus-overview api-dialogues api-turns api-items api-splits api-systems",
    "api-dialogue",
    "api-schemes api-check-scheme api-scheme-difference api-scheme-from-corpus",
    "api-scheme api-scheme-versions api-scheme-version",
    "campaigns new-campaign campaign campaign-state campaign-members campaign-guidelines",
    "edit-campaign copy-campaign api-copy-campaign campaign-roles api-campaign-roles api-campaign-role",
    "groups add-group group described-person api-groups api-group api-annotators api-annotator",
    "campaign-rules api-campaign-rules participants participants-file",
    "api-join-links api-join-link api-participants api-participant-browsers api-confirm-browser",
    "api-dismiss-browser",
    "campaign-consent api-campaign-consent",
    "campaign-checks campaign-checks-file campaign-checks-people campaign-checks-keys",
    "campaign-checks-new-key campaign-checks-key api-checks api-check-results api-check-people",
    "api-check-keys api-check-keys-from api-check-key",
    "campaign-notes campaign-notes-file campaign-messages campaign-thread",
    "api-campaign-notes api-campaign-messages api-campaign-thread",
    "submissions api-submissions api-submission campaign-preview campaign-preview-task",
    "held api-held api-take-back reorder-campaign api-reorder-campaign",
    "open-batch api-batches-of-campaign",
    "schemes new-scheme scheme-from-corpus scheme-preview scheme edit-scheme scheme-screen archive-scheme",
    "export-scheme",
    "api-campaign-defaults",
    "api-campaigns api-campaign api-campaign-state api-campaign-members api-campaign-guidelines",
    "raters rename-rater api-raters api-rater",
    "run-set change-run-set run-set-report api-run-sets api-estimate-run-set api-run-set",
    "api-change-run-set api-run-set-report",
    "new-run run run-progress cancel-run retry-run pause-run resume-run cap-run run-costs",
    "api-pause-run api-resume-run api-cap-run api-run-costs jobs cancel-job retry-job",
    "look-at-batch adopt-batch give-up-batch",
    "api-batches api-look-at-batch api-adopt-batch api-give-up-batch",
    "change-jobs change-runs change-campaigns api-change-jobs api-change-runs api-change-campaigns",
    "api-jobs api-job api-cancel-job api-retry-job",
    "api-runs api-estimate-run api-run api-run-causes api-cancel-run api-retry-run",
    "api-calls api-protocols api-metrics",
    "generate productions production agents api-agents",
    "api-generators api-productions api-estimate-productions api-production api-production-steps",
    "benchmarks new-benchmark benchmark benchmark-file go-on-benchmark cancel-benchmark checked-benchmark",
    "api-benchmarks api-estimate-benchmark api-benchmark api-benchmark-file api-go-on-benchmark",
    "api-cancel-benchmark api-checked-benchmark",
    "simulate simulation go-on-simulation cancel-simulation api-simulations api-estimate-simulation",
    "personas import-personas persona-inventory draw-personas persona-inventory-file persona-texts",
    "remove-persona-inventory new-persona-head persona-head persona-set review-personas persona",
    "apply-persona-reviews persona-dialogues api-persona-inventories api-persona-inventory",
    "api-persona-texts api-persona-heads api-persona-head api-persona-sets api-persona-set api-personas",
    "api-persona api-review-personas api-persona-reviews api-persona-dialogues",
    "api-simulation api-go-on-simulation api-cancel-simulation",
    "prompts new-prompt import-prompt prompt-difference prompt-request prompt archive-prompt",
    "export-prompt prompt-version edit-prompt pick-examples delete-prompt-version",
    "api-prompts api-prompt-difference api-import-prompt api-prompt-request api-prompt api-prompt-examples",
    "api-export-prompt api-prompt-versions api-prompt-version",
    "campaign-watch api-campaign-watch campaign-plan api-campaign-plan",
    "corpus-report campaign-report new-study study report recompute report-progress open-test",
    "report-file report-table report-chart report-pairs report-failures report-items api-report-items",
    "report-share api-report-shares api-report-share",
    "corpus-drift anchor-set anchor-set-act recheck judge-monitor",
    "api-anchor-sets api-anchor-set api-rechecks api-estimate-recheck api-recheck api-judge-monitor",
    "golds new-gold gold gold-file gold-provenance",
    "gold-difference gold-difference-file api-gold-rules api-preview-gold",
    "api-gold-difference api-gold-difference-file",
    "counts counts-file counts-test api-counts",
    "cascade cascade-file cascade-test decision api-cascade api-decision",
    "answers answers-file answers-test answers-list answer api-answers api-answers-list api-answer",
    "preferences preferences-file preferences-test api-preferences",
    "turns-and-whole turns-and-whole-file api-turns-and-whole",
    "exports export-names api-export-names",
    "export-sft api-export-sft",
    "export-dialogues api-export-dialogues",
    "export-labels export-package transcripts export-transcripts export-file export-manifest",
    "plan plan-file plan-progress api-plan",
    "new-bench bench draft-panel draft-act bench-differences bench-mark bench-marks",
    "bench-versions bench-checks adjudication withdraw-adjudication",
    "api-benches api-bench api-try-draft api-draft api-draft-act api-bench-disagreements api-bench-marks",
    "api-bench-versions api-bench-checks api-adjudication api-withdraw-adjudication",
    "new-adjudication adjudication-round change-adjudication import-decisions adjudication-file",
    "adjudication-case withdraw-decision",
    "api-adjudication-rounds api-preview-adjudication api-adjudication-round api-adjudication-report",
    "api-adjudication-cases api-adjudication-case api-import-decisions api-adjudication-file",
    "api-withdraw-decision",
    "bench-searches bench-search search-act api-bench-searches api-bench-search api-search-act",
    "campaign-webhooks webhook webhook-act redeliver-webhook",
    "api-campaign-webhooks api-webhook api-webhook-act api-rotate-webhook api-webhook-deliveries",
    "api-redeliver-webhook api-campaign-preview api-scheme-preview",
    "compare compare-file api-compare",
    "profile profile-file profile-chart profile-continuation api-profile api-profile-continuation",
    "api-studies api-study api-report api-recompute api-open-test api-report-file",
    "api-report-tables api-report-table",
    "endpoints endpoint api-endpoints api-endpoint api-endpoint-presets test-endpoint api-test-endpoint",
    "model-prices api-model-prices",
    "api-corpus-report api-campaign-report api-golds api-gold api-gold-labels",
    "api-exports api-export-labels api-export-package api-export-transcripts api-export-file",
)
ADMINISTRATORS = _names(
    "people add-person invite-person withdraw-invitation send-invitation audit-log",
    "person person-role person-state person-email reset-link delete-person delete-corpus",
    "api-people api-person api-reset-link api-invitations api-invitation api-events",
    "api-invitations-by-mail api-send-invitation",
    "webhooks api-webhooks",
    "reencrypt-keys api-reencrypt-keys",
    "model-price delete-model-price api-model-price",
)
BODY = {"version": 1, "answers": {}, "reason": "because"}
REFUSALS = {302, 401, 403, 404, 405}


def listed() -> list[Address]:
    return addresses()


def named(names: set[str]) -> list[Address]:
    return [address for address in listed() if address.name in names]


def statuses(client: Client, address: Address) -> set[int]:
    posted = client.post(address.path, BODY, content_type="application/json")
    if posted.status_code == 400 and address.path.startswith("/api/"):  # of the fields, those it has
        known = {name: value for name, value in BODY.items() if name not in posted.json()["fields"]}
        posted = client.post(address.path, known, content_type="application/json")
    return {client.get(address.path).status_code, posted.status_code}


@pytest.fixture
def annotator() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user("ana"))
    return client


@pytest.fixture
def researcher() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user("rei", researcher=True))
    return client


@pytest.fixture
def administrator() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser("root", password="a long password"))
    return client


def test_every_address_is_in_one_audience() -> None:
    audiences = [PUBLIC, SIGNED_IN, MEMBERS, RESEARCHERS, ADMINISTRATORS]
    unplaced = [
        address.name for address in listed() if sum(address.name in names for names in audiences) != 1
    ]
    assert unplaced == []


def test_the_table_names_no_address_that_is_gone() -> None:
    known = {address.name for address in listed()}
    assert (PUBLIC | SIGNED_IN | MEMBERS | RESEARCHERS | ADMINISTRATORS) - known == set()


def test_a_visitor_gets_nothing_but_the_public_addresses() -> None:
    client = Client(raise_request_exception=False)
    for address in listed():
        if address.name not in PUBLIC:
            assert statuses(client, address) <= REFUSALS, address
            response = client.get(address.path)
            if response.status_code == 302:
                assert response["Location"].startswith("/sign-in/"), address


def test_an_annotator_is_refused_what_researchers_and_administrators_use(annotator: Client) -> None:
    for address in named(RESEARCHERS | ADMINISTRATORS):
        assert statuses(annotator, address) <= {403, 405}, address
        assert 403 in statuses(annotator, address), address


def test_an_annotator_is_refused_the_work_of_campaigns_that_are_not_theirs(annotator: Client) -> None:
    for address in named(MEMBERS):
        assert statuses(annotator, address) <= {403, 404, 405}, address


def test_a_researcher_is_refused_what_administrators_use(researcher: Client) -> None:
    for address in named(ADMINISTRATORS):
        assert statuses(researcher, address) <= {403, 405}, address
        assert 403 in statuses(researcher, address), address


def test_no_address_breaks_on_made_up_arguments(administrator: Client) -> None:
    for address in listed():
        if address.name != "readyz":
            assert max(statuses(administrator, address)) < 500, address
