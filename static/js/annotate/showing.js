// Draws the answers of a task: pressed values, chips on turns, the place, the help, and what comes into view.

import { drawOrder } from "./ordering.js";
import { drawPeople, drawSessions } from "./people.js";
import { drawRanking } from "./ranking.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const $ = (id) => document.getElementById(id);

export class Showing {
  constructor(questions, { transcript, palette, submitButton }) {
    Object.assign(this, { questions, transcript, palette, submitButton });
    for (const name of ["mouseover", "focusin"])
      palette.addEventListener(name, ({ target }) => this.helpAbout(target));
  }

  get rows() {
    return all("[data-item]", this.transcript);
  }

  // What an item of the task is called: its turn with the number, its side of the screen, or the whole.
  name(index) {
    const row = this.rows[index];
    const side = row?.closest(".sides > section");
    if (side) return side.getAttribute("aria-label");
    if (row?.matches(".whole")) return row.querySelector(".name").textContent;
    return `Turn ${row?.querySelector(".no").textContent ?? index + 1}`;
  }

  // Draws everything; a part of the questions that was not asked before comes into view.
  render(answers) {
    const rows = this.rows;
    for (const row of rows) this.renderRow(row, answers);
    for (const question of this.questions) this.renderQuestion(question, answers);
    for (const box of all("[data-ranking]", this.palette)) drawRanking(box, answers);
    for (const box of all("[data-order]", this.palette)) drawOrder(box, answers);
    for (const box of all("[data-people]", this.palette)) drawPeople(box, answers);
    for (const box of all("[data-sessions]", this.palette)) drawSessions(box, answers);
    for (const section of all(".asked", this.palette)) {
      const wasHidden = section.hidden;
      section.hidden =
        all(".opt, .field", section).every((control) => control.hidden) &&
        !section.querySelector("[data-ranking]");
      if (wasHidden && !section.hidden) this.fresh = section;
    }
    this.palette.classList.toggle("many", answers.isMultiple);
    this.submitButton.classList.toggle("waiting", Boolean(answers.missing()));
    $("flag").setAttribute("aria-pressed", answers.flagged);
    $("undo").disabled = !answers.past.length;
    $("comment-button").classList.toggle("has", Boolean(answers.comment));
    if ($("place")) $("place").parentElement.hidden = !answers.isMultiple;
    if (answers.isMultiple) this.describePlace(rows, answers);
  }

  renderRow(row, answers) {
    const isHere = row.dataset.item === answers.item;
    row.classList.toggle("here", isHere && answers.isMultiple);
    row.toggleAttribute("aria-current", isHere);
    row.querySelector(".chips")?.remove();
    const set = this.questions.map((question) => this.chip(question, answers, row.dataset.item));
    if (!answers.isMultiple || !set.some(Boolean)) return;
    const chips = Object.assign(document.createElement("div"), { className: "chips" });
    for (const textContent of set.filter(Boolean)) {
      chips.append(
        Object.assign(document.createElement("span"), { className: "chip badge bg-primary-lt", textContent }),
      );
    }
    row.querySelector(".text").append(chips);
  }

  // What a turn's line says of an answer: a tag's name, or the value; nothing of words and of what is not asked.
  chip(question, answers, item) {
    const value = answers.value(question.key, item);
    if (value === undefined || question.kind === "text" || !answers.isShown(question, item)) return "";
    if (question.kind === "tag") return value === 1 ? question.wording : "";
    return String(value);
  }

  renderQuestion(question, answers) {
    const { key, values, about } = question;
    const isShown = answers.isShown(question);
    const value = answers.value(key);
    for (const choice of all(`[data-scale="${key}"]`)) {
      const isChosen = value !== undefined && values[Number(choice.dataset.at)] === value;
      choice.setAttribute("aria-pressed", isChosen);
      choice.hidden = !isShown;
    }
    for (const tag of all(`[data-tag="${key}"]`)) {
      tag.setAttribute("aria-pressed", value === 1);
      tag.hidden = !isShown;
      tag.lastElementChild.hidden = !answers.isMultiple || about === "dialogue";
      tag.lastElementChild.textContent = answers.count(key);
    }
    for (const entry of all(`[data-entry="${key}"]`)) {
      const start = answers.starts[key] ?? "";
      if (document.activeElement !== entry) entry.value = value ?? start;
      if (start) entry.rows = Math.min(16, start.split("\n").length + 1);
      entry.closest(".field").hidden = !isShown;
    }
    const section = this.section(key);
    section?.classList.toggle("current", key === answers.question && answers.scales().length > 1);
  }

  describePlace(rows, answers) {
    const part = (row, name) => row.querySelector(name).textContent;
    const turns = rows.filter((row) => !row.matches(".whole"));
    const here = rows[answers.index];
    const [first, last] = [turns[0], turns.at(-1)].map((row) => part(row, ".no"));
    const does = answers.scales().length ? "rate" : "tag";
    const isWhole = answers.item === answers.whole;
    const isSide = Boolean(here.closest(".sides"));
    const who = isSide
      ? ` of ${rows.length}`
      : isWhole
        ? ""
        : `, ${part(here, ".who")} · ${does} ${first} to ${last}`;
    const after = answers.whole && !isWhole ? ", then the whole" : "";
    $("place").textContent = this.name(answers.index) + who + after;
  }

  section(key) {
    return this.palette.querySelector(`[data-question="${key}"]`);
  }

  // Brings the turn in hand into view.
  showTurn(answers, block = "nearest") {
    const places = answers.isMultiple ? "[aria-current]" : ".sides, [aria-current], .rated, .marked";
    const row = this.transcript.querySelector(places);
    if (!row) return;
    if (parent === window || document.hasFocus())
      row.scrollIntoView({ block: answers.isMultiple ? block : "nearest" });
    else this.showUnread(row);
  }

  // In a frame that nobody works in, the page around it stays where it is.
  showUnread(row) {
    const reader = this.transcript.parentElement;
    const below = row.getBoundingClientRect().bottom - reader.getBoundingClientRect().bottom;
    reader.scrollTop += Math.max(0, below);
  }

  // Brings the question in turn, or what an answer has just brought up, into view.
  showQuestion(answers) {
    const section = this.fresh ?? this.section(answers.question);
    this.fresh = null;
    if (!section || section.hidden) return;
    const fits = section.offsetHeight <= this.palette.clientHeight;
    section.scrollIntoView({ block: fits ? "nearest" : "start" });
  }

  // Puts the cursor into a text that is asked for, and says whether there is one to be filled in.
  focusEntry(key) {
    const entry = this.palette.querySelector(`[data-entry="${key}"]:not([data-aside])`);
    if (!entry || entry.closest("[hidden]")) return false;
    entry.focus();
    entry.scrollIntoView({ block: "nearest" });
    return true;
  }

  helpAbout(target) {
    const { tag, scale, entry } = target.closest("[data-tag], [data-scale], [data-entry]")?.dataset ?? {};
    if (tag || scale || entry) this.help(tag || scale || entry);
  }

  // Shows what a tag means; without one, or with one that has no help, what is said from the start.
  help(key) {
    const boxes = all("[data-help]", this.palette);
    const named = boxes.find((box) => box.dataset.help === key);
    const isFirst = (box) => "first" in box.dataset && !this.section(box.dataset.help)?.hidden;
    for (const box of boxes) box.hidden = named ? box !== named : !isFirst(box);
  }
}
