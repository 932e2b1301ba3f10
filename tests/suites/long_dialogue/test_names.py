"""Renaming the people of a script: whole words, all at once, and reversible."""

from __future__ import annotations

from dataclasses import replace

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Fact, NameMap, Question, Script, Session
from suites.long_dialogue.scripts.names import anonymised, generic, names_of, problems, swapped
from suites.long_dialogue.scripts.replacing import inverse, mapped, mapped_question, renamed, texts_of

CAST = (
    Participant("ana", "Ana Lopez", "sister of Ben", ("Ana is a vet.",), ("Annie",), {"gender": "female"}),
    Participant("ben", "Ben Lopez", profile=("gender: male", "Ana's brother"), aliases=("Benny",)),
    Participant("Cleo", profile=("woman",)),
    Participant("will", "Will Moss", aliases=("the Boxer",), extra={"gender": "m"}),
    Participant("Waiter"),
)
TEXTS = (
    "Ana! ANA LOPEZ! ana, are you there? It is Ana's cat, and the Anas of this world, and the Lopezes too.",
    "Anatole likes Benjamin, bananas and Ana-like people; Banana Ana_1 and Ana2 stay.",
    "Benny and Ben\n Lopez told Annie that Will will call the Boxer. The Boxer? THE BOXER!",
    "“Cleo”, said the waiter to Zoe, “CLEO’S here.” Will Moss? Moss!",
)
SWAP = NameMap("swapped", 1, (("Ana", "Ben"), ("Ben", "Ana")))


def script() -> Dialogue:
    people = ("ana", "ben", "Cleo", "Zoe")
    turns = tuple(Turn(who, text, session="s1") for who, text in zip(people, TEXTS, strict=True))
    question = Question(
        id="q1",
        source="tkg",
        text="Who is Ana Lopez's boss?",
        choices=("Ben", "Cleo", "Will Moss", "Zoe"),
        answer="Ben",
        answers=("Ben", "Benny"),
        styles={"Cleo": "By the way, who is Annie's boss?", "default": "Who is Ana's boss?"},
    )
    return Dialogue(
        id="d",
        turns=turns,
        participants=CAST,
        summary="Ana meets Ben.",
        metadata={"title": "Ana and Ben", "notes": ["Cleo leaves"], "year": 1994},
        script=Script("ana", (Session("s1", Date(1994), place="Ana's kitchen", episode="Ben's day"),)),
        facts=(Fact("f1", "Ana Lopez", "boss", "Ben Lopez", "s1"),),
        questions=(question,),
    )


def names_left(dialogue: Dialogue, names: NameMap) -> list[str]:
    """Return old names that a prompt could still show, but those that are words of their own."""
    olds = [old for old, _ in names.pairs if old not in names.kept]
    sought = regex.compile(r"(?<!\w)(?i:" + "|".join(map(regex.escape, olds)) + r")(?:s|es)?(?!\w)")
    return [name for text in texts_of(dialogue) for name in sought.findall(text) if name not in names.kept]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Ana, ANA, ana", "Eva, EVA, eva"),
        ("Ana's, Ana’s and ANA'S", "Eva's, Eva’s and EVA'S"),
        ("the Anas, THE ANAS, the Lopezes", "the Evas, THE EVAS, the Stones"),
        (
            "Anatole, banana, Ana_1, Ana2, Diana, anas, AnaS",
            "Anatole, banana, Ana_1, Ana2, Diana, anas, AnaS",
        ),
        ("Ana Lopez; ANA  LOPEZ", "Eva Stone; EVA  STONE"),
        ("Ana\nLopez", "Eva\nStone"),
        ("(Ana)-Ana/Ana…d'Ana", "(Eva)-Eva/Eva…d'Eva"),
        ("The Professor, the professor", "The Robin, the robin"),
        ("安娜你好, 我是Ana。", "伊娃你好, 我是Eva。"),
        ("アナさん、アナウンサー", "エバさん、アナウンサー"),
        ("José and Jose\u0301", "Karl and Karl"),
        ("Ана, Анапа", "Ева, Анапа"),
        ("Ana Petrova, Ana", "Ana Petrova, Eva"),
        ("", ""),
    ],
)
def test_a_name_is_replaced_as_a_whole_word_in_its_case(text: str, told: str) -> None:
    pairs = (
        ("Ana", "Eva"),
        ("Lopez", "Stone"),
        ("the Professor", "the Robin"),
        ("安娜", "伊娃"),
        ("アナ", "エバ"),
        ("José", "Karl"),
        ("Ана", "Ева"),
    )
    assert renamed(text, NameMap("anonymised", 1, pairs, kept=("Ana Petrova",))) == told


def test_a_swap_of_two_names_is_no_chain() -> None:
    assert renamed("Ana told Ben that Ben's Ana left", SWAP) == "Ben told Ana that Ana's Ben left"
    assert inverse(SWAP).pairs == (("Ben", "Ana"), ("Ana", "Ben"))


def test_the_longest_spelling_goes_first() -> None:
    names = NameMap("anonymised", 1, (("Ana", "Eva"), ("Ana Lopez", "Mia Stone")))
    assert renamed("Ana Lopez and Ana", names) == "Mia Stone and Eva"


def test_a_name_of_one_letter_is_no_article() -> None:
    assert (
        renamed("A meets a dog: As ever", NameMap("anonymised", 1, (("A", "Eva"),)))
        == "Eva meets a dog: As ever"
    )


def test_no_original_name_is_left_when_all_are_anonymised() -> None:
    for seed in range(20):
        names = anonymised(script(), seed)
        assert problems(names, script()) == []
        assert names_left(mapped(script(), names), names) == []
        assert names_left(script(), names) != []


def test_names_lead_back_to_the_original() -> None:
    for seed in range(20):
        for names in (anonymised(script(), seed), swapped(script(), ["ana", "ben"], seed)):
            back = mapped(mapped(script(), names), inverse(names))
            assert back.participants[: len(CAST)] == CAST
            assert replace(back, participants=CAST) == script()


def test_the_number_of_words_never_changes() -> None:
    for seed in range(20):
        names = anonymised(script(), seed)
        before, after = texts_of(script()), texts_of(mapped(script(), names))
        assert [len(text.split()) for text in before] == [len(text.split()) for text in after]


def test_full_name_nickname_and_surname_of_one_person_go_together() -> None:
    told = dict(anonymised(script(), 3).pairs)
    assert told["Ana Lopez"] == f"{told['Ana']} {told['Lopez']}"
    assert told["Ben Lopez"] == f"{told['Ben']} {told['Lopez']}"
    assert {"Annie", "Benny", "Cleo", "Will", "Moss", "the Boxer", "Zoe"} <= set(told)
    assert told["the Boxer"].startswith("the ")


def test_a_generic_name_is_of_the_declared_gender() -> None:
    for seed in range(20):
        told = dict(anonymised(script(), seed).pairs)
        assert told["Ana"] in generic("female")
        assert told["Cleo"] in generic("female")
        assert told["Ben"] in generic("male")
        assert told["Will"] in generic("male")
        assert told["Zoe"] in generic("neutral")
        assert told["Lopez"] in generic("surname")
    other = dict(anonymised(script(), 0, genders={"Zoe": "female"}, aliases={"Zoe": ["Zo"]}).pairs)
    assert other["Zoe"] in generic("female")
    assert other["Zo"] in generic("female")


def test_roles_are_no_names_and_words_in_small_letters_stay() -> None:
    names = anonymised(script(), 0)
    assert "Waiter" not in dict(names.pairs)
    assert "will" in names.kept
    assert " will call " in mapped(script(), names).turns[2].text


def test_declared_spellings_stay() -> None:
    names = anonymised(script(), 0, unchanged=["Ana and Ben"])
    assert mapped(script(), names).metadata["title"] == "Ana and Ben"


def test_ids_stay_and_who_has_no_name_but_an_id_is_given_one() -> None:
    names = anonymised(script(), 0)
    told = mapped(script(), names)
    assert [turn.speaker for turn in told.turns] == [turn.speaker for turn in script().turns]
    shown = {participant.id: participant.name for participant in told.participants}
    assert shown["Cleo"] == dict(names.pairs)["Cleo"]
    assert shown["Zoe"] == dict(names.pairs)["Zoe"]
    assert set(told.questions[0].styles) == {"Cleo", "default"}
    assert mapped_question(script().questions[0], names) == told.questions[0]


def test_more_people_than_generic_names_are_listed_can_be_anonymised() -> None:
    crowd = tuple(Participant(f"p{n}", f"Xq{chr(97 + n // 26)}{chr(97 + n % 26)}o") for n in range(200))
    names = anonymised(replace(script(), participants=crowd), 0)
    assert len({new for _, new in names.pairs}) == len(names.pairs) >= 200


def test_the_next_map_of_a_kind_has_the_next_number() -> None:
    first = anonymised(script(), 0)
    told = script()
    assert told.script is not None
    with_first = replace(told, script=replace(told.script, names=(first,)))
    second = anonymised(with_first, 1)
    assert (first.version, second.version) == (1, 2)
    both = replace(told.script, names=(first, second))
    assert names_of(both, "original") is None
    assert names_of(both, "anonymised") == second
    assert names_of(both, "anonymised:1") == first
    with pytest.raises(ValueError, match="no names 'swapped'"):
        names_of(both, "swapped")


def test_nobody_of_a_swapped_cast_keeps_a_name() -> None:
    cast = tuple(
        Participant(name.lower(), f"{name} {name[0]}son", aliases=(name + "y",))
        for name in ("Ana", "Ben", "Cy", "Di")
    )
    dialogue = replace(script(), participants=cast)
    for seed in range(20):
        told = dict(swapped(dialogue, [person.id for person in cast], seed).pairs)
        assert set(told) == set(told.values())
        assert all(old != new for old, new in told.items())
        assert told["Ana Ason"].split() == [told["Ana"], told["Ason"]]
        assert told["Anay"] == told["Ana"] + "y"


def test_brother_and_sister_swap_their_first_names_and_keep_their_surname() -> None:
    told = dict(swapped(script(), ["ana", "ben"], 0).pairs)
    assert told == {
        "Ana Lopez": "Ben Lopez",
        "Ben Lopez": "Ana Lopez",
        "Ana": "Ben",
        "Ben": "Ana",
        "Annie": "Benny",
        "Benny": "Annie",
    }


@pytest.mark.parametrize(
    ("cast", "reason"),
    [
        (["ana", "Cleo"], "Nobody else of the cast has as many names as Ana Lopez"),
        (["ana"], "two people or more"),
        (["ana", "nobody"], "Not in the script: nobody"),
    ],
)
def test_a_swap_that_cannot_be_says_why(cast: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        swapped(script(), cast, 0)


@pytest.mark.parametrize(
    ("pairs", "kept", "kind", "reason"),
    [
        ((("Ana Lopez", "Eva"),), (), "anonymised", "'Ana Lopez' has 2 words, 'Eva' has 1"),
        ((("Ana", "Eva"), ("ANA", "Mia")), (), "anonymised", "'ANA' is mapped twice"),
        ((("Ana", "Eva"), ("Ben", "Eva")), (), "anonymised", "'Ana' and 'Ben' both become 'Eva'"),
        (
            (("Ana", "Ben"), ("Ben", "Eva")),
            (),
            "anonymised",
            "becomes 'Ben', which is the name of another person",
        ),
        ((("Ana", "Zoe"),), (), "anonymised", "becomes 'Zoe', which stands in the script already"),
        ((("Ana", "Ana"),), (), "anonymised", "'Ana' becomes itself"),
        ((("Ana", "Eva"),), ("Ana",), "anonymised", "'Ana' is both mapped and kept"),
        ((("Ana", "Ben"),), (), "swapped", "becomes 'Ben', which itself is not swapped"),
        ((("Ana", " "),), (), "anonymised", "a name is empty"),
    ],
)
def test_what_is_wrong_with_a_map_is_told(
    pairs: tuple[tuple[str, str], ...], kept: tuple[str, ...], kind: str, reason: str
) -> None:
    assert any(reason in problem for problem in problems(NameMap(kind, 1, pairs, kept), script()))


ATOMS = [
    "Ana",
    "ANA",
    "ana",
    "Ben",
    "BEN",
    "ben",
    "Cleo",
    "Ana Lopez",
    "ANA LOPEZ",
    "Anas",
    "ANAS",
    "Lopezes",
]
ATOMS += [
    "Anatole",
    "cannot",
    "is",
    "'s",
    "’s",
    ",",
    "\n",
    " ",
    "-",
    "_",
    "x",
    "é",
    "安",
    "Ben Lopez",
    "the",
    "Will",
]


@pytest.mark.exhaustive
@given(st.lists(st.sampled_from(ATOMS), max_size=25), st.integers(0, 30))
@settings(deadline=None)
def test_any_text_leads_back_and_keeps_its_number_of_words(parts: list[str], seed: int) -> None:
    text = "".join(parts)
    for names in (anonymised(script(), seed), swapped(script(), ["ana", "ben"], seed), SWAP):
        told = renamed(text, names)
        assert renamed(told, inverse(names)) == text
        assert len(told.split()) == len(text.split())


@given(st.text(), st.text(st.characters(categories=["L"]), min_size=2, max_size=8))
def test_a_text_without_the_name_stays(text: str, name: str) -> None:
    assume(name.casefold() not in text.casefold())
    assert renamed(text, NameMap("anonymised", 1, ((name, "Eva"),))) == text
