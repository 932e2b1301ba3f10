"""What can be refused about people, each with one line that says what to do.

PeopleError (an AnnotationError)
├── NameRefused        a user name that cannot be told apart, or holds what a name may not hold
├── PasswordRefused    a password that is wrong, or too easy
├── EmailRefused       what is no e-mail address, or another account's
├── LinkRefused        a one-time link that is unknown, used, expired or of no use any more
├── SignOnRefused      somebody who came by single sign-on and is not let in
├── RoleRefused        a role, or a state, that an account cannot have
├── TokenRefused       a token that cannot be made
├── GroupRefused       a group, a language or a name to write under that cannot be
├── JoinRefused        a link into a campaign cannot be made like this, or lets nobody in
│   └── TooManyTries   too many came from one address in an hour
├── ComfortRefused     a setting of the annotation page that cannot be
└── PersonInUse        a person whose answers a report or gold is made of
"""

from annotation.errors import AnnotationError


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
