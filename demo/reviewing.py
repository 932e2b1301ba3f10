"""The loop of the demo: a judge rates every reply, simulated people a part drawn by what it said.

Both systems write replies of the same planted quality; one of them talks on afterwards. The fake model likes
length and is a little kind, so that it sees a difference between the systems that is not there. People's
ratings of the drawn replies correct it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Campaign, Corpus
from annotation.work import labels
from annotation.work.leases import Hold
from annotation.work.screens import Screen
from demo import loading
from demo.build import CHAT, PLACES, REPLIES
from demo.fake_model.errors import u
from demo.fake_model.role import QUALITY, planted_number
from demo.raters import SimulatedRater
from demo.study import PEOPLE, last_line, spread_times, work_through
from jobs.models import Endpoint, Run
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection

NAME = "Judged replies (demo)"
SOURCE = "Put together by rule for Concord's demo; everybody who rates it is simulated"
CAMPAIGN = "Demo: review what the judge said"
DIALOGUES = 150
SEED = 23
QUESTION = "overall"
STRATA = [
    {"rule": "at_most", "limit": 2, "share": 0.6},
    {"rule": "rest", "share": 0.25},
]
"""Of the replies with a low score more than half is reviewed, of the others a quarter."""
BRIEF, TALKATIVE = "toy-brief", "toy-talkative"
"""The systems. What the talkative one adds is longer, and no better."""


def dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: a visitor's question, and a reply by each system."""
    questions = tuple(REPLIES)
    for number in range(DIALOGUES):
        key = f"visit-{number + 1:03}"
        place = PLACES[int(u(SEED, "place", key) * len(PLACES))]
        question = questions[int(u(SEED, "question", key) * len(questions))]
        yield {
            "id": key,
            "language": "en",
            "participants": [
                {"id": "A", "name": "Ada", "role": "visitor"},
                {"id": "B", "name": "Bo", "role": "at the desk"},
            ],
            "turns": [{"speaker": "A", "text": question.format(place=place), "given": True}],
            "continuations": [_continuation(system, key, question, place) for system in (BRIEF, TALKATIVE)],
        }


def lines() -> str:
    """Return the corpus in the native format."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues())


def planted_means() -> dict[str, float]:
    """Return the mean planted quality of each system's replies, from 1 to 5."""
    qualities: dict[str, list[float]] = {BRIEF: [], TALKATIVE: []}
    for dialogue in dialogues():
        for continuation in dialogue["continuations"]:
            quality = planted_number(continuation["turns"][0]["text"], QUALITY)
            assert quality is not None
            qualities[continuation["system"]].append(quality)
    return {system: sum(values) / len(values) for system, values in qualities.items()}


def _continuation(system: str, key: str, question: str, place: str) -> dict[str, Any]:
    quality = 1 + int(u(SEED, "quality", system, key) * 5)
    text = REPLIES[question][quality - 1].format(place=place)
    if system == TALKATIVE:
        text = " ".join([text, *CHAT])
    turn = {"at": 1, "speaker": "B", "text": f"{text} {{quality {quality}}}"}
    return {"id": system, "system": system, "mode": "static", "turns": [turn]}


def load(*, by: User, endpoint: Endpoint, visitors: Sequence[User], finish: Callable[[Run], None]) -> Run:
    """Load missing parts and return the judge's run; people review once it is done, and a report follows.

    Workers finish a run that was not finished in time, and the next start continues.
    """
    corpus = loading.corpus_of_lines(NAME, lines, file="judged-replies.jsonl", source=SOURCE, by=by)
    plan = Judge("cpdscore_simple", endpoint=endpoint).plan()
    run = run_actions.start(by=by, plan=plan, selection=Selection(corpus))
    finish(run)
    is_reviewed = Campaign.objects.filter(name=CAMPAIGN).exists()
    if run.state == Run.State.DONE and not is_reviewed:
        _review(corpus, run.name, by=by, visitors=visitors)
    if run.state == Run.State.DONE:
        loading.report(NAME, by=by)
    return run


def _review(corpus: Corpus, judge: str, *, by: User, visitors: Sequence[User]) -> None:
    """Open the review queue; all simulated people rate it, and each task has a place for a visitor."""
    people = {name: loading.simulated(name) for name in PEOPLE}
    for person in people.values():
        labels.rater_of_person(user=person, simulated=True)
    campaign = campaigns.create(
        by=by,
        name=CAMPAIGN,
        corpus=corpus,
        scheme="comperdial_turn",
        raters_per_item=len(people) + 1,
        annotators=[*visitors, *people.values()],
        review={"judges": [judge], "question": QUESTION, "strata": STRATA},
    )
    campaigns.open(by=by, campaign=campaign)
    for name, rater in PEOPLE.items():
        work_through(people[name], campaign, _answers(rater))
    spread_times(campaign)


def _answers(rater: SimulatedRater) -> Callable[[Hold, Screen], dict[str, Any]]:
    def answer(_hold: Hold, screen: Screen) -> dict[str, Any]:
        text = last_line(screen.parts)
        quality = planted_number(text, QUALITY)
        assert quality is not None
        return {QUESTION: rater.rates(text, QUESTION, quality)}

    return answer
