"""Inventories of personas, personas for review, and what members of a campaign write: chats and responses."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

LONGEST_NAME = 100


class Inventory(models.Model):
    """Material of personas: given names and family sentences, as JSON; its heads are rows.

    `names` lists {"generation", "gender", "names"}, `families` lists {"text", "start_age", "end_age"}.
    """

    name = models.CharField(max_length=LONGEST_NAME, unique=True)
    names = models.JSONField()
    families = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "inventories"

    def __str__(self) -> str:
        return self.name


class PersonaHead(models.Model):
    """A head of an inventory, `number` counting from 1; `genders` is a list, `tails` are lists by slot.

    Draws skip `negative` heads.
    """

    inventory = models.ForeignKey(Inventory, on_delete=models.CASCADE, related_name="heads")
    number = models.PositiveIntegerField()
    text = models.CharField(max_length=300)
    start_age = models.PositiveSmallIntegerField()
    end_age = models.PositiveSmallIntegerField()
    genders = models.JSONField()
    tails = models.JSONField(default=dict)
    negative = models.BooleanField(default=False)

    class Meta:
        ordering = ["inventory", "number"]
        constraints = [
            models.UniqueConstraint(fields=["inventory", "number"], name="persona_head_number_once"),
            models.CheckConstraint(
                condition=Q(start_age__lte=F("end_age")), name="persona_head_ages_in_order"
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def ages(self) -> str:
        """Its ages, for people."""
        return f"{self.start_age}–{self.end_age}"


class PersonaSet(models.Model):
    """Personas drawn from an inventory by a seed.

    `inventory_sha256` identifies the material at that time. `corpus` has one dialogue without turns for each
    persona, for reviews; its name is that of the set. `dialogues` are the corpora of dialogues between them.
    """

    name = models.CharField(max_length=LONGEST_NAME, unique=True)
    inventory = models.ForeignKey(Inventory, on_delete=models.PROTECT, related_name="sets")
    inventory_sha256 = models.CharField(max_length=64)
    seed = models.BigIntegerField()
    corpus = models.OneToOneField("annotation.Corpus", on_delete=models.CASCADE, related_name="persona_set")
    dialogues = models.ManyToManyField("annotation.Corpus", related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def dialogue_names(self) -> list[str]:
        """Names of the corpora of dialogues between its personas."""
        return sorted(corpus.name for corpus in self.dialogues.all())


class Persona(models.Model):
    """A persona of a set, `number` counting from 1.

    `original` are the sentences as drawn and filtered, `sentences` the current ones. `gender` conditions the
    name; it is on no page, in no API response and in no corpus. `replaced` lists gendered words with their
    alternatives, `remaining` those without one, `flags` possible contradictions of the original sentences as
    {"rule", "sentences", "message"}. `reason` says why it was rejected.
    """

    class Status(models.TextChoices):
        DRAFT = "draft"
        ACCEPTED = "accepted"
        CORRECTED = "corrected"
        REJECTED = "rejected"

    set = models.ForeignKey(PersonaSet, on_delete=models.CASCADE, related_name="personas")
    number = models.PositiveIntegerField()
    first = models.ForeignKey(PersonaHead, null=True, on_delete=models.SET_NULL, related_name="+")
    second = models.ForeignKey(PersonaHead, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=300)
    age = models.PositiveSmallIntegerField()
    gender = models.CharField(max_length=30)
    original = models.JSONField()
    sentences = models.JSONField()
    replaced = models.JSONField(default=list)
    remaining = models.JSONField(default=list)
    flags = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["set", "number"]
        constraints = [
            models.UniqueConstraint(fields=["set", "number"], name="persona_number_once"),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "accepted", "corrected", "rejected"]),
                name="persona_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"persona {self.number} of {self.set_id}"

    @property
    def key(self) -> str:
        """Id of its dialogue in the corpus of the reviews."""
        return f"persona-{self.number}"


# Conversations of members of a campaign. Triggers keep them: see migrations/chats.sql and replies.sql.


class ChatPlan(models.Model):
    """How members of a campaign of form `chat` talk: `participants` (2 to 6) write `exchanges` turns each.

    The `partner` of a person is other people, or a system, or two systems whose replies the person chooses
    from at each turn (`arena`). With systems there are two participants, of whom `first` begins.

    With `turn_order` alternate they write one after the other, the first person first; with free anybody may
    write next, up to `exchanges` * `participants` turns in all. A turn has 1 to `most_characters` characters.
    Whoever is expected to write is reminded after `remind_minutes`; after `idle_minutes` without a turn the
    chat is abandoned.
    """

    class Order(models.TextChoices):
        ALTERNATE = "alternate", "In turn, the first person first"
        FREE = "free", "Anybody may write next"

    class Partner(models.TextChoices):
        PEOPLE = "people", "Other people"
        SYSTEM = "system", "A system"
        ARENA = "arena", "Two systems: the person picks one of two replies at each turn"

    class First(models.TextChoices):
        PERSON = "person", "The person"
        SYSTEM = "system", "The system"

    campaign = models.OneToOneField("annotation.Campaign", on_delete=models.CASCADE, related_name="chat_plan")
    partner = models.CharField(max_length=10, choices=Partner, default=Partner.PEOPLE)
    first = models.CharField(max_length=10, choices=First, default=First.PERSON)
    participants = models.PositiveSmallIntegerField(default=2)
    turn_order = models.CharField(max_length=10, choices=Order, default=Order.ALTERNATE)
    exchanges = models.PositiveSmallIntegerField(default=7)
    most_characters = models.PositiveIntegerField(default=500)
    remind_minutes = models.PositiveSmallIntegerField(default=5)
    idle_minutes = models.PositiveSmallIntegerField(default=15)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    participants__range=(2, 6),
                    turn_order__in=["alternate", "free"],
                    exchanges__range=(1, 100),
                    most_characters__range=(1, 10_000),
                    remind_minutes__gte=1,
                    idle_minutes__gt=F("remind_minutes"),
                ),
                name="chat_plan_known",
            ),
            models.CheckConstraint(
                condition=Q(partner="people", first="person")
                | Q(
                    partner__in=["system", "arena"],
                    first__in=["person", "system"],
                    participants=2,
                    turn_order="alternate",
                ),
                name="chat_plan_partner_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participants} in {self.campaign_id}"

    @property
    def turns(self) -> int:
        """Number of turns of a complete chat."""
        return self.participants * self.exchanges

    @property
    def alternates(self) -> bool:
        """Whether the participants write one after the other."""
        return self.turn_order == self.Order.ALTERNATE

    @property
    def has_systems(self) -> bool:
        """Whether a person talks with systems."""
        return self.partner != self.Partner.PEOPLE

    @property
    def people(self) -> int:
        """Number of people in a conversation."""
        return 1 if self.has_systems else self.participants

    @property
    def systems(self) -> int:
        """Number of systems in a conversation."""
        return {self.Partner.PEOPLE: 0, self.Partner.SYSTEM: 1}.get(self.Partner(self.partner), 2)

    @property
    def system_seat(self) -> int:
        """Number of the participant that systems play; 0 between people."""
        return 0 if not self.has_systems else 1 if self.first == self.First.SYSTEM else 2


class ChatSystem(models.Model):
    """A system that members of a campaign talk with: `run` asks its model, and has its caps and costs.

    `spec` has the instructions, the model with its server and the sampling parameters; `fingerprint` is its
    SHA-256. All rows of a `system` have the same one.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="chat_systems")
    system = models.ForeignKey("annotation.System", on_delete=models.CASCADE, related_name="chat_systems")
    run = models.OneToOneField("jobs.Run", on_delete=models.CASCADE, related_name="chat_system")
    spec = models.JSONField()
    fingerprint = models.CharField(max_length=64)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "system"], name="chat_system_once")]

    def __str__(self) -> str:
        return f"system {self.system_id} in campaign {self.campaign_id}"


class Waiting(models.Model):
    """A member in the lobby of a campaign, `since` a time; `seen_at` is the last request of their page."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    since = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "user"], name="waiting_once")]

    def __str__(self) -> str:
        return f"{self.user_id} for {self.campaign_id}"


class Chat(models.Model):
    """A conversation about a task; a task has one that is open or finished, and any number of abandoned ones.

    `reason` says why it was abandoned, `report` what the person who reported it, or the researcher who ended
    it, wrote. `systems` are those that the person talks with. `last_at` is the time of the last turn, at
    first that of the start.
    """

    class State(models.TextChoices):
        OPEN = "open"
        FINISHED = "finished"
        ABANDONED = "abandoned"

    class Reason(models.TextChoices):
        LEFT = "left", "somebody left"
        REPORTED = "reported", "somebody reported it"
        IDLE = "idle", "nobody wrote for too long"
        ENDED = "ended", "a researcher ended it"
        CLOSED = "closed", "the campaign ended"
        FAILED = "failed", "the other side could not answer"

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="chats")
    task = models.ForeignKey("annotation.Task", on_delete=models.CASCADE, related_name="chats")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    reason = models.CharField(max_length=10, choices=Reason, blank=True)
    report = models.TextField(blank=True)
    systems = models.ManyToManyField(ChatSystem, related_name="chats")
    started_at = models.DateTimeField()
    last_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["task"], condition=Q(state__in=["open", "finished"]), name="chat_of_task_once"
            ),
            models.CheckConstraint(
                condition=Q(state="open", reason="", ended_at__isnull=True)
                | Q(state="finished", reason="", ended_at__isnull=False)
                | Q(
                    state="abandoned",
                    reason__in=["left", "reported", "idle", "ended", "closed", "failed"],
                    ended_at__isnull=False,
                ),
                name="chat_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"chat {self.pk} of {self.campaign_id}: {self.state}"


class ChatSeat(models.Model):
    """A side of a chat: participant `number`, from 1, of the task's dialogue, played by `user`.

    `user` and `assignment` are empty once that account is deleted, and where `is_system`. `seen_at` is the
    last request of their page, `typing_until` is set while they write. `is_open` follows the chat's state by
    a trigger, so that nobody is in two open chats at once, in whichever campaigns.
    """

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="chat_seats"
    )
    assignment = models.ForeignKey(
        "annotation.Assignment", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    is_system = models.BooleanField(default=False, db_default=False)
    seen_at = models.DateTimeField()
    typing_until = models.DateTimeField(null=True)
    is_open = models.BooleanField(default=True)

    class Meta:
        ordering = ["chat", "number"]
        constraints = [
            models.CheckConstraint(
                condition=Q(is_system=False) | Q(user__isnull=True, assignment__isnull=True),
                name="chat_seat_of_system_has_no_user",
            ),
            models.UniqueConstraint(fields=["chat", "number"], name="chat_seat_number_once"),
            models.UniqueConstraint(fields=["chat", "user"], name="chat_seat_user_once"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(is_open=True), name="chat_seat_one_open_a_person"
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of {self.chat_id}"


class ChatMessage(models.Model):
    """A turn of a chat, `number` from 1. Append-only; `key`, made by the client, tells repeated requests."""

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="messages")
    number = models.PositiveSmallIntegerField()
    seat = models.ForeignKey(ChatSeat, on_delete=models.CASCADE, related_name="messages")
    text = models.TextField()
    key = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        ordering = ["chat", "number"]
        constraints = [
            models.UniqueConstraint(fields=["chat", "number"], name="chat_message_number_once"),
            models.UniqueConstraint(fields=["seat", "key"], name="chat_message_key_once"),
        ]

    def __str__(self) -> str:
        return f"message {self.number} of {self.chat_id}"


class ChatReply(models.Model):
    """A system's reply for turn `number` of a chat, `place` 1 or 2 as the person sees them; `call` asks it.

    `text` is empty until the reply came, `at` the time of the last request or reply. `tries` counts how often
    it was asked for by the person or the chat. `is_picked`: it went on as the turn.
    """

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="replies")
    number = models.PositiveSmallIntegerField()
    place = models.PositiveSmallIntegerField()
    system = models.ForeignKey(ChatSystem, on_delete=models.CASCADE, related_name="replies")
    call = models.OneToOneField("jobs.Call", on_delete=models.CASCADE, related_name="chat_reply")
    tries = models.PositiveSmallIntegerField(default=1)
    text = models.TextField(blank=True)
    at = models.DateTimeField()
    is_picked = models.BooleanField(default=False)

    class Meta:
        ordering = ["chat", "number", "place"]
        constraints = [
            models.UniqueConstraint(fields=["chat", "number", "place"], name="chat_reply_place_once"),
            models.UniqueConstraint(fields=["chat", "number", "system"], name="chat_reply_system_once"),
            models.UniqueConstraint(
                fields=["chat", "number"], condition=Q(is_picked=True), name="chat_reply_picked_once"
            ),
            models.CheckConstraint(
                condition=Q(place__in=[1, 2]) & (Q(is_picked=False) | ~Q(text="")), name="chat_reply_known"
            ),
        ]

    def __str__(self) -> str:
        return f"reply {self.place} for turn {self.number} of {self.chat_id}"


# Written responses to fixed dialogues. Triggers keep them: see migrations/writing.sql.


class WritingPlan(models.Model):
    """What members of a campaign of form `write` see, and write: 1 to `most_characters` characters each.

    With `personas` both they see both speakers' personas, with own that of the one for whom they write. With
    `show_real`, what they wrote is shown beside the real reply once it is sent.
    """

    class Personas(models.TextChoices):
        BOTH = "both", "Both speakers' personas"
        OWN = "own", "Only that of the one for whom they write"

    campaign = models.OneToOneField(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="writing_plan"
    )
    personas = models.CharField(max_length=10, choices=Personas, default=Personas.BOTH)
    most_characters = models.PositiveIntegerField(default=500)
    show_real = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(personas__in=["both", "own"], most_characters__range=(1, 10_000)),
                name="writing_plan_known",
            ),
        ]

    def __str__(self) -> str:
        return f"writing in {self.campaign_id}"


class WriterNumber(models.Model):
    """The number of a person among the writers of a corpus, from 1, as in the system `human 1`.

    It is given with their first finished dialogue. `user` is empty once that account is deleted.
    """

    corpus = models.ForeignKey(
        "annotation.Corpus", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "user"], name="writer_numbered_once"),
            models.UniqueConstraint(fields=["corpus", "number"], name="writer_number_once"),
        ]

    def __str__(self) -> str:
        return f"human {self.number}"


class WrittenResponse(models.Model):
    """A member's response `number`, from 1, at `point`: the number of turns of the dialogue before it.

    Append-only; once all of a dialogue are there, they are also a continuation.
    """

    assignment = models.ForeignKey(
        "annotation.Assignment", on_delete=models.CASCADE, related_name="written_responses", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    point = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["assignment", "number"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "number"], name="written_number_once"),
            models.UniqueConstraint(fields=["assignment", "point"], name="written_point_once"),
        ]

    def __str__(self) -> str:
        return f"response {self.number} of {self.assignment_id}"
