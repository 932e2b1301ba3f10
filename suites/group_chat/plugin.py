"""What group chats add to the core's tables."""

from annotation.hooks import LABEL_CONTINUATIONS, MAKE_ITEMS
from annotation.schemes import SCHEMES
from judges.metrics import METRICS
from judges.protocols import PROTOCOLS
from suites.group_chat import metrics, protocols, schemes


def add_entries() -> None:
    """Add schemes, protocols and metrics; called once, before any models are loaded."""
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


def add_hooks() -> None:
    """Add the labels of answer keys, and the items on which people decide in an agent's place."""
    from suites.group_chat.editing import answer_keys, key_points

    LABEL_CONTINUATIONS.append(answer_keys.write)
    MAKE_ITEMS[schemes.HUMAN.key] = key_points.ensure
