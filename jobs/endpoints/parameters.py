"""Sampling parameters of a request: one table for forms, API, commands and checks.

A parameter is sent only if set, and is then part of the judge's identity.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jobs.errors import JobError
from jobs.prompt import Prompt

# Forms of structured replies: JSON schema, else JSON mode, else strict text.
#
# The form that an endpoint supports is found with one request and stored on the endpoint.

SCHEMA, JSON, TEXT = "schema", "json", "text"
FORMS: dict[str, str] = {
    SCHEMA: "JSON schema",
    JSON: "JSON mode",
    TEXT: "text",
}
"""All forms, the strictest first. A prompt without a schema always uses text."""


def forms_for(prompt: Prompt, known_form: str) -> tuple[str, ...]:
    """Return the forms to try, in order; `known_form` is the form that the endpoint supports, '' if
    unknown.
    """
    if prompt.schema is None:
        return (TEXT,)
    order = tuple(FORMS)
    return order[order.index(known_form) :] if known_form in FORMS else order


def response_format(form: str, prompt: Prompt) -> dict[str, Any]:
    """Request fields of a response form."""
    if form == SCHEMA:
        assert prompt.schema is not None
        schema_format = {"name": "reply", "strict": True, "schema": dict(prompt.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": schema_format}}
    return {"response_format": {"type": "json_object"}} if form == JSON else {}


Kind = Literal["number", "whole", "money", "choice", "texts", "yes", "object"]
MOST_WHOLE = 2**31 - 1
MOST_SEED = 2_000_000_000
"""Low enough that the seeds of all samples fit into what servers accept."""
MOST_STOPS = 4
LONGEST_STOP = 100
"""Maximum characters of a stop text."""
LONGEST_OBJECT = 2_000
"""Maximum characters of further fields as JSON."""
LONGEST_IN_NAME = 60
OWN_FIELDS = ("model", "messages", "prompt", "response_format", "stream", "n")
"""Fields of a request that Concord sets itself."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a chat completion. `least` and `most` bound a number, `choices` are the values of a
    choice.

    `excludes` names a parameter that must not be set together with it, `requires` one that must be.
    """

    name: str
    kind: Kind
    label: str
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    excludes: str = ""
    requires: str = ""

    def checked(self, value: Any) -> Any:
        """Return a value as it is sent; raise JobError for an invalid value."""
        return _CHECKS[self.kind](self, value)

    def in_name(self, value: Any) -> str:
        """Return the parameter as shown in a judge's name."""
        if self.kind == "number":
            return f"{self.name}={value:g}"
        if self.kind == "object":
            text = json.dumps(value, sort_keys=True)
            short = hashlib.sha256(text.encode()).hexdigest()[:8]
            return f"{self.name}={text if len(text) <= LONGEST_IN_NAME else short}"
        return f"{self.name}={value if self.kind in ('whole', 'choice') else json.dumps(value)}"


_TABLE = (
    Parameter("temperature", "number", "Temperature", "0 to 2. Some models refuse it: leave it empty.", 0, 2),
    Parameter(
        "top_p",
        "number",
        "Top p",
        "0 to 1: only the likeliest tokens that together have this probability.",
        0,
        1,
    ),
    Parameter(
        "max_tokens",
        "whole",
        "Most tokens of a reply",
        "Not together with the next; reasoning models take the next instead.",
        1,
        MOST_WHOLE,
        excludes="max_completion_tokens",
    ),
    Parameter(
        "max_completion_tokens",
        "whole",
        "Most tokens of a reply with its reasoning",
        "For reasoning models; what they think counts, too.",
        1,
        MOST_WHOLE,
        excludes="max_tokens",
    ),
    Parameter(
        "reasoning_effort",
        "choice",
        "Reasoning effort",
        "For reasoning models; which of these a model knows, its provider says.",
        choices=("none", "minimal", "low", "medium", "high", "xhigh"),
    ),
    Parameter(
        "seed",
        "whole",
        "Seed",
        "Sample 1 is asked with this seed, sample 2 with the next, and so on.",
        0,
        MOST_SEED,
    ),
    Parameter(
        "stop",
        "texts",
        "Texts that end a reply",
        f"One a line, at most {MOST_STOPS}; a reply ends before it.",
    ),
    Parameter(
        "frequency_penalty",
        "number",
        "Frequency penalty",
        "-2 to 2: above 0, words that came often come less.",
        -2,
        2,
    ),
    Parameter(
        "presence_penalty",
        "number",
        "Presence penalty",
        "-2 to 2: above 0, words that came at all come less.",
        -2,
        2,
    ),
    Parameter(
        "logprobs",
        "yes",
        "Probabilities of the reply's tokens",
        "For judges that read how sure the model was, where the endpoint gives them.",
    ),
    Parameter(
        "top_logprobs",
        "whole",
        "Probabilities of so many other tokens",
        "0 to 20 at each place; needs the probabilities of the reply's tokens.",
        0,
        20,
        requires="logprobs",
    ),
    Parameter(
        "system_role",
        "choice",
        "Instructions are sent as",
        "Empty: the system message. developer: for models that take that role instead. user: at the head of "
        "the first message, for models without a system role.",
        choices=("developer", "user"),
    ),
    Parameter(
        "extra_body",
        "object",
        "Further fields of the request",
        'A JSON object that the server knows, such as {"chat_template_kwargs": {"enable_thinking": false}}.',
    ),
)
PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in _TABLE}


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are set, as sent, in the order of the table; raise JobError.

    None, '', an empty list and `False` count as not set.
    """
    if unknown := sorted(set(values) - PARAMETERS.keys()):
        raise JobError(f"There is no parameter {unknown[0]!r}; there are {', '.join(PARAMETERS)}.")
    raw_values = {name: values[name] for name in PARAMETERS if name in values and _is_given(values[name])}
    checked_values = {name: PARAMETERS[name].checked(value) for name, value in raw_values.items()}
    for name in checked_values:
        parameter = PARAMETERS[name]
        if parameter.excludes in checked_values:
            raise JobError(f"Give either {name} or {parameter.excludes}, not both.")
        if parameter.requires and parameter.requires not in checked_values:
            raise JobError(f"{name} needs {parameter.requires}: give both.")
    return checked_values


def name_suffix(parameters: Mapping[str, Any]) -> str:
    """Return the parameters as shown in a judge's name, each after a space; '' for none."""
    all_values = {**dict.fromkeys(PARAMETERS), **parameters}
    return "".join(
        f" {PARAMETERS[name].in_name(all_values[name])}" for name in PARAMETERS if name in parameters
    )


def of_sample(parameters: Mapping[str, Any], sample: int) -> Mapping[str, Any]:
    """Return the parameters of a sample (from 0): sample n is sent the seed plus n."""
    seed = parameters.get("seed")
    return parameters if seed is None or not sample else {**parameters, "seed": seed + sample}


def most_written(parameters: Mapping[str, Any]) -> int | None:
    """Return the maximum tokens of a reply, None without a limit."""
    limit: int | None = parameters.get("max_completion_tokens", parameters.get("max_tokens"))
    return limit


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], (), {})


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JobError(f"{parameter.name}: {str(value)[:40]!r} is not a number.")
    _bounded(parameter, value)
    return float(value)


def _integer(parameter: Parameter, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise JobError(f"{parameter.name}: {str(value)[:40]!r} is not a whole number.")
    _bounded(parameter, value)
    return value


def _bounded(parameter: Parameter, value: float) -> None:
    assert parameter.least is not None
    assert parameter.most is not None
    if not parameter.least <= value <= parameter.most:  # NaN is in no range
        raise JobError(f"{parameter.name} must be between {parameter.least:,} and {parameter.most:,}.")


def _choice(parameter: Parameter, value: Any) -> str:
    if value not in parameter.choices:
        raise JobError(f"{parameter.name}: {str(value)[:40]!r} is not one of {', '.join(parameter.choices)}.")
    return str(value)


def _texts(parameter: Parameter, value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) and text for text in value):
        raise JobError(f"{parameter.name} must be a list of texts.")
    if len(value) > MOST_STOPS or max(map(len, value)) > LONGEST_STOP:
        raise JobError(f"{parameter.name}: at most {MOST_STOPS} texts of at most {LONGEST_STOP} characters.")
    if any("\x00" in text for text in value):
        raise JobError(f"{parameter.name}: a text holds a character that cannot be stored.")
    return list(value)


def _yes(parameter: Parameter, value: Any) -> bool:
    if value is not True:
        raise JobError(f"{parameter.name} is either given or not.")
    return True


def _object(parameter: Parameter, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise JobError(f"{parameter.name} must be a JSON object.")
    if own := sorted(value.keys() & {*OWN_FIELDS, *PARAMETERS}):
        reason = "Concord sets it itself" if own[0] in OWN_FIELDS else "it is a parameter of its own"
        raise JobError(f"{parameter.name}: leave out {own[0]}, {reason}.")
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        raise JobError(f"{parameter.name}: NaN and infinity are not JSON.") from None
    if len(text) > LONGEST_OBJECT:
        raise JobError(f"{parameter.name}: at most {LONGEST_OBJECT:,} characters of JSON.")
    if "\\u0000" in text:
        raise JobError(f"{parameter.name}: a text holds a character that cannot be stored.")
    return value


_CHECKS = {
    **{"number": _number, "whole": _integer, "choice": _choice, "texts": _texts, "yes": _yes},
    "object": _object,
}
