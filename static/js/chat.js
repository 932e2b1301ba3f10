// The chat: what the server says is shown, and a turn is sent until the server has it once.

import { post, Unreachable } from "./annotate/sending.js";
import { listen, minutes, oneAtATime, part, say } from "./chat/stream.js";

const POLL_MS = 1000;
const REFRESH_MS = 15000;
const TYPING_MS = 2000;
const SHOWN_TYPING_MS = 4000;
const NEAR_END_PX = 48;
const CLOCK = { hour: "2-digit", minute: "2-digit", hour12: false };

const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join("-");

// The text of a turn, with its line breaks.
function textBody(text) {
  const body = document.createElement("p");
  body.className = "mb-0";
  body.dir = "auto";
  text
    .split("\n")
    .forEach((line, place) => body.append(...(place ? [document.createElement("br"), line] : [line])));
  return body;
}

class Chat {
  constructor(main) {
    this.base = main.dataset.base;
    this.form = part("compose");
    this.field = this.form.elements.text;
    this.button = this.form.querySelector(".btn-primary");
    this.number = 0;
    this.seen = null;
    this.pending = null; // {key, text}: what is being sent, the same until the server has it
    const stored = JSON.parse(sessionStorage.getItem(this.base)) ?? {};
    this.field.value = stored.text ?? "";
    this.unsent = stored.key ? stored : null; // sent once the conversation is read: what a reload interrupted
    this.follows = true; // whether the end of the conversation is on screen, and stays there
    this.typedAt = -TYPING_MS;
    this.typing = new Map();
    this.load = oneAtATime(() => this.read());
    part("again").addEventListener("click", () => this.act("retry/", {}));
    if (matchMedia("(pointer: coarse)").matches) this.field.placeholder = ""; // it speaks of a keyboard
    this.form.addEventListener("submit", (event) => this.submit(event));
    this.field.addEventListener("input", () => this.typed());
    part("scroll").addEventListener("scroll", ({ target }) => {
      this.follows = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END_PX;
    });
    new ResizeObserver(() => this.follow()).observe(part("scroll"));
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    for (const form of document.querySelectorAll("[data-leaves]"))
      form.closest("dialog").addEventListener("close", () => this.leave(form));
    this.stream = listen(`${this.base}events/`, (text) => this.hear(text));
    this.timer = setInterval(() => this.tick(), POLL_MS);
    this.load();
  }

  hear(text) {
    const [word, number] = text.split(" ");
    if (word !== "typing") this.load();
    else if (Number(number) !== this.seen?.own) this.typing.set(Number(number), performance.now());
    this.show();
  }

  tick() {
    const age = performance.now() - (this.loadedAt ?? 0);
    if (age >= REFRESH_MS || !this.stream.isOpen()) this.load();
    this.show();
  }

  async read() {
    const answer = await fetch(`${this.base}state/?after=${this.number}`).catch(() => null);
    const seen = answer?.ok && !answer.redirected ? await answer.json().catch(() => null) : null;
    if (!seen) {
      if (!this.pending && !answer?.redirected) part("error").textContent = "No connection. Trying again.";
      return;
    }
    if (part("error").textContent.startsWith("No connection") && !this.pending)
      part("error").textContent = "";
    const first = this.seen === null;
    this.seen = seen;
    this.loadedAt = performance.now();
    for (const turn of seen.messages) this.add(turn);
    for (const person of seen.typing) this.typing.set(person, performance.now());
    this.show();
    if (first && seen.turn === seen.own) this.field.focus();
    if (this.unsent && seen.state === "open") this.send(this.unsent);
    this.unsent = null;
  }

  // Keeps the last turn on screen while a keyboard opens or turns come, for whoever has not scrolled back.
  follow() {
    if (this.follows) part("scroll").scrollTop = part("scroll").scrollHeight;
  }

  store() {
    const { value } = this.field;
    if (!value) sessionStorage.removeItem(this.base);
    else sessionStorage.setItem(this.base, JSON.stringify({ text: value, key: this.pending?.key }));
  }

  // Shows the replies to choose from, side by side where there is room.
  offer() {
    const { replies, reply } = this.seen;
    const box = part("replies");
    box.hidden = reply !== "pick";
    const offered = reply === "pick" ? String(this.number + 1) : "";
    if (box.dataset.number === offered) return;
    box.dataset.number = offered;
    box.replaceChildren(...replies.map(({ place, text }) => this.choice(place, text)));
    if (!replies.length) return;
    this.follows = false; // from Reply 1 on, so that nobody only sees the second one
    box.scrollIntoView({ block: "start" });
  }

  choice(place, text) {
    const column = document.createElement("div");
    column.className = "col-12 col-md-6";
    const card = document.createElement("section");
    card.className = "card card-body h-100 d-flex flex-column align-items-start gap-2";
    const title = document.createElement("h2");
    title.className = "small text-secondary";
    title.textContent = `Reply ${place}`;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn mt-auto";
    button.textContent = `Go on with Reply ${place}`;
    button.addEventListener("click", () => this.act("pick/", { number: this.number + 1, place }));
    card.append(title, textBody(text), button);
    column.append(card);
    return column;
  }

  // Sends a small act; whether it succeeded or not, the state is read again.
  async act(address, body) {
    try {
      const { ok, body: answer } = await post(`${this.base}${address}`, body);
      part("error").textContent = ok ? "" : answer.error;
    } catch (problem) {
      if (!(problem instanceof Unreachable)) throw problem;
      part("error").textContent = "No connection. Try again.";
    }
    await this.load();
  }

  nameOf(person) {
    if (person === this.seen.own) return "You";
    return this.seen.people === 2 ? "Partner" : `Person ${person}`;
  }

  add({ number, person, text, at }) {
    if (number !== this.number + 1) return;
    this.number = number;
    if (number === 1 && window.innerWidth < 768) document.querySelector("details").open = false; // room to read
    this.typing.delete(person);
    const isOwn = person === this.seen.own;
    const item = document.createElement("li");
    item.className = isOwn ? "align-self-end mw-100 ps-5" : "align-self-start mw-100 pe-5";
    const bubble = document.createElement("div");
    bubble.className = `chat-bubble p-2 px-3 text-break ${isOwn ? "chat-bubble-me" : "bg-surface border"}`;
    const title = document.createElement("p");
    title.className = "small text-secondary mb-0";
    const time = document.createElement("time");
    time.dateTime = at;
    time.textContent = new Date(at).toLocaleTimeString([], CLOCK);
    title.append(`${this.nameOf(person)}, `, time);
    bubble.append(title, textBody(text));
    item.append(bubble);
    part("log").append(item);
    this.follows ||= isOwn;
    this.follow();
  }

  show() {
    const { seen } = this;
    if (!seen) return;
    const isOver = seen.state !== "open";
    say("count", `${this.number} of ${seen.total} turns`);
    const now = performance.now();
    const writers = [...this.typing]
      .filter(([, at]) => now - at < SHOWN_TYPING_MS)
      .map(([person]) => this.nameOf(person));
    if (seen.reply === "waiting" && !writers.length) writers.push("Partner");
    say(
      "typing",
      isOver || !writers.length ? "" : `${writers.join(", ")} ${writers.length > 1 ? "are" : "is"} writing …`,
    );
    this.follow();
    this.showLength();
    if (isOver) {
      this.finish();
      return;
    }
    this.offer();
    part("again").hidden = seen.reply !== "failed";
    const passed = seen.seconds + (now - this.loadedAt) / 1000;
    const left = Math.max(0, seen.idle_seconds - passed);
    const isLate = passed >= seen.remind_seconds && !seen.paused;
    const isMine = (seen.turn === seen.own || seen.reply === "pick") && !seen.paused;
    say("status", this.turnText(isLate));
    say("time", this.timeText(passed, isLate ? left : null));
    part("status").classList.toggle("text-danger", isLate && isMine);
    document.title = `${isMine ? "● Your turn" : "Conversation"} · Concord`;
  }

  turnText(isLate) {
    const { turn, own, paused, reply } = this.seen;
    if (paused) return "Paused by the researchers: nothing is sent until they go on, and you lose no time.";
    if (reply === "failed") return "No reply came. Try again, or leave the conversation.";
    if (reply === "pick") return "Which reply is better? Choose one to go on.";
    if (turn === null) return isLate ? "Please write." : "Anybody may write.";
    if (turn !== own) return `${this.nameOf(turn)} writes ${this.number ? "next" : "first"}.`;
    if (!this.number && !isLate) return "Your turn: you write first.";
    return isLate ? "Please write: it is your turn." : "Your turn.";
  }

  timeText(passed, left) {
    if (this.seen.paused) return "";
    if (left !== null) return `The conversation ends in ${minutes(left)} if nobody writes.`;
    return this.number ? `${minutes(passed)} since the last turn` : `${minutes(passed)} since the start`;
  }

  mayWrite() {
    return !this.seen.paused && (this.seen.turn === null || this.seen.turn === this.seen.own);
  }

  showLength() {
    const left = this.seen.most_characters - [...this.field.value.trim()].length;
    say("left", `${left} characters left`);
    part("left").classList.toggle("text-danger", left < 0);
    this.button.disabled = left < 0 || !this.field.value.trim() || !this.mayWrite() || this.pending !== null;
  }

  typed() {
    if (this.seen) this.showLength();
    this.store();
    if (performance.now() - this.typedAt < TYPING_MS || !this.field.value) return;
    this.typedAt = performance.now();
    post(`${this.base}typing/`, {}, { automatic: true }).catch(() => null); // only a courtesy
  }

  submit(event) {
    event.preventDefault();
    const turn = { key: newKey(), text: this.field.value };
    if (!this.seen && turn.text.trim()) this.unsent ??= turn; // until it is known whose turn it is
    if (this.seen && !this.button.disabled) this.send(turn);
  }

  async send(turn) {
    this.pending = turn;
    this.field.readOnly = true;
    this.store();
    this.show();
    while (this.pending) {
      try {
        const { ok, body } = await post(`${this.base}send/`, this.pending);
        if (ok) this.field.value = "";
        part("error").textContent = ok ? "" : body.error;
        this.pending = null;
        this.store();
      } catch (problem) {
        if (!(problem instanceof Unreachable)) throw problem;
        part("error").textContent = "Not sent yet: no connection. It is sent as soon as there is one.";
        await new Promise((done) => setTimeout(done, problem.wait ?? POLL_MS));
      }
    }
    this.field.readOnly = false;
    this.field.focus();
    await this.load();
    this.show();
  }

  async leave(form) {
    const isSure = form.closest("dialog").returnValue === "yes";
    form.closest("dialog").returnValue = "";
    if (!isSure) return;
    const report = form.dataset.leaves === "report" ? form.elements.report.value : null;
    try {
      const { ok, body } = await post(`${this.base}leave/`, { report });
      if (!ok) part("error").textContent = body.error;
      this.load();
    } catch (problem) {
      if (!(problem instanceof Unreachable)) throw problem;
      part("error").textContent = "No connection. Try again.";
    }
  }

  finish() {
    clearInterval(this.timer);
    this.stream.close();
    const hadFocus = this.form.contains(document.activeElement);
    this.form.hidden = true;
    part("replies").hidden = true;
    if (!part("over").hidden) return;
    sessionStorage.removeItem(this.base);
    for (const opener of document.querySelectorAll("[data-opens]")) opener.hidden = true;
    part("over").hidden = false;
    part("ending").textContent =
      this.seen.state === "finished"
        ? "The conversation is complete. Thank you! Please answer some questions about it."
        : `The conversation has ended early: ${this.seen.end_reason}. You can find another one.`;
    if (hadFocus) part("over").focus();
    document.title = "Conversation over · Concord";
  }
}

new Chat(document.getElementById("main"));
