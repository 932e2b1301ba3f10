"""`rules-baseline`: a judge with rules about words and punctuation. No model, no network, no cost.

It is a baseline: it shows how far rules without any understanding get. There is one rule per behaviour
(`RULES`); a behaviour that no rule can detect is missing, for that reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from annotation.records import Turn
from annotation.schemes.cocoeval import BEHAVIOUR_TAGS as SCHEME
from judges.protocols.protocol import Case, Computing, Reading, Verdict
from judges.protocols.quoting import Seen

# Words of a turn, as counted by the rules. English only; other languages have other function words.

_STOP = """
    a about after again all also am an and any are as at be been before being both but by can could did
    do does doing don down each even few for from further get go going got had has have having he her
    here him his how i if in into is it its just know let like ll m make me more most much my no nor not
    now of off oh ok okay on once one only or other our out over own quite re really right s said same
    say see she should so some still such t than that the their them then there these they thing things
    think this those through to too under until up us ve very was we well were what when where which
    while who why will with would yeah yes you your
"""
_NEGATIONS = """
    aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't isn't neither never no
    nobody none not nothing shouldn't wasn't weren't without won't wouldn't
"""
STOP_WORDS = frozenset(_STOP.split())
NEGATIONS = frozenset(_NEGATIONS.split())
WEEKDAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, with straight apostrophes."""
    return tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))


def content_words(text: str) -> frozenset[str]:
    """Return the distinct content words: no stop words, negations or single letters."""
    return frozenset(w for w in words(text) if len(w) > 1 and w not in STOP_WORDS and w not in NEGATIONS)


def figures(text: str) -> frozenset[str]:
    """Return the numbers in digits and the weekdays of a text."""
    return frozenset(word for word in words(text) if word.isdigit() or word in WEEKDAYS)


def is_negated(text: str) -> bool:
    """Whether a text contains a negation."""
    return bool(NEGATIONS & set(words(text)))


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return |A and B| / |A or B|, 0 if both are empty."""
    return len(first & second) / len(first | second) if first | second else 0.0


def runs(text_words: tuple[str, ...], length: int) -> frozenset[tuple[str, ...]]:
    """Return all sequences of `length` consecutive words."""
    return frozenset(text_words[i : i + length] for i in range(len(text_words) - length + 1))


# The rules of `rules-baseline`: one function per behaviour, each with its full rule in its docstring.
#
# A rule gets a `Moment` (a turn and the turns before it) and returns the reason why the behaviour is present,
# or "". The rules look at words and punctuation alone and ignore meaning: a baseline that any judge worth its
# price should beat.

_TRAILING = re.compile(r"(?:-|–|—|\.\.\.|…|,)\s*$")
_OPEN_END = re.compile(r"(?:-|–|—|\.\.\.|…|,|[^\W\d_])\s*$")
_END = re.compile(r"[.!?][^\w.!?]*$")
_EVASION = re.compile(
    r"\b(let'?s (?:move on|not|talk about)|that'?s (?:a good|an interesting) question|moving on|another time|"
    r"we(?:'ll| will) see|hard to say|it depends|anyway)\b"
)
_HEDGE = re.compile(
    r"\b(maybe|perhaps|possibly|sort of|kind of|something like that|whatever|it is what it is|"
    r"we(?:'ll| will) see|one way or another|it depends|or so|somehow|in a way|who knows|either way)\b"
)
_OBJECTION = re.compile(
    r"(^\W*no\b|\b(i (?:still )?(?:don'?t|do not) (?:agree|think|believe|see)|i disagree|"
    r"i still (?:say|think|object)|that won'?t work|i'?m (?:still )?(?:not|against)|"
    r"i object|that'?s (?:wrong|nonsense)|over my)\b)"
)
_ATTRIBUTION = re.compile(
    r"\b(you said|as you say|you mean|so you|like you said|you told|you want|you think)\b"
)
_SIGN_OF_LISTENING = re.compile(
    r"^\W*(?:right|yes|yeah|ok|okay|mm|mhm|uh-huh|sure|exactly|true|no)\W*$", re.I
)


@dataclass(frozen=True)
class Moment:
    """A turn and the turns before it; `background` is other known text (summary, agenda, metadata)."""

    turn: Turn
    before: Sequence[Turn]
    background: str = ""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The turn's words, in lower case."""
        return words(self.turn.text)

    @cached_property
    def content(self) -> frozenset[str]:
        """The turn's content words."""
        return content_words(self.turn.text)

    @property
    def last(self) -> Turn | None:
        """The turn right before, if it is by somebody else."""
        last = self.before[-1] if self.before else None
        return last if last and last.speaker != self.turn.speaker else None


Rule = Callable[[Moment], str]


def repetition(moment: Moment) -> str:
    """At least 4 words, and an earlier turn that is the same, shares 6 words in a row (or all its own 4 or
    5), or contains 75% of the turn's content words, if those are at least 3."""
    if len(moment.words) < 4:
        return ""
    for back, turn in enumerate(reversed(moment.before), start=1):
        earlier = content_words(turn.text)
        if words(turn.text) == moment.words:
            return f"the same words as {back} turns before"
        earlier_words = words(turn.text)
        if len(earlier_words) >= 4 and runs(moment.words, min(len(earlier_words), 6)) & runs(
            earlier_words, min(len(earlier_words), 6)
        ):
            return f"it says again what was said {back} turns before, word for word"
        if len(moment.content) >= 3 and len(moment.content & earlier) >= 0.75 * len(moment.content):
            return f"nearly all its content words were said {back} turns before"
    return ""


def interruption(moment: Moment) -> str:
    """The turn before, by somebody else, has 4 words or more and ends in a dash, dots, a comma or no
    punctuation, and this turn is more than a backchannel. Without end punctuation the turn before must be
    followed by a capital, in a dialogue whose other turns do end in punctuation."""
    last = moment.last
    if last is None or len(words(last.text)) < 4 or _SIGN_OF_LISTENING.match(moment.turn.text):
        return ""
    if _TRAILING.search(last.text):
        return "the turn before trails off when another speaker begins"
    ended = [turn for turn in moment.before[:-1] if _END.search(turn.text)]
    mostly_ended = len(ended) >= 0.8 * max(len(moment.before) - 1, 1)
    if mostly_ended and _OPEN_END.search(last.text):
        return "the turn before stops without an end mark when another speaker begins"
    return ""


def under_answering(moment: Moment) -> str:
    """The turn before, by somebody else, ends in a question mark, and this turn evades it with a stock
    phrase, asks back in 3 words or fewer, or shares no content word with it in 6 words or more without
    opening with yes, no, I or we."""
    last = moment.last
    if last is None or not last.text.rstrip(" \"'”’)").endswith("?"):
        return ""
    text = " ".join(moment.words)
    if _EVASION.search(text):
        return "a question was asked, and a stock phrase puts it off"
    if moment.turn.text.rstrip().endswith("?") and len(moment.words) <= 3:
        return "a question was asked, and a short question comes back"
    opening = {"yes", "no", "yeah", "i", "we", "because"} & set(moment.words[:2])
    if len(moment.words) >= 6 and not opening and not moment.content & content_words(last.text):
        return "a question was asked, and the turn shares no word with it"
    return ""


def unclear_intent(moment: Moment) -> str:
    """At most 12 words, at most 2 of them content words, and a hedge such as maybe or we will see."""
    hedge = _HEDGE.search(" ".join(moment.words))
    if hedge and len(moment.words) <= 12 and len(moment.content - set(words(hedge[0]))) <= 2:
        return f"a short turn that hedges ({hedge[0]})"
    return ""


def redundant_information(moment: Moment) -> str:
    """At least 35 words, at least twice the median length so far, and fewer than 60% of its content words
    new, or a vocabulary smaller than 60% of its length."""
    lengths = [len(words(turn.text)) for turn in moment.before]
    n = len(moment.words)
    if not lengths or n < 35 or n < 2 * median(lengths):
        return ""
    earlier_words = frozenset().union(*(content_words(turn.text) for turn in moment.before))
    novelty = len(moment.content - earlier_words) / max(len(moment.content), 1)
    if novelty < 0.6:
        return f"{n} words, but only {novelty:.0%} of its content words are new"
    if len(set(moment.words)) < 0.6 * n:
        return f"{n} words, many of them said more than once"
    return ""


def off_topic(moment: Moment) -> str:
    """At least 6 content words, none of them in the 8 turns before, the summary, agenda or metadata."""
    if len(moment.before) < 3 or len(moment.content) < 6:
        return ""
    near = frozenset().union(*(content_words(turn.text) for turn in moment.before[-8:]))
    if moment.content & (near | content_words(moment.background)):
        return ""
    return "none of its content words came up before"


def persistent_disagreement(moment: Moment) -> str:
    """The turn objects, and among the 12 turns before the same speaker objected in two, or in one that shares
    half of the content words."""
    if not _objects(moment.turn):
        return ""
    before = [t for t in moment.before[-12:] if t.speaker == moment.turn.speaker and _objects(t)]
    if len(before) >= 2:
        return f"the speaker objects, as in {len(before)} turns shortly before"
    if before and overlap(moment.content, content_words(before[0].text)) >= 0.5:
        return "the speaker repeats an objection"
    return ""


def logical_contradiction(moment: Moment) -> str:
    """An earlier turn of the same speaker shares at least 3 and at least half of the content words, and
    exactly one of the two is negated, or their numbers or weekdays differ."""
    for turn in moment.before:
        earlier = content_words(turn.text)
        same = moment.content & earlier
        if (
            turn.speaker != moment.turn.speaker
            or len(same) < 3
            or overlap(_plain(moment.content), _plain(earlier)) < 0.5
        ):
            continue
        if is_negated(turn.text) != is_negated(moment.turn.text):
            return "the speaker said nearly the same with the opposite sign"
        if (
            figures(turn.text)
            and figures(moment.turn.text)
            and not figures(turn.text) & figures(moment.turn.text)
        ):
            return "the speaker said nearly the same with other figures"
    return ""


def misunderstanding(moment: Moment) -> str:
    """After a turn by somebody else, the turn attributes a statement or meaning to another with a number or
    weekday that nobody mentioned, while earlier turns mention other ones."""
    if moment.last is None or not _ATTRIBUTION.search(" ".join(moment.words)):
        return ""
    earlier_figures = frozenset().union(*(figures(turn.text) for turn in moment.before))
    own = figures(moment.turn.text)
    return (
        "it ascribes a figure to others that nobody said"
        if own and earlier_figures and not own & earlier_figures
        else ""
    )


RULES: dict[str, Rule | None] = {
    "logical_contradiction": logical_contradiction,
    "factual_inaccuracy": None,  # rules know no facts
    "misunderstanding": misunderstanding,
    "redundant_information": redundant_information,
    "repetition": repetition,
    "persistent_disagreement": persistent_disagreement,
    "interruption": interruption,
    "off_topic": off_topic,
    "under_answering": under_answering,
    "unclear_intent": unclear_intent,
}
"""Rule of each behaviour; None if no rule can detect it."""


def _objects(turn: Turn) -> bool:
    return bool(_OBJECTION.search(" ".join(words(turn.text))))


def _plain(content: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in content if not word.isdigit() and word not in WEEKDAYS)


NO_RULE = "rules-baseline has no rule for this behaviour"


class RulesBaseline(Computing):
    """A baseline of rules for the ten behaviours, per turn; see `RULES` for each rule."""

    key = "rules_baseline"
    title = "rules-baseline: explicit rules about words, no model and no network"
    covers = "continuation"
    answers = {key: (SCHEME, key) for key in RULES}

    def judge(self, case: Case, variant: str = "") -> Reading:
        """Apply every rule to every judged turn, with the context that a rater of the turn sees."""
        background = _background(case)
        verdicts = []
        for index in case.judged():
            before = case.dialogue.context(case.continuation, index)
            moment = Moment(case.continuation.turns[index], before, background)
            verdicts += [_verdict(key, index, moment) for key in self.answers]
        return Reading(tuple(verdicts))


def _verdict(key: str, index: int, moment: Moment) -> Verdict:
    rule = RULES[key]
    if rule is None:
        return Verdict(key, index, None, missing=NO_RULE)
    why = rule(moment)
    return Verdict(key, index, float(bool(why)), explanation=why)


def _background(case: Case) -> str:
    seen = Seen(case)
    return " ".join([*seen.facts(), *seen.people()])
