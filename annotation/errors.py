"""What can be refused in annotation, each with one line for whoever asked.

AnnotationError
├── WorkError              of campaigns and the work in them
│   ├── NotTaskHolder      the assignment is not this person's, or they are not a member of the campaign
│   ├── CampaignNotOpen    the campaign is a draft, paused or closed, or its deadline has passed
│   ├── LimitReached       the person has submitted as many tasks as one may, in all or today
│   ├── ConsentNeeded      the campaign's consent text has to be agreed to first; the draft is kept
│   ├── LeaseLost          the task went to someone else; the draft is kept
│   ├── AlreadySubmitted   a draft for a task whose answers are in
│   ├── KeptOtherwise      someone else's answers stand: both are shown, to choose from
│   │   ├── DraftConflict         a draft or a submit that has not seen another tab's or device's draft
│   │   └── SubmittedDifferently  a second, different submit of a submitted task
│   ├── AnswerRefused      an answer is missing, off the scale, or to something that was not asked
│   ├── SchemeRefused      a scheme has problems, is taken, used or changed meanwhile
│   ├── CampaignRefused    a campaign cannot be set up or change its state like this
│   ├── RevisionClosed     the campaign lets this submission be revised no longer, or never
│   ├── NoteRefused        a note or a message cannot be like this
│   ├── ThreadClosed       nothing more is said in a thread that was closed
│   └── SubmissionRefused  a submission cannot be returned or voided like this
├── SplitRefused           a split cannot be drawn, redrawn or opened like this
├── FamilyRefused          the family of a system cannot be called like this
├── ScriptRefused          a session or the names of a long dialogue cannot be changed like this
├── QuestionsRefused       facts, questions, relations or a question set cannot be changed like this
├── DeletionRefused        nothing was deleted
├── PeopleError            of accounts, links and tokens
│   ├── NameRefused        a user name that cannot be told apart, or holds what a name may not hold
│   ├── PasswordRefused    a password that is wrong, or too easy
│   ├── EmailRefused       what is no e-mail address, or another account's
│   ├── LinkRefused        a one-time link that is unknown, used, expired or of no use any more
│   ├── SignOnRefused      somebody who came by single sign-on and is not let in
│   ├── RoleRefused        a role, or a state, that an account cannot have
│   ├── TokenRefused       a token that cannot be made
│   ├── GroupRefused       a group, a language or a name to write under that cannot be
│   ├── JoinRefused        a link into a campaign cannot be made like this, or lets nobody in
│   │   └── TooManyTries   too many came from one address in an hour
│   ├── ComfortRefused     a setting of the annotation page that cannot be
│   └── PersonInUse        a person whose answers a report or gold is made of
└── ImportProblem          a file that cannot be imported: see annotation.formats.source
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.schemes.rules import Problem

MOST_PROBLEMS = 200
"""Problems of a scheme that an answer lists."""


class AnnotationError(Exception):
    """The base: the message is for people, `field` the part of a form that is at fault, if one is.

    `status` is for HTTP, `code` for programs, '' where they need none beside the status.
    """

    field = ""
    status = 400
    code = ""

    def details(self) -> dict[str, Any]:
        """Return what a program may want to know beyond code and message."""
        return {}


class SplitRefused(AnnotationError):
    """Why a split cannot be drawn, redrawn or opened."""


class FamilyRefused(AnnotationError):
    """Why the families of systems stay as they are."""

    field = "families"


class ScriptRefused(AnnotationError):
    """Why a long dialogue's sessions or names stay as they are; `field` is the part at fault."""

    def __init__(self, reason: str, *, field: str = "") -> None:
        super().__init__(reason)
        self.field = field


class QuestionsRefused(AnnotationError):
    """Why facts, questions, relations or a question set stay as they are; `field` is the part at fault."""

    def __init__(self, reason: str, *, field: str = "") -> None:
        super().__init__(reason)
        self.field = field


class DeletionRefused(AnnotationError):
    """Why nothing was deleted."""

    field = "confirmation"


class WorkError(AnnotationError):
    """What cannot be done in a campaign."""

    code = "refused"


class NotTaskHolder(WorkError):
    """Not this person's."""

    code = "not_found"
    status = 404


class CampaignNotOpen(WorkError):
    """No work at the moment."""

    code = "not_open"
    status = 409


class LimitReached(WorkError):
    """As many tasks as one person may submit."""

    code = "limit_reached"
    status = 409


class ConsentNeeded(WorkError):
    """The consent text in force has not been agreed to."""

    code = "consent_needed"
    status = 409


class LeaseLost(WorkError):
    """Someone else has the task now."""

    code = "lease_lost"
    status = 409


class AlreadySubmitted(WorkError):
    """The answers are in already."""

    code = "already_submitted"
    status = 409


class KeptOtherwise(WorkError):
    """Other answers are kept than those sent: `stored` has them, with their version."""

    status = 409

    def __init__(self, message: str, stored: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.stored = stored

    def details(self) -> dict[str, Any]:
        """Return the answers that are kept."""
        names = ("version", "answers", "evidence", "comment", "flagged")
        return {"kept": {name: self.stored[name] for name in names if name in self.stored}}


class DraftConflict(KeptOtherwise):
    """Another tab or device saved a draft that the sender has not seen."""

    code = "draft_conflict"


class SubmittedDifferently(KeptOtherwise):
    """Other answers were submitted already."""

    code = "submitted_differently"


class AnswerRefused(WorkError):
    """An answer cannot be stored."""

    code = "answer_refused"
    status = 422


class SchemeRefused(WorkError):
    """A scheme cannot be like this: `problems` has each field that is at fault, and why."""

    code = "scheme_refused"
    status = 422

    def __init__(self, problems: Sequence[Problem]) -> None:
        more = len(problems) - 1
        super().__init__(f"{problems[0]}{f' ({more:,} more)' if more else ''}")
        self.problems = list(problems)

    def details(self) -> dict[str, Any]:
        """Return every problem: the path to the field, the sentence, and the place in words."""
        problems = self.problems[:MOST_PROBLEMS]
        return {
            "problems": [
                {"path": problem.field, "sentence": problem.sentence, "place": problem.place}
                for problem in problems
            ]
        }


class CampaignRefused(WorkError):
    """A campaign cannot be like this."""

    code = "campaign_refused"
    status = 422


class SubmissionRefused(WorkError):
    """A submission cannot be withdrawn like this."""

    code = "submission_refused"
    status = 409


class RevisionClosed(WorkError):
    """The submission stands: the campaign lets it be revised no longer, or never."""

    code = "revision_closed"
    status = 409


class NoteRefused(WorkError):
    """A note on a turn, or a message, cannot be kept like this."""

    code = "note_refused"
    status = 422


class ThreadClosed(WorkError):
    """A researcher closed the thread."""

    code = "thread_closed"
    status = 409


# About people: names, accounts, links, groups.


class PeopleError(AnnotationError, ValueError):
    """The base of what is refused about people."""


class NameRefused(PeopleError):
    """Not a name that one can have."""

    field = "username"


class PasswordRefused(PeopleError):
    """Not a password that one can have."""

    field = "password"


class EmailRefused(PeopleError):
    """Not an address that this account can have, or that can be written to."""

    field = "email"
    status = 422


class LinkRefused(PeopleError):
    """The link opens nothing."""


class SignOnRefused(PeopleError):
    """Not let in; `account` is the number of the account where there is one.

    The message is shown to whoever tried. `why` is a word for the audit log, and `cause` names what went
    wrong between Concord and the provider: both are for administrators alone.
    """

    def __init__(self, message: str, why: str, account: int | None = None, *, cause: str = "") -> None:
        super().__init__(message)
        self.why, self.account, self.cause = why, account, cause


class RoleRefused(PeopleError):
    """The account cannot be this."""

    field = "role"


class TokenRefused(PeopleError):
    """No such token is made."""

    field = "name"


class ComfortRefused(PeopleError):
    """A person's settings cannot be like this; `field` is the setting at fault."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class GroupRefused(PeopleError):
    """A group cannot be called, change or go like this; nor can what a person reads or writes as."""

    field = "name"


class JoinRefused(PeopleError):
    """Nobody joins a campaign like this; `field` says what is at fault, where something is."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class TooManyTries(JoinRefused):
    """Come again later."""


class PersonInUse(PeopleError):
    """Reports or gold would lose what they were made of."""

    field = "despite_use"
