"""An annotator's browser or program gets no ids except of their account, assignments and threads.

The id of an item, a turn or a task would reveal that a repeat is the task that it repeats, or that a task has
a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Campaign
from annotation.work import messages
from tests import factories
from tests.checks import world
from tests.security.far_ids import far_ids, models_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana(db: None) -> Iterator[User]:
    with far_ids():
        yield factories.user("ana")


def send(client: Client, address: str, **body: object) -> str:
    answer = client.post(address, json.dumps(body), content_type="application/json")
    assert answer.status_code < 500, address
    return str(answer.content.decode())


def work_on(client: Client, campaign: Campaign, told: dict[str, str]) -> set[str]:
    """Do everything with every task, over the page and over HTTP in turn; return the occasions met."""
    occasions: set[str] = set()
    while True:
        told["next"] = send(client, f"/api/v1/work/{campaign.pk}/next/")
        task = json.loads(told["next"])["task"]
        told["page"] = client.get(f"/work/{campaign.pk}/").content.decode()
        if task is None:
            return occasions
        occasion = Assignment.objects.values_list("occasion", flat=True).get(pk=task["assignment"])
        occasions.add(occasion)
        number = len(told) // 8
        root = "/api/v1" if number % 2 else ""
        place = f"{root}/work/{campaign.pk}/{task['assignment']}"
        item = str(task["items"][-1])
        last = task["parts"][-1]["lines"][-1]["line"]
        about = {"campaign": campaign.pk, "assignment": task["assignment"], "line": last, "text": "why?"}
        told |= {
            f"note {number}": send(client, f"{place}/note{'s' if root else ''}/", line=last, comment="odd"),
            f"refused {number}": send(client, f"{place}/submit/", answers={item: {"overall": 99}}),
            f"unknown {number}": send(client, f"{place}/submit/", answers={"7": {"overall": 4}}),
            f"draft {number}": send(client, f"{place}/draft/", version=1, answers={item: {"overall": 4}}),
            f"ask {number}": send(client, "/api/v1/work/messages/", **about),
            f"submit {number}": send(client, f"{place}/submit/", answers={item: {"overall": 4}}),
            f"again {number}": send(client, f"{place}/submit/", answers={item: {"overall": 3}}),
            f"reopen {number}": send(client, f"{root}/work/{campaign.pk}/reopen/"),
        }


def test_nothing_that_an_annotator_gets_holds_an_id_of_what_is_rated(ana: User) -> None:
    made = world.campaign(ana, check=2, main=8, check_every=4, repeat_every=3, repeat_after=1)
    client = Client()
    client.force_login(ana)
    told: dict[str, str] = {}
    assert work_on(client, made, told) == {"main", "check", "repeat"}
    for assignment in Assignment.objects.filter(user=ana):
        address = reverse("work-task", args=[made.pk, assignment.pk])
        told[address] = client.get(address).content.decode()
    for address in ("/my/", "/my/submissions/", "/my/messages/"):
        told[address] = client.get(address).content.decode()
    for address in ("", "submissions/", "messages/", f"{made.pk}/guidelines/"):
        told[address] = client.get(f"/api/v1/work/{address}").content.decode()
    assert {name: rows for name, text in told.items() if (rows := models_in(text) - {Assignment, User})} == {}
    assert any(Assignment in models_in(text) for text in told.values())


def test_a_task_and_its_repeat_show_no_thread_about_the_other(ana: User) -> None:
    made = world.campaign(ana, main=6, repeat_every=2, repeat_after=1)
    client = Client()
    client.force_login(ana)
    while (hold := world.start(ana, made)) is not None and world.occasion_of(hold) != "repeat":
        world.answer(ana, made, hold)
    assert hold is not None
    first = Assignment.objects.get(user=ana, task=hold.task, occasion="main")
    for assignment, text in ((first.pk, "asked in the task"), (hold.assignment, "asked in its repeat")):
        messages.ask(by=ana, campaign=made.pk, assignment=assignment, line=1, text=text)
    pages = [
        client.get(reverse("work-task", args=[made.pk, pk])).content.decode()
        for pk in (first.pk, hold.assignment)
    ]
    assert ["asked in the task" in page for page in pages] == [True, False]
    assert ["asked in its repeat" in page for page in pages] == [False, True]
