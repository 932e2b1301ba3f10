"""Arguments with which the audit calls its actions: one object of every kind that they change."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_campaign(by: User, **how: Any) -> Any:
    from tests import factories

    corpus = factories.corpus()
    factories.dialogue(corpus)
    return factories.campaign(corpus, by=by, **how)


def make_scenario_fields() -> dict[str, Any]:
    from tests.suites.group_chat.scripts import launch

    return {"corpus": make_world().corpus, "record": launch()}


def make_rules() -> Any:
    from annotation.campaigns.rules import Rules

    return Rules(by_language=True)


def make_group(by: User) -> Any:
    from annotation.people import groups

    return groups.create(by=by, name="experts")


def make_join_link(by: User) -> Any:
    from annotation.people import participants

    return participants.make_link(by=by, campaign=make_campaign(by), name="Prolific")


def make_waiting_browser(by: User) -> Any:
    from annotation.people import participants

    campaign = make_campaign(by)
    campaign.state = "open"
    campaign.save(update_fields=["state"])
    link = participants.make_link(by=by, campaign=campaign, name="Prolific")
    for browser in ("first", "second"):
        participants.join(link=link, visitor=participants.Came("p1"), browser=browser)
    return participants.waiting(campaign).get()


def make_campaign_role(by: User) -> Any:
    from annotation.people import accounts

    return accounts.give_campaign_role(by=by, campaign=make_campaign(by), person=by, role="researcher")


def make_archived(by: User) -> Any:
    from annotation.campaigns import editing

    made = make_campaign(by)
    editing.archive(by=by, campaign=made)
    return made


def make_submitted(by: User) -> Any:
    from annotation.models import Assignment
    from annotation.work import task_actions

    made = make_campaign(by, annotators=[by])
    _, hold = task_actions.start(by=by, campaign=made.pk)
    assert hold is not None
    Assignment.objects.filter(pk=hold.assignment).update(state="submitted", submitted_at=made.created_at)
    return Assignment.objects.get(pk=hold.assignment)


def make_in_batches(by: User) -> Any:
    return make_campaign(by, batch_size=1)


def make_held(by: User) -> Any:
    from annotation.models import Assignment
    from annotation.work import task_actions

    made = make_campaign(by, annotators=[by])
    _, hold = task_actions.start(by=by, campaign=made.pk)
    assert hold is not None
    return Assignment.objects.get(pk=hold.assignment)


def make_member(campaign: Any) -> User:
    from annotation.models import CampaignMember

    person = make_person()
    CampaignMember.objects.create(campaign=campaign, user=person)
    return person


def make_to_give(by: User) -> dict[str, Any]:
    made = make_campaign(by, annotators=[by])
    return {"campaign": made, "task": made.tasks.first(), "to": by, "reason": "why"}


def make_thread(by: User) -> dict[str, Any]:
    from annotation.work import messages

    person = make_person()
    made = make_campaign(by, annotators=[person])
    return {
        "thread": messages.ask(by=person, campaign=made.pk, text="What is a turn?"),
        "text": "A line.",
    }


def make_world() -> Any:
    from tests.calibration.world import world

    built = world(dialogues=4, turns=1)
    built.ask("on_topic", "binary", [0, 1])
    for name in ("ann", "ben"):
        built.say(name, "on_topic", [1, 0, 1, 1])
    return built


def make_anchors(by: User) -> Any:
    from calibration.drift import anchor_actions

    return anchor_actions.create(by=by, name="anchors", corpus=make_world().corpus)


def make_judged_anchors(by: User) -> dict[str, Any]:
    """Return an anchor set and a judge with one finished call about it."""
    from annotation.models import Rater
    from jobs.models import Call, Endpoint, Run

    anchors = make_anchors(by)
    item = anchors.items.select_related("item").first().item
    endpoint = Endpoint.objects.create(name="e", base_url="http://127.0.0.1:9/v1", model="m")
    rater = Rater.objects.create(kind="judge", name="judge", fingerprint="j", spec=dict(endpoint.server))
    run = Run.objects.create(
        rater=rater, corpus=anchors.corpus, endpoint=endpoint, kind="judge", queue="calls", state="done"
    )
    about = {"continuation": item.continuation, "item": item, "state": "done"}
    Call.objects.create(run=run, rater=rater, **about)
    return {"anchors": anchors, "rater": rater}


def make_split(by: User) -> Any:
    from annotation.corpora import splits

    return splits.draw(corpus=make_world().corpus, by=by)


def make_study(by: User) -> Any:
    from calibration.studies import study_actions

    return study_actions.automatic(corpus=make_world().corpus)


def make_report(by: User) -> Any:
    from calibration.studies import study_actions

    return study_actions.compute(study=make_study(by), part="all", by=by)


def make_report_share(by: User) -> Any:
    from calibration.studies import share_actions

    return share_actions.create(by=by, report=make_report(by)).share


def make_judge() -> Any:
    from annotation.models import Rater

    return Rater.objects.create(kind="judge", name="a judge", spec={"protocol": "rules_baseline"})


def make_test_part(by: User) -> Any:
    from judges.runs.selection import Selection

    split = make_split(by)
    return Selection(split.corpus, split=split, part="test")


def make_split_study(by: User) -> Any:
    from calibration.studies import study_actions

    return study_actions.automatic(corpus=make_split(by).corpus)


def make_job(by: User, state: str = "queued") -> Any:
    from jobs.models import Job

    return Job.objects.create(kind="report", subject="anything", state=state)


def make_run(by: User) -> Any:
    from judges.runs.run_actions import start

    return start(by=by, **make_metric_run())


def make_webhook(by: User) -> Any:
    from jobs.webhooks import add

    return add(by=by, url="https://example.org/hook", events=["run.failed"])


def make_delivery(by: User) -> Any:
    from jobs.webhooks import ping

    return ping(by=by, webhook=make_webhook(by))


def make_batch(by: User, state: str = "unclear") -> Any:
    from django.utils import timezone

    from jobs.models import Batch

    due = timezone.now() if state == "under_way" else None
    told = {"state": state, "share": 1, "provider_id": "batch_1", "next_look": due}
    return Batch.objects.create(run=make_run(by), endpoint=make_endpoint(by), **told)


def make_paused(by: User) -> Any:
    from jobs import runs

    return runs.pause(by=by, run=make_run(by))


def make_metric_run() -> dict[str, Any]:
    from judges.runs.metric_calls import metric_plan
    from judges.runs.selection import Selection

    corpus = make_world().corpus
    return {"plan": metric_plan("dnr", corpus), "selection": Selection(corpus, include_self=True)}


def make_run_set_fields() -> dict[str, Any]:
    from judges.runs.selection import Selection

    corpus = make_world().corpus
    return {"metrics": ["dnr", "pf"], "selection": Selection(corpus, include_self=True)}


def make_run_set(by: User) -> Any:
    from judges.runs.run_sets import start_run_set

    return start_run_set(by=by, **make_run_set_fields())


def make_answered_run_set(by: User) -> dict[str, Any]:
    from annotation.models import Item, Label

    run_set = make_run_set(by)
    run = run_set.runs[0]
    item = Item.objects.filter(corpus=run.corpus).first()
    question = next(iter(run.questions.values()))
    Label.objects.create(rater=run.rater, item=item, question_id=question, number=1, occasion="main")
    return {"run_set": run_set}


def make_link(by: User) -> Any:
    from annotation.people import links

    return links.invite(by=by, role="annotator").link


def make_mail_link(by: User) -> Any:
    from annotation.people import links

    return links.invite(by=by, role="annotator", email="ana@example.org").link


def make_token(by: User) -> Any:
    from annotation.people import accounts

    return accounts.make(person=by, name="script", scope="read", days=1).token


def make_person(*, active: bool = True) -> Any:
    from tests import factories

    made = factories.user()
    made.is_active = active
    made.save()
    return made


def make_locked_out(by: User) -> dict[str, Any]:
    from axes.models import AccessAttempt

    person = make_person()
    AccessAttempt.objects.create(username=person.username, ip_address="127.0.0.1", failures_since_start=10)
    return {"person": person}


def make_endpoint(by: User) -> Any:
    from jobs.models import Endpoint

    return Endpoint.objects.create(name="here", base_url="https://example.org/v1", model="m")


def make_model_price() -> Any:
    from jobs.models import ModelPrice

    return ModelPrice.objects.create(model="example*", price_in=1, price_out=2)


def make_own_endpoint() -> Any:
    from jobs.models import Endpoint

    about = {"name": "own", "base_url": "https://example.org/v1", "model": "m"}
    return Endpoint.objects.create(owner=make_person(), **about)


def make_import(by: User) -> dict[str, Any]:
    folder = importlib.import_module("django.conf").settings.HOME
    path = Path(folder) / "one.jsonl"
    path.write_text('{"id": "d", "turns": [{"speaker": "A", "text": "Hello"}]}\n')
    return {"path": path, "format": "jsonl", "corpus": "imported", "into": False}


def make_wording(system: str, user: str) -> Any:
    from judges.protocols import Wording

    return Wording(system, user)


def make_prompt_fields() -> dict[str, Any]:
    wording = make_wording("$notice", "Rate: $response")
    return {"name": "own", "protocol": "cpdscore_simple", "variant": "without_reference", "wording": wording}


def make_prompt() -> Any:
    from judges.prompts.prompt_actions import create

    return create(by=None, **make_prompt_fields())


def make_definition(title: str = "Own") -> Any:
    """Return a custom scheme that is not stored."""
    from annotation.schemes.files import definition_from

    question = {"key": "why", "wording": "Why?", "level": "text"}
    return definition_from({"scheme": "own", "title": title, "item_kind": "turn", "questions": [question]})


def make_scheme() -> Any:
    """Create a stored custom scheme."""
    from annotation import scheme_actions

    return scheme_actions.create(by=None, definition=make_definition())


def make_gold(by: User) -> dict[str, Any]:
    built = make_world()
    version = built.questions["on_topic"].version
    return {"corpus": built.corpus, "campaign": None, "scheme_version": version, "rule": "majority"}


def make_export(by: User) -> dict[str, Any]:
    from calibration.exports import labels
    from calibration.ratings.scope import scope_of

    corpus = make_world().corpus
    return {"query": labels.labels(scope_of(corpus, None)), "form": "csv", "corpus": corpus}


def make_order(by: User) -> dict[str, Any]:
    from calibration.exports.downloads import ZIP, Order
    from calibration.exports.parts import ExportPart

    return {"order": Order("label-studio", make_world().corpus, None, ExportPart(None, ""), ZIP)}


def make_bench(by: User) -> Any:
    from judges.drafts import benches

    corpus = make_split(by).corpus
    return benches.open_bench(by=None, name="bench", protocol="cpdscore_simple", corpus=corpus)


def make_draft(by: User) -> Any:
    from judges.drafts.draft_actions import write

    return write(by=None, **make_text(by))


def make_text(by: User) -> dict[str, Any]:
    from judges.prompts import versions

    wording = versions.find("cpdscore_simple_without_reference").wording
    endpoint = make_endpoint(by)
    return {"bench": make_bench(by), "wording": wording, "variant": "without_reference", "endpoint": endpoint}


def make_disagreement(by: User) -> dict[str, Any]:
    from annotation.models import Item, Question
    from calibration.workbench.sheets import Judged
    from judges.drafts.draft_actions import run

    draft = make_draft(by)
    run(by=None, draft=draft, targets=1)
    target = draft.bench.targets.get()
    return {
        "bench": draft.bench,
        "judged": Judged(draft.name, draft.rater, draft),
        "item": Item.objects.get(pk=target.item_id),
        "question": Question.objects.get(pk=draft.bench.questions["overall"]),
        "verdict": "people_wrong",
    }


def make_mark(by: User) -> Any:
    from calibration.workbench import marks

    return marks.mark(by=None, **make_disagreement(by))


def make_waiting(by: User) -> Any:
    from calibration.workbench import marks

    return marks.send_to_adjudication(by=None, mark=make_mark(by))


def make_proposal() -> Any:
    from judges.prompts.prompt_actions import propose

    first = make_prompt()
    wording = make_wording("$notice", "$response, anew")
    return propose(by=None, prompt=first.prompt, wording=wording, parent="")


def make_search_fields(by: User) -> dict[str, Any]:
    from annotation.corpora import splits
    from annotation.models import Item, Label, Occasion
    from annotation.work import labels as raters
    from judges.drafts import benches
    from judges.prompts import versions
    from tests import factories

    corpus = factories.corpus()
    for number in range(14):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=1)
        factories.continuation(dialogue, "c", system="x", turns=[{"text": "Yes."}])
    splits.draw(corpus=corpus, by=None)
    bench = benches.open_bench(by=None, name="bench", protocol="cpdscore_simple", corpus=corpus)
    person = raters.imported_rater(corpus=corpus, kind="human", name="ana")
    for item in Item.objects.filter(corpus=corpus, kind="turn"):
        Label.objects.create(
            item=item,
            question_id=bench.questions["overall"],
            rater=person,
            occasion=Occasion.IMPORTED,
            number=3,
        )
    endpoint = make_endpoint(by)
    version = versions.find("cpdscore_simple_without_reference")
    return {"bench": bench, "version": version, "name": "mine", "endpoint": endpoint, "improver": endpoint}


def make_search(by: User) -> Any:
    from calibration.workbench import searches

    return searches.start(by=None, **make_search_fields(by))


def make_cancelled_search(by: User) -> Any:
    from calibration.workbench import searches

    return searches.cancel(by=None, search=make_search(by))


def make_campaign_text(by: User, text: str) -> dict[str, Any]:
    return {"campaign": make_campaign(by), "text": text}
