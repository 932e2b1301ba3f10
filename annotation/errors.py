"""What can go wrong with an annotator's request, each with one line for the annotator.

WorkError
├── NotTaskHolder      the assignment is not this person's, or they are no member of the campaign
├── CampaignNotOpen    the campaign is a draft, paused or closed
├── LeaseLost          the task went to someone else; the draft is kept
├── AlreadySubmitted   a draft for a task whose answers are in
├── AnswerRefused      an answer is missing, off the scale, or to something that was not asked
└── CampaignRefused    a campaign cannot be set up or change its state like this
"""


class WorkError(Exception):
    """The base: `code` is for programs, `status` for HTTP, the message for people."""

    code = "refused"
    status = 400


class NotTaskHolder(WorkError):
    """Not this person's."""

    code = "not_found"
    status = 404


class CampaignNotOpen(WorkError):
    """No work at the moment."""

    code = "not_open"
    status = 409


class LeaseLost(WorkError):
    """Someone else has the task now."""

    code = "lease_lost"
    status = 409


class AlreadySubmitted(WorkError):
    """The answers are in already."""

    code = "already_submitted"
    status = 409


class AnswerRefused(WorkError):
    """An answer cannot be stored."""

    code = "answer_refused"
    status = 422


class CampaignRefused(WorkError):
    """A campaign cannot be like this."""

    code = "campaign_refused"
    status = 422
