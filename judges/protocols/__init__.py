"""The judge protocols, one file each, in one table."""

from jobs.prompt import Prompt, Unparseable
from judges.protocols.answer_match import AnswerMatch
from judges.protocols.base import (
    Asking,
    Case,
    Computing,
    Member,
    Protocol,
    Reading,
    Unfit,
    Unwritable,
    Verdict,
)
from judges.protocols.cascade import Cascade
from judges.protocols.cocoeval_behaviours import CocoevalBehaviours
from judges.protocols.cocoeval_overall import CocoevalOverall
from judges.protocols.compose import Compose
from judges.protocols.conduct import Conduct
from judges.protocols.cpdscore_detail import CpdscoreDetail
from judges.protocols.cpdscore_dialogue import CpdscoreDialogue
from judges.protocols.cpdscore_original_detail import CpdscoreOriginalDetail
from judges.protocols.cpdscore_original_simple import CpdscoreOriginalSimple
from judges.protocols.cpdscore_simple import CpdscoreSimple
from judges.protocols.g_eval import GEval
from judges.protocols.ground_move import GroundMove
from judges.protocols.needs import Known, Need
from judges.protocols.pairwise import Pairwise
from judges.protocols.rubric import Rubric
from judges.protocols.rules_baseline import RulesBaseline
from judges.protocols.wording import Variable, Wording

PROTOCOLS: dict[str, Protocol] = {
    protocol.key: protocol
    for protocol in (
        CpdscoreSimple(),
        CpdscoreDetail(),
        CpdscoreDialogue(),
        CpdscoreOriginalSimple(),
        CpdscoreOriginalDetail(),
        CocoevalBehaviours(),
        CocoevalOverall(),
        Rubric(),
        GEval(),
        Pairwise(),
        Conduct(),
        Compose(),
        GroundMove(),
        Cascade(),
        AnswerMatch(),
        RulesBaseline(),
    )
}

__all__ = [
    "PROTOCOLS",
    "Asking",
    "Case",
    "Computing",
    "Known",
    "Member",
    "Need",
    "Prompt",
    "Protocol",
    "Reading",
    "Unfit",
    "Unparseable",
    "Unwritable",
    "Variable",
    "Verdict",
    "Wording",
]
