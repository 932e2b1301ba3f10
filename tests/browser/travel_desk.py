"""A small corpus: ten questions at a travel desk, each with a reply and careful people's rating of it."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Corpus
from tests import factories


@dataclass(frozen=True, slots=True)
class Talk:
    """A question, its reply, the reply's helpfulness (1 to 5), and whether it talks down to the visitor."""

    asked: str
    reply: str
    helpful: int
    talks_down: int = 0


TALKS = {
    "d01": Talk("Which bus goes to the castle?", "Bus 4, from the square, every ten minutes.", 5),
    "d02": Talk("Is the museum open on Sundays?", "It is, from ten to five; the café until six.", 5),
    "d03": Talk("How do I get to the lake?", "There are buses. I do not know which.", 3),
    "d04": Talk("Can I pay by card on the ferry?", "Yes, at the gate; on board they take coins only.", 5),
    "d05": Talk("Is there a market tomorrow?", "There is one most days, I believe.", 3),
    "d06": Talk("Where can I leave my bags?", "At the station, behind platform 1, until ten at night.", 5),
    "d07": Talk("Is the old bridge closed?", "For cars, yes; you can walk over it at any time.", 5),
    "d08": Talk("When does the last tram leave?", "Around midnight, or somewhat later.", 4),
    "d09": Talk("Do I need a ticket for the garden?", "As everybody knows, you do. Four crowns.", 4, 1),
    "d10": Talk("Where is a good bakery?", "Bread is baked from flour and water.", 1),
}
BY_REPLY = {talk.reply: talk for talk in TALKS.values()}


def corpus(name: str) -> Corpus:
    """Create the corpus; its replies come from two systems alternately."""
    made = factories.corpus(name)
    people = [{"id": "A", "name": "Visitor"}, {"id": "B", "name": "Desk"}]
    for number, (key, talk) in enumerate(TALKS.items()):
        dialogue = factories.dialogue(made, key, turns=0, participants=people)
        factories.continuation(dialogue, "self", system="human", turns=[{"text": talk.asked}])
        system = ("harbour-7b", "meadow-2")[number % 2]
        turns = [{"text": talk.reply, "speaker": "B"}]
        factories.continuation(dialogue, "r", system=system, turns=turns)
    return made
