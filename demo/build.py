"""Build the demo corpora and their planted truth from the written sources: `python -m demo.build`.

`demo/sources/` holds one readable file per dialogue or family of scenarios; `demo/corpora/` holds what is
imported. Both are kept in the repository, and a test checks that the one still gives the other.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.text.item_keys import item_key
from demo import desk, marked, scenarios, series

# The little language in which the demo dialogues are written: `speaker: text  [tag, tag]`, a turn a line.
#
# The tags in brackets at a line's end are what the authors planted: behaviours of a meeting's turn, or the
# quality of a reply as a number from 1 to 5. They never become part of the text.

LINE = re.compile(r"^(?P<speaker>[^:\s]+): (?P<text>.+?)(?:  \[(?P<tags>[^\[\]]*)\])?$")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as written, with its planted tags."""

    speaker: str
    text: str
    tags: tuple[str, ...] = ()


def parse(script: str) -> list[Line]:
    """Return the lines of a script; raise ValueError naming the first line that is not one."""
    return [_line(number, text) for number, text in enumerate(script.splitlines(), 1) if text.strip()]


def _line(number: int, text: str) -> Line:
    found = LINE.match(text.strip())
    if found is None:
        raise ValueError(f"line {number} is not 'speaker: text  [tags]': {text!r}")
    tags = tuple(tag.strip() for tag in (found["tags"] or "").split(",") if tag.strip())
    return Line(found["speaker"], found["text"], tags)


# Three toy systems that write turns by rule, so that anyone can see why they write what they write.
#
# None of them understands anything. `echo` continues a meeting by thanking and quoting; `bland` and `rambler`
# reply to a partner at fixed points. `echo` also tells which behaviours its rules produce.

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
    """Reply to the turn before `at` with the next stock phrase for its kind: a question or a statement."""
    heard = history[at - 1].text
    if OPEN_QUESTION.search(heard):
        phrases: tuple[str, ...] = TO_OPEN_QUESTIONS
    else:
        phrases = TO_YES_OR_NO if "?" in heard else TO_STATEMENTS
    return phrases[(at // 2) % len(phrases)]


def rambler(history: Sequence[Line], at: int, facts: Sequence[str]) -> str:
    """Reply with the partner's longest word, a fact about oneself, fitting or not, and a digression."""
    turn = at // 2
    word = max(re.findall(r"\b[a-zß-ÿ]{4,}\b", history[at - 1].text), key=len)
    digression = DIGRESSIONS[turn % len(DIGRESSIONS)]
    return RAMBLES[turn % len(RAMBLES)].format(
        word=word, fact=facts[turn % len(facts)], digression=digression
    )


def _echo_turn(
    turn: int, speaker: str, before: Line, quotations: list[tuple[str, str]], names: Mapping[str, str]
) -> Line:
    """Write one turn of `echo`, using up a quotation where its rule quotes."""
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
    others = _listed([other for key, other in names.items() if key != speaker])
    return Line(speaker, REDUNDANT[turn // 4 % 2].format(others=others), ("redundant_information",))


def _quotations(history: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Yield (speaker, sentence) for the plain statements of 6 to 18 words, the latest first."""
    asks = re.compile(r"(who|what|why|how|which|when|where)\b|.*[?\"“”…]", re.IGNORECASE)
    for line in reversed(history):
        for sentence in re.split(r"(?<=[.!?])\s+", line.text):
            if 6 <= len(sentence.split()) <= 18 and not asks.match(sentence):
                yield line.speaker, sentence


def _take(quotations: list[tuple[str, str]], present: set[str]) -> tuple[str, str]:
    """Remove and return the first quotation of somebody else than the last two speakers."""
    position = next(i for i, (who, _) in enumerate(quotations) if who not in present)
    return quotations.pop(position)


def _next_speaker(last: str, names: Mapping[str, str]) -> str:
    order = list(names)
    return order[(order.index(last) + 1) % len(order)]


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


HERE = Path(__file__).parent
CORPORA = HERE / "corpora"

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
        made = [make(source) for source in sources(name)]
        lines = [json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue, _ in made]
        paths.append(_written(folder / f"{name}.jsonl", "".join(lines)))
        truth[name] = {key: value for _, planted in made for key, value in planted.items()}
    paths.append(_written(folder / "judges.jsonl", marked.lines()))
    paths.append(_written(folder / f"{desk.FILE}.jsonl", desk.lines()))
    for name in (scenarios.SET, scenarios.SHORT):
        paths.append(_written(folder / f"{name}.jsonl", scenarios.lines(name)))
    paths.append(_written(folder / f"{series.SET}.jsonl", series.lines()))
    return [*paths, _written(folder / "truth.json", json.dumps(truth, ensure_ascii=False, indent=1) + "\n")]


def sources(name: str) -> Iterator[Record]:
    """Yield the sources of a corpus in the order of their file names."""
    for path in sorted((HERE / "sources" / name).glob("*.toml")):
        yield tomllib.loads(path.read_text(encoding="utf-8"))


def meeting(source: Record) -> tuple[Record, Record]:
    """Return a meeting as a native dialogue, and its truth: behaviours by turn and overall scores."""
    history = parse(source["script"]["history"])
    names = {key: person["name"].split()[0] for key, person in source["participants"].items()}
    written = {
        "human": (parse(source["script"]["human"]["turns"]), {}),
        "toy-echo": (echo(history, names), RULES),
        "toy-drift": (parse(source["script"]["toy-drift"]["turns"]), BY_HAND),
    }
    continuations, truth = [], {}
    for system, (lines, condition) in written.items():
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
    named = {"condition": dict(condition)} if condition else {}
    return {"id": system, "system": system, "mode": mode, **named, "turns": turns}


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    build()
