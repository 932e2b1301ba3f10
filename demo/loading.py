"""Loading the demo, step by step: corpora, simulated ratings, campaigns, a judge. Each may be repeated."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User

from annotation.campaigns import actions as campaigns
from annotation.corpora import splits
from annotation.importing.engine import import_path
from annotation.importing.staging import ImportResult
from annotation.labels import raters
from annotation.models import Campaign, Corpus, Import, Rater
from annotation.text.item_keys import parse_item_key
from calibration.models import Report
from calibration.studies import actions as studies
from demo import accounts, build, marked
from demo import raters as simulate
from demo import raters as truth
from demo.raters import RATERS, SimulatedAnswer
from jobs import runs
from jobs.calls.queue import work_slice as work
from jobs.models import Run
from jobs.queue.worker import Heart
from judges.runs import actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection

SOURCE = "Written for Concord's demo; ratings by simulated raters"
LICENCE = "GPL-3.0-or-later"

Answers = Callable[[truth.Truth], Iterator[SimulatedAnswer]]


@dataclass(frozen=True, slots=True)
class DemoCorpus:
    """A corpus of the demo, with the simulated answers to each scheme."""

    name: str
    file: str
    answers: Mapping[str, Answers]


@dataclass(frozen=True, slots=True)
class DemoCampaign:
    """A campaign of the demo."""

    name: str
    corpus: str
    scheme: str


CORPORA = (
    DemoCorpus(
        "Demo meetings",
        "meetings",
        {"cocoeval_behaviours": simulate.behaviour_answers, "cocoeval_overall": simulate.overall_answers},
    ),
    DemoCorpus(accounts.CORPUS, "judges", {"comperdial_turn": marked.answers}),
    DemoCorpus(
        "Demo personas",
        "personas",
        {"comperdial_turn": simulate.reply_answers, "comperdial_dialogue": simulate.dialogue_answers},
    ),
)
CAMPAIGNS = (
    DemoCampaign("Demo: all replies together", "Demo personas", "comperdial_dialogue"),
    DemoCampaign("Demo: single replies", "Demo personas", "comperdial_turn"),
    DemoCampaign("Demo: meetings as a whole", "Demo meetings", "cocoeval_overall"),
    DemoCampaign("Demo: behaviours in meetings", "Demo meetings", "cocoeval_behaviours"),
)
"""In the order of their making: lists show the latest first."""

RATERS_PER_ITEM = 2
JUDGE = "rules_baseline"
PATIENCE = 20.0
"""Seconds of waiting for the judge; workers do what is then left."""


def is_of_another_release(corpus: DemoCorpus) -> bool:
    """Whether the corpus was loaded from a file with other content: people may have rated that one."""
    loaded = Import.objects.filter(corpus__name=corpus.name, corpus__source=SOURCE)
    digest = hashlib.sha256((build.CORPORA / f"{corpus.file}.jsonl").read_bytes()).hexdigest()
    return loaded.exists() and not loaded.filter(content_hash=digest).exists()


def dialogues(corpus: DemoCorpus, *, by: User) -> ImportResult:
    """Import the dialogues of a demo corpus."""
    return import_path(
        path=build.CORPORA / f"{corpus.file}.jsonl",
        format="jsonl",
        corpus=corpus.name,
        into=False,
        by=by,
        source=SOURCE,
        licence=LICENCE,
    )


def ratings(corpus: DemoCorpus, *, by: User) -> ImportResult:
    """Import what the simulated raters say about a demo corpus, in which they are known as simulated."""
    known = Corpus.objects.get(name=corpus.name)
    for rater in RATERS:
        raters.imported(corpus=known, kind=Rater.Kind.HUMAN, name=rater.name, simulated=True)
    planted = truth.load()
    by_scheme = {scheme: answers(planted) for scheme, answers in corpus.answers.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simulated-ratings.jsonl"
        path.write_text("".join(label_lines(by_scheme)), encoding="utf-8")
        return import_path(path=path, format="jsonl", corpus=corpus.name, into=True, by=by)


def label_lines(by_scheme: Mapping[str, Iterable[SimulatedAnswer]]) -> Iterator[str]:
    """Yield one line in the native format for each dialogue, with its labels alone."""
    labels: dict[str, list[dict[str, object]]] = defaultdict(list)
    for scheme, answers in by_scheme.items():
        for answer in answers:
            dialogue, continuation, _ = parse_item_key(answer.continuation)
            label = {
                "rater": answer.rater,
                "continuation": continuation,
                "turn": answer.turn,
                "scheme": scheme,
            }
            labels[dialogue].append({**label, "question": answer.question, "value": answer.value})
    for dialogue, given in labels.items():
        yield json.dumps({"id": dialogue, "labels": given}) + "\n"


def campaign(
    demo: DemoCampaign, *, by: User, annotators: Iterable[User], raters_per_item: int = RATERS_PER_ITEM
) -> Campaign:
    """Return a demo campaign, made and opened where it is missing; one that is there stays as it is."""
    found = Campaign.objects.filter(name=demo.name).first()
    if found:
        return found
    made = campaigns.create(
        by=by,
        name=demo.name,
        corpus=Corpus.objects.get(name=demo.corpus),
        scheme=demo.scheme,
        raters_per_item=raters_per_item,
        annotators=annotators,
    )
    campaigns.open(by=by, campaign=made)
    return made


def judge(*, by: User) -> Run:
    """Run the judge that needs no model over the meetings; one that ran before is not run again.

    Where somebody has drawn a split meanwhile, it runs over dev alone: opening test is theirs.

    The work is done here, so that the first report has a judge in it also where no worker is running; where
    one is, the two share it, and this waits for its part.
    """
    corpus = Corpus.objects.get(name=CORPORA[0].name)
    ran = Run.objects.filter(corpus=corpus, rater__spec__protocol=JUDGE, state=Run.State.DONE).first()
    if ran is not None:
        return ran
    split = splits.lock_of(corpus)
    selection = Selection(corpus, split=split, part="dev") if split else Selection(corpus)
    run = actions.start(by=by, plan=Judge(JUDGE).plan(), selection=selection)
    finish(run)
    return run


def finish(run: Run) -> None:
    """Bring a run to its end here, beside whatever workers there are; what takes too long is left to them."""
    until = time.monotonic() + PATIENCE
    with Heart(run.queue) as heart:
        while run.state in runs.ACTIVE and time.monotonic() < until:
            work(run.queue, seconds=PATIENCE, heart=heart, only=[run.pk])
            time.sleep(0.1)
            run.refresh_from_db()


def fake_judges(url: str, *, by: User) -> list[Run]:
    """Run the judges that ask the fake model at a base URL, and wait for them as for the other judge."""
    found = accounts.runs(url, by=by)
    for run in found:
        finish(run)
    return found


def report(corpus: str, *, by: User) -> Report:
    """Compute the calibration report of a demo corpus; the one that is there where nothing has changed."""
    study = studies.automatic(corpus=Corpus.objects.get(name=corpus))
    return studies.compute(study=study, part=studies.default_part(study), by=by)
