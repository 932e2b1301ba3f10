"""A worker that is killed while systems reply: each turn is there once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest

from jobs.calls import claims
from jobs.models import Call, OpenRequest
from suites.collecting.models import ChatReply
from tests import factories
from tests.judges.test_killed_worker import Start, start, until
from tests.suites.collecting.talking import ChatModel, answer_all, begin, say, system_campaign

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["start"]


@pytest.fixture
def model() -> Iterator[ChatModel]:
    with ChatModel() as server:
        yield server


def is_asked(model: ChatModel) -> bool:
    return len(model.bodies) == 1 and OpenRequest.objects.exists()


def is_answered(_model: ChatModel) -> bool:
    return ChatReply.objects.exclude(text="").exists()


@pytest.mark.parametrize(("moment", "delay"), [(is_asked, 5.0), (is_answered, 0.0)])
def test_a_worker_is_killed_and_the_turn_is_there_once(
    model: ChatModel, start: Start, moment: Callable[[ChatModel], bool], delay: float
) -> None:
    ana = factories.user("ana")
    chat = begin(system_campaign([ana], model.endpoint()), ana)
    model.delay = delay
    worker = start()
    say(chat, ana, "Hello")
    until(lambda: moment(model))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    model.delay = 0
    Call.objects.filter(state="leased").update(lease_expires="2020-01-01T00:00Z")
    claims.sweep()
    answer_all()
    assert list(chat.messages.values_list("text", flat=True)) == ["Hello", "I heard Hello"]
    call = Call.objects.get()
    assert (call.state, call.asked, call.lost) == ("done", len(model.bodies), len(model.bodies) - 1)
    say(chat, ana, "More")
    answer_all()
    chat.refresh_from_db()
    assert (chat.state, chat.task.continuation.turns.count()) == ("finished", 4)
