"""Who answers which prompt, one file each, in one table."""

from demo.fake_model.reading import Request
from demo.fake_model.roles.agent import Agent
from demo.fake_model.roles.answer_match import AnswerMatch
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.behaviour_judge import BehaviourJudge
from demo.fake_model.roles.cleaner import Cleaner
from demo.fake_model.roles.comparison_judge import ComparisonJudge
from demo.fake_model.roles.continuation_writer import ContinuationWriter
from demo.fake_model.roles.conversation_writer import ConversationWriter
from demo.fake_model.roles.decision_judges import ComposeJudge, ConductJudge, GroundJudge
from demo.fake_model.roles.dialogue_judge import DialogueJudge
from demo.fake_model.roles.fact_writer import FactWriter
from demo.fake_model.roles.improver import Improver
from demo.fake_model.roles.metadata_writer import MetadataWriter
from demo.fake_model.roles.next_speaker import NextSpeaker
from demo.fake_model.roles.overall_judge import OverallJudge
from demo.fake_model.roles.persona import Persona
from demo.fake_model.roles.probe import Probe
from demo.fake_model.roles.quiz_mapper import QuizMapper
from demo.fake_model.roles.reader import Reader
from demo.fake_model.roles.response_writer import ResponseWriter
from demo.fake_model.roles.rubric_judge import RubricJudge
from demo.fake_model.roles.session_summariser import SessionSummariser
from demo.fake_model.roles.style_writer import StyleWriter
from demo.fake_model.roles.summariser import Summariser
from demo.fake_model.roles.turn_judge import TurnJudge

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
    """Return the roles that recognise a prompt: one, where all is well."""
    return [role for role in ROLES.values() if role.recognises(request)]


__all__ = ["ROLES", "Answer", "Role", "recognise"]
