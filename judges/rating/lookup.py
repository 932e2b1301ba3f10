"""Finding what a command, a page or the API names: corpora, campaigns, endpoints."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any, TextIO

from django.db import connection
from tqdm import tqdm

from annotation.corpora.parts import TRAINING
from annotation.models import Campaign, Corpus, Split, System
from jobs.calls import claims
from jobs.calls.batch_actions import batch_note
from jobs.calls.queue import work_slice as work
from jobs.endpoints.actions import key_note, sync_environment
from jobs.models import Call, Endpoint, Run
from jobs.progress import progress
from jobs.queue.worker import Heart
from jobs.runs import ACTIVE
from judges.errors import JudgeError
from judges.models import CallLabel
from judges.rating.availability import has_model
from judges.rating.selection import Selection

# Driving runs from a command: do the work here, show a bar, and say in the end what came of it.

SLICE = 60.0
_PAUSE = 0.5

NOTHING_FAILED = "--retry-failed: nothing has failed or was cancelled"


class Drive:
    """Brings runs of one queue to their end; Ctrl-C and SIGTERM leave them so that they can be resumed.

    What holds a run up is said on stderr, once: workers without its key, a batch that the endpoint refuses.
    """

    def __init__(self, runs: Sequence[Run], *, wait: bool = False, bar_to: TextIO | None = None) -> None:
        self.runs, self.wait, self.bar_to = runs, wait, bar_to
        self.ids = [run.pk for run in runs]
        self._stop = threading.Event()
        self._notes: dict[int, list[str]] = {}

    def to_the_end(self) -> bool:
        """Work (or, with `wait`, only watch the workers) until no run is active; False where interrupted."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        try:
            if self.wait:
                self._wait()
            else:
                self._work()
        finally:
            interrupted = self._stop.is_set()
            self._stop.set()
            watcher.join(timeout=5)
        return not interrupted

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        self._stop.set()

    def _active(self) -> bool:
        return Run.objects.filter(pk__in=self.ids, state__in=ACTIVE).exists()

    def _wait(self) -> None:
        while not self._stop.wait(_PAUSE) and self._active():
            pass

    def _work(self) -> None:
        queue = self.runs[0].queue
        with Heart(queue) as heart:
            while not self._stop.is_set() and self._active():
                counts = work(queue, seconds=SLICE, heart=heart, stopping=self._stop.is_set, only=self.ids)
                if not counts.done + counts.failed:
                    # What is left waits for its time, or is held by another worker.
                    claims.sweep()
                    self._stop.wait(_PAUSE)

    def _watch(self) -> None:
        calls = Call.objects.filter(run__in=self.ids)
        finished = calls.filter(state__in=[Call.State.DONE, Call.State.FAILED])
        begun, loads = finished.count(), any(run.rater and has_model(run.rater) for run in self.runs)
        with tqdm(
            total=calls.count(), initial=begun, unit="call", file=self.bar_to, disable=self.bar_to is None
        ) as bar:
            while not self._stop.wait(_PAUSE):
                bar.update(finished.count() - bar.n)
                bar.set_description_str("loading the model" if loads and bar.n == begun else None)
                self._tell_what_holds_up()
            bar.update(finished.count() - bar.n)
        connection.close()

    def _tell_what_holds_up(self) -> None:
        for run in Run.objects.filter(pk__in=self.ids, state__in=ACTIVE).select_related("endpoint"):
            notes = [note for note in (key_note(run), batch_note(run)) if note]
            for note in notes:
                if note not in self._notes.get(run.pk, ()):
                    tqdm.write(f"run {run.pk}: {note}", file=sys.stderr)
            self._notes[run.pk] = notes


def summary(run: Run) -> dict[str, Any]:
    """Return what a run came to, as plain data."""
    run.refresh_from_db()
    state = progress(run).as_json()
    labels = CallLabel.objects.filter(call__run=run, label__superseded_at=None)
    counts = {"labels": labels.count(), "missing": labels.exclude(label__missing="").count()}
    kept: tuple[str, ...] = (
        "state",
        "total",
        "done",
        "failed",
        "cancelled",
        "reused",
        "flagged",
        "fake_model",
        "tokens_in",
        "tokens_out",
    )
    kept += ("asked", "sent", "lost", "cached", "failures", "pause_reason")
    rest = {name: state[name] for name in ("cost", "seconds", "error", "missing_reason")}
    return {"run": run.pk, "rater": run.name, **{name: state[name] for name in kept}, **counts, **rest}


PARTS = ("dev", "test", TRAINING)


def selection_of(
    *,
    corpus: str = "",
    campaign: str = "",
    systems: Sequence[str] = (),
    include_self: bool = False,
    samples: int = 1,
    part: str = "",
) -> Selection:
    """Return the selection that names describe: exactly one of corpus and campaign, and systems of it.

    `part` is dev or test of the corpus's split, training, or empty for all of it but training.
    """
    if bool(corpus) == bool(campaign):
        raise JudgeError("Name either a corpus or a campaign.")
    chosen = _campaign(campaign) if campaign else None
    found = chosen.corpus if chosen else corpus_named(corpus)
    known = set(System.objects.filter(corpus=found, name__in=systems).values_list("name", flat=True))
    if unknown := sorted(set(systems) - known):
        raise JudgeError(f"The corpus {found.name} has no system {', '.join(unknown)}.")
    split = split_for(found, part)
    return Selection(found, chosen, tuple(systems), include_self, samples, split, part)


def split_for(corpus: Corpus, part: str) -> Split | None:
    """Return the split that a part is of, the corpus's first; None where no part is named, or training is."""
    if not part:
        return None
    if part not in PARTS:
        raise JudgeError(f"There is no part {part!r}: parts are {', '.join(PARTS)}.")
    if part == TRAINING:
        if not corpus.has_training:
            raise JudgeError(f"No dialogue of {corpus.name} is in training.")
        return None
    split = corpus.splits.order_by("pk").first()
    if split is None:
        raise JudgeError(f"The corpus {corpus.name} has no split: draw one on its page.")
    return split


def part_choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the parts that a page offers of a corpus; none where it has neither a split nor training."""
    is_split, training = corpus.splits.exists(), corpus.has_training
    choices = [("", "dev and test")] if is_split else [("", "all but training")] if training else []
    if is_split:
        choices += [("dev", "dev only"), ("test", "test only")]
    return [*choices, (TRAINING, "training only")] if training else choices


def endpoint_named(name: str) -> Endpoint:
    """Return an active endpoint by its name, also one that the environment declares since."""
    sync_environment()
    found = Endpoint.objects.filter(name=name, active=True).first()
    if found is None:
        names = ", ".join(Endpoint.objects.filter(active=True).values_list("name", flat=True))
        raise JudgeError(f"There is no endpoint {name!r}; there are: {names or 'none yet'}.")
    return found


def corpus_named(name: str) -> Corpus:
    """Return a corpus by its name."""
    found = Corpus.objects.filter(name=name).first()
    if found is None:
        raise JudgeError(f"There is no corpus {name!r}.")
    return found


def _campaign(name: str) -> Campaign:
    found = Campaign.objects.select_related("corpus", "scheme_version__scheme").filter(name=name).first()
    if found is None:
        raise JudgeError(f"There is no campaign {name!r}.")
    return found
