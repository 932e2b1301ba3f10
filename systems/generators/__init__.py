"""The generators, in one table."""

from systems.benchmarks.cleaning import CocoevalCleaning
from systems.benchmarks.metadata import CocoevalMetadata
from systems.benchmarks.summary import CocoevalSummary
from systems.generators.base import (
    Done,
    Failed,
    Generator,
    MadeRecord,
    Reply,
    Setting,
    Settings,
    State,
    WrongSettings,
)
from systems.generators.cocoeval_continuation import CocoevalContinuation
from systems.generators.comperdial_response import Response
from systems.generators.mpc_conversation import Conversation
from systems.generators.mpceval_predictions import ContentGivenSpeaker, NextMessage, SpeakerGivenContent
from systems.group_chat.agent import GroupChatAgent
from systems.group_chat.live import LiveGroupChat
from systems.long_dialogue.agent import DialsimAgent, DialsimSessionSummary
from systems.long_dialogue.quiz import DialsimFacts, DialsimQuiz
from systems.long_dialogue.styles import DialsimStyle

_LISTED: tuple[Generator, ...] = (
    CocoevalCleaning(),
    CocoevalMetadata(),
    CocoevalSummary(),
    CocoevalContinuation(),
    NextMessage(),
    SpeakerGivenContent(),
    ContentGivenSpeaker(),
    Conversation(),
    Response(),
    GroupChatAgent(),
    LiveGroupChat(),
    DialsimFacts(),
    DialsimQuiz(),
    DialsimStyle(),
    DialsimSessionSummary(),
    DialsimAgent(),
)
GENERATORS: dict[str, Generator] = {generator.key: generator for generator in _LISTED}

__all__ = [
    "GENERATORS",
    "Done",
    "Failed",
    "Generator",
    "MadeRecord",
    "Reply",
    "Setting",
    "Settings",
    "State",
    "WrongSettings",
]
