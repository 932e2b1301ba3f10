"""Errors of annotation, each with a one-line message for the user.

AnnotationError
├── WorkError              base of errors about campaigns and work in them
│   ├── NotTaskHolder      the assignment is not this person's, or they are not a member of the campaign
│   ├── CampaignNotOpen    the campaign is a draft, paused or closed, or its deadline has passed
│   ├── LimitReached       the person has reached the maximum number of tasks, in all or today
│   ├── ConsentNeeded      the person must agree to the campaign's consent text first; the draft is kept
│   ├── LeaseLost          the task went to someone else; the draft is kept
│   ├── AlreadySubmitted   a draft for a submitted task
│   ├── KeptOtherwise      other answers are stored: the page shows both, for the person to choose
│   │   ├── DraftConflict         a draft or a submit that has not seen another tab's or device's draft
│   │   └── SubmittedDifferently  a second, different submit of a submitted task
│   ├── AnswerRefused      an answer is missing, off the scale, or to a question that was not asked
│   ├── SchemeRefused      a scheme is invalid, its key taken, used, or changed in the meantime
│   ├── CampaignRefused    invalid campaign settings, or an impossible change of state
│   ├── RevisionClosed     the campaign no longer allows revising this submission, or never did
│   ├── NoteRefused        an invalid note or message
│   ├── ThreadClosed       no new messages in a closed thread
│   └── SubmissionRefused  a submission cannot be returned or voided
├── SplitRefused           a split cannot be drawn, redrawn or opened
├── FamilyRefused          an invalid model family of a system
├── ExclusionRefused       an unreadable exclusion of dialogues, or one by a question that nobody asks
├── RaterRefused           a judge or metric cannot have this short name
├── LongDialogueRefused    of long dialogues, with the field that is invalid
│   ├── ScriptRefused      an invalid change of a session or the names
│   └── QuestionsRefused   an invalid change of facts, questions, relations or a question set
├── DeletionRefused        nothing was deleted
├── PeopleError            base of errors about accounts, links and tokens
│   ├── NameRefused        a user name too similar to another, or with characters that are not allowed
│   ├── PasswordRefused    a wrong password, or one that is too easy
│   ├── EmailRefused       an invalid e-mail address, or another account's
│   ├── LinkRefused        a one-time link that is unknown, used, expired or no longer of use
│   ├── SignOnRefused      a sign-in by single sign-on that is not allowed
│   ├── RoleRefused        a role, or a state, that an account cannot have
│   ├── TokenRefused       a token that cannot be created
│   ├── GroupRefused       an invalid group, language or author name
│   ├── JoinRefused        invalid settings of a join link, or one that lets nobody in
│   │   └── TooManyTries   too many attempts from one address in an hour
│   ├── ComfortRefused     an invalid setting of the annotation page
│   └── PersonInUse        a report or gold uses the person's answers
└── ImportProblem          a file that cannot be imported: see annotation.formats.source
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.schemes.rules import Problem

MOST_PROBLEMS = 200
"""Maximum number of a scheme's problems in a response."""


class AnnotationError(Exception):
    """Base class: the message is for people, `field` is the invalid field of a form, if any.

    `status` is the HTTP status, `code` a code for programs, '' where the status is enough.
    """

    field = ""
    status = 400
    code = ""

    def details(self) -> dict[str, Any]:
        """Return the error's data for programs, beside code and message."""
        return {}


class SplitRefused(AnnotationError):
    """A split cannot be drawn, redrawn or opened."""


class FamilyRefused(AnnotationError):
    """The families of systems cannot be changed."""

    field = "families"


class ExclusionRefused(AnnotationError):
    """An exclusion of dialogues cannot be read, or is by a question that nobody asks."""

    field = "exclude"


class RaterRefused(AnnotationError):
    """A judge or metric cannot have this short name."""

    field = "short_name"
    status = 422


class LongDialogueRefused(AnnotationError):
    """Something about a long dialogue cannot be changed; `field` is the invalid part."""

    def __init__(self, reason: str, *, field: str = "") -> None:
        super().__init__(reason)
        self.field = field

    def details(self) -> dict[str, Any]:
        """Return the invalid part."""
        return {"field": self.field}


class ScriptRefused(LongDialogueRefused):
    """A long dialogue's sessions or names cannot be changed."""

    code = "script_refused"


class QuestionsRefused(LongDialogueRefused):
    """Facts, questions, relations or a question set cannot be changed."""

    code = "questions_refused"


class DeletionRefused(AnnotationError):
    """Nothing was deleted."""

    field = "confirmation"


class WorkError(AnnotationError):
    """Base class of errors about campaigns and the work in them."""

    code = "refused"


class NotTaskHolder(WorkError):
    """The task is not this person's."""

    code = "not_found"
    status = 404


class CampaignNotOpen(WorkError):
    """The campaign accepts no work at the moment."""

    code = "not_open"
    status = 409


class LimitReached(WorkError):
    """The person may submit no more tasks."""

    code = "limit_reached"
    status = 409


class ConsentNeeded(WorkError):
    """The person has not agreed to the current consent text."""

    code = "consent_needed"
    status = 409


class LeaseLost(WorkError):
    """Someone else has the task now."""

    code = "lease_lost"
    status = 409


class AlreadySubmitted(WorkError):
    """The task is already submitted."""

    code = "already_submitted"
    status = 409


class KeptOtherwise(WorkError):
    """Stored answers differ from those sent; `stored` are the stored answers, with their version."""

    status = 409

    def __init__(self, message: str, stored: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.stored = stored

    def details(self) -> dict[str, Any]:
        """Return the stored answers."""
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
    """A scheme is invalid: `problems` has each invalid field, with the reason."""

    code = "scheme_refused"
    status = 422

    def __init__(self, problems: Sequence[Problem]) -> None:
        more = len(problems) - 1
        super().__init__(f"{problems[0]}{f' ({more:,} more)' if more else ''}")
        self.problems = list(problems)

    def details(self) -> dict[str, Any]:
        """Return every problem: the path to the field, the message, and the place in words."""
        problems = self.problems[:MOST_PROBLEMS]
        return {
            "problems": [
                {"path": problem.field, "sentence": problem.sentence, "place": problem.place}
                for problem in problems
            ]
        }


class CampaignRefused(WorkError):
    """A campaign's settings or change of state are invalid."""

    code = "campaign_refused"
    status = 422


class SubmissionRefused(WorkError):
    """A submission cannot be withdrawn."""

    code = "submission_refused"
    status = 409


class RevisionClosed(WorkError):
    """The campaign no longer allows revising the submission, or never did."""

    code = "revision_closed"
    status = 409


class NoteRefused(WorkError):
    """A note on a turn, or a message, is invalid."""

    code = "note_refused"
    status = 422


class ThreadClosed(WorkError):
    """A researcher closed the thread."""

    code = "thread_closed"
    status = 409


# Errors about people: names, accounts, links, groups.


class PeopleError(AnnotationError, ValueError):
    """Base class of errors about people."""


class NameRefused(PeopleError):
    """The user name is not allowed."""

    field = "username"


class PasswordRefused(PeopleError):
    """The password is wrong or not allowed."""

    field = "password"


class EmailRefused(PeopleError):
    """The address is invalid, or this account cannot have it."""

    field = "email"
    status = 422


class LinkRefused(PeopleError):
    """The link is invalid."""


class SignOnRefused(PeopleError):
    """The sign-in is refused; `account` is the number of the account where there is one.

    The message is shown to the visitor. `why` is a word for the audit log, and `cause` the error between
    Concord and the provider: both are for administrators alone.
    """

    def __init__(self, message: str, why: str, account: int | None = None, *, cause: str = "") -> None:
        super().__init__(message)
        self.why, self.account, self.cause = why, account, cause


class RoleRefused(PeopleError):
    """The account cannot have this role or state."""

    field = "role"


class TokenRefused(PeopleError):
    """The token cannot be created."""

    field = "name"


class ComfortRefused(PeopleError):
    """A person's settings are invalid; `field` is the invalid setting."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class GroupRefused(PeopleError):
    """A group, its name or change, or a person's language or author name is invalid."""

    field = "name"


class JoinRefused(PeopleError):
    """Joining a campaign by this link is refused; `field` is the invalid field, if any."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class TooManyTries(JoinRefused):
    """Too many attempts: try again later."""


class PersonInUse(PeopleError):
    """Reports or gold use the person's answers."""

    field = "despite_use"
