"""DAF: whether the act of a message is a likely one after the acts before it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from annotation.records import Dialogue
from judges.metrics.kit.act_models import Causal, Learned, hidden, only_seen, sequences
from judges.metrics.kit.acts import REFERENCE_ACTS, RULES, known_acts, reference_act, tagger
from judges.metrics.kit.base import (
    CONTENT,
    HIGHER,
    LEARN_FROM,
    REFERENCE,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.hub import folder_hash
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.turn_taking import NO_CONTEXT

History = tuple[str, ...]
Counts = Counter[tuple[History, str]]
ANY = ""
NGRAM, HMM, TRANSFORMER = "ngram", "hmm", "transformer"


@dataclass
class ActModel:
    """How often each act followed each history over all dialogues, and the acts of each dialogue.

    A dialogue's own counts are made from its acts when they are asked for: kept for all of a large corpus
    they would fill the memory.
    """

    order: int
    total: Counts = field(default_factory=Counter)
    sequences: dict[str, list[tuple[int, History]]] = field(default_factory=dict)
    _last: tuple[str, Counts] = ("", Counter())

    def learn(self, dialogue: str, found: list[str], first: int) -> None:
        """Count the acts of one sequence from its position `first`, after histories of up to `order` acts."""
        acts = tuple(map(sys.intern, found))
        self.sequences.setdefault(dialogue, []).append((first, acts))
        self._count(acts, first, self.total)

    def probability(
        self, act: str, before: list[str], dialogue: str, alpha: float, size: int
    ) -> float | None:
        """Return p(act | the longest history that other dialogues have), None where they have nothing.

        Add-alpha over `size` acts, with the dialogue's own counts left out.
        """
        own = self._own(dialogue)
        for length in range(min(self.order, len(before)), -1, -1):
            history = tuple(before[len(before) - length :])
            seen = self.total[history, ANY] - own[history, ANY]
            if seen > 0:
                count = self.total[history, act] - own[history, act]
                return (count + alpha) / (seen + alpha * size)
        return None

    def _own(self, dialogue: str) -> Counts:
        if dialogue not in self.sequences:
            return Counter()
        if self._last[0] != dialogue or not self._last[1]:
            own: Counts = Counter()
            for first, acts in self.sequences[dialogue]:
                self._count(acts, first, own)
            self._last = dialogue, own
        return self._last[1]

    def _count(self, acts: History, first: int, counts: Counts) -> None:
        for index in range(first, len(acts)):
            for length in range(min(index, self.order) + 1):
                history = acts[index - length : index]
                counts[history, acts[index]] += 1
                counts[history, ANY] += 1


def daf(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Dialogue-act transition fit: p(act of the message | acts of the context): MPCEval eq. 17.

    `tagger` tags each message by itself (`rules`, or a sequence classifier of transformers). `ngram`: an
    n-gram model of acts, the dialogue itself left out: back-off to the longest history, add-alpha. `hmm`:
    a hidden Markov model, sum_j [sum_i alpha_i a_ij] b_j(act) / sum_i alpha_i with the forward probabilities
    alpha of the acts before. `transformer`: a causal model over act tokens, renormalised over the acts. These
    two learn from other dialogues (`learn_from`); a value about a dialogue that they learned from is flagged
    `fitted_on_itself`. Range 0 to 1. `reference` has the published code's four toy acts, learns from
    histories alone, and gives 1 / 4 where nothing was seen.
    """
    assert turn is not None
    if settings.is_reference:
        return _reference(scene, turn, settings, tools)
    context = scene.context(turn, settings.integer("window"))
    text = scene.target(turn).text
    if not text.strip():
        return unscored("the message has no text")
    if not context:
        return unscored(NO_CONTEXT)
    tag, size = tagger(settings.text("tagger"), tools)
    if settings.variant == NGRAM:
        model: ActModel = tools.fitted
        before = [tag(scene.turns[p].text) for p in context[-model.order :]]
        act = tag(text)
        value = model.probability(act, before, scene.dialogue.id, settings.number("alpha"), size)
        if value is None:
            return unscored("no other dialogue of the corpus has turns to learn from")
        return scored(value, act=act, after=before)
    return _by_sequence(tag(text), [tag(scene.turns[p].text) for p in context], scene, settings, tools)


def _by_sequence(act: str, before: list[str], scene: Scene, settings: Settings, tools: Tools) -> Score:
    """Return the value by a model of whole sequences, flagged where it has learned from this dialogue."""
    learned: Learned | None = tools.fitted
    if settings.variant == HMM:
        assert learned is not None
        value = learned.probability(act, before)
        if value is None:
            return unscored("the acts before never follow each other in what was learned from")
    else:
        model = tools.models.get("act sequences", settings.text("model"), Causal)
        value = model.probability(act, before, known_acts(settings.text("tagger"), tools))
    flags = learned.flags(scene) if learned else ()
    return replace(scored(value, act=act, after=before[-settings.integer("order") :]), flags=flags)


def _reference(scene: Scene, turn: int, settings: Settings, tools: Tools) -> Score:
    said = [scene.turns[p].text for p in scene.context(turn, settings.integer("window"))]
    model: ActModel = tools.fitted
    size = REFERENCE_ACTS
    act = reference_act(scene.target(turn).text, said)
    before = _reference_acts(said, model.order)
    value = model.probability(act, before, scene.dialogue.id, settings.number("alpha"), size)
    return scored(1 / size if value is None else value)


def _reference_acts(said: list[str], last: int | None = None) -> list[str]:
    first = 0 if last is None else max(0, len(said) - last)
    return [reference_act(said[at], said[:at]) for at in range(first, len(said))]


def _fit(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> ActModel | Learned:
    if settings.variant == TRANSFORMER:
        return only_seen(dialogues)
    if settings.variant == HMM:
        return hidden(dialogues, tagger(settings.text("tagger"), tools)[0])
    model = ActModel(settings.integer("order"))
    if settings.is_reference:
        for dialogue in dialogues:
            said = [turn.text for turn in dialogue.turns if turn.text.strip()]
            model.learn(dialogue.id, _reference_acts(said), model.order)
        return model
    tag, _ = tagger(settings.text("tagger"), tools)
    for dialogue in dialogues:
        for turns in sequences(dialogue):
            model.learn(dialogue.id, [tag(turn.text) for turn in turns if turn.text.strip()], 0)
    return model


def _learns(settings: Settings) -> bool:
    """A transformer is made elsewhere; what it learned from is looked at only where it is named."""
    return settings.variant != TRANSFORMER or bool(settings.text(LEARN_FROM))


def _identity(settings: Settings) -> Mapping[str, str]:
    return {"model_hash": folder_hash(settings.text("model"))} if settings.variant == TRANSFORMER else {}


CAUSES = {"act": Cause("act"), "after": Cause("after")}

FAMILY = (
    Metric(
        key="daf",
        title="Dialogue-act transition fit",
        kind="turn",
        aspect=CONTENT,
        causes=CAUSES,
        compute=daf,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"corpus"}),
        parameters={
            "tagger": Parameter(RULES, "rules, or a sequence classifier by name or folder"),
            "order": Parameter(4, "longest history of acts", low=0, high=10),
            "alpha": Parameter(0.1, "what is added to every count", low=1e-9),
            LEARN_FROM: Parameter(
                "", "dev or a corpus whose dialogues are learned from; empty: the scored one"
            ),
            "model": Parameter("", "folder of a causal model over act tokens, for the variant transformer"),
        },
        variants={NGRAM: {}, HMM: {}, TRANSFORMER: {}, REFERENCE: {}},
        fit=_fit,
        fit_when=_learns,
        identity=_identity,
    ),
)
