"""The tables of the people's side, one file per subject."""

from annotation.models.agreements import Consent, ConsentGiven, GuidelinesRead
from annotation.models.campaigns import (
    Assignment,
    Campaign,
    CampaignMember,
    Guidelines,
    SampledDialogue,
    Slot,
    Task,
)
from annotation.models.comfort import Comfort
from annotation.models.corpora import Continuation, Corpus, Dialogue, Import, Item, System, Turn
from annotation.models.label_counts import LabelCount
from annotation.models.labels import Label, Occasion, live_labels
from annotation.models.notes import Bookmark, Message, Thread, TurnNote
from annotation.models.people import ApiToken, OneTimeLink, UserName
from annotation.models.raters import Rater
from annotation.models.schemes import Question, Scheme, SchemeVersion
from annotation.models.splits import JudgeOpening, Split, SplitCluster, TestLook
from annotation.models.uploads import Upload

__all__ = [
    "ApiToken",
    "Assignment",
    "Bookmark",
    "Campaign",
    "CampaignMember",
    "Comfort",
    "Consent",
    "ConsentGiven",
    "Continuation",
    "Corpus",
    "Dialogue",
    "Guidelines",
    "GuidelinesRead",
    "Import",
    "Item",
    "JudgeOpening",
    "Label",
    "LabelCount",
    "Message",
    "Occasion",
    "OneTimeLink",
    "Question",
    "Rater",
    "SampledDialogue",
    "Scheme",
    "SchemeVersion",
    "Slot",
    "Split",
    "SplitCluster",
    "System",
    "Task",
    "TestLook",
    "Thread",
    "Turn",
    "TurnNote",
    "Upload",
    "UserName",
    "live_labels",
]
