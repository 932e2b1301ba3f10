"""Metric keys as people write them: `pd`, `hmp@reference`, `hmp@reference:epsilon=0.01,history=0`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judges.metrics.kit.base import Metric, Parameter, Value
from judges.metrics.kit.errors import KeyRefused
from judges.metrics.kit.instrument import Instrument

TRUE = ("1", "true", "yes")
FALSE = ("0", "false", "no")


def split_keys(text: str) -> list[str]:
    """Return the keys of a comma-separated list; a part `name=value` belongs to the key before it."""
    keys: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        if keys and "=" in part.split(":", 1)[0]:
            keys[-1] += ("," if ":" in keys[-1] else ":") + part
        elif part:
            keys.append(part)
    return keys


def parse_key(key: str, table: Mapping[str, Metric], shared: Mapping[str, str] | None = None) -> Instrument:
    """Return the instrument that a key names. `shared` gives parameters to every metric that has them.

    Raises KeyRefused for a metric, variant or parameter that does not exist, or an impossible value.
    """
    head, _, tail = key.strip().partition(":")
    name, _, variant = head.partition("@")
    metric = table.get(name)
    if metric is None:
        raise KeyRefused(f"there is no metric {name!r}: the metrics are {' '.join(sorted(table))}")
    variant = variant or metric.default_variant
    if variant not in metric.variants:
        raise KeyRefused(f"{name} has no variant {variant!r}: its variants are {' '.join(metric.variants)}")
    known = metric.all_parameters()
    given = {name: text for name, text in (shared or {}).items() if name in known}
    given |= _pairs(key, tail)
    defaults = metric.defaults(variant)
    values = {name: _value(metric, known, name, text) for name, text in given.items()}
    return Instrument(metric, variant, {n: v for n, v in values.items() if v != defaults[n]})


def _pairs(key: str, tail: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in tail.split(","))):
        name, equals, text = part.partition("=")
        if not equals or not name.strip():
            raise KeyRefused(f"{key!r}: {part!r} is not a parameter; write name=value")
        pairs[name.strip()] = text.strip()
    return pairs


def _value(metric: Metric, known: Mapping[str, Parameter], name: str, text: str) -> Value:
    if name not in known:
        raise KeyRefused(f"{metric.key} has no parameter {name!r}: it has {' '.join(sorted(known))}")
    parameter = known[name]
    value = _typed(parameter.default, text)
    if value is None:
        kind = {bool: "0 or 1", int: "a whole number", float: "a number"}[type(parameter.default)]
        raise KeyRefused(f"{metric.key}: {name} must be {kind}, not {text!r}")
    if parameter.choices and value not in parameter.choices:
        raise KeyRefused(f"{metric.key}: {name} must be one of {' '.join(parameter.choices)}, not {text!r}")
    if isinstance(value, int | float):
        low, high = parameter.low, parameter.high
        if (low is not None and value < low) or (high is not None and value > high):
            raise KeyRefused(f"{metric.key}: {name} must be {_limits(low, high)}, not {text}")
    return value


def _typed(default: Value, text: str) -> Value | None:
    """Return the text as the default's type, None where it is not one."""
    if isinstance(default, bool):
        return text.lower() in TRUE if text.lower() in TRUE + FALSE else None
    if isinstance(default, str):
        return text
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number) or (isinstance(default, int) and number != int(number)):
        return None
    return int(number) if isinstance(default, int) else number


def _limits(low: float | None, high: float | None) -> str:
    if high is None:
        return f"at least {low:g}"
    return f"at most {high:g}" if low is None else f"between {low:g} and {high:g}"
