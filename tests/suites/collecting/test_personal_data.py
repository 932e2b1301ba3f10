"""The scan for personal data flags what is written in several languages, and few things that are none."""

from __future__ import annotations

from time import process_time

import pytest

from suites.collecting.personal_data import EMAIL, NAME, PHONE, URL, scan

CAST = ("Ana", "Ben", "Annie")


def found(text: str, kind: str, cast: tuple[str, ...] = CAST) -> list[str]:
    return [flag.text for flag in scan([text], cast) if flag.kind == kind]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("Write to ana.b+x@mail.example.co.uk!", ["ana.b+x@mail.example.co.uk"]),
        ("请写信到ana@example.org谢谢", ["ana@example.org"]),
        ("Пиши на ana@example.org, пожалуйста", ["ana@example.org"]),
        ("راسلني على ana@example.org", ["ana@example.org"]),
        ("ana＠example.org", ["ana@example.org"]),
        ("It is ana (at) example.org, or ben[at]example.org", ["ana (at) example.org", "ben[at]example.org"]),
        ("Meet me @ the park. I got it @5.50", []),
        ("@ana said hi", []),
    ],
)
def test_email_addresses(text: str, addresses: list[str]) -> None:
    assert found(text, EMAIL) == addresses


@pytest.mark.parametrize(
    "number",
    [
        "+49 30 1234567",
        "0049 30 1234567",
        "030/123 45 67",
        "(030) 123 4567",
        "+1 415-555-2671",
        "(415) 555-2671",
        "415.555.2671",
        "1-800-555-0199",
        "020 7946 0958",
        "06 12 34 56 78",
        "+81-3-1234-5678",
        "03-1234-5678",
        "13812345678",
        "138 1234 5678",
        "98765 43210",
        "+55 (11) 91234-5678",
        "(11) 91234-5678",
    ],
)
def test_phone_numbers_of_several_countries(number: str) -> None:
    assert found(f"My number is {number}.", PHONE) == [number]
    assert found(f"我的号码是{number}。", PHONE) == [number]


def test_phone_numbers_in_other_digits_are_flagged_in_ascii() -> None:
    assert found("０３－１２３４－５６７８", PHONE) == ["03-1234-5678"]
    assert found("رقمي ٠١٠١٢٣٤٥٦٧٨", PHONE) == ["01012345678"]


@pytest.mark.parametrize(
    "text",
    [
        "on 2026-11-28 at 10:30",
        "am 28.11.2026 um 8",
        "01.02.2026",
        "0.123456789",
        "192.168.0.1",
        "1 000 000 000 people",
        "ISBN 0-306-40615-2",
        "0 1 2 3 4 5 6 7 8 9",
        "It is 1234567 metres, 100.000.000 € and 99%",
        "order #0301234567",
        "https://example.org/0301234567",
    ],
)
def test_other_numbers_are_no_phone_numbers(text: str) -> None:
    assert found(text, PHONE) == []


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("see https://example.org/ana?b=1, please", ["https://example.org/ana?b=1"]),
        ("(www.ana.de)", ["www.ana.de"]),
        ("go to ana-b.com!", ["ana-b.com"]),
        ("看https://example.org/甲。", ["https://example.org/甲。"]),
        ("I was so tired.It was late. e.g. this", []),
    ],
)
def test_web_addresses(text: str, addresses: list[str]) -> None:
    assert found(text, URL) == addresses


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Maria Lopez in Berlin.", ["Maria Lopez", "Berlin"]),
        ("Then my friend Tom's cat ran to Jean-Luc and O'Neil.", ["Tom", "Jean-Luc", "O'Neil"]),
        ("Ayer vi a Ángel Núñez en la calle.", ["Ángel Núñez"]),
        ("hier j'ai parlé avec Élodie", ["Élodie"]),
        ("Then Ana told Ben and Ben's sister Annie.", []),
        ("Hello there. Maria is here! Zoe, too? “Tom said so.” Yes: Bob did.", []),
        ("I think I'm free on Monday or in March, at Christmas, for English lessons.", []),
        ("We work at NASA, OK?", []),
        ("my Mum and your mum", []),
        ("вчера Иван пришёл к Марии", []),
        ("χθες είδα τον Νίκο", []),
        ("mail zoe@Example.org Zoe", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert found(text, NAME) == names


def test_no_names_are_flagged_where_nouns_are_capitalised() -> None:
    text = (
        "Ich habe gestern mit Hans im Garten gesessen und die Katze von Frau Meier gesehen, weil das Haus "
        "neben der Schule am Bahnhof steht."
    )
    assert found(text, NAME) == []


def test_a_name_is_known_from_any_turn_and_aliases_count() -> None:
    assert [flag.text for flag in scan(["i saw Rex today", "is rex a dog?"])] == []
    assert [flag.text for flag in scan(["i saw Rex today"], ["Ana Maria", "Rex"])] == []
    assert [(flag.turn, flag.text) for flag in scan(["i saw Rex", "and Rex saw Rex"])] == [
        (0, "Rex"),
        (1, "Rex"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "@",
        "a@",
        "a.",
        "1 ",
        "+",
        "(at)",
        "http://",
        "www.",
        "a-",
        "A a ",
        "Ab ",
        "a@b.co ",
        "+49 30 1234567 ",
    ],
)
def test_a_long_turn_takes_time_in_proportion_to_its_length(text: str) -> None:
    def seconds(n: int) -> float:
        turn = text * (n // len(text))
        begin = process_time()
        scan([turn])
        return process_time() - begin

    seconds(1_000)
    assert seconds(160_000) < max(0.5, 60 * seconds(16_000))
