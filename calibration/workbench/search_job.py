"""One step of a prompt search in the background, with the calls to improving models."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from annotation.text.views import one_line
from calibration.models import Search, SearchRequest, SearchText
from calibration.workbench import searches
from calibration.workbench.searches import (
    HELD_BACK,
    IMPROVE,
    LEARN,
    REPLY_TOKENS,
    Bounds,
    Figure,
    figures,
    name_of,
)
from jobs import runs
from jobs.calls.outcomes import Outcome
from jobs.calls.prepared import PreparedCall, Read
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from jobs.models.run import Call, Run
from jobs.prompt import Prompt, Tokens
from judges.drafts import benches
from judges.drafts import draft_actions as drafts
from judges.models import BenchTarget, DraftAnswer, PromptVersion
from judges.prompts import prompt_actions as prompts
from judges.prompts import search as reflection
from judges.prompts import versions
from judges.prompts.search import (
    Answers,
    Asks,
    Disagreement,
    OutOfBudget,
    Proposed,
    SearchCandidate,
    Settings,
    Target,
    Value,
    evolve,
)
from judges.protocols import PROTOCOLS, Wording
from judges.protocols.protocol import Asking
from judges.runs.material import answers_for_needs, case_of, load
from judges.runs.plans import asker_of

# Calls to improving models: prepared, parsed, and their proposals recorded.

# Description of a disagreement for an improving model: the judge's material, its answers, people's answers.

MATERIAL = (
    "facts",
    "people",
    "profiles",
    "history",
    "context",
    "turns",
    "responses",
    "turn_scores",
    "rated",
    "reference",
    "response",
)
"""Variables that hold the judge's material, in display order."""


def describe_disagreement(search: Search, row: BenchTarget, target: Target, answers: Answers) -> Disagreement:
    """Return a case for the improving model; turns without a difference are omitted."""
    spec = search.texts.select_related("draft__rater").earliest("number").draft.rater.spec
    asker = asker_of(spec)
    assert isinstance(asker.protocol, Asking)
    loaded = load({row.continuation_id})
    needed_answers = answers_for_needs(asker.protocol, spec["needs"], loaded) if "needs" in spec else {}
    material = loaded[row.continuation_id]
    case = case_of(material, row.item_id, spec, needed_answers.get(row.continuation_id), asker.parts()[0])
    values = asker.protocol.values(case, asker.variant)
    materials = tuple(
        filling if isinstance(filling, str) else filling()
        for filling in (values[name] for name in MATERIAL if name in values)
    )
    number = {item: place + 1 for place, item in enumerate(_in_order(material.items))}
    many = len({item for _, item in target.people}) > 1
    judged: list[str] = []
    people_lines: list[str] = []
    reasons: list[str] = []
    for (name, item), people in target.people.items():
        judge = answers.get((name, item))
        if many and all(judge == value for value in people):
            continue
        where = f"[{number[item]}] " if many else ""
        judged.append(f"{where}{name}: {_value_text(judge)}")
        people_lines.append(f"{where}{name}: {', '.join(map(_value_text, people))}")
        for reason in target.reasons.get((name, item), ()):
            reasons.append(f"{where}{name}: {case.view.line(reason)}")
    return Disagreement(target.key, materials, tuple(judged), tuple(people_lines), tuple(reasons))


def _in_order(items: Mapping[int | None, int]) -> Sequence[int]:
    return [item for turn, item in sorted((turn, item) for turn, item in items.items() if turn is not None)]


def _value_text(value: Value | None) -> str:
    if value is None:
        return "(no answer)"
    return one_line(value) if isinstance(value, str) else f"{value:g}"


class ImproveRun:
    """Runs of improving models: each call is a request of a search."""

    def preparer(self) -> ImproveRun:
        """Return itself: nothing is cached between batches."""
        return self

    def make(self, calls: Sequence[Call]) -> list[PreparedCall]:
        """Prepare the calls, in order."""
        rows = SearchRequest.objects.select_related(
            "search__bench", "search__improver", "search__rater", "base"
        )
        requests = {
            (row.search_id, row.digest): row for row in rows.filter(digest__in=[call.part for call in calls])
        }
        return [self._prepare_call(call, requests[call.run.scope["search"], call.part]) for call in calls]

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Not applicable: improving models are called, not computed."""
        raise AssertionError(f"{len(calls)} requests for proposals on the queue of metrics")

    def record(self, results: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the proposals; a proposal is no label."""
        for _, answers in results:
            for request, proposal in answers:
                SearchRequest.objects.filter(pk=request, done=False).update(
                    text=versions.store(wording=proposal.wording), diagnosis=proposal.diagnosis, done=True
                )
        return 0

    def reopened(self, run: Run) -> None:
        """Nothing to do: the calls alone determine what is repeated."""

    def awaits_calls(self, run: Run) -> bool:
        """Return False: its calls are all there, or come with the results of others."""
        return False

    def settled(self, run: Run) -> None:
        """Continue the search."""
        run.values = SearchRequest.objects.filter(search=run.scope["search"], text__isnull=False).count()
        run.missing, run.missing_reason = 0, ""
        benches.settled(run)

    def _prepare_call(self, call: Call, row: SearchRequest) -> PreparedCall:
        prompt = Prompt(row.system, row.user, reflection.SCHEMA)
        search = row.search
        sent = search.rater.spec.get("parameters", {})
        read = partial(_read, row)
        return PreparedCall(call, "improve", prompt, None, search.improver.model, sent, read, REPLY_TOKENS)


def _read(row: SearchRequest, reply: str, _tokens: Tokens) -> Read:
    protocol = PROTOCOLS[row.search.bench.protocol]
    assert isinstance(protocol, Asking)
    variables = protocol.known_variables(row.search.variant)
    proposal = reflection.read(reply, versions.wording_of(row.base), variables)
    return Read(((row.pk, proposal),))


RUN = ImproveRun()


# One step of a search: replayed from the beginning, as far as the answers reach.
#
# A step runs under a lock on the search's row and writes its results in one transaction. It makes requests by
# putting calls into the queue, and ends; once they are answered the next step gets further. So a search
# blocks no worker, and a killed one loses nothing and pays for nothing twice.

# Requests of a search: to the judge about targets, and to the improving model about disagreements.
#
# Requests are never sent directly. Existing answers are read; missing ones are put into the queue of calls,
# and the search waits. Once the answers arrive it is replayed from the beginning, as far as they reach: the
# same answers always lead to the same requests.
#
#     Waiting       answers are pending
#     OutOfBudget   further requests would exceed the search's bounds (judges.prompts.search)

Place = tuple[int, int | None]


class Waiting(Exception):
    """A request has no answer yet."""


class SearchCalls:
    """Requests of one search, within a transaction that holds its row."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.bounds = Bounds(search)
        self.calls_each = len(benches.protocol_of(search.bench, search.variant).parts(search.variant))
        self.questions = {pk: name for name, pk in search.bench.questions.items()}
        ids = searches.ids_of(search)
        rows = BenchTarget.objects.filter(bench=search.bench).in_bulk(list(ids.values()))
        self.targets = {key: rows[pk] for key, pk in ids.items()}

    def asks(self) -> Asks:
        """Return the callbacks for `evolve`."""
        return Asks(self.judge, self.improve, self.disagreement)

    def judge(self, wording: Wording, targets: Sequence[Target]) -> list[Answers]:
        """Return the judge's answers on targets with a text. Raises Waiting or OutOfBudget."""
        text = self.text_of(wording)
        self.bounds.reserved = self.search.texts.count() * len(self._held_back()[1]) * self.calls_each
        if self._ask([(text, targets)]):
            raise Waiting
        return self._answers(text, targets)

    def _held_back(self) -> tuple[SearchText, list[BenchTarget]]:
        """Return the first text and the held-back targets."""
        first = self.search.texts.select_related("draft__rater").earliest("number")
        return first, [self.targets[target.key] for target in searches.targets_of(self.search, HELD_BACK)]

    def judge_all(self, wordings: Iterable[Wording], targets: Sequence[Target]) -> None:
        """Make sure that the judge has answered on targets with several texts.

        Raises Waiting or OutOfBudget.
        """
        if self._ask([(self.text_of(wording), targets) for wording in wordings]):
            raise Waiting

    def text_of(self, wording: Wording) -> SearchText:
        """Return the search's row of a text, created if new."""
        digest = wording.digest()
        existing = self.search.texts.select_related("draft__rater").filter(digest=digest).first()
        if existing is not None:
            return existing
        draft = drafts.write(
            by=self.search.created_by,
            bench=self.search.bench,
            wording=wording,
            variant=self.search.variant,
            endpoint=self.search.endpoint,
            options=self.search.options,
            parent=self.search.parent,
            search=self.search.pk,
        )
        number = self.search.texts.count()
        return SearchText.objects.create(search=self.search, number=number, draft=draft, digest=digest)

    def disagreement(self, target: Target, answers: Answers) -> Disagreement:
        """Return the description of a target for the improving model."""
        return describe_disagreement(self.search, self.targets[target.key], target, answers)

    def improve(self, wording: Wording, cases: Sequence[Disagreement]) -> Proposed:
        """Return the improving model's proposal; an unusable proposal is requested once more."""
        trouble = ""
        for _ in range(2):
            request = self._request(wording, cases, trouble)
            if request.text is not None:
                return Proposed(versions.wording_of(request.text), request.diagnosis)
            trouble = request.error
        return Proposed(None)

    def _ask(self, requested: Sequence[tuple[SearchText, Sequence[Target]]]) -> bool:
        """Queue the missing calls; return whether answers are still pending."""
        waiting, missing = False, []
        for text, some in requested:
            states = self._states(text, some)
            waiting = waiting or any(state in runs.UNFINISHED for state in states.values())
            missing.append(
                (text, [target for target in some if self._place(target) not in {at[:2] for at in states}])
            )
        missing = [(text, some) for text, some in missing if some]
        if missing:
            rows = [(text, [self.targets[target.key] for target in some]) for text, some in missing]
            self.bounds.allow(rows, self.calls_each)
            for text, some in missing:
                self._create(text, some)
        return bool(missing) or waiting

    def _place(self, target: Target) -> Place:
        row = self.targets[target.key]
        return row.continuation_id, row.item_id

    def _states(self, text: SearchText, targets: Sequence[Target]) -> dict[tuple[int, int | None, str], str]:
        """Return the states of all calls on these targets with a text."""
        places = {self._place(target) for target in targets}
        rows = Call.objects.filter(rater=text.draft.rater).values_list(
            "continuation", "item", "part", "state"
        )
        return {(part, item, name): state for part, item, name, state in rows if (part, item) in places}

    def _create(self, text: SearchText, targets: Sequence[Target]) -> None:
        draft = text.draft
        plan = drafts.judge_of(draft, search=self.search.pk).plan(self.search.bench.campaign)
        drafts.require_same_server(draft, plan)
        run = self._run(
            rater=plan.rater,
            kind=plan.kind,
            endpoint=plan.endpoint,
            questions=plan.questions,
            scheme_version=plan.scheme_version,
        )
        Call.objects.bulk_create(
            [
                Call(run=run, rater=run.rater, continuation_id=place[0], item_id=place[1], part=part)
                for place in map(self._place, targets)
                for part in plan.parts
            ],
            ignore_conflicts=True,
        )
        runs.reopen(run)

    def _run(self, **run_fields: Any) -> Run:
        search = self.search
        return drafts.run_on(
            by=search.created_by,
            bench=search.bench,
            place=hashlib.sha256(f"search {search.pk}".encode()).hexdigest(),
            scope={"search": search.pk, "bench": search.bench_id},
            **run_fields,
        )

    def _answers(self, text: SearchText, targets: Sequence[Target]) -> list[Answers]:
        rows = DraftAnswer.objects.filter(draft=text.draft, sample=0).values_list(
            "question", "item", "number", "text"
        )
        by_item: dict[int, dict[str, Any]] = defaultdict(dict)
        for question, item, number, text_value in rows:
            by_item[item][self.questions[question]] = number if text_value is None else text_value
        return [{(name, item): by_item[item].get(name) for name, item in target.people} for target in targets]

    def _request(self, wording: Wording, cases: Sequence[Disagreement], trouble: str) -> SearchRequest:
        """Return the answered request; if it was not sent yet, queue it and raise Waiting."""
        asker = asker_of(self.text_of(wording).draft.rater.spec)
        prompt = reflection.request(
            wording,
            asker.protocol.known_variables(asker.variant),  # type: ignore[attr-defined]
            cases,
            trouble,
        )
        request, _ = SearchRequest.objects.get_or_create(
            search=self.search,
            digest=prompt.digest(),
            defaults={
                "system": prompt.system,
                "user": prompt.user,
                "base": versions.store(wording=wording),
                "cases": [case.key for case in cases],
            },
        )
        if request.done:
            return request
        call = Call.objects.filter(rater=self.search.rater, part=request.digest).first()
        if call is None:  # not sent yet, or beyond the bounds in an earlier step
            self.bounds.allow_request(prompt, *self._held_back())
            self._create_request(request, self.targets[cases[0].key])
        elif call.state == Call.State.FAILED:
            request.done, request.error = True, call.error[:1000]
            request.save(update_fields=["done", "error"])
            return request
        raise Waiting

    def _create_request(self, request: SearchRequest, about: BenchTarget) -> None:
        """Queue a call to the improving model, attached to the first case's continuation."""
        run = self._run(rater=self.search.rater, kind=IMPROVE, endpoint=self.search.improver)
        Call.objects.create(
            run=run, rater=run.rater, continuation_id=about.continuation_id, part=request.digest
        )
        runs.reopen(run)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Advance a search by one step; the result is {search: id, state: its state}."""
    with transaction.atomic():
        search = Search.objects.select_for_update().filter(pk=job.params["search"]).first()
        if search is None:
            raise JobRefused("the search was deleted with its corpus")
        if search.active:
            try:
                _step(search)
            except Waiting:
                search.save(update_fields=["state"])
        n_texts = search.texts.count()
    progress(n_texts, n_texts, search.state)
    return {"search": search.pk, "state": search.state}


def _step(search: Search) -> None:
    asking = SearchCalls(search)
    first = versions.wording_of(search.text)
    asking.text_of(first)
    candidates = evolve(
        first=first,
        learn=searches.targets_of(search, LEARN),
        choose=searches.targets_of(search, "choose"),
        questions=searches.questions_of(search),
        asks=asking.asks(),
        settings=Settings(search.rounds, search.few, search.most_calls, search.seed),
    )
    for candidate in candidates:
        _take_down(search, asking, candidate)
    search.state = Search.State.SCORING
    asking.bounds.reserved = 0
    note = _score(search, asking, candidates)
    measured = figures(search)
    for text in search.texts.select_related("draft__rater", "draft__text", "parent"):
        _keep(search, text, [figure for figure in measured if figure.text.pk == text.pk])
    searches.end(search, Search.State.DONE, note)


def _take_down(search: Search, asking: SearchCalls, candidate: SearchCandidate) -> None:
    text = asking.text_of(candidate.wording)
    text.parent = search.texts.filter(digest=candidate.parent).first() if candidate.parent else None
    text.score, text.cases, text.diagnosis = candidate.score, list(candidate.cases), candidate.diagnosis
    text.save(update_fields=["parent", "score", "cases", "diagnosis"])


def _score(search: Search, asking: SearchCalls, candidates: Sequence[SearchCandidate]) -> str:
    """Have the judge answer on the held-back dialogues, best texts first; return a note on omitted texts."""
    held_back = searches.targets_of(search, HELD_BACK)
    tried = sorted(
        (candidate for candidate in candidates[1:] if candidate.score is not None),
        key=lambda candidate: -(candidate.score or 0),
    )
    remaining = [candidates[0], *tried]
    left_out = 0
    while remaining:
        try:
            asking.judge_all([candidate.wording for candidate in remaining], held_back)
        except OutOfBudget:
            remaining, left_out = remaining[:-1], left_out + 1
        else:
            break
    if not remaining:
        return "The bounds left no calls to measure anything on the held-back dialogues."
    if left_out:
        return f"The bounds left no calls to measure {left_out} of the texts on the held-back dialogues."
    return ""


def _keep(search: Search, text: SearchText, measured: Sequence[Figure]) -> None:
    """Store a proposal as a version awaiting adoption, with its origin and its figures."""
    if text.score is not None:
        benches.note(
            bench=search.bench,
            spec=text.draft.rater.spec,
            name=f"{search.bench.name}, {name_of(text)} of search {search.pk}",
        )
    if text.parent is None:
        return
    text.version = prompts.propose(
        by=search.created_by,
        prompt=search.prompt,
        wording=versions.wording_of(text.draft.text),
        parent=_ref(text.parent, search),
        note=text.diagnosis,
        detail={
            "search": search.pk,
            "cases": text.cases,
            "score": text.score,
            "held_back": [figure.as_json() for figure in measured],
        },
    )
    text.save(update_fields=["version"])


def _ref(parent: SearchText, search: Search) -> str:
    version: PromptVersion | None = parent.version
    return search.parent if version is None else f"{search.prompt.name}@{version.number}"


JOB = JobKind(benches.SEARCH, "Search for a better prompt", run)
