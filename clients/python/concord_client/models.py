"""What is sent and what comes back. Made from the OpenAPI document by `generate.py`; not edited by hand."""

from __future__ import annotations

from typing import Any, Literal, Required, TypeAlias, TypedDict

from concord_client.transport import File


class AcceptRequest(TypedDict, total=False):
    """Which version of what is agreed to (consent), was read (guidelines, a notice) or begins (the test).
    """
    what: Required[WhatEnum]
    version: Required[int]


class Account(TypedDict, total=False):
    """An account with what it has done."""
    id: Required[int]
    username: Required[str]
    role: Required[PersonRoleEnum]
    active: Required[bool]
    last_login: Required[str | None]
    email: Required[str]
    signs_in_with: Required[list[SignsInWithEnum]]
    tasks: Required[int]
    items: Required[int]


class Act(TypedDict, total=False):
    """What somebody did last."""
    at: Required[str]
    who: Required[str]
    what: Required[str]
    submission: Required[int | None]
    reason: Required[str]


AdjudicatorsEnum: TypeAlias = Literal[1, 2]


class AdoptRequest(TypedDict, total=False):
    """Which of the provider's batches it is."""
    provider_id: Required[str]


class AgentDecision(TypedDict, total=False):
    """A decision with its key. `outcome` is null for the test part before test was opened."""
    id: Required[int]
    corpus: Required[str]
    dialogue: Required[str]
    system: Required[str]
    condition: Required[dict[str, Any]]
    trial: Required[int]
    point: Required[int]
    probes: Required[list[str]]
    seen: Required[list[int]]
    key: Required[dict[str, Any]]
    decision: Required[DecisionMade]
    outcome: Required[CascadeOutcome | None]


AgentEnum: TypeAlias = Literal["always_silent", "always_speak", "random", "majority", "mention_rule", "oracle"]


class Agents(TypedDict, total=False):
    """The baselines that there are, the number of scenarios, and who decided in them."""
    baselines: Required[list[Baseline]]
    scenarios: Required[int]
    systems: Required[list[Decider]]


class Annotator(TypedDict, total=False):
    """A person: the `groups` they are in, the `languages` they read, the names they write as."""
    id: Required[int]
    username: Required[str]
    groups: Required[list[str]]
    languages: list[str]
    writes_as: list[str]


class Answer(TypedDict, total=False):
    """An answer. What it is worth is null for the test part before test was opened."""
    id: Required[int]
    corpus: Required[str]
    dialogue: Required[str]
    system: Required[str]
    condition: Required[dict[str, Any]]
    trial: Required[int]
    session: Required[int]
    question: Required[str]
    reply: Required[str]
    answer: Required[dict[str, Any]]
    right: Required[bool | None]
    right_lenient: Required[bool | None]
    labels: Required[list[AnswerLabel] | None]


class AnswerKeys(TypedDict, total=False):
    """A scenario's keys: `rater` is what they are called as a rater, null before anything was decided.
    """
    dialogue: Required[str]
    corpus: Required[str]
    rater: Required[str | None]
    scenario: Required[dict[str, Any]]


class AnswerLabel(TypedDict, total=False):
    """What a rater said of an answer; `value` is why there is none where it is missing."""
    rater: Required[str]
    kind: Required[str]
    question: Required[str]
    value: Required[str]
    explanation: Required[str]


class AnswerRequest(TypedDict, total=False):
    """What is said in a thread; null only notes that it was seen."""
    text: str | None


class AnswersBounds(TypedDict, total=False):
    """The accuracy if all missing answers were wrong, and if all were right."""
    low: Required[float | None]
    high: Required[float | None]


class AnswersFigure(TypedDict, total=False):
    """A figure: a mean over trials with its standard deviation, and an interval over sessions."""
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    sd: Required[float | None]
    n: Required[int]
    n_clusters: Required[int]
    n_missing: Required[int]
    trials: Required[list[float | None]]
    flags: Required[list[str]]
    reason: Required[str]


class AnswersLine(TypedDict, total=False):
    """A line of a table. A cell is a figure, a number that was counted, or words."""
    name: Required[str]
    baseline: Required[bool]
    cells: Required[list[Any]]


class AnswersLook(TypedDict, total=False):
    """A look at test."""
    by: Required[str | None]
    at: Required[str]
    purpose: Required[str]


class AnswersReport(TypedDict, total=False):
    """The report."""
    corpus: Required[str]
    part: Required[str]
    by: Required[list[str]]
    score: Required[str]
    judge: Required[str]
    sets: Required[list[str]]
    layout: Required[str]
    resamples: Required[int]
    seed: Required[int]
    level: Required[float]
    random: Required[float]
    rows: Required[list[AnswersRow]]
    names: Required[list[dict[str, Any]]]
    agreement: Required[list[dict[str, Any]]]
    tables: Required[list[AnswersTable]]
    facts: Required[list[str]]
    looks_at_test: Required[list[AnswersLook]]


class AnswersRow(TypedDict, total=False):
    """A row of the report; `system` is empty where several are in it."""
    system: Required[str]
    condition: Required[dict[str, Any]]
    script: Required[str]
    fake_model: Required[bool]
    accuracy: Required[AnswersFigure]
    strict: Required[AnswersFigure]
    lenient: Required[AnswersFigure]
    bounds: Required[AnswersBounds]
    by: Required[dict[str, Any]]
    retrieval: Required[dict[str, Any]]
    oracle_gap: Required[AnswersFigure]
    abstention: Required[dict[str, Any]]
    shares: Required[dict[str, Any]]
    always_e: Required[AnswersFigure]
    counts: Required[dict[str, int]]


class AnswersTable(TypedDict, total=False):
    """A table of the layout; `columns` head its cells."""
    key: Required[str]
    title: Required[str]
    columns: Required[list[str]]
    rows: Required[list[AnswersLine]]
    notes: Required[list[str]]


class AnswersTestRequest(TypedDict, total=False):
    """What a report of test is asked for, and for what test is opened."""
    part: TestPartEnum
    purpose: Required[str]
    by: str
    score: ScoreEnum
    judge: str
    set: str
    layout: LayoutEnum
    resamples: int
    seed: int
    level: float


class Applied(TypedDict, total=False):
    """What taking over reviews came to, or would."""
    kind: Required[str]
    accepted: Required[int]
    corrected: Required[int]
    rejected: Required[int]
    undecided: Required[int]
    unreviewed: Required[int]
    reasons: Required[list[Reason]]


class AskRequest(TypedDict, total=False):
    """About which item, and by whom, a request is shown: a version of a prompt (`prompt`), or a draft of it
    (`system`, `user`).
    """
    prompt: Required[str]
    system: str
    user: str
    corpus: Required[str]
    item: str
    endpoint: str
    budget: int | None
    shows: list[str]
    scheme: str
    needs: dict[str, str]
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_completion_tokens: int | None
    reasoning_effort: ReasoningEffortEnum | NullEnum | None
    seed: int | None
    stop: list[str] | None
    frequency_penalty: float | None
    presence_penalty: float | None
    logprobs: bool | None
    top_logprobs: int | None


class Baseline(TypedDict, total=False):
    """A baseline: whether it learns from keys, and whether its trials differ."""
    key: Required[str]
    title: Required[str]
    learns: Required[bool]
    varies: Required[bool]


class Batch(TypedDict, total=False):
    """A batch of a run's calls. `completed_there` and `failed_there` are what the provider counts;
    `answered`, `failed` and `returned` (to wait for another batch) what came of its calls once collected.
    """
    id: Required[int]
    run_id: Required[int]
    state: Required[BatchStateEnum]
    provider_id: Required[str]
    provider_state: Required[str]
    size: Required[int]
    completed_there: Required[int | None]
    failed_there: Required[int | None]
    answered: Required[int | None]
    failed: Required[int | None]
    returned: Required[int | None]
    share: Required[float]
    created_at: Required[str]
    submitted_at: Required[str | None]
    looked_at: Required[str | None]
    next_look: Required[str | None]
    cancel_sent_at: Required[str | None]
    ended_at: Required[str | None]
    error: Required[str]
    files: Required[FilesEnum | BlankEnum]
    files_note: Required[str]


BatchStateEnum: TypeAlias = Literal["making", "sending", "under_way", "collecting", "unclear", "collected", "refused", "given_up"]


BecameEnum: TypeAlias = Literal["created", "rewritten", "corrected", "unchanged"]


class Benchmark(TypedDict, total=False):
    """A benchmark: what was asked for, how far it is, its figures, what reviewers found."""
    id: Required[int]
    benchmark: Required[str]
    state: Required[SimulationStateEnum]
    step: Required[str]
    error: Required[str]
    corpus: Required[str | None]
    made_from: Required[list[str]]
    endpoint: Required[str | None]
    order: Required[dict[str, Any]]
    leave_out_failed: Required[bool]
    steps: Required[list[BenchmarkStep]]
    figures: Required[dict[str, Any]]
    fake_model: Required[bool]
    sha256: Required[str]
    review: Required[list[Reviewed]]
    checked_for_offensive_content: Required[CheckedBy | None]
    created_by: Required[str | None]
    created_at: Required[str]
    finished_at: Required[str | None]


class BenchmarkEstimate(TypedDict, total=False):
    """What making takes, about: instances, conversations, calls, tokens, cost."""
    instances: Required[int]
    conversations: Required[int]
    calls: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]
    steps: Required[list[StepEstimate]]


class BenchmarkRun(TypedDict, total=False):
    """A run by which a step is made."""
    run: Required[int]
    state: Required[str]
    name: Required[str]


class BenchmarkSourceRequest(TypedDict, total=False):
    """A source corpus by name, and what its source is called where its dialogues do not say."""
    corpus: Required[str]
    source: str


class BenchmarkStep(TypedDict, total=False):
    """A step that asks a model, and how far it is."""
    step: Required[str]
    title: Required[str]
    runs: Required[list[BenchmarkRun]]
    productions: Required[int]
    done: Required[int]
    failed: Required[int]


BlankEnum: TypeAlias = Literal[""]


BothBadEnum: TypeAlias = Literal["tie", "drop"]


class Call(TypedDict, total=False):
    """A call with its raw reply."""
    id: Required[int]
    dialogue: str | None
    continuation: str | None
    turn: int | None
    turn_number: int | None
    part: str
    sample: int
    state: CallStateEnum
    attempts: int
    endpoint: str | None
    address: Required[str]
    revision: Required[str]
    error: str
    error_kind: str
    flags: Any
    reply: str
    reply_form: str
    reasoning: str
    cached: bool
    batch: int | None
    saved: str | None
    asked: int
    sent: int
    lost: int
    prompt_hash: str
    tokens_in: int | None
    tokens_out: int | None
    cost: str | None
    latency_ms: int | None
    finished_at: str | None


CallStateEnum: TypeAlias = Literal["pending", "leased", "batched", "done", "failed", "cancelled"]


class Campaign(TypedDict, total=False):
    """A campaign; write with corpus and systems by name, annotators by user name."""
    id: Required[int]
    name: Required[str]
    state: Required[CampaignStateEnum]
    corpus: Required[str]
    scheme: Required[str]
    systems: list[str]
    include_self: bool
    raters_per_item: int
    lease_minutes: int
    seed: int
    part: CampaignPartEnum | BlankEnum
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    record_status: RecordStatusEnum
    sample_records: int | None
    sample_apart: float | None
    task_order: TaskOrderEnum
    order_by: str
    apart_judge: str
    balance_by: str
    batch_size: int | None
    next_batch: NextBatchEnum
    deadline: str | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    compares: ComparesEnum
    compared: ComparedEnum
    baseline: str | None
    ranked: int
    most_comparisons: int | None
    side_by_side: bool
    revise_hours: int | None
    unseen_check: UnseenCheckEnum
    shows_agreement: bool
    join_proof: JoinProofEnum
    annotators: list[str]
    guidelines: str
    consent: str
    shows: list[str]
    archived_at: Required[str | None]


class CampaignBatch(TypedDict, total=False):
    """A batch of tasks with their slots: how many of these are submitted, and submitted or held (`taken`).
    """
    number: Required[int]
    tasks: Required[int]
    slots: Required[int]
    submitted: Required[int]
    taken: Required[int]
    opened: Required[bool]
    complete: Required[bool]


class CampaignBatches(TypedDict, total=False):
    """The batches of a campaign: `listed` are the last ones open, and the one after them.

    `batch_size` is null, and nothing listed, where its tasks are not in batches.
    """
    batch_size: Required[int | None]
    next_batch: Required[NextBatchEnum]
    total: Required[int]
    opened: Required[int]
    listed: Required[list[CampaignBatch]]


CampaignPartEnum: TypeAlias = Literal["training"]


class CampaignRequest(TypedDict, total=False):
    """A campaign; write with corpus and systems by name, annotators by user name."""
    name: Required[str]
    corpus: Required[str]
    scheme: Required[str]
    systems: list[str]
    include_self: bool
    raters_per_item: int
    lease_minutes: int
    seed: int
    part: CampaignPartEnum | BlankEnum
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    record_status: RecordStatusEnum
    sample_records: int | None
    sample_apart: float | None
    task_order: TaskOrderEnum
    order_by: str
    apart_judge: str
    balance_by: str
    batch_size: int | None
    next_batch: NextBatchEnum
    deadline: str | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    compares: ComparesEnum
    compared: ComparedEnum
    baseline: str | None
    ranked: int
    most_comparisons: int | None
    side_by_side: bool
    revise_hours: int | None
    unseen_check: UnseenCheckEnum
    shows_agreement: bool
    join_proof: JoinProofEnum
    annotators: list[str]
    guidelines: str
    consent: str
    shows: list[str]


class CampaignRole(TypedDict, total=False):
    """Who has a role in a campaign, by user name."""
    id: Required[int]
    username: Required[str]
    role: Required[CampaignRoleRoleEnum]
    created_at: Required[str]


class CampaignRoleRequest(TypedDict, total=False):
    """Who has a role in a campaign, by user name."""
    username: Required[str]
    role: Required[CampaignRoleRoleEnum]


CampaignRoleRoleEnum: TypeAlias = Literal["adjudicator", "researcher"]


CampaignStateEnum: TypeAlias = Literal["draft", "open", "paused", "closed"]


class CapsRequest(TypedDict, total=False):
    """What a run may take. What is left out stays as it is; null lifts a cap."""
    cap_calls: int | None
    cap_tokens: int | None
    cap_cost: str | None


class Card(TypedDict, total=False):
    """What a fact or a question says, or what an answer should have been: `rows` are [name, text],
    `wordings` [who asks, text].
    """
    title: Required[str]
    rows: Required[list[Any]]
    choices: Required[list[Choice]]
    wordings: Required[list[Any]]


class CascadeLine(TypedDict, total=False):
    """A row of a table. A cell is a figure as the oracle's, a number that was counted, or words."""
    name: Required[str]
    baseline: Required[bool]
    cells: Required[list[Any]]


class CascadeLook(TypedDict, total=False):
    """A look at test."""
    by: Required[str | None]
    at: Required[str]
    purpose: Required[str]


class CascadeOutcome(TypedDict, total=False):
    """What the cascade makes of a decision; null is what waits for a judge."""
    stages: Required[list[CascadeStage]]
    failed_at: Required[str | None]
    competence: Required[float | None]
    turn_score: Required[float | None]
    flags: Required[list[str]]
    leaks: Required[list[str]]
    leaks_elsewhere: Required[list[str]]


class CascadeReport(TypedDict, total=False):
    """The report. No field joins the three scores."""
    corpus: Required[str]
    part: Required[str]
    by: Required[list[str]]
    judges: Required[list[str]]
    k: Required[list[int]]
    success: Required[str]
    thresholds: Required[list[float]]
    jaccard: Required[bool]
    resamples: Required[int]
    seed: Required[int]
    level: Required[float]
    best_baseline: Required[str]
    oracle: Required[Result]
    systems: Required[list[CascadeSystem]]
    tables: Required[list[CascadeTable]]
    facts: Required[list[str]]
    guardrails: Required[list[str]]
    looks_at_test: Required[list[CascadeLook]]


class CascadeStage(TypedDict, total=False):
    """A stage's score from 0 to 1, null where it has none: `state` and `why` say why."""
    stage: Required[StageEnum]
    score: Required[float | None]
    state: Required[str]
    why: Required[str]


class CascadeSystem(TypedDict, total=False):
    """A system or a baseline. A figure is {value, low, high, n, reason}; objects of them are by name."""
    system: Required[str]
    condition: Required[str]
    baseline: Required[bool]
    competence: Required[dict[str, Any]]
    conduct: Required[dict[str, Any]]
    leak_rate: Required[dict[str, Any]]
    pass_hat: Required[dict[str, Any]]
    stages: Required[dict[str, Any]]
    probes: Required[dict[str, Any]]
    restraint: Required[dict[str, Any]]


class CascadeTable(TypedDict, total=False):
    """A table of the report; `columns` head its cells."""
    key: Required[str]
    title: Required[str]
    columns: Required[list[str]]
    rows: Required[list[CascadeLine]]
    notes: Required[list[str]]


class CascadeTestRequest(TypedDict, total=False):
    """What a report of test is asked for, and for what test is opened."""
    part: TestPartEnum
    purpose: Required[str]
    by: str
    judge: str
    k: str
    success: SuccessEnum
    threshold: float
    tau: float
    tau_attend: float
    tau_speak: float
    tau_address: float
    tau_ground: float
    tau_compose: float
    tau_conduct: float
    jaccard: bool
    resamples: int
    seed: int


class CaseDraftRequest(TypedDict, total=False):
    """A draft: `version` grows with every change, `client` names who writes, `based_on` what it has seen.
    """
    version: Required[int]
    client: str
    based_on: int | None
    answer: Any
    cannot: bool
    reason: str


class Cell(TypedDict, total=False):
    """One column of one row."""
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    method: Required[str]
    n: Required[int]
    n_clusters: Required[int]
    reason: Required[str]
    flags: Required[list[str]]
    lowest: Required[float | None]
    highest: Required[float | None]
    corrected: Required[Figure | None]
    difference: Required[Difference | None]
    raw: Required[float | None]
    n_missing: Required[int]
    not_corrected: Required[str]
    no_difference: Required[str]


class ChangeRoundRequest(TypedDict, total=False):
    """What to do with a round."""
    verb: Required[ChangeRoundVerbEnum]


ChangeRoundVerbEnum: TypeAlias = Literal["top-up", "close", "reopen"]


class ChangedKeyRequest(TypedDict, total=False):
    """A key's answers and why they are right."""
    answers: Required[list[KeyAnswerRequest]]
    explanation: str


class ChangedSession(TypedDict, total=False):
    """A changed session: what to beware of, and the question sets that are marked."""
    number: Required[int]
    id: Required[str]
    date: Required[str]
    place: Required[str]
    episode: Required[str]
    scene: Required[str]
    season: Required[str]
    present: Required[list[str]]
    listed: Required[list[str]]
    heard: Required[bool]
    turns: Required[int]
    first: Required[int | None]
    last: Required[int | None]
    facts: Required[int]
    questions: Required[int]
    versions: Required[list[SessionVersionRow]]
    warnings: Required[list[str]]
    stale: Required[list[MarkedSet]]


CheckKeyEnum: TypeAlias = Literal["consistency", "rewordings", "examples"]


class CheckPlan(TypedDict, total=False):
    """How a campaign trains, tests and checks; marks are shares from 0 to 1, and null means never or none.
    """
    training_again: bool
    test_mark: float
    test_measure: TestMeasureEnum
    test_tries: int
    test_tells: TestTellsEnum
    check_every: int | None
    repeat_every: int | None
    repeat_after: int
    window: int
    least: int
    warn_below: float | None
    pause_below: float | None
    leave_out_below: float | None


class CheckRequest(TypedDict, total=False):
    """A check of a draft that asks something."""
    draft: Required[int]
    check_key: Required[CheckKeyEnum]
    estimate: bool


class Checked(TypedDict, total=False):
    """Whether a scheme can be asked, and if not, why."""
    ok: Required[bool]
    problems: Required[list[Problem]]


class CheckedBy(TypedDict, total=False):
    """Who checked it for offensive content, and when."""
    by: Required[str]
    at: Required[str]


class CheckedScenario(TypedDict, total=False):
    """A scenario turn by turn: who sees it, what is marked there, its key, and what the oracle does."""
    native: Required[dict[str, Any]]
    script: Required[str]
    turns: Required[list[dict[str, Any]]]


class Choice(TypedDict, total=False):
    """A choice of a question, and whether it is the answer."""
    letter: Required[str]
    text: Required[str]
    is_answer: Required[bool]


class Comfort(TypedDict, total=False):
    """One's own settings of the annotation page."""
    auto_advance: bool
    text_size: TextSizeEnum
    more_contrast: bool
    break_after: int | None
    keys: Keys


ComparedEnum: TypeAlias = Literal["auto", "turns", "whole"]


ComparesEnum: TypeAlias = Literal["all", "baseline", "there"]


class Consent(TypedDict, total=False):
    """What annotators agree to before they work; `version` is given by Concord."""
    text: Required[str]
    version: Required[int]


class ConsentRequest(TypedDict, total=False):
    """What annotators agree to before they work; `version` is given by Concord."""
    text: Required[str]


class Continuation(TypedDict, total=False):
    """A continuation with its turns; `self` holds the dialogue's own.

    Of a script `turns` is empty, since there may be thousands: `turns_at` is the address that has them in
    pages.
    """
    id: Required[str]
    system: Required[str]
    mode: ContinuationModeEnum
    trial: int
    condition: Any
    n_turns: Required[int]
    turns: Required[list[Turn]]
    turns_at: Required[str | None]


ContinuationModeEnum: TypeAlias = Literal["rollout", "static"]


class CopyRequest(TypedDict, total=False):
    """The name of a copy."""
    name: Required[str]


class Corpus(TypedDict, total=False):
    """A corpus with the counts of what its imports brought."""
    id: Required[int]
    name: Required[str]
    source: str
    licence: str
    created_at: Required[str]
    counts: Required[dict[str, int]]


class CorpusDetail(TypedDict, total=False):
    """A corpus with its imports, its systems, its parts and the number of live labels."""
    id: Required[int]
    name: Required[str]
    source: str
    licence: str
    created_at: Required[str]
    counts: Required[dict[str, int]]
    imports: Required[list[Import]]
    systems: Required[list[str]]
    parts: Required[dict[str, int]]
    labels: Required[int]


CorrectionEnum: TypeAlias = Literal["auto", "rogan_gladen", "none"]


class Counts(TypedDict, total=False):
    """The table: people's row first."""
    corpus: Required[str]
    campaign: Required[str | None]
    part: Required[str]
    computed_at: Required[str | None]
    labels_since: Required[bool]
    calls_since: Required[bool]
    rater: Required[str]
    kind: Required[str]
    simulated: Required[bool]
    questions: Required[list[str]]
    by: Required[list[str]]
    strata: Required[str | None]
    n_strata: Required[int]
    per_turns: Required[int | None]
    resamples: Required[int]
    seed: Required[int]
    level: Required[float]
    rows: Required[list[Row]]
    halves: Required[Distance | None]
    no_differences: Required[str]
    no_distance: Required[str]
    notes: Required[list[str]]
    looks_at_test: Required[list[Look]]


class CountsTestRequest(TypedDict, total=False):
    """What is counted on test, and for what test is opened."""
    part: TestPartEnum
    purpose: Required[str]
    resamples: int
    seed: int
    campaign: int
    rater: str
    questions: str
    by: str
    strata: str
    per_turns: int
    samples: SamplesEnum
    correction: CorrectionEnum


class DecideRequest(TypedDict, total=False):
    """A decision: an answer on the question's scale, or `cannot`; always with a reason."""
    answer: Any
    cannot: bool
    reason: Required[str]


class DecideRequestRequest(TypedDict, total=False):
    """Records by id to accept or reject without review; or `drafts`: accept all that nobody reviewed."""
    records: list[int]
    status: DecidedStatusEnum
    drafts: bool


class Decided(TypedDict, total=False):
    """How many changed."""
    changed: Required[int]


DecidedStatusEnum: TypeAlias = Literal["accepted", "rejected"]


class Decider(TypedDict, total=False):
    """A system under a condition: in how many scenarios it decided, in how many trials, how often."""
    system: Required[str]
    condition: Required[Any]
    scenarios: Required[int]
    trials: Required[int]
    decisions: Required[int]


class DecisionMade(TypedDict, total=False):
    """What an agent did at a point, and what it declared; null is what it did not declare."""
    act: Required[str]
    text: Required[str]
    mode: Required[str]
    attend: Required[bool | None]
    addressed: Required[list[str] | None]
    targets: Required[list[str] | None]
    ground: Required[str | None]
    flags: Required[list[str]]


class DecisionRequest(TypedDict, total=False):
    """What to do about an annotator, by pseudonym, and why."""
    annotator: Required[str]
    verb: Required[DecisionVerbEnum]
    reason: Required[str]


DecisionVerbEnum: TypeAlias = Literal["let-in", "pause", "lift", "leave-out", "readmit"]


DecisionsEnum: TypeAlias = Literal["first", "ignored"]


class DecisionsFileRequest(TypedDict, total=False):
    """Decisions made elsewhere: the text of a CSV or JSONL file."""
    form: Required[FormEnum]
    content: Required[str]


class Delivery(TypedDict, total=False):
    """An event on its way: what the last of its `attempts` came to. `message` is the header `webhook-id`.
    """
    id: Required[int]
    message: Required[str]
    event: Required[str]
    kind: Required[str]
    data: Required[Any]
    at: Required[str]
    state: DeliveryStateEnum
    attempts: int
    not_before: Required[str]
    tried_at: str | None
    code: int | None
    said: str
    error: str
    ms: int | None


DeliveryStateEnum: TypeAlias = Literal["pending", "leased", "delivered", "failed"]


class Dialogue(TypedDict, total=False):
    """A dialogue without its turns."""
    id: Required[int]
    key: Required[str]
    cluster: Required[str]
    part: DialoguePartEnum | BlankEnum
    language: str
    summary: str
    participants: Any
    metadata: Any
    agenda: Any


class DialogueDetail(TypedDict, total=False):
    """A dialogue with all its continuations."""
    id: Required[int]
    key: Required[str]
    cluster: Required[str]
    part: DialoguePartEnum | BlankEnum
    language: str
    summary: str
    participants: Any
    metadata: Any
    agenda: Any
    corpus: Required[str]
    continuations: Required[list[Continuation]]


class DialogueOrders(TypedDict, total=False):
    """The pairs of continuations of a dialogue that the two scores put in different orders."""
    dialogue: Required[str]
    continuations: Required[int]
    inversions: Required[float]
    pairs: Required[int]
    share: Required[float | None]


DialoguePartEnum: TypeAlias = Literal["training", "evaluation"]


class Difference(TypedDict, total=False):
    """A cell less people's over the dialogues that both have, with its p-value."""
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    method: Required[str]
    n: Required[int]
    n_clusters: Required[int]
    reason: Required[str]
    flags: Required[list[str]]
    p: Required[float]
    p_holm: Required[float]


class Distance(TypedDict, total=False):
    """How far two distributions are apart."""
    tv: Required[Figure]
    js: Required[Figure]
    amount: Required[Figure]


class Dividing(TypedDict, total=False):
    """An item whose raters are far apart."""
    item: Required[str]
    apart: Required[float]
    answers: Required[list[WatchedAnswer]]


class DraftExamplesRequest(TypedDict, total=False):
    """How a draft's worked examples are picked, from dev of its bench, in place of those it has."""
    rule: Required[PickingRuleEnum]
    n: int
    items: list[str]
    judge: str
    seed: int


class DraftRequest(TypedDict, total=False):
    """A draft: its version grows with every change; answers are item id to question to value, and evidence
    says what they point at.

    `client` names the program or tab that writes it, `based_on` the version of the task's draft it has
    seen, `attention` the milliseconds for which it had this task in front of somebody at work.
    """
    version: Required[int]
    client: str
    based_on: int | None
    answers: dict[str, dict[str, Any]]
    evidence: dict[str, dict[str, list[dict[str, Any]]]]
    comment: str
    flagged: bool
    attention: int
    revising: bool


class DrawRequestRequest(TypedDict, total=False):
    """How to draw a split."""
    seed: int
    test_share: float
    name: str
    purpose: str


class Endpoint(TypedDict, total=False):
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was
    asked. `fake_model`: replies had the mark of one, whatever its model is called.
    """
    id: Required[int]
    name: Required[str]
    base_url: Required[str]
    model: Required[str]
    revision: str
    family: str
    tokenizer: str
    key_env: str
    price_in: str | None
    price_out: str | None
    currency: str
    concurrency: int
    at_once: Required[int]
    requests_per_minute: int | None
    tokens_per_minute: int | None
    reply_form: ReplyFormEnum | BlankEnum
    fake_model: Required[bool]
    batch_share: str | None
    batch_most: int
    keep_batch_files: bool
    timeout_s: int
    allow_private: bool
    active: bool
    from_environment: Required[bool]
    test_asked: Required[str | None]
    test_done: Required[str | None]
    test_error: Required[str]
    test_ms: Required[int | None]


class EndpointRequest(TypedDict, total=False):
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was
    asked. `fake_model`: replies had the mark of one, whatever its model is called.
    """
    name: Required[str]
    base_url: Required[str]
    model: Required[str]
    revision: str
    family: str
    tokenizer: str
    key_env: str
    price_in: str | None
    price_out: str | None
    currency: str
    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    reply_form: ReplyFormEnum | BlankEnum
    batch_share: str | None
    batch_most: int
    keep_batch_files: bool
    timeout_s: int
    allow_private: bool
    active: bool


class Estimate(TypedDict, total=False):
    """What a judge's run would take: calls to make, about how many tokens, and to whom the text goes."""
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]
    currency: Required[str]
    endpoint: Required[str]
    model: Required[str]
    host: Required[str]
    is_here: Required[bool]
    calls: Required[int]
    done: Required[int]
    dialogues: Required[int]
    about: Required[bool]
    mode: Required[RunModeEnum]
    unanswered: Required[list[Unanswered]]


class EstimatedBenchmarkRequest(TypedDict, total=False):
    """What starts a benchmark, to be estimated: the estimate is the same whatever it is called."""
    sources: Required[list[BenchmarkSourceRequest]]
    per_source: Required[int]
    train: int
    train_sources: list[str]
    per_conversation: int
    seed: int
    steps: list[StepsEnum]
    clean: bool
    verbatim: list[str]
    part_tokens: int
    allow_fewer: bool
    endpoint: str
    parameters: ParametersRequest
    name: str
    leave_out_failed: bool


class Event(TypedDict, total=False):
    """A logged act."""
    id: Required[int]
    at: Required[str]
    by: str | None
    verb: Required[str]
    subject: Required[str]
    detail: Any


EventsEnum: TypeAlias = Literal["task.submitted", "campaign.completed", "run.finished", "run.failed"]


class ExamplesRequest(TypedDict, total=False):
    """How worked examples are picked."""
    corpus: Required[str]
    rule: Required[PickingRuleEnum]
    n: int
    items: list[str]
    scheme: str
    judge: str
    seed: int
    whole_corpus: bool
    part: TrainingPartEnum | BlankEnum
    version: int
    note: str


class Export(TypedDict, total=False):
    """A download that was completed."""
    id: Required[int]
    what: str
    corpus: Required[int]
    campaign: int | None
    gold: int | None
    part: str
    format: Required[str]
    rows: Required[int]
    sha256: Required[str]
    created_at: Required[str]


ExportPartEnum: TypeAlias = Literal["dev", "test", "all", "training"]


class ExportPartRequest(TypedDict, total=False):
    """Which part of the corpus is taken out, and what for where that is test. Training only where named.
    """
    part: ExportPartEnum
    purpose: str


class FactRequestRequest(TypedDict, total=False):
    """A fact by hand. `session` is an id or a number, `turns` are numbers from 1."""
    dialogue: Required[str]
    head: Required[str]
    relation: Required[str]
    tail: Required[str]
    session: Required[str]
    turns: list[int]
    accepted: bool


FallbackEnum: TypeAlias = Literal["scale", "majority", "dawid_skene", "mace", "mean", "median", "median_low", "trimmed_mean", "severity_adjusted_mean", "weighted", "none"]


class Figure(TypedDict, total=False):
    """A value with its interval; null where there is none, and `reason` says why."""
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    method: Required[str]
    n: Required[int]
    n_clusters: Required[int]
    reason: Required[str]
    flags: Required[list[str]]


class FileRequest(TypedDict, total=False):
    """A prompt's file as a text."""
    text: Required[str]
    name: str


FilesEnum: TypeAlias = Literal["there", "deleted", "kept", "left"]


FlagsEnum: TypeAlias = Literal["constant_rater", "few_clusters", "moderate_clusters", "one_item", "undefined_resamples", "degenerate_resamples", "prevalence", "treated_as_interval", "missing_cells", "dropped_items", "dropped_raters", "few_items", "clipped", "outside_range", "one_order", "by_chance", "constant_too", "few_events", "too_few_events", "no_events", "single_cluster_stratum", "clusters_span_strata", "ignores_clusters", "unequal_n", "errors_measured_elsewhere"]


FoldNamesEnum: TypeAlias = Literal["yes", "no"]


class Forecast(TypedDict, total=False):
    """Submissions a day over the last seven days, and the days that the rest takes at that pace."""
    left: Required[int]
    a_day: Required[float]
    days: Required[float | None]


FormEnum: TypeAlias = Literal["csv", "jsonl"]


FormatEnum: TypeAlias = Literal["pairs", "cocoeval_counts", "jsonl", "label-studio", "longdialqa", "longform", "fed", "fed_gpt4", "qmsum", "messages", "mpceval", "comperdial", "usr", "mpdd", "tcr", "iq2", "delidata", "ratings-csv", "turns-csv", "turns-xlsx"]


class FoundTurn(TypedDict, total=False):
    """A turn that a search found, with where it is."""
    position: Required[int]
    turn_number: Required[int]
    speaker: Required[str]
    text: Required[str]
    given: bool
    at: int | None
    extra: Any
    dialogue: Required[str]
    dialogue_id: Required[int]
    continuation: Required[str]
    system: Required[str]


FromCorpusKindEnum: TypeAlias = Literal["turn", "dialogue", "decision", "answer", "question", "fact", "pair", "ranking"]


class FromCorpusRequest(TypedDict, total=False):
    """A scheme to be made of the questions that a corpus's files brought."""
    corpus: Required[str]
    kind: Required[FromCorpusKindEnum]
    key: Required[str]
    title: str


class GenerationEstimate(TypedDict, total=False):
    """What generation would take: productions, calls to come, about how many tokens, and where the text
    goes. `tokens_new` are those of `tokens_out` that do not repeat what was shown.
    """
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]
    currency: Required[str]
    endpoint: Required[str]
    model: Required[str]
    host: Required[str]
    is_here: Required[bool]
    productions: Required[int]
    done: Required[int]
    calls: Required[int]
    tokens_new: Required[int]
    counted_by: Required[str]
    left_out: Required[dict[str, int]]
    name: Required[str]
    about: Required[bool]


class Generator(TypedDict, total=False):
    """A generator: what it is, what it produces, and its settings."""
    key: Required[str]
    version: Required[int]
    title: Required[str]
    produces: Required[ProducesEnum]
    settings: Required[list[Setting]]


class GiveRequest(TypedDict, total=False):
    """Which task to give (an item's key, or a task's number), to whom, and why: the annotator reads it.
    """
    task: Required[str]
    to: Required[str]
    reason: Required[str]


GivenEnum: TypeAlias = Literal["speaker", "content"]


class GoOnRequest(TypedDict, total=False):
    """How to go on: what failed is tried again, or left out."""
    leave_out_failed: bool


class Gold(TypedDict, total=False):
    """A derivation of gold labels."""
    id: Required[int]
    corpus: Required[int]
    campaign: int | None
    part: Required[str]
    scheme: Required[str]
    rule: Required[str]
    options: Any
    n: Required[int]
    without: Required[int]
    inputs_hash: Required[str]
    created_at: Required[str]


class GoldOption(TypedDict, total=False):
    """An option of a rule: one of several words, or a number from `low` to `high`."""
    name: Required[str]
    help: Required[str]
    default: Required[Any]
    choices: Required[dict[str, str]]
    low: Required[float | None]
    high: Required[float | None]


class GoldOptionsRequest(TypedDict, total=False):
    """Options of the rules, each for the rules that have it; what is left out is its default."""
    ties: GoldOptionsTiesEnum
    decisions: DecisionsEnum
    seed: int
    share: float
    least: int
    fallback: FallbackEnum


GoldOptionsTiesEnum: TypeAlias = Literal["none", "lowest", "highest"]


class GoldPreview(TypedDict, total=False):
    """What a rule would choose. Nothing is kept."""
    rule: Required[str]
    n: Required[int | None]
    without: Required[int | None]
    ties: Required[int | None]
    unknown: Required[str]


class GoldRule(TypedDict, total=False):
    """A rule by which gold labels are chosen, and for which questions and raters it is."""
    key: Required[str]
    title: Required[str]
    explanation: Required[str]
    support: Required[str]
    levels: Required[list[str]]
    raters: Required[str]
    needs_split: Required[bool]
    options: Required[list[GoldOption]]


class Group(TypedDict, total=False):
    """A group with its people by user name."""
    id: Required[int]
    name: Required[str]
    people: list[str]


class GroupRequest(TypedDict, total=False):
    """A group with its people by user name."""
    name: Required[str]
    people: list[str]


class Guidelines(TypedDict, total=False):
    """Guidelines; `version` is given by Concord."""
    text: Required[str]
    version: Required[int]


class GuidelinesRequest(TypedDict, total=False):
    """Guidelines; `version` is given by Concord."""
    text: Required[str]


class Held(TypedDict, total=False):
    """A task in somebody's hands, `until` its lease ends; `draft_saved_at` is null where there is no draft.

    `state` is `leased` or `returned` (handed back to be done again). `given` says why a researcher gave
    it to them, '' where nobody did; `occasion` tells training, tests and checks from work.
    """
    assignment: Required[int]
    annotator: Required[str]
    about: Required[str]
    turn_number: Required[int | None]
    occasion: Required[str]
    state: Required[str]
    since: Required[str]
    until: Required[str]
    draft_saved_at: Required[str | None]
    given: Required[str]


class Import(TypedDict, total=False):
    """A file that was imported."""
    id: Required[int]
    format: Required[str]
    file_name: Required[str]
    content_hash: Required[str]
    options: Any
    counts: Any
    created_at: Required[str]


class ImportAnswer(TypedDict, total=False):
    """What an import did; `created` is false where all of it was there already.

    `format` is what the file was read as.
    """
    format: Required[str]
    corpus: Required[str]
    dialogues: Required[int]
    turns: Required[int]
    continuations: Required[int]
    items: Required[int]
    labels: Required[int]
    missing: Required[int]
    created: Required[bool]
    unchanged: Required[int]
    notes: Required[list[str]]


class ImportRequestRequest(TypedDict, total=False):
    """A file to be imported: as the new corpus `name`, or `into` an existing one."""
    file: Required[File]
    format: FormatEnum
    columns: str
    more: list[File]
    name: str
    into: str
    scheme: str
    source: str
    licence: str
    sha256: str
    fold_names: FoldNamesEnum | BlankEnum
    missing: str
    judges: str
    system: str
    given: GivenEnum | BlankEnum
    any_size: OnlyYesEnum | BlankEnum
    main: str
    keep_directions: OnlyYesEnum | BlankEnum
    dialogue: str
    turns_from: TurnsFromEnum | BlankEnum
    min_turns: int | None


class Imported(TypedDict, total=False):
    """The versions that an import made."""
    versions: Required[list[str]]


class Invitation(TypedDict, total=False):
    """An open invitation. Its address was shown when it was made."""
    id: Required[int]
    role: str
    name: str
    created_at: Required[str]
    expires_at: Required[str]
    email: str
    mail: MailEnum | BlankEnum
    mail_error: str
    mailed_at: str | None


class InvitationByMail(TypedDict, total=False):
    """An invitation to an e-mail address; `address` is its link, told this once where no mail is set up.
    """
    id: Required[int]
    role: str
    name: str
    created_at: Required[str]
    expires_at: Required[str]
    email: str
    mail: MailEnum | BlankEnum
    mail_error: str
    mailed_at: str | None
    address: Required[str | None]


class Item(TypedDict, total=False):
    """An item with its key, which names it for every program, and the number annotators give its turn.
    """
    id: Required[int]
    key: Required[str]
    turn_number: Required[int | None]
    kind: Required[ItemKindEnum]
    system: Required[str | None]
    cluster: Required[str]
    part: Required[str]
    members: Required[list[Member]]


ItemKindEnum: TypeAlias = Literal["turn", "dialogue", "decision", "answer", "question", "fact", "pair", "ranking"]


class Job(TypedDict, total=False):
    """A job: `done` of `total` units of its kind; `result` is what it came to, `error` why it failed."""
    id: Required[int]
    kind: Required[str]
    subject: Required[str]
    state: JobStateEnum
    done: int
    total: int
    note: str
    result: Any
    error: str
    attempts: int
    created_at: Required[str]
    started_at: str | None
    finished_at: str | None


class JobAnswer(TypedDict, total=False):
    """The job that does it."""
    job: Required[int]


JobStateEnum: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]


class JoinLink(TypedDict, total=False):
    """A link by which people join a campaign; without a `code`, each gets one of their own."""
    id: Required[int]
    name: Required[str]
    address: Required[str]
    most: int | None
    expires_at: str | None
    code: str
    return_url: str
    revoked_at: Required[str | None]
    signing_key: Required[str]


class JoinLinkRequest(TypedDict, total=False):
    """A link by which people join a campaign; without a `code`, each gets one of their own."""
    name: Required[str]
    most: int | None
    expires_at: str | None
    code: str
    return_url: str


JoinProofEnum: TypeAlias = Literal["browser", "signed", "none"]


class KeepRequest(TypedDict, total=False):
    """Under which name a draft is kept."""
    name: str
    note: str


class KeyAnswerRequest(TypedDict, total=False):
    """What is right for a question: one of `values`, or a number within `tolerance` of one.

    `item` names the item where the task asks about several.
    """
    item: str
    question: Required[str]
    values: Required[list[Any]]
    tolerance: float


class Keys(TypedDict, total=False):
    """The key of each command of the annotation page; two commands never share one."""
    undo: str
    back: str
    comment: str
    flag: str
    note: str
    flag_turn: str
    bookmark: str
    none: str
    skip: str
    guidelines: str
    marks: str
    keys: str


class KeysFromRequest(TypedDict, total=False):
    """Where keys come from: `rater:NAME`, `gold:NUMBER` or `adjudicated`; which tasks the seed draws."""
    source: Required[str]
    occasion: Required[OccasionEnum]
    most: int
    tolerance: float


class KeysRequest(TypedDict, total=False):
    """The key of each command of the annotation page; two commands never share one."""
    undo: str
    back: str
    comment: str
    flag: str
    note: str
    flag_turn: str
    bookmark: str
    none: str
    skip: str
    guidelines: str
    marks: str
    keys: str


class LabelOrNoteExportRequest(TypedDict, total=False):
    """A corpus or campaign, the part of it that is taken out, and whether notes are, instead of labels.
    """
    corpus: int
    campaign: int | None
    part: ExportPartEnum
    purpose: str
    notes: bool


LayoutEnum: TypeAlias = Literal["report", "table2", "table3", "table4"]


class Limits(TypedDict, total=False):
    """Until when, and how much, an annotator may submit; `notice` says which of it is `reached`, if any.
    """
    deadline: Required[str | None]
    most_tasks: Required[int | None]
    most_tasks_a_day: Required[int | None]
    done_today: Required[int]
    reached: Required[ReachedEnum | BlankEnum]
    notice: Required[str]


class Line(TypedDict, total=False):
    """A continuation by both scores, and its ranks in its dialogue; 1 is best."""
    dialogue: Required[str]
    continuation: Required[str]
    system: Required[str]
    n_turns: Required[int]
    by_turns: Required[float]
    by_whole: Required[float]
    difference: Required[float | None]
    rank_by_turns: Required[float]
    rank_by_whole: Required[float]
    moved: Required[float]


class Link(TypedDict, total=False):
    """A one-time link as it was made; `address` is told this once."""
    id: Required[int]
    address: Required[str]
    expires_at: Required[str]


class ListedAnswer(TypedDict, total=False):
    """An answer in a list; `right` is null where that is not known, and `why` says why."""
    id: Required[int]
    system: Required[str]
    condition: Required[dict[str, Any]]
    script: Required[str]
    trial: Required[int]
    session: Required[int]
    question: Required[str]
    use: Required[str]
    key: Required[str]
    outcome: Required[str]
    right: Required[bool | None]
    why: Required[str]
    evidence: Required[str]


class Look(TypedDict, total=False):
    """A look at test."""
    by: Required[str | None]
    at: Required[str]
    purpose: Required[str]


class MadeAnswer(TypedDict, total=False):
    """The set, and whether it is new; or the job that makes it."""
    created: Required[bool]
    set: Required[SetRow | None]
    job: Required[int | None]


class MadeToken(TypedDict, total=False):
    """A token as it was made; `key` is told this once."""
    id: Required[int]
    name: Required[str]
    scope: TokenScopeEnum
    created_at: Required[str]
    expires_at: Required[str]
    last_used: str | None
    key: Required[str]


class MadeWebhook(TypedDict, total=False):
    """A webhook with the secret that signs, which is told this once."""
    id: Required[int]
    url: Required[str]
    events: Required[list[EventsEnum]]
    campaign: Required[int | None]
    active: Required[bool]
    allow_private: bool
    off_reason: Required[str]
    failing_since: Required[str | None]
    created_at: Required[str]
    secret: Required[str]


MailEnum: TypeAlias = Literal["queued", "sent", "failed"]


class MakeRequestRequest(TypedDict, total=False):
    """How a question set is made."""
    name: Required[str]
    seed: int
    policy: PolicyEnum
    presence: bool


class MarkRequest(TypedDict, total=False):
    """What is said of a disagreement. `adjudicate` also sends what is marked `people_wrong` on."""
    judged: Required[str]
    item: Required[int]
    question: Required[int]
    verdict: Required[VerdictEnum]
    note: str
    adjudicate: bool


class MarkedSet(TypedDict, total=False):
    """A question set that is marked, and why."""
    name: Required[str]
    version: Required[int]
    stale: Required[str]


class Meeting(TypedDict, total=False):
    """Two systems: the first's wins, and what the strengths expect."""
    first: Required[str]
    second: Required[str]
    wins: Required[int]
    ties: Required[int]
    losses: Required[int]
    win_rate: Required[PreferenceFigure]
    expected_win_rate: Required[PreferenceFigure]


class Member(TypedDict, total=False):
    """One of what an item compares, in the item's own order."""
    number: Required[int]
    continuation: Required[str]
    system: Required[str]
    turn: Required[int | None]


class MembersRequest(TypedDict, total=False):
    """Who joins and who leaves, by user name; all active people of a group join by its name."""
    groups: list[str]
    add: list[str]
    remove: list[str]


class Message(TypedDict, total=False):
    """One message; `mine` says whether the reader wrote it."""
    by: Required[str]
    mine: Required[bool]
    text: Required[str]
    at: Required[str]


class Metric(TypedDict, total=False):
    """A metric."""
    key: Required[str]
    title: Required[str]
    kind: Required[str]
    aspect: Required[str]
    needs: Required[list[str]]
    obstacle: str
    warning: str
    documentation: Required[str]
    variants: Required[list[str]]


class MetricValue(TypedDict, total=False):
    """What a metric says of a turn, or of the whole continuation, and what caused it."""
    metric: Required[str]
    turn: Required[int | None]
    value: Required[Any]
    missing: Required[str]
    causes: Required[list[str]]
    turns: Required[list[int]]


class MyCampaign(TypedDict, total=False):
    """A campaign that an annotator takes part in, with how many tasks they have done."""
    campaign: Required[int]
    name: Required[str]
    state: Required[str]
    done: Required[int]
    limits: Required[Limits]


class Names(TypedDict, total=False):
    """A version of other names: `pairs` are [in the script, becomes], `kept` what stays.

    `names` is what a condition calls it.
    """
    names: Required[str]
    kind: Required[NamesKindEnum]
    version: Required[int]
    pairs: Required[list[list[str]]]
    kept: Required[list[str]]


NamesKindEnum: TypeAlias = Literal["anonymised", "swapped"]


class NamesOfRequest(TypedDict, total=False):
    """The corpus whose pseudonyms are to be told."""
    corpus: Required[int]


class NamesRequestRequest(TypedDict, total=False):
    """Names to be kept: written as `pairs`, or without them made from a `seed`.

    `cast` is whose names are swapped (by id or name; empty: who says most), `genders` and `aliases` by id
    or name add to what participants declare. `kept` are spellings that stay.
    """
    kind: Required[NamesKindEnum]
    pairs: list[list[str]]
    kept: list[str]
    seed: int
    cast: list[str]
    genders: dict[str, str]
    aliases: dict[str, list[str]]


class Need(TypedDict, total=False):
    """Answers of another rater that a protocol reads."""
    role: Required[str]
    question: Required[str]
    aggregate: Required[str]
    missing: Required[str]
    optional: Required[bool]
    also: Required[list[str]]


class NewAccountRequest(TypedDict, total=False):
    """An account to be made."""
    username: Required[str]
    role: PersonRoleEnum
    password: Required[str]


class NewBenchRequest(TypedDict, total=False):
    """A bench over a corpus or a campaign, by name."""
    name: Required[str]
    protocol: Required[str]
    corpus: str
    campaign: str
    scheme: str
    variant: str
    include_self: bool
    seed: int


class NewGoldRequest(TypedDict, total=False):
    """How gold labels are to be chosen."""
    corpus: int
    campaign: int | None
    part: TrainingPartEnum | BlankEnum
    scheme: Required[str]
    rule: NewGoldRuleEnum
    options: GoldOptionsRequest
    raters: list[str]


NewGoldRuleEnum: TypeAlias = Literal["majority", "dawid_skene", "mace", "mean", "median", "median_low", "trimmed_mean", "severity_adjusted_mean", "weighted", "adjudicated"]


class NewInvitationRequest(TypedDict, total=False):
    """An invitation to be made."""
    role: PersonRoleEnum
    name: str
    days: int


class NewInvitationsByMailRequest(TypedDict, total=False):
    """Invitations to be made, one for each e-mail address; they are sent where mail is set up."""
    emails: Required[list[str]]
    role: PersonRoleEnum
    days: int


class NewKeyRequest(TypedDict, total=False):
    """A key: `about` is `dialogue/continuation/turn`, or `dialogue/continuation` where a task is a whole.
    """
    answers: Required[list[KeyAnswerRequest]]
    explanation: str
    about: Required[str]
    occasion: Required[OccasionEnum]


class NewMessageRequest(TypedDict, total=False):
    """What a researcher writes: to annotators by pseudonym, or about a task (a line of it) to its holder.
    """
    to: list[str]
    everybody: bool
    assignment: int | None
    line: int | None
    text: Required[str]


class NewNoteRequest(TypedDict, total=False):
    """What is to be noted on a line of a task (counted from 1); what is left out or null stays as it is.
    """
    line: Required[int]
    comment: str | None
    flagged: bool | None
    bookmarked: bool | None


class NewPasswordRequest(TypedDict, total=False):
    """The password of now, and the new one."""
    old: Required[str]
    new: Required[str]


class NewProductionsRequest(TypedDict, total=False):
    """What starts generation: a generator and an endpoint, over the dialogues of a corpus by name."""
    generator: Required[str]
    corpus: Required[str]
    endpoint: Required[str]
    settings: dict[str, Any]
    condition: dict[str, Any]
    name: str
    trials: int
    part: SelectedPartEnum | BlankEnum
    min_turns: int
    max_turns: int
    first: int
    use_cache: bool | None
    mode: RunModeEnum | NullEnum | None
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_completion_tokens: int | None
    reasoning_effort: ReasoningEffortEnum | NullEnum | None
    seed: int | None
    stop: list[str] | None
    frequency_penalty: float | None
    presence_penalty: float | None
    logprobs: bool | None
    top_logprobs: int | None
    cap_calls: int | None
    cap_tokens: int | None
    cap_cost: str | None


class NewPromptRequest(TypedDict, total=False):
    """A prompt to be made: the text of another one under a new name, changed where `system` or `user` is
    given.
    """
    name: Required[str]
    description: str
    copy_of: Required[str]
    system: str
    user: str
    form: str
    note: str


class NewRunRequest(TypedDict, total=False):
    """What starts a run: a protocol (with its endpoint) or a metric, over a corpus or a campaign by name.
    """
    corpus: str
    campaign: str
    systems: list[str]
    include_self: bool
    samples: int | None
    part: SelectedPartEnum | BlankEnum
    open_test: str
    metric: str
    protocol: str
    variant: str
    prompt: str
    scheme: str
    endpoint: str
    shows: list[str]
    budget: int | None
    use_cache: bool | None
    mode: RunModeEnum | NullEnum | None
    needs: dict[str, str]
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_completion_tokens: int | None
    reasoning_effort: ReasoningEffortEnum | NullEnum | None
    seed: int | None
    stop: list[str] | None
    frequency_penalty: float | None
    presence_penalty: float | None
    logprobs: bool | None
    top_logprobs: int | None
    cap_calls: int | None
    cap_tokens: int | None
    cap_cost: str | None


class NewSearchRequest(TypedDict, total=False):
    """From which text (`name@number`), by which models, within which bounds."""
    begin: Required[str]
    name: str
    endpoint: Required[str]
    improver: Required[str]
    rounds: int
    few: int
    most_calls: int
    most_cost: str | None
    seed: int
    needs: dict[str, str]
    parameters: SearchParametersRequest
    improver_parameters: SearchParametersRequest


class NewSimulationRequest(TypedDict, total=False):
    """Who answers the questions of a set, and how: an endpoint's model, or a baseline (`agent`).

    `settings` are those of the generator `dialsim_agent` (memory, retriever, k, names, format ...) but
    for `set`; `parameters` that are not given are those of the paper.
    """
    set: Required[str]
    endpoint: str
    agent: str
    settings: dict[str, Any]
    trials: int
    parameters: ParametersRequest
    name: str
    condition: dict[str, Any]
    cap_calls: int | None
    cap_tokens: int | None
    cap_cost: str | None


class NewTokenRequest(TypedDict, total=False):
    """A token to be made."""
    name: Required[str]
    scope: NewTokenScopeEnum
    days: int


NewTokenScopeEnum: TypeAlias = Literal["read", "write"]


class NewVersionRequest(TypedDict, total=False):
    """A text to be saved as the next version. `made_from` is the number of its parent (the newest)."""
    system: str
    user: Required[str]
    form: str
    note: str
    made_from: int
    keep_examples: bool


NextBatchEnum: TypeAlias = Literal["hand", "complete"]


class Note(TypedDict, total=False):
    """All that one noted on a line of a task."""
    line: Required[int]
    comment: Required[str]
    flagged: Required[bool]
    bookmarked: Required[bool]


NullEnum: TypeAlias = None


OccasionEnum: TypeAlias = Literal["training", "qualification", "check"]


OnlyYesEnum: TypeAlias = Literal["yes"]


class OracleProblems(TypedDict, total=False):
    """What the oracle gets wrong at a point, and the key's field at fault."""
    point: Required[int]
    field: Required[str]
    reason: Required[str]


class OwnAgreement(TypedDict, total=False):
    """Tasks that count, tasks that all raters finished, and a row a question (none below 20 tasks)."""
    tasks: Required[int]
    finished: Required[int]
    rows: Required[list[OwnAgreementRow]]


class OwnAgreementRow(TypedDict, total=False):
    """The share of pairs of an own answer and another's that are the same; null with the reason why."""
    question: Required[str]
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    n_items: Required[int]
    n_clusters: Required[int]
    n_raters: Required[int]
    status: Required[str]
    reason: Required[str]
    method: Required[str]
    flags: Required[list[str]]


class OwnSubmission(TypedDict, total=False):
    """One's own submission; `closed` says why it cannot be revised, empty where it can."""
    assignment: Required[int]
    campaign: Required[int]
    name: Required[str]
    state: Required[str]
    submitted_at: Required[str]
    excerpt: Required[str]
    answers: Required[list[str]]
    n_answers: Required[int]
    comment: Required[str]
    flagged: Required[bool]
    notes: Required[list[str]]
    bookmarks: Required[int]
    closed: Required[str]
    reason: Required[str]


class PackageExportRequest(TypedDict, total=False):
    """What a package is made of; `question` names questions as `scheme@version/key`, all where left out.
    """
    corpus: int
    campaign: int | None
    part: ExportPartEnum
    purpose: str
    question: list[str]


class PaginatedAccountList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Account]]


class PaginatedAnnotatorList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Annotator]]


class PaginatedBatchList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Batch]]


class PaginatedBenchmarkList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Benchmark]]


class PaginatedCallList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Call]]


class PaginatedCampaignList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Campaign]]


class PaginatedCampaignRoleList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[CampaignRole]]


class PaginatedCorpusList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Corpus]]


class PaginatedDeliveryList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Delivery]]


class PaginatedDialogueList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Dialogue]]


class PaginatedEndpointList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Endpoint]]


class PaginatedEventList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Event]]


class PaginatedExportList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Export]]


class PaginatedGoldList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Gold]]


class PaginatedGroupList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Group]]


class PaginatedHeldList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Held]]


class PaginatedInvitationList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Invitation]]


class PaginatedItemList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Item]]


class PaginatedJobList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Job]]


class PaginatedJoinLinkList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[JoinLink]]


class PaginatedListedAnswerList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[ListedAnswer]]


class PaginatedOwnSubmissionList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[OwnSubmission]]


class PaginatedParticipantBrowserList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[ParticipantBrowser]]


class PaginatedParticipantList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Participant]]


class PaginatedProductionList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Production]]


class PaginatedPromptList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Prompt]]


class PaginatedRecordRowList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[RecordRow]]


class PaginatedRunList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Run]]


class PaginatedSchemeList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Scheme]]


class PaginatedSchemeVersionList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[SchemeVersion]]


class PaginatedScriptRowList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[ScriptRow]]


class PaginatedScriptTurnList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[ScriptTurn]]


class PaginatedSessionRowList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[SessionRow]]


class PaginatedSetRowList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[SetRow]]


class PaginatedSimulationList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Simulation]]


class PaginatedSpentList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Spent]]


class PaginatedStepList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Step]]


class PaginatedStudyList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Study]]


class PaginatedSubmissionList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Submission]]


class PaginatedThreadList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Thread]]


class PaginatedTurnNoteList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[TurnNote]]


class PaginatedUseRowList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[UseRow]]


class PaginatedVersionList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Version]]


class PaginatedWebhookList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Webhook]]


class PairAgreement(TypedDict, total=False):
    """Agreement of two raters, or of all, in one setup."""
    raters: Required[list[str]]
    setup: Required[SetupEnum]
    figures: Required[dict[str, PreferenceFigure]]


class ParametersRequest(TypedDict, total=False):
    """Sampling parameters, sent to the model only where given."""
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_completion_tokens: int | None
    reasoning_effort: ReasoningEffortEnum | NullEnum | None
    seed: int | None
    stop: list[str] | None
    frequency_penalty: float | None
    presence_penalty: float | None
    logprobs: bool | None
    top_logprobs: int | None


class Part(TypedDict, total=False):
    """A stretch of the transcript; `folded` ones are long, and pages show them when asked."""
    heading: Required[str]
    lines: Required[list[ShownLine]]
    folded: Required[bool]


class Participant(TypedDict, total=False):
    """Somebody who came by a link: `name` is their account's, `participant` what they are elsewhere."""
    name: Required[str]
    participant: Required[str]
    study_id: str
    session_id: str
    link: Required[int]
    joined_on: Required[str]
    finished_on: Required[str | None]
    code: str


class ParticipantBrowser(TypedDict, total=False):
    """A browser that waits for a confirmation, and the `code` that its participant can tell you.

    `confirmed_at` and `confirmed_by` say when and by whom it was confirmed; null while it waits.
    """
    id: Required[int]
    name: Required[str]
    participant: Required[str]
    code: Required[str]
    asked_at: Required[str]
    confirmed_at: str | None
    confirmed_by: Required[str | None]


class PatchedAccountChangeRequest(TypedDict, total=False):
    """What is to be another: the role, whether the account is active, or locked after wrong passwords.
    """
    role: PersonRoleEnum
    active: bool
    email: str
    locked: bool


class PatchedAnnotatorRequest(TypedDict, total=False):
    """A person: the `groups` they are in, the `languages` they read, the names they write as."""
    languages: list[str]
    writes_as: list[str]


class PatchedArchivedRequest(TypedDict, total=False):
    """Whether a prompt is off the lists of what can be run."""
    archived: bool


class PatchedCampaignRequest(TypedDict, total=False):
    """A campaign; write with corpus and systems by name, annotators by user name."""
    name: str
    corpus: str
    scheme: str
    systems: list[str]
    include_self: bool
    raters_per_item: int
    lease_minutes: int
    seed: int
    part: CampaignPartEnum | BlankEnum
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    record_status: RecordStatusEnum
    sample_records: int | None
    sample_apart: float | None
    task_order: TaskOrderEnum
    order_by: str
    apart_judge: str
    balance_by: str
    batch_size: int | None
    next_batch: NextBatchEnum
    deadline: str | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    compares: ComparesEnum
    compared: ComparedEnum
    baseline: str | None
    ranked: int
    most_comparisons: int | None
    side_by_side: bool
    revise_hours: int | None
    unseen_check: UnseenCheckEnum
    shows_agreement: bool
    join_proof: JoinProofEnum
    annotators: list[str]
    guidelines: str
    consent: str
    shows: list[str]


class PatchedChangeSessionRequest(TypedDict, total=False):
    """What is to be another, and why; what is left out stays. `present` are ids or names of participants.

    `seen` is the version that whoever changes it has seen (1 before any change): another one is refused.
    """
    date: str
    place: str
    present: list[str]
    kind: SessionReasonEnum
    reason: str
    seen: int


class PatchedCheckPlanRequest(TypedDict, total=False):
    """How a campaign trains, tests and checks; marks are shares from 0 to 1, and null means never or none.
    """
    training_again: bool
    test_mark: float
    test_measure: TestMeasureEnum
    test_tries: int
    test_tells: TestTellsEnum
    check_every: int | None
    repeat_every: int | None
    repeat_after: int
    window: int
    least: int
    warn_below: float | None
    pause_below: float | None
    leave_out_below: float | None


class PatchedComfortRequest(TypedDict, total=False):
    """One's own settings of the annotation page."""
    auto_advance: bool
    text_size: TextSizeEnum
    more_contrast: bool
    break_after: int | None
    keys: KeysRequest


class PatchedEndpointRequest(TypedDict, total=False):
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was
    asked. `fake_model`: replies had the mark of one, whatever its model is called.
    """
    name: str
    base_url: str
    model: str
    revision: str
    family: str
    tokenizer: str
    key_env: str
    price_in: str | None
    price_out: str | None
    currency: str
    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    reply_form: ReplyFormEnum | BlankEnum
    batch_share: str | None
    batch_most: int
    keep_batch_files: bool
    timeout_s: int
    allow_private: bool
    active: bool


class PatchedFamiliesRequestRequest(TypedDict, total=False):
    """Families by the names of systems; an empty one takes it back, systems left out keep theirs."""
    families: dict[str, str]


class PatchedGroupRequest(TypedDict, total=False):
    """A group with its people by user name."""
    name: str
    people: list[str]


class PatchedKeysRequestRequest(TypedDict, total=False):
    """A scenario's own fields as the native format has them; those left out stay, null empties one."""
    points: list[int] | None
    secrets: list[dict[str, Any]] | None
    common_ground: list[dict[str, Any]] | None
    probes: list[dict[str, Any]] | None
    keys: dict[str, dict[str, Any]] | None
    keyed_by: list[str] | None
    live: list[dict[str, Any]] | None


class PatchedRecordChangeRequest(TypedDict, total=False):
    """What a fact or a question shall say, in the fields of its request; or its status, without review.
    """
    content: dict[str, Any]
    status: DecidedStatusEnum


class PatchedSchemeArchivedRequest(TypedDict, total=False):
    """Whether a scheme is off the lists of what can be asked."""
    archived: bool


class PatchedWebhookRequest(TypedDict, total=False):
    """A webhook: `campaign` is null for one of all of Concord; `off_reason` says why it was switched off.
    """
    url: str
    events: list[EventsEnum]
    allow_private: bool


class Person(TypedDict, total=False):
    """A speaker."""
    name: Required[str]
    role: Required[str]
    profile: Required[list[str]]
    aliases: Required[list[str]]
    extra: Required[list[Any]]


class PersonBehind(TypedDict, total=False):
    """Who is behind a pseudonym."""
    pseudonym: Required[str]
    username: Required[str]


PersonRoleEnum: TypeAlias = Literal["annotator", "researcher", "administrator"]


PickingRuleEnum: TypeAlias = Literal["by_hand", "most_disagreed", "balanced", "nearest"]


PlaceEnum: TypeAlias = Literal["history", "given", "item", "rated", "marked"]


class Plan(TypedDict, total=False):
    """A plan; `reason` says why there is none, and then `rows` is empty."""
    study: Required[str]
    corpus: Required[str]
    part: Required[str]
    goal: Required[str]
    question: Required[str]
    title: Required[str]
    item_kind: Required[str]
    pooled: Required[bool]
    rater: Required[str]
    raters: Required[list[str]]
    crowd: Required[str]
    statistic: Required[str]
    target: Required[float | None]
    level: Required[float]
    resamples: Required[int]
    seed: Required[int]
    epsilon: Required[float]
    reason: Required[str]
    value: Required[float | None]
    width: Required[float | None]
    needed: Required[int | None]
    needed_low: Required[int | None]
    needed_high: Required[int | None]
    more: Required[int | None]
    reaching: Required[float | None]
    rough: Required[bool]
    design_effect: Required[float | None]
    n_pilot: Required[int]
    n_items: Required[int]
    rows: Required[list[PlanRow]]
    method: Required[str]
    ratings_an_item: Required[float | None]
    crowds: Required[list[PlanCrowd]]
    timing: Required[PlanTiming | None]
    pay: Required[float | None]
    efforts: Required[list[PlanEffort]]
    answer: Required[list[str]]
    cautions: Required[list[str]]
    computed_at: Required[str | None]
    labels_since: Required[bool]
    computing: Required[ReportJob | None]


class PlanCrowd(TypedDict, total=False):
    """The same plan with another number of raters an item; `reason` says why there is none."""
    raters: Required[int]
    needed: Required[int | None]
    needed_low: Required[int | None]
    needed_high: Required[int | None]
    n_pilot: Required[int]
    n_items: Required[int]
    reason: Required[str]


class PlanEffort(TypedDict, total=False):
    """What it takes with so many raters an item, all told; null where it is not known."""
    raters: Required[float]
    dialogues: Required[int | None]
    items: Required[int | None]
    ratings: Required[int | None]
    hours: Required[float | None]
    hours_low: Required[float | None]
    hours_high: Required[float | None]
    cost: Required[float | None]
    cost_low: Required[float | None]
    cost_high: Required[float | None]
    reason: Required[str]


class PlanRequest(TypedDict, total=False):
    """What a round is about: a corpus or a campaign, a scheme (`key@version`), rules with bounds, a seed.
    """
    corpus: int
    campaign: int | None
    scheme: Required[str]
    rules: Required[dict[str, Any]]
    seed: int
    takes_locked: bool


class PlanRow(TypedDict, total=False):
    """The expected width (null: no interval) or power with so many dialogues, and its range over pilots.
    """
    n_clusters: Required[int]
    expected: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    share_undefined: Required[float]


class PlanTiming(TypedDict, total=False):
    """Seconds of attention that rating an item took, with an interval over people where there are three.
    """
    seconds: Required[float]
    low: Required[float | None]
    high: Required[float | None]
    ratings: Required[int]
    people: Required[int]


PlayModeEnum: TypeAlias = Literal["explicit", "implicit"]


class PlayRequest(TypedDict, total=False):
    """A baseline that is to decide. `seed` is that of its draws; `part` is dev, test or training, or empty
    for all but training.
    """
    agent: Required[AgentEnum]
    mode: PlayModeEnum
    trials: int
    part: SelectedPartEnum | BlankEnum
    seed: int


class Played(TypedDict, total=False):
    """What a baseline came to: new continuations (`made`), those that were there (`reused`), decisions.
    """
    system: Required[str]
    condition: Required[Any]
    scenarios: Required[int]
    made: Required[int]
    reused: Required[int]
    decisions: Required[int]
    left_out: Required[int]


PolicyEnum: TypeAlias = Literal["body", "appendix"]


class Position(TypedDict, total=False):
    """How often the one shown first was chosen; `both_orders` is null where no item was answered in both.
    """
    rater: Required[str]
    shown_first: Required[PreferenceFigure]
    both_orders: Required[dict[str, PreferenceFigure] | None]


class PreferenceFigure(TypedDict, total=False):
    """A value with its interval; null where there is none, and `reason` says why."""
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    n_items: Required[int]
    n_clusters: Required[int]
    n_raters: Required[int]
    n_missing: Required[int]
    method: Required[str]
    status: Required[ResultStatusEnum]
    reason: Required[str]
    flags: Required[list[str]]


class PreferenceQuestion(TypedDict, total=False):
    """The report of one question."""
    question: Required[str]
    title: Required[str]
    ties: Required[PreferenceTiesEnum]
    both_bad: Required[BothBadEnum]
    anchor: Required[str | None]
    resamples: Required[int]
    seed: Required[int]
    level: Required[float]
    voters: Required[list[Voters]]
    positions: Required[list[Position]]
    agreement: Required[list[PairAgreement]]
    rankings: Required[list[RankingAgreement]]


PreferenceTiesEnum: TypeAlias = Literal["half", "drop", "davidson"]


class Preferences(TypedDict, total=False):
    """The report of a corpus or campaign, question by question."""
    name: Required[str]
    facts: Required[list[str]]
    questions: Required[list[PreferenceQuestion]]


class PreferencesTestRequest(TypedDict, total=False):
    """What is read of test, and for what test is opened."""
    part: TestPartEnum
    purpose: Required[str]
    resamples: int
    seed: int
    campaign: int
    question: str
    systems: str
    ties: PreferenceTiesEnum
    both_bad: BothBadEnum
    anchor: str


class Preview(TypedDict, total=False):
    """A task (`number`, from 1, of the first `of`) as its annotator gets it: what is asked, what is shown.
    """
    number: Required[int]
    of: Required[int]
    questions: Required[list[dict[str, Any]]]
    guidelines: Required[str]
    task: Required[Screen]


class ProbeCounts(TypedDict, total=False):
    """How often a kind of probe is planted."""
    kind: Required[str]
    probes: Required[int]
    controls: Required[int]
    points: Required[int]
    control_points: Required[int]
    scenarios: Required[int]
    families: Required[int]


class Problem(TypedDict, total=False):
    """A field that is at fault: the path to it with dots, the sentence, and the place in words."""
    path: Required[str]
    sentence: Required[str]
    place: Required[str]


ProducesEnum: TypeAlias = Literal["rollout", "static", "text", "record"]


class Production(TypedDict, total=False):
    """A production: a generator at work on one dialogue. `step` counts the steps that were answered."""
    id: Required[int]
    run: Required[int]
    corpus: Required[str]
    dialogue: Required[str]
    system: Required[str]
    condition: Required[Any]
    condition_hash: Required[str]
    trial: int
    step: int
    status: ProductionStatusEnum
    error: str
    flags: Any
    continuation: str | None
    result: Any
    finished_at: str | None


ProductionStatusEnum: TypeAlias = Literal["writing", "done", "failed"]


class Prompt(TypedDict, total=False):
    """A prompt: one's own, or one that comes with Concord."""
    name: Required[str]
    protocol: Required[str]
    variant: Required[str]
    built_in: Required[bool]
    newest: Required[int]
    versions: Required[int]
    judges: Required[int]
    archived: Required[bool]
    description: Required[str]
    created_by: Required[str | None]
    changed_at: Required[str | None]


class PromptDifference(TypedDict, total=False):
    """What two versions differ by: per part its lines; `op` is same, skipped, removed, added or changed.
    """
    first: Required[str]
    second: Required[str]
    same: Required[bool]
    parts: Required[dict[str, list[dict[str, Any]]]]


PromptingEnum: TypeAlias = Literal["vanilla", "taxonomy"]


class Protocol(TypedDict, total=False):
    """A judge protocol."""
    key: Required[str]
    title: Required[str]
    version: Required[int]
    covers: Required[str]
    network: Required[bool]
    variants: Required[list[str]]
    takes_scheme: Required[bool]
    needs: Required[list[Need]]


class PurposeRequest(TypedDict, total=False):
    """For what test is opened."""
    purpose: Required[str]


class QuestionRequest(TypedDict, total=False):
    """What an annotator asks: about a line of a task of theirs, about the task, or about the campaign.
    """
    campaign: Required[int]
    assignment: int | None
    line: int | None
    text: Required[str]


class QuestionsRefusal(TypedDict, total=False):
    """Why nothing was changed, and the field at fault where it is one."""
    detail: Required[str]
    code: Required[str]
    field: str


QueueEnum: TypeAlias = Literal["calls", "metrics"]


class QuizRequestRequest(TypedDict, total=False):
    """A quiz question by hand. `evidence` are ids or numbers of sessions."""
    dialogue: Required[str]
    text: Required[str]
    answer: Required[str]
    choices: Required[list[str]]
    evidence: Required[list[str]]
    evidence_all: bool
    accepted: bool


class RankingAgreement(TypedDict, total=False):
    """Agreement of two raters on rankings, or of all."""
    raters: Required[list[str]]
    figures: Required[dict[str, PreferenceFigure]]


ReachedEnum: TypeAlias = Literal["deadline", "total", "day"]


class Reason(TypedDict, total=False):
    """Why drafts are undecided, and how many."""
    reason: Required[str]
    n: Required[int]


ReasoningEffortEnum: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


RecomputePartEnum: TypeAlias = Literal["dev", "all"]


class RecomputeRequest(TypedDict, total=False):
    """Which part is computed again."""
    part: RecomputePartEnum


class RecordRow(TypedDict, total=False):
    """A fact or a question. `content` is as the native format writes it; positions of turns count from 0.
    """
    id: Required[int]
    dialogue: Required[str]
    kind: Required[str]
    key: Required[str]
    status: Required[RecordStatusEnum]
    content: Required[dict[str, Any]]
    provenance: Required[dict[str, Any]]
    superseded_by: Required[int | None]


RecordStatusEnum: TypeAlias = Literal["draft", "accepted", "rejected", "all"]


class Refusal(TypedDict, total=False):
    """Every refusal: a sentence for people, a code for programs, fields that are at fault."""
    detail: Required[str]
    code: Required[str]
    fields: dict[str, list[str]]


class Refused(TypedDict, total=False):
    """Why nothing was changed, and the field at fault where it is one."""
    detail: Required[str]
    code: Required[str]
    field: str


class RelationTableRow(TypedDict, total=False):
    """A corpus's relations; version 0 is the table that comes with Concord."""
    version: Required[int]
    rows: Required[list[dict[str, Any]]]


class RelationsRequestRequest(TypedDict, total=False):
    """A whole table. `seen` is the version that whoever changes it has seen: another one is refused."""
    rows: Required[list[dict[str, Any]]]
    seen: int | None


class ReopenRequest(TypedDict, total=False):
    """The task submitted last, or the one before `before`."""
    before: int | None


class ReorderRequest(TypedDict, total=False):
    """The order that the tasks get which nobody has begun; what is left out stays as the campaign has it.
    """
    task_order: TaskOrderEnum
    order_by: str
    apart_judge: str


class Reordered(TypedDict, total=False):
    """How many tasks changed their place."""
    moved: Required[int]


ReplyFormEnum: TypeAlias = Literal["schema", "json", "text"]


class Report(TypedDict, total=False):
    """A report: its result, when it was computed, and the hash of what it was computed from."""
    id: Required[int]
    study: Required[int]
    part: str
    inputs_hash: Required[str]
    created_at: Required[str]
    labels_since: Required[bool]
    computing: Required[ReportJob | None]
    result: Any


class ReportJob(TypedDict, total=False):
    """A report in the making: the job that computes it."""
    id: Required[int]
    state: Required[ReportJobStateEnum]
    done: Required[int]
    total: Required[int]
    error: Required[str]


ReportJobStateEnum: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]


class Request(TypedDict, total=False):
    """A request as it would be sent; `unasked` says why none would be."""
    item: Required[str]
    part: Required[str]
    body: Required[dict[str, Any] | None]
    exact: Required[str]
    flags: Required[list[str]]
    unasked: Required[str]
    job: Required[int | None]
    tokens_in: Required[int]
    tokens_out: Required[int]
    tokens_counted: Required[str]
    cost: Required[float | None]
    currency: Required[str]


class Required(TypedDict, total=False):
    """How many raters of a group each task needs."""
    group: Required[str]
    raters: Required[int]


class RequiredRequest(TypedDict, total=False):
    """How many raters of a group each task needs."""
    group: Required[str]
    raters: Required[int]


class Result(TypedDict, total=False):
    """A statistic; `value` is null exactly when `status` is not ok, and `reason` says why."""
    name: Required[str]
    value: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    n_items: Required[int]
    n_clusters: Required[int]
    n_raters: Required[int]
    n_missing: Required[int]
    method: Required[str]
    status: Required[ResultStatusEnum]
    reason: Required[str]
    flags: Required[list[FlagsEnum]]


ResultStatusEnum: TypeAlias = Literal["ok", "undefined", "insufficient", "rejected"]


class Reviewed(TypedDict, total=False):
    """The same for one question of the review, in all and by source."""
    share: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    n: Required[int]
    question: Required[str]
    wording: Required[str]
    answers: Required[int]
    by_source: Required[list[ReviewedSource]]


class ReviewedSource(TypedDict, total=False):
    """The same for one source."""
    share: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    n: Required[int]
    source: Required[str]


class RoundRequest(TypedDict, total=False):
    """A round to begin: its plan, its name, who decides and what they see."""
    corpus: int
    campaign: int | None
    scheme: Required[str]
    rules: Required[dict[str, Any]]
    seed: int
    takes_locked: bool
    name: Required[str]
    adjudicators: AdjudicatorsEnum
    own_items: bool
    shows_names: bool
    shows_systems: bool
    lease_minutes: int


class Row(TypedDict, total=False):
    """The continuations of one condition, or people's."""
    by: Required[dict[str, Any]]
    human: Required[bool]
    fake_model: Required[bool]
    n_continuations: Required[int]
    n_clusters: Required[int]
    n_missing: Required[int]
    cells: Required[dict[str, Cell]]
    distance: Required[Distance | None]


class Rules(TypedDict, total=False):
    """Who may, and who must, rate what. `unclaimable` says which tasks nobody who takes part can take.
    """
    by_language: bool
    not_own: str
    groups_by: str
    strata: list[Stratum]
    required: list[Required]
    unclaimable: Required[list[dict[str, Any]]]


class RulesRequest(TypedDict, total=False):
    """Who may, and who must, rate what. `unclaimable` says which tasks nobody who takes part can take.
    """
    by_language: bool
    not_own: str
    groups_by: str
    strata: list[StratumRequest]
    required: list[RequiredRequest]


class Run(TypedDict, total=False):
    """A run with its progress."""
    id: Required[int]
    kind: Required[str]
    name: Required[str]
    rater: str | None
    spec: Required[Any]
    endpoint: str | None
    address: Required[str]
    revision: Required[str]
    corpus: Required[str]
    campaign: str | None
    queue: Required[QueueEnum]
    scope: Any
    samples: int
    state: RunStateEnum
    error: str
    created_at: Required[str]
    started_at: str | None
    finished_at: str | None
    mode: RunModeEnum
    progress: Required[dict[str, Any]]
    batches: Required[list[Batch]]


RunModeEnum: TypeAlias = Literal["at_once", "batch"]


RunStateEnum: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "paused"]


SamplesEnum: TypeAlias = Literal["first", "mean"]


class SavedRequest(TypedDict, total=False):
    """A scheme to be saved as its newest version."""
    definition: dict[str, Any]
    text: str
    seen: Required[int]


class SavedScenario(TypedDict, total=False):
    """A saved scenario, and what became of it."""
    native: Required[dict[str, Any]]
    script: Required[str]
    turns: Required[list[dict[str, Any]]]
    id: Required[int]
    decided: Required[bool]
    state: Required[str]
    became: Required[BecameEnum]


class SavedTextRequest(TypedDict, total=False):
    """A scenario to be saved; `seen` is the `state` of the stored one that it was made from."""
    text: Required[str]
    any_size: bool
    seen: str


class ScenarioOverview(TypedDict, total=False):
    """The scenarios of a corpus in numbers, with a page of them."""
    scenarios: Required[int]
    families: Required[int]
    points: Required[int]
    probed: Required[int]
    free: Required[int]
    agreed: Required[int]
    wrong: Required[int]
    kinds: Required[list[ProbeCounts]]
    without_control: Required[list[str]]
    count: Required[int]
    next: Required[str | None]
    previous: Required[str | None]
    results: Required[list[ScenarioRow]]


class ScenarioRow(TypedDict, total=False):
    """A scenario in numbers: `decided` counts the static continuations that answer its points."""
    id: Required[int]
    key: Required[str]
    family: Required[str]
    people: Required[int]
    turns: Required[int]
    points: Required[int]
    probed: Required[int]
    free: Required[int]
    probes: Required[list[str]]
    agreed: Required[bool]
    decided: Required[int]
    problems: Required[list[OracleProblems]]


class ScenarioTextRequest(TypedDict, total=False):
    """A scenario as a script in plain text, or as a line of the native format."""
    text: Required[str]
    any_size: bool


class Scheme(TypedDict, total=False):
    """A scheme: one's own, or a built-in one."""
    key: Required[str]
    title: Required[str]
    item_kind: Required[str]
    item_kinds: Required[list[str]]
    unit: Required[str]
    built_in: Required[bool]
    newest: Required[int]
    versions: Required[int]
    questions: Required[int]
    archived: Required[bool]


class SchemeChange(TypedDict, total=False):
    """A question was added, removed or moved, or a field changed (without `question`, the scheme's)."""
    kind: Required[SchemeChangeKindEnum]
    question: Required[str]
    field: Required[str]
    before: Required[str]
    after: Required[str]
    sentence: Required[str]


SchemeChangeKindEnum: TypeAlias = Literal["added", "removed", "moved", "changed"]


class SchemeDifference(TypedDict, total=False):
    """What two versions differ by."""
    first: Required[str]
    second: Required[str]
    changes: Required[list[SchemeChange]]


class SchemeVersion(TypedDict, total=False):
    """A version of a scheme. What an `id` names never changes."""
    id: Required[int]
    ref: Required[str]
    built_in: Required[bool]
    archived: Required[bool]
    used: Required[bool]
    created_at: Required[str]
    definition: Required[dict[str, Any]]
    yaml: Required[str]


ScoreEnum: TypeAlias = Literal["strict", "lenient"]


class Screen(TypedDict, total=False):
    """What an annotator may see of a task.

    `items` are in their order; where questions about the whole dialogue (their `item_kind`) stand beside
    those about turns, the last is the `whole`. `sides` are what is compared, in the order drawn for this
    annotator. Answers speak of them in this order: `first` is the first of them, and rankings number them
    from 0. Where each of them is rated for itself, `items` are theirs.
    """
    items: Required[list[int]]
    whole: Required[int | None]
    parts: Required[list[Part]]
    sides: Required[list[Side]]
    people: Required[list[Person]]
    named: Required[list[list[str]]]
    card: Required[Card | None]
    offered: Required[list[Any]]
    metadata: Required[list[Any]]
    summary: Required[str]
    agenda: Required[list[str]]
    language: Required[str]


class ScriptRow(TypedDict, total=False):
    """A script in numbers; `heard` are the sessions in which its main character is present."""
    id: Required[int]
    key: Required[str]
    main: Required[str]
    sessions: Required[int]
    heard: Required[int]
    turns: Required[int]
    facts: Required[int]
    questions: Required[int]
    names: Required[list[str]]
    warnings: Required[list[str]]


class ScriptTurn(TypedDict, total=False):
    """A turn of a script, or of what a system answered; `number` counts from 1 within either, `session` is
    the session's id. `at` counts the script's turns before a question and its answer.
    """
    number: Required[int]
    speaker: Required[str]
    text: Required[str]
    session: Required[str]
    at: Required[int | None]
    given: Required[bool]


class SearchActRequest(TypedDict, total=False):
    """`text` names the proposal to adopt; cancelling and resuming take nothing."""
    text: int


class SearchParametersRequest(TypedDict, total=False):
    """The sampling parameters of the judge, or of the model that proposes."""
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_completion_tokens: int | None
    reasoning_effort: ReasoningEffortEnum | NullEnum | None
    seed: int | None
    stop: list[str] | None
    frequency_penalty: float | None
    presence_penalty: float | None
    logprobs: bool | None
    top_logprobs: int | None


SelectedPartEnum: TypeAlias = Literal["dev", "test", "training"]


SessionReasonEnum: TypeAlias = Literal["talk", "distance", "broadcast", "other"]


class SessionRow(TypedDict, total=False):
    """A session of a script. `present` are all who are there, `listed` those whom the script lists beside.

    `first` and `last` are the positions of its own turns, from 0; `facts` and `questions` count those
    that it says, and answers.
    """
    number: Required[int]
    id: Required[str]
    date: Required[str]
    place: Required[str]
    episode: Required[str]
    scene: Required[str]
    season: Required[str]
    present: Required[list[str]]
    listed: Required[list[str]]
    heard: Required[bool]
    turns: Required[int]
    first: Required[int | None]
    last: Required[int | None]
    facts: Required[int]
    questions: Required[int]


class SessionVersionRow(TypedDict, total=False):
    """What was said of a session, by whom and why."""
    version: Required[int]
    date: Required[str]
    place: Required[str]
    present: Required[list[str]]
    kind: Required[str]
    reason: Required[str]
    by: Required[str]
    at: Required[str]


class SetRow(TypedDict, total=False):
    """A question set: how it was made, in numbers, whether a simulation used it, and why it is stale."""
    id: Required[int]
    name: Required[str]
    version: Required[int]
    imported: Required[bool]
    options: Required[dict[str, Any]]
    figures: Required[dict[str, Any]]
    digest: Required[str]
    stale: Required[str]
    used_at: Required[str | None]
    created_at: Required[str]


class Setting(TypedDict, total=False):
    """A setting of a generator. One that `varies` is a part of the condition."""
    name: Required[str]
    default: Required[Any]
    help: Required[str]
    low: Required[int | None]
    high: Required[int | None]
    choices: Required[list[Any]]
    varies: Required[bool]


SetupEnum: TypeAlias = Literal["as_answered", "with_ties", "without_ties"]


SftPartEnum: TypeAlias = Literal["training", "evaluation", "dev", "test", "all"]


class SftRequest(TypedDict, total=False):
    """A corpus, the part of it that is taken out (and what for where that is test), the settings."""
    part: SftPartEnum | BlankEnum
    purpose: str
    corpus: Required[int]
    prompting: PromptingEnum
    turns_per_call: int
    turns: int
    window: int
    copy: int


class SharedContext(TypedDict, total=False):
    """A context that continuations share: `given` turns stand between the history and each of them."""
    at: Required[int]
    given: Required[int]
    continuations: Required[list[str]]


class ShownLine(TypedDict, total=False):
    """One turn as shown: `how` and `private` say what happened beside its text; `item` is set where the turn
    itself is rated. `line` is its place on the screen, counted from 1: evidence names turns by it.
    """
    line: Required[int]
    no: Required[int]
    speaker: Required[str]
    how: Required[str]
    private: Required[str]
    heading: Required[str]
    text: Required[str]
    place: Required[PlaceEnum]
    item: Required[int | None]


class Side(TypedDict, total=False):
    """One of what is compared, by the name that the screen gives it."""
    name: Required[str]
    parts: Required[list[Part]]


class SideBySide(TypedDict, total=False):
    """A page of metrics, and what is compared. Of a long context the last turns are shown."""
    corpus: Required[str]
    dialogue: Required[str]
    at: Required[int]
    contexts: Required[list[SharedContext]]
    before: Required[list[SideBySideLine]]
    n_before: Required[int]
    columns: Required[list[SideBySideColumn]]
    against: Required[str]
    count: Required[int]
    next: Required[str | None]
    previous: Required[str | None]
    results: Required[list[SideBySideRow]]


class SideBySideCell(TypedDict, total=False):
    """A metric's value of one column. Where it is null, `missing` says why."""
    column: Required[str]
    value: Required[Any]
    missing: Required[str]
    difference: Required[float | None]
    causes: Required[list[str]]
    turns: Required[list[int]]


class SideBySideColumn(TypedDict, total=False):
    """A continuation: the index of its turn here, and those that are shown of the `n_turns` from there on.
    """
    name: Required[str]
    id: Required[int]
    continuation: Required[str]
    system: Required[str]
    human: Required[bool]
    fake_model: Required[bool]
    mode: Required[str]
    condition: Required[dict[str, Any]]
    trial: Required[int]
    turn: Required[int]
    turns: Required[list[SideBySideLine]]
    n_turns: Required[int]


class SideBySideLine(TypedDict, total=False):
    """A turn: its number as annotators count it, who speaks, and what happened beside the text."""
    number: Required[int]
    speaker: Required[str]
    how: Required[str]
    text: Required[str]


class SideBySideRow(TypedDict, total=False):
    """A metric, with a cell for each column."""
    metric: Required[str]
    title: Required[str]
    items: Required[str]
    aspect: Required[str]
    direction: Required[str]
    cells: Required[list[SideBySideCell]]


SignsInWithEnum: TypeAlias = Literal["password", "single sign-on"]


class Simulation(TypedDict, total=False):
    """A simulation: who answers, under which condition, how far it is, what it took."""
    id: Required[int]
    corpus: Required[str]
    set: Required[str]
    system: Required[str]
    endpoint: Required[str | None]
    baseline: Required[str | None]
    condition: Required[dict[str, Any]]
    trials: Required[int]
    state: Required[SimulationStateEnum]
    step: Required[str]
    error: Required[str]
    steps: Required[list[SimulationStep]]
    counts: Required[SimulationCounts]
    fake_model: Required[bool]
    fake_embedder: Required[bool]
    created_by: Required[str | None]
    created_at: Required[str]
    finished_at: Required[str | None]


class SimulationCounts(TypedDict, total=False):
    """Trials (`productions`), and what the runs took."""
    productions: Required[int]
    done: Required[int]
    failed: Required[int]
    flags: Required[dict[str, int]]
    calls: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]


class SimulationEstimate(TypedDict, total=False):
    """What a simulation takes, about: trials (`productions`), questions, calls, tokens, cost."""
    productions: Required[int]
    done: Required[int]
    questions: Required[int]
    calls: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]
    counted_by: Required[str]
    left_out: Required[dict[str, int]]
    steps: Required[list[SimulationEstimateStep]]


class SimulationEstimateStep(TypedDict, total=False):
    """What a step takes: all its calls, those that are there, and those to come with their tokens."""
    step: Required[str]
    all: Required[int]
    done: Required[int]
    calls: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]


SimulationStateEnum: TypeAlias = Literal["making", "stuck", "done", "cancelled"]


class SimulationStep(TypedDict, total=False):
    """A run by which a step is made, with its calls."""
    step: Required[str]
    title: Required[str]
    run: Required[int]
    state: Required[str]
    calls: Required[int]
    done: Required[int]
    failed: Required[int]
    why: Required[str]


class SkipRequest(TypedDict, total=False):
    """Why a task is given up."""
    reason: Required[str]


class Spent(TypedDict, total=False):
    """What a judge, a campaign or a run took in all."""
    key: Required[int | None]
    name: Required[str | None]
    currency: Required[str]
    runs: Required[int]
    asked: Required[int]
    cached: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]
    at_least: Required[bool]
    saved: Required[float]


class Split(TypedDict, total=False):
    """A split of a corpus, with how many clusters are in each part."""
    id: Required[int]
    name: str
    seed: int
    test_share: float
    fixed_at: str | None
    dev: Required[int]
    test: Required[int]


StageEnum: TypeAlias = Literal["attend", "speak", "address", "ground", "compose", "conduct"]


class Standing(TypedDict, total=False):
    """One system against all others."""
    system: Required[str]
    wins: Required[int]
    ties: Required[int]
    losses: Required[int]
    win_rate: Required[PreferenceFigure]
    strength: Required[PreferenceFigure]
    rank: Required[PreferenceFigure]


class StartedBenchmarkRequest(TypedDict, total=False):
    """What a benchmark is made of, how, and what it is called."""
    sources: Required[list[BenchmarkSourceRequest]]
    per_source: Required[int]
    train: int
    train_sources: list[str]
    per_conversation: int
    seed: int
    steps: list[StepsEnum]
    clean: bool
    verbatim: list[str]
    part_tokens: int
    allow_fewer: bool
    endpoint: str
    parameters: ParametersRequest
    name: Required[str]
    leave_out_failed: bool


class StateRequest(TypedDict, total=False):
    """What to do with a campaign."""
    verb: Required[StateVerbEnum]


StateVerbEnum: TypeAlias = Literal["open", "pause", "close", "archive", "bring-back"]


class Step(TypedDict, total=False):
    """A call of a production, with its raw reply."""
    step: Required[int]
    part: Required[int]
    call: Required[int]
    state: Required[str]
    reply: Required[str]
    error: Required[str]
    tokens_in: Required[int | None]
    tokens_out: Required[int | None]


class StepEstimate(TypedDict, total=False):
    """What a step takes."""
    step: Required[str]
    productions: Required[int]
    calls: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]


StepsEnum: TypeAlias = Literal["metadata", "cut", "summary"]


class StoredScenario(TypedDict, total=False):
    """A stored scenario; `decided` says whether its script must stay, `state` what it is known by now.
    """
    native: Required[dict[str, Any]]
    script: Required[str]
    turns: Required[list[dict[str, Any]]]
    id: Required[int]
    decided: Required[bool]
    state: Required[str]


class Stratum(TypedDict, total=False):
    """A stratum and the group that rates it."""
    stratum: Required[str]
    group: Required[str]


class StratumRequest(TypedDict, total=False):
    """A stratum and the group that rates it."""
    stratum: Required[str]
    group: Required[str]


class Study(TypedDict, total=False):
    """A study; see the documentation of definitions for what one may hold."""
    corpus: int
    campaign: int | None
    id: Required[int]
    name: Required[str]
    definition: Any
    automatic: Required[bool]
    created_at: Required[str]


class StudyRequest(TypedDict, total=False):
    """A study; see the documentation of definitions for what one may hold."""
    corpus: int
    campaign: int | None
    name: Required[str]
    definition: Any


class Submission(TypedDict, total=False):
    """A submission; `seen` names its answers as they are now, `occasion` tells checks and repeats from work.

    `seconds` is the time from being handed out to being submitted, `attended` that of attention, where a
    page told it.
    """
    assignment: Required[int]
    annotator: Required[str]
    about: Required[str]
    turn_number: Required[int | None]
    occasion: Required[str]
    state: Required[str]
    submitted_at: Required[str]
    seconds: Required[float]
    attended: Required[float | None]
    answers: Required[int]
    seen: Required[int]
    flagged: Required[bool]
    comment: Required[str]
    reason: Required[str]


class SubmitRequest(TypedDict, total=False):
    """Answers to a task: item id to question to value; `client`, `based_on` and `attention` as in a draft.
    """
    client: str | None
    based_on: int | None
    answers: Required[dict[str, dict[str, Any]]]
    evidence: dict[str, dict[str, list[dict[str, Any]]]]
    comment: str
    flagged: bool
    attention: int
    revising: bool


SuccessEnum: TypeAlias = Literal["competence", "turn_score"]


class System(TypedDict, total=False):
    """A system with its family and the number of its continuations."""
    name: Required[str]
    family: str
    continuations: Required[int]


class TakeRequest(TypedDict, total=False):
    """Why a task is taken back, which its annotator reads; with `to`, it goes to that annotator."""
    reason: Required[str]
    to: str | None


TaskOrderEnum: TypeAlias = Literal["drawn", "own", "fixed", "priority", "informative"]


TestMeasureEnum: TypeAlias = Literal["share", "corrected"]


TestPartEnum: TypeAlias = Literal["test"]


TestTellsEnum: TypeAlias = Literal["outcome", "score", "answers"]


TextSizeEnum: TypeAlias = Literal["usual", "large", "largest"]


class Thread(TypedDict, total=False):
    """A thread between an annotator and researchers: about a turn of a task, a task, or the campaign."""
    thread: Required[int]
    campaign: Required[int]
    annotator: Required[str]
    assignment: Required[int | None]
    line: Required[int | None]
    unread: Required[int]
    waits: Required[bool]
    closed: Required[bool]
    messages: Required[list[Message]]


class ThreadVerbRequest(TypedDict, total=False):
    """What a researcher does with a thread: answer with a text, close it, or open it again."""
    verb: ThreadVerbVerbEnum
    text: str


ThreadVerbVerbEnum: TypeAlias = Literal["answer", "close", "open"]


class Token(TypedDict, total=False):
    """A token without its key."""
    id: Required[int]
    name: Required[str]
    scope: TokenScopeEnum
    created_at: Required[str]
    expires_at: Required[str]
    last_used: str | None


TokenScopeEnum: TypeAlias = Literal["read", "write"]


TrainingPartEnum: TypeAlias = Literal["training"]


class TranscriptExportRequest(TypedDict, total=False):
    """Which continuations (all that were tagged, where left out), and whose tags (people's)."""
    corpus: int
    campaign: int | None
    part: ExportPartEnum
    purpose: str
    continuation: list[int]
    rater: list[str]


class TryRequest(TypedDict, total=False):
    """A draft and how many targets it is tried on (null: all of dev). `begin` is what it is begun from:
    `draft-3`, `name@2`, or nothing for what comes with Concord; parts left out are those of that text.
    """
    begin: str
    system: str
    user: str
    form: str
    variant: str
    endpoint: Required[str]
    needs: dict[str, str]
    budget: int | None
    examples: DraftExamplesRequest | None
    targets: int | None
    samples: int
    estimate: bool
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    max_completion_tokens: int | None
    reasoning_effort: ReasoningEffortEnum | NullEnum | None
    seed: int | None
    stop: list[str] | None
    frequency_penalty: float | None
    presence_penalty: float | None
    logprobs: bool | None
    top_logprobs: int | None


class Turn(TypedDict, total=False):
    """A turn of a continuation: its 0-based `position` there, and its number as annotators count it."""
    position: Required[int]
    turn_number: Required[int]
    speaker: Required[str]
    text: Required[str]
    given: bool
    at: int | None
    extra: Any


class TurnNote(TypedDict, total=False):
    """What an annotator noted on a turn, as researchers read it."""
    campaign: Required[str]
    annotator: Required[str]
    dialogue: Required[str]
    continuation: Required[str]
    turn: Required[int]
    turn_number: Required[int]
    item: Required[str]
    flagged: Required[bool]
    comment: Required[str]
    at: Required[str]
    assignment: Required[int]


class TurnSearch(TypedDict, total=False):
    """What a search came to so far, and the address that goes on with it."""
    next: Required[str | None]
    results: Required[list[FoundTurn]]


class TurnsAndWhole(TypedDict, total=False):
    """A page of continuations, those that changed rank most first, and all dialogues."""
    corpus: Required[str]
    campaign: Required[str | None]
    turns: Required[str]
    whole: Required[str]
    same_scale: Required[bool]
    people: Required[int]
    left_out: Required[int]
    test_left_out: Required[bool]
    inversions: Required[float]
    pairs: Required[int]
    dialogues: Required[list[DialogueOrders]]
    count: Required[int]
    next: Required[str | None]
    previous: Required[str | None]
    results: Required[list[Line]]


TurnsFromEnum: TypeAlias = Literal["0", "1"]


class Unanswered(TypedDict, total=False):
    """Calls of which it is known beforehand that they have no answer."""
    calls: Required[int]
    reason: Required[str]
    about: Required[bool]


UnseenCheckEnum: TypeAlias = Literal["rated", "shown", "off"]


class UseRow(TypedDict, total=False):
    """A question asked in a session (its number): key, type, and why; `choices` stand at A to D.

    `since` is the position of the last own turn that has to be heard before, null for none.
    """
    question: Required[str]
    dialogue: Required[str]
    session: Required[int]
    id: Required[str]
    date: Required[str]
    answerable: Required[bool]
    key: Required[str]
    right: Required[str]
    choices: Required[list[str]]
    type: Required[str]
    type_told: Required[str]
    why: Required[list[dict[str, Any]]]
    rule: Required[str]
    rule_told: Required[str]
    since: Required[int | None]


VerdictEnum: TypeAlias = Literal["judge_wrong", "people_wrong", "unclear", "withdrawn"]


class Version(TypedDict, total=False):
    """A version of a prompt with its text."""
    ref: Required[str]
    name: Required[str]
    number: Required[int]
    protocol: Required[str]
    variant: Required[str]
    built_in: Required[bool]
    digest: Required[str]
    system: Required[str]
    user: Required[str]
    form: Required[str]
    examples: Required[list[dict[str, Any]]]
    examples_shown: Required[int]
    picking: Required[dict[str, Any]]
    origin: Required[str]
    parent: Required[str]
    note: Required[str]
    created_by: Required[str | None]
    created_at: Required[str | None]


class Voters(TypedDict, total=False):
    """Raters whose answers count together: all people, or one judge."""
    name: Required[str]
    kind: Required[str]
    raters: Required[list[str]]
    answers: Required[dict[str, int]]
    n_missing: Required[int]
    scale: Required[str]
    systems: Required[list[Standing]]
    meetings: Required[list[Meeting]]
    tie_parameter: Required[PreferenceFigure | None]
    position: Required[Position | None]


class Watch(TypedDict, total=False):
    """A campaign at a moment."""
    campaign: Required[str]
    state: Required[str]
    at: Required[str]
    progress: Required[WatchedProgress]
    agreed_at: Required[str]
    agreement: Required[WatchedAgreement]
    everyone: Required[bool]
    left_out: Required[list[WatchedLeftOut]]
    checks: Required[list[WatchedChecks]]
    activity: Required[list[Act]]


class WatchCounts(TypedDict, total=False):
    """Tasks, their slots, and what became of them."""
    tasks: Required[int]
    slots: Required[int]
    submitted: Required[int]
    held: Required[int]
    skipped: Required[int]
    flagged: Required[int]
    returned: Required[int]
    voided: Required[int]


class WatchedAgreement(TypedDict, total=False):
    """How far people agree so far."""
    labels: Required[int]
    too_many: Required[bool]
    test_left_out: Required[bool]
    questions: Required[list[WatchedQuestion]]
    chosen: Required[str | None]
    raters: Required[list[WatchedRater]]
    raters_reason: Required[str]
    dividing: Required[list[Dividing]]


class WatchedAnnotator(TypedDict, total=False):
    """One annotator's part, by pseudonym; `attended` and `taken` are median seconds a submitted task."""
    name: Required[str]
    active: Required[bool]
    submitted: Required[int]
    held: Required[int]
    skipped: Required[int]
    expired: Required[int]
    returned: Required[int]
    voided: Required[int]
    flagged: Required[int]
    attended: Required[float | None]
    taken: Required[float | None]
    last: Required[str | None]


class WatchedAnswer(TypedDict, total=False):
    """What one rater answered."""
    rater: Required[str]
    value: Required[str]


class WatchedChecks(TypedDict, total=False):
    """How an annotator does in training, test, hidden checks and repeats; shares with their intervals.
    """
    annotator: Required[str]
    state: Required[WatchedChecksStateEnum]
    training_rounds: Required[int]
    test_tries: Required[int]
    test_score: Required[float | None]
    test_passed: Required[bool | None]
    let_in_because: Required[str]
    checks: Required[int]
    checks_skipped: Required[int]
    score: Required[float | None]
    score_low: Required[float | None]
    score_high: Required[float | None]
    score_reason: Required[str]
    recent_score: Required[float | None]
    recent_checks: Required[int]
    repeats: Required[int]
    same: Required[float | None]
    same_low: Required[float | None]
    same_high: Required[float | None]
    same_reason: Required[str]
    warned_at: Required[str | None]
    paused_at: Required[str | None]
    paused_because: Required[str]
    left_out_at: Required[str | None]
    left_out_because: Required[str]


WatchedChecksStateEnum: TypeAlias = Literal["new", "training", "test", "failed", "working", "paused"]


class WatchedDay(TypedDict, total=False):
    """What was submitted on a day of UTC."""
    day: Required[str]
    submitted: Required[int]


class WatchedLeftOut(TypedDict, total=False):
    """Somebody whom gold leaves out, since when and why."""
    annotator: Required[str]
    since: Required[str]
    why: Required[str]


class WatchedProgress(TypedDict, total=False):
    """How far the campaign is."""
    counts: Required[WatchCounts]
    annotators: Required[list[WatchedAnnotator]]
    by: Required[str]
    strata: Required[list[WatchedStratum]]
    days: Required[list[WatchedDay]]
    forecast: Required[Forecast]


class WatchedQuestion(TypedDict, total=False):
    """One question's figures so far, or why there are none."""
    question: Required[str]
    statistics: Required[list[Result]]
    reason: Required[str]


class WatchedRater(TypedDict, total=False):
    """One rater's figures on the chosen question."""
    rater: Required[str]
    group: Required[int]
    figures: Required[list[Result]]


class WatchedStratum(TypedDict, total=False):
    """The tasks of one stratum and their slots; `taken` are those submitted or held."""
    name: Required[str]
    tasks: Required[int]
    slots: Required[int]
    submitted: Required[int]
    taken: Required[int]


class Webhook(TypedDict, total=False):
    """A webhook: `campaign` is null for one of all of Concord; `off_reason` says why it was switched off.
    """
    id: Required[int]
    url: Required[str]
    events: Required[list[EventsEnum]]
    campaign: Required[int | None]
    active: Required[bool]
    allow_private: bool
    off_reason: Required[str]
    failing_since: Required[str | None]
    created_at: Required[str]


class WebhookRequest(TypedDict, total=False):
    """A webhook: `campaign` is null for one of all of Concord; `off_reason` says why it was switched off.
    """
    url: Required[str]
    events: Required[list[EventsEnum]]
    allow_private: bool


class WebhookVerbRequest(TypedDict, total=False):
    """What to do with a webhook."""
    verb: Required[WebhookVerbVerbEnum]


WebhookVerbVerbEnum: TypeAlias = Literal["on", "off", "ping"]


WhatEnum: TypeAlias = Literal["consent", "guidelines", "training", "feedback", "trained", "test", "passed", "warning"]


class WholeSession(TypedDict, total=False):
    """A session with all that was said of it, the last first; empty while it is as it was imported."""
    number: Required[int]
    id: Required[str]
    date: Required[str]
    place: Required[str]
    episode: Required[str]
    scene: Required[str]
    season: Required[str]
    present: Required[list[str]]
    listed: Required[list[str]]
    heard: Required[bool]
    turns: Required[int]
    first: Required[int | None]
    last: Required[int | None]
    facts: Required[int]
    questions: Required[int]
    versions: Required[list[SessionVersionRow]]


class WhyRequest(TypedDict, total=False):
    """Why a case is passed on, or a decision withdrawn."""
    reason: Required[str]


class WithdrawalRequest(TypedDict, total=False):
    """What to do with a submission, why, and which answers were looked at (`seen`)."""
    verb: Required[WithdrawalVerbEnum]
    reason: Required[str]
    seen: int | None


WithdrawalVerbEnum: TypeAlias = Literal["return", "void"]


class Withdrawn(TypedDict, total=False):
    """How many labels no longer count."""
    labels: Required[int]


class WithoutTurnsRequestRequest(TypedDict, total=False):
    """The new corpus's name, how many dialogues, and how many turns these have (0: no limit)."""
    name: Required[str]
    first: int
    min_turns: int
    max_turns: int


class WrittenRequest(TypedDict, total=False):
    """A scheme as JSON (`definition`) or as the text of a YAML or JSON file (`text`): one of the two."""
    definition: dict[str, Any]
    text: str
