"""Training, tests, checks and repeats of a campaign: sources of keys, and annotators' scores."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder

from annotation.campaigns.settings import refuse
from annotation.models import Assignment, Attempt, CheckPlan, CheckResult, LabelCount, Rater, Standing
from annotation.models.campaigns import Campaign
from annotation.models.labels import Label, Occasion
from annotation.scheme_store import ScreenQuestion, questionnaire_of
from annotation.text.display import percent
from annotation.text.table_cells import guarded
from annotation.work import check_actions, check_stages
from annotation.work.check_stages import Value
from annotation.work.labels import pseudonyms_of_people as of_people
from calibration.models import Gold, GoldLabel
from calibration.statistics import Plan, Record, Result, analyse, ratings_from_records
from config.permissions import is_researcher

# Sources of keys: a rater's answers, adjudicated answers, or gold labels.

RATER, GOLD, ADJUDICATED = "rater:", "gold:", "adjudicated"
MOST_GOLDS = 50
HOW = "Say `rater:NAME`, `gold:NUMBER` or `adjudicated`."


def add(
    *, by: User, campaign: Campaign, occasion: str, source: str, most: int, tolerance: float = 0.0
) -> int:
    """Key up to `most` tasks of a campaign from a source; return how many. Raises CampaignRefused."""
    _must_be_open(campaign, source, by)
    rows, source_label = _rows(campaign, source)
    return check_actions.add_keys(
        by=by,
        campaign=campaign,
        occasion=occasion,
        rows=rows,
        most=most,
        source=source_label,
        tolerance=tolerance,
    )


def _must_be_open(campaign: Campaign, source: str, by: User) -> None:
    """Refuse sources outside the campaign, that is answers given elsewhere, to non-researchers."""
    if not is_researcher(by) and source not in dict(_golds(campaign, by)):
        refuse("source", "Take keys from gold labels of this campaign: other answers are for researchers.")


def _rows(campaign: Campaign, source: str) -> tuple[list[tuple[int, str, Value]], str]:
    if source == ADJUDICATED:
        return check_actions.of_adjudication(campaign), "adjudicated"
    if source.startswith(RATER):
        name = source.removeprefix(RATER)
        return check_actions.of_rater(campaign, name), f"answers of {name}"
    if source.startswith(GOLD):
        number = source.removeprefix(GOLD)
        gold = Gold.objects.filter(
            pk=int(number) if number.isascii() and number.isdecimal() and len(number) < 18 else 0,
            corpus=campaign.corpus_id,
        ).first()
        if gold is None:
            refuse("source", f"There is no gold {number[:20]} of this corpus.")
        return _of_gold(gold), f"gold {gold.pk}"
    refuse("source", f"“{source[:80]}” is nowhere that a key can come from. {HOW}")


def _of_gold(gold: Gold) -> list[tuple[int, str, Value]]:
    labels = GoldLabel.objects.filter(gold=gold, reason="")
    return [
        (item, key, (text or "") if number is None else number)
        for item, key, number, text in labels.values_list("item_id", "question__key", "number", "text")
    ]


def _golds(campaign: Campaign, by: User) -> list[tuple[str, str]]:
    golds = Gold.objects.filter(corpus=campaign.corpus_id)
    golds = golds if is_researcher(by) else golds.filter(campaign=campaign)
    return [
        (f"{GOLD}{gold.pk}", f"gold {gold.pk} ({gold.rule}, {gold.n:,} labels)")
        for gold in golds.order_by("-pk")[:MOST_GOLDS]
    ]


def offered(campaign: Campaign, viewer: User) -> list[tuple[str, str]]:
    """Return the sources of keys that a user may choose for a campaign, with display names.

    A manager of the campaign who is no researcher sees only its gold labels.
    """
    if not is_researcher(viewer):
        return _golds(campaign, viewer)
    sources: list[tuple[str, str]] = []
    corpus = campaign.corpus_id
    rater_ids = LabelCount.objects.filter(corpus=corpus, occasion__in=["main", "imported"]).values("rater")
    raters = Rater.objects.filter(pk__in=rater_ids, kind__in=[Rater.Kind.KEY, Rater.Kind.HUMAN])
    for kind, name in raters.order_by("-kind", "name").values_list("kind", "name"):
        sources.append((f"{RATER}{name}", f"{'answer key' if kind == 'key' else 'answers of'} {name}"))
    sources += _golds(campaign, viewer)
    if Label.objects.filter(item__corpus=corpus, occasion=Occasion.ADJUDICATION).exists():
        sources.append((ADJUDICATED, "what was adjudicated"))
    return sources


# Scores against keys, and annotators' agreement with themselves, each with interval and n.

PLAN = Plan(resamples=1000)
STATISTICS = {
    "binary": ("percent_agreement", "cohen_kappa"),
    "nominal": ("percent_agreement", "cohen_kappa"),
    "ordinal": ("percent_agreement", "cohen_kappa_quadratic"),
    "interval": ("percent_agreement", "icc_2_1"),
    "ratio": ("percent_agreement", "icc_2_1"),
}
"""Statistics of repeated answers, by level of the question."""
STATES = ("unqualified", "new", "training", "test", "failed", "working", "paused")
"""Possible states of an annotator in a campaign."""
NO_CHECKS = Result("share_right", status="insufficient", reason="no checks yet")
NO_REPEATS = Result("percent_agreement", status="insufficient", reason="no repeats yet")


@dataclass(frozen=True)
class Person:
    """An annotator of a campaign with state and scores.

    `state` is one of STATES. `score` is the proportion of correct answers in all their checks, `recent` that
    of the last `n_recent`, to which the rule applies. `same` is the proportion of answers that they gave
    again in `n_repeats` repeats.
    """

    user: int
    name: str
    state: str
    standing: Standing | None
    rounds: int
    tries: tuple[Attempt, ...]
    n_checks: int
    skipped: int
    score: Result
    recent: float | None
    n_recent: int
    n_repeats: int
    same: Result

    @property
    def test(self) -> str:
        """Result of each try of the test: `40%, 80% passed`."""
        results = [
            f"{percent(tried.score)}{' passed' if tried.passed else ''}" if tried.finished_at else "under way"
            for tried in self.tries
        ]
        return ", ".join(results) or "–"

    @property
    def left_out_since(self) -> datetime | None:
        """Time since which gold leaves out their labels."""
        return self.standing.left_out_at if self.standing else None

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        standing, last = self.standing, self.tries[-1] if self.tries else None
        return {
            "annotator": self.name,
            "state": self.state,
            "training_rounds": self.rounds,
            "test_tries": len(self.tries),
            "test_score": last.score if last else None,
            "test_passed": last.passed if last else None,
            "let_in_because": standing.admitted_why if standing else "",
            "checks": self.n_checks,
            "checks_skipped": self.skipped,
            "score": self.score.value,
            "score_low": self.score.low,
            "score_high": self.score.high,
            "score_reason": self.score.reason,
            "recent_score": self.recent,
            "recent_checks": self.n_recent,
            "repeats": self.n_repeats,
            "same": self.same.value,
            "same_low": self.same.low,
            "same_high": self.same.high,
            "same_reason": self.same.reason,
            "warned_at": standing.warned_at if standing else None,
            "paused_at": standing.paused_at if standing else None,
            "paused_because": standing.paused_why if standing else "",
            "left_out_at": standing.left_out_at if standing else None,
            "left_out_because": standing.left_out_why if standing else "",
        }


@dataclass(frozen=True)
class Consistency:
    """Agreement of repeated answers to a question: of one annotator, or of all (name '')."""

    annotator: str
    question: str
    wording: str
    level: str
    figures: tuple[Result, ...]

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        figures = [figure.as_dict() for figure in self.figures]
        return {"annotator": self.annotator, "question": self.question, "statistics": figures}


@dataclass(frozen=True, slots=True)
class RepeatedAnswer:
    """Both answers of an annotator, by user id, to a question on an item."""

    user: int
    item: str
    cluster: str
    question: ScreenQuestion
    first: float | str
    second: float | str


def people(campaign: Campaign) -> list[Person]:
    """Return a campaign's annotators, and former ones who were tested or checked, by pseudonym."""
    plan = CheckPlan.objects.filter(campaign=campaign).first()
    standings = {s.user_id: s for s in Standing.objects.filter(campaign=campaign)}
    names = of_people({*standings, *campaign.members.values_list("user_id", flat=True)}, campaign.corpus_id)
    tries: dict[tuple[int, str], list[Attempt]] = defaultdict(list)
    for attempt in Attempt.objects.filter(campaign=campaign).order_by("number"):
        tries[attempt.user_id, attempt.occasion].append(attempt)
    checks: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    done = CheckResult.objects.filter(campaign=campaign, occasion=Occasion.CHECK)
    done = done.exclude(assignment__state="voided")
    for user, right, total, cluster in done.values_list(
        "user", "right", "asked", "assignment__task__continuation__dialogue"
    ):
        checks[user].append((right, total, cluster))
    skips = Assignment.objects.filter(campaign=campaign, occasion=Occasion.CHECK, state="skipped")
    skipped = list(skips.values_list("user", flat=True))
    twice = answered_twice(campaign)
    stages = check_stages.stages(campaign.pk)
    unqualified = _unqualified(plan, names, standings)
    rows = [
        _person(
            user, name, standings.get(user), plan, stages, tries, checks[user], skipped.count(user), twice
        )
        for user, name in sorted(names.items(), key=lambda pair: pair[1])
    ]
    return [replace(row, state="unqualified") if row.user in unqualified else row for row in rows]


def _unqualified(plan: CheckPlan | None, users: Iterable[int], standings: Mapping[int, Standing]) -> set[int]:
    """Return who has still to pass the test of the campaign that comes first."""
    if plan is None or plan.prerequisite_id is None:
        return set()
    passed = Standing.objects.filter(campaign=plan.prerequisite_id, admitted_at__isnull=False)
    by_hand = {row.user_id for row in standings.values() if row.admitted_why}
    return set(users) - set(passed.values_list("user", flat=True)) - by_hand


def _person(
    user: int,
    name: str,
    standing: Standing | None,
    plan: CheckPlan | None,
    stages: set[str],
    tries: dict[tuple[int, str], list[Attempt]],
    checks: Sequence[tuple[int, int, int]],
    skipped: int,
    twice: Sequence[RepeatedAnswer],
) -> Person:
    tests = tuple(tries.get((user, Occasion.QUALIFICATION), ()))
    rounds = tries.get((user, Occasion.TRAINING), [])
    recent = check_stages.recent(plan, standing) if plan and standing else None
    mine = [answer for answer in twice if answer.user == user]
    return Person(
        user=user,
        name=name,
        state=_state(standing, plan, stages, rounds, tests),
        standing=standing,
        rounds=len(rounds),
        tries=tests,
        n_checks=len(checks),
        skipped=skipped,
        score=share_right(checks),
        recent=recent.score.share if recent else None,
        n_recent=recent.n if recent else 0,
        n_repeats=len({answer.item for answer in mine}),
        same=_same(mine),
    )


def _state(
    standing: Standing | None,
    plan: CheckPlan | None,
    stages: set[str],
    rounds: Sequence[Attempt],
    tests: Sequence[Attempt],
) -> str:
    if standing is None:
        return "new"
    if standing.paused_at is not None:
        return "paused"
    if standing.admitted_at is not None or not stages:
        return "working"
    if plan and len(tests) >= plan.test_tries and tests[-1].finished_at is not None:
        return "failed"
    if Occasion.TRAINING in stages and standing.trained_at is None:
        return "training" if rounds else "new"
    return "test"


def share_right(checks: Iterable[tuple[int, int, int]]) -> Result:
    """Return the proportion of right answers in (right, asked, dialogue) checks; resamples dialogues."""
    marked = [
        (f"{number}/{answer}", answer < right, cluster)
        for number, (right, total, cluster) in enumerate(checks)
        for answer in range(total)
    ]
    return _share(marked) or NO_CHECKS


def _same(twice: Sequence[RepeatedAnswer]) -> Result:
    marked = [
        (f"{answer.item}/{answer.question.id}", answer.first == answer.second, answer.cluster)
        for answer in twice
    ]
    return _share(marked) or NO_REPEATS


def _share(marked: Sequence[tuple[str, bool, object]]) -> Result | None:
    """Return the proportion of true entries, as agreement with an all-true rater; clusters are resampled."""
    records = [
        record
        for item, is_true, cluster in marked
        for record in (
            Record(item, "expected", 1, str(cluster)),
            Record(item, "given", int(is_true), str(cluster)),
        )
    ]
    if not records:
        return None
    ratings = ratings_from_records(records, level="binary", values=(0, 1))
    entry = analyse(ratings, statistics=["percent_agreement"], plan=PLAN).find("percent_agreement")
    return entry.result if entry else None


def answered_twice(campaign: Campaign) -> list[RepeatedAnswer]:
    """Return annotators' answers to tasks and to their repeats, by question."""
    again = Assignment.objects.filter(campaign=campaign, occasion=Occasion.REPEAT, state="submitted")
    pairs = set(again.values_list("user", "task"))
    labels = Label.objects.filter(
        campaign=campaign,
        superseded_at=None,
        missing="",
        occasion__in=[campaign.occasion, Occasion.REPEAT],
        assignment__task__in={task for _, task in pairs},
    )
    questions = {question.id: question for question in questionnaire_of(campaign.scheme_version_id).questions}
    answers: dict[tuple[int, int, int], dict[str, Any]] = defaultdict(dict)
    clusters: dict[int, int] = {}
    rows = labels.order_by("item", "question").values_list(
        "assignment__user", "assignment__task", "item", "question", "occasion", "number", "text",
        "item__continuation__dialogue",
    )  # fmt: skip
    for user, task, item, question, occasion, number, text, cluster in rows:
        if (user, task) in pairs:
            answers[user, item, question][occasion] = text if number is None else number
            clusters[item] = cluster
    return [
        RepeatedAnswer(
            user=user,
            item=str(item),
            cluster=str(clusters[item]),
            question=questions[question],
            first=by_occasion[campaign.occasion],
            second=by_occasion[Occasion.REPEAT],
        )
        for (user, item, question), by_occasion in answers.items()
        if len(by_occasion) == 2 and questions[question].level != "text"
    ]


def consistency(campaign: Campaign) -> list[Consistency]:
    """Return annotators' agreement with themselves by question: first of all together, then of each."""
    twice = answered_twice(campaign)
    users = {answer.user for answer in twice}
    names = of_people(users, campaign.corpus_id)
    groups = [("", twice)]
    groups += [
        (names[user], [answer for answer in twice if answer.user == user])
        for user in sorted(users, key=lambda user: names[user])
    ]
    questions = questionnaire_of(campaign.scheme_version_id).questions
    return [
        Consistency(name, question.key, question.wording, question.level, _figures(question, mine))
        for name, answers in groups
        for question in questions
        if (mine := [answer for answer in answers if answer.question.id == question.id])
    ]


def _figures(question: ScreenQuestion, twice: Sequence[RepeatedAnswer]) -> tuple[Result, ...]:
    records = [
        Record(f"{answer.user}:{answer.item}", rater, value, answer.cluster)
        for answer in twice
        for rater, value in (("first", answer.first), ("again", answer.second))
    ]
    level: Any = question.level
    ratings = ratings_from_records(records, level=level, values=list(question.values) or None)
    statistic_names = STATISTICS[question.level]
    entries = analyse(ratings, statistics=statistic_names, plan=PLAN).entries
    by_name = {entry.result.name: entry.result for entry in entries}
    return tuple(by_name[name] for name in statistic_names if name in by_name)


# Results of a campaign's annotators as CSV and JSON.

FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def collect_results(campaign: Campaign) -> dict[str, Any]:
    """Return all results as JSON data: `people`, and `consistency` by annotator and question."""
    return {
        "campaign": campaign.name,
        "people": [person.as_json() for person in people(campaign)],
        "consistency": [row.as_json() for row in consistency(campaign)],
    }


def render_results(campaign: Campaign, form: str) -> str:
    """Return the results as a file's text; in CSV one line per annotator."""
    results = collect_results(campaign)
    if form == "json":
        return json.dumps(results, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2) + "\n"
    text = io.StringIO()
    rows = results["people"]
    names = list(rows[0]) if rows else ["annotator"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in names])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else value
