"""The chain of the demo: a model goes on with conversations, judges and people rate it, and it is counted.

Everything that asks a model asks the fake one, through the same actions that pages, commands and the API use.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import User

from annotation.importing import import_path
from annotation.labels import raters
from annotation.models import Corpus, Rater, Turn
from annotation.text.item_keys import item_key
from demo import continued
from demo.loading import label_lines
from demo.raters import RATERS
from jobs.models import Endpoint, Run
from judges.rating import actions as rating
from judges.rating.plans import Judge
from judges.rating.selection import Selection
from systems.producing import actions as generating
from systems.producing.dialogues import Dialogues
from systems.producing.plans import Generation

CONDITIONS = (("vanilla", 30), ("taxonomy", 5))
"""The two promptings, and how many turns a call writes."""
JUDGES = ("cocoeval_behaviours", "cocoeval_overall")
SOURCE = "Put together by rule for Concord's demo; what systems wrote is by a fake model"
LICENCE = "GPL-3.0-or-later"
Finish = Callable[[Run], None]


def load(*, by: User, endpoint: Endpoint, finish: Finish) -> list[Run]:
    """Load what is missing of the chain and return its runs; `finish` brings one to its end.

    People rate once everything is written; where a run was not finished in time, workers do what is left, and
    the next start goes on.
    """
    corpus = _corpus(by)
    written = [_write(corpus, by, endpoint, prompting, each) for prompting, each in CONDITIONS]
    for run in written:
        finish(run)
    if all(run.state == Run.State.DONE for run in written):
        _rate(corpus, by)
    judged = [
        rating.start(by=by, plan=Judge(key, endpoint=endpoint).plan(), selection=Selection(corpus))
        for key in JUDGES
    ]
    for run in judged:
        finish(run)
    return [*written, *judged]


def _corpus(by: User) -> Corpus:
    """Return the corpus, imported where it is missing; one that is there stays as it is."""
    if found := Corpus.objects.filter(name=continued.NAME).first():
        return found
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "continuations.jsonl"
        path.write_text(continued.lines(), encoding="utf-8")
        import_path(
            path=path,
            format="jsonl",
            corpus=continued.NAME,
            into=False,
            by=by,
            source=SOURCE,
            licence=LICENCE,
        )
    return Corpus.objects.get(name=continued.NAME)


def _write(corpus: Corpus, by: User, endpoint: Endpoint, prompting: str, each: int) -> Run:
    settings = {"prompting": prompting, "turns_per_call": each}
    generation = Generation("cocoeval_continuation", endpoint, settings)
    return generating.start(by=by, generation=generation, dialogues=Dialogues(corpus))


def _rate(corpus: Corpus, by: User) -> None:
    """Let simulated people rate what is written for some of the dialogues."""
    for rater in RATERS:
        raters.imported(corpus=corpus, kind=Rater.Kind.HUMAN, name=rater.name, simulated=True)
    texts = _texts(corpus)
    answers = {
        "cocoeval_behaviours": continued.behaviour_answers(texts),
        "cocoeval_overall": continued.overall_answers(texts),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simulated-ratings.jsonl"
        path.write_text("".join(label_lines(answers)), encoding="utf-8")
        import_path(path=path, format="jsonl", corpus=corpus.name, into=True, by=by)


def _texts(corpus: Corpus) -> dict[str, list[str]]:
    """Return the turns of all continuations of the dialogues that people rate, by key."""
    some = corpus.dialogues.order_by("key").values_list("pk", flat=True)[: continued.RATED]
    rows = Turn.objects.filter(continuation__dialogue__in=list(some)).exclude(continuation__key="self")
    found: dict[str, list[str]] = defaultdict(list)
    told = rows.order_by("continuation__dialogue__key", "continuation__key", "position")
    for dialogue, continuation, text in told.values_list(
        "continuation__dialogue__key", "continuation__key", "text"
    ):
        found[item_key(dialogue, continuation, None)].append(text)
    return dict(found)
