"""A prompt's file gives the same text on import; an invalid file is refused with the place."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judges.errors import JudgeError
from judges.models import Prompt
from judges.prompts import files, prompt_actions, versions
from judges.prompts.versions import Version
from judges.protocols import Wording
from tests.judges.test_prompt_versions import KINDER, own

ODD = (
    'A: "b" # c\n  two  \n\n\ttab \\ $$\n## User\n\\## System\n---\n...\n- x: [y, {z}]\n'
    "!tag &a *a\u2028\x85\r end\n\n"
)
EXAMPLE = {
    "key": "d/c/1",
    "corpus": "c",
    "cluster": "d",
    "shown": "<<<BEGIN RESPONSE>>>\n| Ana: 'yes': \"no\" \u2028 # x\n<<<END RESPONSE>>>",
    "reply": "overall - 4",
    "how": "by hand; mean of 2",
    "about": ["'yes'", "null", "1.5", "2026-01-01", "", " "],
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)


def version(wording: Wording) -> Version:
    return Version("kinder", 1, "cpdscore_simple", "without_reference", wording)


def back(text: str) -> Wording:
    return files.read(text.encode()).versions[0].wording


@pytest.mark.parametrize("write", [lambda one: files.as_yaml([one]), files.as_markdown], ids=["yaml", "md"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(system=TEXTS | st.just(ODD), user=TEXTS | st.just(ODD))
def test_what_is_written_is_read_again_to_the_digest(write: object, system: str, user: str) -> None:
    system, user = (text.replace("\r\n", "\n").replace("$", "$$") for text in (system, user))
    system, user = system.replace("\r", ""), user.replace("\r", "")  # refused in a text
    wording = Wording(f"{system}$notice", f"$response\n{user}", "", (EXAMPLE,), {"rule": "by_hand", "n": 1})
    assert back(write(version(wording))).digest() == wording.digest()  # type: ignore[operator]


def test_a_file_may_be_written_by_hand() -> None:
    made = """---
concord_prompt: 1
name: short
protocol: cpdscore_simple
variant: without_reference
note: by hand
---
## System
$notice
## User
$response
"""
    read = files.read(made.encode())
    assert (read.name, read.versions[0].note) == ("short", "by hand")
    assert read.versions[0].wording == Wording("$notice", "$response")


@pytest.mark.django_db
def test_a_prompt_with_its_versions_comes_back_under_its_name_and_again_changes_nothing() -> None:
    first = own()
    prompt_actions.add_version(
        by=None, prompt=first.prompt, wording=Wording("$notice", "$response"), parent="kinder@1"
    )
    text = files.as_yaml(map(versions.version_of, first.prompt.versions.all()), "kind").encode()
    assert prompt_actions.import_file(by=None, content=text) == []
    made = prompt_actions.import_file(by=None, content=text, name="theirs")
    assert [(one.number, one.parent, one.origin) for one in made] == [
        (1, "", "imported"),
        (2, "theirs@1", "imported"),
    ]
    assert versions.find("theirs@1").wording == KINDER
    assert versions.find("theirs@2").wording.digest() == versions.find("kinder@2").wording.digest()
    assert Prompt.objects.get(name="theirs").description == "kind"


GOOD = yaml.safe_load(files.as_yaml([version(KINDER)]))


def changed(**changes: object) -> str:
    return yaml.safe_dump(GOOD | changes, sort_keys=False)


def with_text(**changes: object) -> str:
    return changed(versions=[GOOD["versions"][0] | changes])


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nversions: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, r"line 1: anchors and aliases"),
        ("versions: !!python/object/apply:os.system [ls]", r"line 1: the tag .* is not read"),
        ("versions: " + "[" * 5000, r"line 1: (nested|not valid YAML)"),
        ("versions:\n" + "- x\n" * 60_000, r"more than 50,000 parts"),
        ("x" * (2**20 + 1), r"more than 1 MiB"),
        ("versions: [\n", r"line 2: not valid YAML"),
        ("", r"line 1: a prompt's file has"),
        ("name: a\nname: b\nversions: []", r"line 2: 'name' is there twice"),
        ("---\nname: x\n## System\n\n## User\n", r"line 1: the front matter has no end"),
        ("---\nname: x\n---\n\n## System\n\nHi.\n", r"line 4: the parts ## System and ## User must follow"),
        (changed(concord_prompt=2), r"line 1: concord_prompt is 2; this release reads 1"),
        (changed(protocol="psychic"), r"line 3: there is no protocol 'psychic'"),
        (changed(variant="upside_down"), r"line 4: variant is 'upside_down'"),
        (changed(name=["x"]), r"line 3: name is missing or not a text"),
        (changed(colour="red"), r"there is no field 'colour'"),
        (changed(versions=[]), r"versions is a list of 1 to 500"),
        (with_text(colour="red"), r"versions\[0\].colour: there is no such field"),
        (with_text(number=0), r"line 6: versions\[0\].number: '0' is not a version's number"),
        (
            with_text(user="$contxt"),
            r"versions\[0\].user: The user part, line 1: there is no variable \$contxt",
        ),
        (with_text(system=""), r"\$notice is missing"),
        (
            with_text(examples=[{"shown": "no"}]),
            r"versions\[0\].examples: Example 1: the field key is missing",
        ),
        (with_text(form="telegram"), r"versions\[0\].form: 'telegram' is not one of its forms"),
        ("\udcff", r"line 1: the file is not in UTF-8"),
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_a_file_that_is_none_says_where(text: str, told: str) -> None:
    with pytest.raises(JudgeError, match=told):
        files.read(text.encode("utf-8", "surrogateescape"))


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["../up", "a/b", "new", "x@1"])
def test_a_name_that_cannot_be_is_refused_and_nothing_is_kept(name: str) -> None:
    with pytest.raises(JudgeError, match="name"):
        prompt_actions.import_file(by=None, content=changed(name=name).encode())
    assert not Prompt.objects.exists()
