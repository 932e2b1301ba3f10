"""Plans of generation: from a generator, a model and settings to a writer, its system and the condition."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from annotation import records
from annotation.models import Corpus, System
from annotation.records import HUMAN, SELF
from config.models import Event
from jobs.endpoints import parameters
from jobs.fake_models import EMBEDDING_MODEL
from jobs.models import Endpoint
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, Failed, Generator, Settings, WrongSettings
from suites.continuation.models import Writer
from suites.continuation.productions.material import bound

MODEL = "model"
LONGEST_NAME = 120
MOST_KEYS = 20
_KEY = re.compile(r"\w[\w.-]{0,59}")


@dataclass(frozen=True, slots=True)
class Generation:
    """A generator as configured by a user. `name` is optional.

    `condition` has the researcher's own keys, beside those of the settings.
    """

    generator: str
    endpoint: Endpoint
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    condition: Mapping[str, Any] = field(default_factory=dict)

    def plan(self) -> Plan:
        """Return the plan; raise SystemsError for values that do not fit together."""
        if self.generator not in GENERATORS:
            raise SystemsError(
                f"There is no generator {self.generator!r}; there are {', '.join(GENERATORS)}."
            )
        generator = GENERATORS[self.generator]
        try:
            settings = generator.resolved(self.settings)
        except WrongSettings as error:
            raise SystemsError(str(error)) from None
        condition = condition_of(generator, settings, self.endpoint.answering_model, self.condition)
        spec = {
            "generator": generator.identity or generator.key,
            "version": generator.version,
            "settings": {
                setting.name: settings[setting.name] for setting in generator.settings if not setting.varies
            },
            MODEL: self.endpoint.answering_model,
            **self.endpoint.server,
            "parameters": parameters.checked(self.parameters),
        }
        name = self.name.strip() or generator.name(self.endpoint.answering_model, condition)
        return Plan(generator, self.endpoint, settings, condition, spec, checked_name(name))


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked generation: all `settings`, the writer's `spec`, and the `condition` of varying values."""

    generator: Generator
    endpoint: Endpoint
    settings: Settings
    condition: Mapping[str, Any]
    spec: Mapping[str, Any]
    name: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the condition."""
        return digest(self.condition)

    def at(self, dialogue: int, record: records.Dialogue) -> tuple[Generator, str]:
        """Return the generator, bound to its material if any, and why it cannot write ('': it can)."""
        if why := self.generator.why_not(record, self.settings):
            return self.generator, why
        if not self.generator.needs:
            return self.generator, ""
        try:
            bound_generator = bound(
                self.generator, dialogue=dialogue, settings=self.settings, endpoint=self.endpoint
            )
        except Failed as error:
            return self.generator, str(error)
        return bound_generator, bound_generator.why_not(record, self.settings)

    def writer(self, corpus: Corpus, by: User | None) -> Writer:
        """Return the corpus's writer of this name, created if missing, locked in the current transaction.

        Raises SystemsError where the name belongs to another writer or an imported system.
        """
        existing = Writer.objects.select_for_update().filter(corpus=corpus, name=self.name).first()
        if existing is not None:
            if existing.fingerprint != digest(self.spec):
                raise SystemsError(
                    f"The corpus has a system {self.name!r} already, and it is another one: "
                    f"{differences(existing.spec, self.spec)}. Choose another name."
                )
            return existing
        system = None
        if self.generator.continues:
            system, created = System.objects.get_or_create(corpus=corpus, name=self.name)
            if not created:
                raise SystemsError(
                    f"The corpus has a system {self.name!r} whose continuations were imported: "
                    "choose another name."
                )
        spec = dict(self.spec)
        writer = Writer.objects.create(
            corpus=corpus, name=self.name, spec=spec, fingerprint=digest(spec), system=system, created_by=by
        )
        Event.objects.create(by=by, verb="add system", subject=f"system {self.name}", detail=spec)
        return writer


def digest(payload: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a mapping as JSON with sorted keys, without white space, not ASCII-escaped."""
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def continuation_id(system: str, condition_hash: str, trial: int) -> str:
    """Return the id of a system's continuation of a dialogue: `<system>-<hash>-<trial>`."""
    return f"{system}-{condition_hash[:8]}-{trial}"


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Describe the differences between two specs."""
    flat = [_flat(first), _flat(second)]
    names = sorted(set(flat[0]) | set(flat[1]))
    changes = [
        f"{name} is {flat[0].get(name, 'not given')} there and {flat[1].get(name, 'not given')} here"
        for name in names
        if flat[0].get(name) != flat[1].get(name)
    ]
    return "; ".join(changes)


def settings_of(generator: Generator, writer: Writer, condition: Mapping[str, Any]) -> Settings:
    """Return all settings of a production: the writer's fixed ones, and the varying ones of the condition."""
    varying = {setting.name: condition[setting.name] for setting in generator.settings if setting.varies}
    return generator.resolved({**writer.spec["settings"], **varying})


def checked_name(name: str) -> str:
    """Return the name if a system may have it; raise SystemsError otherwise."""
    if name in (HUMAN, SELF):
        raise SystemsError(f"A system cannot be called {name!r}: that is what people's own turns are called.")
    if len(name) > LONGEST_NAME or any(ord(letter) < 32 for letter in name):
        raise SystemsError(f"The name of a system has at most {LONGEST_NAME} characters, on one line.")
    return name


def condition_of(
    generator: Generator, settings: Settings, model: str, free: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the condition: varying settings, model and own keys; raise SystemsError for invalid keys."""
    own = {setting.name: settings[setting.name] for setting in generator.settings if setting.varies}
    own |= {**generator.condition, MODEL: model}
    reserved = own.keys() | {setting.name for setting in generator.settings} | {EMBEDDING_MODEL}
    if len(free) > MOST_KEYS:
        raise SystemsError(f"A condition has at most {MOST_KEYS} keys of your own.")
    for key, value in free.items():
        if not _KEY.fullmatch(key):
            raise SystemsError(f"condition: {key[:60]!r} is not a key: letters, digits, _ . and - only.")
        if key in reserved:
            raise SystemsError(f"condition: {key} is set by the generator itself; choose another key.")
        if not isinstance(value, str | int | float | bool) or len(str(value)) > 200 or "\x00" in str(value):
            raise SystemsError(f"condition: {key} needs a number, or a text of at most 200 characters.")
    return own | dict(free)


def _flat(spec: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in spec.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            flat[name] = value
    return flat
