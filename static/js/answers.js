// The answers to one task, which item and question are in view, and the way back from each change.

import { isWhole } from "./annotate/ranking.js";

const UNDO_STEPS = 200;

export class Answers {
  constructor(questions, task) {
    this.questions = questions;
    this.items = task.items.map(String);
    this.whole = task.whole == null ? null : String(task.whole);
    this.sides = task.sides ?? 0;
    this.people = task.people ?? [];
    this.starts = task.start_texts ?? {};
    this.side = 0;
    this.changes = 0;
    this.answers = structuredClone(task.draft.answers || {});
    this.evidence = structuredClone(task.draft.evidence || {});
    this.comment = task.draft.comment || "";
    this.flagged = Boolean(task.draft.flagged);
    this.index = Math.max(0, Math.min(task.draft.index || 0, this.items.length - 1));
    this.past = [];
    this.question = this.scales()[0]?.key;
  }

  get item() {
    return this.items[this.index];
  }

  value(key, item = this.item) {
    return this.answers[item]?.[key];
  }

  // Whether a question is asked of an item: one about the whole of that alone, and some only after an answer.
  isShown({ show_if, about }, item = this.item) {
    if (about && (about === "dialogue") !== (item === this.whole)) return false;
    if (!show_if) return true;
    const { question, min = -Infinity, max = Infinity, in: listed } = show_if;
    const value = this.decides(question, item);
    if (listed) return listed.includes(value);
    return typeof value === "number" && value >= min && value <= max;
  }

  // The answer that others depend on: none where the question is not asked, 0 for an untouched tag.
  decides(key, item) {
    const question = this.questions.find((asked) => asked.key === key);
    if (!question || !this.isShown(question, item)) return undefined;
    return this.value(key, item) ?? (question.kind === "tag" ? 0 : undefined);
  }

  scales() {
    return this.questions.filter(
      (question) => !["tag", "text"].includes(question.kind) && this.isShown(question),
    );
  }

  // Whether the answer that a question has may point at turns, or at words in them.
  takes(question, item = this.item) {
    const { key, kind, evidence, evidence_for: values, positive } = question;
    const value = this.value(key, item) ?? (kind === "tag" ? 0 : undefined);
    if (!evidence || value === undefined || !this.isShown(question, item)) return false;
    return values.length ? values.includes(value) : positive === null || value === positive;
  }

  // What an answer points at: [{line, start, end}].
  pointed(key, item = this.item) {
    return this.evidence[item]?.[key] ?? [];
  }

  point(key, entries) {
    this.remember();
    (this.evidence[this.item] ??= {})[key] = entries;
    this.touched = key;
    this.changes += 1;
  }

  // What answers that may point at something point at: of others nothing is sent.
  sentEvidence() {
    const of = (item) =>
      this.questions
        .filter((question) => this.takes(question, item) && this.pointed(question.key, item).length)
        .map(({ key }) => [key, this.pointed(key, item)]);
    const found = this.items.map((item) => [item, of(item)]).filter(([, entries]) => entries.length);
    return Object.fromEntries(found.map(([item, entries]) => [item, Object.fromEntries(entries)]));
  }

  // Typing in one field is one change to undo. A text that is as it began is no answer, an emptied one is kept
  // empty.
  set(key, value, typing = false) {
    if (!typing || this.typing !== this.item + key) this.remember();
    this.typing = typing ? this.item + key : null;
    const answers = (this.answers[this.item] ??= {});
    const isTag = this.questions.some((question) => question.key === key && question.kind === "tag");
    const start = this.starts[key];
    const isNone = start === undefined ? value === "" : value === start;
    if (value === null || isNone || (value === 0 && isTag)) delete answers[key];
    else answers[key] = value;
    this.touched = key;
    this.changes += 1;
  }

  remember() {
    this.past.push([this.index, structuredClone(this.answers), structuredClone(this.evidence)]);
    if (this.past.length > UNDO_STEPS) this.past.shift();
  }

  undo() {
    if (!this.past.length) return false;
    [this.index, this.answers, this.evidence] = this.past.pop();
    this.typing = null;
    this.changes += 1;
    return true;
  }

  get isMultiple() {
    return this.items.length > 1;
  }

  get canMove() {
    return this.isMultiple || this.scales().length > 1;
  }

  // Moves to another item of the task, or to another question: of its only item, or going across, where an
  // item has several. False at either end.
  move(step, isAcross = false) {
    const isByItem = this.isMultiple && !(isAcross && this.scales().length > 1);
    const places = isByItem ? this.items : this.scales().map((question) => question.key);
    const next = places.indexOf(isByItem ? this.item : this.question) + step;
    if (next < 0 || next >= places.length) return false;
    if (isByItem) this.go(next);
    else this.question = places[next];
    return true;
  }

  // Takes an item in hand, at its first question without an answer.
  go(index) {
    this.index = index;
    this.question = this.scales()[0]?.key;
    this.advance();
  }

  // Takes over another set of answers to this task; undo brings back the ones before.
  replace({ answers, evidence, comment, flagged }) {
    this.remember();
    this.answers = structuredClone(answers ?? {});
    this.evidence = structuredClone(evidence ?? {});
    this.note({ comment: comment || "", flagged: Boolean(flagged) });
  }

  // The text that is asked for once a question has the answer it has now, if any.
  textAfter({ key }) {
    const follows = (asked) => asked.kind === "text" && asked.show_if?.question === key;
    return this.questions.find((asked) => follows(asked) && this.isShown(asked));
  }

  // Sets the comment or the flag.
  note(remark) {
    Object.assign(this, remark);
    this.changes += 1;
  }

  // After a value was chosen, the next question without one is in turn.
  advance() {
    const open = this.scales().find((question) => !this.isAnswered(question));
    if (open) this.question = open.key;
  }

  // A ranking is an answer once everything has a place.
  isAnswered({ key, kind }, item = this.item) {
    const value = this.value(key, item);
    return value !== undefined && (kind !== "ranking" || isWhole(value));
  }

  // Whether the item in hand has an answer to every scale that is shown, and lacks nothing that is required.
  get isItemAnswered() {
    return this.scales().every((question) => this.isAnswered(question)) && !this.missingOf(this.index);
  }

  // The first required question without an answer, or whose answer must point: {index, question, points}, or
  // null.
  missing() {
    for (const index of this.items.keys()) {
      const missing = this.missingOf(index);
      if (missing) return missing;
    }
    return null;
  }

  missingOf(index) {
    const item = this.items[index];
    const isOpen = (asked) => this.isShown(asked, item) && !this.isAnswered(asked, item);
    const question = this.questions.find((asked) => asked.required && asked.kind !== "tag" && isOpen(asked));
    if (question) return { index, question };
    const points = (asked) =>
      asked.evidence_required && this.takes(asked, item) && !this.pointed(asked.key, item).length;
    const pointing = this.questions.find(points);
    return pointing ? { index, question: pointing, points: true } : null;
  }

  count(key) {
    return this.items.filter((item) => this.value(key, item) === 1).length;
  }

  content() {
    const { answers, comment, flagged, index } = this;
    const evidence = this.sentEvidence();
    return { answers, ...(Object.keys(evidence).length && { evidence }), comment, flagged, index };
  }
}
