"""Logs of evaluations: a model's answer to each sample, and its grades with their reasons.

A sample is a dialogue: its input is the history, and each model's answer to it a continuation. Logs of
several models about the same samples go into one corpus.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import NAME_LIMIT, decode_python, is_number, require
from annotation.formats.model_messages import (
    ASSISTANT,
    Message,
    Omissions,
    Score,
    content_text,
    first_text,
    id_of,
    input_messages,
    log_records,
    nested,
    numbered,
    objects_in,
    output_messages,
    score_of,
    split_prompts,
    turn_of,
    verdict,
)
from annotation.formats.source import BROKEN, ImportProblem, Source
from annotation.formats.table_reader import json_lines
from annotation.records import Continuation, Dialogue, Participant, RaterKind
from annotation.text.table_cells import number as finite_number

# What all logs have: samples, each with the answers of systems and their scores.

NO_ANSWER = "Answers left out, because they are empty"


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer in one run, with its scores: of the last turn, or `of_dialogue`, of all turns."""

    system: str
    messages: tuple[Message, ...]
    scores: tuple[Score, ...]
    trial: int = 0
    of_dialogue: bool = False


@dataclass(slots=True)
class Sample:
    """What systems were asked, with their answers."""

    key: str
    prompt: str
    history: tuple[Message, ...]
    metadata: dict[str, Any] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)

    def record(self) -> Dialogue:
        """Return the sample as a dialogue with a continuation for each answer."""
        history = tuple(turn_of(message, given=True) for message in self.history)
        continuations, labels = [], []
        keys: Counter[str] = Counter()
        for answer in self.answers:
            number = keys[answer.system]
            keys[answer.system] += 1
            key = answer.system if not number else f"{answer.system}-{number + 1}"
            continuation = self._continuation(key, answer, number)
            continuations.append(continuation)
            turn = None if answer.of_dialogue else _last_answer(continuation)
            labels += [score.label(key, turn) for score in answer.scores]
        speakers = dict.fromkeys(turn.speaker for turn in history)
        speakers |= dict.fromkeys(turn.speaker for part in continuations for turn in part.turns)
        if self.prompt:
            self.metadata["system_prompt"] = self.prompt
        return Dialogue(
            id=self.key,
            turns=history,
            participants=tuple(Participant(speaker, role=speaker) for speaker in speakers),
            continuations=tuple(continuations),
            labels=numbered(labels),
            metadata=self.metadata,
        )

    def _continuation(self, key: str, answer: Answer, number: int) -> Continuation:
        system = answer.system[:NAME_LIMIT]
        trial = answer.trial or number
        if len(answer.messages) == 1 and not answer.of_dialogue:
            turn = turn_of(answer.messages[0], given=False, at=len(self.history))
            return Continuation(key, system, (turn,), mode="static", trial=trial)
        turns = tuple(turn_of(message, given=message.role != ASSISTANT) for message in answer.messages)
        return Continuation(key, system, turns, trial=trial)


def _last_answer(continuation: Continuation) -> int:
    return max(number for number, turn in enumerate(continuation.turns) if not turn.given)


def _gathered(source: Source, samples: Iterable[tuple[Sample, Answer | None]]) -> Iterator[SourceRecord]:
    """Yield a dialogue for each sample, with the answers of all its runs; note what is left out."""
    omissions = Omissions()
    gathered: dict[str, Sample] = {}
    for sample, answer in samples:
        stored = gathered.setdefault(sample.key, sample)
        if (stored.prompt, stored.history) != (sample.prompt, sample.history):
            raise ImportProblem(
                f"the sample {sample.key!r} is there with two different inputs", field="input"
            )
        if answer is None or not any(message.role == ASSISTANT for message in answer.messages):
            omissions.add(NO_ANSWER)
            if answer is not None and answer.scores:
                omissions.add("Scores of empty answers, left out", len(answer.scores))
        else:
            stored.answers.append(answer)
    for sample in gathered.values():
        if sample.answers or sample.history:
            yield SourceRecord(sample.record())
    omissions.note(source)


def _without_history(messages: Sequence[Message], history: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages after the history, where they begin with it."""
    if list(messages[: len(history)]) == list(history):
        return tuple(messages[len(history) :])
    return tuple(messages)


@dataclass(slots=True)
class _Keys:
    """Ids of samples by their content: one for each content, numbered where a name is that of several."""

    keys: dict[tuple[str, tuple[Message, ...]], str] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)

    def of(self, name: str, prompt: str, history: tuple[Message, ...]) -> str:
        """Return the id of a sample with this name and input."""
        content = (prompt, history)
        if content not in self.keys:
            self.names[name] += 1
            self.keys[content] = name if self.names[name] == 1 else f"{name}-{self.names[name]}"
        return self.keys[content]


def _system(source: Source, model: str) -> str:
    """Return the model that a log names, else the setting `system`; without either, `system` with a note."""
    system = model or str(source.settings.get("system", ""))
    if not system:
        system = "system"
        note = "The log names no model: its answers are those of `system`. Name it with the setting system."
        source.notes += [] if note in source.notes else [note]
    return system


def _slug(*parts: str) -> str:
    return id_of("-".join(part for part in parts if part), "id")


# Inspect (UK AI Security Institute): `.json` logs, and `.eval` logs, which are zip archives of JSON.
#
# {"version", "status", "eval": {"task", "model", ...}, "samples": [{"id", "epoch", "input", "messages",
# "output", "scores": {SCORER: {"value", "answer", "explanation", "metadata"}}}]}. An archive has header.json
# and samples/ID_epoch_N.json. Scores are about the sample as a whole. A scorer's model (`model_graded_qa` and
# the like, in the scorer's options or the score's metadata) is its rater, else the scorer itself, as a judge
# where its name says so, and as a metric otherwise.

MAX_MEMBER = 64 * 2**20
MAX_ARCHIVE = 2**30
GRADER_WORDS = ("model_graded", "model-graded", "graded", "judge", "llm", "rubric", "critique")
ATTACHMENT = "attachment://"
SAMPLE_NAME = re.compile(r"samples/.+_epoch_\d+\.json")
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def read_inspect(source: Source) -> Iterator[SourceRecord]:
    """Yield the samples of an Inspect log."""
    return _gathered(source, _inspect_samples(source))


def _inspect_samples(source: Source) -> Iterator[tuple[Sample, Answer | None]]:
    if zipfile.is_zipfile(source.path):
        header, samples = _inspect_archive(source)
    else:
        header = require(decode_python(source.document(source.path)), dict)
        samples = iter(require(header.get("samples") or [], list, "samples"))
    info = require(header.get("eval"), dict, "eval", expected="the description of the evaluation")
    graders = _inspect_graders(header)
    has_samples = False
    for number, raw in enumerate(samples, start=1):
        has_samples = True
        with source.report_problems(path=f"sample {number}"):
            yield _inspect_sample(require(raw, dict), info, graders)
    if not has_samples:
        raise ImportProblem("the log has no samples: write it with its samples, or import another log")


def _inspect_archive(source: Source) -> tuple[dict[str, Any], Iterator[Any]]:
    try:
        archive = zipfile.ZipFile(source.path)
    except BROKEN as error:
        raise ImportProblem(f"is a broken zip archive: {error}") from None
    names = archive.namelist()
    if any(info.compress_type not in (STORED, DEFLATED) for info in archive.infolist()):
        raise ImportProblem(
            "is compressed in a way that is not read here: convert it with `inspect log convert --to json`"
        )
    if sum(info.file_size for info in archive.infolist()) > MAX_ARCHIVE:
        raise ImportProblem(f"unpacks to more than {MAX_ARCHIVE >> 30} GiB")
    top = next((name for name in ("header.json", "_journal/start.json") if name in names), "")
    if not top:
        raise ImportProblem("is a zip archive without header.json: no log of Inspect")
    header = require(_member(archive, top), dict, file=top)
    members = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
    return header, (_member(archive, name) for name in members)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    try:
        with archive.open(name) as file:
            content = file.read(MAX_MEMBER + 1)
    except BROKEN as error:
        raise ImportProblem(f"cannot be unpacked: {error}", file=name[:200]) from None
    if len(content) > MAX_MEMBER:
        raise ImportProblem(f"is larger than {MAX_MEMBER >> 20} MiB", file=name[:200])
    try:
        return decode_python(content)
    except ImportProblem as problem:
        raise problem.placed(file=name[:200]) from None


def _inspect_graders(header: Mapping[str, Any]) -> dict[str, str]:
    """Return the models of the scorers, by the scorers' names; a scorer in the log without one has ''."""
    scores = nested(header, "results", "scores")
    entries = scores if isinstance(scores, list) else []
    scorers = nested(header, "eval", "scorers")
    entries = [*entries, *(scorers if isinstance(scorers, list) else [])]
    graders: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, dict):
            model = nested(entry, "params", "model") or nested(entry, "options", "model")
            if isinstance(model, list) and len(model) == 1:
                model = model[0]
            for name in (entry.get("name"), entry.get("scorer")):
                if isinstance(name, str) and isinstance(model, str) and model:
                    graders.setdefault(name, model)
    roles = nested(header, "eval", "model_roles")
    grader = roles.get("grader") if isinstance(roles, dict) else None
    model = grader.get("model") if isinstance(grader, dict) else grader
    if isinstance(model, str) and model:
        graders.setdefault("", model)
    return graders


def _inspect_sample(
    raw: dict[str, Any], info: Mapping[str, Any], graders: Mapping[str, str]
) -> tuple[Sample, Answer | None]:
    task = first_text(info, "task_display_name", "task") or "sample"
    raw = _with_attachments(raw)
    prompt, history = split_prompts(input_messages(raw.get("input")))
    spoken_prompt, messages = split_prompts(input_messages(raw.get("messages")))
    answers = _without_history(messages, history)
    if not any(message.role == ASSISTANT for message in answers):
        answers = tuple(
            output_messages(nested(raw, "output", "choices") or nested(raw, "output", "completion"))
        )
    key = _slug(task.rpartition("/")[2], first_text(raw, "id") or first_text(raw, "uuid"))
    metadata = {name: raw[name] for name in ("target", "choices") if raw.get(name) not in (None, "", [])}
    scores = raw.get("scores") or ({"score": raw["score"]} if raw.get("score") else {})
    epoch = raw.get("epoch")
    return Sample(key, prompt or spoken_prompt, tuple(history), metadata), Answer(
        system=first_text(raw, ("output", "model")) if not info.get("model") else str(info["model"]),
        messages=answers,
        scores=tuple(_inspect_scores(require(scores, dict, "scores"), graders)),
        trial=epoch - 1 if type(epoch) is int and epoch > 0 else 0,
        of_dialogue=True,
    )


def _with_attachments(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a sample with the long texts that a log keeps apart in their places."""
    attachments = raw.get("attachments")
    if not isinstance(attachments, dict) or not attachments:
        return raw

    def filled(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(ATTACHMENT):
            return attachments.get(value.removeprefix(ATTACHMENT), value)
        if isinstance(value, list):
            return [filled(part) for part in value]
        if isinstance(value, dict):
            return {key: filled(part) for key, part in value.items()}
        return value

    return raw | {key: filled(raw.get(key)) for key in ("input", "messages", "output", "scores")}


def _inspect_scores(scores: Mapping[str, Any], graders: Mapping[str, str]) -> Iterator[Score]:
    for scorer, raw in scores.items():
        score = raw if isinstance(raw, dict) else {"value": raw}
        is_graded = any(word in scorer.lower() for word in GRADER_WORDS)
        model = nested(score, "metadata", "grader_model") or nested(score, "metadata", "model")
        model = model if isinstance(model, str) else graders.get(scorer) or (is_graded and graders.get(""))
        rater, kind = _grader(scorer, model or "", is_graded or "grading" in (score.get("metadata") or {}))
        value, why = score.get("value"), score.get("explanation") or ""
        parts = value if isinstance(value, dict) else {"": value}
        if isinstance(value, list):
            parts = {str(number): part for number, part in enumerate(value, start=1)}
        for name, part in parts.items():
            yield score_of(f"{scorer}.{name}" if name else scorer, rater, kind, part, why)


def _grader(name: str, model: str, is_graded: bool) -> tuple[str, RaterKind]:
    """Return the rater of a grader and its kind: its model, else itself."""
    return (model, "judge") if model else (name, "judge" if is_graded else "metric")


def _looks_like_inspect(head: Head) -> bool:
    if head.files:
        return "_journal/start.json" in head.files or any(map(SAMPLE_NAME.fullmatch, head.files))
    return (
        head.text.startswith("{")
        and {"version", "status", "eval"} <= head.inner
        and bool({"task", "task_id", "run_id"} & head.inner)
    )


INSPECT = Format(
    key="inspect",
    title="Inspect logs",
    hint="A log of Inspect, .eval or .json, with its samples; scorers become judges and metrics.",
    read=read_inspect,
    looks_like=_looks_like_inspect,
)


# promptfoo: results.json of `promptfoo eval -o`, its `results` alone, or JSON lines with a result each.
#
# A result has the `prompt` as it was sent, the `provider`, the `response` and a `gradingResult` with
# componentResults, one for each assertion: {"pass", "score", "reason", "assertion": {"type", "metric",
# "value", "provider"}}. An assertion answers whether its metric (else its type; for a text that several tests
# share, type and text) passed, and its score is a question of its own where it says more. Graders that are
# models are judges; a person's verdict from promptfoo's page is a person's.

MODEL_GRADED = (
    *("llm-rubric", "g-eval", "factuality", "model-graded-factuality", "model-graded-closedqa", "closed-qa"),
    *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "search-rubric"),
    *("conversation-relevance", "trajectory:goal-success", "agent-rubric", "pi", "moderation", "select-best"),
)
PROMPTFOO_USER = "promptfoo user"


def read_promptfoo(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each test and prompt, with the answers of all providers."""
    results = list(_promptfoo_results(source))
    shared = _shared_assertions(result for _, result in results)
    scored = _finely_scored(result for _, result in results)
    yield from _gathered(source, _promptfoo_samples(source, results, shared, scored))


def _promptfoo_results(source: Source) -> Iterator[tuple[int | None, dict[str, Any]]]:
    for line, raw in log_records(source, lists=()):
        results = raw.get("results", raw)
        while isinstance(results, dict) and "results" in results:
            results = results["results"]
        default = nested(raw, "config", "defaultTest", "options", "provider")
        for result in results if isinstance(results, list) else [results]:
            result = require(result, dict, "results")
            yield line, result | ({"_grader": default} if default else {})


def _components(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the graded assertions of a result, one by one; its verdict where there are none."""
    grading = result.get("gradingResult")
    if not isinstance(grading, dict):
        return []
    flat: list[dict[str, Any]] = []
    for part in objects_in(grading.get("componentResults")):
        flat += objects_in(part.get("componentResults")) or [part]
    return flat or [grading]


def _assertion(component: Mapping[str, Any]) -> dict[str, Any]:
    assertion = component.get("assertion")
    return assertion if isinstance(assertion, dict) else {}


def _shared_assertions(results: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return the assertions, by type and text, that are about several tests."""
    tests: dict[tuple[str, str], set[str]] = {}
    for result in results:
        for component in _components(result):
            assertion = _assertion(component)
            if isinstance(assertion.get("value"), str):
                about = (str(assertion.get("type", "")), assertion["value"])
                tests.setdefault(about, set()).add(
                    first_text(result, "testIdx") or content_text(result.get("vars"))
                )
    return {assertion for assertion, about in tests.items() if len(about) > 1}


def _finely_scored(results: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the types and metrics of assertions that have scores other than 0 and 1."""
    return {
        _assertion_name(_assertion(component))
        for result in results
        for component in _components(result)
        if is_number(component.get("score")) and component["score"] not in (0, 1)
    }


def _assertion_name(assertion: Mapping[str, Any]) -> str:
    return first_text(assertion, "metric", "type") or "pass"


def _promptfoo_samples(
    source: Source,
    results: Iterable[tuple[int | None, dict[str, Any]]],
    shared: set[tuple[str, str]],
    scored: set[str],
) -> Iterator[tuple[Sample, Answer | None]]:
    keys = _Keys()
    for number, (line, result) in enumerate(results, start=1):
        with source.report_problems(line=line, path="" if line else f"result {number}"):
            prompt, history = split_prompts(input_messages(_prompt_of(result)))
            description = first_text(result, ("testCase", "description"), "description")
            test = first_text(result, "testIdx")
            name = _slug("test", str(int(test) + 1) if test.isdigit() else "", description[:200])
            key = keys.of(name, prompt, tuple(history))
            variables = result.get("vars") or nested(result, "testCase", "vars")
            metadata = {"vars": variables} if isinstance(variables, dict) and variables else {}
            sample = Sample(key, prompt, tuple(history), metadata)
            output = nested(result, "response", "output")
            answer = result.get("output") if output is None else output
            text = "" if answer is None else content_text(answer)
            system = _system(source, _provider(result.get("provider")))
            scores = tuple(_promptfoo_scores(result, shared, scored))
            yield sample, Answer(system, (Message(ASSISTANT, text),) if text.strip() else (), scores)


def _prompt_of(result: Mapping[str, Any]) -> Any:
    prompt = result.get("prompt")
    raw = prompt.get("raw", prompt.get("label")) if isinstance(prompt, dict) else prompt
    if raw:
        return raw
    variables = result.get("vars") or nested(result, "testCase", "vars") or nested(result, "test", "vars")
    return variables


def _provider(provider: Any) -> str:
    if isinstance(provider, dict):
        return first_text(provider, "label", "id")
    return provider if isinstance(provider, str) else ""


def _promptfoo_scores(
    result: Mapping[str, Any], shared: set[tuple[str, str]], scored: set[str]
) -> Iterator[Score]:
    repeated: Counter[str] = Counter()
    for component in _components(result):
        assertion = _assertion(component)
        kind_word = str(assertion.get("type", "")).removeprefix("not-")
        question = _assertion_name(assertion)
        about = (str(assertion.get("type", "")), str(assertion.get("value")))
        if not assertion.get("metric") and about in shared:
            question = f"{about[0]}: {about[1]}"[:110]
        repeated[question] += 1
        if repeated[question] > 1:
            question = f"{question[:110]} {repeated[question]}"
        reason = component.get("comment") or component.get("reason") or ""
        if kind_word == "human":
            rater, kind = PROMPTFOO_USER, "human"
        else:
            is_graded = kind_word in MODEL_GRADED
            options = nested(result, "testCase", "options", "provider") or result.get("_grader")
            model = _provider(assertion.get("provider")) or (_provider(options) if is_graded else "")
            name = kind_word or ("promptfoo" if not assertion else question)
            rater, kind = _grader(name, model if is_graded else "", is_graded)
        yield verdict(question, rater, kind, component.get("pass"), reason)  # type: ignore[arg-type]
        if is_number(component.get("score")) and _assertion_name(assertion) in scored:
            yield score_of(f"{question[:110]} score", rater, kind, component["score"], reason)  # type: ignore[arg-type]


PROMPTFOO = Format(
    key="promptfoo",
    title="promptfoo results",
    hint="results.json or results.jsonl of promptfoo eval; assertions graded by models become judges.",
    read=read_promptfoo,
    settings=("system",),
    looks_like=lambda head: (
        head.is_json
        and (
            {"gradingResult", "response"} <= head.inner
            or {"evalId", "results", "prompts"} <= head.inner
            or {"componentResults", "provider"} <= head.inner
        )
    ),
)


# deepeval: a test run with its test cases, as deepeval stores it, or results of `evaluate` as JSON.
#
# A test case has input, actualOutput and metricsData: [{"name", "score", "success", "threshold", "reason",
# "evaluationModel", "error"}], in camel case or with underscores. The score is the answer; a metric with a
# model is a judge. A conversational test case has turns, and its scores are about the dialogue.

DEEPEVAL_LISTS = ("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases")


def read_deepeval(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each test case."""
    return _gathered(source, _deepeval_samples(source))


def _deepeval_samples(source: Source) -> Iterator[tuple[Sample, Answer | None]]:
    number, keys = 0, _Keys()
    for line, raw in log_records(source):
        inner = raw.get("testRunData")
        run: dict[str, Any] = inner if isinstance(inner, dict) else raw
        model = _system(source, _deepeval_model(run))
        cases = [case for name in DEEPEVAL_LISTS for case in objects_in(run.get(name))]
        for case in cases or [run]:
            number += 1
            with source.report_problems(line=line, path="" if line else f"test case {number}"):
                yield _deepeval_sample(require(case, dict), keys, model)


def _deepeval_model(run: Mapping[str, Any]) -> str:
    hyperparameters = run.get("hyperparameters")
    values = hyperparameters if isinstance(hyperparameters, dict) else {}
    return first_text(values, "model", "model_name", "Model", "llm")


def _either(raw: Mapping[str, Any], name: str) -> Any:
    """Return a value by its name with underscores, or in camel case."""
    head, *rest = name.split("_")
    return raw.get(name, raw.get(head + "".join(part.capitalize() for part in rest)))


def _deepeval_sample(case: dict[str, Any], keys: _Keys, model: str) -> tuple[Sample, Answer | None]:
    turns, output = case.get("turns"), _either(case, "actual_output")
    is_dialogue = isinstance(turns, list) and bool(turns)
    messages = input_messages(turns if is_dialogue else _either(case, "input"))
    prompt, spoken = split_prompts(messages)
    first = len(spoken)
    if is_dialogue:
        first = next((n for n, message in enumerate(spoken) if message.role == ASSISTANT), first)
    history = tuple(spoken[:first])
    metadata = {
        key: value
        for key in ("expected_output", "context", "retrieval_context", "scenario", "expected_outcome")
        if (value := _either(case, key)) not in (None, "", [])
    }
    key = keys.of(_slug(first_text(case, "name") or "test-case"), prompt, history)
    answers = tuple(spoken[first:])
    if not is_dialogue:
        answers = (Message(ASSISTANT, content_text(output)),) if output not in (None, "") else ()
    scores = tuple(_deepeval_scores(_either(case, "metrics_data") or []))
    return Sample(key, prompt, history, metadata), Answer(model, answers, scores, of_dialogue=is_dialogue)


def _deepeval_scores(metrics: Any) -> Iterator[Score]:
    for raw in require(metrics, list, "metricsData"):
        metric = require(raw, dict, "metricsData")
        name = first_text(metric, "name", "metric") or "score"
        model = _either(metric, "evaluation_model")
        rater, kind = _grader(name, model if isinstance(model, str) else "", False)
        score = score_of(name, rater, kind, metric.get("score"), metric.get("reason"))
        error = metric.get("error")
        if score.value is None and error:
            score = Score(name, rater, kind, None, missing=f"error: {error}"[:200])
        yield score


DEEPEVAL = Format(
    key="deepeval",
    title="deepeval test results",
    hint="A test run of deepeval, or its test results as JSON, with metricsData and reasons.",
    read=read_deepeval,
    settings=("system",),
    looks_like=lambda head: (
        head.is_json
        and bool({"metricsData", "metrics_data"} & head.inner)
        and bool({"actualOutput", "actual_output", "turns", "testCases", "conversational"} & head.inner)
    ),
)


# OpenAI evals: the events of a run, one JSON object a line.
#
# The first line is {"spec": {...}}. Events of the type `sampling` have the prompt and what was sampled; those
# of `match` and `metrics` say how it was graded, for one sample_id. A model-graded evaluation has a sampling
# event of its grader after that of the completion, and its choice and score among the metrics.


def read_openai_evals(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each sample."""
    return _gathered(source, _openai_samples(source))


def _openai_samples(source: Source) -> Iterator[tuple[Sample, Answer | None]]:
    spec: dict[str, Any] = {}
    samples: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for line, event in json_lines(source):
        if isinstance(event.get("spec"), dict):
            spec = event["spec"]
        elif event.get("sample_id") is not None:
            samples.setdefault(str(event["sample_id"]), []).append((line, event))
    completions = spec.get("completion_fns")
    system = _system(source, str(completions[0]) if isinstance(completions, list) and completions else "")
    grader = str(completions[-1]) if isinstance(completions, list) and len(completions) > 1 else ""
    name = first_text(spec, "base_eval", "eval_name")
    for key, events in samples.items():
        with source.report_problems(line=events[0][0]):
            yield _openai_sample(_slug(name, key), [event for _, event in events], system, grader)


def _openai_sample(
    key: str, events: Sequence[dict[str, Any]], system: str, grader: str
) -> tuple[Sample, Answer | None]:
    data = [(str(event.get("type", "")), event.get("data")) for event in events]
    sampled = [part for kind, part in data if kind == "sampling" and isinstance(part, dict)]
    metadata: dict[str, Any] = {}
    if not sampled:
        return Sample(key, "", ()), None
    prompt, history = split_prompts(input_messages(sampled[0].get("prompt")))
    answers = output_messages(sampled[0].get("sampled"))
    is_graded = len(sampled) > 1
    reason = "\n".join(message.text for message in output_messages(sampled[-1].get("sampled")))
    scores: list[Score] = []
    for kind, part in data:
        if not isinstance(part, dict):
            continue
        if kind == "match":
            expected = part.get("expected")
            if expected is not None:
                metadata["expected"] = expected
            scores.append(score_of("match", "match", "metric", part.get("correct")))
        elif kind == "metrics":
            for name, value in part.items():
                if isinstance(value, str | int | float | bool):
                    rater, grader_kind = _grader(name, grader if is_graded else "", is_graded)
                    scores.append(score_of(name, rater, grader_kind, value, reason if is_graded else ""))
    return Sample(key, prompt, tuple(history), metadata), Answer(system, tuple(answers[:1]), tuple(scores))


OPENAI_EVALS = Format(
    key="openai-evals",
    title="OpenAI evals logs",
    hint="The events of a run of OpenAI's evals as JSON lines: spec, sampling, match, metrics.",
    read=read_openai_evals,
    settings=("system",),
    looks_like=lambda head: (
        head.text.startswith("{")
        and {"run_id", "event_id", "sample_id"} <= head.inner
        and {"type", "data"} <= head.inner
    ),
)


# lm-evaluation-harness: samples_TASK.jsonl, one document a line, with what was asked and answered.
#
# {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", METRIC: value}. `metrics` names the
# metrics of newer files. Of a multiple choice the answer is the choice with the highest likelihood.


def read_lm_eval(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each document."""
    return _gathered(source, _lm_eval_samples(source))


LM_EVAL_FIELDS = frozenset(
    [
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash"),
        *("prompt_hash", "target_hash"),
    ]
)


def _lm_eval_samples(source: Source) -> Iterator[tuple[Sample, Answer | None]]:
    samples: dict[str, tuple[Sample, tuple[Message, ...], list[Score]]] = {}
    for line, raw in log_records(source):
        with source.report_problems(line=line):
            question, choices = _lm_eval_arguments(raw.get("arguments"))
            prompt, history = split_prompts(input_messages(question))
            answer = _lm_eval_answer(raw.get("resps") or raw.get("filtered_resps"), choices)
            metadata = {"target": raw["target"]} if raw.get("target") not in (None, "") else {}
            key = _slug("doc", first_text(raw, "doc_id"))
            messages: tuple[Message, ...] = (Message(ASSISTANT, answer),) if answer else ()
            sample = Sample(key, prompt, tuple(history), metadata)
            samples.setdefault(key, (sample, messages, []))[2].extend(_lm_eval_scores(raw))
    system = _system(source, "")
    for sample, messages, scores in samples.values():
        yield sample, Answer(system, messages, tuple(scores))


def _lm_eval_scores(raw: Mapping[str, Any]) -> Iterator[Score]:
    """Yield a document's scores; a metric after a filter has its name, as in `exact_match,strict-match`."""
    names = raw.get("metrics")
    metrics = names if isinstance(names, list) else [name for name in raw if name not in LM_EVAL_FIELDS]
    filtered = first_text(raw, "filter")
    suffix = f",{filtered}" if filtered not in ("", "none") else ""
    for name in metrics:
        if isinstance(name, str) and is_number(raw.get(name)):
            yield score_of(f"{name}{suffix}", f"{name}{suffix}", "metric", raw[name])


def _lm_eval_arguments(arguments: Any) -> tuple[str, list[str]]:
    """Return the prompt, and the continuations whose likelihoods were compared."""
    entries = objects_in(list(arguments.values())) if isinstance(arguments, dict) else arguments
    entries = entries if isinstance(entries, list) else []
    parts = [list(part.values()) if isinstance(part, dict) else part for part in entries]
    texts = [part for part in parts if isinstance(part, list) and part and isinstance(part[0], str)]
    if not texts or len(texts) < len(parts):
        raise ImportProblem("must have the prompt of each request", field="arguments")
    choices = [part[1] for part in texts if len(part) > 1 and isinstance(part[1], str)]
    return texts[0][0], choices if len(choices) == len(texts) else []


def _lm_eval_answer(responses: Any, choices: Sequence[str]) -> str:
    """Return the generated text, or of several choices the likeliest."""
    values = responses if isinstance(responses, list) else []
    while len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if choices and len(values) == len(choices):
        likelihoods = [finite_number(str(_first(part))) for part in values]
        finite = [likelihood for likelihood in likelihoods if likelihood is not None]
        if len(finite) < len(likelihoods):
            raise ImportProblem("must have the likelihood of each choice", field="resps")
        return choices[finite.index(max(finite))].strip()
    return values[0] if values and isinstance(values[0], str) else ""


def _first(value: Any) -> Any:
    """Return the first element of lists in lists, `[["-1.5", "True"]]`: -1.5."""
    while isinstance(value, list) and value:
        value = value[0]
    return value


LM_EVAL = Format(
    key="lm-eval",
    title="lm-evaluation-harness samples",
    hint="samples_TASK.jsonl of lm-evaluation-harness, with --log_samples.",
    read=read_lm_eval,
    settings=("system",),
    looks_like=lambda head: {"doc_id", "doc", "arguments", "resps"} <= head.keys,
)

FORMATS: tuple[Format, ...] = (INSPECT, PROMPTFOO, DEEPEVAL, OPENAI_EVALS, LM_EVAL)
