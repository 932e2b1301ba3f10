"""What group chats add to the core's tables."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from annotation.formats.jsonl import OWN_FIELDS, OwnFields
from annotation.hooks import LABEL_CONTINUATIONS, LINK_TURNS, MAKE_ITEMS
from annotation.scenario_records import KIND
from annotation.scenario_records import OWN_FIELDS as NAMES
from annotation.schemes import SCHEMES
from config.links import LINKS, Link
from judges.metrics import METRICS
from judges.protocols import PROTOCOLS
from suites.continuation.generators import GENERATORS
from suites.group_chat import metrics, native_fields, protocols, schemes
from suites.group_chat.agents.agent import GroupChatAgent
from suites.group_chat.agents.live import LiveGroupChat


def add_entries() -> None:
    """Add the fields of scenarios, schemes, protocols and metrics; called once, before models are loaded."""
    OWN_FIELDS[KIND] = OwnFields(frozenset(NAMES), native_fields.with_scenario, native_fields.unusual_size)
    for scheme in (
        schemes.CASCADE,
        schemes.HUMAN,
        schemes.CONDUCT,
        schemes.COMPOSE,
        schemes.GROUND_MOVE,
        schemes.NATURALNESS,
    ):
        SCHEMES[scheme.key] = scheme
    for protocol in (protocols.Conduct(), protocols.Compose(), protocols.GroundMove(), protocols.Cascade()):
        PROTOCOLS[protocol.key] = protocol
    for metric in (*metrics.CASCADE_OBSERVED, *metrics.TALK_SHARE, *metrics.LIVE_TALK):
        METRICS[metric.key] = metric
    for generator in (GroupChatAgent(), LiveGroupChat()):
        GENERATORS[generator.key] = generator


def add_hooks() -> None:
    """Add screens, the labels of answer keys, and the items on which people decide in an agent's place."""
    from annotation.work.screens import LAYOUTS
    from jobs.kinds import KINDS
    from suites.group_chat import screens
    from suites.group_chat.cascade.decisions import turn_links
    from suites.group_chat.editing import answer_keys, key_points

    KINDS["baseline"] = "suites.group_chat.baselines"
    LABEL_CONTINUATIONS.append(answer_keys.write)
    LAYOUTS[KIND] = screens.LAYOUT
    MAKE_ITEMS[schemes.HUMAN.key] = key_points.ensure
    LINK_TURNS.append(turn_links)
    LINKS["corpus"].append(Link("Scenarios", lambda shown: reverse("scenarios", args=[shown["corpus"].pk])))
    LINKS["corpus"].append(Link("Agents", lambda shown: _of_corpus("agents", shown)))
    LINKS["corpus"].append(Link("Cascade report", lambda shown: _of_corpus("cascade", shown)))
    LINKS["dialogue"].append(Link("Scenario", _scenario))


def _of_corpus(name: str, shown: Mapping[str, Any]) -> str:
    """Return an address of a corpus that has scenarios, '' for others."""
    return reverse(name, args=[shown["corpus"].pk]) if shown["has_scenarios"] else ""


def _scenario(shown: Mapping[str, Any]) -> str:
    dialogue = shown["dialogue"]
    return reverse("scenario", args=[dialogue.corpus_id, dialogue.pk]) if dialogue.scenario else ""
