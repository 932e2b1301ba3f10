"""Hidden checks and repeats: at their rate, indistinguishable, outside the main work; and their effects."""

import json
import re

import pytest
from django.urls import reverse

from annotation.campaigns import progress as campaign_progress
from annotation.errors import CampaignRefused
from annotation.models import Assignment, CheckResult, Item, Label, Slot, Standing, live_labels
from annotation.work import check_actions, check_tasks
from annotation.work import task_actions as labelling
from annotation.work.check_stages import Key, score
from config.models import Event
from tests import factories
from tests.checks.world import RIGHT, WRONG, accept, answer, campaign, key, occasion_of, start, work


@pytest.fixture
def ana(db):
    return factories.user("ana")


def rates(check=None, repeat=None, after=1):
    return check_tasks.Rates(check, repeat, after, "7:1:2")


def test_one_of_so_many_steps_is_a_check_and_one_a_repeat_wherever_the_seed_puts_them():
    told = rates(check=10, repeat=7)
    kinds = [check_tasks.kind_at(step, told) for step in range(700)]
    assert all(kinds[at : at + 10].count("check") == 1 for at in range(0, 700, 10))
    assert all(kinds[at : at + 7].count("repeat") == 1 for at in range(0, 700, 7))
    assert len({at % 10 for at, kind in enumerate(kinds) if kind == "check"}) > 3


def test_what_is_left_falls_by_one_with_every_task_hidden_or_not():
    told, done, main, checks_left, counts = rates(check=4, repeat=5, after=3), [], 30, 5, []
    while main:
        counts.append(check_tasks.steps_left(main, len(done), told, checks_left, done, 1000))
        due = check_tasks.kind_at(len(done), told)
        eligible = sum(kind == "main" for kind in done[: max(0, len(done) - 3)]) - done.count("repeat")
        if due == "check" and checks_left:
            checks_left -= 1
        elif not (due == "repeat" and eligible > 0):
            due, main = "main", main - 1
        done.append(due)
    assert counts == list(range(counts[0], 0, -1))
    assert done.count("check") == 5
    assert done.count("repeat") > 4


def test_several_answers_may_be_right_and_near_ones():
    keys = {(1, 1): Key((2.0, 4.0)), (1, 2): Key((3.0,), 1.0), (1, 3): Key(("yes",))}
    found = score(
        keys, {(1, 1): 4.0, (1, 2): 2.0}, {1: (1, 2, 3, 4, 5), 2: (1, 2, 3, 4, 5), 3: ("yes", "no")}
    )
    assert (found.right, found.asked, found.chance) == (2, 3, pytest.approx(0.4 + 0.6 + 0.5))
    assert found.corrected == pytest.approx((2 - 1.5) / (3 - 1.5))


@pytest.mark.exhaustive
def test_checks_come_at_their_rate_and_take_no_place_of_the_main_work(ana):
    made = campaign(ana, check=3, main=12, check_every=4)
    given = work(ana, made)
    assert given.count("check") == 3
    assert given.count("main") == 12
    assert given[-1] == "main"
    assert all("check" in given[at : at + 4] for at in (0, 4, 8))
    assert campaign_progress.counts(made).submitted == 12 == Slot.objects.filter(taken=True).count()
    assert live_labels().count() == 12
    assert CheckResult.objects.count() == 3


def test_nothing_that_an_annotator_gets_tells_a_check_from_other_tasks(ana, client):
    made = campaign(ana, check=4, main=8, check_every=2)
    client.force_login(ana)
    seen = []
    body = client.post(reverse("work-next", args=[made.pk])).json()
    while body["task"] is not None:
        seen.append((occasion_of_id(body), shape(body), body["progress"]["done"], body["progress"]["whole"]))
        public = body["task"]["items"][0]
        body = client.post(
            reverse("work-submit", args=[made.pk, body["task"]["assignment"]]),
            json.dumps({"answers": {str(public): {"overall": 4}}}),
            content_type="application/json",
        ).json()
    assert {kind for kind, *_ in seen} == {"main", "check"}
    assert len({what for _, what, *_ in seen}) == 1
    assert [done for *_, done, _ in seen] == list(range(12))
    assert {whole for *_, whole in seen} == {12}


def occasion_of_id(body):
    return Assignment.objects.values_list("occasion", flat=True).get(pk=body["task"]["assignment"])


def shape(body):
    """The names of all that is told, and of the task's own values those that could tell it apart."""
    task = body["task"]
    return (tuple(sorted(body)), tuple(sorted(task)), task["revising"], task["told"], str(task["draft"]))


@pytest.mark.exhaustive
def test_a_repeat_comes_after_enough_others_without_the_earlier_answers(ana):
    made = campaign(ana, main=12, repeat_every=4, repeat_after=3)
    met, repeats = [], 0
    while (hold := start(ana, made)) is not None:
        if occasion_of(hold) == "repeat":
            repeats += 1
            assert hold.task in met[: len(met) - 3]
            assert hold.draft == {"version": 0}
        met.append(hold.task)
        answer(ana, made, hold, 3)
    assert repeats >= 2
    assert len(set(met)) == 12
    assert live_labels().count() == 12
    assert Label.objects.filter(occasion="repeat").count() == repeats


@pytest.mark.exhaustive
def test_a_skipped_check_is_not_made_up_for_and_revising_one_changes_no_score(ana):
    made = campaign(ana, check=6, main=6, check_every=2)
    while occasion_of(hold := start(ana, made)) != "check":
        answer(ana, made, hold)
    labelling.skip(by=ana, campaign=made.pk, assignment=hold.assignment, reason="hard")
    hold = start(ana, made)
    assert occasion_of(hold) == "main"
    answer(ana, made, hold)
    while occasion_of(hold := start(ana, made)) != "check":
        answer(ana, made, hold)
    answer(ana, made, hold, WRONG)
    item = Assignment.objects.get(pk=hold.assignment).task.item
    again = {str(item.pk): {"overall": RIGHT}}
    labelling.submit(by=ana, campaign=made.pk, assignment=hold.assignment, answers=again, revising=True)
    assert (CheckResult.objects.get().right, CheckResult.objects.get().asked) == (0, 1)


def only_checks_wrong(given):
    return WRONG if given[-1] == "check" else RIGHT


@pytest.mark.exhaustive
def test_below_a_mark_somebody_is_warned_then_paused_and_left_out_and_no_label_goes(ana):
    marks = {"warn_below": 0.9, "pause_below": 0.6, "leave_out_below": 0.6, "least": 2, "window": 4}
    made = campaign(ana, check=8, main=20, check_every=2, **marks)
    tally = []

    def values(given):
        tally.append(given[-1])
        return WRONG if given[-1] == "check" and given.count("check") > 1 else RIGHT

    given = work(ana, made, values)
    assert 2 <= given.count("check") <= 4  # 1 of 2 right: paused a few tasks later
    standing = Standing.objects.get(user=ana)
    assert re.fullmatch(r"1 of (\d) answers right in the last \1 checks", standing.paused_why)
    assert standing.left_out_at is not None
    before = Label.objects.count()
    check_actions.lift(by=made.created_by, campaign=made, user=ana, reason="talked about it")
    assert work(ana, made, RIGHT).count("check") >= 2
    check_actions.readmit(by=made.created_by, campaign=made, user=ana, reason="all right since")
    standing.refresh_from_db()
    assert standing.paused_at is None
    assert standing.left_out_at is None
    assert Label.objects.count() > before
    verbs = set(Event.objects.filter(detail__annotator="ana").values_list("verb", flat=True))
    assert verbs == {
        f"campaign: {verb}"
        for verb in ("pause annotator", "leave out of gold", "lift a pause", "take back into gold")
    }


@pytest.mark.exhaustive
def test_a_warning_is_read_before_the_next_task_and_comes_again_only_after_as_many_checks(ana):
    made = campaign(ana, check=6, main=20, check_every=2, warn_below=0.9, least=2, window=10)
    before = work(ana, made, only_checks_wrong)
    assert before.count("check") >= 2
    accept(ana, made, "warning")
    assert work(ana, made, only_checks_wrong).count("check") >= 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("mark", ["warn_below", "pause_below"])
def test_a_warning_or_pause_comes_some_tasks_after_the_check_and_not_always_as_many(db, mark):
    people = [factories.user() for _ in range(8)]
    made = campaign(*people, check=1, main=60, check_every=3, least=1, leave_out_below=0.9, **{mark: 0.9})
    between = []
    for person in people:
        given = work(person, made, only_checks_wrong, most=8)
        between.append(len(given) - 1 - given.index("check"))
        standing = Standing.objects.get(user=person)
        assert standing.warned_at or standing.paused_at
    assert set(between) <= {1, 2, 3, 4}
    assert len(set(between)) > 1, "always as many tasks later would tell which it was"


def test_the_answer_to_a_check_tells_nothing_but_leaves_out_of_gold_at_once(ana, client):
    made = campaign(ana, check=1, main=20, check_every=2, least=1, leave_out_below=0.9, warn_below=0.9)
    client.force_login(ana)
    while occasion_of(hold := start(ana, made)) != "check":
        answer(ana, made, hold)
    body = {"answers": {str(Assignment.objects.get(pk=hold.assignment).task.item_id): {"overall": WRONG}}}
    told = client.post(
        f"/api/v1/work/{made.pk}/{hold.assignment}/submit/", json.dumps(body), content_type="application/json"
    ).json()
    assert told["waiting"] is None
    assert told["task"] is not None
    standing = Standing.objects.get(user=ana)
    assert standing.left_out_at is not None
    assert standing.warned_at is None


NOTED = "noted in <{}>"


@pytest.mark.exhaustive
def test_nothing_but_the_transcript_tells_that_a_repeat_is_the_same_task(ana, client):
    """Over HTTP: what pages and programs are sent of a task and its repeat shares its texts alone."""
    made = campaign(ana, main=8, repeat_every=3, repeat_after=1)
    client.force_login(ana)
    screens: dict[int, list[tuple[int, str]]] = {}
    numbers: dict[int, set[int]] = {}
    while (hold := start(ana, made)) is not None:
        page = client.get(reverse("work", args=[made.pk])).content.decode()
        told = client.post(f"/api/v1/work/{made.pk}/next/").json()["task"]
        screens.setdefault(hold.task, []).append((hold.assignment, page + json.dumps(told)))
        numbers.setdefault(hold.task, set()).update(told["items"])
        if occasion_of(hold) != "repeat":
            last = told["parts"][-1]["lines"][-1]["line"]
            note(client, made, hold, {"line": last, "comment": NOTED.format(hold.assignment)})
        answer(ana, made, hold)
    again = {task: seen for task, seen in screens.items() if len(seen) == 2}
    assert len(again) >= 2
    for task, ((first, one), (second, two)) in again.items():
        assert NOTED.format(first) not in two
        assert len(numbers[task]) == 2
        same = long_numbers(one) & long_numbers(two)
        assert same <= constants(screens, but=task), f"{first} and {second} share {same}"


def note(client, made, hold, said):
    address = reverse("work-note", args=[made.pk, hold.assignment])
    assert client.post(address, json.dumps(said), content_type="application/json").status_code == 200


def long_numbers(text):
    """Everything in a text that could be an id: numbers and tokens of hexadecimal digits."""
    return set(re.findall(r"\b(?:[0-9]+|[0-9a-f]{8,})\b", text))


def constants(screens, but):
    """What any two screens of other tasks share, too: the campaign's constants, and small numbers."""
    others = [long_numbers(text) for task, seen in screens.items() if task != but for _, text in seen]
    return set.union(*others)


@pytest.mark.exhaustive
def test_a_key_that_is_corrected_counts_the_results_anew(ana):
    made = campaign(ana, check=1, main=4, check_every=2)
    work(ana, made, 3)
    there = made.key_tasks.get()
    place = (there.answers.get().item_id, there.answers.get().question_id)
    changed = check_actions.change_key(
        by=made.created_by, key=there, answers={place: Key((3.0,))}, explanation=""
    )
    assert changed == 1
    assert CheckResult.objects.get().right == 1


def test_main_work_is_never_a_check_and_a_keyed_task_never_main_work(ana):
    made = campaign(ana, check=1, main=3)
    item = made.tasks.first().item
    with pytest.raises(CampaignRefused, match="main work"):
        key(made, "check", item, by=made.created_by)
    assert made.tasks.count() == 3
    check_actions.retire_key(by=made.created_by, key=made.key_tasks.get())
    assert Item.objects.filter(kind="turn").count() == 4
    factories.campaigns.pause(by=made.created_by, campaign=made)
    factories.campaigns.open(by=made.created_by, campaign=made)
    assert made.tasks.count() == 4
