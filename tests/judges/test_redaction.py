"""A key echoed by an endpoint is stored nowhere: cut, escaped, in parts, in an error or in an answer."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from jobs.calls.batch_provider import read_line
from jobs.endpoints.responses import MARK, decoded, redact
from jobs.models import Call, Run
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

KEY = "sk-Zq81/tRv+93xWb_77dYc0"


def escaped(key: str) -> dict[str, str]:
    units = [f"{ord(letter):04x}" for letter in key]
    return {
        "plain": key,
        "JSON units": "".join(f"\\u{unit}" for unit in units),
        "JSON in JSON": "".join(f"\\\\u{unit}" for unit in units),
        "some units": key.replace("-", "\\u002d").replace("+", "\\u002B"),
        "a slash escaped": key.replace("/", "\\/"),
        "hexadecimal": "".join(f"\\x{ord(letter):02x}" for letter in key),
        "an address": quote(key, safe=""),
        "an address twice": quote(quote(key, safe=""), safe=""),
        "an address of units": "".join(f"%5Cu{unit}" for unit in units),
        "HTML": "".join(f"&#{ord(letter)};" for letter in key),
        "HTML in hexadecimal": "".join(f"&#x{ord(letter):X};" for letter in key),
        "HTML twice": "".join(f"&amp;#{ord(letter)};" for letter in key),
        "named entities": key.replace("/", "&sol;").replace("+", "&plus;").replace("_", "&lowbar;"),
    }


@pytest.mark.parametrize("how", escaped(KEY))
def test_a_key_goes_however_it_is_escaped(how: str) -> None:
    assert redact(f"Wrong key: <{escaped(KEY)[how]}>.", KEY) == f"Wrong key: <{MARK}>."


@pytest.mark.parametrize("length", [8, 9, 15, len(KEY) - 1])
def test_parts_of_a_key_go_wherever_they_begin(length: int) -> None:
    for start in range(len(KEY) - length + 1):
        part = KEY[start : start + length]
        assert redact(f"got {part}... of it", KEY) == f"got {MARK}... of it"


def test_shorter_parts_and_other_texts_stay_to_the_byte() -> None:
    text = f"starts with {KEY[:7]}, 100% &amp; \\u00e9 \\n {KEY[-7:]}"
    assert redact(text, KEY) == text


def test_a_short_key_goes_only_where_it_stands_by_itself() -> None:
    assert redact("key ollama is wrong; ollamas stay", "ollama") == f"key {MARK} is wrong; ollamas stay"
    assert redact("EMPTY and -", "") == "EMPTY and -"


def test_a_document_is_redacted_in_names_and_texts_and_stays_a_document() -> None:
    body = json.dumps({KEY: [{"message": f'He said "{KEY}"'}, 3.5, None]}).encode()
    assert decoded(body, KEY) == {MARK: [{"message": f'He said "{MARK}"'}, 3.5, None]}
    assert decoded(body.decode().encode("utf-16"), KEY) == decoded(body, KEY)


def test_lines_of_a_batch_are_redacted() -> None:
    told = {"custom_id": "call-7", "error": {"code": "x", "message": "y" * 490 + KEY}}
    line = read_line(json.dumps(told).encode(), KEY)
    assert line is not None
    assert line.message == "y" * 490 + MARK


def completion(text: str, **fields: Any) -> str:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"} | fields]})


SPELT = [{"token": KEY[at : at + 3], "logprob": -0.1} for at in range(0, len(KEY), 3)]
SENT: dict[str, tuple[int, str]] = {
    "an error": (400, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})),
    "an error that is cut": (400, json.dumps({"error": {"message": "x" * 470 + KEY + "z" * 100}})),
    "an error as a page": (400, f"<p>{escaped(KEY)['HTML']}</p>"),
    "a server's error": (500, json.dumps({"detail": KEY})),
    "an error with status 200": (200, json.dumps({"error": {"message": "x" * 280 + KEY}})),
    "an error text with status 200": (200, json.dumps({"error": f"bad key {KEY[:12]}"})),
    "a reply": (200, completion(f"Humanness: 4. My key is {KEY}")),
    "a reply in units": (200, completion("?").replace("?", escaped(KEY)["JSON units"])),
    "reasoning": (200, completion(f"<think>the key is {KEY}</think>Humanness: 4")),
    "a refusal": (200, json.dumps({"choices": [{"message": {"content": None, "refusal": "r" * 290 + KEY}}]})),
    "a list in place of a text": (200, json.dumps({"choices": [{"message": {"content": [KEY]}}]})),
    "tokens that spell it": (200, completion("Humanness: 4", logprobs={"content": SPELT})),
    "no JSON": (200, KEY),
}


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", SENT)
def test_nothing_that_is_stored_of_a_call_holds_a_part_of_the_key(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    fake.answer = lambda _: SENT[kind]  # type: ignore[method-assign]
    corpus = small_corpus(dialogues=1, turns=1)
    run = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint_of(fake, key_env="FAKE_API_KEY")))
    finish()
    call = run.calls.get()
    assert fake.keys == {f"Bearer {KEY}"}
    stored = "\n".join(str(value) for value in Call.objects.filter(pk=call.pk).values_list().get())
    stored += Run.objects.get(pk=run.pk).error + str(call.logprobs)
    assert redact(stored, KEY) == stored
    assert not [at for at in range(len(KEY) - 7) if KEY[at : at + 8] in stored]
