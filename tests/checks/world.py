"""A campaign whose tasks have a key, and annotators who answer them right or wrong."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from annotation.models import Assignment, Campaign, CheckPlan, Item
from annotation.scheme_store import questionnaire_of
from annotation.work import check_actions, task_page
from annotation.work import task_actions as labelling
from annotation.work.check_stages import Key
from annotation.work.leases import Hold
from tests import factories

RIGHT, WRONG = 5, 1


def campaign(
    *people: User,
    training: int = 0,
    test: int = 0,
    check: int = 0,
    main: int = 6,
    opened: bool = True,
    **plan: Any,
) -> Campaign:
    """Create a campaign over turns, with the given numbers of key tasks, in which `overall` = 5 is right."""
    corpus = factories.corpus()
    factories.dialogue(corpus, "main", turns=main)
    researcher = factories.user(researcher=True)
    made = factories.campaign(corpus, annotators=people, opened=False, by=researcher)
    factories.dialogue(corpus, "keyed", turns=training + test + check)
    keyed = Item.objects.filter(corpus=corpus, continuation__dialogue__key="keyed", kind="turn")
    spots = keyed.order_by("turn__position")
    wanted = ["training"] * training + ["qualification"] * test + ["check"] * check
    for item, occasion in zip(spots, wanted, strict=True):
        key(made, occasion, item, by=researcher)
    if plan or not wanted:
        check_actions.set_up(by=researcher, campaign=made, **plan)
    if opened:
        factories.campaigns.open(by=researcher, campaign=made)
        made.refresh_from_db()
    return made


def key(campaign: Campaign, occasion: str, item: Item, by: User, right: float = RIGHT, **more: Any) -> Any:
    question = questionnaire_of(campaign.scheme_version_id).by_key["overall"]
    answers = {(item.pk, question.id): Key((right,), more.pop("tolerance", 0.0))}
    spot = (item.continuation_id, item.pk)
    return check_actions.add_key(
        by=by,
        campaign=campaign,
        occasion=occasion,
        spot=spot,
        answers=answers,
        explanation="Because it fits.",
        **more,
    )


def start(who: User, campaign: Campaign) -> Hold | None:
    return labelling.start(by=who, campaign=campaign.pk)[1]


def answer(who: User, campaign: Campaign, hold: Hold, value: float = RIGHT) -> labelling.Outcome:
    item = Assignment.objects.select_related("task__item").get(pk=hold.assignment).task.item
    answers = {str(item.pk): {"overall": value}}
    return labelling.submit(by=who, campaign=campaign.pk, assignment=hold.assignment, answers=answers)


def accept(who: User, campaign: Campaign, what: str, version: int = 1) -> None:
    task_page.accept(by=who, campaign=campaign.pk, what=what, version=version)


def take_test(who: User, campaign: Campaign, value: float = RIGHT, number: int = 1) -> None:
    """Take the test once, answering every task alike."""
    accept(who, campaign, "test", number)
    while (hold := start(who, campaign)) is not None and occasion_of(hold) == "qualification":
        answer(who, campaign, hold, value)


def occasion_of(hold: Hold) -> str:
    return str(Assignment.objects.values_list("occasion", flat=True).get(pk=hold.assignment))


def work(who: User, campaign: Campaign, values: Any = RIGHT, most: int = 200) -> list[str]:
    """Work until no task is left; return the occasions of the submits, on which `values` may depend."""
    given = []
    while len(given) < most and (hold := start(who, campaign)) is not None:
        given.append(occasion_of(hold))
        answer(who, campaign, hold, values(given) if callable(values) else values)
    return given


def plan_of(campaign: Campaign) -> CheckPlan:
    return CheckPlan.objects.get(campaign=campaign)
