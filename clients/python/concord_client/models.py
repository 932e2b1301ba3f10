"""What is sent and what comes back. Made from the OpenAPI document by `generate.py`; not edited by hand."""

from __future__ import annotations

from typing import Any, Literal, Required, TypeAlias, TypedDict

from concord_client.transport import File


class AcceptRequest(TypedDict, total=False):
    """Which version of what is agreed to (consent) or was read (guidelines)."""
    what: Required[WhatEnum]
    version: Required[int]


class Account(TypedDict, total=False):
    """An account with what it has done."""
    id: Required[int]
    username: Required[str]
    role: Required[RoleEnum]
    active: Required[bool]
    last_login: Required[str | None]
    tasks: Required[int]
    items: Required[int]


class AdoptRequest(TypedDict, total=False):
    """Which of the provider's batches it is."""
    provider_id: Required[str]


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


BlankEnum: TypeAlias = Literal[""]


class Call(TypedDict, total=False):
    """A call with its raw reply."""
    id: Required[int]
    dialogue: Required[str]
    continuation: Required[str]
    turn: int | None
    turn_number: int | None
    part: str
    sample: int
    state: CallStateEnum
    attempts: int
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
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    task_order: TaskOrderEnum
    deadline: str | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    annotators: list[str]
    guidelines: str
    consent: str
    shows: list[str]
    archived_at: Required[str | None]


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
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    task_order: TaskOrderEnum
    deadline: str | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    annotators: list[str]
    guidelines: str
    consent: str
    shows: list[str]


CampaignStateEnum: TypeAlias = Literal["draft", "open", "paused", "closed"]


class CapsRequest(TypedDict, total=False):
    """What a run may take. What is left out stays as it is; null lifts a cap."""
    cap_calls: int | None
    cap_tokens: int | None
    cap_cost: str | None


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


CheckKeyEnum: TypeAlias = Literal["consistency", "rewordings", "examples"]


class CheckRequest(TypedDict, total=False):
    """A check of a draft that asks something."""
    draft: Required[int]
    check_key: Required[CheckKeyEnum]
    estimate: bool


class Checked(TypedDict, total=False):
    """Whether a scheme can be asked, and if not, why."""
    ok: Required[bool]
    problems: Required[list[Problem]]


class Consent(TypedDict, total=False):
    """What annotators agree to before they work; `version` is given by Concord."""
    text: Required[str]
    version: Required[int]


class ConsentRequest(TypedDict, total=False):
    """What annotators agree to before they work; `version` is given by Concord."""
    text: Required[str]


class Continuation(TypedDict, total=False):
    """A continuation with its turns; `self` holds the dialogue's own."""
    id: Required[str]
    system: Required[str]
    mode: ContinuationModeEnum
    trial: int
    condition: Any
    turns: Required[list[Turn]]


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
    """A corpus with its imports, its systems and the number of live labels."""
    id: Required[int]
    name: Required[str]
    source: str
    licence: str
    created_at: Required[str]
    counts: Required[dict[str, int]]
    imports: Required[list[Import]]
    systems: Required[list[str]]
    labels: Required[int]


CorrectionEnum: TypeAlias = Literal["auto", "rogan_gladen", "none"]


class Counts(TypedDict, total=False):
    """The table: people's row first."""
    corpus: Required[str]
    campaign: Required[str | None]
    part: Required[str]
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


CountsTestPartEnum: TypeAlias = Literal["test"]


class CountsTestRequest(TypedDict, total=False):
    """What is counted on test, and for what test is opened."""
    rater: str
    questions: str
    by: str
    strata: str
    per_turns: int
    samples: SamplesEnum
    correction: CorrectionEnum
    part: CountsTestPartEnum
    resamples: int
    seed: int
    campaign: int
    purpose: Required[str]


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


class DraftExamplesRequest(TypedDict, total=False):
    """How a draft's worked examples are picked, from dev of its bench, in place of those it has."""
    rule: Required[PickingRuleEnum]
    n: int
    items: list[str]
    judge: str
    seed: int


class DraftRequest(TypedDict, total=False):
    """A draft: its version grows with every change; answers are item id to question to value.

    `client` names the program or tab that writes it, `based_on` the version of the task's draft it has
    seen, `attention` the milliseconds for which it had this task in front of somebody at work.
    """
    version: Required[int]
    client: str
    based_on: int | None
    answers: dict[str, dict[str, Any]]
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
    asked.
    """
    id: Required[int]
    name: Required[str]
    base_url: Required[str]
    model: Required[str]
    family: str
    key_env: str
    price_in: str | None
    price_out: str | None
    currency: str
    concurrency: int
    at_once: Required[int]
    requests_per_minute: int | None
    tokens_per_minute: int | None
    reply_form: ReplyFormEnum | BlankEnum
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
    asked.
    """
    name: Required[str]
    base_url: Required[str]
    model: Required[str]
    family: str
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
    calls: Required[int]
    done: Required[int]
    dialogues: Required[int]
    tokens_in: Required[int]
    tokens_out: Required[int]
    cost: Required[float | None]
    currency: Required[str]
    endpoint: Required[str]
    model: Required[str]
    host: Required[str]
    is_here: Required[bool]
    about: Required[bool]
    mode: Required[RunModeEnum]
    unanswered: Required[list[Unanswered]]


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


class ExportPartRequest(TypedDict, total=False):
    """Which part of the corpus's split is taken out, and what for where that is test."""
    part: SplitPartEnum
    purpose: str


FallbackEnum: TypeAlias = Literal["majority", "dawid_skene", "mace", "mean", "median", "trimmed_mean", "severity_adjusted_mean", "weighted", "none"]


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


FormatEnum: TypeAlias = Literal["jsonl", "label-studio", "fed", "fed_gpt4", "qmsum", "messages", "ratings-csv", "turns-csv", "turns-xlsx"]


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


FromCorpusKindEnum: TypeAlias = Literal["turn", "dialogue"]


class FromCorpusRequest(TypedDict, total=False):
    """A scheme to be made of the questions that a corpus's files brought."""
    corpus: Required[str]
    kind: Required[FromCorpusKindEnum]
    key: Required[str]
    title: str


class Gold(TypedDict, total=False):
    """A derivation of gold labels."""
    id: Required[int]
    corpus: Required[int]
    campaign: int | None
    scheme: Required[str]
    rule: Required[str]
    options: Any
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
    ties: TiesEnum
    seed: int
    share: float
    least: int
    fallback: FallbackEnum


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


class Guidelines(TypedDict, total=False):
    """Guidelines; `version` is given by Concord."""
    text: Required[str]
    version: Required[int]


class GuidelinesRequest(TypedDict, total=False):
    """Guidelines; `version` is given by Concord."""
    text: Required[str]


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
    name: str
    into: str
    scheme: str
    source: str
    licence: str
    sha256: str


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


class Item(TypedDict, total=False):
    """An item with its key, which names it for every program, and the number annotators give its turn.
    """
    id: Required[int]
    key: Required[str]
    turn_number: Required[int | None]
    kind: Required[ItemKindEnum]
    system: Required[str]
    cluster: Required[str]


ItemKindEnum: TypeAlias = Literal["turn", "dialogue"]


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


class KeepRequest(TypedDict, total=False):
    """Under which name a draft is kept."""
    name: str
    note: str


class LabelExportRequest(TypedDict, total=False):
    """A corpus or campaign, and the part of it that is taken out."""
    corpus: int
    campaign: int | None
    part: SplitPartEnum
    purpose: str


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


class Look(TypedDict, total=False):
    """A look at test."""
    by: Required[str | None]
    at: Required[str]
    purpose: Required[str]


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


class MarkRequest(TypedDict, total=False):
    """What is said of a disagreement. `adjudicate` also sends what is marked `people_wrong` on."""
    judged: Required[str]
    item: Required[int]
    question: Required[int]
    verdict: Required[VerdictEnum]
    note: str
    adjudicate: bool


class MembersRequest(TypedDict, total=False):
    """Who joins and who leaves, by user name."""
    add: list[str]
    remove: list[str]


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


class MyCampaign(TypedDict, total=False):
    """A campaign that an annotator takes part in, with how many tasks they have done."""
    campaign: Required[int]
    name: Required[str]
    state: Required[str]
    done: Required[int]
    limits: Required[Limits]


class Need(TypedDict, total=False):
    """Answers of another rater that a protocol reads."""
    role: Required[str]
    question: Required[str]
    aggregate: Required[str]
    missing: Required[str]


class NewAccountRequest(TypedDict, total=False):
    """An account to be made."""
    username: Required[str]
    role: RoleEnum
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
    scheme: Required[str]
    rule: Required[NewGoldRuleEnum]
    options: GoldOptionsRequest
    raters: list[str]


NewGoldRuleEnum: TypeAlias = Literal["majority", "dawid_skene", "mace", "mean", "median", "trimmed_mean", "severity_adjusted_mean", "weighted", "adjudicated"]


class NewInvitationRequest(TypedDict, total=False):
    """An invitation to be made."""
    role: RoleEnum
    name: str
    days: int


class NewPasswordRequest(TypedDict, total=False):
    """The password of now, and the new one."""
    old: Required[str]
    new: Required[str]


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


NewRunPartEnum: TypeAlias = Literal["dev", "test"]


class NewRunRequest(TypedDict, total=False):
    """What starts a run: a protocol (with its endpoint) or a metric, over a corpus or a campaign by name.
    """
    corpus: str
    campaign: str
    systems: list[str]
    include_self: bool
    samples: int
    part: NewRunPartEnum | BlankEnum
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


NullEnum: TypeAlias = None


class PackageExportRequest(TypedDict, total=False):
    """What a package is made of; `question` names questions as `scheme@version/key`, all where left out.
    """
    corpus: int
    campaign: int | None
    part: SplitPartEnum
    purpose: str
    question: list[str]


class PaginatedAccountList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Account]]


class PaginatedBatchList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Batch]]


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


class PaginatedPromptList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Prompt]]


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


class PaginatedSpentList(TypedDict, total=False):
    count: Required[int]
    next: str | None
    previous: str | None
    results: Required[list[Spent]]


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


class Part(TypedDict, total=False):
    """A stretch of the transcript."""
    heading: Required[str]
    lines: Required[list[ShownLine]]


class PatchedAccountChangeRequest(TypedDict, total=False):
    """What is to be another: the role, whether the account is active, or locked after wrong passwords.
    """
    role: RoleEnum
    active: bool
    locked: bool


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
    overlap_raters: int | None
    overlap_share: float | None
    overlap_tasks: int | None
    sample_dialogues: int | None
    sample_by: str
    task_order: TaskOrderEnum
    deadline: str | None
    most_tasks: int | None
    most_tasks_a_day: int | None
    annotators: list[str]
    guidelines: str
    consent: str
    shows: list[str]


class PatchedEndpointRequest(TypedDict, total=False):
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was
    asked.
    """
    name: str
    base_url: str
    model: str
    family: str
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


PickingRuleEnum: TypeAlias = Literal["by_hand", "most_disagreed", "balanced", "nearest"]


PlaceEnum: TypeAlias = Literal["history", "given", "item", "rated"]


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
    answer: Required[list[str]]
    cautions: Required[list[str]]


class PlanRow(TypedDict, total=False):
    """The expected width (null: no interval) or power with so many dialogues, and its range over pilots.
    """
    n_clusters: Required[int]
    expected: Required[float | None]
    low: Required[float | None]
    high: Required[float | None]
    share_undefined: Required[float]


class Preview(TypedDict, total=False):
    """A task (`number`, from 1, of the first `of`) as its annotator gets it: what is asked, what is shown.
    """
    number: Required[int]
    of: Required[int]
    questions: Required[list[dict[str, Any]]]
    guidelines: Required[str]
    task: Required[Screen]


class Problem(TypedDict, total=False):
    """A field that is at fault: the path to it with dots, the sentence, and the place in words."""
    path: Required[str]
    sentence: Required[str]
    place: Required[str]


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


QueueEnum: TypeAlias = Literal["calls", "metrics"]


ReachedEnum: TypeAlias = Literal["deadline", "total", "day"]


ReasoningEffortEnum: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


RecomputePartEnum: TypeAlias = Literal["dev", "all"]


class RecomputeRequest(TypedDict, total=False):
    """Which part is computed again."""
    part: RecomputePartEnum


class Refusal(TypedDict, total=False):
    """Every refusal: a sentence for people, a code for programs, fields that are at fault."""
    detail: Required[str]
    code: Required[str]
    fields: dict[str, list[str]]


class ReopenRequest(TypedDict, total=False):
    """The task submitted last, or the one before `before`."""
    before: int | None


ReplyFormEnum: TypeAlias = Literal["schema", "json", "text"]


class Report(TypedDict, total=False):
    """A report: its result, and the hash of what it was computed from."""
    id: Required[int]
    study: Required[int]
    part: str
    inputs_hash: Required[str]
    created_at: Required[str]
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


RoleEnum: TypeAlias = Literal["annotator", "researcher", "administrator"]


class Row(TypedDict, total=False):
    """The continuations of one condition, or people's."""
    by: Required[dict[str, Any]]
    human: Required[bool]
    n_continuations: Required[int]
    n_clusters: Required[int]
    n_missing: Required[int]
    cells: Required[dict[str, Cell]]
    distance: Required[Distance | None]


class Run(TypedDict, total=False):
    """A run with its progress."""
    id: Required[int]
    rater: Required[str]
    spec: Required[Any]
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


class Scheme(TypedDict, total=False):
    """A scheme: one's own, or a built-in one."""
    key: Required[str]
    title: Required[str]
    item_kind: Required[str]
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


class Screen(TypedDict, total=False):
    """What an annotator may see of a task."""
    items: Required[list[int]]
    parts: Required[list[Part]]
    people: Required[list[Person]]
    metadata: Required[list[Any]]
    summary: Required[str]
    agenda: Required[list[str]]
    language: Required[str]


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


class ShownLine(TypedDict, total=False):
    """One turn as shown: `how` and `private` say what happened beside its text; `item` is set where the turn
    itself is rated.
    """
    no: Required[int]
    speaker: Required[str]
    how: Required[str]
    private: Required[str]
    heading: Required[str]
    text: Required[str]
    place: Required[PlaceEnum]
    item: Required[int | None]


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


SplitPartEnum: TypeAlias = Literal["dev", "test", "all"]


class StateRequest(TypedDict, total=False):
    """What to do with a campaign."""
    verb: Required[StateVerbEnum]


StateVerbEnum: TypeAlias = Literal["open", "pause", "close", "archive", "bring-back"]


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
    """A submission; `seen` names its answers as they are now.

    `seconds` is the time from being handed out to being submitted, `attended` that of attention, where a
    page told it.
    """
    assignment: Required[int]
    annotator: Required[str]
    about: Required[str]
    turn_number: Required[int | None]
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
    comment: str
    flagged: bool
    attention: int
    revising: bool


class System(TypedDict, total=False):
    """A system with its family and the number of its continuations."""
    name: Required[str]
    family: str
    continuations: Required[int]


TaskOrderEnum: TypeAlias = Literal["drawn", "own", "fixed"]


TiesEnum: TypeAlias = Literal["none", "lowest", "highest"]


class Token(TypedDict, total=False):
    """A token without its key."""
    id: Required[int]
    name: Required[str]
    scope: TokenScopeEnum
    created_at: Required[str]
    expires_at: Required[str]
    last_used: str | None


TokenScopeEnum: TypeAlias = Literal["read", "write"]


class TranscriptExportRequest(TypedDict, total=False):
    """Which continuations (all that were tagged, where left out), and whose tags (people's)."""
    corpus: int
    campaign: int | None
    part: SplitPartEnum
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


class Unanswered(TypedDict, total=False):
    """Calls of which it is known beforehand that they have no answer."""
    calls: Required[int]
    reason: Required[str]
    about: Required[bool]


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


WhatEnum: TypeAlias = Literal["consent", "guidelines"]


class WithdrawalRequest(TypedDict, total=False):
    """What to do with a submission, why, and which answers were looked at (`seen`)."""
    verb: Required[WithdrawalVerbEnum]
    reason: Required[str]
    seen: int | None


WithdrawalVerbEnum: TypeAlias = Literal["return", "void"]


class Withdrawn(TypedDict, total=False):
    """How many labels no longer count."""
    labels: Required[int]


class WrittenRequest(TypedDict, total=False):
    """A scheme as JSON (`definition`) or as the text of a YAML or JSON file (`text`): one of the two."""
    definition: dict[str, Any]
    text: str
