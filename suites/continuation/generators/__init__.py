"""Table of all generators; other suites add theirs."""

from jobs.tables import Table
from suites.continuation.benchmarks.cleaning import CocoevalCleaning
from suites.continuation.benchmarks.metadata import CocoevalMetadata
from suites.continuation.benchmarks.summary import CocoevalSummary
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from suites.continuation.generators.comperdial_response import Response
from suites.continuation.generators.generator import (
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
from suites.continuation.generators.mpc_conversation import Conversation
from suites.continuation.generators.mpceval_predictions import (
    ContentGivenSpeaker,
    NextMessage,
    SpeakerGivenContent,
)

_ALL_GENERATORS: tuple[Generator, ...] = (
    CocoevalCleaning(),
    CocoevalMetadata(),
    CocoevalSummary(),
    CocoevalContinuation(),
    NextMessage(),
    SpeakerGivenContent(),
    ContentGivenSpeaker(),
    Conversation(),
    Response(),
)
GENERATORS: Table[Generator] = Table(
    "generators", {generator.key: generator for generator in _ALL_GENERATORS}
)

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
