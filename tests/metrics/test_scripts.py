"""Words and names in Chinese, Japanese and Arabic, and emoji."""

from __future__ import annotations

import pytest

from annotation.records import Participant, Turn
from annotation.text.words import mentioned, words
from judges.metrics.acts import rule_act
from judges.metrics.references import tokens
from tests.metrics.helpers import answer, reply, score

WANG = Participant("p1", "王小明", aliases=("小明",))
SATO = Participant("p2", "さとう")
OMAR = Participant("p3", "عمر")
BOB = Participant("p4", "Bob")
BOBBY = Participant("p5", "Bobby Jo")
ALL = (WANG, SATO, OMAR, BOB, BOBBY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't re-open API_v2!", ("don't", "re-open", "api_v2")),
        ("你好，我叫王小明。", ("你", "好", "我", "叫", "王", "小", "明")),
        ("APIをテスト中", ("api", "を", "テスト", "中")),
        ("ذهبَ إلى المدرسة", ("ذهب", "إلى", "المدرسة")),
        ("ok 👍🏽👨‍👩‍👧 🇩🇪", ("ok", "👍🏽", "👨‍👩‍👧", "🇩🇪")),
        ("ＡＢＣ １２", ("abc", "12")),
        ("", ()),
    ],
)
def test_words_in_any_script(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("王小明你觉得呢？", {"p1"}),
        ("我同意小明说的", {"p1"}),
        ("さとうさん、どうですか", {"p2"}),
        ("ما رأيك يا عمر؟", {"p3"}),
        ("المعمار جميل", set()),
        ("Bob你怎么看", {"p4"}),
        ("@bob what now", {"p4"}),
        ("@bobbyjo what now", {"p5"}),
        ("mail x@bob.com or y@bobx.com", set()),
        ("write to bob@example.com", set()),
        ("bob@ the lake", {"p4"}),
        ("Bobby Jo said so", {"p5"}),
        ("kebob and Bobcat", set()),
        ("Bob's idea", {"p4"}),
        ("@p2 and #p3", {"p2", "p3"}),
        ("p2 alone is no name", set()),
    ],
)
def test_whole_names_in_any_script(text: str, expected: set[str]) -> None:
    assert mentioned(text, ALL) == expected


def test_a_name_in_running_chinese_counts_as_addressing_unlike_in_the_published_code() -> None:
    scene = reply("李: 王小明你好", "王小明: 好的")
    assert score("dnr", scene).value == 1.0
    assert score("dnr@reference", scene).value == 0.0
    assert score("dnr@reference", reply("李: 王小明，你好", "王小明: 好的")).value == 1.0


def test_who_names_himself_is_not_addressed_and_addressees_in_the_data_are() -> None:
    assert score("dnr", reply("Bob: I am Bob", "Ana: hi", "Bob: so")).value == 0.0
    assert score("dnr", reply("Ana: what do you say?", "Bob: well")).value == 0.0
    scene = reply("Ana: what do you say?", "Bob: well")
    said = scene.dialogue.turns[0]
    scene.turns = (Turn(said.speaker, said.text, addressees=("Bob",)), *scene.turns[1:])
    assert score("dnr", scene).value == 1.0


def test_the_published_code_takes_part_of_a_name_for_the_name() -> None:
    scene = reply("Ana: the project is late", "Project Manager: yes")
    assert (score("dnr", scene).value, score("dnr@reference", scene).value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("context", "message", "expected"),
    [
        ("A: 我们去公园", "B: 公园很好", 4 / 7),
        ("A: نذهب إلى الحديقة", "B: الحديقة جميلة", 2 / 3),
        ("A: 公園に行く", "B: 公園で遊ぶ", 4 / 7),
    ],
)
def test_lexical_novelty_counts_words_of_each_script(context: str, message: str, expected: float) -> None:
    assert score("lnr", reply(context, message)).value == pytest.approx(expected)


def test_responses_without_spaces_are_compared_character_by_character() -> None:
    assert tokens("我喜欢茶") == ("我", "喜", "欢", "茶")
    assert score("word_f1", answer("我喜欢茶", "我喜欢水")).value == pytest.approx(0.75)
    assert score("rouge_l", answer("我喜欢茶", "我喜欢水")).value == pytest.approx(0.75)
    assert score("rouge_1", answer("أحب الشاي", "أحب الماء")).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("你好！", "greeting"),
        ("谢谢你", "thanks"),
        ("你怎么看？", "question"),
        ("من فضلك ابدأ", "request"),
        ("ما رأيك؟", "question"),
        ("ありがとう", "thanks"),
        ("👍", "backchannel"),
        ("No, I think not.", "disagreement"),
        ("The lake is deep.", "statement"),
    ],
)
def test_acts_in_any_script(text: str, act: str) -> None:
    assert rule_act(text) == act
