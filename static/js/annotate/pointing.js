// Pointing at the turns, or at the words, that an answer refers to: by keys, by mouse and by touch.

import { Lines } from "./lines.js";
import { say } from "./page.js";
import { drawPointed } from "./pointed.js";

const $ = (id) => document.getElementById(id);
const same = (one, other) => ["line", "start", "end"].every((name) => one[name] === other[name]);
const KEY = "e";

export class Pointing {
  // `now` returns the answers in hand, or null; `changed` draws and keeps them.
  constructor(questions, { transcript, reader, palette, now, changed }) {
    Object.assign(this, { questions, reader, palette, now, changed, question: null });
    this.lines = new Lines(transcript);
    transcript.addEventListener("pointerup", ({ pointerType }) => {
      if (this.question?.evidence === "spans" && pointerType === "mouse") setTimeout(() => this.add());
    });
    // A tap on a button may take the selection away before it is used.
    document.addEventListener("selectionchange", () => {
      const found = this.question?.evidence === "spans" ? this.lines.selected() : [];
      if (found.length) this.held = found;
    });
  }

  // Questions whose answer to the item in hand may point at something.
  get open() {
    return this.questions.filter((question) => this.now().takes(question));
  }

  // What a key does while pointing, or to begin; undefined leaves it to the others.
  action(event, letter) {
    if (letter === KEY && this.questions.some(({ evidence }) => evidence)) return () => this.next();
    if (!this.question) return undefined;
    const { key, shiftKey, target } = event;
    const isRightward = (key === "ArrowRight") === !this.isRightToLeft;
    const actions = {
      Escape: () => this.end(),
      ArrowUp: () => this.move(-1),
      ArrowDown: () => this.move(1),
      ArrowRight: () => this.word(isRightward ? 1 : -1, shiftKey),
      ArrowLeft: () => this.word(isRightward ? 1 : -1, shiftKey),
    };
    if (!target.matches("button, a, summary"))
      actions.Enter = actions[" "] = () => this.add() || this.toggle();
    return actions[key];
  }

  get isRightToLeft() {
    return getComputedStyle(this.lines.said(this.line)).direction === "rtl";
  }

  // Begins with the question answered last, or goes on to the next that may point.
  next() {
    const { open } = this;
    if (!open.length) return say("Nothing points at turns yet: first give an answer that may.", true);
    const touched = open.find(({ key }) => key === this.now().touched);
    const waits = open.find(
      (question) => question.evidence_required && !this.now().pointed(question.key).length,
    );
    const after = this.question && open[(open.indexOf(this.question) + 1) % open.length];
    return this.begin(after || touched || waits || open[0]);
  }

  begin(question) {
    const chosen = question.evidence === "spans" ? this.lines.selected() : [];
    this.question = question;
    this.held = [];
    if (chosen.length) return this.add(chosen) && this.end();
    const here = this.reader.querySelector(".turn[aria-current], .turn.item, .turn.rated");
    this.line = Math.max(0, this.lines.rows.indexOf(here)) + 1;
    this.reader.focus({ preventScroll: true });
    this.aim();
    return this.announce(`Pointing for “${question.wording}”: ${this.lines.named(this.line)}`);
  }

  end() {
    if (!this.question) return;
    this.question = null;
    getSelection().removeAllRanges();
    this.draw(this.now());
    this.announce("No longer pointing.");
  }

  move(step) {
    const line = this.line + step;
    if (!this.lines.row(line)) return;
    this.line = line;
    this.held = this.words = null;
    getSelection().removeAllRanges();
    this.aim();
    this.announce(
      `${this.lines.named(line)}${this.has({ line }) ? ", pointed at" : ""}: ${this.lines.said(line).textContent}`,
    );
  }

  // Takes the word before or after in hand; with Shift, that word as well.
  word(step, isMore) {
    if (this.question.evidence !== "spans") return;
    const words = this.lines.words(this.line);
    const [first, last] = this.words ?? (step > 0 ? [-1, -1] : [words.length, words.length]);
    const next = Math.min(words.length - 1, Math.max(0, last + step));
    if (!words.length) return;
    this.words = isMore && this.words ? [first, next] : [next, next];
    const [low, high] = [Math.min(...this.words), Math.max(...this.words)];
    const range = this.lines.range(this.line, words[low][0], words[high][1]);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    this.announce(String(range));
  }

  has(entry) {
    return this.now()
      .pointed(this.question.key)
      .some((other) => same(entry, other));
  }

  // Points at what is selected; false where nothing is.
  add(entries = this.lines.selected()) {
    if (this.question?.evidence !== "spans") return false;
    const found = entries.length ? entries : (this.held ?? []);
    const fresh = found.filter((entry) => !this.has(entry));
    if (!found.length) return false;
    this.held = this.words = null;
    getSelection().removeAllRanges();
    this.set([...this.now().pointed(this.question.key), ...fresh]);
    this.announce(`Points at ${found.map((entry) => this.lines.told(entry)).join(", ")}`);
    return true;
  }

  toggle(entry = { line: this.line }) {
    const others = this.now()
      .pointed(this.question.key)
      .filter((other) => !same(entry, other));
    const isOff = this.has(entry);
    this.set(isOff ? others : [...others, entry]);
    this.announce(`${this.lines.named(entry.line)}: ${isOff ? "no longer pointed at" : "pointed at"}`);
  }

  set(entries, { key } = this.question) {
    this.now().point(key, entries);
    this.changed();
  }

  // Returns whether a click was about evidence.
  click(target) {
    const { points, adds, jumps, removes } =
      target.closest("[data-points], [data-adds], [data-jumps], [data-removes]")?.dataset ?? {};
    const named = (key) => this.questions.find((question) => question.key === key);
    if (points) this.question?.key === points ? this.end() : this.begin(named(points));
    else if (adds) this.add() || say("Select words in the transcript first.", true);
    else if (jumps) this.lines.row(Number(jumps)).scrollIntoView({ block: "center" });
    else if (removes) this.remove(...JSON.parse(removes));
    else return Boolean(this.question) && this.clickTurn(target);
    return true;
  }

  remove(key, at) {
    const entries = this.now().pointed(key);
    this.set(entries.toSpliced(at, 1), { key });
    this.palette.querySelector(`[data-points="${key}"]`).focus();
    this.announce(`No longer points at ${this.lines.told(entries[at])}`);
  }

  clickTurn(target) {
    const row = target.closest(".turn");
    if (!row) return false;
    this.line = this.lines.rows.indexOf(row) + 1;
    this.words = null;
    this.aim();
    const isWhole = this.question.evidence === "turns" || target.closest(".no");
    if (isWhole && getSelection().isCollapsed) this.toggle();
    return true;
  }

  aim() {
    this.draw(this.now());
    this.lines.row(this.line).scrollIntoView({ block: "nearest" });
  }

  announce(text) {
    $("pointing").textContent = text;
  }

  // Draws what the item in hand points at; an answer that points at nothing ends the pointing.
  draw(answers) {
    if (!this.questions.some(({ evidence }) => evidence)) return;
    if (this.question && !answers.takes(this.question)) this.question = null;
    const aimed = this.question && { question: this.question, line: this.line };
    drawPointed(answers, { palette: this.palette, lines: this.lines, open: this.open, aimed });
  }
}
