"""Load the demo step by step: corpora, simulated ratings, campaigns, judges. Each step may be repeated."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Group, User

from annotation.campaigns import campaign_actions as campaigns
from annotation.corpora import splits
from annotation.corpora.import_file import import_path
from annotation.corpora.import_staging import ImportResult
from annotation.models import Campaign, Import, Rater, Split
from annotation.models.corpora import Corpus
from annotation.text.references import parse_item_key
from annotation.work import labels as raters
from calibration.models import Report
from calibration.studies import study_actions as studies
from config.permissions import RESEARCHERS
from demo import build
from demo import raters as simulate
from demo import raters as truth
from demo.fake_model.serving import MODEL
from demo.raters import RATERS, SimulatedAnswer
from jobs import runs
from jobs.calls.queue import work_slice as work
from jobs.endpoints import endpoint_actions as endpoints
from jobs.fake_models import ENDPOINT
from jobs.models import Endpoint
from jobs.models.run import Run
from jobs.queue.worker import Heartbeat
from judges.models import Prompt
from judges.prompts import prompt_actions as prompts
from judges.prompts import versions
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection

# Demo accounts, one per role, created only by `manage.py load_demo`.
#
# A password is derived from the installation's secret key: it differs between installations, stays the same
# between starts, and is stored nowhere.

# Judges of the demo on the fake model: an endpoint, two prompts, and a run of each on the dev part.

CORPUS = "Judge playground (demo)"
BUILT_IN = "cpdscore_simple_without_reference"
OWN = "replies as people see them"
SENTENCE = "Compare it with what a thoughtful person would have said here."
"""Counts as a better instruction in the fake model's error model `ordinary`."""


def endpoint(url: str, *, by: User) -> Endpoint:
    """Return the endpoint of the fake model at a base URL; the same endpoint at every start."""
    fields = {"name": ENDPOINT, "base_url": url, "model": MODEL, "allow_private": True, "active": True}
    fields |= {"price_in": 0, "price_out": 0}
    existing = Endpoint.objects.filter(name=ENDPOINT).first()
    if existing is not None and all(getattr(existing, name) == value for name, value in fields.items()):
        return existing
    return endpoints.save(by=by, fields=fields, endpoint=existing)


def has_moved(url: str) -> bool:
    """Whether the demo's fake model was at another URL before."""
    return Endpoint.objects.filter(name=ENDPOINT).exclude(base_url=url).exists()


def split(corpus: Corpus, *, by: User) -> Split:
    """Return the corpus's split, drawn if missing."""
    return splits.lock_of(corpus) or splits.draw(corpus=corpus, by=by)


def own_prompt(*, by: User) -> str:
    """Return the reference of the demo's own prompt: the built-in prompt and one more sentence."""
    prompt = Prompt.objects.filter(name=OWN).first()
    if prompt is None:
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


def start_judge_runs(fake_model: Endpoint, *, by: User) -> list[Run]:
    """Start a run of both prompts on the dev part, unless it is done."""
    corpus = Corpus.objects.get(name=CORPUS)
    selection = Selection(corpus, split=split(corpus, by=by), part="dev")
    judges = (
        Judge("cpdscore_simple", endpoint=fake_model),
        Judge(prompt=own_prompt(by=by), endpoint=fake_model),
    )
    return [run_actions.start(by=by, plan=judge.plan(), selection=selection) for judge in judges]


ROLES = ("annotator", "researcher", "administrator")
EMAIL = "{role}@demo.invalid"
"""Marks an account as the demo's own; the domain can never receive mail."""


class ForeignAccount(ValueError):
    """Somebody else created an account with a demo name; the message is one clear line."""


@dataclass(frozen=True, slots=True)
class Account:
    """A demo account. `password` is None if its user has changed it."""

    user: User
    password: str | None


def ensure(role: str) -> Account:
    """Return the demo account of a role, created if missing; raise ForeignAccount for another user's
    account.
    """
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
    """Return the account of a simulated person: nobody can sign in to it. Raises ForeignAccount."""
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


SOURCE = "Written for Concord's demo; ratings by simulated raters"
LICENCE = "GPL-3.0-or-later"

Answers = Callable[[truth.Truth], Iterator[SimulatedAnswer]]


@dataclass(frozen=True, slots=True)
class DemoCorpus:
    """A corpus of the demo, with the simulated answers to each scheme."""

    name: str
    file: str
    answers: Mapping[str, Answers]


@dataclass(frozen=True, slots=True)
class DemoCampaign:
    """A campaign of the demo."""

    name: str
    corpus: str
    scheme: str


CORPORA = (
    DemoCorpus(
        "Demo meetings",
        "meetings",
        {"cocoeval_behaviours": simulate.behaviour_answers, "cocoeval_overall": simulate.overall_answers},
    ),
    DemoCorpus(CORPUS, "judges", {"comperdial_turn": build.answers}),
    DemoCorpus(
        "Demo personas",
        "personas",
        {"comperdial_turn": simulate.reply_answers, "comperdial_dialogue": simulate.dialogue_answers},
    ),
)
CAMPAIGNS = (
    DemoCampaign("Demo: all replies together", "Demo personas", "comperdial_dialogue"),
    DemoCampaign("Demo: single replies", "Demo personas", "comperdial_turn"),
    DemoCampaign("Demo: meetings as a whole", "Demo meetings", "cocoeval_overall"),
    DemoCampaign("Demo: behaviours in meetings", "Demo meetings", "cocoeval_behaviours"),
)
"""In order of creation: lists show the latest first."""

RATERS_PER_ITEM = 2
JUDGE = "rules_baseline"
PATIENCE = 20.0
"""Seconds to wait for the judge; workers do the rest."""


def is_of_another_release(corpus: DemoCorpus) -> bool:
    """Whether the corpus was loaded from a file with other content: it may have real ratings."""
    loaded = Import.objects.filter(corpus__name=corpus.name, corpus__source=SOURCE)
    digest = hashlib.sha256((build.CORPORA / f"{corpus.file}.jsonl").read_bytes()).hexdigest()
    return loaded.exists() and not loaded.filter(content_hash=digest).exists()


def corpus_of_lines(name: str, lines: Callable[[], str], *, file: str, source: str, by: User) -> Corpus:
    """Return a corpus put together by rule, imported from its lines if missing; an existing one stays."""
    if existing := Corpus.objects.filter(name=name).first():
        return existing
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_text(lines(), encoding="utf-8")
        import_path(path=path, format="jsonl", corpus=name, into=False, by=by, source=source, licence=LICENCE)
    return Corpus.objects.get(name=name)


def dialogues(corpus: DemoCorpus, *, by: User) -> ImportResult:
    """Import the dialogues of a demo corpus."""
    return import_path(
        path=build.CORPORA / f"{corpus.file}.jsonl",
        format="jsonl",
        corpus=corpus.name,
        into=False,
        by=by,
        source=SOURCE,
        licence=LICENCE,
    )


def ratings(corpus: DemoCorpus, *, by: User) -> ImportResult:
    """Import the simulated ratings of a demo corpus, with raters marked as simulated."""
    stored = Corpus.objects.get(name=corpus.name)
    for rater in RATERS:
        raters.imported_rater(corpus=stored, kind=Rater.Kind.HUMAN, name=rater.name, simulated=True)
    planted = truth.load()
    by_scheme = {scheme: answers(planted) for scheme, answers in corpus.answers.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simulated-ratings.jsonl"
        path.write_text("".join(label_lines(by_scheme)), encoding="utf-8")
        return import_path(path=path, format="jsonl", corpus=corpus.name, into=True, by=by)


def label_lines(by_scheme: Mapping[str, Iterable[SimulatedAnswer]]) -> Iterator[str]:
    """Yield one line in the native format per dialogue, with its labels only."""
    labels: dict[str, list[dict[str, object]]] = defaultdict(list)
    for scheme, answers in by_scheme.items():
        for answer in answers:
            dialogue, continuation, _ = parse_item_key(answer.continuation)
            label = {
                "rater": answer.rater,
                "continuation": continuation,
                "turn": answer.turn,
                "scheme": scheme,
            }
            labels[dialogue].append({**label, "question": answer.question, "value": answer.value})
    for dialogue, dialogue_labels in labels.items():
        yield json.dumps({"id": dialogue, "labels": dialogue_labels}) + "\n"


def campaign(
    demo: DemoCampaign, *, by: User, annotators: Iterable[User], raters_per_item: int = RATERS_PER_ITEM
) -> Campaign:
    """Return a demo campaign, created and opened if missing; an existing campaign stays as it is."""
    existing = Campaign.objects.filter(name=demo.name).first()
    if existing:
        return existing
    campaign = campaigns.create(
        by=by,
        name=demo.name,
        corpus=Corpus.objects.get(name=demo.corpus),
        scheme=demo.scheme,
        raters_per_item=raters_per_item,
        annotators=annotators,
    )
    campaigns.open(by=by, campaign=campaign)
    return campaign


def judge(*, by: User) -> Run:
    """Run the judge that needs no model on the meetings, unless it ran before.

    If a user has drawn a split in the meantime, it runs on dev only: opening test is left to them.

    The work is done in this process, so that the first report includes a judge even without a worker; a
    running worker shares it, and this waits for its part.
    """
    corpus = Corpus.objects.get(name=CORPORA[0].name)
    ran = Run.objects.filter(corpus=corpus, rater__spec__protocol=JUDGE, state=Run.State.DONE).first()
    if ran is not None:
        return ran
    split = splits.lock_of(corpus)
    selection = Selection(corpus, split=split, part="dev") if split else Selection(corpus)
    run = run_actions.start(by=by, plan=Judge(JUDGE).plan(), selection=selection)
    finish(run)
    return run


def finish(run: Run) -> None:
    """Drive a run to its end here, next to any workers; workers finish what takes too long."""
    until = time.monotonic() + PATIENCE
    with Heartbeat(run.queue) as heartbeat:
        while run.state in runs.ACTIVE and time.monotonic() < until:
            work(run.queue, seconds=PATIENCE, heartbeat=heartbeat, only=[run.pk])
            time.sleep(0.1)
            run.refresh_from_db()


def fake_judges(fake_model: Endpoint, *, by: User) -> list[Run]:
    """Run the judges that use the fake model, and wait for them as for the other judge."""
    judge_runs = start_judge_runs(fake_model, by=by)
    for run in judge_runs:
        finish(run)
    return judge_runs


def report(corpus: str, *, by: User) -> Report:
    """Compute the calibration report of a demo corpus; reuse the existing one if nothing has changed."""
    study = studies.automatic(corpus=Corpus.objects.get(name=corpus))
    return studies.compute(study=study, part=studies.default_part(study), by=by)
