"""The corpus "Demo continuations": conversations that a model goes on with, and people's own next thirty
turns.

What is shown by a turn stands in braces in its text, so that the fake model's judges can find it and what is
reported can be checked against the truth. Everything is put together by rule from the phrases below.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Rater, Turn
from annotation.text.references import item_key
from annotation.work import labels
from demo.fake_model.errors import u
from demo.fake_model.role import planted_number, shows_planted
from demo.loading import label_lines
from demo.raters import BEHAVIOURS, RATERS, SimulatedAnswer, behaviours
from jobs.models import Endpoint, Run
from judges.runs import actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from suites.continuation.productions import actions as generating
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation

NAME = "Demo continuations"
DIALOGUES, HISTORY, LENGTH = 24, 12, 30
RATED = 12
"""Dialogues that simulated people rate: enough for a judge's counts to be corrected by theirs."""
PEOPLE = RATERS[:2]
SEED = 29
RATES: Mapping[str, float] = {
    "repetition": 2.0,
    "redundant_information": 1.5,
    "off_topic": 1.2,
    "under_answering": 1.5,
    "interruption": 1.0,
    "misunderstanding": 0.8,
    "persistent_disagreement": 0.8,
    "unclear_intent": 0.8,
    "factual_inaccuracy": 0.5,
    "logical_contradiction": 0.4,
}
"""Expected turns, of the thirty, in which people show a behaviour."""
OVERALL = {"consistency": 6, "collaborativeness": 6}
SPEAKERS = (
    ("A", "Amara", "chair"),
    ("B", "Bela", "treasurer"),
    ("C", "Chen", "keeps the rooms"),
    ("D", "Dolores", "new"),
)
MATTERS = (
    "the summer fair",
    "the broken heating",
    "the new opening hours",
    "the shared van",
    "the garden at the back",
    "the evening courses",
    "the price of the hall",
    "the noise after ten",
)
OPENINGS = (
    "About {matter}:",
    "As for {matter},",
    "When it comes to {matter},",
    "Before we leave {matter},",
    "On {matter} again:",
    "Speaking of {matter},",
)
POINTS = (
    "we have until the end of the month.",
    "somebody has to ring the landlord.",
    "I can do Tuesdays, and nobody else can.",
    "last year it cost us more than we had.",
    "the neighbours were promised an answer.",
    "I have written down what is missing.",
    "two of the keys are still with Dolores.",
    "let us vote, or we will be here till nine.",
    "I would rather try it for a month first.",
    "the list on the door is out of date.",
)


def dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: twelve turns, and people's own thirty after them."""
    for number in range(DIALOGUES):
        key = f"meeting-{number + 1:02}"
        matter = MATTERS[number % len(MATTERS)]
        turns = [_turn(key, matter, place) for place in range(HISTORY + LENGTH)]
        turns[-1]["text"] += "".join(f" {{{name} {_overall(key, name)}}}" for name in OVERALL)
        yield {
            "id": key,
            "language": "en",
            "summary": f"Four people who look after a community hall have begun to talk about {matter}.",
            "metadata": {"task_goal": f"agree what is to be done about {matter}"},
            "participants": [{"id": speaker, "name": name, "role": role} for speaker, name, role in SPEAKERS],
            "turns": turns[:HISTORY],
            "continuations": [{"id": "human", "system": "human", "turns": turns[HISTORY:]}],
        }


def lines() -> str:
    """Return the corpus in the native format."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues())


def behaviour_answers(texts: Mapping[str, list[str]]) -> Iterator[SimulatedAnswer]:
    """Yield simulated people's behaviour tags for the turns of continuations, by key."""
    for key, turns in texts.items():
        for place, text in enumerate(turns):
            planted = [name for name in BEHAVIOURS if shows_planted(text, name)]
            for rater in PEOPLE:
                for question, present in behaviours(rater, f"{key}/{place}", planted).items():
                    yield SimulatedAnswer(rater.name, key, place, question, int(present))


def overall_answers(texts: Mapping[str, list[str]]) -> Iterator[SimulatedAnswer]:
    """Yield the overall scores that simulated people give continuations, whose texts say the truth; by
    key."""
    for key, turns in texts.items():
        for name in OVERALL:
            quality = planted_number("\n".join(turns), name)
            for rater in PEOPLE if quality is not None else ():
                yield SimulatedAnswer(rater.name, key, None, name, rater.rates(key, name, quality or 5, 10))


def _turn(key: str, matter: str, place: int) -> dict[str, Any]:
    speaker = SPEAKERS[int(u(SEED, "speaker", key, place) * len(SPEAKERS))][0]
    opening = OPENINGS[int(u(SEED, "opening", key, place) * len(OPENINGS))].format(matter=matter)
    point = POINTS[int(u(SEED, "point", key, place) * len(POINTS))]
    planted = [name for name in BEHAVIOURS if u(SEED, name, key, place) < RATES[name] / LENGTH]
    marker = f" {{{' '.join(planted)}}}" if planted and place >= HISTORY else ""
    return {"speaker": speaker, "text": f"{opening} {point}{marker}"}


def _overall(key: str, name: str) -> int:
    return OVERALL[name] + int(u(SEED, name, key) * 3) - 1


# The chain of the demo: a model goes on with conversations, judges and people rate it, and it is counted.
#
# Everything that asks a model asks the fake one, through the same actions that pages, commands and the API
# use.

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
    runs = [_write(corpus, by, endpoint, prompting, each) for prompting, each in CONDITIONS]
    for run in runs:
        finish(run)
    if all(run.state == Run.State.DONE for run in runs):
        _rate(corpus, by)
    judged = [
        actions.start(by=by, plan=Judge(key, endpoint=endpoint).plan(), selection=Selection(corpus))
        for key in JUDGES
    ]
    for run in judged:
        finish(run)
    return [*runs, *judged]


def _corpus(by: User) -> Corpus:
    """Return the corpus, imported where it is missing; one that is there stays as it is."""
    if corpus := Corpus.objects.filter(name=NAME).first():
        return corpus
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "continuations.jsonl"
        path.write_text(lines(), encoding="utf-8")
        import_path(
            path=path,
            format="jsonl",
            corpus=NAME,
            into=False,
            by=by,
            source=SOURCE,
            licence=LICENCE,
        )
    return Corpus.objects.get(name=NAME)


def _write(corpus: Corpus, by: User, endpoint: Endpoint, prompting: str, each: int) -> Run:
    settings = {"prompting": prompting, "turns_per_call": each}
    generation = Generation("cocoeval_continuation", endpoint, settings)
    return generating.start(by=by, generation=generation, dialogues=Dialogues(corpus))


def _rate(corpus: Corpus, by: User) -> None:
    """Let simulated people rate what is written for some of the dialogues."""
    for rater in RATERS:
        labels.imported_rater(corpus=corpus, kind=Rater.Kind.HUMAN, name=rater.name, simulated=True)
    texts = _texts(corpus)
    answers = {
        "cocoeval_behaviours": behaviour_answers(texts),
        "cocoeval_overall": overall_answers(texts),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simulated-ratings.jsonl"
        path.write_text("".join(label_lines(answers)), encoding="utf-8")
        import_path(path=path, format="jsonl", corpus=corpus.name, into=True, by=by)


def _texts(corpus: Corpus) -> dict[str, list[str]]:
    """Return the turns of all continuations of the dialogues that people rate, by key."""
    some = corpus.dialogues.order_by("key").values_list("pk", flat=True)[:RATED]
    rows = Turn.objects.filter(continuation__dialogue__in=list(some)).exclude(continuation__key="self")
    texts: dict[str, list[str]] = defaultdict(list)
    turns = rows.order_by("continuation__dialogue__key", "continuation__key", "position")
    for dialogue, continuation, text in turns.values_list(
        "continuation__dialogue__key", "continuation__key", "text"
    ):
        texts[item_key(dialogue, continuation, None)].append(text)
    return dict(texts)
