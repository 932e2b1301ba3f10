"""Making gold from many labels: a job, so that nobody waits in a request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Campaign, Corpus, SchemeVersion
from calibration.errors import CalibrationError
from calibration.gold.making import Preview, make, preview, rule_named
from calibration.models import Gold
from calibration.reading.scope import Scope, scope_of
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

KIND = "gold"
AT_ONCE = 10_000
"""Gold of a scope of at most this many labels is made while the page waits, in a second or two."""


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
    """Make gold of few labels at once; start a job for many, or for a slow rule. May raise GoldRuleError."""
    how: dict[str, Any] = {"rule": rule, "options": dict(options), "raters": list(raters)}
    how["options"] = rule_named(rule).checked(options)
    if is_made_at_once(scope_of(corpus, campaign, part), rule, how["options"]):
        return make(corpus=corpus, campaign=campaign, part=part, scheme_version=scheme_version, by=by, **how)
    params = how | {
        "corpus": corpus.pk,
        "campaign": campaign.pk if campaign else None,
        "part": part,
        "scheme_version": scheme_version.pk,
    }
    digest = hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()[:8]
    name = campaign.name if campaign else corpus.name
    return actions.start(kind=KIND, subject=f"{rule} over {name}, {digest}"[:300], params=params, by=by)


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
    """Count what `gold_or_job` would choose, or say why that is not counted. May raise GoldRuleError."""
    rule_named(rule).checked(options)
    if scope_of(corpus, campaign, part).most() > AT_ONCE:
        unknown = f"there are more than {AT_ONCE:,} labels, and it is counted while the gold is made"
        return Preview(None, None, None, unknown)
    return preview(
        corpus=corpus,
        campaign=campaign,
        part=part,
        scheme_version=scheme_version,
        rule=rule,
        options=options,
        raters=raters,
    )


def is_made_at_once(scope: Scope, rule: str, options: Mapping[str, Any]) -> bool:
    """Whether gold is chosen while the page waits: of few labels, by a rule that is not slow."""
    chosen = rule_named(rule)
    return scope.most() <= AT_ONCE and not chosen.is_slow(chosen.checked(options))


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Make the gold that a job describes; its result is {gold: id}. The same inputs give the same gold."""
    told = dict(job.params)
    corpus = Corpus.objects.filter(pk=told.pop("corpus")).first()
    number = told.pop("campaign")
    campaign = Campaign.objects.select_related("corpus").filter(pk=number).first()
    version = SchemeVersion.objects.select_related("scheme").filter(pk=told.pop("scheme_version")).first()
    if corpus is None or version is None or (number and campaign is None):
        raise JobRefused("the labels that it was to be made from were deleted")
    try:
        gold = make(
            corpus=corpus,
            campaign=campaign,
            scheme_version=version,
            by=job.created_by,
            progress=progress,
            **told,
        )
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"gold": gold.pk}


JOB = JobKind(KIND, "Gold labels", run)
