"""Three toy systems that write turns by rule, so that anyone can see why they write what they write.

None of them understands anything. `echo` continues a meeting by thanking and quoting; `bland` and `rambler`
reply to a partner at fixed points. `echo` also tells which behaviours its rules produce.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from demo.script import Line

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
