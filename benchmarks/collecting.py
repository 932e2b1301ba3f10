"""Twenty pairs of simulated people talk at once over HTTP, while web and worker processes are killed.

Personas are drawn and reviewed, and grouped into dialogues without turns. Then 40 people wait in the lobby,
talk, and answer about each conversation, over the addresses of the pages, with an event stream each, as
browsers do. They pause before each turn: a log-normal time with a median of 20 s (sigma 0.6, at most 90 s),
multiplied by `--scale`. Some requests lose their connection and are repeated with the same key, some streams
break and are opened again.

A delivery is the time from the first request with a turn, whose connection may have been lost or its process
killed, until the partner has read it because of an event. At last, annotators work with and without open
event streams of 100 other conversations, in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import math
import random
import socket
import statistics
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import _home, annotate
from config.embedded import supervisor
from config.embedded.layout import layout
from config.embedded.supervisor import Child

GOAL_MS = 1000.0
MEDIAN_SECONDS, SIGMA, LONGEST_SECONDS = 20.0, 0.6, 90.0
"""Pause before a turn, unscaled: log-normal."""
LOST, BROKEN = 0.1, 0.1
"""Chances that a connection breaks: that of a turn's request, and the stream's before a turn."""
RETRY_SECONDS, POLL_SECONDS, ASK_SECONDS, QUIET_SECONDS = 1.0, 1.0, 5.0, 15.0
"""As the page: until a stream is opened and a request sent again, between requests without a stream, in the
lobby, and with a stream.
"""
SCHEME = "comperdial_dialogue"
TASKS, ANNOTATORS, MOST_CYCLES = 10_000, 20, 400
PATIENCE = 120.0
SETTLED = supervisor.SETTLED + 0.5
"""Seconds from the start of a process until the next kill: it then starts again at once."""
LOOK_EVERY = 0.1


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks collecting", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, help="pairs at once (20)")
    parser.add_argument("--rounds", type=int, default=2, help="dialogues of each person (2)")
    parser.add_argument("--exchanges", type=int, default=7, help="turns of each person in a dialogue (7)")
    parser.add_argument("--scale", type=float, default=0.25, help="of the pauses (0.25)")
    parser.add_argument(
        "--kills", type=int, default=4, help="kills of web processes; half as many of workers (4)"
    )
    parser.add_argument("--streams", type=int, default=100, help="conversations open beside annotators (100)")
    parser.add_argument("--turns", type=int, default=10, help="measurements with and without them (10)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each of these (4)")
    parser.add_argument("--seed", type=int, default=0, help="of what people do (0)")
    parser.add_argument("--quick", action="store_true", help="3 pairs, 1 dialogue each, short pauses")
    options = parser.parse_args(list(argv))
    if options.quick:
        options.pairs, options.rounds, options.exchanges, options.kills = 3, 1, 4, 1
        options.scale, options.streams, options.turns, options.seconds = 0.1, 3, 1, 2.0
    with _home.home() as home:
        traffic = Traffic(home, options)
        asyncio.run(traffic.run())
        figures = traffic.figures()
        beside = _beside_annotators(options)
    return {
        "headline": {
            "name": f"p95 of the delivery of a turn at {options.pairs} pairs at once, ms",
            "value": figures["delivery_p95_ms"],
            "goal": GOAL_MS,
            "better": "lower",
        },
        **figures,
        "annotators_beside_open_conversations": beside,
        **{
            name: getattr(options, name)
            for name in ("pairs", "rounds", "exchanges", "scale", "kills", "seed")
        },
    }


@dataclass
class Visit:
    """A person's part in one conversation: their number, what they read, and every byte they received."""

    own: int = 0
    state: str = "open"
    texts: list[str] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)


@dataclass
class Book:
    """Of every turn, by conversation and number: when it was sent first, answered, and read; and its text."""

    sent: dict[tuple[int, int], float] = field(default_factory=dict)
    answered: dict[tuple[int, int], float] = field(default_factory=dict)
    read: dict[tuple[int, int], float] = field(default_factory=dict)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    pauses: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    lost_connections: int = 0
    broken_streams: int = 0


class Stream:
    """An event stream that is opened again after it breaks; `news` is set by each of its events."""

    def __init__(self, person: Person, path: str, received: list[bytes]) -> None:
        self.person, self.path, self.received = person, path, received
        self.news = asyncio.Event()
        self.is_open = False
        self._response: aiohttp.ClientResponse | None = None

    async def follow(self) -> None:
        """Read events until cancelled."""
        while True:
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                async with self.person.http.get(self.path, timeout=aiohttp.ClientTimeout(None)) as response:
                    self._response, self.is_open = response, response.status == 200
                    async for line in response.content:
                        self.received.append(line)
                        if line.startswith(b"data:") and b"typing" not in line:
                            self.news.set()
            self.is_open = False
            await asyncio.sleep(RETRY_SECONDS)

    def break_off(self) -> None:
        """Lose the connection; the stream is opened again."""
        if self._response is not None:
            self._response.close()

    async def wait(self, seconds: float) -> None:
        """Wait for news, or so long; without an open stream, as long as a page that asks again and again."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.news.wait(), seconds if self.is_open else POLL_SECONDS)
        self.news.clear()


class Person:
    """A simulated person in a browser: waits, talks, answers, until no conversation is left."""

    def __init__(self, http: aiohttp.ClientSession, traffic: Traffic, name: str) -> None:
        self.http, self.traffic, self.book, self.name = http, traffic, traffic.book, name
        self.random = random.Random(f"{traffic.options.seed} {name}")
        self.visits: dict[int, Visit] = {}

    async def live(self) -> None:
        """Take part until nothing is left to do."""
        while (chat := await self._partner()) is not None:
            await self._talk(chat)

    async def post(self, path: str, body: Any, received: list[bytes] | None = None) -> Any:
        """Send a request until it is answered, and return its JSON."""
        return await self._ask("POST", path, received, json=body)

    async def _ask(self, method: str, path: str, received: list[bytes] | None, **more: Any) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                async with self.http.request(method, path, **more) as response:
                    content = await response.read()
                    if received is not None:
                        received.append(content)
                    if response.status == 200:
                        is_json = response.content_type == "application/json"
                        return json.loads(content) if is_json else content
                    self.book.refused.append(f"{response.status} {path}: {content[:200]!r}")
            await asyncio.sleep(RETRY_SECONDS)
        raise RuntimeError(f"{path} was not answered within {PATIENCE:.0f} s: {self.book.refused[-1:]}")

    async def _partner(self) -> int | None:
        """Wait in the lobby for a conversation, answering about the last one first; None if none is left."""
        base = f"/chat/{self.traffic.campaign}/"
        async with self._stream(f"{base}events/", []) as stream:
            while True:
                place = await self.post(f"{base}wait/", {})
                if place["state"] == "chat":
                    return int(place["chat"])
                if place["state"] == "nothing":
                    return None
                if place["state"] == "task":
                    await self._answer()
                else:
                    await stream.wait(ASK_SECONDS)

    async def _answer(self) -> None:
        work = f"/work/{self.traffic.campaign}/"
        task = (await self.post(f"{work}next/", {}))["task"]
        answers = {str(item): {"overall": 3 + self.random.randrange(3)} for item in task["items"]}
        await self.post(f"{work}{task['assignment']}/submit/", {"answers": answers})

    @asynccontextmanager
    async def _stream(self, path: str, received: list[bytes]) -> AsyncIterator[Stream]:
        stream = Stream(self, path, received)
        task = asyncio.create_task(stream.follow())
        try:
            yield stream
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _talk(self, chat: int) -> None:
        visit = self.visits[chat] = Visit()
        base = f"/chat/{self.traffic.campaign}/{chat}/"
        await self._ask("GET", base, visit.received)
        async with self._stream(f"{base}events/", visit.received) as stream:
            while True:
                path = f"{base}state/?after={len(visit.texts)}"
                state = await self._ask("GET", path, visit.received)
                self._note(chat, visit, state)
                if state["state"] != "open":
                    visit.state = state["state"]
                    return
                if state["turn"] == state["own"]:
                    await self._take_turn(chat, visit, state, stream)
                else:
                    await stream.wait(QUIET_SECONDS)

    def _note(self, chat: int, visit: Visit, state: dict[str, Any]) -> None:
        visit.own = state["own"]
        for turn in state["messages"]:
            visit.texts.append(turn["text"])
            if turn["person"] != visit.own:
                self.book.read.setdefault((chat, turn["number"]), time.perf_counter())

    async def _take_turn(self, chat: int, visit: Visit, state: dict[str, Any], stream: Stream) -> None:
        """Pause, write, and send until the server has the turn."""
        from demo.collecting import utterance

        number = state["number"] + 1
        base = f"/chat/{self.traffic.campaign}/{chat}/"
        if self.random.random() < BROKEN:
            stream.break_off()
            self.book.broken_streams += 1
        pause = self.traffic.options.scale * pause_seconds(self.random)
        self.book.pauses.append(pause)
        await asyncio.sleep(pause / 2)
        await self.post(f"{base}typing/", {}, visit.received)
        await asyncio.sleep(pause / 2)
        text = utterance(state["persona"], number, state["total"], seed=f"{chat} {self.traffic.options.seed}")
        body = {"text": text, "key": f"{chat}-{number}"}
        self.book.texts[chat, number] = text
        self.book.sent[chat, number] = time.perf_counter()
        while self.random.random() < LOST:
            await self._lose(f"{base}send/", body)
        await self.post(f"{base}send/", body, visit.received)
        self.book.answered[chat, number] = time.perf_counter()

    async def _lose(self, path: str, body: Any) -> None:
        """Send a request, and lose its connection before the response."""
        self.book.lost_connections += 1
        with suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(self.random.uniform(0.0, 0.02)):
                await self.http.post(path, json=body)


def pause_seconds(draws: random.Random) -> float:
    """Return the pause of a person before a turn, unscaled, in seconds."""
    return min(LONGEST_SECONDS, draws.lognormvariate(math.log(MEDIAN_SECONDS), SIGMA))


class Traffic:
    """The campaign, the processes that serve it, and the people who talk in it."""

    def __init__(self, home: Path, options: argparse.Namespace) -> None:
        self.home, self.options, self.book = home, options, Book()
        self.campaign = chat_campaign(
            "Talks", pairs=options.pairs, rounds=options.rounds, exchanges=options.exchanges
        )
        self.sessions = annotate._people(self.campaign, 2 * options.pairs)
        self.people: list[Person] = []
        self.seconds = 0.0
        self.kills = {"web": 0, "worker": 0}

    async def run(self) -> None:
        """Start the processes, and let everybody talk until no dialogue is left."""
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
            listening.set_inheritable(True)
            port = int(listening.getsockname()[1])
            webs = [self._child(program) for program in supervisor.web_programs(listening.fileno())]
            programs = supervisor.worker_programs(_home.PROJECT, broker=False, run=self.home)
            workers = [self._child(next(one for one in programs if one.name == "worker-jobs"))]
            try:
                for child in webs:
                    assert child.process is not None
                    await asyncio.to_thread(_home._wait, port, child.process)
                await self._talk(port, webs, workers)
            finally:
                _stop([*webs, *workers])

    async def _talk(self, port: int, webs: list[Child], workers: list[Child]) -> None:
        keeper = asyncio.create_task(self._keep(webs, workers))
        began = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for number, (session, token) in enumerate(self.sessions):
                tasks.create_task(self._live(port, session, token, f"person-{number}"))
        self.seconds = time.perf_counter() - began
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper

    async def _live(self, port: int, session: str, token: str, name: str) -> None:
        async with browser(port, session, token) as http:
            person = Person(http, self, name)
            self.people.append(person)
            await person.live()

    async def _keep(self, webs: list[Child], workers: list[Child]) -> None:
        """Restart what has ended, as the supervisor does, and kill at even shares of all turns."""
        total = 2 * self.options.exchanges * self.options.pairs * self.options.rounds
        moments = [round((n + 1) * total / (self.options.kills + 1)) for n in range(self.options.kills)]
        while True:
            settled = time.monotonic() - max(child.started for child in (*webs, *workers))
            if moments and len(self.book.answered) >= moments[0] and settled > SETTLED:
                moments.pop(0)
                _kill(webs[len(moments) % len(webs)])
                self.kills["web"] += 1
                if len(moments) % 2 == 0:
                    _kill(workers[0])
                    self.kills["worker"] += 1
            for child in (*webs, *workers):
                child.look()
            await asyncio.sleep(LOOK_EVERY)

    def _child(self, program: supervisor.Program) -> Child:
        child = Child(program, layout(self.home), _home.PROJECT)
        child.start()
        return child

    def figures(self) -> dict[str, Any]:
        """Return the figures: speed, and what the database and each person have of every turn."""
        book = self.book
        deliveries = sorted(
            max(0.0, book.read[turn] - at) for turn, at in book.sent.items() if turn in book.read
        )
        after = sorted(
            max(0.0, book.read[turn] - at) for turn, at in book.answered.items() if turn in book.read
        )
        dialogues = self.options.pairs * self.options.rounds
        return {
            "dialogues": dialogues,
            "dialogues_per_hour": round(3600 * dialogues / self.seconds, 1),
            "seconds": round(self.seconds, 1),
            "pause_mean_seconds": round(statistics.mean(book.pauses), 2),
            "turns": len(book.sent),
            "delivery_p50_ms": _ms(deliveries, 0.5),
            "delivery_p95_ms": _ms(deliveries, 0.95),
            "delivery_max_ms": _ms(deliveries, 1.0),
            "delivered_within_1_s": round(sum(s <= 1 for s in deliveries) / len(book.sent), 4),
            "after_the_response_p95_ms": _ms(after, 0.95),
            "web_kills": self.kills["web"],
            "worker_kills": self.kills["worker"],
            "lost_connections": book.lost_connections,
            "broken_streams": book.broken_streams,
            "refused": len(book.refused),
            **_integrity(self),
        }


@asynccontextmanager
async def browser(port: int, session: str, token: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Open the connections of somebody who is signed in."""
    headers = {"Cookie": f"concord_session={session}; concord_csrf={token}", "X-CSRFToken": token}
    async with aiohttp.ClientSession(
        f"http://127.0.0.1:{port}", headers=headers, cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(30),
    ) as http:  # fmt: skip
        yield http


def chat_campaign(name: str, *, pairs: int, rounds: int, exchanges: int) -> int:
    """Draw and review personas, and open a campaign with a dialogue for each pair and round."""
    from django.contrib.auth.models import User

    from annotation.campaigns import campaign_actions
    from demo import collecting
    from suites.collecting import chat_plans

    by = User.objects.create_user(f"researcher of {name}")
    corpus = collecting.cast(by=by, name=name, count=2 * pairs, uses=rounds)
    campaign = chat_plans.create(
        by=by, name=name, corpus=corpus, scheme=SCHEME, plan={"exchanges": exchanges}
    )
    campaign_actions.open(by=by, campaign=campaign)
    return campaign.pk


def _kill(child: Child) -> None:
    if child.process is not None:
        child.process.kill()
        child.process.wait()


def _stop(children: Iterable[Child]) -> None:
    for child in children:
        child.ask_to_stop()
    for child in children:
        child.stop(time.monotonic() + 20)


def _ms(seconds: Sequence[float], share: float) -> float:
    """Return a quantile of sorted seconds, in milliseconds."""
    return round(1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))], 1)


def _integrity(traffic: Traffic) -> dict[str, int]:
    """Compare what was sent with the database, the corpus and each reader; look for the other's persona."""
    from suites.collecting.models import Chat

    counts = dict.fromkeys(("lost", "doubled", "wrong_order", "persona_leaks", "name_leaks"), 0)
    chats = Chat.objects.select_related("task__continuation__dialogue").prefetch_related("seats__user")
    finished = 0
    for chat in chats:
        finished += chat.state == Chat.State.FINISHED
        expected = [text for (pk, _), text in sorted(traffic.book.texts.items()) if pk == chat.pk]
        readers = [person.visits[chat.pk] for person in traffic.people if chat.pk in person.visits]
        versions = [
            list(chat.messages.order_by("at", "number").values_list("text", flat=True)),
            list(chat.task.continuation.turns.order_by("position").values_list("text", flat=True)),
            *(visit.texts for visit in readers),
        ]
        for texts in versions:
            counts["lost"] += max(0, len(expected) - len(texts))
            counts["doubled"] += max(0, len(texts) - len(expected))
            pairs = zip(texts, expected, strict=False)
            counts["wrong_order"] += sum(text != original for text, original in pairs)
        participants = chat.task.continuation.dialogue.participants
        for visit in readers:
            received = _readable(visit.received)
            mine = participants[visit.own - 1]["profile"]
            others = [line for person in participants for line in person["profile"] if line not in mine]
            counts["persona_leaks"] += sum(line in received for line in others)
            names = [
                seat.user.username for seat in chat.seats.all() if seat.user and seat.number != visit.own
            ]
            counts["name_leaks"] += sum(f"{name}<" in received or f'"{name}"' in received for name in names)
    return {"finished": finished, "abandoned_or_open": chats.count() - finished, **counts}


def _readable(received: Iterable[bytes]) -> str:
    """Return everything received as it is, and with the escapes of HTML and JSON resolved."""
    text = b"\n".join(received).decode()
    return "\n".join([text, html.unescape(text), text.replace("\\u2019", "’").replace('\\"', '"')])


# What the open streams of other conversations cost annotators.


def _beside_annotators(options: argparse.Namespace) -> dict[str, Any]:
    """Return annotators' times with and without open conversations; both are measured in turns.

    Each time is short enough that nobody runs out of tasks at MOST_CYCLES submissions a second.
    """
    seconds = min(options.seconds, TASKS * annotate.RATERS / (MOST_CYCLES * 2 * options.turns))
    tasks = max(200, int(MOST_CYCLES * 2 * options.turns * seconds / annotate.RATERS) + 1_000)
    rating = annotate._campaign(tasks, annotate.TURNS)
    annotators = annotate._people(rating, ANNOTATORS)
    chats, sessions = _open_chats(options.streams)
    times: dict[str, list[dict[str, float]]] = {"with": [], "without": []}
    with _home.web() as port:
        people = [annotate.Annotator(port, rating, *session) for session in annotators]
        annotate._measure(people, 2.0)
        for number in range(options.turns):
            for side in ("with", "without") if number % 2 else ("without", "with"):
                measured = asyncio.run(_measured(people, seconds, port, chats, sessions, side == "with"))
                times[side].append(measured)
    ratios = sorted(a["p95_ms"] / b["p95_ms"] for a, b in zip(times["with"], times["without"], strict=True))
    return {
        "conversations": options.streams,
        "event_streams": 2 * options.streams,
        "p95_ratio": round(statistics.median(ratios), 3),
        "p95_ratios": [round(ratio, 3) for ratio in ratios],
        **{
            f"{name}_{side}": round(statistics.median(one[name] for one in times[side]), 1)
            for side in times
            for name in ("p95_ms", "cycles_per_second")
        },
    }


def _open_chats(count: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Begin conversations; return the address of each person's events, and their session."""
    from annotation.models import Campaign
    from suites.collecting import chat_lobby

    campaign = chat_campaign("Open talks", pairs=count, rounds=1, exchanges=7)
    sessions = annotate._people(campaign, 2 * count)
    members = [
        row.user for row in Campaign.objects.get(pk=campaign).members.order_by("pk").select_related("user")
    ]
    chats = []
    for member in members:
        place = chat_lobby.wait(by=member, campaign=campaign)
        chats += [place.chat] * 2 if place.chat else []
    return [f"/chat/{campaign}/{chat}/events/" for chat in chats], sessions


async def _measured(
    people: list[annotate.Annotator],
    seconds: float,
    port: int,
    paths: Sequence[str],
    sessions: Sequence[tuple[str, str]],
    is_open: bool,
) -> dict[str, float]:
    """Let annotators work, with or without the open streams of conversations."""
    async with aiohttp.ClientSession(
        f"http://127.0.0.1:{port}",
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(None),
    ) as http:
        streams = []
        for path, (session, _token) in zip(paths, sessions, strict=True) if is_open else ():
            response = await http.get(path, headers={"Cookie": f"concord_session={session}"})
            if response.status != 200 or not await response.content.readline():
                raise RuntimeError(f"{path} is not a stream: {response.status}")
            streams.append(response)
        measured = await asyncio.to_thread(annotate._measure, people, seconds)
        for response in streams:
            response.close()
        return measured
