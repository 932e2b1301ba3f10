"""Traces of applications with models, with the scores of people and graders.

The traces of a session are one dialogue, in the order of their times. What a trace was sent is given, what it
answered is rated. A score of a trace is about its answer, a score of a session about the dialogue.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import NAME_LIMIT, decode_python
from annotation.formats.model_messages import (
    ASSISTANT,
    Message,
    Omissions,
    Score,
    first_text,
    id_of,
    input_messages,
    log_records,
    names_in,
    nested,
    numbered,
    objects_in,
    output_messages,
    score_of,
    split_prompts,
    turn_of,
    unpacked,
)
from annotation.formats.source import ImportProblem, Source
from annotation.records import SELF, Dialogue, Participant, RaterKind, Turn

# What all traces have.

NO_ANSWER = "Traces left out, because they have no answer"
LOST_SCORES = "Scores of traces without an answer, left out"
UNNAMED = "assistant"
PERSON = "annotator"


@dataclass(slots=True)
class Trace:
    """An exchange with an application. `scores` are of its answer, `session_scores` of the dialogue."""

    key: str
    session: str
    time: str
    sent: list[Message]
    answered: list[Message]
    model: str = ""
    user: str = ""
    scores: list[Score] = field(default_factory=list)
    session_scores: list[Score] = field(default_factory=list)


def dialogues(traces: Iterable[Trace], source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each session, and for each trace without one."""
    sessions: dict[str, list[Trace]] = {}
    omissions = Omissions()
    for trace in traces:
        sessions.setdefault(trace.session or trace.key, []).append(trace)
    for key, members in sessions.items():
        answered = [trace for trace in members if any(part.role == ASSISTANT for part in trace.answered)]
        omissions.add(NO_ANSWER, len(members) - len(answered))
        lost = sum(len(trace.scores) for trace in members) - sum(len(trace.scores) for trace in answered)
        omissions.add(LOST_SCORES, lost)
        if answered:
            with source.report_problems(path=key[:60]):
                yield SourceRecord(_dialogue(id_of(key, "session"), sorted(answered, key=lambda t: t.time)))
    omissions.reasons = +omissions.reasons
    omissions.note(source)


def _dialogue(key: str, traces: Sequence[Trace]) -> Dialogue:
    history: list[Message] = []
    turns: list[Turn] = []
    prompts: dict[str, None] = {}
    labels = []
    for trace in traces:
        prompt, sent = split_prompts(trace.sent)
        prompts |= {prompt: None} if prompt else {}
        for message in sent[_overlap(history, sent) :]:
            history.append(message)
            turns.append(turn_of(message, given=True, time=trace.time))
        _, answered = split_prompts(trace.answered)
        answered = answered[_repeated(sent, answered) :]
        extra = {"trace": trace.key} | ({"model": trace.model} if trace.model else {})
        for message in answered:
            history.append(message)
            turns.append(turn_of(message, given=message.role != ASSISTANT, time=trace.time, extra=extra))
        rated = max((n for n, turn in enumerate(turns) if not turn.given), default=None)
        labels += [score.label(SELF, rated) for score in trace.scores]
        labels += [score.label(SELF, None) for score in trace.session_scores]
    users = dict.fromkeys(trace.user for trace in traces if trace.user)
    metadata = {"system_prompt": "\n\n".join(prompts)} if prompts else {}
    metadata |= {"user": ", ".join(users)} if users else {}
    models = dict.fromkeys(trace.model for trace in traces if trace.model)
    return Dialogue(
        id=key,
        turns=tuple(turns),
        participants=tuple(Participant(name, role=name) for name in dict.fromkeys(t.speaker for t in turns)),
        system=", ".join(models)[:NAME_LIMIT] or UNNAMED,
        labels=numbered(labels),
        metadata=metadata,
    )


def _overlap(history: Sequence[Message], sent: Sequence[Message]) -> int:
    """Return how many of the first messages sent repeat the last ones of the history."""
    for length in range(min(len(history), len(sent)), 0, -1):
        if list(history[-length:]) == list(sent[:length]) and any(
            part.role == ASSISTANT for part in sent[:length]
        ):
            return length
    return 0


def _repeated(sent: Sequence[Message], answered: Sequence[Message]) -> int:
    """Return how many messages of an answer repeat what was sent, as where a chain returns all messages."""
    return len(sent) if sent and list(answered[: len(sent)]) == list(sent) else 0


KINDS: dict[str, RaterKind] = {
    **dict.fromkeys(("human", "annotation", "app"), "human"),
    **dict.fromkeys(("eval", "evaluator", "auto_eval", "model", "llm", "llm_judge", "ai_judge"), "judge"),
    "code": "metric",
}
"""Kinds of raters by the words that programs write."""
FEEDBACK = re.compile(r"feedback|thumb|user|human|rating|like|star|csat|nps", re.IGNORECASE)


class _Assumptions:
    """Kinds of raters that a file does not state: guessed from the names of scores, with a note."""

    def __init__(self) -> None:
        self.people: dict[str, None] = {}
        self.metrics: dict[str, None] = {}

    def kind(self, name: str, word: str) -> RaterKind:
        """Return the kind of a score's rater, by the program's word for it, else by the score's name."""
        if kind := KINDS.get(word.lower()):
            return kind
        is_feedback = FEEDBACK.search(name) is not None
        (self.people if is_feedback else self.metrics)[name] = None
        return "human" if is_feedback else "metric"

    def note(self, source: Source) -> None:
        """Add a note about each guess."""
        for names, kind in ((self.people, "answers of people"), (self.metrics, "metrics")):
            if names:
                listing = ", ".join(list(names)[:20])
                source.notes.append(f"Scores without a stated rater, read as {kind}: {listing}.")


# Langfuse: traces as exported or as its API returns them, with observations and scores; or its observations.
#
# A score's source says who gave it: ANNOTATION is a person, EVAL a judge, API a program (feedback of users by
# its name, else a metric). `comment` is the explanation.


def read_langfuse(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each session of Langfuse's traces."""
    assumptions = _Assumptions()
    left_out = Omissions()
    traces = []
    for line, raw in log_records(source):
        with source.report_problems(line=line):
            trace = _langfuse_trace(raw, assumptions, left_out)
            traces.append(trace)
    yield from dialogues(traces, source)
    assumptions.note(source)
    left_out.note(source)


def _langfuse_trace(raw: dict[str, Any], assumptions: _Assumptions, left_out: Omissions) -> Trace:
    if isinstance(raw.get("trace"), dict):
        raw = {**raw["trace"], **{key: value for key, value in raw.items() if key != "trace"}}
    entries = unpacked(raw.get("observations"))
    observations = [part for part in entries if isinstance(part, dict)] if isinstance(entries, list) else []
    generations = [part for part in observations if part.get("type") == "GENERATION"]
    generations.sort(key=lambda part: str(part.get("startTime", "")))
    last = generations[-1] if generations else {}
    sent = input_messages(raw.get("input")) or input_messages(last.get("input"))
    trace = Trace(
        key=first_text(raw, "traceId")
        if raw.get("type") == "GENERATION"
        else id_of(first_text(raw, "id"), "id"),
        session=first_text(raw, "sessionId", "session_id"),
        time=first_text(raw, "timestamp", "startTime", "createdAt"),
        sent=sent,
        answered=output_messages(raw.get("output")) or output_messages(last.get("output")),
        model=first_text(last, "model") or first_text(raw, "model", ("metadata", "model")),
        user=first_text(raw, "userId"),
    )
    scores = unpacked(raw.get("scores"))
    if isinstance(scores, dict) and scores:
        left_out.add(
            "Scores without a stated rater, left out (the API returns them with their source)",
            len(scores),
        )
    for score in scores if isinstance(scores, list) else []:
        if isinstance(score, dict):
            is_session = (
                not score.get("traceId") and not score.get("observationId") and score.get("sessionId")
            )
            (trace.session_scores if is_session else trace.scores).append(_langfuse_score(score, assumptions))
        else:
            left_out.add("Ids of scores without the scores, left out")
    return trace


def _langfuse_score(raw: Mapping[str, Any], assumptions: _Assumptions) -> Score:
    name, origin = first_text(raw, "name") or "score", first_text(raw, "source")
    value = raw.get("stringValue") if raw.get("stringValue") not in (None, "") else raw.get("value")
    if first_text(raw, "dataType").upper() == "BOOLEAN" and raw.get("value") in (0, 1):
        value = bool(raw["value"])
    kind = assumptions.kind(name, origin)
    author = first_text(raw, "authorUserId") or (PERSON if origin.upper() == "ANNOTATION" else "user")
    model = first_text(raw, ("metadata", "model"))
    rater = {"human": author, "judge": model or "Langfuse evaluator"}.get(kind, name)
    return score_of(name, rater, kind, value, raw.get("comment"))


def _looks_like_langfuse(head: Head) -> bool:
    names = head.inner | head.header
    lower = {name.lower() for name in names}
    marks = {
        "sessionid",
        "userid",
        "observations",
        "bookmarked",
        "release",
        "latency",
        "totalcost",
        "projectid",
    }
    is_trace = {"id", "input", "output"} <= lower and len(marks & lower) >= 3
    return is_trace and bool({"timestamp", "starttime"} & lower)


LANGFUSE = Format(
    key="langfuse",
    title="Langfuse traces",
    hint="Traces with their observations and scores: exported, or as the API returns them.",
    read=read_langfuse,
    looks_like=_looks_like_langfuse,
)


# LangSmith: runs, one object a line, a list, or a CSV.
#
# Root runs are the exchanges; a thread's id in the metadata makes them one dialogue. `feedback` lists single
# answers with their source; `feedback_stats` has means, which are taken where they are of one answer.

THREADS = ("session_id", "thread_id", "conversation_id")


def read_langsmith(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each thread of LangSmith's runs."""
    assumptions, left_out = _Assumptions(), Omissions()
    runs = list(log_records(source))
    has_roots = any(not raw.get("parent_run_id") for _, raw in runs)
    models: dict[str, str] = {}
    for _, raw in runs:
        model = _langsmith_model(raw)
        if model:
            models.setdefault(first_text(raw, "trace_id", "id"), model)
    traces = []
    for line, raw in runs:
        if has_roots and raw.get("parent_run_id"):
            left_out.add("Runs inside of other runs, passed over")
            continue
        with source.report_problems(line=line):
            traces.append(_langsmith_trace(raw, models, assumptions, left_out))
    yield from dialogues(traces, source)
    assumptions.note(source)
    left_out.note(source)


def _langsmith_model(raw: Mapping[str, Any]) -> str:
    return first_text(
        raw,
        ("extra", "metadata", "ls_model_name"),
        ("extra", "invocation_params", "model"),
        ("extra", "invocation_params", "model_name"),
        ("metadata", "ls_model_name"),
    )


def _langsmith_trace(
    raw: dict[str, Any], models: Mapping[str, str], assumptions: _Assumptions, left_out: Omissions
) -> Trace:
    threads = [("extra", "metadata", name) for name in THREADS] + [("metadata", name) for name in THREADS]
    trace = Trace(
        key=id_of(first_text(raw, "id", "run_id"), "id"),
        session=first_text(raw, *threads, "thread_id"),
        time=first_text(raw, "start_time"),
        sent=input_messages(_columns(raw, "inputs")),
        answered=output_messages(_columns(raw, "outputs")),
        model=models.get(first_text(raw, "trace_id", "id"), ""),
    )
    feedback = unpacked(raw.get("feedback"))
    for entry in feedback if isinstance(feedback, list) else []:
        if isinstance(entry, dict):
            trace.scores.append(_langsmith_feedback(entry, assumptions))
    stats = _columns(raw, "feedback_stats")
    if isinstance(stats, dict) and not trace.scores:
        for name, entry in stats.items():
            if not isinstance(entry, dict) or not entry.get("n"):
                continue
            if entry["n"] != 1:
                left_out.add("Means of several answers in feedback_stats, left out", 1)
                continue
            trace.scores.append(_langsmith_feedback(_of_stats(name, entry), assumptions))
    return trace


def _columns(raw: Mapping[str, Any], name: str) -> Any:
    """Return a value that is one column, or the columns `NAME.key` or `NAME_key`."""
    if raw.get(name) is not None:
        return unpacked(raw[name])
    parts = {
        key[len(name) + 1 :]: value for key, value in raw.items() if key.startswith(f"{name}.") and value
    }
    return {key.removesuffix("[]"): value for key, value in parts.items()} or None


def _of_stats(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    values = entry.get("values")
    word = next(iter(values)) if isinstance(values, dict) and len(values) == 1 else None
    origins, noted = entry.get("sources"), entry.get("comments")
    sources = [unpacked(part) for part in origins] if isinstance(origins, list) else []
    comments = [part for part in noted if isinstance(part, str)] if isinstance(noted, list) else []
    return {
        "key": name,
        "score": entry.get("avg"),
        "value": word,
        "comment": comments[0] if comments else "",
        "feedback_source": sources[0] if sources and isinstance(sources[0], dict) else {},
    }


def _langsmith_feedback(raw: Mapping[str, Any], assumptions: _Assumptions) -> Score:
    name = first_text(raw, "key") or "score"
    kind = assumptions.kind(name, first_text(raw, ("feedback_source", "type")))
    author = first_text(raw, ("feedback_source", "user_name"), ("feedback_source", "user_id"))
    model = first_text(raw, ("feedback_source", "metadata", "model"))
    rater = {"human": author or PERSON, "judge": model or "LangSmith evaluator"}.get(kind, name)
    value = raw.get("value") if isinstance(raw.get("value"), str) else raw.get("score")
    return score_of(name, rater, kind, value, raw.get("comment"))


LANGSMITH = Format(
    key="langsmith",
    title="LangSmith runs",
    hint="Runs with inputs and outputs, as JSON, JSON lines or CSV; feedback becomes labels.",
    read=read_langsmith,
    looks_like=lambda head: (
        bool({"run_type", "dotted_order", "feedback_stats"} & (head.inner | head.header))
        and bool({"inputs", "outputs"} & {name.partition(".")[0] for name in head.inner | head.header})
        and bool({"id", "run_id"} & (head.inner | head.header))
    ),
)


# OpenInference spans (Phoenix), and OpenTelemetry's spans of generative models.
#
# Rows of a spans table (`context.span_id`, `attributes.llm.input_messages`), spans as Phoenix's API returns
# them, or OTLP JSON (resourceSpans). A trace is read from its only call of a model, else from its root span.
# Evaluations and annotations of spans become labels.

EVAL = re.compile(r"(?:eval|annotations?)\.(.+?)\.(label|score|explanation|annotator_kind|annotator)$")
INDEXED = re.compile(
    r"(?:gen_ai\.(?P<way>prompt|completion)|llm\.(?P<list>input|output)_messages)\.(?P<n>\d+)\.(?:message\.)?(?P<part>role|content)"
)


def read_openinference(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each session of the spans."""
    spans: dict[str, list[dict[str, Any]]] = {}
    assumptions = _Assumptions()
    for line, raw in _spans(source):
        with source.report_problems(line=line):
            span = _flat_span(raw)
            key = first_text(span, "context.trace_id", "trace_id", "traceId") or first_text(span, "span_id")
            spans.setdefault(id_of(key, "context.trace_id"), []).append(span)
    traces = []
    for key, members in spans.items():
        with source.report_problems(path=f"trace {key[:40]}"):
            traces.append(_trace_of_spans(key, members, assumptions))
    yield from dialogues(traces, source)
    assumptions.note(source)


def _spans(source: Source) -> Iterator[tuple[int | None, dict[str, Any]]]:
    for line, raw in log_records(source):
        groups = raw.get("resourceSpans") or raw.get("resource_spans")
        if not isinstance(groups, list):
            yield line, raw
            continue
        for group in objects_in(groups):
            for scope in objects_in(group.get("scopeSpans") or group.get("scope_spans")):
                yield from ((line, span) for span in objects_in(scope.get("spans")))


def _flat_span(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a span with its attributes by their names, without `attributes.` before them."""
    span: dict[str, Any] = {}
    for name, value in raw.items():
        value = _literal(value)
        if name == "attributes" and isinstance(value, list):
            span |= {str(part.get("key", "")): _otlp_value(part.get("value")) for part in objects_in(value)}
        elif name in ("attributes", "context") and isinstance(value, dict):
            prefix = "context." if name == "context" else ""
            span |= {f"{prefix}{key}": part for key, part in _leaves(value)}
        else:
            span[name.removeprefix("attributes.")] = value
    return span


def _leaves(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, part in value.items():
        if isinstance(part, dict) and part:
            yield from _leaves(part, f"{path}{key}.")
        else:
            yield f"{path}{key}", part


def _literal(value: Any) -> Any:
    """Return the list or object that a cell writes as JSON, or as Python does."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return decode_python(value.encode())
    except ImportProblem:
        pass
    try:
        return ast.literal_eval(value) if len(value) < 200_000 else value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _otlp_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "arrayValue" in value:
        return [_otlp_value(part) for part in value["arrayValue"].get("values") or []]
    return next(iter(value.values()), None)


def _span_messages(span: Mapping[str, Any], way: str) -> list[Message]:
    """Return the input or output messages of a span, by the names of OpenInference and OpenTelemetry."""
    read = input_messages if way == "input" else output_messages
    indexed: dict[int, dict[str, Any]] = {}
    for name, value in span.items():
        match = INDEXED.fullmatch(str(name))
        if match and (match["list"] or {"prompt": "input", "completion": "output"}[match["way"]]) == way:
            indexed.setdefault(int(match["n"]), {})[match["part"]] = value
    if indexed:
        return read([message for _, message in sorted(indexed.items()) if message.get("content")])
    for name in (
        f"llm.{way}_messages",
        f"gen_ai.{way}.messages",
        f"{way}.value",
        way,
        f"traceloop.entity.{way}",
    ):
        if messages := read(_literal(span.get(name))):
            return messages
    return []


def _trace_of_spans(key: str, spans: list[dict[str, Any]], assumptions: _Assumptions) -> Trace:
    spans.sort(key=lambda span: first_text(span, "start_time", "startTimeUnixNano", "start_time_unix_nano"))
    calls = [span for span in spans if _is_call(span)]
    roots = [span for span in spans if not first_text(span, "parent_id", "parentSpanId", "parent_span_id")]
    turn_span = calls[0] if len(calls) == 1 else (roots or calls or spans)[-1 if not roots else 0]
    if not _span_messages(turn_span, "output") and calls:
        turn_span = calls[-1]
    trace = Trace(
        key=key,
        session=next((text for span in spans if (text := first_text(span, *SESSIONS))), ""),
        time=first_text(turn_span, "start_time", "startTimeUnixNano"),
        sent=_span_messages(turn_span, "input"),
        answered=_span_messages(turn_span, "output"),
        model=next((text for span in calls if (text := first_text(span, *MODELS))), ""),
        user=next((text for span in spans if (text := first_text(span, "user.id"))), ""),
    )
    for span in spans:
        trace.scores += _span_scores(span, assumptions)
    return trace


SESSIONS = ("session.id", "gen_ai.conversation.id", "conversation_id", "session_id")
MODELS = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")


def _is_call(span: Mapping[str, Any]) -> bool:
    kind = first_text(span, "span_kind", "openinference.span.kind").upper()
    return kind == "LLM" or any(name.startswith(("llm.input_messages", "gen_ai.")) for name in span)


def _span_scores(span: Mapping[str, Any], assumptions: _Assumptions) -> Iterator[Score]:
    columns: dict[str, dict[str, Any]] = {}
    for name, value in span.items():
        if (match := EVAL.match(name)) and value is not None:
            columns.setdefault(match[1], {})[match[2]] = value
    for name, entry in columns.items():
        yield _annotation({"name": name, **entry, "is_eval": True}, assumptions)
    annotations = span.get("annotations") or span.get("span_annotations")
    for entry in annotations if isinstance(annotations, list) else []:
        if isinstance(entry, dict):
            yield _annotation({**entry, **(entry.get("result") or {})}, assumptions)


def _annotation(entry: Mapping[str, Any], assumptions: _Assumptions) -> Score:
    name = first_text(entry, "name", "annotation_name") or "score"
    word = first_text(entry, "annotator_kind")
    if entry.get("is_eval") and word.lower() not in KINDS:
        word = "eval"
    kind = assumptions.kind(name, word)
    author = first_text(entry, "user_id", "annotator", ("metadata", "model"), "identifier")
    rater = author or {"human": PERSON, "judge": "Phoenix evaluator"}.get(kind, name)
    label = entry.get("label")
    value = label if label not in (None, "") else entry.get("score")
    if isinstance(value, str) and label in (None, "") and re.fullmatch(r"-?\d+(\.\d+)?", value):
        value = float(value)
    return score_of(name, rater, kind, value, entry.get("explanation"))


def _looks_like_spans(head: Head) -> bool:
    names = head.inner | head.header
    if {"scopeSpans"} <= names or "resourceSpans" in names:
        return True
    is_span = (
        "context.span_id" in names
        or {"context", "span_id", "trace_id"} <= names
        or "attributes.openinference.span.kind" in names
    )
    return is_span and any("llm" in name or "attributes" in name or name == "span_kind" for name in names)


OPENINFERENCE = Format(
    key="openinference",
    title="Spans of OpenInference (Phoenix) and OpenTelemetry",
    hint="Spans of calls of models, as a table, JSON or OTLP JSON; evaluations of spans become labels.",
    read=read_openinference,
    looks_like=_looks_like_spans,
)


# MLflow: traces as JSON, from search_traces or as files, with assessments.
#
# {"info": {"trace_id", "trace_metadata", "assessments"}, "data": {"spans"}}, or a row with trace_id, request,
# response and assessments. An assessment's source is HUMAN, LLM_JUDGE or CODE; expectations are answer keys.


def read_mlflow(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each session of MLflow's traces."""
    assumptions = _Assumptions()
    traces = []
    for line, raw in log_records(source):
        with source.report_problems(line=line):
            traces.append(_mlflow_trace(raw, assumptions))
    yield from dialogues(traces, source)
    assumptions.note(source)


def _mlflow_trace(raw: dict[str, Any], assumptions: _Assumptions) -> Trace:
    nested = unpacked(raw.get("trace"))
    raw = nested if isinstance(nested, dict) else raw
    info = unpacked(raw.get("info"))
    info = info if isinstance(info, dict) else raw
    data = unpacked(raw.get("data"))
    data = data if isinstance(data, dict) else raw
    entries = unpacked(data.get("spans"))
    spans = [span for span in entries if isinstance(span, dict)] if isinstance(entries, list) else []
    root = next((s for s in spans if not (s.get("parent_id") or s.get("parent_span_id"))), {})
    metadata = unpacked(info.get("trace_metadata") or info.get("request_metadata")) or {}
    sent = (
        data.get("request", raw.get("request")) or _attribute(root, "mlflow.spanInputs") or root.get("inputs")
    )
    answered = (
        data.get("response", raw.get("response"))
        or _attribute(root, "mlflow.spanOutputs")
        or root.get("outputs")
    )
    assessments = unpacked(info.get("assessments")) or unpacked(raw.get("assessments"))
    return Trace(
        key=id_of(first_text(info, "trace_id", "request_id", "client_request_id"), "trace_id"),
        session=_metadata(metadata, "mlflow.trace.session"),
        time=first_text(info, "request_time", "timestamp_ms", "execution_time"),
        sent=input_messages(_unquoted(sent or info.get("request_preview"))),
        answered=output_messages(_unquoted(answered or info.get("response_preview"))),
        model=next((model for span in spans if (model := _mlflow_model(span))), ""),
        user=_metadata(metadata, "mlflow.trace.user"),
        scores=[_assessment(entry, assumptions) for entry in objects_in(assessments)],
    )


def _unquoted(value: Any) -> Any:
    """Return the value of a JSON text or object, any other value unchanged."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return decode_python(value.encode())
        except ImportProblem:
            return value
    return unpacked(value)


def _metadata(metadata: Any, name: str) -> str:
    value = metadata.get(name) if isinstance(metadata, dict) else None
    return value.strip() if isinstance(value, str) else ""


def _attribute(span: Mapping[str, Any], name: str) -> Any:
    attributes = span.get("attributes")
    return unpacked(attributes.get(name)) if isinstance(attributes, dict) else None


def _mlflow_model(span: Mapping[str, Any]) -> str:
    for name in ("mlflow.llm.model", "mlflow.chat.model", "gen_ai.request.model"):
        value = _attribute(span, name)
        if isinstance(value, str) and value:
            return value.strip('"')
    for name in ("mlflow.spanInputs", "mlflow.spanOutputs"):
        value = _attribute(span, name)
        if isinstance(value, dict) and isinstance(value.get("model"), str):
            return str(value["model"])
    return ""


def _assessment(raw: Mapping[str, Any], assumptions: _Assumptions) -> Score:
    name = first_text(raw, "assessment_name", "name") or "score"
    author = first_text(raw, ("source", "source_id"))
    kind = assumptions.kind(name, first_text(raw, ("source", "source_type")))
    value = nested(raw, "feedback", "value")
    expected = nested(raw, "expectation", "value")
    if value is None and expected is not None:
        kind, value = "key", expected
    if isinstance(value, dict | list):
        value = ", ".join(map(str, value))
    names = {"human": PERSON, "judge": "MLflow judge", "key": "expectations"}
    rater = author if author and author != "default" and kind != "key" else names.get(kind, name)
    error = nested(raw, "feedback", "error", "error_message") or nested(raw, "error", "error_message")
    if value is None:
        return Score(name, rater, kind, None, missing=str(error or "no value")[:200])
    return score_of(name, rater, kind, value, raw.get("rationale"))


def _looks_like_mlflow(head: Head) -> bool:
    names = head.inner | names_in(head.header)
    is_json = {"info", "data"} <= names and bool(
        {"trace_metadata", "request_metadata", "trace_location"} & names
    )
    is_row = "trace_metadata" in names and {"request", "response"} <= names
    return is_json or is_row or "mlflow.spanInputs" in names


MLFLOW = Format(
    key="mlflow",
    title="MLflow traces",
    hint="Traces with spans and assessments, as JSON or from search_traces.",
    read=read_mlflow,
    looks_like=_looks_like_mlflow,
)

FORMATS: tuple[Format, ...] = (MLFLOW, LANGSMITH, OPENINFERENCE, LANGFUSE)
