"""Settings of an agent of a long dialogue; all vary, so each is part of the condition."""

from __future__ import annotations

from annotation.script_records import ORIGINAL, versioned
from suites.continuation.generators.generator import Setting, Settings, Value, WrongSettings
from suites.long_dialogue.agent.memory import (
    BM25,
    EMBEDDING,
    MEMORIES,
    ORDERS,
    RETRIEVED,
    RETRIEVERS,
    SESSION,
    TIME,
    USUAL_K,
)
from suites.long_dialogue.agent.walking import WalkSettings
from suites.long_dialogue.scripts.answers import FORMATS, TEMPLATE

POINTS = ("own_turn", "any_turn")
NO_RETRIEVER = "none"
SET, MEMORY, RETRIEVER, K, NAMES, FORMAT = "set", "memory", "retriever", "k", "names", "format"
ORDER, POINT, PER_SESSION, SEED, REMEMBER = "order", "point", "per_session", "seed", "remember"
LIMIT, CONTEXT, EMBEDDER = "limit", "context", "embedder"
SETTINGS = (
    Setting(SET, "", "The question set that is asked; NAME:2 is its second version.", varies=True),
    Setting(MEMORY, SESSION, "What the agent remembers of the sessions.", choices=MEMORIES, varies=True),
    Setting(RETRIEVER, BM25, "What chooses of the memory.", choices=(*RETRIEVERS, NO_RETRIEVER),
            varies=True),
    Setting(EMBEDDER, "", "Whose vectors the retriever embedding compares: Concord's own model, or the name "
            "of an endpoint whose model embeds.", varies=True),
    Setting(K, 0, "How many entries are chosen; 0: as many as is usual for the memory.",
            low=0, high=1000, varies=True),
    Setting(NAMES, ORIGINAL, "Under which names people go: original, or a name map as KIND or KIND:VERSION.",
            varies=True),
    Setting(FORMAT, TEMPLATE, "Whether options are listed, part of the question, or not shown.",
            choices=FORMATS, varies=True),
    Setting(ORDER, TIME, "How retrieved entries are presented in the prompt.", choices=ORDERS, varies=True),
    Setting(POINT, POINTS[0], "After which turns a question may be asked.", choices=POINTS, varies=True),
    Setting(PER_SESSION, 1, "How many questions a session has at most.", low=1, high=20, varies=True),
    Setting(SEED, 0, "The seed of every draw.", low=0, high=2**31, varies=True),
    Setting(REMEMBER, False, "Whether questions and answers are remembered.", varies=True),
    Setting(LIMIT, 0, "After how many seconds an answer is too late; 0 is never.",
            low=0, high=86_400, varies=True),
    Setting(CONTEXT, 0, "How many tokens the model's context has; 0 where it sets no limit.",
            low=0, high=100_000_000, varies=True),
)  # fmt: skip


def settled(settings: Settings) -> dict[str, Value]:
    """Normalise settings, so that equal conditions are equal.

    The usual k becomes its number, NAME@2 becomes NAME:2, and a memory without retrieval gets no retriever.
    Raises WrongSettings for a memory that lacks its retriever.
    """
    memory = str(settings[MEMORY])
    if memory in RETRIEVED and settings[RETRIEVER] == NO_RETRIEVER:
        raise WrongSettings(f"{RETRIEVER}: the memory {memory} needs one: {' or '.join(RETRIEVERS)}.")
    retriever = settings[RETRIEVER] if memory in RETRIEVED else NO_RETRIEVER
    k = (settings[K] or USUAL_K[memory]) if memory in USUAL_K else 0
    embedder = settings[EMBEDDER] if retriever == EMBEDDING else ""
    question_set = versioned(str(settings[SET]))
    return {**settings, SET: question_set, RETRIEVER: retriever, K: k, EMBEDDER: embedder}


def walk_settings(settings: Settings) -> WalkSettings:
    """Return the settings that choose the questions of a trial."""
    return WalkSettings(
        seed=int(settings[SEED]),
        point="any_turn" if settings[POINT] == "any_turn" else "own_turn",
        per_session=int(settings[PER_SESSION]),
    )
