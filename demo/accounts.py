"""The demo accounts, one of each role, made by `manage.py load_demo` and by nothing else.

A password is derived from the installation's secret key: it differs from one installation to the next, stays
the same from one start to the next, and is written down nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass, replace

from django.conf import settings
from django.contrib.auth.models import Group, User

from annotation.corpora import splits
from annotation.models import Corpus, Split
from config.permissions import RESEARCHERS
from demo.fake_model.serving import MODEL
from jobs.endpoints import actions as endpoints
from jobs.fake_models import ENDPOINT
from jobs.models import Endpoint, Run
from judges.models import Prompt
from judges.prompts import actions as prompts
from judges.prompts import versions
from judges.runs import actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection

# Judges of the demo that ask the fake model: an endpoint, two prompts, and a run of each on the dev part.

CORPUS = "Trying out judges"
BUILT_IN = "cpdscore_simple_without_reference"
OWN = "replies as people see them"
SENTENCE = "Compare it with what a thoughtful person would have said here."
"""What the fake model's error model `ordinary` takes for a better instruction."""


def endpoint(url: str, *, by: User) -> Endpoint:
    """Return the endpoint of a fake model that answers at a base URL; the same one at every start."""
    fields = {"name": ENDPOINT, "base_url": url, "model": MODEL, "allow_private": True, "active": True}
    fields |= {"price_in": 0, "price_out": 0}
    found = Endpoint.objects.filter(name=ENDPOINT).first()
    if found is not None and all(getattr(found, name) == value for name, value in fields.items()):
        return found
    return endpoints.save(by=by, fields=fields, endpoint=found)


def has_moved(url: str) -> bool:
    """Whether the demo's fake model answered at another address before."""
    return Endpoint.objects.filter(name=ENDPOINT).exclude(base_url=url).exists()


def split(corpus: Corpus, *, by: User) -> Split:
    """Return the corpus's split, drawn where there is none."""
    return splits.lock_of(corpus) or splits.draw(corpus=corpus, by=by)


def own_prompt(*, by: User) -> str:
    """Return the reference of the demo's own prompt: the built-in one and a sentence more."""
    found = Prompt.objects.filter(name=OWN).first()
    if found is None:
        built_in = versions.find(BUILT_IN)
        wording = replace(built_in.wording, system=f"{built_in.wording.system}\n\n{SENTENCE}")
        prompts.create(
            by=by,
            name=OWN,
            protocol=built_in.protocol,
            variant=built_in.variant,
            wording=wording,
            description="The built-in prompt with one sentence more, to compare the two.",
            parent=built_in.ref,
        )
    return f"{OWN}@1"


def runs(url: str, *, by: User) -> list[Run]:
    """Start a run of both prompts over the dev part; one that is done is not done again."""
    corpus = Corpus.objects.get(name=CORPUS)
    asked = endpoint(url, by=by)
    selection = Selection(corpus, split=split(corpus, by=by), part="dev")
    judges = (Judge("cpdscore_simple", endpoint=asked), Judge(prompt=own_prompt(by=by), endpoint=asked))
    return [actions.start(by=by, plan=judge.plan(), selection=selection) for judge in judges]


ROLES = ("annotator", "researcher", "administrator")
EMAIL = "{role}@demo.invalid"
"""Marks an account as the demo's own; the domain can never receive mail."""


class ForeignAccount(ValueError):
    """An account of a demo name that somebody else made; the message is one clear line."""


@dataclass(frozen=True, slots=True)
class Account:
    """A demo account. `password` is None where its user has changed it."""

    user: User
    password: str | None


def ensure(role: str) -> Account:
    """Return the demo account of a role, made where it is missing; raise ForeignAccount for a stranger's."""
    password = derived_password(role)
    user = User.objects.filter(username=role).first()
    if user is None:
        user = User.objects.create_user(role, EMAIL.format(role=role), password)
    elif user.email != EMAIL.format(role=role):
        raise ForeignAccount(
            f"The account “{role}” was not made by the demo: load the demo into another database."
        )
    if role == "researcher":
        user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    if role == "administrator" and not user.is_superuser:
        user.is_superuser = True
        user.save(update_fields=["is_superuser"])
    return Account(user, password if user.check_password(password) else None)


def simulated(name: str) -> User:
    """Return the account of somebody simulated: nobody can sign in to it. Raises ForeignAccount."""
    user = User.objects.filter(username=name).first()
    if user is None:
        return User.objects.create_user(name, EMAIL.format(role=name), password=None)
    if user.email != EMAIL.format(role=name):
        raise ForeignAccount(
            f"The account “{name}” was not made by the demo: load the demo into another database."
        )
    return user


def derived_password(role: str) -> str:
    """Return twelve letters and digits in groups of four."""
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"demo {role}".encode(), hashlib.sha256)
    letters = base64.b32encode(digest).decode().lower()[:12]
    return "-".join(letters[start : start + 4] for start in range(0, 12, 4))
