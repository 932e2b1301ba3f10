"""Build the demo corpora and their planted truth from the written sources: `python -m demo.build`.

`demo/sources/` holds one readable file per dialogue or family of scenarios; `demo/corpora/` holds the files
to import. Both are kept in the repository, and a test checks that the sources still give the corpora.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.text.references import item_key
from demo import scenarios, series
from demo.fake_model.errors import u
from demo.fake_model.role import QUALITY, planted_number
from demo.raters import RATERS, SimulatedAnswer, Truth

# The corpus "Demo desk": visitors' questions, each with replies by two toy systems.
#
# Each reply has its true helpfulness, from 1 to 5; the simulated raters perceive it with errors.

NAME = "Demo desk"
FILE = "desk"
DESK_SYSTEMS = ("toy-clerk", "toy-poet")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, how helpful it is (1 to 5), and whether it talks down to the visitor."""

    text: str
    helpful: int
    talks_down: bool = False


TALKS: dict[str, tuple[Reply, Reply]] = {
    "Which bus goes to the castle?": (
        Reply("Bus 4, from the square, every ten minutes.", 5),
        Reply("The one that climbs the hill and comes back empty.", 2),
    ),
    "Is the museum open on Sundays?": (
        Reply("Yes, from ten to five; the café stays open until six.", 5),
        Reply("It sleeps on Mondays, so on Sundays it must be awake.", 3),
    ),
    "How do I get to the lake?": (
        Reply("There are buses. I do not know which.", 2),
        Reply("Follow the stream behind the station; after half an hour you are there.", 5),
    ),
    "Can I pay by card on the ferry?": (
        Reply("Yes, at the gate; on board they take coins only.", 5),
        Reply("Water takes no cards.", 1, talks_down=True),
    ),
    "Is there a market tomorrow?": (
        Reply("There is one most days, I believe.", 3),
        Reply("Tomorrow, yes: cheese on the left, flowers on the right, from seven on.", 5),
    ),
    "Where can I leave my bags?": (
        Reply("At the station, behind platform 1, until ten at night.", 5),
        Reply("Where you no longer need them.", 1),
    ),
    "Which hill has the best view?": (
        Reply("Many people like the north one.", 3),
        Reply("The north one at dusk: the river is below you, and the last bus leaves at nine.", 5),
    ),
    "Is the old bridge closed?": (
        Reply("For cars, yes; you can walk over it at any time.", 5),
        Reply("It has been closing for a hundred years.", 2),
    ),
    "When does the last tram leave?": (
        Reply("Around midnight, or somewhat later.", 3),
        Reply("When the lamps go out, which is at half past twelve.", 4),
    ),
    "Do I need a ticket for the garden?": (
        Reply("As everybody knows, you do. Four crowns.", 4, talks_down=True),
        Reply("The roses ask for four crowns; children pay nothing.", 5),
    ),
    "Where is a good bakery?": (
        Reply("Bread is baked from flour and water.", 1, talks_down=True),
        Reply("In Mill Lane, the door with the blue bell.", 5),
    ),
    "How long does the tour take?": (
        Reply("Two hours, with a break of ten minutes.", 5),
        Reply("Longer than it seems, and then it is over.", 1),
    ),
}
BY_TEXT = {reply.text: reply for pair in TALKS.values() for reply in pair}


def desk_dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: a question, and each system's reply to it."""
    for number, (question, replies) in enumerate(TALKS.items(), start=1):
        yield {
            "id": f"desk{number:02}",
            "language": "en",
            "participants": [
                {"id": "A", "name": "Ada", "role": "visitor"},
                {"id": "B", "name": "Bo", "role": "at the desk"},
            ],
            "turns": [{"speaker": "A", "text": question}],
            "continuations": [
                {"id": system, "system": system, "turns": [{"speaker": "B", "text": reply.text}]}
                for system, reply in zip(DESK_SYSTEMS, replies, strict=True)
            ],
        }


def desk_lines() -> str:
    """Return the corpus file's content."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in desk_dialogues())


SCHEME: dict[str, Any] = {
    "scheme": "demo_help",
    "title": "Help at the desk",
    "item_kind": "turn",
    "unit": "item",
    "introduction": "Read the reply to the visitor’s question.",
    "guidelines": "# Help at the desk\n\nRate what the visitor **learns**, not how nicely it is said.\n\n"
    "* *5*: nothing is left to ask.\n* *1*: the visitor knows no more than before.",
    "questions": [
        {
            "key": "helpful",
            "wording": "How helpful is the reply?",
            "level": "ordinal",
            "values": [1, 2, 3, 4, 5],
            "anchors": {1: "no help at all", 5: "all the visitor needs"},
            "help": {"definition": "How much of what was asked the visitor knows afterwards."},
        },
        {
            "key": "talks_down",
            "wording": "Talks down",
            "level": "binary",
            "group": "Tone",
            "evidence": "spans",
            "evidence_required": False,
            "help": {"definition": "It lets the visitor feel that the question was silly."},
        },
        {
            "key": "missing",
            "wording": "What is missing?",
            "level": "text",
            "required": False,
            "show_if": {"question": "helpful", "in": [1, 2]},
        },
    ],
}
"""Questions of the demo's study."""


# The corpus "Judge playground (demo)": single replies with their quality in braces.
#
# A visitor without a key can run a judge on it, see where it disagrees with the simulated raters, and compare
# two prompts. All texts are generated by rule from the phrases below.

PATH = Path(__file__).parent / "corpora" / "judges.jsonl"
DIALOGUES = 100
SEED = 11
MARKED_SYSTEMS = ("toy-short", "toy-chatty")
PLACES = (
    "library",
    "town hall",
    "swimming pool",
    "night market",
    "botanical garden",
    "old harbour",
    "museum",
    "post office",
)
REPLIES: dict[str, tuple[str, ...]] = {
    "How do I get to the {place} from here?": (
        "Green the two bananas.",
        "I never walk.",
        "It is not far, I believe.",
        "Take the green line for two stops and ask again there.",
        "Take the green line for two stops; the {place} is the brick house on your left as you come out.",
    ),
    "When does the {place} open on Sundays?": (
        "Sunday is open when.",
        "There are many {place}s in the world.",
        "In the morning, as most places do.",
        "At ten, if nothing has changed since last year.",
        "At ten, and until one there is hardly anybody in the {place}; the sign at the door says the same.",
    ),
    "Is the {place} worth a visit with small children?": (
        "Children visit small.",
        "I do not like questions.",
        "It depends on the children.",
        "Yes, mine liked the {place}; bring something to eat.",
        "Yes: there is a corner for them on the ground floor, and mine asked for the {place} again next day.",
    ),
    "Could we meet at the {place} at six?": (
        "Six could we.",
        "My cousin has a boat.",
        "Maybe, we will see.",
        "Six is fine, though I may be a little late.",
        "Six is perfect; let us meet at the side door of the {place}: the main one closes at half past five.",
    ),
    "What did you like best about the {place}?": (
        "Best the like.",
        "I had soup.",
        "It was nice enough.",
        "The old part of the {place}, where it is quiet.",
        "The room with the maps: somebody who has been at the {place} for forty years explained them all.",
    ),
}
"""Question to its replies, from worst to best."""
CHAT = (
    "By the way, the weather has been lovely all week, and I hear that it is going to stay like this.",
    "I always say that one should take one's time with such things, because hurry has never helped anybody.",
    "That reminds me of a story which my neighbour told me the other day, but it would lead us too far now.",
)
"""Additions of the chatty system to every second reply: longer, but no better."""


def marked_dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: a question, a human reply, and each system's reply."""
    for number in range(DIALOGUES):
        key = f"q{number + 1:03}"
        place = _one_of(PLACES, "place", key)
        question = _one_of(tuple(REPLIES), "question", key)
        question_text, best = question.format(place=place), REPLIES[question][-1].format(place=place)
        people = [
            {"id": "A", "name": "Ada", "role": "visitor"},
            {"id": "B", "name": "Bo", "role": "at the desk"},
        ]
        yield {
            "id": key,
            "language": "en",
            "metadata": {"goal": f"an answer about the {place}"},
            "participants": people,
            "turns": [
                {"speaker": "A", "text": question_text},
                {"speaker": "B", "text": best},
            ],
            "continuations": [
                _continuation_of_marked(system, key, question, place) for system in MARKED_SYSTEMS
            ],
        }


def marked_lines() -> str:
    """Return the corpus file's content."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in marked_dialogues())


def answers(_planted: Truth) -> Iterator[SimulatedAnswer]:
    """Yield the simulated raters' scores from 1 to 5 of each reply; the truth is in its text."""
    for dialogue in marked_dialogues():
        for continuation in dialogue["continuations"]:
            key = f"{dialogue['id']}/{continuation['id']}"
            quality = planted_number(continuation["turns"][0]["text"], QUALITY)
            assert quality is not None
            for rater in RATERS:
                yield SimulatedAnswer(
                    rater.name, key, 0, "overall", rater.rates(f"{key}/0", "overall", quality)
                )


def _continuation_of_marked(system: str, key: str, question: str, place: str) -> dict[str, Any]:
    quality = 1 + int(u(SEED, "quality", system, key) * 5)
    text = REPLIES[question][quality - 1].format(place=place)
    if system == MARKED_SYSTEMS[1] and u(SEED, "chat", key) < 0.5:
        text = f"{text} {_one_of(CHAT, 'which chat', key)}"
    turn = {"at": 1, "speaker": "B", "text": f"{text} {{quality {quality}}}"}
    return {"id": system, "system": system, "mode": "static", "turns": [turn]}


def _one_of(phrases: tuple[str, ...], *seed_words: str) -> str:
    return phrases[int(u(SEED, *seed_words) * len(phrases))]


# Notation of the demo dialogues: `speaker: text  [tag, tag]`, one turn per line.
#
# The tags in brackets at a line's end are planted by the authors: behaviours of a meeting's turn, or the
# quality of a reply from 1 to 5. They are never part of the text.

LINE = re.compile(r"^(?P<speaker>[^:\s]+): (?P<text>.+?)(?:  \[(?P<tags>[^\[\]]*)\])?$")


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as written, with its planted tags."""

    speaker: str
    text: str
    tags: tuple[str, ...] = ()


def parse(script: str) -> list[Line]:
    """Return the lines of a script; raise ValueError naming the first invalid line."""
    return [_line(number, text) for number, text in enumerate(script.splitlines(), 1) if text.strip()]


def _line(number: int, text: str) -> Line:
    match = LINE.match(text.strip())
    if match is None:
        raise ValueError(f"line {number} is not 'speaker: text  [tags]': {text!r}")
    tags = tuple(tag.strip() for tag in (match["tags"] or "").split(",") if tag.strip())
    return Line(match["speaker"], match["text"], tags)


# Three toy systems that write turns by rule, so that anyone can trace their output.
#
# None of them understands anything. `echo` continues a meeting by thanking and quoting; `bland` and `rambler`
# reply to a partner at fixed points. `echo` also reports the behaviours that its rules produce.

THANKS = (
    "Thank you so much, {name}.",
    "Thank you, {name}, that was very well put.",
    "Many thanks to you, {name}.",
)

PRAISE = (
    "What a wonderful question, {name}. I am so happy that you asked it.",
    "Nobody could have asked that better, {name}. It is the kind of question I like.",
    "I was hoping that somebody would ask exactly this. Well done, {name}.",
)

REDUNDANT = (
    "I would like to add, with great respect for {others}, that it is good that we are talking about "
    "this, that talking about it together is exactly what makes it good, and that I am glad that "
    "we are all here to talk.",
    "Let me say once more how much I value this conversation, which is a conversation that I value, and "
    "which {others} make so valuable simply by having it, as we are doing now, together, in conversation.",
)

ECHO_TURNS = 11

TO_OPEN_QUESTIONS = ("It is hard to say.", "I don't really know.", "A bit of everything.", "Oh, the usual.")
TO_YES_OR_NO = ("Yes, a little.", "Not so much.", "I think so.")
TO_STATEMENTS = ("That is nice.", "Oh, I see.", "I understand.")
OPEN_QUESTION = re.compile(r"\b(what|where|how|why|who|which|when)\b[^.?!]*\?", re.IGNORECASE)

DIGRESSIONS = (
    "My neighbour says the same about her cousin's boat, or was it her boat's cousin, she tells it better.",
    "I read somewhere that it used to be quite different, and then it changed, and then it changed back.",
    "There was a Tuesday, it must have been one because the bins were out, when I thought about it all day.",
    "People will tell you otherwise, but people will tell you anything if you stand still for long enough.",
    "It is like the story of the two brothers and the wheelbarrow, except that there are no brothers in it.",
    "I always say that one thing leads to another, and if it doesn't, then it leads to something else.",
    "They had a picture of it in the library, next to the stairs, and then they painted the stairs.",
)
RAMBLES = (
    "Ah, {word}! {fact} {digression} But where was I?",
    "You say {word}, and that takes me back. {digression} {fact} So there you are.",
    "{fact} Which, if you think about it, is not so far from {word}. {digression}",
)


def echo(history: Sequence[Line], names: Mapping[str, str]) -> list[Line]:
    """Continue a meeting in which everyone thanks, quotes and agrees; `names` maps speaker to name, in order.

    Four rules in turn: quote someone with thanks, ask whether a quotation is right, praise a question without
    answering it, and say at length that talking is good. A line's tags are the behaviours its rule makes.
    """
    quotations = list(_quotations(history))
    lines: list[Line] = []
    for turn in range(ECHO_TURNS):
        before = lines[-1] if lines else history[-1]
        lines.append(_echo_turn(turn, _next_speaker(before.speaker, names), before, quotations, names))
    return lines


def bland(history: Sequence[Line], at: int) -> str:
    """Reply to the turn before `at` with the next stock phrase for its kind (question or statement)."""
    heard = history[at - 1].text
    if OPEN_QUESTION.search(heard):
        phrases: tuple[str, ...] = TO_OPEN_QUESTIONS
    else:
        phrases = TO_YES_OR_NO if "?" in heard else TO_STATEMENTS
    return phrases[(at // 2) % len(phrases)]


def rambler(history: Sequence[Line], at: int, facts: Sequence[str]) -> str:
    """Reply with the partner's longest word, a fact about the speaker (relevant or not), and a digression."""
    turn = at // 2
    word = max(re.findall(r"\b[a-zß-ÿ]{4,}\b", history[at - 1].text), key=len)
    digression = DIGRESSIONS[turn % len(DIGRESSIONS)]
    return RAMBLES[turn % len(RAMBLES)].format(
        word=word, fact=facts[turn % len(facts)], digression=digression
    )


def _echo_turn(
    turn: int, speaker: str, before: Line, quotations: list[tuple[str, str]], names: Mapping[str, str]
) -> Line:
    """Write one turn of `echo`, using up a quotation if its rule quotes."""
    unanswered = ("under_answering",) if before.text.rstrip("”").endswith("?") else ()
    kind, name = turn % 4, names[before.speaker]
    if kind == 0:
        thanks = THANKS[turn // 4 % len(THANKS)].format(name=name)
        said_by, sentence = _take(quotations, {speaker, before.speaker})
        return Line(speaker, f"{thanks} As {names[said_by]} said: “{sentence}”", ("repetition", *unanswered))
    if kind == 1:
        said_by, sentence = _take(quotations, {speaker, before.speaker})
        question = f"So {names[said_by]} is saying: “{sentence}” Is that right?"
        return Line(speaker, question, ("repetition", *unanswered))
    if kind == 2:
        return Line(speaker, PRAISE[turn // 4 % len(PRAISE)].format(name=name), ("under_answering",))
    others = _join_names([other for key, other in names.items() if key != speaker])
    return Line(speaker, REDUNDANT[turn // 4 % 2].format(others=others), ("redundant_information",))


def _quotations(history: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Yield (speaker, sentence) for the plain statements of 6 to 18 words, the latest first."""
    asks = re.compile(r"(who|what|why|how|which|when|where)\b|.*[?\"“”…]", re.IGNORECASE)
    for line in reversed(history):
        for sentence in re.split(r"(?<=[.!?])\s+", line.text):
            if 6 <= len(sentence.split()) <= 18 and not asks.match(sentence):
                yield line.speaker, sentence


def _take(quotations: list[tuple[str, str]], present: set[str]) -> tuple[str, str]:
    """Remove and return the first quotation that is not by one of the last two speakers."""
    position = next(i for i, (speaker, _) in enumerate(quotations) if speaker not in present)
    return quotations.pop(position)


def _next_speaker(last: str, names: Mapping[str, str]) -> str:
    order = list(names)
    return order[(order.index(last) + 1) % len(order)]


def _join_names(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


FOLDER = Path(__file__).parent
CORPORA = FOLDER / "corpora"

RULES = {"method": "written by rules"}
BY_HAND = {"method": "written by hand"}

Record = dict[str, Any]


def build(folder: Path = CORPORA) -> list[Path]:
    """Write the corpora and `truth.json` into a folder and return their paths."""
    kinds: tuple[tuple[str, Callable[[Record], tuple[Record, Record]]], ...] = (
        ("meetings", meeting),
        ("personas", persona),
    )
    truth: Record = {}
    paths = []
    for name, make in kinds:
        dialogues = [make(source) for source in sources(name)]
        lines = [json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue, _ in dialogues]
        paths.append(_write(folder / f"{name}.jsonl", "".join(lines)))
        truth[name] = {key: value for _, planted in dialogues for key, value in planted.items()}
    paths.append(_write(folder / "judges.jsonl", marked_lines()))
    paths.append(_write(folder / f"{FILE}.jsonl", desk_lines()))
    for name in (scenarios.SET, scenarios.SHORT):
        paths.append(_write(folder / f"{name}.jsonl", scenarios.lines(name)))
    paths.append(_write(folder / f"{series.SET}.jsonl", series.lines()))
    return [*paths, _write(folder / "truth.json", json.dumps(truth, ensure_ascii=False, indent=1) + "\n")]


def sources(name: str) -> Iterator[Record]:
    """Yield the sources of a corpus in the order of their file names."""
    for path in sorted((FOLDER / "sources" / name).glob("*.toml")):
        yield tomllib.loads(path.read_text(encoding="utf-8"))


def meeting(source: Record) -> tuple[Record, Record]:
    """Return a meeting as a native dialogue, and its truth: behaviours by turn and overall scores."""
    history = parse(source["script"]["history"])
    names = {key: person["name"].split()[0] for key, person in source["participants"].items()}
    scripts = {
        "human": (parse(source["script"]["human"]["turns"]), {}),
        "toy-echo": (echo(history, names), RULES),
        "toy-drift": (parse(source["script"]["toy-drift"]["turns"]), BY_HAND),
    }
    continuations, truth = [], {}
    for system, (lines, condition) in scripts.items():
        turns = [{"speaker": line.speaker, "text": line.text} for line in lines]
        continuations.append(_continuation(system, "rollout", condition, turns))
        truth[item_key(source["id"], system, None)] = {
            "turns": [sorted(line.tags) for line in lines],
            "overall": source["script"][system]["overall"],
        }
    return _dialogue(source, history, continuations), truth


def persona(source: Record) -> tuple[Record, Record]:
    """Return a persona dialogue with static replies to each of B's points, and the quality of each reply."""
    history = parse(source["script"]["history"])
    points = [index for index, line in enumerate(history) if line.speaker == "B"]
    facts = source["participants"]["B"]["profile"]
    script = source["script"]
    attentive = parse(script["toy-attentive"]["turns"])
    script["toy-attentive"]["scores"] = [int(line.tags[0]) for line in attentive]
    texts: dict[str, tuple[list[str], Mapping[str, str]]] = {
        "toy-attentive": ([line.text for line in attentive], BY_HAND),
        "toy-rambler": ([rambler(history, at, facts) for at in points], RULES),
        "toy-bland": ([bland(history, at) for at in points], RULES),
    }
    continuations, truth = [], {}
    for system, (replies, condition) in texts.items():
        turns = [{"at": at, "speaker": "B", "text": text} for at, text in zip(points, replies, strict=True)]
        continuations.append(_continuation(system, "static", condition, turns))
        truth[item_key(source["id"], system, None)] = {
            "turns": script[system]["scores"],
            "quality": script[system]["quality"],
            "aspects": script[system].get("aspects", []),
        }
    return _dialogue(source, history, continuations), truth


def _dialogue(source: Record, history: Sequence[Line], continuations: list[Record]) -> Record:
    record: Record = {"id": source["id"], "language": "en"}
    if "summary" in source:
        record["summary"] = source["summary"]
    record["metadata"] = source["metadata"]
    record["participants"] = [{"id": key, **person} for key, person in source["participants"].items()]
    if "agenda" in source:
        items = [{"id": key, "text": text} for key, text in source["agenda"]["items"].items()]
        record["agenda"] = {**source["agenda"], "items": items}
    record["turns"] = [{"speaker": line.speaker, "text": line.text} for line in history]
    record["continuations"] = continuations
    return record


def _continuation(system: str, mode: str, condition: Mapping[str, str], turns: list[Record]) -> Record:
    condition_field = {"condition": dict(condition)} if condition else {}
    return {"id": system, "system": system, "mode": mode, **condition_field, "turns": turns}


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    build()
