"""Draws of personas, gendered words, contradictions, outcomes of reviews and groups, without a database."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import Any

import pytest

from suites.collecting.inventories import (
    SLOTS,
    Family,
    Head,
    Inventory,
    InventoryProblem,
    NameList,
    inventory_json,
    inventory_record,
    read,
    read_csv,
)
from suites.collecting.persona_text import contradictions, filter_gendered
from suites.collecting.personas import NoPersona, draw, group, outcome, sentence, sentences_of
from suites.reviews import Review

BICYCLES = Head("I repair bicycles", 18, 60, ("female",))
MARATHONS = Head("I run marathons", 20, 50, ("female", "male"))
NAMES = (NameList(20, "female", ("Ann", "Zoe")), NameList(30, "female", ("Mara",)))
DOG = Family("I have a dog.", 20, 50)
EXAMPLE = Inventory((BICYCLES, MARATHONS), NAMES, (DOG,))


def varied(heads: int = 12) -> Inventory:
    """Return heads of different ages, genders and slots, some of them negative."""
    genders = (("female",), ("male",), ("female", "male"), ("female", "male", "neutral"))
    return Inventory(
        tuple(
            Head(
                f"I do thing {n}",
                15 + 5 * (n % 5),
                40 + 7 * (n % 4),
                genders[n % 4],
                {slot: tuple(f"{slot} {n} {k}" for k in range(n % 4)) for slot in SLOTS[: n % 9]},
                negative=n % 6 == 5,
            )
            for n in range(heads)
        ),
        tuple(
            NameList(generation, gender, tuple(f"{gender[0]}{generation}-{k}" for k in range(3)))
            for generation in (0, 20, 40)
            for gender in ("female", "male", "neutral")
        ),
        (Family("I have <n> cats.", 10, 35), Family("I have a dog.", 20, 70), Family("I live alone.", 0, 99)),
    )


# The specification's example, and the conditions of every draw.


def test_the_example_leaves_the_ages_that_both_heads_allow_and_the_names_of_the_generation() -> None:
    personas = draw(EXAMPLE, 0, 400)
    assert {persona.age for persona in personas} == set(range(20, 51))
    for persona in personas:
        assert persona.gender == "female"
        assert persona.name in (("Mara",) if persona.age >= 30 else ("Ann", "Zoe"))
        assert persona.sentences[:3] == (
            f"My name is {persona.name}.",
            f"I'm {persona.age} years old.",
            "I have a dog.",
        )
        assert set(persona.sentences[3:]) == {"I repair bicycles.", "I run marathons."}
    assert any(persona.age == 32 and persona.name == "Mara" for persona in personas)


def test_ten_thousand_draws_satisfy_the_conditions_of_head_age_name_and_family() -> None:
    inventory = varied()
    personas = draw(inventory, 7, 10_000)
    for persona in personas:
        first, second = (inventory.heads[place] for place in persona.heads)
        assert first is not second
        assert not first.negative
        assert not second.negative
        assert max(first.start_age, second.start_age) <= persona.age <= min(first.end_age, second.end_age)
        assert persona.gender in first.genders
        assert persona.gender in second.genders
        generation = max(g for g in (0, 20, 40) if g <= persona.age)
        assert persona.name.startswith(f"{persona.gender[0]}{generation}-")
        (family,) = (
            row
            for row in inventory.families
            if persona.family in {row.text.replace("<n>", number) for number in "234"}
        )
        assert family.start_age <= persona.age <= family.end_age
        texts = [sentence(text) for text in (persona.family, *expected_texts(first, second, persona))]
        assert list(persona.sentences[2:]) == texts
    used = Counter(place for persona in personas for place in persona.heads)
    assert set(used) == {place for place, head in enumerate(inventory.heads) if not head.negative}


def expected_texts(first: Head, second: Head, persona: Any) -> list[str]:
    """Return the heads with the tails that the persona has: one of each slot that has any."""
    said = set(persona.sentences)
    texts = []
    for head in (first, second):
        texts.append(head.text)
        for slot in SLOTS:
            chosen = [tail for tail in head.tails.get(slot, ()) if sentence(tail) in said]
            assert len(chosen) == bool(head.tails.get(slot))
            texts += chosen
    return texts


def test_the_same_seed_draws_the_same_personas_however_many_and_another_seed_others() -> None:
    inventory = varied()
    assert draw(inventory, 7, 50) == draw(inventory, 7, 200)[:50]
    assert draw(inventory, 7, 10, first_number=11) == draw(inventory, 7, 20)[10:]
    assert draw(inventory, 8, 50) != draw(inventory, 7, 50)


def test_heads_that_share_no_age_or_no_gender_are_never_drawn_together() -> None:
    young = Head("I am in school", 12, 18, ("female",))
    old = Head("I am retired", 60, 90, ("female",))
    man = Head("I sing bass", 12, 90, ("male",))
    names = (NameList(0, "female", ("Ann",)), NameList(0, "male", ("Bo",)))
    apart = Inventory((young, old, man), names, (Family("I live alone.", 0, 99),))
    with pytest.raises(NoPersona):
        draw(apart, 0, 1)
    either = Head("I paint", 12, 90, ("female", "male"))
    together = Inventory((young, old, man, either), names, (Family("I live alone.", 0, 99),))
    assert all(3 in persona.heads for persona in draw(together, 0, 200))


def test_an_inventory_says_what_it_lacks_for_draws() -> None:
    assert EXAMPLE.gaps() == [
        "“I repair bicycles” needs names for gender female from age 18.",
        "“I repair bicycles” needs a family sentence for age 18.",
        "“I run marathons” needs names for gender male from age 20.",
    ]
    lonely = Inventory((MARATHONS, Head("I forge", 20, 50, ("female",), negative=True)), NAMES, (DOG,))
    assert "Draws need at least two heads that are not negative." in lonely.gaps()


# Files.

HEADER = "kind,text,head,slot,start_age,end_age,genders,generation,negative\n"
ROWS = (
    "head,I repair bicycles,,,18,60,female;male,,no\n"
    'tail,"I am patient, mostly",i repair BICYCLES,characteristic,,,,,\n'
    "name,Mara,,,,,female,30,\nname,Nora,,,,,female,30,\nfamily,I have <n> sons.,,,20,50,,,\n"
)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_csv_file_as_spreadsheets_write_it_is_the_same_inventory(delimiter: str, encoding: str) -> None:
    rows = [
        ["Kind", "text", "head", "slot", "start_age", "end_age", "genders", "generation"],
        ["head", "我修自行车", "", "", "18", "60", "女;男", ""],
        ["tail", "I am patient, and calm", "我修自行车", "characteristic", "", "", "", ""],
        ["name", "小红", "", "", "", "", "女", "30"],
        ["family", "I have a dog.", "", "", "18", "60", "", ""],
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    inventory = read("cast.csv", text.getvalue().encode(encoding))
    (head,) = inventory.heads
    assert (head.text, head.genders) == ("我修自行车", ("女", "男"))
    assert head.tails["characteristic"] == ("I am patient, and calm",)
    assert inventory.names[0].names == ("小红",)


def test_a_csv_file_and_its_json_are_the_same_inventory() -> None:
    inventory = read("cast.csv", (HEADER + ROWS).encode("utf-8-sig"))
    assert inventory.heads[0].tails == {"characteristic": ("I am patient, mostly",)}
    assert inventory.names == (NameList(30, "female", ("Mara", "Nora")),)
    assert inventory_record(inventory_json(inventory)) == inventory


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("I repair bicycles,,,18", "I repair bicycles,,,x"), "line 2, start_age"),
        (("18,60", "18,121"), "line 2, end_age"),
        (("18,60", "61,60"), "line 2, end_age"),
        (("female;male", " ; "), "line 2, genders"),
        ((",,no\n", ",,maybe\n"), "line 2, negative"),
        (("characteristic", "habits"), "line 3, slot"),
        (("i repair BICYCLES", "I repair cars"), "line 3, head"),
        (("name,Mara,,,,,female,30", "name,Mara,,,,,female,"), "line 4, generation"),
        (("name,Nora", "name, "), "line 5, text"),
        (("family", "cousin"), "line 6, kind"),
        (("I have <n> sons.", "x" * 301), "line 6, text"),
        (("kind,text", "kind,texts"), "line 1, texts"),
        (("kind,", "sort,"), "line 1, sort"),
        (("family,I have <n> sons.,,,20,50,,,\n", ""), "families"),
        (("name,Mara", "head,i repair  bicycles,,,1,2,female,,\nname,Mara"), "line 4, text"),
        (("female,30,\nname", "female,30,,,,,,,\nname"), "line 4"),
    ],
)
def test_a_bad_csv_file_is_refused_by_line_and_field(change: tuple[str, str], place: str) -> None:
    text = HEADER + ROWS
    assert change[0] in text
    with pytest.raises(InventoryProblem, match=f"^{place}: "):
        read_csv(text.replace(*change, 1))


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("heads",), 3, "heads"),
        (("heads", 0), [], r"heads\[0\]"),
        (("heads", 1, "text"), " ", r"heads\[1\].text"),
        (("heads", 1, "text"), "I REPAIR bicycles", r"heads\[1\].text"),
        (("heads", 1, "end_age"), 19, r"heads\[1\].end_age"),
        (("heads", 0, "start_age"), True, r"heads\[0\].start_age"),
        (("heads", 0, "genders"), [], r"heads\[0\].genders"),
        (("heads", 0, "tails"), {"habits": []}, r"heads\[0\].tails.habits"),
        (("heads", 0, "negative"), "no", r"heads\[0\].negative"),
        (("names", 0, "names"), "Ann", r"names\[0\].names"),
        (("names", 1, "generation"), 20, "names"),
        (("families", 0, "text"), None, r"families\[0\].text"),
        (("cousins",), [], "cousins"),
    ],
)
def test_a_bad_json_file_is_refused_by_its_path(path: tuple[Any, ...], value: Any, place: str) -> None:
    data: Any = inventory_json(EXAMPLE)
    target = data
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(InventoryProblem, match=f"^{place}: "):
        inventory_record(data)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b'{"heads": [}', "line 1: No JSON"),
        ("a.json", b"[]", "Write an object"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.csv", b"kind,text\nhead,\xff", "line 2: The text is not UTF-8"),
        ("a.csv", b'kind,text\nhead,"open', "No CSV"),
        ("a.csv", b"", "line 1, kind: The column is missing"),
    ],
)
def test_a_file_that_is_none_is_refused(name: str, content: bytes, message: str) -> None:
    with pytest.raises(InventoryProblem, match=message):
        read(name, content)


# Gendered words.


@pytest.mark.parametrize(
    ("text", "filtered"),
    [
        ("I am a policeman.", "I am a police officer."),
        ("I am a police man", "I am a police officer"),
        ("I met an alderwoman and an actress.", "I met a council member and an actor."),
        ("Firemen and waitresses", "Firefighters and servers"),
        ("I am a seamstress; my sister was a stewardess", "I am a tailor; my sister was a flight attendant"),
        ("Saleswomen like a Heiress", "Salespeople like an Heir"),
        ("I am human and a woman.", "I am human and a woman."),
    ],
)
def test_gendered_words_are_replaced_with_their_article_and_number(text: str, filtered: str) -> None:
    assert filter_gendered(text).text == filtered


def test_gendered_words_without_an_alternative_stay_and_are_named() -> None:
    result = filter_gendered("I am a nun and an actress.")
    assert (result.text, result.remaining) == ("I am a nun and an actor.", ("nun",))
    assert result.replaced == (("actress", "actor"),)


# Contradictions: each rule with an example, and with one that is none.


@pytest.mark.parametrize(
    ("rule", "sentences", "flagged"),
    [
        ("work_years", ["I worked for a company for 20 years."], (0,)),
        ("work_years", ["I have twenty-two years of experience."], (0,)),
        ("work_years", ["I have been a baker for 12 years."], (0,)),
        ("work_years", ["I have been a baker for 11 years."], None),
        ("work_years", ["My house is 200 years old.", "I have known her for 20 years."], None),
        ("marital_states", ["I am married.", "I like tea.", "My ex-wife lives in Rome."], (0, 2)),
        ("marital_states", ["I'm single.", "My husband cooks."], (0, 1)),
        ("marital_states", ["My late husband sang.", "I am engaged to be married."], (0, 1)),
        ("marital_states", ["My wife cooks.", "I am happily married."], None),
        ("home_towns", ["I am from New York.", "I grew up in San Diego."], (0, 1)),
        ("home_towns", ["I was born in Oslo.", "I come from Bergen, Norway."], (0, 1)),
        ("home_towns", ["I am from Oslo.", "I grew up in Oslo.", "I am from a big family."], None),
        ("home_towns", ["I was born in 1985.", "I am from Oslo."], None),
        ("other_age", ["I'm 25 years old.", "I am 40."], (1,)),
        ("other_age", ["I am a 33-year-old nurse."], (0,)),
        ("other_age", ["I'm in my thirties."], (0,)),
        ("other_age", ["When I was thirty I moved."], (0,)),
        ("other_age", ["I'm 25 years old.", "When I was 12 I sang.", "I am in my twenties."], None),
        ("other_age", ["I am 3 times a champion."], None),
    ],
)
def test_contradictions_of_a_persona_of_25(
    rule: str, sentences: list[str], flagged: tuple[int, ...] | None
) -> None:
    flags = [flag for flag in contradictions(sentences, 25) if flag.rule == rule]
    assert [flag.sentences for flag in flags] == ([] if flagged is None else [flagged])


def test_a_flag_says_why_and_quotes_the_sentence() -> None:
    (flag,) = contradictions(["I have worked for 30 years."], 40)
    assert flag.message == "30 years of work do not fit the age of 40: “I have worked for 30 years.”"


def test_rules_read_long_hostile_sentences_in_linear_time() -> None:
    hostile = "I am from " + "A " * 20_000 + "I was twenty- " * 2_000 + "my husband " * 2_000
    contradictions([hostile], 30)
    filter_gendered("a " * 20_000 + "police  " * 4_000)


# Outcomes of reviews.

FINE = {"consistent": 1, "negative": 0}
WRONG = {"consistent": 0, "negative": 0}


def negative(head: str) -> dict[str, Any]:
    """Return the answers of somebody who finds a head negative."""
    return {"consistent": 1, "negative": 1, "negative_head": head}


@pytest.mark.parametrize(
    ("answers", "decision"),
    [
        ([], "undecided"),
        ([FINE], "undecided"),
        ([FINE, FINE], "accepted"),
        ([FINE, WRONG], "undecided"),
        ([FINE, negative("first")], "undecided"),
        ([WRONG, WRONG], "rejected"),
        ([WRONG | {"corrected_text": "I am Bo."}, WRONG | {"corrected_text": " i am  BO."}], "corrected"),
        ([WRONG | {"corrected_text": "I am Bo."}, WRONG], "corrected"),
        ([WRONG | {"corrected_text": "I am Bo."}, WRONG | {"corrected_text": "I am Al."}], "undecided"),
        ([WRONG | {"corrected_text": "x" * 501}, WRONG], "undecided"),
        ([negative("first"), negative("both")], "rejected"),
        ([negative("first"), negative("second")], "undecided"),
    ],
)
def test_two_people_decide(answers: list[dict[str, Any]], decision: str) -> None:
    reviews = [Review(f"r{number}", row) for number, row in enumerate(answers)]
    assert outcome(reviews).decision == decision


def test_negative_heads_are_those_that_all_reviewers_name() -> None:
    reviews = [Review("a", negative("both")), Review("b", negative("second"))]
    assert outcome(reviews).negative_heads == (1,)


def test_an_adjudicated_review_overrides_the_others() -> None:
    reviews = [Review("a", FINE), Review("b", WRONG), Review("adjudication", FINE, adjudicated=True)]
    assert outcome(reviews).decision == "accepted"


def test_sentences_are_lines_or_the_parts_of_one_line() -> None:
    assert sentences_of("I am Bo.\r\n\n  I sing. Loudly.\n") == ("I am Bo.", "I sing. Loudly.")
    assert sentences_of("I am Bo. I sing!  Do I?") == ("I am Bo.", "I sing!", "Do I?")
    assert sentences_of(" ") == ()


# Groups of personas.


@pytest.mark.parametrize("participants", [2, 3, 6])
def test_each_persona_is_used_by_its_rule(participants: int) -> None:
    made = group(range(1, 24), participants, 3, 5)
    uses = Counter(number for members in made.groups for number in members)
    assert all(len(set(members)) == participants for members in made.groups)
    assert max(uses.values()) == 3
    assert {number for number in range(1, 24) if uses[number] < 3} == set(made.rest)
    assert group(range(1, 24), participants, 3, 5) == made != group(range(1, 24), participants, 3, 6)


def test_nobody_meets_twice_while_there_is_somebody_new() -> None:
    made = group(range(20), 2, 4, 0)
    pairs = [frozenset(members) for members in made.groups]
    repeated = len(pairs) - len(set(pairs))
    assert (len(pairs), repeated) == (40, 0)
