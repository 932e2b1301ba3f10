"""Tests of chats in the forms of other programs: their turns, speakers, rated turns, systems and notes."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from django.core.management import call_command

from annotation.corpora.import_file import mark_rated, rated_speakers
from annotation.formats import FORMATS, ImportProblem, Source
from annotation.formats.chat_records import paths_of_text, time_of
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Label, Rater
from annotation.records import Dialogue
from tests.importing.helpers import imported, written

FORMS = Path(__file__).parent / "forms"


def dialogues(path: Path) -> tuple[list[Dialogue], list[str]]:
    """Read a file by its form, with its rated turns marked; return its dialogues and notes."""
    source = Source(path)
    format = FORMATS[guess(FORMATS, read_start(path))]
    speakers = rated_speakers(format, source)
    records = [mark_rated(entry, speakers).record for entry in format.read(source)]
    return [record for record in records if isinstance(record, Dialogue)], source.all_notes()


def turns(dialogue: Dialogue) -> list[tuple[str, str, bool]]:
    """Return speaker, text, and whether the turn is rated."""
    return [(turn.speaker, turn.text, not turn.given) for turn in dialogue.turns]


def refused(path: Path, content: Any) -> str:
    """Return the one line in which a file is refused."""
    with pytest.raises(ImportProblem) as caught:
        dialogues(written(path, content))
    assert caught.value.others == []
    return str(caught.value)


def test_openai_chats_keep_their_system_prompt_and_show_tool_calls_as_context() -> None:
    (one, two, three), (note,) = dialogues(FORMS / "messages.jsonl")
    assert (one.id, one.metadata) == ("chat-1", {"system_prompt": "You sell plants."})
    assert turns(one)[:2] == [("user", "Which fern likes shade?", False), ("assistant", "A lady fern.", True)]
    assert turns(two)[1:] == [
        ("assistant", "[tool call]", False),
        ("tool", "closed", False),
        ("assistant", "No, closed.", True),
    ]
    assert turns(three)[2:] == [("w", "rain", False), ("assistant", "It rains.", True)]
    assert {"messages[].weight", "messages[].reasoning_content"} <= set(
        note.rstrip(".").split(": ")[1].split(", ")
    )


def test_a_list_of_chats_in_one_document_has_parts_models_and_prompts() -> None:
    (one, two), _ = dialogues(FORMS / "messages--list.json")
    assert turns(one)[0] == ("user", "What is on this picture?\n[image_url]", False)
    assert (two.id, two.system, two.metadata["system_prompt"]) == ("a2", "model-x", "Be brief.")


def test_sharegpt_reads_its_three_names_of_the_list() -> None:
    (one, _), notes = dialogues(FORMS / "sharegpt.json")
    assert (one.id, turns(one)) == (
        "QaBc_0", [("human", "Name a river.", False), ("gpt", "The Drau.", True)],
    )  # fmt: skip
    assert notes == []
    (items, conversation), _ = dialogues(FORMS / "sharegpt--items.jsonl")
    assert (items.system, items.metadata["system_prompt"]) == ("model-y", "You know Vienna.")
    assert turns(conversation)[1:] == [
        ("function_call", '{"name": "tram"}', False),
        ("observation", "D", False),
        ("gpt", "Line D.", True),
    ]


def test_chatgpt_follows_the_tree_to_the_current_branch() -> None:
    (chat,), notes = dialogues(FORMS / "chatgpt.json")
    assert (chat.id, chat.system, chat.metadata["title"]) == ("cc1", "gpt-x", "Trip")
    assert turns(chat) == [
        ("user", "Which way to Graz?", False),
        ("assistant", "By train.", True),
        ("user", "[image_asset_pointer]\nThis one?", False),
        ("assistant", "[tool call]", False),
        ("tool", "1", False),
        ("assistant", "Yes, that one.", True),
    ]
    assert chat.turns[0].time == "2023-11-14T22:13:21Z"
    assert notes == ["messages outside the current branch, left out: 1"]


def test_a_tree_whose_parents_form_a_circle_ends(tmp_path: Path) -> None:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}
    nodes = {a: {"message": message, "parent": b, "children": [b]} for a, b in (("a", "b"), ("b", "a"))}
    (chat,), _ = dialogues(written(tmp_path, [{"mapping": nodes, "current_node": "a"}], name="c.json"))
    assert {turn.text for turn in chat.turns} == {"Hi"}


def test_several_models_of_one_chat_are_all_named(tmp_path: Path) -> None:
    said = [
        ("user", "Hi", None),
        ("assistant", "Hello", "m-1"),
        ("user", "So", None),
        ("assistant", "Yes", "m-2"),
    ]
    messages = [{"role": role, "content": text, "model": model} for role, text, model in said]
    (chat,), _ = dialogues(written(tmp_path, {"messages": messages}))
    assert chat.system == "m-1 + m-2"


def test_claude_keeps_attachments_and_leaves_out_thinking_and_empty_chats() -> None:
    (chat,), notes = dialogues(FORMS / "claude.json")
    assert (chat.id, chat.system) == ("5f-1", "claude")
    assert [turn[1:] for turn in turns(chat)] == [
        ("How long does soup boil?", False),
        ("An hour.", True),
        ("[file: list.txt]", False),
        ("Leek, half an hour.", True),
    ]
    assert notes == ["chats without any turn, left out: 1"]


def test_lmsys_and_wildchat_keep_moderation_as_metadata_and_never_as_labels() -> None:
    (_, two), _ = dialogues(FORMS / "lmsys-chat.jsonl")
    assert (two.id, two.system, two.labels) == ("c2", "koala-x", ())
    assert two.metadata["openai_moderation"][0]["flagged"] is True
    (_, wild), (note,) = dialogues(FORMS / "wildchat.jsonl")
    assert (wild.id, wild.system, wild.metadata["toxic"], wild.labels) == ("h2", "gpt-x-0301", True, ())
    assert "hashed_ip" in note


def test_ultrachat_alternates_between_user_and_assistant() -> None:
    (one, _), _ = dialogues(FORMS / "ultrachat.jsonl")
    assert turns(one)[2:] == [("user", "Where?", False), ("assistant", "In flowers.", True)]


@pytest.mark.parametrize("name", ["oasst.jsonl", "oasst--trees.jsonl"])
def test_openassistant_follows_the_best_ranked_replies(name: str) -> None:
    (tree, *_), notes = dialogues(FORMS / name)
    assert [turn.extra["message_id"] for turn in tree.turns][:2] in (["m1", "m3"], ["t1", "t3"])
    assert [turn.given for turn in tree.turns][:2] == [True, False]
    assert (tree.system, tree.labels) == ("human", ())
    assert notes == ["replies outside the best-ranked branch of a tree, left out: 1"]


def test_slack_calls_people_by_their_names() -> None:
    (day,), notes = dialogues(FORMS / "slack.json")
    assert (day.id, turns(day)) == (
        "slack",
        [
            ("ana", "Shall we start, @Ben?", True),
            ("Ben", "Yes & soon: here (https://example.org)", True),
            ("Timer", "Five minutes.", True),
        ],
    )
    assert day.turns[1].extra["thread_ts"] == "1700000000.000100"
    assert notes == ["entries of the program itself (joins, calls, topics), left out: 1"]


def test_a_folder_of_slack_is_a_dialogue_for_each_channel_and_day() -> None:
    (one, two), _ = dialogues(FORMS / "slack--folder")
    assert (one.id, two.id, one.cluster, two.cluster) == (
        "general/2023-11-14", "general/2023-11-15", "general", "general",
    )  # fmt: skip
    assert turns(one) == [("ana", "Who brings cake?", True), ("Ben", "@ana: me", True)]
    assert turns(two)[0] == ("Ben", "[file: cake.png]", True)


def test_discord_and_telegram_have_placeholders_for_files() -> None:
    (discord,), _ = dialogues(FORMS / "discord.json")
    assert (discord.id, discord.metadata["name"]) == ("22", "Garden")
    assert turns(discord)[2] == ("cem", "[file: rose.png]", True)
    assert discord.turns[1].extra["messageId"] == "100"
    (telegram,), _ = dialogues(FORMS / "telegram.json")
    assert turns(telegram) == [
        ("Ana", "Who waters today?", True),
        ("Ben", "I do, see https://example.org.", True),
        ("Ana", "[photo]", True),
    ]
    everything, _ = dialogues(FORMS / "telegram--all.json")
    assert [chat.id for chat in everything] == ["Ben-77", "saved_messages-1"]


def test_messenger_and_teams_begin_with_the_oldest_message_in_plain_text() -> None:
    (thread,), _ = dialogues(FORMS / "messenger.json")
    assert (thread.id, thread.metadata["title"]) == ("inbox/zoe_1", "Zoë")
    assert turns(thread) == [("Zoë", "Hello", True), ("Ben", "Grüß dich", True), ("Ben", "[photo]", True)]
    (chat,), _ = dialogues(FORMS / "teams.json")
    assert (chat.id, turns(chat)) == ("19:x", [("Ana", "Is it done?", True), ("Ben", "Yes & no", True)])


def test_a_chat_that_has_only_the_users_turns_rates_nobody(tmp_path: Path) -> None:
    (chat,), _ = dialogues(written(tmp_path, {"conversations": [{"from": "human", "value": "Hi"}]}))
    assert turns(chat) == [("human", "Hi", False)]


def test_a_chat_of_named_people_rates_them_all_and_an_unknown_role_is_noted(tmp_path: Path) -> None:
    people = {"conversations": [{"from": "Ana", "value": "Hi"}, {"from": "Ben", "value": "Hello"}]}
    (chat,), notes = dialogues(written(tmp_path, people))
    assert ([rated for *_, rated in turns(chat)], chat.system, notes) == ([True, True], "human", [])
    people["conversations"].append({"from": "gpt", "value": "Dear both"})
    (chat,), notes = dialogues(written(tmp_path, people))
    assert [rated for *_, rated in turns(chat)] == [False, False, True]
    assert notes == ["turns of Ana, Ben are context, not rated: these are neither assistants nor users"]


def test_users_can_be_rated_instead() -> None:
    source = Source(FORMS / "sharegpt.json", settings={"rated": "human"})
    format = FORMATS["sharegpt"]
    (first, *_) = format.read(source)
    record = mark_rated(first, rated_speakers(format, source)).record
    assert isinstance(record, Dialogue)
    assert turns(record) == [("human", "Name a river.", True), ("gpt", "The Drau.", False)]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            {"conversations": [{"from": "human", "value": {"a": 1}}]},
            "line 1, field conversations[0].value: must be",
        ),
        (
            {"conversations": [{"value": "x", "from": None}]},
            "line 1, field conversations[0].role: is missing",
        ),
        (
            {"conversation": [{"role": "user", "content": "x"}], "model": 4},
            "line 1, field model: must be the name",
        ),
        (
            {"conversation": [{"role": "user", "content": {}}, {"role": "user", "content": 4}]},
            "line 1, field conversation[1].content: must be a text",
        ),
        ({"id": "0", "data": ["x", 4]}, "line 1, field data: must be a list of texts"),
    ],
)
def test_a_wrong_field_is_refused_in_one_line_that_names_it(tmp_path: Path, content: Any, line: str) -> None:
    assert refused(tmp_path, content).startswith(line)


def test_paths_are_read_from_a_beginning_that_ends_anywhere() -> None:
    text = json.dumps([{"id": 1, "a": {"b": [{"c": "x: {", "d": []}]}, "e": [1, 2]}, {"f": 2}])
    assert paths_of_text(text) == {"id", "a", "a.b", "a.b[].c", "a.b[].d", "e", "f"}
    for end in range(len(text)):
        assert paths_of_text(text[:end]) <= paths_of_text(text)


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (1700000000, "2023-11-14T22:13:20Z"),
        (1700000000000, "2023-11-14T22:13:20Z"),
        ("1700000000.0001", "2023-11-14T22:13:20Z"),
        (12.5, "12.5"),
        ("2024-01-01", "2024-01-01"),
        (None, ""),
        (True, ""),
        ("1e400", "1e400"),
    ],
)
def test_times_since_1970_become_dates(value: Any, time: str) -> None:
    assert time_of(value) == time


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ["wildchat", "lmsys-chat", "messages", "ultrachat", "oasst"])
def test_chats_are_read_the_same_from_parquet_and_arrow(tmp_path: Path, name: str, suffix: str) -> None:
    lines = [json.loads(line) for line in (FORMS / f"{name}.jsonl").read_text().splitlines()]
    table = pyarrow.Table.from_pylist(lines)
    path = tmp_path / f"file.{suffix}"
    if suffix == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    assert guess(FORMATS, read_start(path)) == name
    expected, _ = dialogues(FORMS / f"{name}.jsonl")
    records, _ = dialogues(path)
    assert [(one.id, one.system, turns(one)) for one in records] == [
        (one.id, one.system, turns(one)) for one in expected
    ]


def test_gemini_has_parts_and_open_webui_the_thumbs_of_its_user() -> None:
    (fern, moss), _ = dialogues(FORMS / "gemini.jsonl")
    assert (turns(fern)[1], fern.metadata) == (
        ("model", "Lady fern.", True),
        {"system_prompt": "You know plants."},
    )
    assert turns(moss)[0] == ("user", "[part]\nAnd this?", False)
    (soup,), _ = dialogues(FORMS / "open-webui.json")
    (thumb,) = soup.labels
    assert (soup.system, soup.metadata["system_prompt"]) == ("model-x", "Be brief.")
    assert (thumb.rater, thumb.kind, thumb.turn, thumb.question, thumb.value, thumb.explanation) == (
        "u1", "human", 1, "thumbs", -1.0, "not_accurate: half",
    )  # fmt: skip


def test_instructions_with_responses_are_chats_of_two_turns(tmp_path: Path) -> None:
    (one, two), _ = dialogues(FORMS / "instructions.json")
    assert turns(one) == [
        ("user", "Translate into German.\n\nThe tea is cold.", False),
        ("assistant", "Der Tee ist kalt.", True),
    ]
    assert turns(two)[0] == ("user", "Name a tea.", False)
    (dolly,), _ = dialogues(FORMS / "instructions--dolly.jsonl")
    assert turns(dolly)[1] == ("assistant", "In 1475.", True)
    rated = [
        {"instruction": "a", "output": "b", "helpful": 4},
        {"instruction": "c", "output": "d", "helpful": 2},
    ]
    assert guess(FORMATS, read_start(written(tmp_path, *rated))) == "table"


@pytest.mark.django_db
def test_an_export_imports_by_the_command_without_a_form_and_rates_the_assistant_alone() -> None:
    out = StringIO()
    call_command("import_corpus", str(FORMS / "chatgpt.json"), "--name", "chats", stdout=out)
    counts = json.loads(out.getvalue().splitlines()[-1])
    assert (counts["dialogues"], counts["turns"], counts["items"]) == (1, 6, 3)
    assert "messages outside the current branch, left out: 1" in out.getvalue()
    out = StringIO()
    call_command("import_corpus", str(FORMS / "slack--folder"), "--name", "team", stdout=out)
    assert json.loads(out.getvalue().splitlines()[-1])["dialogues"] == 2


@pytest.mark.django_db
def test_ratings_of_people_in_roles_are_labels_of_unidentified_raters() -> None:
    imported(FORMS / "topical-chat.json", "topical", format="topical-chat")
    assert Label.objects.count() == 13
    assert {(rater.kind, rater.identified) for rater in Rater.objects.all()} == {("human", False)}


def test_claude_follows_the_parents_of_its_messages(tmp_path: Path) -> None:
    def message(key: str, parent: str, sender: str) -> dict[str, Any]:
        return {
            "uuid": key,
            "parent_message_uuid": parent,
            "sender": sender,
            "text": key,
            "created_at": "2024",
        }

    chat = {
        "uuid": "c",
        "chat_messages": [
            message("a", "00", "human"),
            message("b", "a", "assistant"),
            message("c", "a", "assistant"),
            message("d", "c", "human"),
        ],
    }
    (followed,), notes = dialogues(written(tmp_path, [chat], name="c.json"))
    assert [turn.text for turn in followed.turns] == ["a", "c", "d"]
    assert notes == ["messages outside the current branch, left out: 1"]


@pytest.mark.parametrize("key", ["messages", "conversations", "conversation"])
def test_chats_with_labels_beside_them_are_a_table_that_keeps_the_labels(tmp_path: Path, key: str) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    rows = [{"id": str(n), key: chat, "human_rating": n, "judge_rating": n} for n in (1, 2)]
    assert guess(FORMATS, read_start(written(tmp_path, *rows))) == "table"
