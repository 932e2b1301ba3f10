"""Setting a campaign up on one page: defaults from the data, questions written in place, and Start."""

import pytest
from django.urls import reverse

from annotation import scheme_actions
from annotation.models import Campaign, Scheme
from annotation.schemes import files
from tests import factories

pytestmark = pytest.mark.django_db

PEOPLE = [{"id": "A", "name": "Ana", "role": "user"}, {"id": "B", "name": "Ben", "role": "assistant"}]
POLITE = {
    "scheme": "polite",
    "title": "Politeness",
    "item_kind": "turn",
    "unit": "item",
    "questions": [{"key": "polite", "wording": "How polite?", "level": "ordinal", "values": [1, 2, 3]}],
}


@pytest.fixture
def rosa(client):
    rosa = factories.user("rosa", researcher=True)
    client.force_login(rosa)
    return rosa


@pytest.fixture
def corpus():
    corpus = factories.corpus("chats")
    for key in ("d1", "d2"):
        factories.dialogue(corpus, key, turns=4, participants=PEOPLE)
    return corpus


def address_of(corpus):
    return f"{reverse('new-campaign')}?corpus={corpus.pk}"


def as_shown(client, corpus):
    """Return what the form sends as it is first shown."""
    context = client.get(address_of(corpus)).context
    form, draft = context["form"], context["draft"]
    data = {name: form[name].value() for name in form.fields}
    data = {name: value for name, value in data.items() if value is not None and value is not False}
    data["shows"] = [name for name, _ in form.fields["shows"].choices if name in data["shows"]]
    data |= {"item_kind": draft.item_kind, "unit": draft.unit, "question": [q.uid for q in draft.questions]}
    for question in draft.questions:
        data |= {f"{question.uid}-{part}": getattr(question, part) for part in ("wording", "kind", "tags")}
        data |= {f"{question.uid}-was": question.kind, f"{question.uid}-required": "on"}
        data[f"{question.uid}-value"] = [value for value, _ in question.values]
        data[f"{question.uid}-anchor"] = [text for _, text in question.values]
    return data


def test_a_scale_and_three_tags_for_the_bots_turns_are_started_with_one_click(client, rosa, corpus):
    ann, ben = factories.user("ann"), factories.user("ben")
    factories.user("boss", administrator=True)
    tags = "Rude: not polite\r\nOff topic\r\nRepeats itself: says again what was said"
    sent = as_shown(client, corpus) | {"q1-wording": "How helpful is it?", "q2-tags": tags}
    answer = client.post(address_of(corpus), sent | {"do": "start"})
    campaign = Campaign.objects.get()
    assert answer.url == reverse("campaign", args=[campaign.pk])
    assert (campaign.name, campaign.state, campaign.raters_per_item) == ("chats ratings", "open", 2)
    assert campaign.speakers == ["assistant"]
    assert campaign.tasks.count() == 4
    assert {member.user for member in campaign.members.all()} == {ann, ben}
    questions = campaign.scheme_version.questions.order_by("position")
    assert [question.key for question in questions] == [
        *("how_helpful_is_it", "rude", "off_topic", "repeats_itself")
    ]
    assert campaign.scheme_version.scheme.title == "chats ratings"
    # The next campaign has another name, and asks the same by default.
    form = client.get(address_of(corpus)).context["form"]
    assert (form["name"].value(), form["scheme"].value()) == ("chats ratings 2", "chats_ratings@1")


def test_the_newest_own_scheme_comes_first_and_is_chosen(client, rosa, corpus):
    for key in ("zeal", "polite"):
        scheme_actions.create(by=rosa, definition=files.definition_from(POLITE | {"scheme": key}))
    form = client.get(address_of(corpus)).context["form"]
    assert form["scheme"].value() == "polite@1"
    (new, _), (heading, own), *_ = form.fields["scheme"].choices
    assert (new, heading, [ref for ref, _ in own]) == ("new", "Your own", ["polite@1", "zeal@1"])


def test_without_annotators_a_researcher_rates_alone(client, rosa, corpus):
    form = client.get(address_of(corpus)).context["form"]
    assert form["annotators"].value() == [rosa.pk]
    assert form["raters_per_item"].value() == 1


def test_a_name_that_would_reveal_a_system_is_not_proposed(client, rosa):
    corpus = factories.corpus("GPT-4o-mini")
    factories.dialogue(corpus, turns=2, system="GPT-4o-mini")
    assert client.get(address_of(corpus)).context["form"]["name"].value() == ""


def test_a_question_that_is_not_complete_stores_nothing_and_keeps_what_was_typed(client, rosa, corpus):
    sent = as_shown(client, corpus) | {"q1-wording": "", "q2-tags": "Rude: not polite", "name": "Typed"}
    answer = client.post(address_of(corpus), sent | {"do": "start"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Complete the questions below." in page
    assert "Rude: not polite</textarea>" in page
    assert 'value="Typed"' in page
    assert not Campaign.objects.exists()
    assert not Scheme.objects.filter(own=True).exists()


def test_a_start_that_is_refused_leaves_neither_scheme_nor_campaign(client, rosa, corpus):
    sent = as_shown(client, corpus) | {"sample_dialogues": 3}
    answer = client.post(address_of(corpus), sent | {"do": "start"})
    assert answer.status_code == 422
    assert "3 dialogues are to be drawn, but only 2 can be rated" in answer.content.decode()
    assert not Campaign.objects.exists()
    assert not Scheme.objects.filter(own=True).exists()
    client.post(address_of(corpus), sent | {"do": "create", "sample_dialogues": 2})
    assert Campaign.objects.get().state == "draft"


def test_without_a_script_a_button_of_the_questions_keeps_the_campaigns_fields(client, rosa, corpus):
    sent = as_shown(client, corpus) | {"name": "Typed", "speakers": ["user"], "do": "add"}
    answer = client.post(address_of(corpus), sent)
    assert answer.status_code == 200
    assert len(answer.context["draft"].questions) == 3
    assert answer.context["form"]["name"].value() == "Typed"
    assert answer.context["form"]["speakers"].value() == ["user"]
    assert "This field is required" not in answer.content.decode()
    assert not Campaign.objects.exists()


def test_the_preview_shows_the_chosen_scheme_about_the_speakers_turns(client, rosa, corpus):
    scheme_actions.create(by=rosa, definition=files.definition_from(POLITE | {"unit": "continuation"}))
    sent = as_shown(client, corpus) | {"scheme": "polite@1", "example": corpus.pk}
    page = client.post(reverse("scheme-preview"), sent | {"speakers": ["assistant", "nobody\x00"]})
    assert "How polite?" in page.content.decode()
    assert len(page.context["state"]["task"]["items"]) == 2
    page = client.post(reverse("scheme-preview"), sent | {"scheme": "new"})
    assert "How good is this turn?" in page.content.decode()


def test_a_draft_shows_its_first_task(client, rosa, corpus):
    draft = factories.campaign(corpus, by=rosa, opened=False)
    page = client.get(reverse("campaign", args=[draft.pk]))
    first = reverse("campaign-preview-task", args=[draft.pk, 1])
    assert f'src="{first}"' in page.content.decode()
    assert "frame-src 'self'" in page["Content-Security-Policy"]


def test_the_api_tells_the_same_defaults(client, rosa, corpus):
    factories.user("ann")
    answer = client.get(reverse("api-campaign-defaults", args=["chats"])).json()
    assert answer == {
        "name": "chats ratings",
        "scheme": "",
        "speakers": ["assistant"],
        "speaker_choices": ["assistant", "user"],
        "annotators": ["ann"],
        "raters_per_item": 1,
    }
