"""The API can do everything that pages can: each page is listed with its route, or with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import get_resolver

SAME = """
corpora: api-corpora
import-corpus: api-import-preview
upload: api-imports api-import-preview api-job
load-mapping: api-import-preview
rows-left-out: api-rows-left-out
cancel-upload: api-cancel-job
resume-upload: api-retry-job
dialogue: api-dialogue
corpus: api-corpus-overview api-corpus api-dialogues api-turns api-items
draw-split: api-splits
change-families: api-systems
change-marks: api-corpus
copy-without-turns: api-without-turns
delete-corpus: api-corpus
left-out: api-left-out
release-check: api-release-check
release-file: api-release-check
script: api-scripts api-script api-script-turns
script-file: api-script-file
script-session: api-script-session api-script-turns
edit-session: api-script-session
name-maps: api-script-names
questions: api-question-sets
question-set: api-question-set api-set-questions
question-uses: api-set-uses
relations: api-relations
question-records: api-facts api-questions
new-record: api-facts api-questions
edit-record: api-record
decide-records: api-decide-records api-record
record-reviews: api-record-reviews
personas: api-persona-inventories api-persona-sets
import-personas: api-persona-inventories
persona-inventory: api-persona-inventory
persona-inventory-file: api-persona-inventory
remove-persona-inventory: api-persona-inventory
persona-texts: api-persona-texts
new-persona-head: api-persona-heads
persona-head: api-persona-head
draw-personas: api-persona-sets
persona-set: api-persona-set api-personas api-persona-reviews
review-personas: api-review-personas
apply-persona-reviews: api-persona-reviews
persona-dialogues: api-persona-dialogues
persona: api-persona
scenarios: api-scenarios
new-scenario: api-scenarios api-check-scenario
scenario: api-scenario api-check-scenario api-answer-keys
comfort: api-comfort
password: api-password
make-token: api-tokens
revoke-token: api-token
account: api-tokens api-comfort
groups: api-groups
add-group: api-groups
group: api-group
described-person: api-annotator api-annotators
people: api-people api-invitations
add-person: api-people
invite-person: api-invitations
withdraw-invitation: api-invitation
send-invitation: api-send-invitation
audit-log: api-events
person: api-person
person-role: api-person
person-state: api-person
person-email: api-person
reset-link: api-reset-link
delete-person: api-person
schemes: api-schemes
new-scheme: api-schemes api-check-scheme
scheme-from-corpus: api-scheme-from-corpus
scheme-preview: api-scheme-preview
scheme: api-scheme api-scheme-versions api-scheme-difference
edit-scheme: api-scheme-versions
scheme-screen: api-scheme-preview
archive-scheme: api-scheme
export-scheme: api-scheme-version
my-campaigns: api-my-campaigns
my-submissions: api-own-submissions
my-messages: api-own-messages
answer-message: api-own-thread
ask-researcher: api-own-messages
work-answer: api-own-thread
work-note: api-own-notes
work-ask: api-own-messages
work: api-my-campaigns
work-next: api-work-next
work-reopen: api-work-reopen
work-guidelines: api-work-guidelines
work-accept: api-work-accept
work-task: api-work-next
work-draft: api-work-draft
work-submit: api-work-submit
work-skip: api-work-skip
lobby: api-lobby
lobby-wait: api-lobby
lobby-stop: api-lobby
chat: api-own-chat
chat-state: api-own-chat
chat-send: api-chat-send
chat-typing: api-chat-typing
chat-leave: api-chat-leave
chat-retry: api-chat-retry
chat-pick: api-chat-pick
new-chat-campaign: api-chat-campaigns
new-chat-system: api-chat-systems
remove-chat-system: api-chat-system
conversations: api-conversations
conversation: api-conversation
end-conversation: api-end-conversation
conversation-dialogues: api-conversation-dialogues
write: api-write
write-send: api-write-send
write-draft: api-write-draft
write-skip: api-write-skip
new-write-campaign: api-write-campaigns
writings: api-writings
writing: api-writing
campaigns: api-campaigns
new-campaign: api-campaigns api-campaign-defaults
campaign: api-campaign
campaign-preview: api-campaign-preview
campaign-preview-task: api-campaign-preview
edit-campaign: api-campaign
copy-campaign: api-copy-campaign
campaign-state: api-campaign-state
campaign-members: api-campaign-members
campaign-rules: api-campaign-rules
participants: api-participants api-join-links api-join-link api-participant-browsers api-confirm-browser
participants-file: api-participants
campaign-roles: api-campaign-roles api-campaign-role
submissions: api-submissions api-submission
held: api-held api-take-back
reorder-campaign: api-reorder-campaign
open-batch: api-batches-of-campaign
campaign-notes: api-campaign-notes
campaign-notes-file: api-campaign-notes
campaign-messages: api-campaign-messages
campaign-thread: api-campaign-thread
campaign-guidelines: api-campaign-guidelines
campaign-consent: api-campaign-consent
campaign-webhooks: api-campaign-webhooks
webhooks: api-webhooks
webhook: api-webhook api-webhook-deliveries
webhook-act: api-webhook-act api-rotate-webhook
redeliver-webhook: api-redeliver-webhook
jobs: api-jobs
cancel-job: api-cancel-job
change-jobs: api-change-jobs
change-runs: api-change-runs
change-campaigns: api-change-campaigns
retry-job: api-retry-job
new-run: api-runs api-estimate-run api-protocols api-metrics api-prompt-request api-prompts
run: api-run api-calls api-run-causes api-batches
run-progress: api-run
run-set: api-run-sets api-run-set api-estimate-run-set
change-run-set: api-change-run-set
run-set-report: api-run-set-report
cancel-run: api-cancel-run
pause-run: api-pause-run
resume-run: api-resume-run
cap-run: api-cap-run
run-costs: api-run-costs
raters: api-raters
rename-rater: api-rater
look-at-batch: api-look-at-batch
adopt-batch: api-adopt-batch
give-up-batch: api-give-up-batch
retry-run: api-retry-run
generate: api-generators api-productions api-estimate-productions
agents: api-agents api-productions
productions: api-productions
production: api-production api-production-steps
benchmarks: api-benchmarks
new-benchmark: api-benchmarks api-estimate-benchmark
benchmark: api-benchmark
benchmark-file: api-benchmark-file
go-on-benchmark: api-go-on-benchmark
cancel-benchmark: api-cancel-benchmark
checked-benchmark: api-checked-benchmark
simulate: api-simulations api-estimate-simulation
simulation: api-simulation
go-on-simulation: api-go-on-simulation
cancel-simulation: api-cancel-simulation
prompts: api-prompts
new-prompt: api-prompts
import-prompt: api-import-prompt
prompt-difference: api-prompt-difference
prompt-request: api-prompt-request
prompt: api-prompt api-prompt-versions
archive-prompt: api-prompt
export-prompt: api-export-prompt
prompt-version: api-prompt-version
edit-prompt: api-prompt-versions
pick-examples: api-prompt-examples
delete-prompt-version: api-prompt-version
corpus-dialogues: api-dialogues
corpus-annotation: api-campaigns
corpus-judges: api-runs
corpus-results: api-studies api-benches
corpus-gold: api-golds api-exports
corpus-settings: api-corpus api-splits api-systems
endpoints: api-endpoints api-endpoint-presets
endpoint: api-endpoint
test-endpoint: api-test-endpoint
reencrypt-keys: api-reencrypt-keys
model-prices: api-model-prices
model-price: api-model-price
delete-model-price: api-model-price
campaign-checks: api-checks api-check-results
campaign-checks-file: api-check-results
campaign-checks-people: api-check-people
campaign-checks-keys: api-check-keys-from
campaign-checks-new-key: api-check-keys
campaign-checks-key: api-check-key
own-agreement: api-own-agreement
corpus-report: api-corpus-report
campaign-report: api-campaign-report
campaign-watch: api-campaign-watch
campaign-plan: api-campaign-plan
profile: api-profile
profile-file: api-profile
counts: api-counts
counts-test: api-counts
counts-file: api-counts
cascade: api-cascade
cascade-test: api-cascade
cascade-file: api-cascade
decision: api-decision
answers: api-answers
answers-test: api-answers
answers-file: api-answers
answers-list: api-answers-list
answer: api-answer
preferences: api-preferences
preferences-test: api-preferences
preferences-file: api-preferences
turns-and-whole: api-turns-and-whole
turns-and-whole-file: api-turns-and-whole
compare: api-compare
compare-file: api-compare
profile-continuation: api-profile-continuation
new-study: api-studies
study: api-study
report: api-report
report-pairs: api-report
report-failures: api-report-items
report-items: api-report-items
plan: api-plan
plan-file: api-plan
plan-progress: api-plan
recompute: api-recompute
report-progress: api-study
open-test: api-open-test
report-file: api-report-file
report-table: api-report-tables api-report-table
report-share: api-report-shares api-report-share
corpus-drift: api-anchor-sets
anchor-set: api-anchor-set api-rechecks api-estimate-recheck
anchor-set-act: api-rechecks api-anchor-set
recheck: api-recheck
judge-monitor: api-judge-monitor
golds: api-golds
new-gold: api-golds api-preview-gold api-gold-rules
gold: api-gold
gold-file: api-gold-labels
gold-difference: api-gold-difference
gold-difference-file: api-gold-difference-file
gold-provenance: api-gold
exports: api-exports
export-manifest: api-exports
export-labels: api-export-labels
export-package: api-export-package
transcripts: api-export-transcripts
export-transcripts: api-export-transcripts
export-dialogues: api-export-dialogues
export-sft: api-export-sft
export-names: api-export-names
export-file: api-export-file
new-bench: api-benches
bench: api-bench api-try-draft
draft-panel: api-draft
draft-act: api-draft-act
bench-differences: api-bench-disagreements
bench-mark: api-bench-marks
bench-marks: api-bench-marks
bench-versions: api-bench-versions
bench-checks: api-bench-checks
bench-searches: api-bench-searches
bench-search: api-bench-search
search-act: api-search-act
adjudication: api-adjudication api-adjudication-rounds
withdraw-adjudication: api-withdraw-adjudication
new-adjudication: api-adjudication-rounds api-preview-adjudication
adjudication-round: api-adjudication-round api-adjudication-report api-adjudication-cases
change-adjudication: api-adjudication-round
import-decisions: api-import-decisions
adjudication-file: api-adjudication-file
adjudication-case: api-adjudication-case
withdraw-decision: api-withdraw-decision
my-adjudication: api-my-adjudication
adjudicate: api-claim-case
adjudicate-case: api-decide-case
adjudicate-draft: api-draft-case
adjudicate-pass: api-pass-case
"""
NONE = {
    "lobby-events": "tells a page when to ask api-lobby again",
    "chat-events": "tells a page when to ask api-own-chat again",
    "home": "leads to the first page of whoever signs in",
    "login": "a program has a token",
    "logout": "a program has a token",
    "sign-in-with": "a person signs in with a provider, in a browser",
    "sign-in-return": "a person signs in with a provider, in a browser",
    "use-link": "a person chooses a password",
    "join": "a participant comes from a recruiting service, in a browser",
    "shared-report": "whoever has the link reads it, in a browser",
    "report-chart": "a picture of figures that api-report gives",
    "profile-chart": "a picture of figures that api-profile gives",
    "hide-first-steps": "hides a hint on a page",
    "search": "lists of the API name everything",
    "time-zone": "times of the API are in UTC",
    "healthz": "asked by what watches the server",
    "readyz": "asked by what watches the server",
}


def routes(patterns: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every route's path and name."""
    for entry in patterns:
        here = path + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from routes(entry.url_patterns, here)
        else:
            yield here, entry.name


def test_every_page_has_its_route_in_the_api_or_a_reason_for_none() -> None:
    everything = list(routes(get_resolver().url_patterns))
    pages = {name for path, name in everything if not path.startswith("api/")}
    api = {name for path, name in everything if path.startswith("api/")}
    same = {
        page: set(names.split()) for page, names in (line.split(": ") for line in SAME.split("\n") if line)
    }
    assert pages - set(same) - set(NONE) == set(), "pages that a program cannot do the same as"
    assert (set(same) | set(NONE)) - pages == set(), "pages that there are no longer"
    assert {name for names in same.values() for name in names} - api == set(), "routes that there are not"
