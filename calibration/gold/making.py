"""Gold labels: one answer per item chosen from several raters, kept with how it was chosen."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from annotation.corpora import splits
from annotation.corpora.parts import TRAINING
from annotation.models import Campaign, Corpus, Occasion, Rater, SchemeVersion
from annotation.work.labels import name_of
from calibration.errors import GoldRuleError
from calibration.gold.reading import Source, read, reference
from calibration.gold.rules import RULES, Rule
from calibration.gold.rules.adjudicated import DECISIONS, FIRST, IGNORED
from calibration.models import GoldLabel
from calibration.models.gold import Gold
from calibration.reading.changes import Changes, since
from calibration.reading.ratings import SubjectData
from calibration.reading.scope import Scope, scope_of
from calibration.statistics import Ratings
from calibration.statistics.adjudication import DECIDED
from calibration.statistics.gold import Chosen
from config.models import Event
from config.planner import WORTH_TELLING, tell_planner

# What a gold was chosen by, for pages: its rule's title and the options that it was used with.


@dataclass(frozen=True)
class Described:
    """A gold with its rule in words; a rule that is no longer in the table is called by its key.

    An option that is one of several words is told by its meaning: a policy is no count.
    """

    gold: Gold
    title: str
    options: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        """Return `Majority (ties: no gold label; the tie is listed)`."""
        told = ", ".join(f"{name}: {value}" for name, value in self.options)
        return f"{self.title} ({told})" if told else self.title


def described(gold: Gold) -> Described:
    """Return what a gold was chosen by."""
    rule = RULES.get(gold.rule)
    if rule is None:
        return Described(gold, gold.rule, ())
    kept = [
        (name, option, gold.options[name]) for name, option in rule.options.items() if name in gold.options
    ]
    options = tuple((name, option.choices.get(value, value)) for name, option, value in kept)
    return Described(gold, rule.title, options)


# Whether gold still says what the labels of now would: what came or changed since it was made.


def changes_of(gold: Gold) -> Changes:
    """Return what became, since a gold was made, of the labels on its questions."""
    scope = scope_of(gold.corpus, gold.campaign, gold.part)
    rule = RULES.get(gold.rule)
    reads = rule is not None and rule.reads_adjudications
    if reads and gold.options.get(DECISIONS) != IGNORED:
        scope = replace(scope, occasions=(*scope.occasions, Occasion.ADJUDICATION))
    return since(scope, gold.created_at, _questions(gold))


def counts_everybody(gold: Gold) -> bool:
    """Whether a gold was chosen from the answers of all people who had answered its questions by then."""
    names = gold.options["raters"]
    answered = scope_of(gold.corpus, gold.campaign, gold.part).ever()
    answered = answered.filter(question__in=_questions(gold), created_at__lte=gold.created_at)
    theirs = answered.filter(rater=OuterRef("pk"))
    for rater in Rater.objects.filter(Exists(theirs)):
        chosen = rater.name in names or name_of(rater, gold.corpus_id) in names
        if chosen != (rater.kind == Rater.Kind.HUMAN):
            return False
    return True


def _questions(gold: Gold) -> list[int]:
    return list(gold.scheme_version.questions.values_list("pk", flat=True))


BATCH = 5_000
TIES_OPTION = "ties"
TIE = "tie: "
"""What the reason of an item begins with whose answers tie."""
Progress = Callable[[int, int], None]


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
    progress: Progress | None = None,
) -> Gold:
    """Choose gold labels for all items of a scheme's questions that have an answer.

    Training dialogues are left out unless they are the `part` (or the campaign's), and then taken alone.
    `raters` names whose answers count; by default all people but those left out of gold. The same inputs and
    rule return the gold that was made of them before. `progress` is told (questions done, in all) and may
    raise to stop. Raises GoldRuleError, in one line, where nothing can be chosen.
    """
    chosen_rule = rule_named(rule)
    checked = chosen_rule.checked(options or {})
    if checked.get(DECISIONS) == IGNORED:
        chosen_rule = replace(chosen_rule, reads_adjudications=False)
    source = read(_scope(corpus, campaign, part), scheme_version, raters, chosen_rule)
    fitting, left_out = _fitting(source, chosen_rule, checked)
    named = {"part": part} if part and campaign is None else {}
    kept = named | checked | {"raters": list(source.raters), "left_out": list(left_out)}
    if source.adjudicators:
        kept["adjudicators"] = list(source.adjudicators)
    elif kept.get(DECISIONS) == FIRST:
        del kept[DECISIONS]  # nothing was decided: this is the gold that it was before there were decisions
    hashed = dict(kept)
    if chosen_rule.reads_dev(checked) and source.split is not None:
        kept["split"] = source.split.name
        hashed["dev"] = sorted(source.dev or ())
    same = {
        "corpus": corpus,
        "campaign": campaign,
        "scheme_version": scheme_version,
        "inputs_hash": _hash(fitting, rule, hashed),
    }
    found = Gold.objects.filter(**same, rule=rule).first()
    if found:
        return found
    if "split" in kept and source.split is not None:
        splits.fix(split=source.split, by=by)
    told: dict[str, Any] = {"why_left_out": left_out}
    if source.without:
        told["people_left_out"] = [person.as_json() for person in source.without]
    gold = Gold.objects.create(**same, rule=rule, options=kept | told, created_by=by)
    for number, data in enumerate(fitting):
        if progress:
            progress(number, len(fitting))
        answers = source.answers(data, chosen_rule, checked)
        chosen = chosen_rule.choose(answers, checked)
        gold.findings |= _findings(data, chosen, "dev" if chosen_rule.learns_on_dev is True else "all")
        _keep(_labels(gold, data, answers.ratings, chosen, source))
    count(gold)
    if progress:
        progress(len(fitting), len(fitting))
    _log(gold, by)
    return gold


@dataclass(frozen=True)
class Preview:
    """What a rule would choose: how many items would have a value, and how many would stay without one.

    `ties` of those stay without one because answers tie. `unknown` says what is not counted beforehand, and
    why; empty where all is. The numbers are then of what is certain, None where nothing is.
    """

    n: int | None
    without: int | None
    ties: int | None
    unknown: str = ""

    def __str__(self) -> str:
        """Return it as a sentence or two."""
        if self.without is None or self.n is None:
            return f"How many items would stay without a value is not known: {self.unknown}."
        of = f"of {self.n + self.without:,} {'item' if self.n + self.without == 1 else 'items'}"
        if self.unknown:
            nobody = f"At least {self.without:,} {of} would stay without a value, as nobody answered"
            return f"{nobody if self.without else f'Each {of} has an answer'}; {self.unknown}."
        ties = f", {self.ties:,} of them because answers tie" if self.ties else ""
        return f"{self.without:,} {of} would stay without a value by this rule{ties}."


def preview(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    part: str = "",
    scheme_version: SchemeVersion,
    rule: str,
    options: Mapping[str, Any],
    raters: Sequence[str],
) -> Preview:
    """Count what `make` would choose of the same, without keeping anything. May raise GoldRuleError.

    A slow rule is not estimated: what is certain of it are the items that nobody answered or decided.
    """
    chosen_rule = rule_named(rule)
    checked = chosen_rule.checked(options)
    if checked.get(DECISIONS) == IGNORED:
        chosen_rule = replace(chosen_rule, reads_adjudications=False)
    source = read(_scope(corpus, campaign, part), scheme_version, raters, chosen_rule)
    fitting, _ = _fitting(source, chosen_rule, checked)
    if chosen_rule.is_slow(checked):
        return _without_estimate(source, fitting, chosen_rule, checked)
    reasons: list[str] = []
    for data in fitting:
        answers = source.answers(data, chosen_rule, checked)
        chosen = chosen_rule.choose(answers, checked)
        votes = enumerate(_votes(answers.ratings))
        reasons += [_value(answers.ratings, chosen, row, counts)[1] for row, counts in votes]
    ties = sum(reason.startswith(TIE) for reason in reasons)
    without = sum(bool(reason) for reason in reasons)
    return Preview(len(reasons) - without, without, ties)


def _without_estimate(
    source: Source, fitting: Sequence[SubjectData], rule: Rule, options: Mapping[str, Any]
) -> Preview:
    """Return what is certain of a slow rule: a rule that settles every tie stands in for it."""
    stand_in = {TIES_OPTION: "lowest", DECISIONS: options.get(DECISIONS, FIRST)}
    chosen = [RULES["majority"].choose(source.answers(data, rule, options), stand_in) for data in fitting]
    without = sum(each.n_without for each in chosen)
    n = sum(len(each.items) for each in chosen) - without
    if options.get(TIES_OPTION, "none") != "none":
        return Preview(n, without, 0)
    tie = "how many stay without one because answers tie is known once"
    return Preview(n, without, None, f"{tie} {rule.title} has been estimated")


def _scope(corpus: Corpus, campaign: Campaign | None, part: str) -> Scope:
    """Return what gold is chosen from. Raises GoldRuleError for a part that there is not."""
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
    """Return a rule. Raises GoldRuleError for one that is not there."""
    if key not in RULES:
        raise GoldRuleError(f"there is no rule {key!r}; there are {', '.join(RULES)}")
    return RULES[key]


def _fitting(
    source: Source, rule: Rule, options: Mapping[str, Any]
) -> tuple[list[SubjectData], dict[str, str]]:
    """Return the questions that a rule can choose for, and why it cannot for the others, by key.

    Raises GoldRuleError where it can for none.
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
    """Write down how many labels a gold has and how many of them are without a value, once they are made."""
    rows = gold.labels.order_by().values_list("question")
    counted = rows.annotate(n=Count("pk"), without=Count("pk", filter=~Q(reason="")))
    gold.counts = {str(question): [n, without] for question, n, without in counted}
    gold.n = sum(n for n, _ in gold.counts.values())
    gold.without = sum(without for _, without in gold.counts.values())
    gold.save(update_fields=["counts", "n", "without", "findings"])


def _keep(labels: Iterator[GoldLabel]) -> None:
    """Write labels, a batch at a time: they are never all in memory."""
    made = 0
    while batch := list(islice(labels, BATCH)):
        made += len(GoldLabel.objects.bulk_create(batch))
    if made >= WORTH_TELLING:
        tell_planner("calibration_goldlabel")


def _hash(subjects: Sequence[SubjectData], rule: str, options: Mapping[str, Any]) -> str:
    content = {"rule": rule, "options": options, "answers": [data.digest for data in subjects]}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _findings(data: SubjectData, chosen: Chosen, basis: str) -> dict[str, Any]:
    """Return what a rule told about a question's raters and of the whole, empty where it told nothing."""
    if not chosen.raters and not chosen.remarks and chosen.estimation is None:
        return {}
    raters = {
        name: {measure: None if np.isnan(value) else value for measure, value in told.items()}
        for name, told in chosen.raters.items()
    }
    told: dict[str, Any] = {"basis": basis, "raters": raters, "remarks": list(chosen.remarks)}
    if chosen.estimation is not None:
        told["estimation"] = asdict(chosen.estimation)
    return {data.subject.question.key: told}


def _labels(
    gold: Gold, data: SubjectData, ratings: Ratings, chosen: Chosen, source: Source
) -> Iterator[GoldLabel]:
    """Yield a label per item, with a value or with the reason why there is none."""
    question = data.subject.question
    for row, (key, votes) in enumerate(zip(chosen.items, _votes(ratings), strict=True)):
        value, reason = _value(ratings, chosen, row, votes)
        item, chosen_by = source.items[key], chosen.sources[row] if chosen.sources else ""
        yield GoldLabel(
            gold=gold,
            item_id=item,
            question_id=question.id,
            number=value if isinstance(value, float) else None,
            text=value if isinstance(value, str) else None,
            reason=reason,
            n_raters=int(chosen.n_ratings[row]),
            support=None if np.isnan(chosen.confidence[row]) else float(chosen.confidence[row]),
            votes=votes,
            source=chosen_by,
            decisions=source.decided.get((item, question.id), []) if chosen_by == DECIDED else [],
        )


def _votes(ratings: Ratings) -> Iterator[dict[str, int]]:
    """Yield, per item, how many raters gave each value, as it is written, in the scale's order."""
    for row in ratings.values:
        counted = Counter(float(v) for v in row[~np.isnan(row)])
        yield {ratings.label(value): counted[value] for value in sorted(counted)}


def _value(
    ratings: Ratings, chosen: Chosen, row: int, votes: Mapping[str, int]
) -> tuple[float | str | None, str]:
    value = float(chosen.values[row])
    if not np.isnan(value):
        return (ratings.label(value), "") if ratings.names else (value, "")
    if row in chosen.reasons:
        return None, chosen.reasons[row][:200]
    if not chosen.n_ratings[row]:
        return None, "no rater gave an answer"
    most = max(votes.values())
    tied = [name for name, count in votes.items() if count == most]
    return None, f"{TIE}{' and '.join(tied)} with {most} of {sum(votes.values())} each"[:200]
