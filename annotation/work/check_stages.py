"""Training, test and hidden checks: scores, each person's stage, consequences, and notices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from annotation.errors import AnswerRefused
from annotation.models import Corpus, Item, KeyAnswer, Rater, turn_numbers
from annotation.models.campaigns import Campaign, CampaignMember
from annotation.models.checks import STAGES, Attempt, CheckPlan, CheckResult, KeyTask, Standing
from annotation.models.labels import Occasion
from annotation.models.work import Assignment
from annotation.scheme_store import ScreenQuestion, questionnaire_of
from annotation.work.labels import name_of
from annotation.work.leases import Seat, take_seat
from config.models import Event

# Comparison of answers with a key, and scores. No database access.

Value = float | str
Place = tuple[int, int]
"""(item id, question id)."""


class Key(NamedTuple):
    """Correct answers in one place: one of `values`, or a number within `tolerance` of one of them."""

    values: tuple[Value, ...]
    tolerance: float = 0.0


class Score(NamedTuple):
    """`right` of `asked` answers are correct; guessing gets `chance` of them, on average."""

    right: int
    asked: int
    chance: float

    @property
    def share(self) -> float | None:
        """Share of correct answers, 0 to 1; None where nothing was asked."""
        return self.right / self.asked if self.asked else None

    @property
    def corrected(self) -> float | None:
        """Chance-corrected score, (right - chance) / (asked - chance): 1 if all are correct, 0 at guessing
        level.

        None where nothing was asked, or where any answer would be correct.
        """
        possible = self.asked - self.chance
        return (self.right - self.chance) / possible if self.asked and possible > 1e-9 else None

    def by(self, measure: str) -> float | None:
        """Return the score on a measure: `share` or `corrected`."""
        return self.corrected if measure == "corrected" else self.share


def is_right(value: Value | None, key: Key) -> bool:
    """Whether an answer is correct; a missing answer never is."""
    if value is None:
        return False
    if isinstance(value, str):
        return value in key.values
    near = (abs(value - right) <= key.tolerance + 1e-9 for right in key.values if not isinstance(right, str))
    return any(near)


def chance(key: Key, scale: Sequence[Value]) -> float:
    """Return the share of a scale's values that are correct; 0 where it lists none and guessing is
    impossible.
    """
    return sum(is_right(value, key) for value in scale) / len(scale) if scale else 0.0


def score(
    keys: Mapping[Place, Key], answers: Mapping[Place, Value], scales: Mapping[int, Sequence[Value]]
) -> Score:
    """Score answers against a key. `scales` are the values of the questions, by id."""
    right = sum(is_right(answers.get(place), key) for place, key in keys.items())
    guessed = sum(chance(key, scales.get(question, ())) for (_, question), key in keys.items())
    return Score(right, len(keys), guessed)


def total(scores: Iterable[Score]) -> Score:
    """Add up several scores."""
    rows = list(scores)
    return Score(sum(s.right for s in rows), sum(s.asked for s in rows), sum(s.chance for s in rows))


# Training and the test, which come before the main work: each person's stage, and the next step.
#
# Everything here runs while the member's row is locked (`annotation.work.leases.take_seat`), so requests
# from two tabs of one person run one after the other: an attempt begins once, and ends once.

TRAINING, TEST = Occasion.TRAINING, Occasion.QUALIFICATION
DONE = [Assignment.State.SUBMITTED, Assignment.State.SKIPPED]
NAMES = {TRAINING: "training", TEST: "test"}


def standing_of(campaign: int, user: int) -> Standing:
    """Return a person's standing in a campaign; a new one at the first stage where none is stored."""
    return Standing.objects.get_or_create(campaign_id=campaign, user_id=user)[0]


def keys_of(campaign: int, occasion: str, user: int) -> QuerySet[KeyTask]:
    """Return a campaign's key tasks for one occasion and person, in order of creation.

    Retired ones are left out, and those about what the person wrote.
    """
    keys = KeyTask.objects.filter(campaign=campaign, occasion=occasion, retired_at=None)
    return keys.exclude(task__in=RawSQL("SELECT unnest(concord_own_tasks(%s, %s))", [campaign, user]))


def stages(campaign: int) -> set[str]:
    """Return a campaign's stages: training, qualification, both or none."""
    keys = KeyTask.objects.filter(campaign=campaign, occasion__in=STAGES, retired_at=None)
    return set(keys.order_by().values_list("occasion", flat=True).distinct())


def stage(member_status: Standing) -> str:
    """Return the stage that somebody has to do before the main work, '' for none; then they are admitted."""
    if member_status.admitted_at is not None:
        return ""
    campaign_stages = stages(member_status.campaign_id)
    if TRAINING in campaign_stages and member_status.trained_at is None:
        return TRAINING
    if TEST in campaign_stages:
        return TEST
    if campaign_stages:
        admit(member_status, verb="finish the training")
    return ""


def prerequisite(plan: CheckPlan, member_status: Standing) -> Campaign | None:
    """Return the campaign whose test somebody has to pass before anything here, None for none.

    Whoever was let in by hand needs none.
    """
    if plan.prerequisite_id is None or member_status.admitted_why:
        return None
    passed = Standing.objects.filter(
        campaign=plan.prerequisite_id, user=member_status.user_id, admitted_at__isnull=False
    )
    return None if passed.exists() else Campaign.objects.get(pk=plan.prerequisite_id)


def prerequisites(user: int) -> dict[int, Campaign]:
    """Return the campaigns whose test a member has to pass first, by the campaign that waits for it."""
    plans = CheckPlan.objects.filter(campaign__members__user=user, prerequisite__isnull=False)
    mine = Standing.objects.filter(user=user)
    admitted = set(mine.filter(admitted_at__isnull=False).values_list("campaign", flat=True))
    by_hand = set(mine.exclude(admitted_why="").values_list("campaign", flat=True))
    return {
        plan.campaign_id: plan.prerequisite
        for plan in plans.select_related("prerequisite")
        if plan.prerequisite and plan.prerequisite_id not in admitted and plan.campaign_id not in by_hand
    }


def attempts(member_status: Standing, occasion: str) -> list[Attempt]:
    """Return somebody's training rounds, or test attempts, in order."""
    rows = Attempt.objects.filter(
        campaign=member_status.campaign_id, user=member_status.user_id, occasion=occasion
    )
    return list(rows.order_by("number"))


def under_way(member_status: Standing) -> Attempt | None:
    """Return somebody's current round or attempt."""
    unfinished = Attempt.objects.filter(
        campaign=member_status.campaign_id, user=member_status.user_id, finished_at=None
    )
    return unfinished.first()


def begin(member_status: Standing, occasion: str, number: int) -> None:
    """Begin a training round or test attempt where its turn has come; otherwise do nothing.

    A repeated request begins it once. There are no more attempts than the campaign allows.
    """
    before = attempts(member_status, occasion)
    plan = CheckPlan.objects.get(campaign=member_status.campaign_id)
    if stage(member_status) != occasion or number != len(before) + 1:
        return
    if prerequisite(plan, member_status) is not None:
        return
    if any(attempt.finished_at is None for attempt in before):
        return
    if occasion == TEST and len(before) >= plan.test_tries:
        return
    if occasion == TRAINING and before and not plan.training_again:
        return
    Attempt.objects.create(
        campaign_id=member_status.campaign_id, user_id=member_status.user_id, occasion=occasion, number=number
    )


def rest(attempt: Attempt, seed: int) -> list[KeyTask]:
    """Return the remaining tasks of a round or attempt. A test's order differs by person and attempt."""
    done = _of(attempt).filter(state__in=DONE).values("task")
    keys = keys_of(attempt.campaign_id, attempt.occasion, attempt.user_id)
    open_keys = list(keys.exclude(task__in=done))
    if attempt.occasion == TEST:
        open_keys.sort(key=lambda key: _digest(f"{seed}:{attempt.user_id}:{attempt.number}:{key.task_id}"))
    return open_keys


def finish(member_status: Standing, plan: CheckPlan, attempt: Attempt) -> None:
    """End a round or attempt: skipped tasks count as wrong. Passing the test admits the person."""
    score = score_of(attempt)
    attempt.right, attempt.asked = score.right, score.asked
    attempt.score = score.by(plan.test_measure)
    if attempt.occasion == TEST:
        attempt.passed = attempt.score is not None and attempt.score >= plan.test_mark - 1e-9
    attempt.finished_at = timezone.now()
    attempt.save()
    if attempt.occasion != TEST:
        return
    details: dict[str, Any] = {"try": attempt.number, "right": score.right, "asked": score.asked}
    if attempt.passed:
        admit(member_status, verb="pass the test", **details)
    else:
        log(member_status, "fail the test", by=member_status.user_id, **details)


def score_of(attempt: Attempt) -> Score:
    """Return the score of a round or attempt, over submitted and skipped tasks."""
    mine = _of(attempt)
    results = CheckResult.objects.filter(assignment__in=mine)
    scores = [Score(r.right, r.asked, r.chance) for r in results]
    skipped = mine.filter(state=Assignment.State.SKIPPED).values("task")
    missed = [Score(0, key.answers.count(), 0.0) for key in KeyTask.objects.filter(task__in=skipped)]
    return total([*scores, *missed])


def admit(member_status: Standing, *, verb: str, **details: Any) -> None:
    """Admit somebody who has completed the earlier stages to the main work."""
    member_status.admitted_at = timezone.now()
    member_status.save(update_fields=["admitted_at"])
    log(member_status, verb, by=member_status.user_id, **details)


def log(member_status: Standing, verb: str, *, by: int | None, **detail: Any) -> None:
    """Add an entry about a person to the campaign's log; `by` is None where a campaign rule acts."""
    campaign = Campaign.objects.only("name").get(pk=member_status.campaign_id)
    payload = {"campaign": campaign.pk, "annotator": member_status.user.get_username(), **detail}
    Event.objects.create(by_id=by, verb=f"campaign: {verb}", subject=campaign.name, detail=payload)


def failed(campaign: Campaign) -> set[int]:
    """Return the ids of those who used every test attempt, passed none, and were not admitted by hand."""
    plan = CheckPlan.objects.filter(campaign=campaign).first()
    if plan is None:
        return set()
    tries = Attempt.objects.filter(campaign=campaign, occasion=TEST, passed=False).order_by()
    counted = tries.values("user").annotate(n=Count("pk")).filter(n__gte=plan.test_tries)
    admitted = Standing.objects.filter(campaign=campaign, admitted_at__isnull=False)
    return set(counted.exclude(user__in=admitted.values("user")).values_list("user", flat=True))


def _of(attempt: Attempt) -> Any:
    mine = Q(campaign=attempt.campaign_id, user=attempt.user_id, occasion=attempt.occasion)
    return Assignment.objects.filter(mine, slot=None, round=attempt.number)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# Consequences of a person's hidden checks: a warning, a pause, or exclusion from gold.
#
# A rule acts on a person's most recent checks (a rolling window) once there are enough of them. It never
# touches a label. After a pause is lifted, or somebody is readmitted to gold, checks count from then on.
#
# Exclusion from gold, which annotators are not told about, follows a check at once. A warning or a pause
# comes 1 to MOST tasks later, at a step drawn for the person: right after the check, it would reveal which
# task was the check.

# Raters excluded from gold: in which campaign, since when and why. All their labels are kept.


class LeftOut(NamedTuple):
    """A rater, by their name in reports, whose labels of a campaign are excluded from gold."""

    campaign: int
    rater: int
    name: str
    campaign_name: str
    since: datetime
    why: str

    @property
    def sentence(self) -> str:
        """Describe the exclusion in one line."""
        return f"{self.name} in {self.campaign_name}, since {self.since:%Y-%m-%d} ({self.why})"

    def as_json(self) -> dict[str, Any]:
        """Return JSON data, as stored with results computed without the rater."""
        return {
            "rater": self.name,
            "campaign": self.campaign_name,
            "since": self.since.isoformat(),
            "why": self.why,
        }


def left_out(corpus: Corpus, campaign: Campaign | None = None) -> tuple[LeftOut, ...]:
    """Return the raters excluded from gold in a campaign, or in all campaigns of a corpus, by name."""
    marked = Standing.objects.filter(left_out_at__isnull=False, campaign__corpus=corpus)
    if campaign is not None:
        marked = marked.filter(campaign=campaign)
    fields = ("campaign", "user", "campaign__name", "left_out_at", "left_out_why")
    rows = list(marked.order_by("campaign").values_list(*fields))
    if not rows:
        return ()
    raters = {rater.user_id: rater for rater in Rater.objects.filter(user__in=marked.values("user"))}
    entries = [
        LeftOut(campaign, raters[user].pk, name_of(raters[user], corpus.pk), name, since, why)
        for campaign, user, name, since, why in rows
        if user in raters and since is not None
    ]
    return tuple(sorted(entries, key=lambda entry: (entry.name, entry.campaign)))


class Recent(NamedTuple):
    """Score of somebody's checks in the window, and the number of these checks."""

    score: Score
    n: int


MOST = 4
"""Maximum number of tasks between a check and the warning or pause that follows from it."""


def step_due(step: int, person_seed: str) -> int:
    """Return how many tasks are submitted before a person is warned or paused for their `step`-th check."""
    digest = hashlib.sha256(f"{person_seed}:marks:{step}".encode()).digest()
    return step + 1 + int.from_bytes(digest[:6]) % MOST


def recent(plan: CheckPlan, member_status: Standing, but: int | None = None) -> Recent:
    """Return the score of the last checks that count; voided ones and the task `but` do not."""
    mine = CheckResult.objects.filter(
        campaign=member_status.campaign_id, user=member_status.user_id, occasion=Occasion.CHECK
    ).exclude(assignment__state="voided")
    if member_status.window_from is not None:
        mine = mine.filter(at__gt=member_status.window_from)
    if but is not None:
        mine = mine.exclude(assignment=but)
    rows = list(mine.order_by("-at", "-id")[: plan.window])
    return Recent(total(Score(row.right, row.asked, row.chance) for row in rows), len(rows))


def leave_out(plan: CheckPlan, member_status: Standing) -> None:
    """Exclude a person from gold whose recent checks are below the campaign's threshold."""
    share, why = _judged(plan, recent(plan, member_status))
    if _is_below(share, plan.leave_out_below) and member_status.left_out_at is None:
        member_status.left_out_at, member_status.left_out_why = timezone.now(), why
        member_status.save(update_fields=["left_out_at", "left_out_why"])
        log(member_status, "leave out of gold", by=None, reason=why)


def warn_or_pause(plan: CheckPlan, member_status: Standing, but: int | None) -> None:
    """Warn or pause a person whose recent checks, without the task `but`, are below the thresholds."""
    share, why = _judged(plan, recent(plan, member_status, but))
    now, changed = timezone.now(), []
    if _is_below(share, plan.pause_below) and member_status.paused_at is None:
        member_status.paused_at, member_status.paused_why = now, why
        changed += ["paused_at", "paused_why"]
        log(member_status, "pause annotator", by=None, reason=why)
    if (
        _is_below(share, plan.warn_below)
        and member_status.paused_at is None
        and _may_warn(plan, member_status, but)
    ):
        member_status.warned_at, member_status.warning_read_at = now, None
        changed += ["warned_at", "warning_read_at"]
        log(member_status, "warn annotator", by=None, reason=why)
    if changed:
        member_status.save(update_fields=changed)


def _judged(plan: CheckPlan, results: Recent) -> tuple[float | None, str]:
    """Return the share of correct answers, None with too few checks to judge, and its wording."""
    why = f"{results.score.right} of {results.score.asked} answers right in the last {results.n} checks"
    return (None if results.n < plan.least else results.score.share), why


def _is_below(share: float | None, mark: float | None) -> bool:
    return share is not None and mark is not None and share < mark - 1e-9


def _may_warn(plan: CheckPlan, member_status: Standing, but: int | None) -> bool:
    """Whether the last warning was read, and as many checks followed it as a rule needs to act."""
    if member_status.warned_at is None:
        return True
    since = CheckResult.objects.filter(
        campaign=member_status.campaign_id,
        user=member_status.user_id,
        occasion=Occasion.CHECK,
        at__gt=member_status.warned_at,
    ).exclude(assignment=but)
    return member_status.warning_read_at is not None and since.count() >= plan.least


# Notices to a member before the next task of a campaign with checks, and the member's replies.
#
# A notice is accepted by kind and number, as a consent text is by its version: a reply to an earlier notice
# does nothing, and a repeated reply counts once.

# An annotator's answers beside the key: shown in training after each task, and in a test at the end.


class Row(NamedTuple):
    """One answer beside the key. `place` names the turn, or the whole, in a task about several, else ''.

    `given` is '' where nothing was answered; `right` lists the correct answers.
    """

    place: str
    question: str
    given: str
    right: str
    is_right: bool

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        return self._asdict()


def feedback_of(assignment: Assignment) -> tuple[tuple[Row, ...], str]:
    """Compare a submission, as first submitted, with its key; return the rows and the key's explanation."""
    key = KeyTask.objects.get(task=assignment.task_id)
    first = assignment.labels.filter(supersedes=None, missing="")
    first_answers = {
        (item, question): text if number is None else number
        for item, question, number, text in first.values_list("item_id", "question_id", "number", "text")
    }
    plan = questionnaire_of(assignment.campaign.scheme_version_id)
    questions = {question.id: question for question in plan.questions}
    order = {question.id: place for place, question in enumerate(plan.questions)}
    answers = list(KeyAnswer.objects.filter(key=key).select_related("item__turn"))
    turn_numbers.number(row.item.turn for row in answers)
    answers.sort(key=lambda row: (row.item.turn.position if row.item.turn else inf, order[row.question_id]))
    several = len({row.item_id for row in answers}) > 1
    rows = (
        _row(row, questions[row.question_id], first_answers.get((row.item_id, row.question_id)), several)
        for row in answers
    )
    return tuple(rows), key.explanation


def wrong_in(attempt: Attempt) -> tuple[Row, ...]:
    """Return the wrong answers of a test attempt, in task order."""
    mine = Assignment.objects.filter(
        campaign=attempt.campaign_id,
        user=attempt.user_id,
        occasion=attempt.occasion,
        round=attempt.number,
        state=Assignment.State.SUBMITTED,
    )
    wrong: list[Row] = []
    for number, assignment in enumerate(mine.order_by("id"), start=1):
        rows, _ = feedback_of(assignment)
        about = f"Task {number}"
        wrong += [
            row._replace(place=f"{about}, {row.place}" if row.place else about)
            for row in rows
            if not row.is_right
        ]
    return tuple(wrong)


def _row(row: KeyAnswer, question: ScreenQuestion, value: float | str | None, several: bool) -> Row:
    key = Key(tuple(row.values), row.tolerance)
    return Row(
        place=_place(row.item) if several else "",
        question=question.wording,
        given="" if value is None else worded(question, value),
        right=right_in_words(question, key),
        is_right=is_right(value, key),
    )


def _place(item: Item) -> str:
    number = getattr(item.turn, "number", None) if item.turn else None
    return f"Turn {number}" if number else "The whole dialogue"


def right_in_words(question: ScreenQuestion, key: Key) -> str:
    """Describe the correct answer for people: `4, or 1 more or less`."""
    words = " or ".join(worded(question, value) for value in key.values)
    return f"{words}, or up to {key.tolerance:g} more or less" if key.tolerance else words


def worded(question: ScreenQuestion, value: float | str) -> str:
    """Return a value as text, with its anchor where it has one; a tag reads yes or no."""
    if question.is_tag:
        return "yes" if value else "no"
    text = value if isinstance(value, str) else f"{value:g}"
    anchor = question.anchors.get(text, "")
    return f"{text} ({anchor})" if anchor and anchor != text else text


NoticeKind = Literal[
    "prerequisite", "training", "feedback", "trained", "test", "passed", "failed", "paused", "warning"
]
ACCEPTED = ("training", "feedback", "trained", "test", "passed", "warning")


@dataclass(frozen=True, slots=True)
class Notice:
    """A pending notice. `number` goes with the reply to it; None where no reply is needed.

    `tasks` is the number of tasks that come next, `tries_left` of test attempts. `score` (0 to 1), `right`
    and `asked` are the result, where the campaign reveals it; `rows` compare answers with the key, `task`
    names their subject and `explanation` the reason. `again` is the number of another round. The test of the
    campaign called `prerequisite` comes first; `prerequisite_id` is its id where the person is a member.
    """

    what: NoticeKind
    number: int | None
    tasks: int = 0
    tries_left: int = 0
    mark: float | None = None
    score: float | None = None
    right: int = 0
    asked: int = 0
    again: int | None = None
    rows: tuple[Row, ...] = ()
    task: int | None = None
    explanation: str = ""
    prerequisite: str = ""
    prerequisite_id: int | None = None

    @property
    def percent(self) -> str:
        """Score as a percentage."""
        return "" if self.score is None else f"{100 * self.score:.0f}%"

    @property
    def mark_percent(self) -> str:
        """Pass mark as a percentage."""
        return "" if self.mark is None else f"{100 * self.mark:.0f}%"

    def as_json(self) -> dict[str, Any]:
        """Return JSON data for the API."""
        values = {
            name: getattr(self, name)
            for name in (
                "what",
                "tasks",
                "tries_left",
                "mark",
                "score",
                "right",
                "asked",
                "explanation",
                "prerequisite",
                "prerequisite_id",
            )
        }
        return {
            **values,
            "version": self.number,
            "again": self.again,
            "rows": [r.as_json() for r in self.rows],
        }


def waiting(seat: Seat) -> Notice | None:
    """Return the notice that a member has to read before the next task; None without one."""
    if not seat.checked or seat.state != "open" or seat.over:
        return None
    member_status = standing_of(seat.campaign, seat.user)
    plan = CheckPlan.objects.get(campaign=seat.campaign)
    if member_status.feedback_id is not None:
        return _feedback(member_status)
    if member_status.paused_at is not None:
        return Notice("paused", None)
    if (first := prerequisite(plan, member_status)) is not None:
        is_member = CampaignMember.objects.filter(campaign=first, user=seat.user).exists()
        pk = first.pk if is_member else None
        return Notice("prerequisite", None, prerequisite=first.name, prerequisite_id=pk)
    if now := stage(member_status):
        return _training(member_status, plan) if now == TRAINING else _test(member_status, plan)
    if member_status.told_at is None and (passed := _passed(member_status)) is not None:
        return _result("passed", passed, plan, number=passed.number)
    if member_status.warned_at is not None and member_status.warning_read_at is None:
        return Notice("warning", 1)
    return None


@transaction.atomic
def accept(*, by: User, campaign: int, what: str, version: int) -> None:
    """Accept a notice: begin the training or the test, or confirm that something was read.

    Raises NotTaskHolder, and AnswerRefused for an unknown notice.
    """
    seat = take_seat(campaign=campaign, user=by.pk)
    if what not in ACCEPTED or not seat.checked:
        raise AnswerRefused(f"There is nothing called “{what}” to accept here.")
    member_status = standing_of(campaign, by.pk)
    now = timezone.now()
    if what == "training" and member_status.feedback_id is None:
        begin(member_status, TRAINING, version)
    elif what == "test" and member_status.feedback_id is None:
        begin(member_status, TEST, version)
    elif what == "feedback" and member_status.feedback_id == version:
        Standing.objects.filter(pk=member_status.pk).update(feedback=None)
    elif what == "trained" and _rounds_done(member_status) >= 1 and member_status.feedback_id is None:
        member_status.trained_at = member_status.trained_at or now
        member_status.save(update_fields=["trained_at"])
        stage(member_status)
    elif what == "passed" and member_status.told_at is None and member_status.admitted_at is not None:
        Standing.objects.filter(pk=member_status.pk).update(told_at=now)
    elif what == "warning" and member_status.warned_at is not None:
        Standing.objects.filter(pk=member_status.pk).update(warning_read_at=now)


def _rounds_done(member_status: Standing) -> int:
    rounds = attempts(member_status, TRAINING)
    return 0 if any(attempt.finished_at is None for attempt in rounds) else len(rounds)


def _training(member_status: Standing, plan: CheckPlan) -> Notice | None:
    rounds = attempts(member_status, TRAINING)
    if rounds and rounds[-1].finished_at is None:
        return None
    tasks = len(keys_of(member_status.campaign_id, TRAINING, member_status.user_id))
    if not rounds:
        return Notice("training", 1, tasks=tasks)
    last = rounds[-1]
    again = last.number + 1 if plan.training_again else None
    share = last.right / last.asked if last.asked else None
    return Notice(
        "trained", last.number, tasks=tasks, right=last.right, asked=last.asked, score=share, again=again
    )


def _test(member_status: Standing, plan: CheckPlan) -> Notice | None:
    tries = attempts(member_status, TEST)
    if tries and tries[-1].finished_at is None:
        return None
    tries_left = max(0, plan.test_tries - len(tries))
    tasks = len(keys_of(member_status.campaign_id, TEST, member_status.user_id))
    if not tries:
        return Notice("test", 1, tasks=tasks, tries_left=tries_left, mark=_mark(plan))
    number = tries[-1].number + 1 if tries_left else None
    return _result(
        "test" if tries_left else "failed", tries[-1], plan, number=number, tries_left=tries_left, tasks=tasks
    )


def _result(kind: NoticeKind, attempt: Attempt, plan: CheckPlan, **more: Any) -> Notice:
    """Build the result notice of an attempt; answers beside the key only once no attempt is left."""
    values: dict[str, Any] = {"mark": _mark(plan)}
    if plan.test_tells != CheckPlan.Tells.OUTCOME:
        values |= {"score": attempt.score, "right": attempt.right, "asked": attempt.asked}
    if plan.test_tells == CheckPlan.Tells.ANSWERS and kind in ("passed", "failed"):
        values["rows"] = wrong_in(attempt)
    return Notice(kind, **more, **values)


def _mark(plan: CheckPlan) -> float | None:
    return None if plan.test_tells == CheckPlan.Tells.OUTCOME else plan.test_mark


def _passed(member_status: Standing) -> Attempt | None:
    tries = attempts(member_status, TEST)
    return next((attempt for attempt in tries if attempt.passed), None)


def _feedback(member_status: Standing) -> Notice:
    assert member_status.feedback is not None
    rows, explanation = feedback_of(member_status.feedback)
    right = sum(row.is_right for row in rows)
    return Notice(
        "feedback",
        member_status.feedback_id,
        rows=rows,
        right=right,
        asked=len(rows),
        task=member_status.feedback.task_id,
        explanation=explanation,
    )
