"""Dialogue-act taggers: rules over marks and words of several languages, or a sequence classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from annotation.text.tokens import words
from judges.metrics.kit.hub import Encoder, load_classifier
from judges.metrics.kit.tools import Tools

RULES = "rules"
KEPT = 100_000
QUESTION_MARKS = "?？؟"

ACTS = (
    "question",
    "greeting",
    "thanks",
    "apology",
    "agreement",
    "disagreement",
    "request",
    "backchannel",
    "statement",
)
"""The acts that the rules tell apart."""


def _openings(*phrases: str) -> tuple[str, ...]:
    """Return phrases, written with commas between them, as words with a space after each."""
    found = (words(phrase) for line in phrases for phrase in line.split(","))
    return tuple(" ".join(one) + " " for one in found)


OPENINGS = {
    "greeting": _openings(
        "hello, hi, hey, good morning, good afternoon, good evening, bye, goodbye, see you",
        "你好, 您好, 大家好, 早上好, 再见, こんにちは, おはよう, さようなら, مرحبا, السلام عليكم",
        "صباح الخير",
        "hallo, bonjour, salut, hola, adiós",
    ),
    "thanks": _openings(
        "thanks, thank you, cheers, 谢谢, 感谢, 多谢, ありがとう, شكرا, danke, merci, gracias"
    ),
    "apology": _openings(
        "sorry, i'm sorry, i apologise, i apologize, excuse me, 对不起, 抱歉, 不好意思, すみません, ごめん",
        "آسف, عفوا",
        "entschuldigung, désolé, perdón",
    ),
    "disagreement": _openings(
        "no, nope, not really, i disagree, i don't think, i don't agree",
        "不是, 不对, 不同意, いいえ, 違います, لا, nein, non, no creo",
    ),
    "agreement": _openings(
        "yes, yeah, yep, yup, sure, right, exactly, agreed, i agree, absolutely, of course, good idea",
        "sounds good, 是的, 对, 好的, 同意, 没错, はい, そうです, نعم, صحيح, أوافق",
        "ja, genau, oui, d'accord, sí",
        "claro",
    ),
    "request": _openings(
        "please, let's, let us, let me, could you, can you, would you, 请, 我们来, お願い, من فضلك, bitte",
        "s'il vous plaît, por favor",
    ),
}
BACKCHANNELS = frozenset(words("ok okay mm mhm mm-hmm hmm uh-huh oh ah wow lol 嗯 哦 うん حسنا 👍"))


def rule_act(text: str) -> str:
    """Return the act of a message by its own marks and first words; `statement` where no rule applies."""
    if any(mark in text for mark in QUESTION_MARKS):
        return "question"
    found = words(text)
    if found and len(found) <= 3 and set(found) <= BACKCHANNELS:
        return "backchannel"
    line = " ".join(found) + " "
    for act, openings in OPENINGS.items():
        if line.startswith(openings):
            return act
    return "statement"


def reference_act(text: str, before: Sequence[str]) -> str:
    """Return the act by the published code's toy rules.

    A question mark anywhere in the message or the two messages before it makes a question; Chinese greetings
    and thanks are told apart; all else is OTHER.
    """
    joined = "".join([*before[-2:], text])
    if "?" in joined or "？" in joined:
        return "QUESTION"
    if any(word in text for word in ("你好", "您好", "大家好", "早上好")):
        return "GREETING"
    return "THANKS" if any(word in text for word in ("谢谢", "感谢", "多谢")) else "OTHER"


REFERENCE_ACTS = 4


def known_acts(name: str, tools: Tools) -> tuple[str, ...]:
    """Return the acts that a tagger tells apart."""
    return ACTS if name == RULES else tools.models.get("act classifier", name, Classifier).acts


def tagger(name: str, tools: Tools) -> tuple[Callable[[str], str], int]:
    """Return what tags a message, and how many acts it knows: `rules`, or a classifier by name or folder."""
    if name == RULES:
        return rule_act, len(ACTS)
    classifier = tools.models.get("act classifier", name, Classifier)
    return classifier, classifier.size


class Classifier:
    """A sequence classifier of transformers as tagger; the tags of `KEPT` distinct texts are kept."""

    def __init__(self, name: str) -> None:
        self._encoder: Encoder = load_classifier(name)
        self._labels: dict[int, Any] = self._encoder.model.config.id2label
        self._known: dict[str, str] = {}
        self.size = len(self._labels)
        self.acts = tuple(map(str, self._labels.values()))

    def __call__(self, text: str) -> str:
        """Return the label with the greatest logit."""
        if len(self._known) >= KEPT:
            self._known.clear()
        if text not in self._known:
            logits = self._encoder.run(text).logits[0]
            self._known[text] = str(self._labels[int(logits.argmax())])
        return self._known[text]
