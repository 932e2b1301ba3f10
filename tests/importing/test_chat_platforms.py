"""Tests of chats of frameworks, support desks, local assistants and messengers: turns, order, ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.formats import chat_platforms
from tests.importing.helpers import imported, written
from tests.importing.test_chat_forms import dialogues, refused, turns

FORMS = Path(__file__).parent / "forms"

FIRST = {
    "rasa.json": [
        ("user", "hello", False),
        ("bot", "Hey! How are you?", True),
        ("user", "bye", False),
        ("bot", "[button: Again]\n[image]", True),
    ],
    "rasa--events.jsonl": [("user", "hello", False), ("bot", "Hey! How are you?", True)],
    "bot-framework.json": [
        ("Bot", "Hi, I am a bot", True),
        ("User", "hello", False),
        ("Bot", "[attachment: Menu]", True),
    ],
    "botpress.json": [
        ("incoming", "hello", False),
        ("outgoing", "Hi, what can I do?", True),
        ("incoming", "refund", False),
    ],
    "voiceflow.json": [("assistant", "Welcome! What do you need?", True), ("user", "a pizza", False)],
    "dialogflow.json": [
        ("user", "hi", False),
        ("assistant", "Hello! How can I help?", True),
        ("user", "price?", False),
        ("assistant", "It is 5.\nMore?", True),
    ],
    "lex.jsonl": [("user", "hello", False), ("assistant", "Hi, what?", True), ("user", "a hotel", False)],
    "watson.json": [("user", "hello", False), ("assistant", "Hi", True)],
    "chainlit.json": [("ana", "Which way?", False), ("Assistant", "By train.", True)],
    "openai-thread.json": [("user", "Which way?", False), ("assistant", "By train.", True)],
    "intercom.json": [
        ("Ana", "I cannot log in", False),
        ("Fin", "Hi Ana,\nhave you tried resetting?", True),
        ("Ana", "Yes, no luck", False),
    ],
    "zendesk.jsonl": [("11", "I cannot log in", False), ("22", "Try again", True)],
    "zendesk--comments.json": [("11", "I cannot log in", False), ("22", "Try again", True)],
    "zendesk-chat.json": [("Ana", "hello", False), ("Ben", "hi Ana", True)],
    "liveperson.json": [("Consumer", "hello", False), ("Agent", "hi there", True)],
    "contact-center.json": [("AGENT", "Hi, how can I help?", True), ("CUSTOMER", "My bill is wrong", False)],
    "sillytavern.jsonl": [("Holmes", "Good day.", True), ("Ana", "Hello", False), ("Holmes", "Sit.", True)],
    "character-ai.json": [("Holmes", "Who are you?", True), ("Ana", "Hi Holmes", False)],
    "character-ai--histories.json": [("Holmes", "Who are you?", True), ("Ana", "Ana", False)],
    "text-generation-webui.json": [
        ("assistant", "How can I help?", True),
        ("user", "hello", False),
        ("assistant", "Hi!", True),
    ],
    "librechat.json": [("User", "Which way?", False), ("GPT-4o", "By bus.", True)],
    "lm-studio.json": [("user", "Which way?", False), ("assistant", "By train.", True)],
    "twilio.json": [("ana", "hi", True), ("system", "Hello Ana", True), ("ana", "my order?", True)],
    "matrix.json": [("@ana:x.org", "hello", True), ("@ben:x.org", "[image: cat.png]", True)],
    "mattermost.jsonl": [("ana", "hello", True), ("ben", "hi", True), ("ana", "lunch?", True)],
    "mattermost--posts.json": [("u1", "hello", True), ("u2", "hi", True)],
    "rocket-chat.json": [("Ana", "hello", True), ("Ben", "hi", True)],
}
"""The first turns of the first dialogue of each fixture, and whether they are rated."""
KEYS = {form.key for form in chat_platforms.FORMS}


@pytest.mark.parametrize("name", FIRST)
def test_the_turns_of_each_platform_are_those_that_people_saw(name: str) -> None:
    first, *_ = dialogues(FORMS / name)[0]
    assert turns(first)[: len(FIRST[name])] == FIRST[name]


def test_every_platform_has_a_fixture() -> None:
    assert {name.partition(".")[0].partition("--")[0] for name in FIRST} == KEYS


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("rasa--events.jsonl", ["u1", "u2"]),
        ("botpress.json", ["c1", "c2"]),
        ("zendesk.jsonl", ["1", "2"]),
        ("lm-studio.json", ["lm-studio"]),
        ("matrix.json", ["Lab"]),
    ],
)
def test_messages_are_divided_into_their_conversations(name: str, ids: list[str]) -> None:
    assert [dialogue.id for dialogue in dialogues(FORMS / name)[0]] == ids


def test_what_nobody_saw_is_counted() -> None:
    notes = [note for name in ("intercom.json", "lm-studio.json") for note in dialogues(FORMS / name)[1]]
    assert notes == [
        "internal notes, left out: 2",
        "entries of the program itself (joins, calls, topics), left out: 2",
        "replies that were not chosen, left out: 1",
    ]


@pytest.mark.parametrize(
    ("name", "question", "value", "turn"),
    [
        ("intercom.json", "rating", 4.0, None),
        ("zendesk.jsonl", "satisfaction", "good", None),
        ("zendesk-chat.json", "satisfaction", "good", None),
        ("chainlit.json", "feedback", 1.0, 1),
    ],
)
def test_ratings_of_users_become_labels_of_somebody_unidentified(
    name: str, question: str, value: float | str, turn: int | None
) -> None:
    label = dialogues(FORMS / name)[0][0].labels[0]
    assert (label.question, label.value, label.turn, label.identified) == (question, value, turn, False)
    assert label.explanation


@pytest.mark.django_db
def test_a_rated_support_chat_imports_with_its_ratings() -> None:
    assert imported(FORMS / "intercom.json", format="intercom").labels == 2


def test_a_reply_of_a_pair_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    chat = {"internal": [["hi", "hello"], ["so"]], "visible": []}
    assert refused(tmp_path, chat).endswith("internal[1]: must be a pair of texts: the user's and the reply")


def test_files_of_one_chat_without_an_id_are_named_after_the_file(tmp_path: Path) -> None:
    chat = {"internal": [["hi", "hello"]], "visible": [["hi", "hello"]]}
    ((dialogue,), _) = dialogues(written(tmp_path, chat, name="Ana.json"))
    assert dialogue.id == "Ana"


@pytest.mark.parametrize("key", ["conversation_id", "conversationId", "chat_id", "session_id"])
def test_one_list_of_messages_may_hold_several_conversations(tmp_path: Path, key: str) -> None:
    said = [
        ("c1", "user", "Hi"),
        ("c1", "assistant", "Hello"),
        ("c2", "user", "So"),
        ("c2", "assistant", "Yes"),
    ]
    messages = [{key: chat, "role": role, "content": text} for chat, role, text in said]
    (one, two), _ = dialogues(written(tmp_path, {"messages": messages}))
    assert [(one.id, len(one.turns)), (two.id, len(two.turns))] == [("c1", 2), ("c2", 2)]


def test_exchanges_before_an_instruction_are_its_first_turns(tmp_path: Path) -> None:
    chat = {"instruction": "So?", "input": "", "output": "Yes", "history": [["Hi", "Hello"]]}
    ((dialogue,), _) = dialogues(written(tmp_path, [chat]))
    assert [turn.text for turn in dialogue.turns] == ["Hi", "Hello", "So?", "Yes"]


def test_the_only_speaker_beside_the_user_is_rated_whatever_its_name(tmp_path: Path) -> None:
    said = [("User", "Hi"), ("Wizard42", "Hello")]
    activities = [
        {"type": "message", "channelId": "emulator", "from": {"id": name, "name": name}, "text": text}
        for name, text in said
    ]
    ((dialogue,), _) = dialogues(written(tmp_path, activities))
    assert turns(dialogue) == [("User", "Hi", False), ("Wizard42", "Hello", True)]


def test_an_opening_message_of_intercom_without_an_author_is_the_users(tmp_path: Path) -> None:
    parts = [{"type": "comment", "body": "<p>Sure</p>", "author": {"type": "admin", "name": "Ben"}}]
    chat = {"id": "9", "source": {"body": "Refund"}, "conversation_parts": {"conversation_parts": parts}}
    ((dialogue,), _) = dialogues(written(tmp_path, chat))
    assert turns(dialogue) == [("user", "Refund", False), ("Ben", "Sure", True)]


def test_reasoning_of_lm_studio_is_no_part_of_the_reply(tmp_path: Path) -> None:
    steps = [
        {"type": "contentBlock", "style": {"type": kind}, "content": [{"type": "text", "text": text}]}
        for kind, text in (("thinking", "Hm"), ("default", "Hello"))
    ]
    said = [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "steps": steps},
    ]
    messages = [{"versions": [version], "currentlySelected": 0} for version in said]
    chat = {"name": "x", "lastUsedModel": {"identifier": "m-7b"}, "messages": messages}
    ((dialogue,), _) = dialogues(written(tmp_path, chat))
    assert (turns(dialogue)[1], dialogue.system) == (("assistant", "Hello", True), "m-7b")


def test_a_list_of_librechats_messages_is_divided_by_conversation(tmp_path: Path) -> None:
    said = [("a", "r", "c1", True, "Hi"), ("b", "a", "c1", False, "Hello"), ("c", "r", "c2", True, "So")]
    messages = [
        {"messageId": own, "parentMessageId": parent, "conversationId": chat, "isCreatedByUser": is_user}
        | {"sender": "User" if is_user else "m", "text": "" if own == "b" else text}
        | {
            "content": [{"type": "think", "think": "Hm"}, {"type": "text", "text": text}]
            if own == "b"
            else None
        }
        for own, parent, chat, is_user, text in said
    ]
    (one, two), _ = dialogues(written(tmp_path, messages, name="m.json"))
    assert (one.id, turns(one)) == ("c1", [("User", "Hi", False), ("m", "Hello", True)])
    assert two.id == "c2"
