"""Pages and API of personas: import, edit, draw, review and make dialogues, with refusals at their fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Corpus
from suites.collecting.inventories import inventory_json
from suites.collecting.models import Inventory, PersonaHead, PersonaSet
from tests import factories
from tests.suites.collecting.inventories import INVENTORY, draw_set, store

pytestmark = pytest.mark.django_db

CSV = """kind,text,head,slot,start_age,end_age,genders,generation,negative
head,I repair bicycles,,,18,60,female;male,,
tail,I am patient,I repair bicycles,characteristic,,,,,
head,I run marathons,,,20,50,female,,
name,Mara,,,,,female,0,
name,Liam,,,,,male,0,
family,I have a dog.,,,18,60,,,
"""


def page(client: Client, name: str, *args: Any) -> str:
    response = client.get(reverse(name, args=args))
    assert response.status_code == 200
    return response.content.decode()


def send(client: Client, method: str, name: str, /, *args: Any, **body: Any) -> Any:
    address = reverse(name, args=args)
    return getattr(client, method)(address, json.dumps(body), content_type="application/json")


def test_an_inventory_is_imported_on_a_page_and_its_heads_are_edited(signed_in: Client) -> None:
    assert "No inventory yet" in page(signed_in, "personas")
    file = SimpleUploadedFile("cast.csv", CSV.encode())
    response = signed_in.post(reverse("import-personas"), {"name": "cast", "file": file})
    stored = Inventory.objects.get()
    assert response.headers["Location"] == reverse("persona-inventory", args=[stored.pk])
    assert "I run marathons" in page(signed_in, "persona-inventory", stored.pk)
    assert "I am patient" in page(signed_in, "persona-head", stored.pk, 1)
    assert "Remove this head" in page(signed_in, "persona-head", stored.pk, 1)
    form = {
        "text": "I repair old bicycles",
        "start_age": "18",
        "end_age": "55",
        "genders": "female; male",
        "characteristic": "I am patient\nI like oil",
        "negative": "on",
    }
    signed_in.post(reverse("persona-head", args=[stored.pk, 1]), form)
    head = PersonaHead.objects.get(inventory=stored, number=1)
    assert (head.text, head.end_age, head.negative) == ("I repair old bicycles", 55, True)
    assert head.tails == {"characteristic": ["I am patient", "I like oil"]}
    assert "at least two heads" in page(signed_in, "persona-inventory", stored.pk)
    refused = signed_in.post(
        reverse("new-persona-head", args=[stored.pk]), form | {"text": "I RUN marathons"}
    )
    assert refused.status_code == 422
    assert "Another head has the same text." in refused.content.decode()
    refused = signed_in.post(reverse("persona-head", args=[stored.pk, 1]), form | {"end_age": "17"})
    assert "The end is before the start." in refused.content.decode()
    signed_in.post(reverse("persona-head", args=[stored.pk, 1]), form | {"remove": "on"})
    assert stored.heads.count() == 1


def test_a_bad_file_is_refused_by_line_and_field_and_nothing_is_kept(signed_in: Client) -> None:
    file = SimpleUploadedFile("cast.csv", CSV.replace("20,50", "20,fifty").encode())
    response = signed_in.post(reverse("import-personas"), {"name": "cast", "file": file})
    assert response.status_code == 422
    assert "line 4, end_age: Give a whole number from 0 to 120." in response.content.decode()
    assert not Inventory.objects.exists()


def test_names_and_family_sentences_are_edited_line_by_line(signed_in: Client) -> None:
    stored = store()
    address = reverse("persona-texts", args=[stored.pk])
    assert "30 female: Mara" in page(signed_in, "persona-texts", stored.pk)
    form = {"names": "0 female: Ida, Ada\n0 male: Bo", "families": "0-99: I have <n> cats."}
    signed_in.post(address, form)
    stored.refresh_from_db()
    assert stored.names[0] == {"generation": 0, "gender": "female", "names": ["Ida", "Ada"]}
    assert stored.families == [{"text": "I have <n> cats.", "start_age": 0, "end_age": 99}]
    refused = signed_in.post(address, form | {"names": "0 female: Ida\nfemale: Ada"})
    assert "Line 2 is not of the form" in refused.content.decode()
    refused = signed_in.post(address, form | {"families": "50-20: I have a dog."})
    assert "Line 1, end_age: The end is before the start." in refused.content.decode()


def test_personas_are_drawn_reviewed_and_grouped_on_pages(signed_in: Client) -> None:
    stored = store()
    address = reverse("draw-personas", args=[stored.pk])
    assert signed_in.post(address, {"name": "cast", "count": "0", "seed": "1"}).status_code == 422
    signed_in.post(address, {"name": "cast", "count": "4", "seed": "1"})
    cast = PersonaSet.objects.get()
    assert "I run marathons." in page(signed_in, "persona-set", cast.pk)
    assert "cast" in page(signed_in, "personas")
    response = signed_in.post(reverse("review-personas", args=[cast.pk]))
    campaign = Campaign.objects.get()
    assert response.headers["Location"] == reverse("campaign", args=[campaign.pk])
    assert campaign.scheme_version.scheme.key == "persona_review"
    assert campaign.name in page(signed_in, "persona-set", cast.pk)
    signed_in.post(reverse("apply-persona-reviews", args=[cast.pk]))
    for number in range(1, 5):
        assert "As drawn" in page(signed_in, "persona", cast.pk, number)
        signed_in.post(reverse("persona", args=[cast.pk, number]), {"status": "accepted"})
    refused = signed_in.post(reverse("persona", args=[cast.pk, 1]), {"status": "corrected"})
    assert refused.status_code == 422
    address = reverse("persona-dialogues", args=[cast.pk])
    form = {"name": "talks", "participants": "2", "uses": "1", "seed": "0"}
    assert signed_in.post(address, form | {"participants": "7"}).status_code == 422
    response = signed_in.post(address, form)
    assert response.headers["Location"] == reverse("corpus", args=["talks"])
    assert Corpus.objects.get(name="talks").dialogues.count() == 2
    assert "talks" in page(signed_in, "persona-set", cast.pk)
    assert "Personas" in page(signed_in, "corpora")


def test_texts_of_an_inventory_are_never_markup(signed_in: Client) -> None:
    stored = store("<b>bold")
    stored.heads.filter(number=1).update(text="<script>alert(1)</script>")
    cast = draw_set(2)
    cast.personas.update(sentences=["<script>alert(1)</script>"], name="<i>Mara</i>", original=["<u>x</u>"])
    shown = [
        page(signed_in, "personas"),
        page(signed_in, "persona-inventory", stored.pk),
        page(signed_in, "persona-head", stored.pk, 1),
        page(signed_in, "persona-set", cast.pk),
        page(signed_in, "persona", cast.pk, 1),
    ]
    for markup in ("<b>bold", "<script>alert", "<i>Mara", "<u>x"):
        assert not any(markup in text for text in shown), markup


def test_an_inventory_is_downloaded_and_imported_again(signed_in: Client) -> None:
    stored = store()
    response = signed_in.get(reverse("persona-inventory-file", args=[stored.pk]))
    content = b"".join(response.streaming_content)
    assert json.loads(content) == inventory_json(INVENTORY)
    file = SimpleUploadedFile("again.json", content)
    signed_in.post(reverse("import-personas"), {"name": "again", "file": file})
    assert Inventory.objects.get(name="again").heads.count() == len(INVENTORY.heads)
    signed_in.post(reverse("remove-persona-inventory", args=[stored.pk]))
    assert not Inventory.objects.filter(pk=stored.pk).exists()


def test_everything_is_done_by_the_api(signed_in: Client) -> None:
    answer = send(
        signed_in, "post", "api-persona-inventories", name="cast", inventory=inventory_json(INVENTORY)
    )
    assert answer.status_code == 201, answer.content
    pk = answer.json()["id"]
    assert [row["number"] for row in answer.json()["heads"]] == [1, 2, 3, 4]
    assert send(signed_in, "post", "api-persona-inventories", name="csv", csv=CSV).json()["gaps"] == []
    refused = send(signed_in, "post", "api-persona-inventories", name="bad", csv=CSV.replace("tail", "tale"))
    assert refused.json()["fields"] == {"csv": ["line 3, kind: Give head, tail, name or family."]}
    assert send(signed_in, "post", "api-persona-inventories", name="none").status_code == 400
    head = {"text": "I sail", "start_age": 20, "end_age": 40, "genders": ["female"]}
    assert send(signed_in, "post", "api-persona-heads", pk, **head).json()["number"] == 5
    changed = send(signed_in, "put", "api-persona-head", pk, 5, **head | {"negative": True})
    assert changed.json()["negative"] is True
    assert send(signed_in, "put", "api-persona-head", pk, 5, **head | {"end_age": 3}).status_code == 400
    assert signed_in.get(reverse("api-persona-head", args=[pk, 5])).json()["text"] == "I sail"
    assert signed_in.delete(reverse("api-persona-head", args=[pk, 5])).status_code == 204
    material = inventory_json(INVENTORY)
    texts = {"names": material["names"], "families": material["families"]}
    assert send(signed_in, "put", "api-persona-texts", pk, **texts).status_code == 200
    doubled = {**texts, "names": texts["names"] * 2}
    assert send(signed_in, "put", "api-persona-texts", pk, **doubled).status_code == 400

    answer = send(signed_in, "post", "api-persona-sets", inventory=pk, name="four", count=4, seed=3)
    cast = answer.json()
    assert (cast["corpus"], cast["dialogues"]) == ("four", [])
    assert signed_in.delete(reverse("api-persona-inventory", args=[pk])).status_code == 400
    people = signed_in.get(reverse("api-personas", args=[cast["id"]])).json()["results"]
    assert [row["number"] for row in people] == [1, 2, 3, 4]
    assert send(signed_in, "post", "api-review-personas", cast["id"]).json()["campaign"]
    preview = signed_in.get(reverse("api-persona-reviews", args=[cast["id"]])).json()
    assert (preview["unreviewed"], preview["reasons"]) == (4, [])
    assert send(signed_in, "post", "api-persona-reviews", cast["id"]).json() == preview
    decision = {"status": "corrected", "sentences": ["My name is Bo.", "I'm 33 years old."]}
    answer = send(signed_in, "patch", "api-persona", cast["id"], 1, **decision)
    assert (answer.json()["sentences"], answer.json()["age"]) == (decision["sentences"], 33)
    send(signed_in, "patch", "api-persona", cast["id"], 2, status="accepted")
    made = send(signed_in, "post", "api-persona-dialogues", cast["id"], name="talk", uses=1)
    assert made.json() == {"corpus": "talk", "dialogues": 1, "rest": []}
    assert signed_in.get(reverse("api-persona-set", args=[cast["id"]])).json()["dialogues"] == ["talk"]


def test_annotators_see_none_of_it(client: Client) -> None:
    cast = draw_set(2)
    client.force_login(factories.user())
    for name, args in (
        ("personas", []),
        ("persona-inventory", [cast.inventory_id]),
        ("persona-set", [cast.pk]),
        ("api-personas", [cast.pk]),
    ):
        assert client.get(reverse(name, args=args)).status_code == 403
