"""A judge's text is data: validated on saving, frozen once used, and part of the judge's identity."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import Label
from judges.errors import JudgeError
from judges.models import PromptText, PromptVersion
from judges.prompts import prompt_actions, versions
from judges.protocols import Wording
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
SIMPLE = versions.find("cpdscore_simple_without_reference")
KINDER = Wording("You are kind.\n\n$notice", f"{SIMPLE.wording.user}\n\nBe kind.")


def own(name: str = "kinder", wording: Wording = KINDER) -> PromptVersion:
    return prompt_actions.create(
        by=None, name=name, protocol="cpdscore_simple", variant="without_reference", wording=wording
    )


def test_every_text_of_concord_is_a_version_that_can_be_found_and_copied() -> None:
    for version in versions.built_in():
        assert versions.find(version.ref) == versions.find(version.name) == version
        prompt_actions.copy(by=None, version=version, name=f"own {version.name}")
        copied = versions.find(f"own {version.name}")
        assert (copied.wording, copied.number, copied.is_built_in) == (version.wording, 1, False)
        assert copied.row is not None
        assert (copied.row.parent, copied.row.origin) == (version.ref, "copied")


@pytest.mark.parametrize(
    ("system", "user", "told"),
    [
        (
            "$notice",
            "$response $contxt",
            r"user part, line 1: there is no variable \$contxt; there are \$context, ",
        ),
        ("$notice", "rate it", r"\$response is missing: the response that is judged"),
        ("", "$response", r"\$notice is missing"),
        (
            "$notice",
            "$response\nfor $5",
            r"user part, line 2: a dollar sign without a variable's name; write \$\$",
        ),
        ("$notice", "  ", "The user part is empty"),
        ("$notice", "$response\n\r", "user part, line 2: a carriage return"),
        ("$notice" + "x" * 50_000, "$response", "system part has 50,007 characters; at most 50,000"),
    ],
)
def test_a_text_that_cannot_be_a_prompt_is_refused_with_its_place(system: str, user: str, told: str) -> None:
    with pytest.raises(JudgeError, match=told):
        own(wording=Wording(system, user))
    assert not PromptText.objects.exists()


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", "x@1", "-x", "y" * 101, "cpdscore_detail_without_reference"]
)
def test_a_prompt_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(JudgeError, match="name"):
        own(name)


def test_a_judge_asks_with_the_text_of_its_version_and_is_another_judge(fake: FakeLLM) -> None:
    own()
    corpus, endpoint = small_corpus(1), endpoint_of(fake)
    plain = Judge("cpdscore_simple", endpoint=endpoint).plan().rater
    run = begin(corpus, Judge(prompt="kinder@1", endpoint=endpoint))
    finish()
    assert run.rater != plain
    assert run.rater.name == "fake-1 (fake model) kinder@1"
    assert run.rater.spec["wording"] == KINDER.digest()
    assert run.rater.spec["prompt"] == "kinder@1"
    messages = fake.bodies[0]["messages"]
    assert messages[0]["content"].startswith("You are kind.")
    assert messages[1]["content"].endswith("Be kind.")
    assert Label.objects.filter(rater=run.rater).count() == 6 * 6


def test_a_text_of_concord_named_by_its_reference_is_the_judge_without_a_name(fake: FakeLLM) -> None:
    endpoint = endpoint_of(fake)
    named = Judge(prompt="cpdscore_simple_without_reference@1", endpoint=endpoint).plan().rater
    assert named == Judge("cpdscore_simple", endpoint=endpoint).plan().rater


def test_a_prompt_is_not_used_with_another_protocol(fake: FakeLLM) -> None:
    own()
    with pytest.raises(JudgeError, match="is for cpdscore_simple without_reference"):
        Judge("cpdscore_detail", endpoint=endpoint_of(fake), prompt="kinder").plan()
    with pytest.raises(JudgeError, match="There is no prompt 'kinder@7'"):
        Judge(prompt="kinder@7", endpoint=endpoint_of(fake, name="other")).plan()


def test_saving_the_same_text_again_makes_no_version_and_another_text_the_next() -> None:
    first = own()
    same = prompt_actions.add_version(by=None, prompt=first.prompt, wording=KINDER)
    changed = prompt_actions.add_version(
        by=None, prompt=first.prompt, wording=Wording("$notice", "$response")
    )
    assert (same, changed.number) == (first, 2)
    assert versions.find("kinder").number == 2


def test_the_database_freezes_versions_and_keeps_what_a_judge_used(fake: FakeLLM) -> None:
    version = own()
    with pytest.raises(IntegrityError, match="it never changes"), transaction.atomic():
        PromptText.objects.update(user="$response, kindly")
    with pytest.raises(IntegrityError, match="it never changes"), transaction.atomic():
        PromptVersion.objects.update(number=9)
    Judge(prompt="kinder", endpoint=endpoint_of(fake)).plan()
    with pytest.raises(JudgeError, match="was used by a judge and stays"):
        prompt_actions.delete(by=None, version=version)
    for table in ("judges_promptversion", "judges_prompttext"):
        with pytest.raises(IntegrityError, match="a judge has used it"), transaction.atomic():
            connection.cursor().execute(f"DELETE FROM {table}")


def test_a_version_that_nobody_used_can_go_and_takes_its_text_with_it() -> None:
    prompt_actions.delete(by=None, version=own())
    assert not PromptText.objects.exists()
    assert not PromptVersion.objects.exists()


def test_only_what_a_text_names_is_made() -> None:
    made: list[str] = []
    values = {name: (lambda name=name: made.append(name) or name) for name in ("notice", "response", "facts")}
    prompt = Wording("$notice", "$response costs $$5").fill(values)
    assert (prompt.system, prompt.user) == ("notice", "response costs $5")
    assert sorted(made) == ["notice", "response"]
