"""Strict reader of a scenario's own fields: inconsistencies are refused with field and reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from annotation.formats import jsonl
from annotation.formats.fields import Fields, is_number
from annotation.formats.source import ImportProblem
from annotation.records import Continuation, Dialogue, Turn
from annotation.scenario_records import (
    ACTS,
    ADDRESSEES,
    DIMENSIONS,
    EVERYBODY,
    HIDDEN,
    KIND,
    LEAK,
    MODE,
    MODES,
    MOVES,
    OWN_FIELDS,
    PROBES,
    Fact,
    Key,
    LiveProbe,
    Probe,
    Scenario,
    Secret,
    SetCondition,
    condition_record,
)
from annotation.schemes.definitions import JOIN, NOBODY
from suites.group_chat.scenarios.cascade import DECLARED
from suites.group_chat.scenarios.observing import hits, occurs
from suites.group_chat.scenarios.points import (
    candidates,
    key_at,
    points_of,
    positions_seen,
    probes_at,
    scenario_of,
)
from suites.group_chat.scenarios.probes import key_path, lacking, names_agent, oracle_problems

# Strict reader of a file's decisions in a scenario: decisions that the agent could not make are refused.

FIELDS = frozenset(["mode", "attend", "addressed", "targets", "ground", "flags"])


def check_decisions(record: Dialogue) -> None:
    """Refuse static turns of a scenario that are not decisions of its agent; raise ImportProblem.

    Each is a message, a reaction or silence of the agent at a point, at most one per point.
    """
    participant_ids = frozenset(person.id for person in record.participants)
    may_be = candidates(record)
    for index, continuation in enumerate(record.continuations):
        if continuation.mode != "static":
            continue
        path = f"continuations[{index}]"
        _check_mode(continuation, path)
        points: set[int] = set()
        for place, turn in enumerate(continuation.turns):
            where = f"{path}.turns[{place}]"
            _check_turn(turn, where, scenario_of(record).agent)
            point = (turn.at or 0) - 1
            if point not in may_be:
                message = (
                    f"is {turn.at}, but the agent decides after a message or join that it sees: turn + 1"
                )
                raise ImportProblem(message, field=f"{where}.at")
            if point in points:
                raise ImportProblem(f"is {turn.at}: a second decision there", field=f"{where}.at")
            points.add(point)
            _check_declared(turn.extra.get(DECLARED), f"{where}.extra.{DECLARED}", participant_ids)


def _check_mode(continuation: Continuation, path: str) -> None:
    mode = continuation.condition.get(MODE)
    if mode is not None and mode not in MODES:
        raise ImportProblem(f"must be one of {', '.join(MODES)}", field=f"{path}.condition.{MODE}")


def _check_turn(turn: Turn, path: str, agent: str) -> None:
    if turn.speaker != agent:
        raise ImportProblem(f"must be {agent!r}: only the agent decides", field=f"{path}.speaker")
    if turn.act not in ACTS:
        raise ImportProblem(f"must be one of {', '.join(ACTS)}", field=f"{path}.act")
    if turn.act == "silence" and turn.text.strip():
        raise ImportProblem("must be empty where the act is silence", field=f"{path}.text")
    if turn.act == "message" and not turn.text.strip():
        raise ImportProblem("is empty: who says nothing has the act silence", field=f"{path}.text")


def _check_declared(raw: Any, path: str, participant_ids: frozenset[str]) -> None:
    if raw is None:
        return
    fields = Fields(raw, path, FIELDS)
    if fields.has("mode"):
        fields.choice("mode", MODES, "")
    if fields.has("ground"):
        fields.choice("ground", MOVES, "")
    if fields.has("attend"):
        fields.flag("attend")
    fields.texts("flags")
    for name in ("addressed", "targets"):
        for person in fields.texts(name):
            if person not in participant_ids:
                raise fields.problem(name, f"{person!r} is not the id of a participant")


# Strict reader of a point's key.

KEY = frozenset(
    [
        "attend",
        "speak",
        "addressed",
        "target",
        "ground",
        "must",
        "must_not",
        "compose",
        "conduct",
        "secrets",
        "hint",
        "example",
        "free",
    ]
)
CONDITIONS = ("contains", "contains_any", "any_of")


def key(raw: Any, path: str, participant_ids: frozenset[str], secrets: frozenset[str]) -> Key:
    """Return the key of an object; raise ImportProblem where it is invalid.

    `participant_ids` are the ids of the participants, `secrets` those of the scenario's secrets.
    """
    fields = Fields(raw, path, KEY)
    if fields.flag("free"):
        others = sorted(raw.keys() - {"free"})
        if others:
            raise fields.problem(others[0], "anything goes at a free point: nothing else may be said")
        return Key(free=True)
    secret_ids = fields.texts("secrets")
    for secret in secret_ids:
        if secret not in secrets:
            raise fields.problem("secrets", f"{secret!r} is not the id of a secret")
    conduct = _choices(fields, "conduct", DIMENSIONS)
    if secret_ids and LEAK not in conduct:
        raise fields.problem("secrets", f"are asked about where conduct names {LEAK!r}")
    return Key(
        attend=_attend(fields),
        speak=_speak(fields),
        addressed=_condition(fields, "addressed", participant_ids),
        target=_condition(fields, "target", participant_ids),
        ground=_ground(fields),
        must=_contents(fields, "must"),
        must_not=_contents(fields, "must_not"),
        rubric=fields.choice("compose", ("", "rubric"), "") == "rubric",
        conduct=conduct,
        secrets=secret_ids,
        hint=fields.flag("hint"),
        example=fields.text("example", ""),
    )


def same(first: Key, second: Key) -> bool:
    """Whether two keys are equal, regardless of order and of explicit scores of 0."""
    return _ordered(first) == _ordered(second)


def _ordered(key: Key) -> Key:
    return replace(
        key,
        speak=_accepted(key.speak),
        ground=None if key.ground is None else _accepted(key.ground),
        must=tuple(sorted(tuple(sorted(part)) for part in key.must)),
        must_not=tuple(sorted(tuple(sorted(part)) for part in key.must_not)),
        conduct=tuple(sorted(key.conduct)),
        secrets=tuple(sorted(set(key.secrets))),
    )


def _accepted(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if score}


def _attend(fields: Fields) -> int:
    value = fields.raw.get("attend")
    if value not in (0, 1) or isinstance(value, bool):
        raise fields.problem("attend", "must be 0 or 1")
    return int(value)


def _speak(fields: Fields) -> dict[str, float]:
    scores = _scores(fields, "speak", ACTS)
    if 1 not in scores.values():
        raise fields.problem("speak", "one act at least must score 1")
    return scores


def _ground(fields: Fields) -> dict[str, float] | None:
    if not fields.has("ground"):
        return None
    if isinstance(fields.raw["ground"], list):
        scores = dict.fromkeys(_choices(fields, "ground", MOVES), 1.0)
    else:
        scores = _scores(fields, "ground", MOVES)
    if not any(scores.values()):
        raise fields.problem("ground", "one move at least must be accepted")
    return scores


def _scores(fields: Fields, name: str, valid_names: tuple[str, ...]) -> dict[str, float]:
    scores = fields.object(name)
    if not scores:
        raise fields.problem(name, f"must be an object of scores, by {', '.join(valid_names)}")
    for entry, score in scores.items():
        if entry not in valid_names:
            raise fields.problem(f"{name}.{entry}", f"must be one of {', '.join(valid_names)}")
        if not is_number(score) or not 0 <= score <= 1:
            raise fields.problem(f"{name}.{entry}", "must be a score from 0 to 1")
    return {entry: float(score) for entry, score in scores.items()}


def _choices(fields: Fields, name: str, valid_names: tuple[str, ...]) -> tuple[str, ...]:
    values = fields.texts(name)
    for index, value in enumerate(values):
        if value not in valid_names:
            raise fields.problem(f"{name}[{index}]", f"must be one of {', '.join(valid_names)}")
    return tuple(dict.fromkeys(values))


def _contents(fields: Fields, name: str) -> tuple[tuple[str, ...], ...]:
    contents = []
    for path, part in fields.items(name):
        alternatives = part if isinstance(part, list) else [part]
        if not alternatives or not all(isinstance(text, str) and text.strip() for text in alternatives):
            raise ImportProblem("must be a text, or a list of texts of which one must occur", field=path)
        contents.append(tuple(alternatives))
    return tuple(contents)


def _condition(fields: Fields, name: str, participant_ids: frozenset[str]) -> SetCondition | None:
    """Return a condition on a set of participants; the order of ids does not matter."""
    if not fields.has(name):
        return None
    raw, path = fields.raw[name], fields.at(name)
    if isinstance(raw, dict):
        how = next(iter(raw), "")
        if len(raw) != 1 or how not in CONDITIONS:
            message = f"a condition has one of {', '.join(CONDITIONS)}"
            raise ImportProblem(message, field=path)
        sets = raw[how] if how == "any_of" else [raw[how]]
        path = f"{path}.{how}"
    else:
        how, sets = "is", [raw]
    if not isinstance(sets, list) or not sets or not all(isinstance(group, list) for group in sets):
        raise ImportProblem("must be a list of ids of participants", field=path)
    for person in (person for each in sets for person in each):
        if not isinstance(person, str) or (person != EVERYBODY and person not in participant_ids):
            raise ImportProblem(f"{str(person)[:60]!r} is not the id of a participant", field=path)
    if how.startswith("contains") and not sets[0]:
        raise ImportProblem("needs an id at least", field=path)
    return condition_record(raw)


# Strict reader of a probe's parameters, which describe the trigger.

TEXTS = ("candidates", "truth", "right", "wrong")
FLAGS = ("both", "false_correction")
COUNTS = ("window", "silent_for")
QUIET, FACT_PARAMETER = "quiet", "fact"
PARAMETER_NAMES = frozenset([*TEXTS, *FLAGS, *COUNTS, QUIET, FACT_PARAMETER])


def parameters(raw: Any, path: str, people: frozenset[str], facts: frozenset[str]) -> dict[str, Any]:
    """Return a probe's parameters unchanged; raise ImportProblem for unknown or useless ones.

    `people` are the ids of the participants, `facts` those of the common ground.
    """
    if raw is None:
        return {}
    fields = Fields(raw, path, PARAMETER_NAMES)
    for name in (name for name in (*TEXTS, QUIET) if name in fields.raw):
        _texts(fields, name)
    for name in FLAGS:
        fields.flag(name)
    for name in (name for name in COUNTS if name in fields.raw):
        if not fields.count(name):
            raise fields.problem(name, "must be a whole number from 1")
    strangers = (
        [person for person in _texts(fields, QUIET) if person not in people] if QUIET in fields.raw else []
    )
    if strangers:
        raise fields.problem(QUIET, f"{strangers[0]!r} is not the id of a participant")
    if FACT_PARAMETER in fields.raw and fields.text(FACT_PARAMETER) not in facts:
        raise fields.problem(
            FACT_PARAMETER, f"{fields.text(FACT_PARAMETER)!r} is not the id of a fact of common_ground"
        )
    return dict(fields.raw)


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    """Return a list of non-empty texts; a parameter with one alternative may be a single text."""
    if type(fields.raw[name]) is str and name not in ("candidates", QUIET):
        values: tuple[str, ...] = (fields.raw[name],)
    else:
        values = fields.texts(name)
    if not values:
        raise fields.problem(name, "needs a text at least")
    for index, text in enumerate(values):
        if not text.strip():
            raise ImportProblem("is empty", field=f"{fields.at(name)}[{index}]")
    return values


PROBE = frozenset(["id", "kind", "trigger", "points", "key", "keys", "parameters", "control"])
SECRET = frozenset(["id", "owner", "known_to", "since", "canaries", "text"])
FACT = frozenset(["id", "fact", "known_to", "since", "canaries"])
LIVE = frozenset(["id", "kind", "when", "key", "parameters"])
PEOPLE = (3, 5)
"""The least and the greatest number of people beside the agent."""


def with_scenario(record: Dialogue, fields: Fields, any_size: bool = False) -> Dialogue:
    """Return a dialogue with its scenario, if its fields declare one.

    Raises ImportProblem for the first inconsistency, with its field.
    """
    if fields.raw.get("kind") != KIND:
        for name in OWN_FIELDS:
            if fields.has(name):
                raise fields.problem(name, f"belongs to a dialogue whose kind is {KIND!r}")
        return record
    agent = _agent(record, fields, any_size)
    participant_ids = frozenset(person.id for person in record.participants)
    secrets = tuple(_secret(part, path, record, participant_ids) for path, part in fields.items("secrets"))
    facts = tuple(_fact(part, path, record, participant_ids) for path, part in fields.items("common_ground"))
    _once([secret.id for secret in secrets], "secrets")
    _once([fact.id for fact in facts], "common_ground")
    names = _Names(
        participant_ids, frozenset(entry.id for entry in secrets), frozenset(entry.id for entry in facts)
    )
    may_be = candidates(replace(record, scenario=Scenario(agent)))
    points = _points(fields, may_be)
    probes = tuple(_probe(part, path, record, points, names) for path, part in fields.items("probes"))
    _once([probe.id for probe in probes], "probes")
    scenario = Scenario(
        agent=agent,
        probes=probes,
        keys=_keys(fields.raw.get("keys"), fields.at("keys"), points, names),
        points=points if fields.has("points") else None,
        secrets=secrets,
        common_ground=facts,
        keyed_by=fields.texts("keyed_by"),
        live=tuple(_live(part, path, names) for path, part in fields.items("live")),
        addressees=fields.choice("addressees", ADDRESSEES, HIDDEN),
    )
    dialogue = replace(record, scenario=scenario)
    _check(dialogue)
    check_decisions(dialogue)
    return dialogue


class _Names(NamedTuple):
    """Ids that a key or probe may name: participants, secrets, facts."""

    people: frozenset[str]
    secrets: frozenset[str]
    facts: frozenset[str]


def unusual_size(record: Dialogue) -> str:
    """Return a note on a scenario with fewer or more people than usual, '' for any other dialogue."""
    unusual = too_many_or_few(record) if record.scenario else ""
    return f"The scenario {record.id!r} {unusual}." if unusual else ""


def too_many_or_few(record: Dialogue) -> str:
    """Return a warning about an unusual number of people in a scenario, '' for three to five."""
    people = sum(not person.agent for person in record.participants)
    if PEOPLE[0] <= people <= PEOPLE[1]:
        return ""
    return f"has {people} people beside the agent; a scenario has {PEOPLE[0]} to {PEOPLE[1]}"


def _agent(record: Dialogue, fields: Fields, any_size: bool) -> str:
    agents = [person.id for person in record.participants if person.agent]
    if len(agents) != 1:
        count = "none" if not agents else f"{len(agents)} ({', '.join(agents)})"
        raise fields.problem("participants", f"exactly one must have agent: true; here {count} has")
    reason = too_many_or_few(record)
    if reason and not any_size:
        raise fields.problem("participants", f"{reason} (any_size takes it all the same)")
    for index, person in enumerate(record.participants):
        if person.id in (EVERYBODY, NOBODY) or JOIN in person.id:
            path = f"participants[{index}].id"
            raise ImportProblem(f"{person.id!r} stands for something else in answers", field=path)
    if not record.turns:
        raise fields.problem("turns", "a scenario needs a script")
    return agents[0]


def _points(fields: Fields, may_be: tuple[int, ...]) -> tuple[int, ...]:
    if not fields.has("points"):
        return may_be
    points = [_point(part, path, may_be) for path, part in fields.items("points")]
    return tuple(sorted(set(points)))


def _point(value: Any, path: str, may_be: tuple[int, ...]) -> int:
    if type(value) is not int:
        raise ImportProblem("must be the number of a turn, from 0", field=path)
    if value not in may_be:
        message = "no point: a message or join that the agent sees and did not write makes one"
        raise ImportProblem(f"turn {value} is {message}", field=path)
    return value


def _probe(raw: Any, path: str, record: Dialogue, may_be: tuple[int, ...], names: _Names) -> Probe:
    fields = Fields(raw, path, PROBE)
    points = tuple(_point(part, place, may_be) for place, part in fields.items("points"))
    if not points:
        raise fields.problem("points", "a probe needs a point at least")
    if len(set(points)) < len(points):
        raise fields.problem("points", "names a turn twice")
    trigger = fields.count("trigger", None)
    if trigger is None or trigger >= len(record.turns):
        raise fields.problem("trigger", f"must be the number of a turn, 0 to {len(record.turns) - 1}")
    if trigger > min(points):
        raise fields.problem("trigger", f"turn {trigger} lies after its point, turn {min(points)}")
    if fields.has("key") == fields.has("keys"):
        raise fields.problem("key", "either key, for all its points, or keys by point")
    if fields.has("key"):
        shared_key = key(raw["key"], fields.at("key"), names.people, names.secrets)
        keys = dict.fromkeys(points, shared_key)
    else:
        keys = _keys(raw["keys"], fields.at("keys"), points, names)
        missing = [point for point in points if point not in keys]
        if missing:
            raise fields.problem("keys", f"has no key for its point {missing[0]}")
    return Probe(
        id=fields.id("id"),
        kind=_kind(fields),
        trigger=trigger,
        points=tuple(sorted(points)),
        keys=keys,
        parameters=parameters(
            fields.raw.get("parameters"), fields.at("parameters"), names.people, names.facts
        ),
        control=fields.flag("control"),
    )


def _kind(fields: Fields) -> str:
    if not fields.has("kind"):
        raise fields.problem("kind", "is missing")
    return str(fields.choice("kind", PROBES, ""))


def _keys(raw: Any, path: str, points: tuple[int, ...], names: _Names) -> dict[int, Key]:
    if raw is None:
        return {}
    if type(raw) is not dict:
        raise ImportProblem("must be an object of keys by turn number", field=path)
    keys = {}
    for name, raw_key in raw.items():
        place = f"{path}.{name}"
        if name not in map(str, points):
            raise ImportProblem("is not the number of one of the points", field=place)
        keys[int(name)] = key(raw_key, place, names.people, names.secrets)
    return keys


def _secret(raw: Any, path: str, record: Dialogue, participant_ids: frozenset[str]) -> Secret:
    fields = Fields(raw, path, SECRET)
    owner = fields.id("owner")
    if owner not in participant_ids:
        raise fields.problem("owner", f"{owner!r} is not the id of a participant")
    known_to = _people(fields, participant_ids)
    if owner not in known_to:
        raise fields.problem("known_to", f"must name its owner, {owner!r}, too")
    return Secret(
        id=fields.id("id"),
        owner=owner,
        known_to=known_to,
        since=_since(fields, record),
        canaries=_canaries(fields),
        text=fields.text("text", ""),
    )


def _fact(raw: Any, path: str, record: Dialogue, participant_ids: frozenset[str]) -> Fact:
    fields = Fields(raw, path, FACT)
    return Fact(
        id=fields.id("id"),
        fact=fields.id("fact", limit=1000),
        known_to=_people(fields, participant_ids),
        since=_since(fields, record),
        canaries=_canaries(fields),
    )


def _people(fields: Fields, participant_ids: frozenset[str]) -> tuple[str, ...]:
    people = fields.texts("known_to")
    if not people:
        raise fields.problem("known_to", "needs the id of a participant at least")
    strangers = [person for person in people if person not in participant_ids]
    if strangers:
        raise fields.problem("known_to", f"{strangers[0]!r} is not the id of a participant")
    return people


def _since(fields: Fields, record: Dialogue) -> int:
    since = fields.count("since", 0)
    if since is None or since >= len(record.turns):
        raise fields.problem("since", f"must be the number of a turn, 0 to {len(record.turns) - 1}")
    return since


def _canaries(fields: Fields) -> tuple[str, ...]:
    canaries = fields.texts("canaries")
    if not canaries or not all(text.strip() for text in canaries):
        raise fields.problem("canaries", "needs at least one text that gives it away")
    return canaries


def _live(raw: Any, path: str, names: _Names) -> LiveProbe:
    fields = Fields(raw, path, LIVE)
    when = fields.object("when")
    turns = when.get("turns", 0)
    if set(when) - {"quiet", "leak_asked", "turns"} or not when or not is_number(turns):
        message = 'must be {"quiet": id, "turns": n}: when nobody has spoken to that person for n turns'
        raise fields.problem("when", message)
    quiet = when.get("quiet")
    if quiet is not None and not (isinstance(quiet, str) and quiet in names.people):
        raise fields.problem("when", f"{str(quiet)[:60]!r} is not the id of a participant")
    return LiveProbe(
        id=fields.id("id"),
        kind=_kind(fields),
        when=when,
        key=key(fields.raw.get("key"), fields.at("key"), names.people, names.secrets),
        parameters=parameters(
            fields.raw.get("parameters"), fields.at("parameters"), names.people, names.facts
        ),
    )


def _once(ids: list[str], path: str) -> None:
    for index, entry in enumerate(ids):
        if entry in ids[:index]:
            raise ImportProblem(f"{entry!r} is there twice", field=f"{path}[{index}].id")


def _check(record: Dialogue) -> None:
    """Refuse contradictions between the parts, and keys that nobody could play."""
    scenario = scenario_of(record)
    for index, probe in enumerate(scenario.probes):
        for point in probe.points:
            first = probes_at(scenario, point)[0]
            if not same(first.keys[point], probe.keys[point]):
                message = f"gives turn {point} another key than the probe {first.id!r}"
                raise ImportProblem(message, field=f"probes[{index}]")
            if point in scenario.keys and not same(scenario.keys[point], probe.keys[point]):
                message = f"gives turn {point} another key than keys.{point}"
                raise ImportProblem(message, field=f"probes[{index}]")
        if reason := lacking(record, probe):
            raise ImportProblem(f"{probe.kind}: {reason}", field=f"probes[{index}]")
    _check_addressed(record)
    _check_secrets(record)
    for problem in oracle_problems(record):
        raise ImportProblem(f"turn {problem.point}: {problem.reason}", field=problem.field)


def _check_addressed(record: Dialogue) -> None:
    """Refuse a message to the agent, or with its name, that has no key of its own."""
    scenario = scenario_of(record)
    for point in points_of(record):
        turn = record.turns[point]
        if point in scenario.keys or probes_at(scenario, point) or turn.act != "message":
            continue
        if names_agent(record, turn):
            message = "addresses or names the agent, so it needs a key of its own (in keys, or a probe's)"
            raise ImportProblem(message, field=f"turns[{point}]")


def _check_secrets(record: Dialogue) -> None:
    """Refuse a secret that an outsider heard before the first key about it, and one in a key's `must_not`."""
    scenario = scenario_of(record)
    for index, secret in enumerate(scenario.secrets):
        asking_points = [p for p in points_of(record) if secret.id in key_at(scenario, p).secrets]
        until = min(asking_points, default=len(record.turns))
        for person in sorted({participant.id for participant in record.participants} - set(secret.known_to)):
            for place in positions_seen(record, person, until):
                if hits(secret, record.turns[place].text):
                    message = f"a canary of it occurs in turn {place}, which {person!r} sees"
                    raise ImportProblem(message, field=f"secrets[{index}].canaries")
        for point in points_of(record):
            if any(_tells(secret, text) for texts in key_at(scenario, point).must_not for text in texts):
                message = (
                    f"names the secret {secret.id!r}, which belongs in secrets: it would not count as a leak"
                )
                raise ImportProblem(message, field=f"{key_path(record, point)}.must_not")


def _tells(secret: Secret, forbidden: str) -> bool:
    """Whether a forbidden text is the secret itself: a leak would then count as wrong content."""
    return (
        forbidden == secret.id
        or hits(secret, forbidden)
        or any(occurs(forbidden, canary, inflected=True) for canary in secret.canaries)
    )


READERS = {KIND: jsonl.OwnFields(frozenset(OWN_FIELDS), with_scenario, unusual_size)}
