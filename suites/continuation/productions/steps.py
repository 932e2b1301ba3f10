"""Steps of productions: creating their calls, and turning replies into the next step or the result.

Everything here happens in the transaction that stores the calls' results, with the productions locked: an
answered step has its successor, or the complete result exists.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef
from django.utils import timezone

from annotation import records
from annotation.corpora import continuing
from annotation.models import Continuation, ContinuationAuthor, System
from annotation.models.corpora import Dialogue
from jobs import errors, runs
from jobs.calls.outcomes import DEFECTS, Outcome
from jobs.calls.prepared import PreparedCall, Read
from jobs.endpoints.parameters import of_sample
from jobs.models.run import Call, Run
from jobs.prompt import Prompt, Tokens, Unparseable, about_tokens
from jobs.queue.waking import wake
from jobs.runs import OPEN
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, Failed, Reply
from suites.continuation.generators.generator import Done, Generator
from suites.continuation.models import Production, ProductionCall
from suites.continuation.productions.material import LOADERS, RESULTS, bound
from suites.continuation.productions.plans import LONGEST_NAME, Plan, continuation_id, digest, settings_of

# Needed productions: their results so far, and those not yet begun.

Place = tuple[int, str]
"""The id of a dialogue, and the hash of a condition."""


class Stuck(SystemsError):
    """A problem that needs a person; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Need:
    """A dialogue to write for under a plan; its material is read when the production begins."""

    corpus: int
    dialogue: int
    plan: Plan

    @property
    def place(self) -> Place:
        """Key of its production."""
        return self.dialogue, self.plan.digest


@dataclass(slots=True)
class Came:
    """Outcome of needs so far: results and errors by place.

    `missing` were never begun; `running` are the runs in which others are in progress.
    """

    results: dict[Place, Any] = field(default_factory=dict)
    failed: dict[Place, str] = field(default_factory=dict)
    missing: list[Need] = field(default_factory=list)
    running: set[int] = field(default_factory=set)


def named_alone(plan: Plan, label: str) -> Plan:
    """Return a plan under a writer's name that is unique to its settings, model and parameters."""
    mark = digest(plan.spec)[:8]
    return replace(plan, name=f"{label} {plan.endpoint.answering_model}"[: LONGEST_NAME - 9] + f" {mark}")


_COLUMNS = (
    "dialogue_id",
    "condition_hash",
    "status",
    "result",
    "error",
    "run_id",
    "run__state",
    "run__error",
)


def came(needs: Sequence[Need], own: Collection[int] | None = None) -> Came:
    """Return the state of the needed productions; raise Stuck where their run ended before they did.

    `own` are the runs that were started for these needs: productions that failed or stayed unfinished in
    another run count as missing, since a new run takes them over. None accepts any run.
    """
    state = Came()
    if not needs:
        return state
    rows = Production.objects.filter(
        writer__name__in={need.plan.name for need in needs},
        writer__corpus__in={need.corpus for need in needs},
        dialogue__in={need.dialogue for need in needs},
        trial=0,
    )
    rows_by_place = {(row["dialogue_id"], row["condition_hash"]): row for row in rows.values(*_COLUMNS)}
    for need in needs:
        _sort(need, rows_by_place.get(need.place), state, own)
    return state


def _sort(need: Need, row: Mapping[str, Any] | None, state: Came, own: Collection[int] | None) -> None:
    """Add one need to the outcome."""
    if row is None:
        state.missing.append(need)
    elif row["status"] == Production.Status.DONE:
        state.results[need.place] = row["result"]
    elif row["run__state"] in OPEN:
        state.running.add(row["run_id"])
    elif own is not None and row["run_id"] not in own:
        state.missing.append(need)
    elif row["status"] == Production.Status.FAILED:
        state.failed[need.place] = row["error"]
    else:
        why = row["run__error"] or f"it is {row['run__state']}"
        raise Stuck(f"Run {row['run_id']} did not come to its end: {why[:300]} Try again what failed.")


# A production's result becomes visible at once: its continuation with turns and items, its text, or its
# records.

LONGEST_KEY = 300


def finish(production: Production, done: Done) -> None:
    """Store a production's result in the current transaction, and mark it done; the caller saves it."""
    system = production.writer.system
    if production.generator in RESULTS or GENERATORS[production.generator].produces == "record":
        production.result = RESULTS[production.generator](production, done.records, _storable(done.text))
    elif system is None:
        production.result = _storable(done.text)
    else:
        production.continuation = continuing.add(
            dialogue=production.dialogue, system=system, record=_record(production, system, done)
        )
        if done.people:
            _keep_people(production.dialogue, done.people)
    production.status, production.error, production.finished_at = Production.Status.DONE, "", timezone.now()
    production.flags = list(dict.fromkeys([*production.flags, *map(_line, done.flags)]))
    production.memory = {}


def _record(production: Production, system: System, done: Done) -> records.Continuation:
    static = any(turn.at is not None for turn in done.turns)
    return records.Continuation(
        id=continuation_id(system.name, production.condition_hash, production.trial),
        system=system.name,
        turns=tuple(map(_clean, done.turns)),
        mode="static" if static else "rollout",
        trial=production.trial,
        condition=production.condition | _facts_of_material(production),
    )


def _facts_of_material(production: Production) -> dict[str, str]:
    """Return the facts about the generator's material for a continuation's condition."""
    needs = GENERATORS[production.generator].needs
    return LOADERS[needs].facts(production.condition) if needs else {}


def _keep_people(dialogue: Dialogue, turns: Sequence[records.Turn]) -> None:
    """Store people's own turns at some points as a static continuation, shared by all writers there.

    Whoever wrote the dialogue wrote these turns.
    """
    Dialogue.objects.select_for_update().get(pk=dialogue.pk)
    content = json.dumps([[turn.at, turn.speaker, turn.text] for turn in turns], ensure_ascii=False)
    key = f"{records.HUMAN}-{hashlib.sha256(content.encode('utf-8', 'replace')).hexdigest()[:8]}-0"
    if Continuation.objects.filter(dialogue=dialogue, key=key).exists():
        return
    system, _ = System.objects.get_or_create(corpus_id=dialogue.corpus_id, name=records.HUMAN)
    continuation = records.Continuation(id=key, system=records.HUMAN, turns=tuple(turns), mode="static")
    row = continuing.add(dialogue=dialogue, system=system, record=continuation)
    authors = ContinuationAuthor.objects.filter(
        continuation__dialogue=dialogue, continuation__key=records.SELF
    )
    ContinuationAuthor.objects.bulk_create(
        ContinuationAuthor(continuation=row, user_id=user) for user in authors.values_list("user", flat=True)
    )


def _clean(turn: records.Turn) -> records.Turn:
    speaker = _storable(turn.speaker)[:LONGEST_KEY]
    return records.Turn(
        speaker=speaker,
        text=_storable(turn.text),
        at=turn.at,
        given=turn.given,
        act=turn.act,
        addressees=tuple(_storable(addressee) for addressee in turn.addressees),
        audience=turn.audience,
        session=turn.session,
        extra=turn.extra,
    )


def _line(flag: str) -> str:
    return str(_storable(flag))[:300]


def _storable(value: Any) -> Any:
    """Return text, or JSON data with its texts, that PostgreSQL can store: no NUL, no lone surrogates."""
    if isinstance(value, str):
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value


SHARED, ALONE = 0, 1
"""Parts of a production with a shared first request: the shared call, and its own follow-up call."""
_SAVE = """
UPDATE continuation_production SET memory = %s::jsonb, step = %s, status = %s, error = %s, flags = %s::jsonb,
       continuation_id = %s, result = %s::jsonb, finished_at = %s WHERE id = %s
"""
NOTHING = "the model wrote nothing"
FAILED_CALL = "The call failed."
WENT_ON = "It failed, what was being written went on without it, and it is not asked again."
Links = dict[int, list[ProductionCall]]
Shares = dict[tuple[int, int], str]
"""A production's own part of a shared reply, by call and production."""


def generator_of(production: Production) -> Generator:
    """Return the generator of a production, bound to its material.

    Raises Failed where the material is gone.
    """
    generator = GENERATORS[production.generator]
    if not generator.needs:
        return generator
    settings = settings_of(generator, production.writer, production.condition)
    endpoint = production.run.endpoint
    return bound(generator, dialogue=production.dialogue_id, settings=settings, endpoint=endpoint)


def width_of(production: Production) -> int:
    """Return the number of productions of the same writer and condition that share a request."""
    generator = GENERATORS[production.generator]
    return generator.together(settings_of(generator, production.writer, production.condition))


def open_steps(productions: Sequence[Production]) -> None:
    """Create the calls of each production's current step, or finish the production; saves the productions.

    `productions` are new to their step and locked, or not yet visible to other transactions.
    """
    planned: list[tuple[Call, list[tuple[Production, int]]]] = []
    sharing: dict[tuple[int, int], list[Production]] = defaultdict(list)
    for production in productions:
        try:
            request = generator_of(production).request(production.memory)
        except Failed as error:
            _fail(production, str(error))
            continue
        if isinstance(request, Done):
            _end(production, request)
        elif width_of(production) > 1:
            sharing[production.run_id, production.trial].append(production)
        else:
            for part in range(len(request)):
                planned.append((_call(production, part, len(request)), [(production, part)]))
    for together in sharing.values():
        width = width_of(together[0])
        for begin in range(0, len(together), width):
            group = together[begin : begin + width]
            shared = _call(group[0], 0, 1, others=len(group) - 1)
            planned.append((shared, [(production, SHARED) for production in group]))
    _make(planned)
    _save(productions)


def answered(calls: Sequence[Call]) -> int:
    """Advance the productions of finished calls; return the number of finished productions."""
    ids = set(
        ProductionCall.objects.filter(call__in=[call.pk for call in calls]).values_list(
            "production", flat=True
        )
    )
    productions = list(
        Production.objects.select_for_update(of=("self",))
        .select_related("writer__system", "dialogue", "run")
        .filter(pk__in=ids)
        .order_by("pk")
    )
    links = _links(productions)
    shares = _shares(calls)
    on: list[Production] = []
    for production in productions:
        if production.status != Production.Status.DONE and _take(production, links[production.pk], shares):
            on.append(production)
    _save([production for production in productions if production not in on])
    open_steps(on)
    return sum(production.status == Production.Status.DONE for production in productions)


def reconcile(run: Run) -> None:
    """Process calls that failed without a result, for instance because their worker was lost.

    Most productions fail with them; those whose generator takes failures continue.
    """
    failed = ProductionCall.objects.filter(
        production=OuterRef("pk"), step=OuterRef("step"), call__state=Call.State.FAILED
    )
    waiting = Production.objects.filter(run=run, status=Production.Status.WRITING)
    for production in waiting.filter(Exists(failed)):
        on = _take(production, _links([production])[production.pk], {})
        if on:
            open_steps([production])
        else:
            _save([production])


def take_up(run: Run) -> None:
    """Reset failed productions to WRITING where a call of their step is waiting again."""
    _leave_taken(run)
    waiting = ProductionCall.objects.filter(
        production=OuterRef("pk"), step=OuterRef("step"), call__state__in=runs.UNFINISHED
    )
    failed = Production.objects.filter(run=run, status=Production.Status.FAILED)
    failed.filter(Exists(waiting)).update(status=Production.Status.WRITING, error="", finished_at=None)


def takes_failures(run: Run) -> bool:
    """Whether the run's generator continues after failed calls, so that the run does not fail with them."""
    key = Production.objects.filter(run=run).values_list("generator", flat=True).first()
    return key is not None and GENERATORS[key].takes_failures


def _leave_taken(run: Run) -> None:
    """Mark calls as failed again whose production continued without them: they are not retried."""
    links = ProductionCall.objects.filter(call=OuterRef("pk"))
    passed = links.filter(step__lt=F("production__step"))
    current = links.filter(step=F("production__step"))
    waiting = Call.objects.filter(Exists(passed), ~Exists(current), run=run, state=Call.State.PENDING)
    waiting.update(state=Call.State.FAILED, error=WENT_ON, finished_at=timezone.now())


def _take(production: Production, links: Sequence[ProductionCall], shares: Shares) -> bool:
    """Process a step's replies so far; return whether the next step may open."""
    shares_requests = width_of(production) > 1
    links = links[-1:] if shares_requests else links  # the shared request, or its own follow-up
    takes_failures = GENERATORS[production.generator].takes_failures
    failed = next((link.call for link in links if link.call.state == Call.State.FAILED), None)
    if failed and not takes_failures:
        _fail(production, failed.error)
        return False
    if any(link.call.state not in (Call.State.DONE, Call.State.FAILED) for link in links):
        return False
    try:
        generator = generator_of(production)
        if shares_requests:
            return _take_own(production, links[0], shares)
        replies = [_reply(link.call) for link in links]
        _accept(production, generator, replies)
    except Unparseable as error:
        _fail(production, f"unparseable: {error}")
    except Failed as error:
        _fail(production, str(error))
    else:
        return True
    return False


def _take_own(production: Production, last: ProductionCall, shares: Shares) -> bool:
    """Process a production's own part of a shared reply; if missing, ask for it alone, once.

    Raises Unparseable or Failed if that call was already made.
    """
    generator = generator_of(production)
    if last.part == ALONE:
        _accept(production, generator, [_reply(last.call)])
        return True
    own = shares.get((last.call_id, production.pk))
    if own is not None:
        try:
            _accept(production, generator, [Reply(own)])
        except Unparseable:
            own = None
    if own is not None:
        return True
    call = _call(production, ALONE, 1)
    call.part = f"{call.part}, asked alone"[:100]
    call.reasked = production.run.reasks  # this is the repeated request
    _make([(call, [(production, ALONE)])])
    return False


def _accept(production: Production, generator: Generator, replies: Sequence[Reply]) -> None:
    production.memory = generator.receive(production.memory, replies)
    production.step += 1
    production.status, production.error, production.finished_at = Production.Status.WRITING, "", None


def _end(production: Production, done: Done) -> None:
    """Finish a production, or fail it where it has no turns."""
    if production.writer.system is not None and not done.turns:
        _fail(production, NOTHING)
    else:
        finish(production, done)


def _fail(production: Production, error: str) -> None:
    production.status = Production.Status.FAILED
    production.error = error[:2000] or FAILED_CALL
    production.finished_at = timezone.now()


def _reply(call: Call) -> Reply:
    seconds = None if call.latency_ms is None else call.latency_ms / 1000
    error = (call.error or FAILED_CALL) if call.state == Call.State.FAILED else ""
    return Reply(call.reply, call.tokens_in, call.tokens_out, call.asked, seconds, error)


def _links(productions: Sequence[Production]) -> Links:
    """Return the links of each production's current step with their calls, by part."""
    at = {production.pk: production.step for production in productions}
    links_by_production: Links = {pk: [] for pk in at}
    rows = ProductionCall.objects.select_related("call").filter(
        production__in=list(at), step=F("production__step")
    )
    for link in rows.order_by("production_id", "part"):
        links_by_production[link.production_id].append(link)
    return links_by_production


def _shares(calls: Iterable[Call]) -> Shares:
    """Return the productions' own parts of shared replies."""
    done = [call for call in calls if call.state == Call.State.DONE]
    rows = (
        ProductionCall.objects.select_related("production__writer")
        .filter(call__in=[call.pk for call in done], part=SHARED)
        .order_by("call_id", "production_id")
    )
    groups: dict[int, list[Production]] = defaultdict(list)
    for link in rows:
        groups[link.call_id].append(link.production)
    replies = {call.pk: call.reply for call in done}
    shares: Shares = {}
    for call, productions in groups.items():
        if width_of(productions[0]) > 1:
            own = generator_of(productions[0]).apart(
                [production.memory for production in productions], replies[call]
            )
            pairs = zip(productions, own, strict=True)
            shares |= {(call, production.pk): text for production, text in pairs if text is not None}
    return shares


def _call(production: Production, part: int, parts: int, others: int = 0) -> Call:
    """Return a new call of a production's step, with a readable label."""
    label = f"step {production.step + 1}" + (f", part {part + 1} of {parts}" if parts > 1 else "")
    label += f", {others} more with it" if others else ""
    label += f", trial {production.trial + 1}" if production.trial else ""
    stopped = production.run.state == Run.State.CANCELLED
    return Call(
        run=production.run,
        part=f"{production.dialogue.key[: 98 - len(label)]}, {label}",
        sample=production.trial,
        state=Call.State.CANCELLED if stopped else Call.State.PENDING,
    )


def _save(productions: Sequence[Production]) -> None:
    """Save the changed fields of productions in one round trip, row by row, without reading states back."""
    with connection.cursor() as cursor:
        cursor.executemany(_SAVE, [_row(production) for production in productions])


def _row(production: Production) -> tuple[Any, ...]:
    result = None if production.result is None else _json(production.result)
    return (
        *(_json(production.memory), production.step, production.status, production.error),
        *(_json(production.flags), production.continuation_id, result, production.finished_at),
        production.pk,
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _make(planned: Sequence[tuple[Call, Sequence[tuple[Production, int]]]]) -> None:
    Call.objects.bulk_create([call for call, _ in planned])
    ProductionCall.objects.bulk_create(
        [
            ProductionCall(production=production, step=production.step, part=part, call=call)
            for call, served in planned
            for production, part in served
        ]
    )


# Calls of generators: from a production's state to the prompt, and from the reply to the next state.

logger = logging.getLogger(__name__)
FINISHED = (Call.State.DONE, Call.State.FAILED)


class GenerateRun:
    """Run kind of generators: each call is a prompt of one production or of several that share it."""

    def preparer(self) -> GenerateRun:
        """Return itself: states change with every step, so batches share nothing."""
        return self

    def make(self, calls: Sequence[Call]) -> list[PreparedCall]:
        """Return the prepared calls, in order."""
        links: dict[int, list[ProductionCall]] = defaultdict(list)
        rows = ProductionCall.objects.select_related("production__writer", "production__run__endpoint")
        for link in rows.filter(call__in=[call.pk for call in calls]).order_by("production_id"):
            links[link.call_id].append(link)
        return [_prepare_call(call, links[call.pk]) for call in calls]

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Fail: generators call models, they do not compute."""
        raise AssertionError(f"{len(calls)} calls of generators on the queue of metrics")

    def record(self, results: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Advance the productions of finished calls; return the number of finished productions."""
        finished = [call for call, _ in results if call.state in FINISHED]
        return answered(finished) if finished else 0

    def reopened(self, run: Run) -> None:
        """Reset failed productions whose calls are waiting again."""
        take_up(run)

    def awaits_calls(self, run: Run) -> bool:
        """Return False: its calls are all there, or come with the results of others."""
        return False

    def settled(self, run: Run) -> None:
        """Count finished and failed productions; a failed production fails the run."""
        reconcile(run)
        if run.calls.filter(
            state__in=runs.UNFINISHED
        ).exists():  # a failure was accepted; the next step waits
            run.state, run.error, run.finished_at = Run.State.QUEUED, "", None
            wake(run.queue)
            return
        states = Production.objects.filter(run=run).values("status")
        counts = {row["status"]: row["n"] for row in states.annotate(n=Count("pk"))}
        run.values, run.missing = counts.get("done", 0), counts.get("failed", 0)
        failed = Production.objects.filter(run=run, status="failed").values("error")
        common = failed.annotate(n=Count("pk")).order_by("-n", "error").first()
        run.missing_reason = common["error"] if common else ""
        if run.missing:
            run.state = Run.State.FAILED
            total = run.values + run.missing
            run.error = f"{run.missing} of {total} productions failed: {run.missing_reason[:300]}"
        elif run.state == Run.State.FAILED and takes_failures(run):
            run.state, run.error = Run.State.DONE, ""


def _prepare_call(call: Call, links: Sequence[ProductionCall]) -> PreparedCall:
    """Prepare a call; where the prompt cannot be made, the call carries its failure."""
    by = call.run.spec.get("generator", "a generator")
    try:
        return _ready(call, links)
    except DEFECTS as error:
        logger.exception("%s failed on call %s", by, call.pk)
        trouble = f"defect in {by}: {type(error).__name__}: {error}"
        return PreparedCall(
            call, by, ready_outcome=Outcome(call.pk, "failed", error=trouble, error_kind=errors.DEFECT)
        )


def _ready(call: Call, links: Sequence[ProductionCall]) -> PreparedCall:
    spec, part = call.run.spec, links[0].part
    productions = [link.production for link in links]
    generator = generator_of(productions[0])
    shared = width_of(productions[0]) > 1 and part == SHARED
    if shared:
        prompt = generator.shared([production.memory for production in productions])
    else:
        prompt = _prompt(generator, productions[0], part)
    read = partial(_read_shared if shared else _read, generator, productions, part)
    usual_tokens = _usual(generator, productions) if call.run.is_capped else 100
    sent = of_sample(spec["parameters"], call.sample)
    return PreparedCall(call, generator.key, prompt, None, spec["model"], sent, read, usual_tokens)


def _prompt(generator: Generator, production: Production, part: int) -> Prompt:
    prompts = generator.request(production.memory)
    assert isinstance(prompts, Sequence), f"{production} was done before it was asked"
    return prompts[0] if width_of(production) > 1 else prompts[part]


def _usual(generator: Generator, productions: Sequence[Production]) -> int:
    """Return the approximate number of tokens in a reply."""
    lengths = [max(map(about_tokens, generator.pretend(production.memory))) for production in productions]
    return sum(lengths)


def _read(
    generator: Generator, productions: Sequence[Production], part: int, reply: str, _tokens: Tokens
) -> Read:
    alone = 0 if width_of(productions[0]) > 1 else part
    generator.check(productions[0].memory, alone, reply)
    return Read()


def _read_shared(
    generator: Generator, productions: Sequence[Production], _part: int, reply: str, _tokens: Tokens
) -> Read:
    generator.apart([production.memory for production in productions], reply)
    return Read()


RUN = GenerateRun()
