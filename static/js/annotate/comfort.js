// How the annotator likes to work: keys of their own, one key a task, larger text, contrast, breaks.

import { recall, remember } from "./memory.js";
import { say, warn } from "./page.js";

const MINUTE = 60000;
const LOOK_MS = 15000;
const AWAY_MS = 15 * MINUTE; // without attention: a break was taken
const SIZES = { usual: "", large: "115%", largest: "135%" };
const CONTRAST = { "--ink-2": "var(--ink)", "--ink-3": "var(--ink)", "--line": "var(--line-strong)" };

export class Comfort {
  // `told` are the settings of the account, with the usual key of each command; `spent` tells the milliseconds
  // of attention that the page has had.
  constructor({ usual, ...told }, spent) {
    Object.assign(this, { usual, kept: null, counted: 0, ...told });
    const { style } = document.documentElement;
    style.fontSize = SIZES[this.text_size] ?? "";
    if (this.more_contrast)
      for (const [name, value] of Object.entries(CONTRAST)) style.setProperty(name, value);
    this.name();
    if (!this.break_after) return;
    setInterval(() => this.look(spent()), LOOK_MS);
    addEventListener("pagehide", () => this.count(spent()));
  }

  // The keys on buttons and in the list are those that work.
  name() {
    for (const key of document.querySelectorAll("kbd[data-key]"))
      key.textContent = this.keys[key.dataset.key];
  }

  // What a pressed key means where commands have their usual keys; "" for one that means nothing any more.
  usually(key) {
    const command = Object.keys(this.keys).find((name) => this.keys[name] === key);
    if (command) return this.usual[command];
    return Object.values(this.usual).includes(key) ? "" : key;
  }

  // Whether an answer is all that a task asks for: one question with values, on one item, none of them a tag.
  isOneKey(questions, answers) {
    const [question, ...others] = questions;
    const isOne = question && !others.length && answers?.items.length === 1;
    return Boolean(this.auto_advance && isOne && question.values.length && question.kind !== "tag");
  }

  // Adds what this page has had to the work since the last break, which pages and tabs have in common; who
  // was away for a while has had a break. Milliseconds.
  count(now) {
    const before = recall(this.place) ?? this.kept;
    const recent = before && Date.now() - before.at < AWAY_MS ? before.worked : 0;
    const more = now - this.counted;
    this.counted = now;
    if (more) this.keep(recent + more);
    return recent + more;
  }

  keep(worked) {
    this.kept = { worked, at: Date.now() };
    remember(this.place, this.kept);
  }

  get place() {
    return `concord-worked-${this.account}`;
  }

  // Proposes a break after so many minutes of attention, once no other banner stands in the way.
  look(now) {
    const isDue = this.count(now) >= this.break_after * MINUTE;
    if (!isDue || !document.getElementById("banner").hidden) return;
    this.keep(0);
    const text = `You have worked for ${this.break_after} minutes. How about a break? Your draft is kept.`;
    warn(text, "Go on", () => warn());
  }

  // Answers no to every yes-or-no question and tag that has no answer yet; says how many.
  static none(questions, answers) {
    const isYesNo = ({ kind, values }) =>
      kind === "scale" && values.length === 2 && values.includes(0) && values.includes(1);
    const open = [];
    for (const item of answers.items)
      for (const question of questions.filter(isYesNo))
        if (answers.isShown(question, item) && answers.value(question.key, item) === undefined)
          open.push([item, question.key]);
    if (!open.length) {
      say("Nothing is left that could be answered with no");
      return 0;
    }
    answers.remember();
    for (const [item, key] of open) (answers.answers[item] ??= {})[key] = 0;
    answers.changes += 1;
    say(`Answered no ${open.length} time${open.length > 1 ? "s" : ""}; undo takes it back`);
    return open.length;
  }
}
