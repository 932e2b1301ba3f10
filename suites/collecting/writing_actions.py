"""Written responses: what a writer sees of a dialogue, what they send, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any, Literal

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from annotation import records
from annotation.corpora import continuing
from annotation.corpora.rows import turn_record
from annotation.errors import LeaseLost, NotTaskHolder
from annotation.models import (
    Assignment,
    Continuation,
    ContinuationAuthor,
    Corpus,
    Dialogue,
    GuidelinesRead,
    System,
    Turn,
)
from annotation.records import HUMAN, SELF
from annotation.text import views
from annotation.work import check_stages, labels, leases, task_actions, task_page
from annotation.work.checking import cleaned
from annotation.work.leases import Hold, Seat
from judges.runs.material import dialogue_record
from suites.collecting.chat_actions import checked_text
from suites.collecting.errors import WritingRefused
from suites.collecting.models import WriterNumber, WritingPlan, WrittenResponse
from suites.continuation.generators.comperdial_response import Part

State = Assignment.State
DRAFT_LIMIT = 20_000
LOST = {
    State.EXPIRED: "Too much time passed, and other people write for this dialogue now. "
    "What you sent is kept; this text was not sent.",
    State.SKIPPED: "You skipped this dialogue. Your text was not sent.",
    State.TAKEN: "A researcher took this dialogue back. What you sent is kept; this text was not sent.",
    State.SUBMITTED: "You have finished this dialogue. Your text was not sent.",
}


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """A turn of the dialogue as a writer sees it: `text` begins with the speaker's name.

    `is_own` marks turns of the person for whom they write. `instead` is what they wrote at such a turn, where
    the campaign shows it, else ''.
    """

    text: str
    is_own: bool
    instead: str


@dataclass(frozen=True, slots=True)
class Writing:
    """A dialogue up to the point at which its writer writes next: response `number`, from 1, of `total`.

    `persona` are lines about the person for whom they write, `others` about the others where the campaign
    shows them. `draft` is the text begun for this response.
    """

    assignment: int
    number: int
    total: int
    persona: tuple[str, ...]
    others: tuple[str, ...]
    turns: tuple[SeenTurn, ...]
    most_characters: int
    draft: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a writer is: `writing` has what they write now.

    `state` is `task` where something on the annotation page comes first, or `nothing` where no dialogue is
    left for them, or none now.
    """

    state: Literal["writing", "task", "nothing"]
    writing: Writing | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A stored response; `real` is the real reply where the campaign shows it, else ''."""

    number: int
    total: int
    text: str
    real: str

    @property
    def is_last(self) -> bool:
        """Whether the dialogue is finished with it."""
        return self.number == self.total


class Script:
    """A dialogue for its writers: the part they write, and its turns without names of systems."""

    def __init__(self, dialogue: Dialogue, personas: str) -> None:
        own = Continuation.objects.select_related("system").get(dialogue=dialogue, key=SELF)
        rows = Turn.objects.filter(continuation=own).order_by("position")
        turns = tuple(turn_record(row.speaker, row.text, row.given, row.at, row.extra) for row in rows)
        record = dialogue_record(dialogue, turns, (), own.system.name)
        names = System.objects.filter(corpus=dialogue.corpus_id).order_by("name")
        self.turns = turns
        self.part = Part.of(record, personas)
        self._hide = views.blind(tuple(names.values_list("name", flat=True)))

    def about(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Return lines about a person."""
        return tuple(self._hide.about(line) for line in lines)

    def lines(self, number: int) -> str:
        """Return a turn as systems see it, with the speaker's name."""
        before = self.turns[number - 1 : number] if number else ()
        return self._hide.spoken("\n".join(self.part.cast.transcript([self.turns[number]], after=before)))

    def reply(self, number: int) -> str:
        """Return the text of the real reply of response `number`, from 1."""
        turn = self.turns[self.part.points[number - 1]]
        return self._hide.spoken("\n".join(self.part.cast.spoken(turn.text)))


@transaction.atomic
def start(*, by: User, campaign: int) -> Place:
    """Return where a member is, with the dialogue that they write for; claim one where they have none.

    Raises NotTaskHolder for other people.
    """
    seat, hold = task_actions.start(by=by, campaign=campaign)
    if hold is not None or seat.waits or check_stages.waiting(seat) is not None:
        return Place("task")
    own = leases.next_to_write(seat=seat) if task_page.own_page(seat) else None
    if own is None:
        return Place("nothing")
    if seat.guidelines is not None:
        GuidelinesRead.objects.get_or_create(guidelines_id=seat.guidelines, user=by)
    return Place("writing", _writing(own, _plan(campaign)))


def _plan(campaign: int) -> WritingPlan:
    plan = WritingPlan.objects.filter(campaign=campaign).first()
    if plan is None:
        raise NotTaskHolder("Nobody writes in this campaign.")
    return plan


def _writing(hold: Hold, plan: WritingPlan) -> Writing:
    dialogue = Dialogue.objects.get(continuations__task__pk=hold.task)
    script = Script(dialogue, plan.personas)
    rows = WrittenResponse.objects.filter(assignment=hold.assignment)
    texts = {row.point: row.text for row in rows}
    number, points = len(texts) + 1, script.part.points
    upto = points[number - 1] if number <= len(points) else 0
    draft = hold.draft if hold.draft.get("number") == number else {}
    return Writing(
        assignment=hold.assignment,
        number=number,
        total=len(points),
        persona=script.about(script.part.own),
        others=script.about(script.part.others),
        turns=tuple(
            SeenTurn(
                script.lines(at),
                script.turns[at].speaker == script.part.speaker,
                texts.get(at, "") if plan.show_real else "",
            )
            for at in range(upto)
        ),
        most_characters=plan.most_characters,
        draft=str(draft.get("text", "")),
    )


@transaction.atomic
def save_draft(*, by: User, campaign: int, assignment: int, number: int, text: str) -> None:
    """Save the text begun for response `number`, and none for another one. Raises NotTaskHolder."""
    _plan(campaign)
    row = _locked(by, campaign, assignment)
    text = str(cleaned(text))[:DRAFT_LIMIT]
    if row.state == State.LEASED and row.written_responses.count() + 1 == number:
        row.draft, row.draft_saved_at = {"number": number, "text": text}, timezone.now()
        row.lease_expires = timezone.now() + timedelta(minutes=row.campaign.lease_minutes)
        row.save(update_fields=["draft", "draft_saved_at", "lease_expires"])


@transaction.atomic
def send(*, by: User, campaign: int, assignment: int, number: int, text: str) -> Sent:
    """Store response `number` to a dialogue; the last one finishes it, and writes all to the corpus.

    A repeated request returns the stored response. Raises NotTaskHolder, MessageRefused, CampaignNotOpen,
    ConsentNeeded, LimitReached, LeaseLost where others write for it meanwhile, or WritingRefused where
    another text was sent already, or earlier responses are missing.
    """
    plan = _plan(campaign)
    seat = leases.take_seat(campaign=campaign, user=by.pk)
    row = _locked(by, campaign, assignment)
    text = checked_text(text, plan.most_characters, "response")
    script = Script(row.task.continuation.dialogue, plan.personas)
    total = len(script.part.points)
    stored = {response.number: response.text for response in row.written_responses.all()}
    if number in stored:
        if stored[number] != text:
            raise WritingRefused(
                f"Response {number} was sent already, from another tab. This text was not sent."
            )
    elif number != len(stored) + 1 or number > total:
        raise WritingRefused("This is not the next response of this dialogue. It was not sent.")
    else:
        _hold(seat, row)
        point = script.part.points[number - 1]
        WrittenResponse.objects.create(
            assignment=row, number=number, point=point, text=text, at=timezone.now()
        )
        lease = timezone.now() + timedelta(minutes=seat.lease_minutes)
        Assignment.objects.filter(pk=row.pk).update(draft={}, lease_expires=lease)
        if number == total:
            _finish(by, row, script.part.speaker)
            task_actions.complete(by=by, seat=seat, hold=Hold(row.pk, row.task_id, State.LEASED, {}))
    real = script.reply(number) if plan.show_real else ""
    return Sent(number, total, text, real)


def _locked(by: User, campaign: int, assignment: int) -> Assignment:
    """Return a writer's assignment, locked until the transaction ends; raise NotTaskHolder."""
    rows = Assignment.objects.select_for_update(of=("self",), no_key=True)
    rows = rows.select_related("campaign", "task__continuation__dialogue__corpus")
    row = rows.filter(pk=assignment, user=by, campaign=campaign, slot__isnull=False).first()
    if row is None:
        raise NotTaskHolder("You do not write for this dialogue.")
    return row


def _hold(seat: Seat, row: Assignment) -> None:
    """Make sure that a writer holds their dialogue, once more where their lease has expired."""
    seat.must_be_open()
    seat.must_have_agreed()
    seat.must_have_room()
    if row.state == State.LEASED:
        return
    if row.state == State.EXPIRED:
        try:
            with transaction.atomic():
                again = leases.take_again(seat=seat, assignment=row.pk, unwritten=True)
        except IntegrityError as error:
            raise LeaseLost(LOST[State.EXPIRED]) from error
        if again is not None:
            return
    raise LeaseLost(LOST[State(row.state)])


def _finish(by: User, row: Assignment, speaker: str) -> None:
    """Write a finished dialogue's responses to the corpus, under the writer's number and pseudonym."""
    dialogue = row.task.continuation.dialogue
    number = _number_of(dialogue.corpus, by)
    system, _ = System.objects.get_or_create(corpus=dialogue.corpus, name=f"{HUMAN} {number}")
    name = labels.pseudonyms_of_people([by.pk], dialogue.corpus_id)[by.pk]
    turns = tuple(
        records.Turn(
            speaker=speaker,
            text=response.text,
            at=response.point,
            # Not the turn's own time, which raters and judges would see: turns of systems have none.
            extra={"annotator": name, "time": response.at.astimezone(UTC).isoformat(timespec="milliseconds")},
        )
        for response in row.written_responses.all()
    )
    key = f"{row.campaign.own_key}-{number}"
    record = records.Continuation(id=key, system=system.name, turns=turns, mode="static")
    continuation = continuing.add(dialogue=dialogue, system=system, record=record)
    ContinuationAuthor.objects.create(continuation=continuation, user=by)


def _number_of(corpus: Corpus, user: User) -> int:
    """Return a writer's number in a corpus; a new one is above all others, and names no system yet."""
    Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    rows = WriterNumber.objects.filter(corpus=corpus)
    if (row := rows.filter(user=user).first()) is not None:
        return row.number
    number = (rows.aggregate(last=Max("number"))["last"] or 0) + 1
    while System.objects.filter(corpus=corpus, name=f"{HUMAN} {number}").exists():
        number += 1
    WriterNumber.objects.create(corpus=corpus, user=user, number=number)
    return number


@transaction.atomic
def skip(*, by: User, campaign: int, assignment: int, reason: str) -> None:
    """Skip a dialogue for a reason: others get it, and the writer does not get it again.

    Responses sent so far are kept, in no corpus. Raises AnswerRefused without a reason, NotTaskHolder or
    CampaignNotOpen.
    """
    _plan(campaign)
    seat = leases.take_seat(campaign=campaign, user=by.pk)
    row = _locked(by, campaign, assignment)
    task_actions.give_up(by=by, seat=seat, assignment=row.pk, reason=reason)


# For researchers.


def writings(campaign: int) -> QuerySet[Assignment]:
    """Return who writes or wrote for which dialogue of a campaign, latest first.

    Each has the `number` of responses sent, and the time of the last one as `last_at`.
    """
    rows = Assignment.objects.filter(campaign=campaign, slot__isnull=False)
    rows = rows.annotate(number=Count("written_responses"), last_at=Max("written_responses__at"))
    return rows.select_related("campaign", "user", "task__continuation__dialogue").order_by("-pk")


def responses(row: Assignment) -> list[dict[str, Any]]:
    """Return the responses of a writer with the real replies, in order."""
    script = Script(row.task.continuation.dialogue, row.campaign.writing_plan.personas)
    return [
        {
            "number": response.number,
            "point": response.point,
            "text": response.text,
            "real": script.turns[response.point].text,
            "at": response.at,
        }
        for response in row.written_responses.all()
    ]
