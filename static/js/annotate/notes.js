// Notes on single turns: a comment and a flag that researchers read, and a bookmark for oneself.

import { say } from "./page.js";
import { post } from "./sending.js";

const EMPTY = { comment: "", flagged: false, bookmarked: false };
const TOLD = {
  flagged: ["Flagged", "Flag taken off"],
  bookmarked: ["Bookmarked", "Bookmark taken off"],
};

export class Notes {
  // `ask(line, text)` sends a question to the researchers and resolves to why it was refused, or "".
  constructor(transcript, dialog, base, ask, isPointing) {
    Object.assign(this, { transcript, dialog, base, ask, notes: new Map() });
    const form = dialog.querySelector("form");
    [this.which, this.comment, this.flagged, this.bookmarked] = [
      "line",
      "comment",
      "flagged",
      "bookmarked",
    ].map((name) => form.elements[name]);
    this.which.addEventListener("change", () => this.fill());
    form.addEventListener("submit", (event) => this.save(event));
    const button = (value, onclick) =>
      dialog.querySelector(`button[value=${value}]`).addEventListener("click", onclick);
    button("cancel", () => dialog.close());
    button("ask", () => this.question());
    transcript.addEventListener("click", ({ target }) => {
      const number = target.closest(".turn[data-line] > .no");
      if (number && !isPointing()) this.open(Number(number.parentElement.dataset.line));
    });
    document.getElementById("note-button").addEventListener("click", () => this.open());
  }

  get rows() {
    return [...this.transcript.querySelectorAll(".turn[data-line]")];
  }

  row(line) {
    return this.transcript.querySelector(`.turn[data-line="${line}"]`);
  }

  // The line in hand, else the first that is judged, else the first.
  get here() {
    const row = this.transcript.querySelector("[aria-current][data-line], .rated[data-line]") ?? this.rows[0];
    return Number(row?.dataset.line);
  }

  // A task is on screen, or (null) none.
  begin(task) {
    this.assignment = task?.assignment;
    this.notes = new Map((task?.notes ?? []).map((note) => [note.line, note]));
    for (const row of this.rows) {
      const number = row.querySelector(".no");
      number.title = "Comment on this turn, flag or bookmark it";
      number.role = "button";
      number.ariaLabel = `Turn ${number.textContent}: comment, flag or bookmark`;
      number.style.cursor = "pointer";
      this.draw(Number(row.dataset.line));
    }
  }

  draw(line) {
    const row = this.row(line);
    if (!row) return;
    row.querySelector("[data-noted]")?.remove();
    const { comment, flagged, bookmarked } = this.notes.get(line) ?? EMPTY;
    const marks = [flagged && "⚑ flagged", bookmarked && "★ bookmarked", comment && `“${comment}”`];
    if (!marks.some(Boolean)) return;
    const noted = document.createElement("div");
    noted.className = "small text-secondary";
    noted.dataset.noted = "";
    noted.dir = "auto";
    noted.textContent = `Your note: ${marks.filter(Boolean).join(" · ")}`;
    row.querySelector(".text").append(noted);
  }

  // Opens the dialog at a line, or at the one in hand.
  open(line = this.here) {
    if (this.assignment === undefined || !line) return;
    this.which.replaceChildren(
      ...this.rows.map((row) => {
        const part = (name) => row.querySelector(name).textContent;
        const said = row.querySelector(".text").firstChild?.textContent ?? "";
        return new Option(
          `${part(".no")} ${part(".who")}: ${said.slice(0, 60)}`,
          row.dataset.line,
          false,
          Number(row.dataset.line) === line,
        );
      }),
    );
    this.fill();
    this.dialog.showModal();
    this.comment.focus();
  }

  fill() {
    const { comment, flagged, bookmarked } = this.notes.get(Number(this.which.value)) ?? EMPTY;
    this.comment.value = comment;
    this.flagged.checked = flagged;
    this.bookmarked.checked = bookmarked;
    this.tell("");
  }

  tell(text) {
    this.dialog.querySelector("[role=alert]").textContent = text;
  }

  async save(event) {
    event.preventDefault();
    const refused = await this.send(Number(this.which.value), {
      comment: this.comment.value,
      flagged: this.flagged.checked,
      bookmarked: this.bookmarked.checked,
    });
    if (refused) return this.tell(refused);
    this.dialog.close();
    return say("Note kept");
  }

  // Sends what was written to the researchers as a question, which they can answer.
  async question() {
    const text = this.comment.value.trim();
    const refused = text ? await this.ask(Number(this.which.value), text) : "Write your question first.";
    if (refused) return this.tell(refused);
    this.dialog.close();
    return say("Sent to the researchers");
  }

  // Sets a flag or a bookmark of the line in hand, or takes it off.
  async toggle(what) {
    const line = this.here;
    if (this.assignment === undefined || !line) return;
    const isSet = !(this.notes.get(line) ?? EMPTY)[what];
    const refused = await this.send(line, { [what]: isSet });
    const number = this.row(line)?.querySelector(".no").textContent;
    say(refused || `${TOLD[what][isSet ? 0 : 1]}: turn ${number}`, Boolean(refused));
  }

  // Resolves to why it was refused, or "".
  async send(line, change) {
    const { assignment } = this;
    try {
      const { ok, body } = await post(`${this.base}${assignment}/note/`, { line, ...change });
      if (!ok) return body.error;
      if (assignment !== this.assignment) return "";
      this.notes.set(line, body);
      this.draw(line);
      return "";
    } catch (problem) {
      return `Not kept: ${problem.message}. Try again.`;
    }
  }
}
