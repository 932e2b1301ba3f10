"""Every change by a person is an action with its user, and leaves an entry in the audit log."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from config.settings import BASE_DIR
from tests.security import audit_chats, audit_checks, audit_personas, audit_scenarios, audit_scripts
from tests.security import audit_rounds as rounds
from tests.security import audit_systems as systems
from tests.security import audit_worlds as worlds

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

APPS = ("annotation", "judges", "suites", "jobs", "calibration")
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "update", "delete", "save"}

TRACED = {
    "annotation.work.task_actions.save_draft": "drafts belong to their assignment, which names its annotator",
    "annotation.work.task_actions.submit": "labels are appended with rater and time, and never changed",
    "annotation.work.task_actions.skip": "an assignment keeps its reason and its annotator",
    "annotation.work.task_actions.give_up": "an assignment keeps its reason and its annotator",
    "annotation.work.task_actions.complete": "an assignment keeps its annotator and its time",
    "annotation.work.task_actions.start": "an assignment says whose it is, and since when",
    "annotation.work.task_page.accept": "what was agreed to is kept with its version, person and time",
    "annotation.work.task_actions.reopen": "nothing is changed before the revision is submitted",
    "annotation.corpora.deletion.check": "changes nothing",
    "annotation.work.messages.ask": "messages are appended with their writer and time, and never changed",
    "annotation.work.messages.see": "that somebody has read a message of their own",
    "annotation.work.notes.held_by": "changes nothing",
    "annotation.work.notes.set_note": "each version of a note is kept with its writer and time",
    "annotation.people.preferences.change": "one's own settings of a page",
    "annotation.campaigns.defaults.defaults": "changes nothing",
    "annotation.pages.campaign_form.new_initial": "changes nothing",
    "annotation.work.task_page.beside": "changes nothing",
    "calibration.campaign_progress.progress": "changes nothing",
    "calibration.campaign_progress.watch": "changes nothing",
    "calibration.adjudication.decisions.hold": "a case says who holds it, and since when",
    "calibration.adjudication.decisions.must_be_open": "changes nothing",
    "calibration.adjudication.decisions.must_not_be_own": "changes nothing",
    "calibration.adjudication.decisions.in_hand": "changes nothing",
    "calibration.adjudication.decisions.next_case": "a case says who holds it, and since when",
    "calibration.adjudication.decisions.one_at_a_time": "changes nothing",
    "calibration.adjudication.decisions.take_again": "a case says who holds it, and since when",
    "calibration.adjudication.decisions.decide": "labels are appended with rater and time, and never changed",
    "calibration.adjudication.decisions.pass_on": "a decision keeps its reason and its adjudicator",
    "calibration.adjudication.decisions.save_draft": "a draft belongs to its case and adjudicator",
    "annotation.campaigns.campaign_actions.log": "writes the entry",
    "jobs.runs.log": "writes the entry",
    "suites.continuation.productions.pipelines.log": "writes the entry",
    "judges.drafts.draft_actions.opened_run": "whoever opens it runs or keeps the draft, and logs that",
    "judges.drafts.draft_actions.run_on": "whoever opens it runs a draft or a search, and logs that",
    "annotation.corpora.previews.prepare": "a trial of an import is undone",
    "annotation.corpora.uploads.keep": "a file is its sender's alone until its import, which is logged",
    "judges.prompts.requests.start": "the job that it starts is logged where jobs are started",
    **audit_chats.TRACED,
    **audit_checks.TRACED,
    **audit_scripts.TRACED,
}
"""What needs no entry in the audit log, and why."""

PASSED_ON = {
    "annotation.campaigns.campaign_actions.open_campaign": "start",
    "annotation.campaigns.campaign_actions.change_members": "add_member",
    "annotation.people.links.invite_by_mail": "invite",
    "annotation.people.links.send_invitations": "queue",
    "annotation.corpora.deletion.start_deletion": "delete_corpus",
    "annotation.corpora.uploads.receive": "start",
    "annotation.corpora.uploads.start": "start",
    "annotation.corpora.uploads.import_now": "_import_from",
    "annotation.corpora.uploads.repeat": "retry",
    "annotation.corpora.uploads.cancel": "cancel",
    "annotation.scheme_actions.create_from_corpus": "create",
    "calibration.campaign_checks.add": "add_keys",
    "calibration.exports.downloads.difference_or_job": "order_or_job",
    "suites.collecting.persona_actions.import_lines": "import_path",
    "suites.reports.report_part": "fix_part",
    "suites.group_chat.cascade.report.compute": "report_part",
    "suites.group_chat.cascade.report.compute_on_test": "compute_on_test",
    "suites.group_chat.cascade.report.open_test": "log_look",
    "calibration.comparisons.counts.compute": "ground_of",
    "calibration.comparisons.counts.ground_of": "fix_part",
    "calibration.comparisons.counts.counts_or_job": "cached_or_job",
    "calibration.figure_cache.cached_or_job": "start",
    "calibration.comparisons.profiles.profile_or_job": "_cached_or_job",
    "calibration.comparisons.profiles.spread_of": "_cached_or_job",
    "calibration.comparisons.counts.open_test": "log_look",
    "calibration.reports.kinds.compute_on_test": "open_test",
    "calibration.reports.kinds.fix_part": "fix",
    "calibration.reports.kinds.log_look": "open_test",
    "calibration.exports.downloads.gold_or_job": "start",
    "calibration.exports.downloads.order_or_job": "start",
    "calibration.exports.parts.take": "open_test",
    "suites.continuation.tuning.taken_for": "take",
    "calibration.gold.derivation.gold_or_job": "make",
    "calibration.studies.plans.pilot_of": "fix",
    "calibration.comparisons.preferences.compute": "fix_part",
    "calibration.comparisons.preferences.open_test": "log_look",
    "calibration.studies.plans.plan_or_job": "pilot_of",
    "calibration.studies.study_actions.current": "report_or_job",
    "calibration.studies.study_actions.report_or_job": "compute",
    "calibration.studies.study_actions.start": "start",
    "calibration.workbench.searches.adopt": "adopt",
    "calibration.workbench.checks.start": "run",
    "jobs.runs.cancel_calls": "stop",
    "jobs.runs.retry": "retry_failed",
    "judges.drafts.draft_actions.cancel": "cancel",
    "judges.drafts.draft_actions.retry": "retry_failed",
    "judges.prompts.prompt_actions.add_examples": "add_version",
    "judges.prompts.prompt_actions.copy": "create",
    "judges.prompts.prompt_actions.import_file": "create",
    "judges.runs.run_actions.start_judge": "start",
    "judges.runs.run_actions.start_metrics": "start",
    "suites.continuation.productions.production_actions.start_job": "start",
    "suites.continuation.productions.pipelines.retry_failed": "retry_failed",
    "suites.continuation.productions.pipelines.set_going": "wake",
    "suites.continuation.productions.pipelines.stop": "log",
    "suites.continuation.productions.pipelines.wake": "start",
    "suites.group_chat.baselines.start": "play",
    **audit_scripts.PASSED_ON,
}
"""What leaves the change, and so the entry, to another action, by that function's name."""


def _files(*parts: str) -> list[Path]:
    found = [path for app in APPS for path in sorted((BASE_DIR / app).rglob("*.py"))]
    found = [path for path in found if "migrations" not in path.parts and "management" not in path.parts]
    named = [(path, path.relative_to(BASE_DIR).with_suffix("").parts) for path in found]
    return [path for path, names in named if not parts or set(parts) & set(names)]


def _name(path: Path) -> str:
    return ".".join(path.relative_to(BASE_DIR).with_suffix("").parts)


def _actions() -> set[str]:
    """Return every public function that takes `by`."""
    return {
        f"{_name(path)}.{node.name}"
        for path in _files()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if any(argument.arg == "by" for argument in [*node.args.args, *node.args.kwonlyargs])
    }


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "calibration.drift.anchor_actions.create": lambda _: {
        "name": "anchors",
        "corpus": worlds.make_world().corpus,
    },
    "calibration.drift.anchor_actions.set_schedule": lambda by: {
        "anchors": worlds.make_anchors(by),
        "every_days": None,
    },
    "calibration.drift.anchor_actions.delete": lambda by: {"anchors": worlds.make_anchors(by)},
    "calibration.drift.anchor_actions.recheck": worlds.make_judged_anchors,
    "annotation.campaigns.editing.change": lambda by: {
        "campaign": worlds.make_campaign(by, raters=1),
        "raters_per_item": 2,
    },
    "annotation.campaigns.editing.copy": lambda by: {"campaign": worlds.make_campaign(by), "name": "again"},
    "annotation.campaigns.editing.archive": lambda by: {"campaign": worlds.make_campaign(by)},
    "annotation.campaigns.editing.bring_back": lambda by: {"campaign": worlds.make_archived(by)},
    "annotation.campaigns.campaign_actions.open_next": lambda by: {"campaign": worlds.make_in_batches(by)},
    "annotation.campaigns.editing.reorder": lambda by: {"campaign": worlds.make_campaign(by)},
    "annotation.campaigns.campaign_actions.create": lambda by: {
        "name": "new",
        "corpus": worlds.make_world().corpus,
        "scheme": "comperdial_turn",
    },
    "annotation.campaigns.campaign_actions.open": lambda by: {
        "campaign": worlds.make_campaign(by, opened=False)
    },
    "annotation.campaigns.campaign_actions.pause": lambda by: {"campaign": worlds.make_campaign(by)},
    "annotation.campaigns.campaign_actions.close": lambda by: {"campaign": worlds.make_campaign(by)},
    "annotation.campaigns.campaign_actions.add_member": lambda by: {
        "campaign": worlds.make_campaign(by),
        "user": by,
    },
    "annotation.campaigns.campaign_actions.remove_member": lambda by: {
        "campaign": worlds.make_campaign(by, annotators=[by]),
        "user": by,
    },
    "annotation.campaigns.campaign_actions.set_guidelines": lambda by: worlds.make_campaign_text(by, "Read."),
    "annotation.campaigns.campaign_actions.set_consent": lambda by: worlds.make_campaign_text(by, "Agree."),
    "annotation.campaigns.rules.set_rules": lambda by: {
        "campaign": worlds.make_campaign(by),
        "rules": worlds.make_rules(),
    },
    "annotation.people.participants.make_link": lambda by: {
        "campaign": worlds.make_campaign(by),
        "name": "Prolific",
    },
    "annotation.people.participants.revoke": lambda by: {"link": worlds.make_join_link(by)},
    "annotation.people.participants.confirm": lambda by: {"browser": worlds.make_waiting_browser(by)},
    "annotation.people.participants.dismiss": lambda by: {"browser": worlds.make_waiting_browser(by)},
    "annotation.work.labels.reveal": lambda by: {"corpus": worlds.make_world().corpus},
    "annotation.people.groups.create": lambda by: {"name": "experts"},
    "annotation.people.groups.change": lambda by: {"group": worlds.make_group(by), "people": [by]},
    "annotation.people.groups.delete": lambda by: {"group": worlds.make_group(by)},
    "annotation.people.groups.describe": lambda by: {"person": by, "languages": ["en"]},
    "annotation.people.accounts.give_campaign_role": lambda by: {
        "campaign": worlds.make_campaign(by),
        "person": by,
        "role": "adjudicator",
    },
    "annotation.people.accounts.take_campaign_role": lambda by: {
        "campaign_role": worlds.make_campaign_role(by)
    },
    "annotation.corpora.splits.open_for": lambda by: {
        "split": worlds.make_split(by),
        "raters": [worlds.make_judge()],
        "reason": "the paper",
    },
    "annotation.corpora.properties.set_has_marks": lambda by: {
        "corpus": worlds.make_world().corpus,
        "has_marks": True,
    },
    "annotation.corpora.properties.set_families": lambda by: {
        "corpus": (corpus := worlds.make_world().corpus),
        "families": {str(corpus.systems.first()): "gpt"},
    },
    "annotation.corpora.splits.draw": lambda by: {"corpus": worlds.make_world().corpus},
    "annotation.corpora.splits.fix": lambda by: {"split": worlds.make_split(by)},
    "annotation.corpora.splits.of_benches": lambda by: {"corpus": worlds.make_world().corpus},
    "annotation.corpora.splits.open_test": lambda by: {
        "split": worlds.make_split(by),
        "purpose": "the paper",
    },
    "annotation.corpora.deletion.delete_corpus": lambda by: {
        "corpus": worlds.make_world().corpus,
        "confirmation": "talks",
    },
    "annotation.corpora.import_file.import_path": worlds.make_import,
    "annotation.corpora.copy_without_turns.copy_without_turns": lambda by: {
        "corpus": worlds.make_world().corpus,
        "name": "beginnings",
    },
    "suites.group_chat.editing.save": lambda by: worlds.make_scenario_fields(),
    "annotation.people.accounts.create": lambda by: {
        "username": "new",
        "role": "annotator",
        "password": "a long password",
    },
    "annotation.people.accounts.set_email": lambda by: {
        "person": worlds.make_person(),
        "email": "a@example.org",
    },
    "annotation.people.links.queue": lambda by: {"invitations": [worlds.make_mail_link(by)]},
    "annotation.people.links.spend": lambda by: {"link": worlds.make_link(by)},
    "annotation.people.accounts.activate": lambda by: {"person": worlds.make_person(active=False)},
    "annotation.people.accounts.deactivate": lambda by: {"person": worlds.make_person()},
    "annotation.people.deletion.delete_person": lambda by: {
        "person": (person := worlds.make_person()),
        "confirmation": person.username,
    },
    "annotation.people.links.invite": lambda by: {"role": "annotator"},
    "annotation.people.links.reset": lambda by: {"person": worlds.make_person()},
    "annotation.people.links.withdraw": lambda by: {"link": worlds.make_link(by)},
    "annotation.people.accounts.set_role": lambda by: {"person": worlds.make_person(), "role": "researcher"},
    "annotation.people.sign_in.unlock": worlds.make_locked_out,
    "annotation.people.accounts.make": lambda by: {"person": by, "name": "new", "scope": "read", "days": 1},
    "annotation.people.accounts.revoke": lambda by: {"token": worlds.make_token(by)},
    "annotation.scheme_actions.create": lambda by: {"definition": worlds.make_definition()},
    "annotation.scheme_actions.save": lambda by: {
        "definition": worlds.make_definition("Another title"),
        "seen": worlds.make_scheme().pk,
    },
    "annotation.scheme_actions.archive": lambda by: {"scheme": worlds.make_scheme().scheme},
    "annotation.work.messages.write": lambda by: {
        "campaign": worlds.make_campaign(by, annotators=[by]),
        "to": [by],
        "text": "Hello.",
    },
    "annotation.work.messages.answer": worlds.make_thread,
    "annotation.work.messages.close": lambda by: {"thread": worlds.make_thread(by)["thread"]},
    "annotation.work.messages.open_again": lambda by: {"thread": worlds.make_thread(by)["thread"]},
    "annotation.work.submissions.return_to_annotator": lambda by: {
        "assignment": worlds.make_submitted(by),
        "reason": "why",
    },
    "annotation.work.submissions.void": lambda by: {"assignment": worlds.make_submitted(by), "reason": "why"},
    "annotation.work.submissions.take_back": lambda by: {"assignment": worlds.make_held(by), "reason": "why"},
    "annotation.work.submissions.give": worlds.make_to_give,
    "annotation.work.submissions.pass_to": lambda by: {
        "assignment": (held := worlds.make_held(by)),
        "to": worlds.make_member(held.campaign),
        "reason": "why",
    },
    "calibration.exports.labels.stream": worlds.make_export,
    "calibration.exports.downloads.send": worlds.make_order,
    "calibration.gold.derivation.make": worlds.make_gold,
    "calibration.studies.study_actions.automatic": lambda by: {"corpus": worlds.make_world().corpus},
    "calibration.studies.study_actions.compute": lambda by: {"study": worlds.make_study(by), "part": "all"},
    "calibration.studies.study_actions.create": lambda by: {
        "name": "new",
        "corpus": worlds.make_world().corpus,
        "definition": {},
    },
    "calibration.studies.share_actions.create": lambda by: {"report": worlds.make_report(by)},
    "calibration.studies.share_actions.revoke": lambda by: {"share": worlds.make_report_share(by)},
    "calibration.studies.study_actions.open_test": lambda by: {
        "study": worlds.make_split_study(by),
        "purpose": "the paper",
    },
    "jobs.job_actions.start": lambda by: {"kind": "report", "subject": "anything"},
    "jobs.job_actions.cancel": lambda by: {"job": worlds.make_job(by)},
    "jobs.job_actions.retry": lambda by: {"job": worlds.make_job(by, "failed")},
    "jobs.endpoints.endpoint_actions.save": lambda by: {
        "fields": {"name": "new", "base_url": "https://example.org/v1", "model": "m"}
    },
    "jobs.endpoints.endpoint_actions.ask_for_test": lambda by: {"endpoint": worlds.make_endpoint(by)},
    "jobs.endpoints.endpoint_actions.disown": lambda by: {"owner": worlds.make_own_endpoint().owner},
    "jobs.endpoints.endpoint_actions.reencrypt_keys": lambda by: {},
    "jobs.endpoints.endpoint_actions.retire": lambda by: {"name": worlds.make_endpoint(by).name},
    "jobs.endpoints.model_prices.save_price": lambda by: {
        "fields": {"model": "example*", "price_in": 1, "price_out": 2}
    },
    "jobs.endpoints.model_prices.delete_price": lambda by: {"price": worlds.make_model_price()},
    "jobs.calls.batch_actions.look_now": lambda by: {"batch": worlds.make_batch(by, "under_way")},
    "jobs.calls.batch_actions.adopt": lambda by: {"batch": worlds.make_batch(by), "provider_id": "batch_2"},
    "jobs.calls.batch_actions.give_up": lambda by: {"batch": worlds.make_batch(by)},
    "jobs.webhooks.add": lambda by: {"url": "https://example.org/", "events": ["run.failed"]},
    "jobs.webhooks.change": lambda by: {
        "webhook": worlds.make_webhook(by),
        "fields": {"events": ["run.finished"]},
    },
    "jobs.webhooks.switch": lambda by: {"webhook": worlds.make_webhook(by), "on": False},
    "jobs.webhooks.rotate": lambda by: {"webhook": worlds.make_webhook(by)},
    "jobs.webhooks.delete": lambda by: {"webhook": worlds.make_webhook(by)},
    "jobs.webhooks.ping": lambda by: {"webhook": worlds.make_webhook(by)},
    "jobs.webhooks.send_again": lambda by: {"delivery": worlds.make_delivery(by)},
    "jobs.runs.cancel": lambda by: {"run": worlds.make_run(by)},
    "jobs.runs.retry_failed": lambda by: {"run": worlds.make_run(by)},
    "jobs.runs.stop": lambda by: {"run": worlds.make_run(by)},
    "jobs.runs.pause": lambda by: {"run": worlds.make_run(by)},
    "jobs.runs.resume": lambda by: {"run": worlds.make_paused(by)},
    "jobs.runs.set_caps": lambda by: {"run": worlds.make_run(by), "caps": {"cap_calls": None}},
    "annotation.work.rater_names.rename_rater": lambda by: {
        "rater": worlds.make_run(by).rater,
        "short_name": "Support judge v1",
    },
    "judges.prompts.prompt_actions.create": lambda by: worlds.make_prompt_fields(),
    "judges.prompts.prompt_actions.add_version": lambda by: {
        "prompt": worlds.make_prompt().prompt,
        "wording": worlds.make_wording("$notice", "$response"),
    },
    "judges.prompts.prompt_actions.archive": lambda by: {"prompt": worlds.make_prompt().prompt},
    "judges.prompts.prompt_actions.delete": lambda by: {"version": worlds.make_prompt()},
    "judges.runs.run_actions.start": lambda by: worlds.make_metric_run(),
    "judges.runs.run_sets.start_run_set": lambda by: worlds.make_run_set_fields(),
    "judges.runs.run_sets.change_run_set": lambda by: {
        "run_set": worlds.make_run_set(by),
        "verb": "pause",
    },
    "calibration.studies.study_actions.of_run_set": worlds.make_answered_run_set,
    "suites.continuation.productions.production_actions.start": lambda by: systems.make_generation(by),
    "suites.continuation.productions.production_actions.start_each": lambda by: systems.make_several(by),
    "suites.group_chat.baselines.play": lambda by: systems.make_baseline(by),
    "suites.continuation.productions.benchmark_actions.start": lambda by: systems.make_benchmark_fields(),
    "suites.continuation.productions.benchmark_actions.go_on": lambda by: {
        "benchmark": systems.make_benchmark(by, "cancelled")
    },
    "suites.continuation.productions.benchmark_actions.cancel": lambda by: {
        "benchmark": systems.make_benchmark(by, "making")
    },
    "suites.continuation.productions.benchmark_actions.mark_checked": lambda by: {
        "benchmark": systems.make_benchmark(by, "done")
    },
    "judges.runs.selection.open_or_refuse": lambda by: {
        "rater": worlds.make_judge(),
        "selection": worlds.make_test_part(by),
        "reason": "the paper",
    },
    "calibration.workbench.marks.mark": worlds.make_disagreement,
    "calibration.workbench.marks.send_to_adjudication": lambda by: {"mark": worlds.make_mark(by)},
    "calibration.workbench.marks.withdraw": lambda by: {"row": worlds.make_waiting(by)},
    "calibration.adjudication.rounds.begin": rounds.make_round_fields,
    "calibration.adjudication.rounds.top_up": rounds.make_grown_round,
    "calibration.adjudication.rounds.close": lambda by: {"adjudication_round": rounds.make_round(by)},
    "calibration.adjudication.rounds.reopen": rounds.make_closed_round,
    "calibration.adjudication.decisions.withdraw": rounds.make_decision,
    "calibration.adjudication.decisions.import_decisions": lambda by: {
        "adjudication_round": rounds.make_round(by),
        "content": b"item,question,reason\n",
        "name": "decisions.csv",
    },
    "judges.drafts.draft_actions.discard": lambda by: {"draft": worlds.make_draft(by)},
    "judges.drafts.draft_actions.run": lambda by: {"draft": worlds.make_draft(by), "targets": 1},
    "judges.drafts.draft_actions.write": worlds.make_text,
    "judges.drafts.benches.open_bench": lambda by: {
        "name": "bench",
        "protocol": "cpdscore_simple",
        "corpus": worlds.make_split(by).corpus,
    },
    "judges.drafts.draft_actions.keep": lambda by: {"draft": worlds.make_draft(by)},
    "judges.prompts.prompt_actions.adopt": lambda by: {"version": worlds.make_proposal()},
    "judges.prompts.prompt_actions.propose": lambda by: {
        "prompt": worlds.make_prompt().prompt,
        "wording": worlds.make_wording("$notice", "$response"),
        "parent": "mine@1",
    },
    "calibration.workbench.searches.start": worlds.make_search_fields,
    "calibration.workbench.searches.cancel": lambda by: {"search": worlds.make_search(by)},
    "calibration.workbench.searches.resume": lambda by: {"search": worlds.make_cancelled_search(by)},
    **audit_chats.LOGGED,
    **audit_checks.LOGGED,
    **audit_personas.LOGGED,
    **audit_scenarios.LOGGED,
    **audit_scripts.LOGGED,
    **systems.SIMULATIONS,
}
"""Each action of the product, with what it is tried with."""


def test_every_action_is_known_here() -> None:
    assert _actions() == {*LOGGED, *PASSED_ON, *TRACED}


@pytest.mark.parametrize("name", LOGGED)
def test_an_action_leaves_an_entry_that_names_who_did_it(name: str) -> None:
    from config.models import Event
    from tests import factories

    by = factories.user(administrator=True)
    arguments = LOGGED[name](by)
    last = Event.objects.order_by("pk").values_list("pk", flat=True).last() or 0
    module, _, verb = name.rpartition(".")
    done = getattr(importlib.import_module(module), verb)(by=by, **arguments)
    if verb in ("stream", "send"):
        list(done)  # an export counts once it was taken to its end
    assert Event.objects.filter(pk__gt=last, by=by).exists()


@pytest.mark.parametrize("name", PASSED_ON)
def test_what_passes_a_change_on_calls_an_action(name: str) -> None:
    module, _, verb = name.rpartition(".")
    tree = ast.parse((BASE_DIR / f"{module.replace('.', '/')}.py").read_text())
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == verb]
    assert _calls(function) & {PASSED_ON[name], *_callers(tree, PASSED_ON[name])}


def _callers(tree: ast.Module, action: str) -> set[str]:
    """Return the functions of a module that call an action."""
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) if action in _calls(node)}


def _calls(function: ast.AST) -> set[str]:
    """Return the names of the functions that a function calls."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {ast.unparse(call).rpartition(".")[2] for call in calls}


def test_pages_and_api_routes_write_through_actions_alone() -> None:
    found = [
        f"{_name(path)}:{node.lineno}"
        for path in _files("pages", "api")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES
        if "by" not in {keyword.arg for keyword in node.keywords}
        if ".objects" in ast.unparse(node.func.value) or node.func.attr in {"save", "delete"}
        if ast.unparse(node.func.value) != "api"  # `api.delete` declares a route
    ]
    assert not found
