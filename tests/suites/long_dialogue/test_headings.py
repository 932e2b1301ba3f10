"""Session changes are shown with their date to judges, annotators, researchers and generators."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.corpora import dialogue_view
from annotation.models import Continuation, Dialogue, Item, Turn
from annotation.records import Turn as TurnRecord
from annotation.text.context import heading
from annotation.work import screens
from judges.protocols import PROTOCOLS, Asking, Case
from judges.runs.material import load
from suites.continuation.benchmarks.summary import by_name, transcript
from suites.continuation.productions.dialogues import of_rows
from suites.long_dialogue.editing.sessions import change_session
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.test_native import bring

pytestmark = pytest.mark.django_db
ABOVE = ["session s1 · 1994-09-01", "session s2 · 1994-09", "session s4 · 1995-01-07", "session s5 · 1996"]
ALL = [*ABOVE[:2], "session s3 · 1994-11-05", *ABOVE[2:]]


@pytest.fixture
def loaf(tmp_path: Path) -> Dialogue:
    return bring(tmp_path, script()).dialogues.select_related("corpus").get()


def test_a_judge_sees_sessions_with_their_dates(loaf: Dialogue) -> None:
    own = Continuation.objects.get(dialogue=loaf, key="self")
    material = load([own.pk])[own.pk]
    case = Case(material.dialogue, material.continuation, turn=8)
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    text = protocol.prompt(case, "without_reference").user
    for above in ABOVE:
        assert f"== {above} ==" in text
    assert all(turn.time == "" for turn in material.continuation.turns), "nothing is added to what leaves"


def test_an_annotator_sees_sessions_with_their_dates(loaf: Dialogue) -> None:
    item = Item.objects.get(kind="turn", turn__position=9)
    screen = screens.load_place(item.continuation_id, item.pk, [])
    assert [line.heading for line in screen.lines if line.heading] == ALL


def test_researchers_and_generators_see_them_too_as_they_were_changed(loaf: Dialogue) -> None:
    change_session(dialogue=loaf, session="s3", kind="talk", by=None, date="1994-11-06")
    turns = list(Turn.objects.filter(continuation__dialogue=loaf))
    lines = dialogue_view.lines(loaf, turns, dialogue_view.speakers(loaf, turns))
    assert [line.heading for line in lines if line.heading][2] == "session s3 · 1994-11-06"
    record = of_rows([loaf])[loaf.pk]
    shown = "\n".join(transcript(record.turns, by_name(record)))
    assert "== session s3 · 1994-11-06 ==" in shown


def test_a_turn_that_tells_its_own_date_keeps_it() -> None:
    turn = TurnRecord("ana", "Hm.", session="s1", time="1990-02-03T10:00")
    assert heading(turn, None, dates={"s1": "1994-09-01"}) == "session s1 · 1990-02-03"
    assert heading(turn, turn, dates={"s1": "1994-09-01"}) == ""
