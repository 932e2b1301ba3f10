"""Actions on studies: create, compute reports, open test. All changes of state are made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.corpora import splits
from annotation.corpora.splits import TRAINING
from annotation.errors import SplitRefused
from annotation.models import Campaign, Corpus, Rater, TestLook
from calibration.errors import CalibrationError, DefinitionError, StudyError
from calibration.models import Report, Study
from calibration.ratings import levels
from calibration.ratings.definitions import Definition, parse
from calibration.ratings.ratings import subjects_of
from calibration.ratings.scope import Census, of_study, offered, scope_of
from calibration.ratings.subsets import check_subset
from calibration.reports.snapshot import is_readable, snapshot_of, to_json
from calibration.studies import inputs
from calibration.studies.computing import Progress, result_of
from config.models import Event
from jobs import job_actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind
from jobs.kinds import Progress as JobProgress
from jobs.models import Job
from jobs.webhook_events import VERDICT_CHANGED, tell
from judges.models import RunSet

NAME_LIMIT = 120
EVERYONE = {"leave_out": False}
"""Definition of an automatic study that excludes nobody."""


@transaction.atomic
def create(
    *,
    name: str,
    corpus: Corpus,
    campaign: Campaign | None = None,
    definition: Mapping[str, Any],
    by: User | None,
) -> Study:
    """Save a study. Raises DefinitionError or StudyError, in one line, if it could never be computed."""
    if campaign is not None and campaign.corpus_id != corpus.pk:
        raise StudyError(f"the campaign {campaign.name} is about another corpus than {corpus.name}")
    if not name.strip():
        raise StudyError("a study needs a name")
    if Study.objects.filter(name=name.strip()).exists():
        raise StudyError(f"there is a study called {name.strip()!r} already")
    parsed = parse(definition)
    check_subset(corpus, parsed.subset)
    scope = replace(scope_of(corpus, campaign, parsed.split), subset=parsed.subset)
    counted = offered(scope)
    subjects_of(parsed, counted)
    levels.check(scope, parsed, counted)
    _check_panels(parsed, counted)
    study = Study(
        name=name.strip(), corpus=corpus, campaign=campaign, definition=dict(definition), created_by=by
    )
    inputs.split_of(study)
    study.save()
    _log(by, "make study", study)
    return study


def _check_panels(definition: Definition, counted: Census) -> None:
    """Raise DefinitionError for a panel with a member who is no judge here, or with a rater's name."""
    judges = sorted(rater.name for rater in counted.raters.values() if rater.kind == "judge")
    names = {rater.name for rater in counted.raters.values()}
    for panel in definition.panels:
        if unknown := [name for name in panel.members if name not in judges]:
            raise DefinitionError(
                f"no judge {unknown[0]!r} has labels here; there are {', '.join(judges) or 'none'}"
            )
        if panel.name in names:
            raise DefinitionError(f"a rater is called {panel.name!r} already: give the panel another name")


def automatic(
    *, corpus: Corpus, campaign: Campaign | None = None, everyone: bool = False, by: User | None = None
) -> Study:
    """Return the automatic study of a corpus or campaign, created on first use.

    People left out of gold are excluded, unless `everyone` is set.
    """
    fields = {
        "corpus": corpus,
        "campaign": campaign,
        "automatic": True,
        "definition": EVERYONE if everyone else {},
    }
    study = Study.objects.filter(**fields).first()
    if study:
        return study
    name = f"Campaign {campaign.name}" if campaign else f"Corpus {corpus.name}"
    name = f"{name}, everyone" if everyone else name
    if Study.objects.filter(name=name).exists():
        name = f"{name} (automatic)"
    try:
        with transaction.atomic():
            study_made = Study.objects.create(name=name, **fields)
            _log(by, "make study", study_made)
            return study_made
    except IntegrityError:  # made by another request at the same moment
        return Study.objects.get(**fields)


def of_run_set(*, run_set: RunSet, by: User | None) -> Study:
    """Return the study that compares the judges and metrics of a run set with people, created on first use.

    Its raters are those of the set that have labels, and all people and answer keys; once another rater has
    labels, a new study includes it. Raises StudyError while none of the set's raters has a label.
    """
    members = list(run_set.runs.select_related("rater"))
    part = TRAINING if any(run.scope.get("part") == TRAINING for run in members) else ""
    counted = offered(scope_of(run_set.corpus, run_set.campaign, part))
    ids = {run.rater_id for run in members}
    machines = (Rater.Kind.JUDGE, Rater.Kind.METRIC)
    answering = {rater for _, rater in counted.counts}
    raters = [
        rater
        for rater in counted.raters.values()
        if rater.id in answering and (rater.id in ids or rater.kind not in machines)
    ]
    if not any(rater.id in ids for rater in raters):
        raise StudyError(f"no judge or metric of the run set {run_set.name} has a label yet")
    definition: dict[str, Any] = {"raters": sorted(rater.name for rater in raters)}
    definition |= {"split": part} if part else {}
    corpus, campaign = run_set.corpus, run_set.campaign
    saved = Study.objects.filter(corpus=corpus, campaign=campaign, automatic=False)
    study = saved.filter(definition=definition).first()
    if study is not None:
        return study
    title = f"Run set {run_set.name}"
    names = set(Study.objects.filter(name__startswith=title).values_list("name", flat=True))
    numbered = (f"{title} ({number})" for number in range(2, len(names) + 3))
    name = next(text for text in (title, *numbered) if text not in names)
    return create(name=name, corpus=corpus, campaign=campaign, definition=definition, by=by)


def default_part(study: Study) -> str:
    """Return the part that a study's report shows: dev if the corpus is split, else all."""
    return "dev" if inputs.split_of(study) else "all"


def compute(*, study: Study, part: str, by: User | None, progress: Progress | None = None) -> Report:
    """Compute a study's report on a part of its split, or return the existing one for the same inputs.

    Raises DefinitionError if the definition no longer fits the labels, StudyError for a part that may not be
    shown: test before it was opened, or all if there is a split.
    """
    check_part(study, part)
    read = inputs.read(study, part)
    _check_opened(read)
    if read.split is not None:
        splits.fix(split=read.split, by=by)
    report = Report.objects.filter(study=study, part=part, inputs_hash=read.hash).first()
    if report is None:
        report = _store(read, to_json(result_of(read, progress)), by)
    if report.stamp != read.stamp:
        report.stamp = read.stamp
        report.save(update_fields=["stamp"])
    return report


@transaction.atomic
def _store(read: inputs.Inputs, result: dict[str, Any], by: User | None) -> Report:
    """Store a report, unless somebody else just did, and tell webhooks of verdicts that changed."""
    study, part = read.study, read.part
    before = latest(study, part)
    report, is_new = Report.objects.get_or_create(
        study=study,
        part=part,
        inputs_hash=read.hash,
        defaults={"result": result, "stamp": read.stamp, "created_by": by},
    )
    if is_new:
        _log(by, "compute report", study, part=part, report=report.pk)
        if before is not None and is_readable(before):
            _tell_of_verdicts(before, report)
    return report


def _tell_of_verdicts(before: Report, report: Report) -> None:
    """Write the event of a report whose verdict on some judge and question differs from the one before."""
    old, new = ({(v.ref, v.rater): v.state for v in snapshot_of(row).verdicts} for row in (before, report))
    changes = Counter((old[key], new[key]) for key in new if key in old and old[key] != new[key])
    if not changes:
        return
    study = report.study
    about = {"study": study.pk, "corpus": study.corpus_id, "campaign": study.campaign_id}
    rows = [{"from": a, "to": b, "verdicts": count} for (a, b), count in sorted(changes.items())]
    data = about | {"report": report.pk, "before": before.pk, "part": report.part, "changes": rows}
    tell(VERDICT_CHANGED, study.campaign_id, data)


def check_part(study: Study, part: str) -> None:
    """Raise StudyError for a part that the split does not have, or that was not opened."""
    split = inputs.split_of(study)
    allowed = ("dev", "test") if split else ("all",)
    if part not in allowed:
        raise StudyError(
            f"the corpus {study.corpus.name} has {'a' if split else 'no'} split: show {allowed[0]}"
            if split or not of_study(study).training
            else f"the study is of training, which is in no split: show {allowed[0]}"
        )
    if part == "test" and split and not split.looks.exists():
        raise StudyError("test was not opened: say what it is needed for first")


def _check_opened(read: inputs.Inputs) -> None:
    """Raise StudyError for a test report of a judge for which test was not opened."""
    if read.part != "test" or read.split is None:
        return
    ids = {info.id for data in read.subjects for info in data.raters if info.kind == Rater.Kind.JUDGE}
    voted = {
        vote.rater for compared in read.compared for vote in compared.votes if vote.kind == Rater.Kind.JUDGE
    }
    if voted:
        ids |= {info.id for info in offered(read.scope).raters.values() if info.name in voted}
    closed = splits.unopened_raters(read.split, Rater.objects.filter(pk__in=ids).order_by("pk"))
    if closed:
        names = ", ".join(rater.name for rater in closed)
        raise StudyError(
            f"test was not opened for {names}: open test once more and say what for, or leave "
            f"{'it' if len(closed) == 1 else 'them'} out of the study's raters"
        )


def open_test(*, study: Study, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with user and purpose, and open it for the judges in the study's report.

    Raises StudyError without a purpose, or if the corpus has no split.
    """
    split = inputs.split_of(study)
    if split is None:
        raise StudyError(f"the corpus {study.corpus.name} has no split, so there is no test part to open")
    try:
        return splits.open_test(split=split, by=by, purpose=purpose, raters=judges_of(study))
    except SplitRefused as error:
        raise StudyError(str(error)) from error


def judges_of(study: Study) -> list[Rater]:
    """Return the judges that a study may show, in the order they were created."""
    counted, only = offered(of_study(study)), parse(study.definition).raters
    ids = [
        r.id for r in counted.raters.values() if r.kind == Rater.Kind.JUDGE and (not only or r.name in only)
    ]
    return list(Rater.objects.filter(pk__in=ids).order_by("pk"))


def latest(study: Study, part: str) -> Report | None:
    """Return the newest report of a study on a part; None if there is none."""
    return study.reports.filter(part=part).first()


def is_stale(report: Report) -> bool:
    """Whether labels have changed since a report was computed."""
    scope = of_study(report.study)
    return report.stamp != scope.stamp()


def _log(by: User | None, verb: str, study: Study, **detail: Any) -> None:
    Event.objects.create(by=by, verb=verb, subject=f"study {study.pk}: {study.name}"[:300], detail=detail)


# Large reports: computed by a worker, with progress that any process can read.
#
# Small studies are computed within the request. Larger ones are a job.

KIND = "report"
SMALL = 30_000
"""Largest number of labels for which a study is computed within the request, in a second or two."""
SMALL_AT_LEVELS = 6_000
"""The same for studies at levels, which resample both systems and dialogues."""
FEW_PAIRS = 400
"""Largest number of pairs of raters, over all questions, for a study computed within the request."""


def report_or_job(*, study: Study, part: str, by: User | None) -> Report | Job:
    """Compute a small study's report at once; for a larger one start its job, or return the active one."""
    if is_quick(study):
        return compute(study=study, part=part, by=by)
    return start(study=study, part=part, by=by)


def current(*, study: Study, part: str, by: User | None) -> Report | Job:
    """Return the report to show for dev or all; new labels are included only if that is quick.

    Otherwise the last finished report stays until `report_or_job` requests a new one: while labels keep
    arriving, no report would cover all of them. Without any report, the job is started.
    """
    newest = latest(study, part)
    if newest is None or not is_readable(newest):
        return report_or_job(study=study, part=part, by=by)
    if is_stale(newest) and is_quick(study):
        return compute(study=study, part=part, by=by)
    return newest


def is_quick(study: Study) -> bool:
    """Whether a study is computed within the request."""
    counted = offered(of_study(study))
    raters = Counter(question for question, _ in counted.counts)
    pairs = sum(n * (n - 1) // 2 for n in raters.values())
    most = SMALL_AT_LEVELS if parse(study.definition).levels else SMALL
    return counted.n_labels <= most and pairs <= FEW_PAIRS


def start(*, study: Study, part: str, by: User | None) -> Job:
    """Start computing in the background and return the job; one at a time per study and part."""
    params = {"study": study.pk, "part": part}
    return job_actions.start(kind=KIND, subject=_subject(study, part), params=params, by=by)


def under_way(study: Study, part: str) -> Job | None:
    """Return the active job for a study's report on a part; None if there is none."""
    return job_actions.active_job(KIND, _subject(study, part))


def _subject(study: Study, part: str) -> str:
    return f"study {study.pk}, {part}: {study.name}"[:300]


def study_of(job: Job) -> Study:
    """Return the study of a job. Raises JobRefused if it was deleted."""
    study = Study.objects.select_related("corpus", "campaign__corpus").filter(pk=job.params["study"]).first()
    if study is None:
        raise JobRefused("the study was deleted")
    return study


def run(job: Job, progress: JobProgress) -> dict[str, Any]:
    """Compute the report of a job; the result is {report: id}."""
    study = study_of(job)
    try:
        report = compute(study=study, part=job.params["part"], by=job.created_by, progress=progress)
    except CalibrationError as error:
        raise JobRefused(str(error)) from error
    return {"report": report.pk}


JOB = JobKind(KIND, "Report", run)
