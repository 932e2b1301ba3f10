"""Table of judge protocols; families share a file."""

from jobs.prompt import Prompt, Unparseable
from jobs.tables import Table
from judges.protocols.cocoeval import CocoevalBehaviours, CocoevalOverall
from judges.protocols.cpdscore import (
    CpdscoreDetail,
    CpdscoreDialogue,
    CpdscoreOriginalDetail,
    CpdscoreOriginalSimple,
    CpdscoreSimple,
)
from judges.protocols.g_eval import GEval
from judges.protocols.pairwise import Pairwise
from judges.protocols.protocol import (
    Asking,
    Case,
    Computing,
    Member,
    Need,
    NeedAnswer,
    Protocol,
    Reading,
    Unfit,
    Unwritable,
    Verdict,
)
from judges.protocols.rubric import Rubric
from judges.protocols.rules_baseline import RulesBaseline
from judges.protocols.wording import Variable, Wording

PROTOCOLS: Table[Protocol] = Table(
    "protocols",
    {
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
            RulesBaseline(),
        )
    },
)

__all__ = [
    "PROTOCOLS",
    "Asking",
    "Case",
    "Computing",
    "NeedAnswer",
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
