"""Reports that take a while: computed beside the page that asked, with progress that any process can read.

Small studies are computed at once. Larger ones run in a thread of their own, and their row tells how far
they are. A row whose heartbeat stopped belongs to a process that ended: it is failed, and may be asked again.
"""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from calibration import studies
from calibration.census import census
from calibration.definitions import DefinitionError
from calibration.models import Computation, Report, Study
from calibration.scope import scope_of

SMALL = 30_000
"""Studies over at most this many labels are computed while the page waits, in a second or two,"""
FEW_PAIRS = 400
"""if they compare at most this many pairs of raters over all questions."""
SILENCE = timedelta(seconds=60)


def report_or_computation(*, study: Study, part: str, by: User | None) -> Report | Computation:
    """Compute a small study's report at once; start a larger one's computing, or return what is under way."""
    if is_quick(study):
        return studies.compute(study=study, part=part, by=by)
    return start(study=study, part=part, by=by)


def is_quick(study: Study) -> bool:
    """Whether a study is computed while the page waits."""
    counted = census(scope_of(study.corpus, study.campaign))
    raters = Counter(question for question, _ in counted.counts)
    pairs = sum(n * (n - 1) // 2 for n in raters.values())
    return counted.n_labels <= SMALL and pairs <= FEW_PAIRS


def start(*, study: Study, part: str, by: User | None) -> Computation:
    """Start computing in the background and return its row; one at a time per study and part."""
    running = under_way(study, part)
    if running is not None:
        return running
    try:
        with transaction.atomic():
            row = Computation.objects.create(study=study, part=part, created_by=by)
    except IntegrityError:  # another request was faster
        return Computation.objects.get(study=study, part=part, state=Computation.State.RUNNING)
    transaction.on_commit(lambda: threading.Thread(target=_in_thread, args=[row.pk], daemon=True).start())
    return row


def under_way(study: Study, part: str) -> Computation | None:
    """Return the computation that is at work, None where there is none; one that fell silent is failed."""
    row = Computation.objects.filter(study=study, part=part, state=Computation.State.RUNNING).first()
    if row is None or timezone.now() - row.heartbeat < SILENCE:
        return row
    finish(row, error="the process that computed it ended; ask again")
    return None


def _in_thread(pk: int) -> None:
    try:
        work(pk)
    finally:
        connection.close()


def work(pk: int) -> None:
    """Compute what a row asks for and close the row, with its report or with the reason why there is none."""
    row = Computation.objects.select_related("study__corpus", "study__campaign__corpus").get(pk=pk)
    finished = False
    try:
        report = studies.compute(
            study=row.study,
            part=row.part,
            by=row.created_by,
            progress=lambda done, total: _beat(pk, done, total),
        )
        finish(row, report=report)
        finished = True
    except (DefinitionError, studies.StudyError) as error:
        finish(row, error=str(error))
        finished = True
    finally:
        if not finished:  # the traceback goes to the log; the page says that it failed
            finish(row, error="computing failed; the server's log says why")


def _beat(pk: int, done: int, total: int) -> None:
    Computation.objects.filter(pk=pk).update(done=done, total=total, heartbeat=timezone.now())


def finish(row: Computation, *, report: Report | None = None, error: str = "") -> None:
    """Close a computation."""
    state = Computation.State.DONE if report else Computation.State.FAILED
    row.state, row.report, row.error = state, report, error
    row.save(update_fields=["state", "report", "error", "heartbeat"])
