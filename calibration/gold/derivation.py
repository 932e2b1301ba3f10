"""Derivation of gold labels: the answers read, the rule applied, and the job for large scopes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from annotation.corpora import splits
from annotation.corpora.splits import TRAINING
from annotation.models import Rater, Split
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from annotation.models.labels import Occasion
from annotation.models.schemes import SchemeVersion
from annotation.schemes.definitions import UNSCALED
from annotation.work.check_stages import LeftOut, left_out
from annotation.work.labels import name_of
from calibration.errors import CalibrationError, GoldRuleError
from calibration.gold.rules import DECISIONS, FIRST, IGNORED, RULES, Answers, Rule, default_rule
from calibration.models import Gold, GoldLabel
from calibration.ratings.ratings import Subject, SubjectData, load, places
from calibration.ratings.scope import Census, Changes, QuestionInfo, Scope, census, scope_of, since
from calibration.statistics import Ratings, Record
from calibration.statistics.gold import DECIDED, GoldLabels
from config.models import Event
from config.planner import WORTH_TELLING, analyse_tables
from jobs import job_actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

# Source of gold labels: raters' answers, adjudicators' decisions, and the dev items.

DECIDED_SUFFIX = "\0adjudication"
"""Suffix that turns a rater's name into that of the same person as adjudicator; no real name contains it."""


@dataclass(frozen=True)
class Source:
    """Answers to a scheme version's questions, and the raters who gave them.

    `items` maps item keys to ids; `split` is the corpus's lock and `dev` its dev clusters, both None without
    a split. `adjudicators` is filled only for a rule that reads adjudications; `decided` then holds their
    decisions by (item id, question id). `without` lists the people whose labels were left out by researchers
    or by a campaign's rule.
    """

    raters: tuple[str, ...]
    adjudicators: tuple[str, ...]
    subjects: tuple[SubjectData, ...]
    items: Mapping[str, int]
    split: Split | None
    dev: frozenset[str] | None
    without: tuple[LeftOut, ...] = ()
    decided: Mapping[tuple[int, int], list[dict[str, Any]]] = field(default_factory=dict)

    def answers(self, data: SubjectData, rule: Rule, options: Mapping[str, Any]) -> Answers:
        """Return the answers to one question in the form that a rule expects."""
        ratings = data.ratings(rule.samples_of(options))
        dev = None
        if self.dev is not None:
            clusters = {record.item: record.cluster for record in data.records}
            dev = np.array([clusters[item] in self.dev for item in ratings.items], dtype=np.bool_)
        if not rule.reads_adjudications:
            return Answers(ratings, dev)
        decided = [j for j, name in enumerate(ratings.raters) if name.endswith(DECIDED_SUFFIX)]
        others = [j for j in range(len(ratings.raters)) if j not in decided]
        empty = (r.item for r in data.records if r.value is None and r.rater.endswith(DECIDED_SUFFIX))
        return Answers(ratings.take(others), dev, ratings.take(decided), frozenset(empty))


def read(scope: Scope, version: SchemeVersion, raters: Sequence[str], rule: Rule) -> Source:
    """Read the answers that gold is chosen from. Raises GoldRuleError for a named rater without answers.

    Without `raters`, people left out of gold (`annotation.work.check_stages`) do not count; with `raters`,
    all those named do.
    """
    corpus = scope.corpus
    without = () if raters else left_out(corpus, scope.campaign)
    scope = replace(scope, without=without)
    if rule.reads_adjudications:  # else an adjudication campaign's labels would be raters' answers
        others = tuple(name for name in scope.occasions if name != Occasion.ADJUDICATION)
        scope = replace(scope, occasions=others)
    counted = census(scope)
    questions = _questions_of(counted, reference(version))
    rater_names = _raters(counted, questions, raters)
    where = places(scope, _kinds(questions, version))
    only = frozenset(rater_names)
    by_question = (
        {q.id: load(scope, Subject(q), counted, where, only) for q in questions} if rater_names else {}
    )
    items = {place.key: pk for pk, place in where.items()}
    adjudicators: tuple[str, ...] = ()
    decided: dict[tuple[int, int], list[dict[str, Any]]] = {}
    if rule.reads_adjudications:
        of_decisions = replace(scope, occasions=(Occasion.ADJUDICATION,), without=())
        decisions, decided_on = _decisions(of_decisions, version)
        decided = _decision_records(of_decisions, version) if decisions else {}
        items |= decided_on
        adjudicators = tuple(sorted({info.name for data in decisions.values() for info in data.raters}))
        for question, data in decisions.items():
            by_question[question] = _joined(by_question.get(question), data)
    split = None if scope.training else splits.lock_of(corpus)
    return Source(
        raters=rater_names,
        adjudicators=adjudicators,
        subjects=tuple(data for data in by_question.values() if data.records),
        items=items,
        split=split,
        dev=splits.clusters(split=split, part="dev") if split else None,
        without=without,
        decided=decided,
    )


def reference(version: SchemeVersion) -> str:
    """Return the reference to a scheme version: key@version."""
    return f"{version.scheme.key}@{version.version}"


def default_rule_of(counted: Census, scheme: str) -> str:
    """Return the default rule for a scheme (key@version), which follows the levels of its questions."""
    return default_rule(question.level for question in _questions_of(counted, scheme))


def _questions_of(counted: Census, scheme: str) -> list[QuestionInfo]:
    return [q for q in counted.questions.values() if q.scheme == scheme and q.level not in UNSCALED]


def _kinds(questions: Sequence[QuestionInfo], version: SchemeVersion) -> set[str]:
    """Return the item kinds that the questions apply to."""
    return {question.item_kind for question in questions} or {version.item_kind}


def _decisions(scope: Scope, version: SchemeVersion) -> tuple[dict[int, SubjectData], dict[str, int]]:
    """Return adjudicators' decisions by question id, and item ids by key."""
    counted = census(scope)
    questions = _questions_of(counted, reference(version))
    where = places(scope, _kinds(questions, version))
    by_question = {q.id: load(scope, Subject(q), counted, where) for q in questions}
    return by_question, {place.key: pk for pk, place in where.items()}


def _decision_records(scope: Scope, version: SchemeVersion) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Return the decisions as stored with a gold label: label, adjudicator, value and reason."""
    rows = scope.labels().filter(question__version=version).select_related("rater").order_by("pk")
    decisions: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for label in rows:
        decision = {
            "label": label.pk,
            "by": name_of(label.rater, scope.corpus.pk),
            "value": label.value,
            "missing": label.missing,
        }
        decisions.setdefault((label.item_id, label.question_id), []).append(
            decision | {"reason": label.explanation}
        )
    return decisions


def _joined(answers: SubjectData | None, decisions: SubjectData) -> SubjectData:
    """Return raters' answers merged with decisions; adjudicators appear under separate names."""
    decided = tuple(_as_decision(record) for record in decisions.records)
    if answers is None:
        return replace(decisions, records=decided, raters=())
    both = f"{answers.digest} {decisions.digest}"
    digest = hashlib.sha256(both.encode()).hexdigest()
    return replace(answers, records=(*answers.records, *decided), digest=digest)


def _as_decision(record: Record) -> Record:
    return replace(record, rater=f"{record.rater}{DECIDED_SUFFIX}")


def _raters(counted: Census, questions: Sequence[QuestionInfo], names: Sequence[str]) -> tuple[str, ...]:
    present = {rater.name: rater for q in questions for rater in counted.raters_of(q.id)}
    if unknown := [name for name in names if name not in present]:
        available = ", ".join(sorted(present)) or "none"
        raise GoldRuleError(f"no rater {unknown[0]!r} answered these questions; there are {available}")
    return tuple(names) or tuple(name for name, rater in present.items() if rater.kind == "human")


# Gold labels: one answer per item chosen from several raters, stored with the rule that chose it.

# Descriptions of gold for pages: the rule's title and the options used.


@dataclass(frozen=True)
class Described:
    """A gold with its rule in words; a rule no longer in the table is shown by its key.

    A choice option is shown by the meaning of its value (a policy), a number as it is.
    """

    gold: Gold
    title: str
    options: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        """Return, for instance, `Majority (ties: no gold label; the tie is listed)`."""
        options_text = ", ".join(f"{name}: {value}" for name, value in self.options)
        return f"{self.title} ({options_text})" if options_text else self.title


def described(gold: Gold) -> Described:
    """Return a gold's rule and options in words."""
    rule = RULES.get(gold.rule)
    if rule is None:
        return Described(gold, gold.rule, ())
    stored = [
        (name, option, gold.options[name]) for name, option in rule.options.items() if name in gold.options
    ]
    options = tuple((name, option.choices.get(value, value)) for name, option, value in stored)
    return Described(gold, rule.title, options)


# Whether gold is still up to date: labels added or changed since it was made.


def changes_of(gold: Gold) -> Changes:
    """Return the changes to labels on a gold's questions since the gold was made."""
    scope = scope_of(gold.corpus, gold.campaign, gold.part)
    rule = RULES.get(gold.rule)
    reads = rule is not None and rule.reads_adjudications
    if reads and gold.options.get(DECISIONS) != IGNORED:
        scope = replace(scope, occasions=(*scope.occasions, Occasion.ADJUDICATION))
    return since(scope, gold.created_at, _questions(gold))


def counts_everybody(gold: Gold) -> bool:
    """Whether a gold counts all people who had answered its questions when it was made, and nobody else."""
    names = gold.options["raters"]
    answered = scope_of(gold.corpus, gold.campaign, gold.part).ever()
    answered = answered.filter(question__in=_questions(gold), created_at__lte=gold.created_at)
    theirs = answered.filter(rater=OuterRef("pk"))
    for rater in Rater.objects.filter(Exists(theirs)):
        counts = rater.name in names or name_of(rater, gold.corpus_id) in names
        if counts != (rater.kind == Rater.Kind.HUMAN):
            return False
    return True


def _questions(gold: Gold) -> list[int]:
    return list(gold.scheme_version.questions.values_list("pk", flat=True))


BATCH = 5_000
TIES_OPTION = "ties"
TIE = "tie: "
"""Prefix of the reason for an item without a value because its answers tie."""
GoldProgress = Callable[[int, int], None]


@transaction.atomic
def make(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    part: str = "",
    scheme_version: SchemeVersion,
    rule: str,
    options: Mapping[str, Any] | None = None,
    raters: Sequence[str] = (),
    by: User | None,
    progress: GoldProgress | None = None,
) -> Gold:
    """Choose gold labels for all items of a scheme's questions that have an answer.

    Training dialogues are excluded, unless they are the `part` (or the campaign's): then only they count.
    `raters` names the raters whose answers count; by default all people except those left out of gold. The
    same inputs and rule return the existing gold. `progress` is called with (questions done, total) and may
    raise to stop. Raises GoldRuleError, with a one-line message, when nothing can be chosen.
    """
    chosen_rule = rule_named(rule)
    checked = chosen_rule.checked(options or {})
    if checked.get(DECISIONS) == IGNORED:
        chosen_rule = replace(chosen_rule, reads_adjudications=False)
    source = read(_scope(corpus, campaign, part), scheme_version, raters, chosen_rule)
    fitting, left_out = _fitting(source, chosen_rule, checked)
    part_option = {"part": part} if part and campaign is None else {}
    stored = part_option | checked | {"raters": list(source.raters), "left_out": list(left_out)}
    if source.adjudicators:
        stored["adjudicators"] = list(source.adjudicators)
    elif stored.get(DECISIONS) == FIRST:
        del stored[DECISIONS]  # no decisions: the same gold as before decisions could be read
    hashed = dict(stored)
    if chosen_rule.reads_dev(checked) and source.split is not None:
        stored["split"] = source.split.name
        hashed["dev"] = sorted(source.dev or ())
    same = {
        "corpus": corpus,
        "campaign": campaign,
        "scheme_version": scheme_version,
        "inputs_hash": _hash(fitting, rule, hashed),
    }
    existing = Gold.objects.filter(**same, rule=rule).first()
    if existing:
        return existing
    if "split" in stored and source.split is not None:
        splits.fix(split=source.split, by=by)
    notes: dict[str, Any] = {"why_left_out": left_out}
    if source.without:
        notes["people_left_out"] = [person.as_json() for person in source.without]
    gold = Gold.objects.create(**same, rule=rule, options=stored | notes, created_by=by)
    for number, data in enumerate(fitting):
        if progress:
            progress(number, len(fitting))
        answers = source.answers(data, chosen_rule, checked)
        gold_values = chosen_rule.choose(answers, checked)
        gold.findings |= _findings(data, gold_values, "dev" if chosen_rule.learns_on_dev is True else "all")
        _keep(_labels(gold, data, answers.ratings, gold_values, source))
    count(gold)
    if progress:
        progress(len(fitting), len(fitting))
    _log(gold, by)
    return gold


@dataclass(frozen=True)
class Preview:
    """Expected outcome of a rule: items with a value, and items without one.

    `ties` of those without a value have tied answers. `unknown` says which count is not known in advance, and
    why; it is empty when all are known. Otherwise the numbers cover only what is certain, and are None where
    nothing is.
    """

    n: int | None
    without: int | None
    ties: int | None
    unknown: str = ""

    def __str__(self) -> str:
        """Return the preview as one or two sentences."""
        if self.without is None or self.n is None:
            return f"How many items would stay without a value is not known: {self.unknown}."
        of = f"of {self.n + self.without:,} {'item' if self.n + self.without == 1 else 'items'}"
        if self.unknown:
            nobody = f"At least {self.without:,} {of} would stay without a value, as nobody answered"
            return f"{nobody if self.without else f'Each {of} has an answer'}; {self.unknown}."
        ties = f", {self.ties:,} of them because answers tie" if self.ties else ""
        return f"{self.without:,} {of} would stay without a value by this rule{ties}."


def preview_gold(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    part: str = "",
    scheme_version: SchemeVersion,
    rule: str,
    options: Mapping[str, Any],
    raters: Sequence[str],
) -> Preview:
    """Count the labels that `gold_or_job` would choose, without storing anything. May raise GoldRuleError.

    A slow rule is not run: the count covers only items that nobody answered or decided. In a large scope
    nothing is counted, and the preview says why.
    """
    chosen_rule = rule_named(rule)
    checked = chosen_rule.checked(options)
    if scope_of(corpus, campaign, part).most() > AT_ONCE:
        unknown = f"there are more than {AT_ONCE:,} labels, and it is counted while the gold is made"
        return Preview(None, None, None, unknown)
    if checked.get(DECISIONS) == IGNORED:
        chosen_rule = replace(chosen_rule, reads_adjudications=False)
    source = read(_scope(corpus, campaign, part), scheme_version, raters, chosen_rule)
    fitting, _ = _fitting(source, chosen_rule, checked)
    if chosen_rule.is_slow(checked):
        return _without_estimate(source, fitting, chosen_rule, checked)
    reasons: list[str] = []
    for data in fitting:
        answers = source.answers(data, chosen_rule, checked)
        gold_values = chosen_rule.choose(answers, checked)
        votes = enumerate(_votes(answers.ratings))
        reasons += [_value(answers.ratings, gold_values, row, counts)[1] for row, counts in votes]
    ties = sum(reason.startswith(TIE) for reason in reasons)
    without = sum(bool(reason) for reason in reasons)
    return Preview(len(reasons) - without, without, ties)


def _without_estimate(
    source: Source, fitting: Sequence[SubjectData], rule: Rule, options: Mapping[str, Any]
) -> Preview:
    """Return the certain counts for a slow rule, from a stand-in rule that settles every tie."""
    stand_in = {TIES_OPTION: "lowest", DECISIONS: options.get(DECISIONS, FIRST)}
    gold_values = [
        RULES["majority"].choose(source.answers(data, rule, options), stand_in) for data in fitting
    ]
    without = sum(each.n_without for each in gold_values)
    n = sum(len(each.items) for each in gold_values) - without
    if options.get(TIES_OPTION, "none") != "none":
        return Preview(n, without, 0)
    tie = "how many stay without one because answers tie is known once"
    return Preview(n, without, None, f"{tie} {rule.title} has been estimated")


def _scope(corpus: Corpus, campaign: Campaign | None, part: str) -> Scope:
    """Return the scope that gold is chosen from. Raises GoldRuleError for an unknown part."""
    scope = scope_of(corpus, campaign, part)
    if part not in ("", TRAINING):
        raise GoldRuleError(f"gold is made of training, or of all but training: there is no part {part!r}")
    if part and campaign is not None and campaign.part != TRAINING:
        raise GoldRuleError(f"{campaign.name} is about all but training: make gold of the corpus's training")
    if part and not corpus.has_training:
        raise GoldRuleError(f"no dialogue of {corpus.name} is in training")
    return scope


def _log(gold: Gold, by: User | None) -> None:
    about = gold.campaign.name if gold.campaign else gold.corpus.name
    detail = {"rule": gold.rule, "scheme": reference(gold.scheme_version)}
    Event.objects.create(by=by, verb="make gold", subject=f"gold {gold.pk} of {about}"[:300], detail=detail)


def rule_named(key: str) -> Rule:
    """Return the rule with this key. Raises GoldRuleError for an unknown key."""
    if key not in RULES:
        raise GoldRuleError(f"there is no rule {key!r}; there are {', '.join(RULES)}")
    return RULES[key]


def _fitting(
    source: Source, rule: Rule, options: Mapping[str, Any]
) -> tuple[list[SubjectData], dict[str, str]]:
    """Return the questions that a rule applies to, and by key the reason why the others do not fit.

    Raises GoldRuleError when the rule applies to none.
    """
    fitting, left_out = [], {}
    for data in source.subjects:
        reason = rule.unfit(source.answers(data, rule, options), options)
        if reason:
            left_out[data.subject.question.key] = reason
        else:
            fitting.append(data)
    if fitting:
        return fitting, left_out
    if not left_out:
        raise GoldRuleError(f"{rule.title} needs {rule.needs}; these questions have none with answers")
    key, reason = next(iter(left_out.items()))
    more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
    raise GoldRuleError(f"{reason} ({key}{more})")


def count(gold: Gold) -> None:
    """Store how many labels a gold has, and how many of them have no value, once the labels are written."""
    rows = gold.labels.order_by().values_list("question")
    counted = rows.annotate(n=Count("pk"), without=Count("pk", filter=~Q(reason="")))
    gold.counts = {str(question): [n, without] for question, n, without in counted}
    gold.n = sum(n for n, _ in gold.counts.values())
    gold.without = sum(without for _, without in gold.counts.values())
    gold.save(update_fields=["counts", "n", "without", "findings"])


def _keep(labels: Iterator[GoldLabel]) -> None:
    """Write labels in batches, so that they are never all in memory."""
    n_labels = 0
    while batch := list(islice(labels, BATCH)):
        n_labels += len(GoldLabel.objects.bulk_create(batch))
    if n_labels >= WORTH_TELLING:
        analyse_tables("calibration_goldlabel")


def _hash(subjects: Sequence[SubjectData], rule: str, options: Mapping[str, Any]) -> str:
    content = {"rule": rule, "options": options, "answers": [data.digest for data in subjects]}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _findings(data: SubjectData, gold_values: GoldLabels, basis: str) -> dict[str, Any]:
    """Return a rule's findings on a question: per rater, and overall; empty if the rule reports none."""
    if not gold_values.raters and not gold_values.remarks and gold_values.estimation is None:
        return {}
    raters = {
        name: {measure: None if np.isnan(value) else value for measure, value in by_measure.items()}
        for name, by_measure in gold_values.raters.items()
    }
    findings: dict[str, Any] = {"basis": basis, "raters": raters, "remarks": list(gold_values.remarks)}
    if gold_values.estimation is not None:
        findings["estimation"] = asdict(gold_values.estimation)
    return {data.subject.question.key: findings}


def _labels(
    gold: Gold, data: SubjectData, ratings: Ratings, gold_values: GoldLabels, source: Source
) -> Iterator[GoldLabel]:
    """Yield one label per item, with a value or with the reason why there is none."""
    question = data.subject.question
    for row, (key, votes) in enumerate(zip(gold_values.items, _votes(ratings), strict=True)):
        value, reason = _value(ratings, gold_values, row, votes)
        item, chosen_by = source.items[key], gold_values.sources[row] if gold_values.sources else ""
        yield GoldLabel(
            gold=gold,
            item_id=item,
            question_id=question.id,
            number=value if isinstance(value, float) else None,
            text=value if isinstance(value, str) else None,
            reason=reason,
            n_raters=int(gold_values.n_ratings[row]),
            support=None if np.isnan(gold_values.confidence[row]) else float(gold_values.confidence[row]),
            votes=votes,
            source=chosen_by,
            decisions=source.decided.get((item, question.id), []) if chosen_by == DECIDED else [],
        )


def _votes(ratings: Ratings) -> Iterator[dict[str, int]]:
    """Yield, per item, the number of raters by value, as written on the scale and in its order."""
    for row in ratings.values:
        counted = Counter(float(v) for v in row[~np.isnan(row)])
        yield {ratings.label(value): counted[value] for value in sorted(counted)}


def _value(
    ratings: Ratings, gold_values: GoldLabels, row: int, votes: Mapping[str, int]
) -> tuple[float | str | None, str]:
    value = float(gold_values.values[row])
    if not np.isnan(value):
        return (ratings.label(value), "") if ratings.names else (value, "")
    if row in gold_values.reasons:
        return None, gold_values.reasons[row][:200]
    if not gold_values.n_ratings[row]:
        return None, "no rater gave an answer"
    most = max(votes.values())
    tied = [name for name, count in votes.items() if count == most]
    return None, f"{TIE}{' and '.join(tied)} with {most} of {sum(votes.values())} each"[:200]


# Large gold is made by a job, so that no request waits for it.

KIND = "gold"
AT_ONCE = 10_000
"""Gold of a scope with at most this many labels is made within the request, in a second or two."""


def gold_or_job(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    part: str = "",
    scheme_version: SchemeVersion,
    rule: str,
    options: Mapping[str, Any],
    raters: Sequence[str],
    by: User | None,
) -> Gold | Job:
    """Make small gold at once; start a job for many labels or a slow rule. May raise GoldRuleError."""
    how: dict[str, Any] = {"rule": rule, "options": dict(options), "raters": list(raters)}
    how["options"] = rule_named(rule).checked(options)
    if is_immediate(scope_of(corpus, campaign, part), rule, how["options"]):
        return make(corpus=corpus, campaign=campaign, part=part, scheme_version=scheme_version, by=by, **how)
    params = how | {
        "corpus": corpus.pk,
        "campaign": campaign.pk if campaign else None,
        "part": part,
        "scheme_version": scheme_version.pk,
    }
    digest = hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()[:8]
    name = campaign.name if campaign else corpus.name
    return job_actions.start(kind=KIND, subject=f"{rule} over {name}, {digest}"[:300], params=params, by=by)


def is_immediate(scope: Scope, rule: str, options: Mapping[str, Any]) -> bool:
    """Whether gold is made within the request: few labels, and a rule that is not slow."""
    gold_rule = rule_named(rule)
    return scope.most() <= AT_ONCE and not gold_rule.is_slow(gold_rule.checked(options))


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Make the gold that a job describes and return {gold: id}. The same inputs give the same gold."""
    params = dict(job.params)
    corpus = Corpus.objects.filter(pk=params.pop("corpus")).first()
    number = params.pop("campaign")
    campaign = Campaign.objects.select_related("corpus").filter(pk=number).first()
    version = SchemeVersion.objects.select_related("scheme").filter(pk=params.pop("scheme_version")).first()
    if corpus is None or version is None or (number and campaign is None):
        raise JobRefused("the labels that it was to be made from were deleted")
    try:
        gold = make(
            corpus=corpus,
            campaign=campaign,
            scheme_version=version,
            by=job.created_by,
            progress=progress,
            **params,
        )
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"gold": gold.pk}


JOB = JobKind(KIND, "Gold labels", run)
