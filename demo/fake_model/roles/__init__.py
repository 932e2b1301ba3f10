"""Table of roles, each with the prompts that it answers."""

from demo.fake_model.requests import Request
from demo.fake_model.role import Answer, Role
from demo.fake_model.roles.benchmark_makers import Cleaner, MetadataWriter, Summariser
from demo.fake_model.roles.group_chats import Agent, ComposeJudge, ConductJudge, GroundJudge, Partner, Persona
from demo.fake_model.roles.judges import (
    BehaviourJudge,
    ComparisonJudge,
    DialogueJudge,
    Improver,
    OverallJudge,
    Probe,
    RubricJudge,
    TurnJudge,
)
from demo.fake_model.roles.long_dialogues import (
    AnswerMatch,
    FactWriter,
    QuizMapper,
    Reader,
    SessionSummariser,
    StyleWriter,
)
from demo.fake_model.roles.writers import ContinuationWriter, ConversationWriter, NextSpeaker, ResponseWriter

ROLES: dict[str, Role] = {
    role.key: role
    for role in (
        TurnJudge(),
        BehaviourJudge(),
        OverallJudge(),
        DialogueJudge(),
        RubricJudge(),
        ComparisonJudge(),
        ConductJudge(),
        ComposeJudge(),
        GroundJudge(),
        AnswerMatch(),
        Improver(),
        Probe(),
        ContinuationWriter(),
        NextSpeaker(),
        ConversationWriter(),
        ResponseWriter(),
        Agent(),
        Persona(),
        Partner(),
        Reader(),
        Cleaner(),
        MetadataWriter(),
        Summariser(),
        FactWriter(),
        QuizMapper(),
        StyleWriter(),
        SessionSummariser(),
    )
}


def recognise(request: Request) -> list[Role]:
    """Return the roles that recognise a prompt: exactly one for a valid prompt."""
    return [role for role in ROLES.values() if role.recognises(request)]


__all__ = ["ROLES", "Answer", "Role", "recognise"]
