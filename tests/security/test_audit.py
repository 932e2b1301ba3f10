"""Whatever a person changes is an action that says by whom, and leaves an entry in the audit log."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from config.settings import BASE_DIR

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db
APPS = ("annotation", "judges", "jobs", "calibration")
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "update", "delete", "save"}

TRACED = {
    "annotation.work.actions.save_draft": "drafts belong to their assignment, which names its annotator",
    "annotation.work.actions.submit": "labels are appended with rater and time, and never changed",
    "annotation.work.actions.skip": "an assignment keeps its reason and its annotator",
    "annotation.work.actions.start": "an assignment says whose it is, and since when",
    "annotation.work.actions.reopen": "nothing is changed before the revision is submitted",
    "annotation.deletion.actions.check": "changes nothing",
    "jobs.runs.log": "writes the entry",
    "judges.drafts.actions.opened_run": "whoever opens it runs or keeps the draft, and logs that",
}
"""What needs no entry in the audit log, and why."""

PASSED_ON = {
    "annotation.campaigns.job.open_campaign": "actions.start",
    "annotation.deletion.job.delete_corpus": "deleting.delete_corpus",
    "annotation.importing.uploads.receive": "actions.start",
    "annotation.importing.uploads.repeat": "actions.retry",
    "annotation.importing.uploads.cancel": "actions.cancel",
    "calibration.exports.job.difference_or_job": "order_or_job",
    "calibration.counts.computing.compute": "splits.fix",
    "calibration.counts.computing.compute_on_test": "open_test",
    "calibration.counts.computing.open_test": "splits.open_test",
    "calibration.exports.job.gold_or_job": "actions.start",
    "calibration.exports.job.labels_or_job": "actions.start",
    "calibration.exports.job.order_or_job": "actions.start",
    "calibration.exports.parts.take": "splits.open_test",
    "calibration.gold.job.gold_or_job": "make",
    "calibration.plans.computing.pilot_of": "splits.fix",
    "calibration.plans.job.plan_or_job": "pilot_of",
    "calibration.plans.job.start": "actions.start",
    "calibration.studies.job.report_or_job": "studies.compute",
    "calibration.studies.job.start": "actions.start",
    "calibration.searches.actions.adopt": "prompts.adopt",
    "calibration.workbench.checks.start": "actions.run",
    "jobs.many_calls.cancel": "runs.stop",
    "jobs.many_calls.retry": "runs.retry_failed",
    "judges.prompt_versions.actions.add_examples": "add_version",
    "judges.prompt_versions.actions.copy": "create",
    "judges.prompt_versions.actions.import_file": "create",
    "judges.rating.job.start_judge": "actions.start",
    "judges.rating.job.start_metrics": "actions.start",
}
"""What leaves the change, and so the entry, to another action."""


def _files(*parts: str) -> list[Path]:
    found = [path for app in APPS for path in sorted((BASE_DIR / app).rglob("*.py"))]
    found = [path for path in found if "migrations" not in path.parts and "management" not in path.parts]
    return [path for path in found if not parts or set(parts) & set(path.relative_to(BASE_DIR).parts)]


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


def _campaign(by: User, **how: Any) -> Any:
    from tests import factories

    corpus = factories.corpus()
    factories.dialogue(corpus)
    return factories.campaign(corpus, by=by, **how)


def _submitted(by: User) -> Any:
    from annotation.models import Assignment
    from annotation.work import actions

    made = _campaign(by, annotators=[by])
    _, hold = actions.start(by=by, campaign=made.pk)
    assert hold is not None
    Assignment.objects.filter(pk=hold.assignment).update(state="submitted", submitted_at=made.created_at)
    return Assignment.objects.get(pk=hold.assignment)


def _world() -> Any:
    from tests.calibration.world import world

    built = world(dialogues=4, turns=1)
    built.ask("on_topic", "binary", [0, 1])
    for name in ("ann", "ben"):
        built.say(name, "on_topic", [1, 0, 1, 1])
    return built


def _split(by: User) -> Any:
    from annotation.corpora import splits

    return splits.draw(corpus=_world().corpus, by=by)


def _study(by: User) -> Any:
    from calibration.studies import actions

    return actions.automatic(corpus=_world().corpus)


def _judge() -> Any:
    from annotation.models import Rater

    return Rater.objects.create(kind="judge", name="a judge", spec={"protocol": "rules_baseline"})


def _test_part(by: User) -> Any:
    from judges.rating.selection import Selection

    split = _split(by)
    return Selection(split.corpus, split=split, part="test")


def _split_study(by: User) -> Any:
    from calibration.studies import actions

    return actions.automatic(corpus=_split(by).corpus)


def _job(by: User, state: str = "queued") -> Any:
    from jobs.models import Job

    return Job.objects.create(kind="report", subject="anything", state=state)


def _run(by: User) -> Any:
    from judges.rating import actions

    return actions.start(by=by, **_metric_run())


def _paused(by: User) -> Any:
    from jobs import runs

    return runs.pause(by=by, run=_run(by))


def _metric_run() -> dict[str, Any]:
    from judges.rating.metric_plans import metric_plan
    from judges.rating.selection import Selection

    corpus = _world().corpus
    return {"plan": metric_plan("dnr", corpus), "selection": Selection(corpus, include_self=True)}


def _link(by: User) -> Any:
    from annotation.people import links

    return links.invite(by=by, role="annotator").link


def _token(by: User) -> Any:
    from annotation.people import tokens

    return tokens.make(person=by, name="script", scope="read", days=1).token


def _person(*, active: bool = True) -> Any:
    from tests import factories

    made = factories.user()
    made.is_active = active
    made.save()
    return made


def _locked_out(by: User) -> dict[str, Any]:
    from axes.models import AccessAttempt

    person = _person()
    AccessAttempt.objects.create(username=person.username, ip_address="127.0.0.1", failures_since_start=10)
    return {"person": person}


def _endpoint(by: User) -> Any:
    from jobs.models import Endpoint

    return Endpoint.objects.create(name="here", base_url="https://example.org/v1", model="m")


def _import(by: User) -> dict[str, Any]:
    folder = importlib.import_module("django.conf").settings.HOME
    path = Path(folder) / "one.jsonl"
    path.write_text('{"id": "d", "turns": [{"speaker": "A", "text": "Hello"}]}\n')
    return {"path": path, "format": "jsonl", "corpus": "imported", "into": False}


def _wording(system: str, user: str) -> Any:
    from judges.protocols import Wording

    return Wording(system, user)


def _prompt_fields() -> dict[str, Any]:
    wording = _wording("$notice", "Rate: $response")
    return {"name": "own", "protocol": "cpdscore_simple", "variant": "without_reference", "wording": wording}


def _prompt() -> Any:
    from judges.prompt_versions import actions

    return actions.create(by=None, **_prompt_fields())


def _gold(by: User) -> dict[str, Any]:
    built = _world()
    version = built.questions["on_topic"].version
    return {"corpus": built.corpus, "campaign": None, "scheme_version": version, "rule": "majority"}


def _export(by: User) -> dict[str, Any]:
    from calibration.exports import labels
    from calibration.reading.scope import scope_of

    corpus = _world().corpus
    return {"query": labels.labels(scope_of(corpus, None)), "form": "csv", "corpus": corpus}


def _order(by: User) -> dict[str, Any]:
    from calibration.exports.orders import ZIP, Order
    from calibration.exports.parts import Taken

    return {"order": Order("label-studio", _world().corpus, None, Taken(None, ""), ZIP)}


def _bench(by: User) -> Any:
    from judges.drafts import benches

    corpus = _split(by).corpus
    return benches.open_bench(by=None, name="bench", protocol="cpdscore_simple", corpus=corpus)


def _draft(by: User) -> Any:
    from judges.drafts import actions

    return actions.write(by=None, **_text(by))


def _text(by: User) -> dict[str, Any]:
    from judges.prompt_versions import finding

    wording = finding.find("cpdscore_simple_without_reference").wording
    endpoint = _endpoint(by)
    return {"bench": _bench(by), "wording": wording, "variant": "without_reference", "endpoint": endpoint}


def _disagreement(by: User) -> dict[str, Any]:
    from annotation.models import Item, Question
    from calibration.workbench.sheets import Judged
    from judges.drafts import actions

    draft = _draft(by)
    actions.run(by=None, draft=draft, targets=1)
    target = draft.bench.targets.get()
    return {
        "bench": draft.bench,
        "judged": Judged(draft.name, draft.rater, draft),
        "item": Item.objects.get(pk=target.item_id),
        "question": Question.objects.get(pk=draft.bench.questions["overall"]),
        "verdict": "people_wrong",
    }


def _mark(by: User) -> Any:
    from calibration.workbench import marks

    return marks.mark(by=None, **_disagreement(by))


def _waiting(by: User) -> Any:
    from calibration.workbench import marks

    return marks.send_to_adjudication(by=None, mark=_mark(by))


def _proposal() -> Any:
    from judges.prompt_versions import actions

    first = _prompt()
    wording = _wording("$notice", "$response, anew")
    return actions.propose(by=None, prompt=first.prompt, wording=wording, parent="")


def _search_fields(by: User) -> dict[str, Any]:
    from annotation.corpora import splits
    from annotation.labels import raters
    from annotation.models import Item, Label, Occasion
    from judges.drafts import benches
    from judges.prompt_versions import finding
    from tests import factories

    corpus = factories.corpus()
    for number in range(14):
        factories.continuation(factories.dialogue(corpus, f"d{number}", turns=1), "c", system="x", turns=1)
    splits.draw(corpus=corpus, by=None)
    bench = benches.open_bench(by=None, name="bench", protocol="cpdscore_simple", corpus=corpus)
    person = raters.imported(corpus=corpus, kind="human", name="ana")
    for item in Item.objects.filter(corpus=corpus, kind="turn"):
        Label.objects.create(
            item=item,
            question_id=bench.questions["overall"],
            rater=person,
            occasion=Occasion.IMPORTED,
            number=3,
        )
    endpoint = _endpoint(by)
    version = finding.find("cpdscore_simple_without_reference")
    return {"bench": bench, "version": version, "name": "mine", "endpoint": endpoint, "improver": endpoint}


def _search(by: User) -> Any:
    from calibration.searches import actions

    return actions.start(by=None, **_search_fields(by))


def _cancelled_search(by: User) -> Any:
    from calibration.searches import actions

    return actions.cancel(by=None, search=_search(by))


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "annotation.campaigns.actions.create": lambda by: {
        "name": "new",
        "corpus": _world().corpus,
        "scheme": "comperdial_turn",
    },
    "annotation.campaigns.actions.open": lambda by: {"campaign": _campaign(by, opened=False)},
    "annotation.campaigns.actions.pause": lambda by: {"campaign": _campaign(by)},
    "annotation.campaigns.actions.close": lambda by: {"campaign": _campaign(by)},
    "annotation.campaigns.actions.add_member": lambda by: {"campaign": _campaign(by), "user": by},
    "annotation.campaigns.actions.remove_member": lambda by: {
        "campaign": _campaign(by, annotators=[by]),
        "user": by,
    },
    "annotation.campaigns.actions.set_guidelines": lambda by: {"campaign": _campaign(by), "text": "Read."},
    "annotation.corpora.openings.open_for": lambda by: {
        "split": _split(by),
        "raters": [_judge()],
        "reason": "the paper",
    },
    "annotation.corpora.splits.draw": lambda by: {"corpus": _world().corpus},
    "annotation.corpora.splits.fix": lambda by: {"split": _split(by)},
    "annotation.corpora.splits.open_test": lambda by: {"split": _split(by), "purpose": "the paper"},
    "annotation.deletion.actions.delete_corpus": lambda by: {
        "corpus": _world().corpus,
        "confirmation": "talks",
    },
    "annotation.importing.engine.import_path": _import,
    "annotation.people.accounts.create": lambda by: {
        "username": "new",
        "role": "annotator",
        "password": "a long password",
    },
    "annotation.people.accounts.activate": lambda by: {"person": _person(active=False)},
    "annotation.people.accounts.deactivate": lambda by: {"person": _person()},
    "annotation.people.deletion.delete_person": lambda by: {
        "person": (person := _person()),
        "confirmation": person.username,
    },
    "annotation.people.links.invite": lambda by: {"role": "annotator"},
    "annotation.people.links.reset": lambda by: {"person": _person()},
    "annotation.people.links.withdraw": lambda by: {"link": _link(by)},
    "annotation.people.roles.set_role": lambda by: {"person": _person(), "role": "researcher"},
    "annotation.people.sign_in.unlock": _locked_out,
    "annotation.people.tokens.make": lambda by: {"person": by, "name": "new", "scope": "read", "days": 1},
    "annotation.people.tokens.revoke": lambda by: {"token": _token(by)},
    "annotation.work.withdrawing.return_to_annotator": lambda by: {
        "assignment": _submitted(by),
        "reason": "why",
    },
    "annotation.work.withdrawing.void": lambda by: {"assignment": _submitted(by), "reason": "why"},
    "calibration.exports.labels.stream": _export,
    "calibration.exports.orders.send": _order,
    "calibration.gold.making.make": _gold,
    "calibration.studies.actions.automatic": lambda by: {"corpus": _world().corpus},
    "calibration.studies.actions.compute": lambda by: {"study": _study(by), "part": "all"},
    "calibration.studies.actions.create": lambda by: {
        "name": "new",
        "corpus": _world().corpus,
        "definition": {},
    },
    "calibration.studies.actions.open_test": lambda by: {"study": _split_study(by), "purpose": "the paper"},
    "jobs.actions.start": lambda by: {"kind": "report", "subject": "anything"},
    "jobs.actions.cancel": lambda by: {"job": _job(by)},
    "jobs.actions.retry": lambda by: {"job": _job(by, "failed")},
    "jobs.endpoints.actions.save": lambda by: {
        "fields": {"name": "new", "base_url": "https://example.org/v1", "model": "m"}
    },
    "jobs.endpoints.actions.ask_for_test": lambda by: {"endpoint": _endpoint(by)},
    "jobs.endpoints.actions.retire": lambda by: {"name": _endpoint(by).name},
    "jobs.runs.cancel": lambda by: {"run": _run(by)},
    "jobs.runs.retry_failed": lambda by: {"run": _run(by)},
    "jobs.runs.stop": lambda by: {"run": _run(by)},
    "jobs.runs.pause": lambda by: {"run": _run(by)},
    "jobs.runs.resume": lambda by: {"run": _paused(by)},
    "jobs.runs.set_caps": lambda by: {"run": _run(by), "caps": {"cap_calls": None}},
    "judges.prompt_versions.actions.create": lambda by: _prompt_fields(),
    "judges.prompt_versions.actions.add_version": lambda by: {
        "prompt": _prompt().prompt,
        "wording": _wording("$notice", "$response"),
    },
    "judges.prompt_versions.actions.archive": lambda by: {"prompt": _prompt().prompt},
    "judges.prompt_versions.actions.delete": lambda by: {"version": _prompt()},
    "judges.rating.actions.start": lambda by: _metric_run(),
    "judges.rating.openings.open_or_refuse": lambda by: {
        "rater": _judge(),
        "selection": _test_part(by),
        "reason": "the paper",
    },
    "calibration.workbench.marks.mark": _disagreement,
    "calibration.workbench.marks.send_to_adjudication": lambda by: {"mark": _mark(by)},
    "calibration.workbench.marks.withdraw": lambda by: {"row": _waiting(by)},
    "judges.drafts.actions.discard": lambda by: {"draft": _draft(by)},
    "judges.drafts.actions.run": lambda by: {"draft": _draft(by), "targets": 1},
    "judges.drafts.actions.write": _text,
    "judges.drafts.benches.open_bench": lambda by: {
        "name": "bench",
        "protocol": "cpdscore_simple",
        "corpus": _split(by).corpus,
    },
    "judges.drafts.keeping.keep": lambda by: {"draft": _draft(by)},
    "judges.prompt_versions.actions.adopt": lambda by: {"version": _proposal()},
    "judges.prompt_versions.actions.propose": lambda by: {
        "prompt": _prompt().prompt,
        "wording": _wording("$notice", "$response"),
        "parent": "mine@1",
    },
    "calibration.searches.actions.start": _search_fields,
    "calibration.searches.actions.cancel": lambda by: {"search": _search(by)},
    "calibration.searches.actions.resume": lambda by: {"search": _cancelled_search(by)},
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
    calls = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    assert calls & {PASSED_ON[name], *_callers(tree, PASSED_ON[name])}


def _callers(tree: ast.Module, action: str) -> set[str]:
    """Return the functions of a module that call an action."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        if action in {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    }


def test_pages_and_api_routes_write_through_actions_alone() -> None:
    found = [
        f"{_name(path)}:{node.lineno}"
        for path in _files("pages", "api")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES
        if "by" not in {keyword.arg for keyword in node.keywords}
        if ".objects" in ast.unparse(node.func.value) or node.func.attr in {"save", "delete"}
    ]
    assert not found
