"""Look-up of corpora, campaigns and endpoints by name, availability of metrics, and driving of runs."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import BooleanField, F, Func
from tqdm import tqdm

from annotation.corpora import exclusion, splits
from annotation.corpora.splits import TRAINING
from annotation.errors import ExclusionRefused
from annotation.kinds import KINDS
from annotation.models import Campaign, Continuation, Rater, Split, System
from annotation.models.corpora import Corpus
from annotation.records import SELF
from jobs.calls import claims
from jobs.calls.batch_actions import batch_note
from jobs.calls.queue import work_slice as work
from jobs.endpoints.endpoint_actions import key_note, sync_environment
from jobs.endpoints.ownership import usable_by
from jobs.models import Call, Endpoint, Run
from jobs.progress import progress
from jobs.queue.worker import Heartbeat
from jobs.runs import ACTIVE
from judges.errors import JudgeError
from judges.metrics import DEFAULT_MODEL, METRICS, Metric, aspects
from judges.metrics.kit.metric import ALWAYS_MET, NEEDS
from judges.metrics.kit.models import is_made_for, languages_of
from judges.models import CallLabel
from judges.runs.selection import Selection

# Needs of each metric, and whether a corpus (and this machine) meets them, checked before a run.

_HAS_PROFILE = Func(
    F("participants"),
    function="jsonb_path_exists",
    template="%(function)s(%(expressions)s, '$[*].profile[*]')",
    output_field=BooleanField(),
)
_MODELS = frozenset({"embeddings", "language_model"})


@dataclass(frozen=True, slots=True)
class Availability:
    """Availability of a metric for a corpus: `needs` in words, `obstacle` the reason why it gives no value
    there, `warning` a reason to doubt the values; both '' if there is none."""

    metric: Metric
    needs: tuple[str, ...]
    obstacle: str = ""
    warning: str = ""

    @property
    def group(self) -> str:
        """Heading under which it is listed: kind of item, then aspect."""
        return f"{KINDS[self.metric.kind].heading}: {self.metric.aspect.heading.lower()}"

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key in lists: turns before conversations, aspects in the papers' order."""
        return list(KINDS).index(self.metric.kind), aspects().index(self.metric.aspect)


def availability(corpus: Corpus) -> dict[str, Availability]:
    """Return the availability of every metric for a corpus, by key; takes a handful of queries."""
    look = cache(lambda need: _LACKS[need](corpus))
    warning = language_warning(corpus)
    return {key: _of(metric, look, warning) for key, metric in METRICS.items()}


def language_warning(corpus: Corpus) -> str:
    """Return a warning about languages of a corpus that the embedding model does not support, '' if none."""
    model = settings.EMBEDDING_MODEL or DEFAULT_MODEL
    spoken = corpus.dialogues.exclude(language="").values_list("language", flat=True).distinct()
    foreign = sorted(language for language in spoken if not is_made_for(model, language))
    if not foreign:
        return ""
    made_for, spoken_here = ", ".join(sorted(languages_of(model))), ", ".join(foreign[:8])
    return (
        f"The embedding model {model} is made for {made_for}; dialogues here are in {spoken_here}. "
        "Name another model in CONCORD_EMBEDDING_MODEL."
    )


def has_model(rater: Rater) -> bool:
    """Whether a rater is a metric that loads a model before its first value; an endpoint needs none."""
    metric = METRICS.get(rater.spec.get("metric", ""))
    return metric is not None and bool(metric.needs & _MODELS) and "address" not in rater.spec


def _of(metric: Metric, look: Callable[[str], str], warning: str) -> Availability:
    needs = tuple(NEEDS[need] for need in NEEDS if need in metric.needs and need not in ALWAYS_MET)
    obstacles = [look(need) for need in NEEDS if need in metric.needs and need in _LACKS]
    if "language_model" in metric.needs:
        obstacles.append(_absent_model(metric))
    return Availability(
        metric,
        needs,
        next(filter(None, obstacles), ""),
        warning if "embeddings" in metric.needs else "",
    )


def _no_agenda(corpus: Corpus) -> str:
    return "" if corpus.dialogues.filter(agenda__isnull=False).exists() else "no dialogue here has an agenda"


def _no_profile(corpus: Corpus) -> str:
    return "" if corpus.dialogues.filter(_HAS_PROFILE).exists() else "no participant here has a profile"


def _no_reference(corpus: Corpus) -> str:
    static = Continuation.objects.filter(dialogue__corpus=corpus, mode=Continuation.Mode.STATIC)
    if static.exclude(key=SELF).exists():
        return ""
    return "no response here has a reference (name one with against=ID)"


_LACKS: dict[str, Callable[[Corpus], str]] = {
    "agenda": _no_agenda,
    "profile": _no_profile,
    "reference": _no_reference,
}


def _absent_model(metric: Metric) -> str:
    """Return a message about a hub model that a metric needs but this machine lacks."""
    parameter = metric.all_parameters().get("model")
    name = str(parameter.default) if parameter else ""
    if not name or _is_here(name):
        return ""
    otherwise = ": choose an endpoint for it" if metric.likelihood else ""
    return f"the model {name} is not on this machine{otherwise}"


@cache
def _is_here(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return Path(name).is_dir() or isinstance(try_to_load_from_cache(name, "config.json"), str)


# Look-up of corpora, campaigns and endpoints by name, for commands, pages and the API.

# Driving runs from a command: do the work here, show a progress bar, and print a summary at the end.

SLICE = 60.0
_PAUSE = 0.5

NOTHING_FAILED = "--retry-failed: nothing has failed or was cancelled"


class Drive:
    """Drives runs to their end; Ctrl-C and SIGTERM leave them resumable.

    Obstacles are printed to stderr, once: workers without the run's key, a batch that the endpoint refuses.
    """

    def __init__(self, runs: Sequence[Run], *, wait: bool = False, bar_to: TextIO | None = None) -> None:
        self.runs, self.wait, self.bar_to = runs, wait, bar_to
        self.ids = [run.pk for run in runs]
        self._stop = threading.Event()
        self._notes: dict[int, list[str]] = {}

    def to_the_end(self) -> bool:
        """Work (or, with `wait`, only watch the workers) until no run is active; False if interrupted."""
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
        with ExitStack() as stack:
            queues = sorted({run.queue for run in self.runs})
            heartbeats = {queue: stack.enter_context(Heartbeat(queue)) for queue in queues}
            while not self._stop.is_set() and self._active():
                finished = 0
                for queue, heartbeat in heartbeats.items():
                    counts = work(
                        queue, seconds=SLICE, heartbeat=heartbeat, stopping=self._stop.is_set, only=self.ids
                    )
                    finished += counts.done + counts.failed
                if not finished:
                    # The remaining calls wait for their time, or are held by another worker.
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
                self._report_waiting()
            bar.update(finished.count() - bar.n)
        connection.close()

    def _report_waiting(self) -> None:
        for run in Run.objects.filter(pk__in=self.ids, state__in=ACTIVE).select_related("endpoint"):
            notes = [note for note in (key_note(run), batch_note(run)) if note]
            for note in notes:
                if note not in self._notes.get(run.pk, ()):
                    tqdm.write(f"run {run.pk}: {note}", file=sys.stderr)
            self._notes[run.pk] = notes


def summary(run: Run) -> dict[str, Any]:
    """Summarise a finished run as plain data."""
    run.refresh_from_db()
    state = progress(run).as_json()
    labels = CallLabel.objects.filter(call__run=run, label__superseded_at=None)
    counts = {"labels": labels.count(), "missing": labels.exclude(label__missing="").count()}
    names: tuple[str, ...] = (
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
    names += ("asked", "sent", "lost", "cached", "failures", "pause_reason")
    rest = {name: state[name] for name in ("cost", "seconds", "error", "missing_reason")}
    return {"run": run.pk, "rater": run.name, **{name: state[name] for name in names}, **counts, **rest}


PARTS = ("dev", "test", TRAINING)


def selection_of(
    *,
    corpus: str = "",
    campaign: str = "",
    systems: Sequence[str] = (),
    include_self: bool = False,
    samples: int = 1,
    part: str = "",
    exclude: str = "",
) -> Selection:
    """Return the selection for names: exactly one of corpus and campaign, and systems of it.

    `part` is dev or test of the corpus's split, training, or empty for everything except training; `exclude`
    is an exclusion of dialogues, such as `objection>=1`.
    """
    if bool(corpus) == bool(campaign):
        raise JudgeError("Name either a corpus or a campaign.")
    campaign_row = _campaign(campaign) if campaign else None
    corpus_row = campaign_row.corpus if campaign_row else corpus_named(corpus)
    existing = set(System.objects.filter(corpus=corpus_row, name__in=systems).values_list("name", flat=True))
    if unknown := sorted(set(systems) - existing):
        raise JudgeError(f"The corpus {corpus_row.name} has no system {', '.join(unknown)}.")
    split, exclude = split_for(corpus_row, part), exclusion_for(corpus_row, exclude)
    return Selection(corpus_row, campaign_row, tuple(systems), include_self, samples, split, part, exclude)


def exclusion_for(corpus: Corpus, text: str) -> str:
    """Return an exclusion of a corpus's dialogues, '' for none; raise JudgeError for an invalid one."""
    try:
        return exclusion.check(corpus, text)
    except ExclusionRefused as error:
        refusal = str(error)
        raise JudgeError(f"{refusal[0].upper()}{refusal[1:]}.") from None


def split_for(corpus: Corpus, part: str) -> Split | None:
    """Return the split of a part, the corpus's first; None without a part, or for training."""
    if not part:
        return None
    if part not in PARTS:
        raise JudgeError(f"There is no part {part!r}: parts are {', '.join(PARTS)}.")
    if part == TRAINING:
        if not corpus.has_training:
            raise JudgeError(f"No dialogue of {corpus.name} is in training.")
        return None
    split = splits.lock_of(corpus)
    if split is None:
        raise JudgeError(f"The corpus {corpus.name} has no split: draw one on its page.")
    return split


def part_choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the parts of a corpus as choices for a form; none if it has neither a split nor training."""
    is_split, training = splits.lock_of(corpus) is not None, corpus.has_training
    choices = [("", "dev and test")] if is_split else [("", "all but training")] if training else []
    if is_split:
        choices += [("dev", "dev only"), ("test", "test only")]
    return [*choices, (TRAINING, "training only")] if training else choices


def endpoint_named(name: str, person: User | None = None) -> Endpoint:
    """Return an active endpoint that a person may use (any for a command without an account) by its name."""
    sync_environment()
    endpoints = usable_by(person)
    endpoint = endpoints.filter(name=name).first()
    if endpoint is None:
        names = ", ".join(endpoints.values_list("name", flat=True))
        raise JudgeError(f"There is no endpoint {name!r}; there are: {names or 'none yet'}.")
    return endpoint


def corpus_named(name: str) -> Corpus:
    """Return a corpus by its name."""
    corpus = Corpus.objects.filter(name=name).first()
    if corpus is None:
        raise JudgeError(f"There is no corpus {name!r}.")
    return corpus


def _campaign(name: str) -> Campaign:
    campaign = Campaign.objects.select_related("corpus", "scheme_version__scheme").filter(name=name).first()
    if campaign is None:
        raise JudgeError(f"There is no campaign {name!r}.")
    return campaign
