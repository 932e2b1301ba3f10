"""A study in progress: people who were trained and tested, pairs, decisions, messages, a join link.

Everybody in it is simulated, and named accordingly. Each campaign has a place for a visitor, and some cases
wait for a decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation import scheme_actions
from annotation.campaigns import campaign_actions as campaigns
from annotation.corpora.import_file import import_path
from annotation.models import Assignment, Campaign, CampaignMember, Corpus, Scheme
from annotation.people import accounts, participants
from annotation.scheme_store import questionnaire_of
from annotation.schemes.files import definition_from
from annotation.work import check_actions, check_stages, labels, messages, notes, task_page
from annotation.work import task_actions as labelling
from annotation.work.check_stages import Key
from annotation.work.leases import Hold
from annotation.work.screens import Screen, load
from annotation.work.transcripts import Part
from calibration.adjudication import decisions, rounds
from calibration.gold import derivation
from demo import build, loading
from demo.raters import RATERS, SimulatedRater, uniform

STUDY, PAIRS = "Demo: help at the desk", "Demo: which reply is better?"
ROUND = "Demo: help at the desk, adjudication"
CONSENT = "Nobody is paid for the demo. What you answer stays in this installation and can be **deleted**."
PEOPLE = {"simulated-ann": RATERS[0], "simulated-bob": RATERS[1], "simulated-cyn": RATERS[2]}
CARELESS, JUDGE = "simulated-dan", "simulated-eve"
KEYED = ("training", "training", "qualification", "qualification", "check", "check", "check")
SEED = 5
WAITING_CASES = 3
"""Cases that wait for a visitor's decision."""
Answer = Callable[[Hold, Screen], dict[str, Any]]


def load_study(*, by: User, visitors: Sequence[User]) -> bool:
    """Create the whole study if missing; return whether it was created."""
    if Campaign.objects.filter(name=STUDY).exists():
        return False
    corpus = _corpus(by)
    people = {name: loading.simulated(name) for name in (*PEOPLE, CARELESS, JUDGE)}
    for person in people.values():
        labels.rater_of_person(user=person, simulated=True)
    workers = [people[name] for name in (*PEOPLE, CARELESS)]
    study = _study(corpus, by=by, annotators=[*visitors, *workers])
    work_through(people[CARELESS], study, _answer_carelessly)
    for name, rater in PEOPLE.items():
        work_through(people[name], study, _answers(rater))
    spread_times(study)
    _add_messages(study, by=by, people=people, visitor=visitors[0])
    _add_join_link(study, by=by)
    _decide(study, by=by, judge=people[JUDGE])
    pairs = campaigns.create(
        by=by,
        name=PAIRS,
        corpus=corpus,
        scheme="preference",
        raters_per_item=3,
        annotators=[*visitors, *workers],
    )
    campaigns.open(by=by, campaign=pairs)
    for name in list(PEOPLE)[:2]:
        work_through(people[name], pairs, _preference_answers(PEOPLE[name]))
    spread_times(pairs)
    return True


def _corpus(by: User) -> Corpus:
    import_path(
        path=build.CORPORA / f"{build.FILE}.jsonl",
        format="jsonl",
        corpus=build.NAME,
        into=False,
        by=by,
        source="Written for Concord's demo; everybody who rates it is simulated",
        licence="GPL-3.0-or-later",
    )
    return Corpus.objects.get(name=build.NAME)


def _study(corpus: Corpus, *, by: User, annotators: Iterable[User]) -> Campaign:
    if not Scheme.objects.filter(key=build.SCHEME["scheme"]).exists():
        scheme_actions.create(by=by, definition=definition_from(build.SCHEME))
    campaign = campaigns.create(
        by=by,
        name=STUDY,
        corpus=corpus,
        scheme=f"{build.SCHEME['scheme']}@1",
        raters_per_item=4,
        annotators=annotators,
        consent=CONSENT,
        shows_agreement=True,
    )
    plan = questionnaire_of(campaign.scheme_version_id)
    for number, occasion in enumerate(KEYED):
        about = f"desk{number + 1:02}/{build.DESK_SYSTEMS[number % 2]}/0"
        spot = check_actions.spot_named(campaign, about)
        (item,) = check_actions.items_at(campaign, spot)
        reply = build.BY_TEXT[item.turn.text if item.turn else ""]
        right = {
            (item.pk, plan.by_key["helpful"].id): Key((float(reply.helpful),), 1.0),
            (item.pk, plan.by_key["talks_down"].id): Key((float(reply.talks_down),)),
        }
        why = "Nothing is left to ask." if reply.helpful == 5 else "The visitor has to ask again."
        check_actions.add_key(
            by=by, campaign=campaign, occasion=occasion, spot=spot, answers=right, explanation=why
        )
    check_actions.set_up(
        by=by, campaign=campaign, test_mark=0.75, test_tries=1, check_every=5, warn_below=0.5
    )
    campaigns.open(by=by, campaign=campaign)
    return campaign


def work_through(person: User, campaign: Campaign, answer: Answer) -> None:
    """Accept the introductory steps, and answer all assigned tasks until none is left."""
    while True:
        seat, hold = labelling.start(by=person, campaign=campaign.pk)
        if hold is not None:
            screen = load(hold.task, False, hold.assignment)
            answers = {str(item): answer(hold, screen) for item in screen.items}
            labelling.submit(by=person, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
        elif (consent := task_page.waiting(seat)) is not None:
            task_page.accept(by=person, campaign=campaign.pk, what=consent.what, version=consent.version)
        elif (notice := check_stages.waiting(seat)) is not None and notice.what not in ("failed", "paused"):
            task_page.accept(by=person, campaign=campaign.pk, what=notice.what, version=notice.number or 0)
        else:
            return


def spread_times(campaign: Campaign) -> None:
    """Spread submission times over yesterday and today: about half a minute a task."""
    done = list(campaign.assignments.filter(state=Assignment.State.SUBMITTED).order_by("pk"))
    for number, assignment in enumerate(done):
        seconds = 15 + 30 * uniform(SEED, str(number), campaign.name)
        ago = timedelta(hours=26 if number % 5 < 2 else 2) - timedelta(seconds=50 * number)
        assignment.leased_at = timezone.now() - ago
        assignment.submitted_at = assignment.leased_at + timedelta(seconds=seconds)
        assignment.attention = {"simulated": round(900 * seconds)}
    Assignment.objects.bulk_update(done, ["leased_at", "submitted_at", "attention"])
    CampaignMember.objects.filter(campaign=campaign, pace__isnull=False).update(pace=30)


def _answers(rater: SimulatedRater) -> Answer:
    """Return the answer function of a simulated person: no errors on tasks with a key known as such."""

    def answer(hold: Hold, screen: Screen) -> dict[str, Any]:
        reply = build.BY_TEXT[last_line(screen.parts)]
        is_test = Assignment.objects.filter(pk=hold.assignment, occasion__in=KEYED[:4]).exists()
        helpful = reply.helpful if is_test else rater.rates(reply.text, "helpful", reply.helpful)
        answers: dict[str, Any] = {"helpful": helpful, "talks_down": int(reply.talks_down)}
        return answers | ({"missing": "What was asked."} if helpful <= 2 else {})

    return answer


def _answer_carelessly(hold: Hold, screen: Screen) -> dict[str, Any]:
    """Answer without reading, which does not pass the test."""
    return {"helpful": 4, "talks_down": 0}


def _preference_answers(rater: SimulatedRater) -> Answer:
    """Return the answer function of a simulated person who compares two replies by their own rating of
    each.
    """

    def answer(hold: Hold, screen: Screen) -> dict[str, Any]:
        replies = [build.BY_TEXT[last_line(side.parts)] for side in screen.sides]
        first, second = (rater.rates(reply.text, "helpful", reply.helpful) for reply in replies)
        if first == second:
            return {"preference": "tie" if first > 2 else "both_bad"}
        return {"preference": "first" if first > second else "second"}

    return answer


def last_line(parts: Sequence[Part]) -> str:
    """Return the text of the rated turn: the last line."""
    return [line.text for part in parts for line in part.lines][-1]


def _add_messages(study: Campaign, *, by: User, people: Mapping[str, User], visitor: User) -> None:
    """Add notes on turns, a question with its answer, and a message to the visiting annotator."""
    ann, bob = people["simulated-ann"], people["simulated-bob"]
    first, second = study.assignments.filter(user=ann, occasion="main").order_by("pk")[:2]
    add_note = partial(notes.set_note, by=ann, campaign=study.pk, line=2)
    add_note(assignment=first.pk, comment="Right, but who would understand it?")
    add_note(assignment=second.pk, flagged=True, bookmarked=True)
    own = study.assignments.filter(user=bob, occasion="main").order_by("pk")[0]
    question = "Does a joke count as talking down?"
    thread = messages.ask(by=bob, campaign=study.pk, text=question, assignment=own.pk, line=2)
    messages.answer(by=by, thread=thread, text="Only where it is at the visitor’s cost.")
    messages.ask(by=ann, campaign=study.pk, text="May I go back to what I rated yesterday?")
    welcome = "Welcome! Begin with the training; write to me here if anything is unclear."
    messages.write(by=by, campaign=study, to=[visitor], text=welcome)


def _add_join_link(study: Campaign, *, by: User) -> None:
    """Add a join link, and two people who used it and have not begun."""
    link = participants.make_link(by=by, campaign=study, name="Prolific, first wave", code="DEMO7")
    for number in (1, 2):
        arrival = participants.Came(f"simulated-p{number}", "demo", f"session-{number}")
        participants.join(link=link, visitor=arrival, browser=f"simulated browser {number}")


def _decide(study: Campaign, *, by: User, judge: User) -> None:
    """Add an adjudication round, decided except for the last cases, and gold that prefers its decisions."""
    accounts.give_campaign_role(by=by, campaign=study, person=judge, role="adjudicator")
    plan = rounds.Plan(
        study.corpus, study, study.scheme_version, {"no_majority": True, "spread": 1, "control": 2}
    )
    adjudication = rounds.begin(by=by, name=ROUND, plan=plan)
    for _ in range(adjudication.cases.count() - WAITING_CASES):
        decision = decisions.next_case(by=judge, adjudication_round=adjudication)
        if decision is None:
            break
        turn = decision.case.item.turn
        reply = build.BY_TEXT[turn.text if turn else ""]
        is_scale = decision.case.question.key == "helpful"
        decisions.decide(
            by=judge,
            decision=decision.pk,
            answer=float(reply.helpful if is_scale else reply.talks_down),
            reason="How much the visitor knows afterwards decides it.",
        )
    derivation.make(
        corpus=study.corpus, campaign=study, scheme_version=study.scheme_version, rule="majority", by=by
    )
