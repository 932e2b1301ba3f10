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

from annotation.corpora import exclusion, splits
from annotation.corpora.splits import TRAINING
from annotation.errors import ExclusionRefused
from annotation.models import Rater, Split
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from annotation.models.labels import Occasion
from annotation.models.schemes import SchemeVersion
from annotation.schemes.definitions import UNSCALED
from annotation.work.check_stages import LeftOut, left_out
from annotation.work.labels import name_of
from calibration.errors import CalibrationError, GoldRuleError
from calibration.gold import shares
from calibration.gold.rules import DECISIONS, FIRST, IGNORED, RULES, Answers, OptionValue, Rule, default_rule
from calibration.models import Gold, GoldLabel
from calibration.ratings.ratings import Subject, SubjectData, load, places
from calibration.ratings.scope import Census, Changes, QuestionInfo, Scope, census, narrowed, scope_of, since
from calibration.ratings.subsets import Subset
from calibration.statistics import Ratings, Record
from calibration.statistics.gold import DECIDED, GoldLabels
from config.models import Event
from config.planner import WORTH_TELLING, analyse_tables
from jobs import job_actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

# The rule of each question: its own, else that of all questions, else the default of its scale.


@dataclass(frozen=True)
class RuleSetting:
    """A rule with its checked options."""

    rule: Rule
    options: Mapping[str, OptionValue]

    def as_json(self) -> dict[str, Any]:
        """Return the rule's key and its options as stored."""
        return {"rule": self.rule.key, **self.options}


def rule_setting(rule: str, options: Mapping[str, Any]) -> RuleSetting:
    """Return a rule with these options. Raises GoldRuleError for an unknown rule, option or value."""
    checked = rule_named(rule).checked(options)
    is_ignored = checked.get(DECISIONS) == IGNORED
    return RuleSetting(
        replace(RULES[rule], reads_adjudications=False) if is_ignored else RULES[rule], checked
    )


@dataclass(frozen=True)
class RuleSelection:
    """The rules of a gold: `common` for all questions (None: the default of its scale), and `own` by key.

    `options` are those of the default rules, each of which takes what it has.
    """

    common: RuleSetting | None
    options: Mapping[str, Any]
    own: Mapping[str, RuleSetting]

    def of(self, question: QuestionInfo) -> RuleSetting:
        """Return the rule of a question."""
        return self.own.get(question.key) or self.common or self._default(question.level)

    def _default(self, level: str) -> RuleSetting:
        key = default_rule(level)
        return rule_setting(
            key, {name: self.options[name] for name in RULES[key].options if name in self.options}
        )

    @property
    def reads_adjudications(self) -> bool:
        """Whether a rule of a question reads decisions."""
        others = [self.common] if self.common else [self._default("nominal"), self._default("ordinal")]
        return any(each.rule.reads_adjudications for each in (*self.own.values(), *others))


def select_rules(
    version: SchemeVersion, rule: str, options: Mapping[str, Any], rules: Mapping[str, Mapping[str, Any]]
) -> RuleSelection:
    """Return the rules of a scheme's questions; `rules` has `rule` and `options` by question key.

    Raises GoldRuleError for an unknown question, rule, option or value.
    """
    keys = list(version.questions.order_by("position").values_list("key", flat=True)) if rules else []
    if unknown := sorted(set(rules) - set(keys)):
        raise GoldRuleError(f"{reference(version)} has no question {unknown[0]!r}; it has {', '.join(keys)}")
    if not rule and (unused := set(options) - {*RULES["median"].options, *RULES["majority"].options}):
        raise GoldRuleError(f"the default rules have no option {min(unused)!r}: name a rule that has it")
    own = {key: rule_setting(each["rule"], each.get("options", {})) for key, each in rules.items()}
    return RuleSelection(rule_setting(rule, options) if rule else None, options, own)


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

    def answers(self, data: SubjectData, setting: RuleSetting) -> Answers:
        """Return the answers to one question in the form that its rule expects."""
        rule = setting.rule
        if not rule.reads_adjudications:  # another question's rule may read decisions
            answered = tuple(each for each in data.records if not each.rater.endswith(DECIDED_SUFFIX))
            data = replace(data, records=answered)
        ratings = data.ratings(rule.samples_of(setting.options))
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


def read(scope: Scope, version: SchemeVersion, raters: Sequence[str], *, decisions: bool) -> Source:
    """Read the answers that gold is chosen from. Raises GoldRuleError for a named rater without answers.

    Without `raters`, people left out of gold (`annotation.work.check_stages`) do not count; with `raters`,
    all those named do.
    """
    corpus = scope.corpus
    without = () if raters else left_out(corpus, scope.campaign)
    scope = replace(scope, without=without)
    if decisions:  # else an adjudication campaign's labels would be raters' answers
        others = tuple(name for name in scope.occasions if name != Occasion.ADJUDICATION)
        scope = replace(scope, occasions=others)
    counted = census(scope)
    questions = questions_of(counted, reference(version))
    rater_names = _raters(counted, questions, raters)
    where = places(scope, _kinds(questions, version))
    only = frozenset(rater_names)
    by_question = (
        {q.id: load(scope, Subject(q), counted, where, only) for q in questions} if rater_names else {}
    )
    items = {place.key: pk for pk, place in where.items()}
    adjudicators: tuple[str, ...] = ()
    decided: dict[tuple[int, int], list[dict[str, Any]]] = {}
    if decisions:
        of_decisions = replace(scope, occasions=(Occasion.ADJUDICATION,), without=())
        decision_data, decided_on = _decisions(of_decisions, version)
        decided = _decision_records(of_decisions, version) if decision_data else {}
        items |= decided_on
        adjudicators = tuple(sorted({info.name for data in decision_data.values() for info in data.raters}))
        for question, data in decision_data.items():
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


def questions_of(counted: Census, scheme: str) -> list[QuestionInfo]:
    """Return the questions of a scheme (key@version) that gold labels can be chosen for."""
    return [q for q in counted.questions.values() if q.scheme == scheme and q.level not in UNSCALED]


def _kinds(questions: Sequence[QuestionInfo], version: SchemeVersion) -> set[str]:
    """Return the item kinds that the questions apply to."""
    return {question.item_kind for question in questions} or {version.item_kind}


def _decisions(scope: Scope, version: SchemeVersion) -> tuple[dict[int, SubjectData], dict[str, int]]:
    """Return adjudicators' decisions by question id, and item ids by key."""
    counted = census(scope)
    questions = questions_of(counted, reference(version))
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

    A choice option is shown by the meaning of its value (a policy), a number as it is. `own` has the rules of
    questions with another one, by question key.
    """

    gold: Gold
    title: str
    options: tuple[tuple[str, Any], ...]
    own: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return, for instance, `Majority (ties: no gold label; the tie is listed); overall: Median`."""
        own = [f"{key}: {title}" for key, title in self.own.items()]
        return "; ".join([_rule_line(self.title, self.options), *own])

    def rule_of(self, question: str) -> str:
        """Return the title of a question's rule, by the question's key."""
        return self.own.get(question, self.title)


def described(gold: Gold) -> Described:
    """Return a gold's rules and options in words."""
    title, options = _in_words(gold.rule, gold.options)
    own = gold.options.get(QUESTIONS, {}).items()
    return Described(
        gold, title, options, {key: _rule_line(*_in_words(each["rule"], each)) for key, each in own}
    )


def _rule_line(title: str, options: Sequence[tuple[str, Any]]) -> str:
    options_text = ", ".join(f"{name}: {value}" for name, value in options)
    return f"{title} ({options_text})" if options_text else title


def _in_words(key: str, stored: Mapping[str, Any]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """Return a rule's title, and its stored options with their values in words."""
    rule = RULES.get(key)
    if rule is None:
        return key, ()
    options = [(name, option, stored[name]) for name, option in rule.options.items() if name in stored]
    return rule.title, tuple((name, option.choices.get(value, value)) for name, option, value in options)


# Whether gold is still up to date: labels added or changed since it was made.


def changes_of(gold: Gold) -> Changes:
    """Return the changes to labels on a gold's questions since the gold was made."""
    scope = scope_of(gold.corpus, gold.campaign, gold.part)
    scope = narrowed(scope, Subset(exclude=gold.options.get("exclude", "")))
    stored = [gold.options | {"rule": gold.rule}, *gold.options.get(QUESTIONS, {}).values()]
    readable = [each for each in stored if each["rule"] in RULES and each.get(DECISIONS) != IGNORED]
    if any(RULES[each["rule"]].reads_adjudications for each in readable):
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
QUESTIONS = "questions"
"""Option of a gold: the rules and options of questions with another rule than the rest, by question key."""
TIES_OPTION = "ties"
TIE = "tie: "
"""Prefix of the reason for an item without a value because its answers tie."""
TIED = "the answers tie"
GoldProgress = Callable[[int, int], None]


@transaction.atomic
def make(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    part: str = "",
    exclude: str = "",
    scheme_version: SchemeVersion,
    rule: str = "",
    options: Mapping[str, Any] | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    raters: Sequence[str] = (),
    by: User | None,
    progress: GoldProgress | None = None,
) -> Gold:
    """Choose gold labels for all items of a scheme's questions that have an answer.

    `rules` has `rule` and `options` of single questions, by key; the others follow `rule` with `options`, by
    default the rule of their scale. Training dialogues are excluded, unless they are the `part` (or the
    campaign's): then only they count. `exclude` leaves out dialogues by people's answers, as of now.
    `raters` names the raters whose answers count; by default all people except those left out of gold. The
    same inputs and rules return the existing gold. `progress` is called with (questions done, total) and may
    raise to stop. Raises GoldRuleError, with a one-line message, when nothing can be chosen.
    """
    selection = select_rules(scheme_version, rule, options or {}, rules or {})
    scope = _scope(corpus, campaign, part, exclude)
    source = read(scope, scheme_version, raters, decisions=selection.reads_adjudications)
    fitting, left_out = _fitting(source, selection)
    common = selection.common or _commonest([setting for _, setting in fitting])
    place = {"part": part} if part and campaign is None else {}
    place |= {"exclude": scope.subset.exclude} if scope.subset.exclude else {}
    stored: dict[str, Any] = (
        place | dict(common.options) | {"raters": list(source.raters), "left_out": list(left_out)}
    )
    own = {data.subject.question.key: each.as_json() for data, each in fitting if each != common}
    if source.adjudicators:
        stored["adjudicators"] = list(source.adjudicators)
    else:  # no decisions: the same gold as before decisions could be read
        for choices in (stored, *own.values()):
            if choices.get(DECISIONS) == FIRST:
                del choices[DECISIONS]
    if own:
        stored[QUESTIONS] = own
    hashed = dict(stored)
    if source.split is not None and any(each.rule.reads_dev(each.options) for _, each in fitting):
        stored["split"] = source.split.name
        hashed |= {"split": source.split.name, "dev": sorted(source.dev or ())}
    same = {
        "corpus": corpus,
        "campaign": campaign,
        "scheme_version": scheme_version,
        "inputs_hash": _hash([data for data, _ in fitting], common.rule.key, hashed),
    }
    existing = Gold.objects.filter(**same, rule=common.rule.key).first()
    if existing:
        return existing
    if "split" in stored and source.split is not None:
        splits.fix(split=source.split, by=by)
    notes: dict[str, Any] = {"why_left_out": left_out}
    if excluded := exclusion.described(corpus, scope.subset.exclude, training=scope.training):
        notes["excluded"] = excluded
    if source.without:
        notes["people_left_out"] = [person.as_json() for person in source.without]
    designs = {data.subject.question.key: shares.design_note(data.design) for data, _ in fitting}
    if designs := {key: note for key, note in designs.items() if note is not None}:
        notes[shares.DESIGNS] = designs
    gold = Gold.objects.create(**same, rule=common.rule.key, options=stored | notes, created_by=by)
    for number, (data, setting) in enumerate(fitting):
        if progress:
            progress(number, len(fitting))
        answers = source.answers(data, setting)
        gold_values = setting.rule.choose(answers, setting.options)
        gold.findings |= _findings(data, gold_values, "dev" if setting.rule.learns_on_dev is True else "all")
        _keep(_labels(gold, data, answers.ratings, gold_values, source))
    count(gold)
    if progress:
        progress(len(fitting), len(fitting))
    _log(gold, by)
    return gold


def _commonest(settings: Sequence[RuleSetting]) -> RuleSetting:
    """Return the setting of most questions; of as many, the first."""
    return max(settings, key=lambda each: sum(each == other for other in settings))


@dataclass(frozen=True)
class Counted:
    """The items with and without a value, and how many of these for each reason.

    `unknown` says which count is not known in advance, and why; it is empty when all are known. Otherwise the
    numbers cover only what is certain, and are None where nothing is.
    """

    n: int | None
    without: int | None
    reasons: Mapping[str, int]
    unknown: str = ""

    @property
    def ties(self) -> int | None:
        """Number of items without a value because answers tie; None if it is not known."""
        return None if self.unknown else self.reasons.get(TIED, 0)

    def __str__(self) -> str:
        """Return the counts as one or two sentences."""
        if self.without is None or self.n is None:
            return f"How many items would stay without a value is not known: {self.unknown}."
        of = f"of {self.n + self.without:,} {'item' if self.n + self.without == 1 else 'items'}"
        if self.unknown:
            nobody = f"At least {self.without:,} {of} would stay without a value, as nobody answered"
            return f"{nobody if self.without else f'Each {of} has an answer'}; {self.unknown}."
        ties = f", {self.ties:,} of them because answers tie" if self.ties else ""
        return f"{self.without:,} {of} would stay without a value{ties}."


@dataclass(frozen=True)
class QuestionPreview(Counted):
    """Expected outcome for one question, by its rule; `left_out` says why the rule does not fit."""

    question: str = ""
    rule: str = ""
    left_out: str = ""


@dataclass(frozen=True)
class Preview(Counted):
    """Expected outcome of the rules for all questions that they fit, and for each question."""

    questions: tuple[QuestionPreview, ...] = ()


def preview_gold(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    part: str = "",
    exclude: str = "",
    scheme_version: SchemeVersion,
    rule: str = "",
    options: Mapping[str, Any],
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    raters: Sequence[str],
) -> Preview:
    """Count the labels that `gold_or_job` would choose, without storing anything. May raise GoldRuleError.

    A slow rule is not run: the count covers only items that nobody answered or decided. In a large scope
    nothing is counted, and the preview says why.
    """
    selection = select_rules(scheme_version, rule, options, rules or {})
    if scope_of(corpus, campaign, part).most() > AT_ONCE:
        unknown = f"there are more than {AT_ONCE:,} labels, and it is counted while the gold is made"
        return Preview(None, None, {}, unknown)
    scope = _scope(corpus, campaign, part, exclude)
    source = read(scope, scheme_version, raters, decisions=selection.reads_adjudications)
    fitting, left_out = _fitting(source, selection)
    counted = [_preview(source, data, setting) for data, setting in fitting]
    of = {data.subject.question.key: selection.of(data.subject.question).rule.key for data in source.subjects}
    unfit = [QuestionPreview(0, 0, {}, "", key, of[key], reason) for key, reason in left_out.items()]
    reasons = sum((Counter(each.reasons) for each in counted), Counter[str]())
    return Preview(
        sum(each.n or 0 for each in counted),
        sum(each.without or 0 for each in counted),
        dict(reasons),
        next((each.unknown for each in counted if each.unknown), ""),
        (*counted, *unfit),
    )


def _preview(source: Source, data: SubjectData, setting: RuleSetting) -> QuestionPreview:
    """Count the items of a question with and without a value.

    A slow rule is replaced by a stand-in that settles every tie, so that its counts are certain.
    """
    answers = source.answers(data, setting)
    key, unknown = data.subject.question.key, ""
    if setting.rule.is_slow(setting.options):
        stand_in = {TIES_OPTION: "lowest", DECISIONS: setting.options.get(DECISIONS, FIRST)}
        gold_values = RULES["majority"].choose(answers, stand_in)
        if setting.options.get(TIES_OPTION, "none") == "none":
            tie = "how many stay without one because answers tie is known once"
            unknown = f"{tie} {setting.rule.title} has been estimated"
    else:
        gold_values = setting.rule.choose(answers, setting.options)
    votes = enumerate(_votes(answers.ratings))
    reasons = [_value(answers.ratings, gold_values, row, counts)[1] for row, counts in votes]
    by_reason = Counter(TIED if reason.startswith(TIE) else reason for reason in reasons if reason)
    without = by_reason.total()
    return QuestionPreview(len(reasons) - without, without, dict(by_reason), unknown, key, setting.rule.key)


def _scope(corpus: Corpus, campaign: Campaign | None, part: str, exclude: str) -> Scope:
    """Return the scope that gold is chosen from. Raises GoldRuleError for an unknown part or exclusion."""
    scope = scope_of(corpus, campaign, part)
    if part not in ("", TRAINING):
        raise GoldRuleError(f"gold is made of training, or of all but training: there is no part {part!r}")
    if part and campaign is not None and campaign.part != TRAINING:
        raise GoldRuleError(f"{campaign.name} is about all but training: make gold of the corpus's training")
    if part and not corpus.has_training:
        raise GoldRuleError(f"no dialogue of {corpus.name} is in training")
    try:
        return narrowed(scope, Subset(exclude=exclusion.check(corpus, exclude)))
    except ExclusionRefused as error:
        raise GoldRuleError(str(error)) from error


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
    source: Source, selection: RuleSelection
) -> tuple[list[tuple[SubjectData, RuleSetting]], dict[str, str]]:
    """Return the questions that their rules apply to, and by key the reason why the others do not fit.

    Raises GoldRuleError when there is none.
    """
    fitting, left_out = [], {}
    for data in source.subjects:
        setting = selection.of(data.subject.question)
        reason = setting.rule.unfit(source.answers(data, setting), setting.options)
        if reason:
            left_out[data.subject.question.key] = reason
        else:
            fitting.append((data, setting))
    if fitting:
        return fitting, left_out
    if not left_out and selection.common:
        rule = selection.common.rule
        raise GoldRuleError(f"{rule.title} needs {rule.needs}; these questions have none with answers")
    if not left_out:
        raise GoldRuleError("no question of this scheme that has values was answered")
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
    exclude: str = "",
    scheme_version: SchemeVersion,
    rule: str = "",
    options: Mapping[str, Any],
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    raters: Sequence[str],
    by: User | None,
) -> Gold | Job:
    """Make small gold at once; start a job for many labels or a slow rule. May raise GoldRuleError."""
    selection = select_rules(scheme_version, rule, options, rules or {})
    checked = dict(selection.common.options if selection.common else options)
    own = {key: {"rule": each.rule.key, "options": dict(each.options)} for key, each in selection.own.items()}
    how: dict[str, Any] = {"rule": rule, "options": checked, "rules": own, "raters": list(raters)}
    settings = [*selection.own.values(), *([selection.common] if selection.common else [])]
    if scope_of(corpus, campaign, part).most() <= AT_ONCE and not any(
        each.rule.is_slow(each.options) for each in settings
    ):
        place: dict[str, Any] = {"corpus": corpus, "campaign": campaign, "part": part, "exclude": exclude}
        return make(**place, scheme_version=scheme_version, by=by, **how)
    params = how | {
        "corpus": corpus.pk,
        "campaign": campaign.pk if campaign else None,
        "part": part,
        "exclude": exclude,
        "scheme_version": scheme_version.pk,
    }
    digest = hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()[:8]
    name = campaign.name if campaign else corpus.name
    subject = f"{rule or 'rules by scale'} over {name}, {digest}"
    return job_actions.start(kind=KIND, subject=subject[:300], params=params, by=by)


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
