"""Reports that take a while: computed by a worker, with progress that any process can read.

Small studies are computed while the page waits. Larger ones are a job.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib.auth.models import User

from calibration.errors import CalibrationError
from calibration.models import Report, Study
from calibration.reading.census import offered
from calibration.reading.definitions import parse
from calibration.reading.scope import of_study
from calibration.reports.snapshot import is_readable
from calibration.studies import actions as studies
from jobs import actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind
from jobs.kinds import Progress as JobProgress
from jobs.models import Job

KIND = "report"
SMALL = 30_000
"""Studies over at most this many labels are computed while the page waits, in a second or two,"""
SMALL_AT_LEVELS = 6_000
"""(of studies at levels, which resample systems and dialogues both, over at most this many),"""
FEW_PAIRS = 400
"""if they compare at most this many pairs of raters over all questions."""


def report_or_job(*, study: Study, part: str, by: User | None) -> Report | Job:
    """Compute a small study's report at once; start a larger one's job, or return the one under way."""
    if is_quick(study):
        return studies.compute(study=study, part=part, by=by)
    return start(study=study, part=part, by=by)


def current(*, study: Study, part: str, by: User | None) -> Report | Job:
    """Return the report to show of dev, or of all: new labels join by themselves where that is quick.

    Elsewhere the last finished report stays until `report_or_job` is asked for a new one: while labels
    arrive, no report would be of all of them. Only where there is none yet, its job is started.
    """
    newest = studies.latest(study, part)
    if newest is None or not is_readable(newest):
        return report_or_job(study=study, part=part, by=by)
    if studies.is_stale(newest) and is_quick(study):
        return studies.compute(study=study, part=part, by=by)
    return newest


def is_quick(study: Study) -> bool:
    """Whether a study is computed while the page waits."""
    counted = offered(of_study(study))
    raters = Counter(question for question, _ in counted.counts)
    pairs = sum(n * (n - 1) // 2 for n in raters.values())
    most = SMALL_AT_LEVELS if parse(study.definition).levels else SMALL
    return counted.n_labels <= most and pairs <= FEW_PAIRS


def start(*, study: Study, part: str, by: User | None) -> Job:
    """Start computing in the background and return the job; one at a time per study and part."""
    params = {"study": study.pk, "part": part}
    return actions.start(kind=KIND, subject=_subject(study, part), params=params, by=by)


def under_way(study: Study, part: str) -> Job | None:
    """Return the job that computes a study's report on a part, None where there is none."""
    return actions.active_job(KIND, _subject(study, part))


def _subject(study: Study, part: str) -> str:
    return f"study {study.pk}, {part}: {study.name}"[:300]


def run(job: Job, progress: JobProgress) -> dict[str, Any]:
    """Compute the report that a job asks for; its result is {report: id}."""
    study = Study.objects.select_related("corpus", "campaign__corpus").filter(pk=job.params["study"]).first()
    if study is None:
        raise JobRefused("the study was deleted")
    try:
        report = studies.compute(study=study, part=job.params["part"], by=job.created_by, progress=progress)
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"report": report.pk}


JOB = JobKind(KIND, "Report", run)
