"""The tables of the people's side, one file per subject."""

from annotation.models.agreements import Consent, ConsentGiven, GuidelinesRead
from annotation.models.balancing import BalanceStratum, StratumShare
from annotation.models.campaign_roles import CampaignRole
from annotation.models.campaigns import (
    Campaign,
    CampaignMember,
    ComparedItem,
    Guidelines,
    SampledDialogue,
    SampledItem,
)
from annotation.models.checks import Attempt, CheckPlan, CheckResult, KeyAnswer, KeyTask, Standing
from annotation.models.comfort import Comfort
from annotation.models.corpora import Continuation, Corpus, Dialogue, Import, Item, ItemMember, System, Turn
from annotation.models.groups import (
    Gate,
    PeopleGroup,
    PersonLanguage,
    RequiredGroup,
    StratumGroup,
    TaskAuthor,
    WritingName,
)
from annotation.models.label_counts import LabelCount
from annotation.models.labels import Label, Occasion, live_labels
from annotation.models.notes import Bookmark, Message, Thread, TurnNote
from annotation.models.participants import JoinLink, JoinTry, Participant, ParticipantBrowser
from annotation.models.people import ApiToken, OneTimeLink, SignInIdentity, UserName
from annotation.models.raters import Rater
from annotation.models.records import QuestionSet, Record, RelationRows, SessionVersion, Use
from annotation.models.schemes import Question, Scheme, SchemeVersion, asks_about
from annotation.models.splits import JudgeOpening, Split, SplitCluster, TestLook
from annotation.models.uploads import Upload
from annotation.models.work import Assignment, Slot, Task

__all__ = [
    "Record",
    "RelationRows",
    "QuestionSet",
    "SessionVersion",
    "Use",
    "Attempt",
    "Standing",
    "KeyTask",
    "KeyAnswer",
    "CheckResult",
    "CheckPlan",
    "ApiToken",
    "Assignment",
    "BalanceStratum",
    "Bookmark",
    "Campaign",
    "CampaignMember",
    "ComparedItem",
    "CampaignRole",
    "Comfort",
    "Consent",
    "ConsentGiven",
    "Continuation",
    "Corpus",
    "Dialogue",
    "Gate",
    "Guidelines",
    "GuidelinesRead",
    "Import",
    "Item",
    "ItemMember",
    "JoinLink",
    "JoinTry",
    "JudgeOpening",
    "Label",
    "LabelCount",
    "Message",
    "Occasion",
    "OneTimeLink",
    "Participant",
    "ParticipantBrowser",
    "PeopleGroup",
    "PersonLanguage",
    "Question",
    "Rater",
    "RequiredGroup",
    "SampledDialogue",
    "SampledItem",
    "Scheme",
    "SchemeVersion",
    "SignInIdentity",
    "Slot",
    "Split",
    "StratumShare",
    "SplitCluster",
    "StratumGroup",
    "System",
    "Task",
    "TaskAuthor",
    "TestLook",
    "Thread",
    "Turn",
    "TurnNote",
    "Upload",
    "UserName",
    "WritingName",
    "asks_about",
    "live_labels",
]
