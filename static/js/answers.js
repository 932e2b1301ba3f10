// The answers to one task, which item and question are in view, and the way back from each change.

const UNDO_STEPS = 200;

export class Answers {
  constructor(questions, task) {
    this.questions = questions;
    this.items = task.items.map(String);
    this.version = task.draft.version || 0;
    this.answers = structuredClone(task.draft.answers || {});
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

  isShown(question, item = this.item) {
    if (!question.show_if) return true;
    const { question: key, min = -Infinity, max = Infinity } = question.show_if;
    const value = this.value(key, item);
    return typeof value === "number" && value >= min && value <= max;
  }

  scales() {
    return this.questions.filter((question) => !["tag", "text"].includes(question.kind) && this.isShown(question));
  }

  // Typing in one field is one change to undo.
  set(key, value, typing = false) {
    if (!typing || this.typing !== this.item + key) this.remember();
    this.typing = typing ? this.item + key : null;
    const answers = (this.answers[this.item] ??= {});
    if (value === null || value === "" || value === 0 && this.kind(key) === "tag") delete answers[key];
    else answers[key] = value;
    this.version += 1;
  }

  remember() {
    this.past.push([this.index, structuredClone(this.answers)]);
    if (this.past.length > UNDO_STEPS) this.past.shift();
  }

  kind(key) {
    return this.questions.find((question) => question.key === key).kind;
  }

  undo() {
    if (!this.past.length) return false;
    [this.index, this.answers] = this.past.pop();
    this.typing = null;
    this.version += 1;
    return true;
  }

  // Moves to another item of the task, or to another question of its only item; false at either end.
  move(step) {
    if (this.items.length > 1) {
      const next = this.index + step;
      if (next < 0 || next >= this.items.length) return false;
      this.index = next;
      return true;
    }
    const keys = this.scales().map((question) => question.key);
    const next = keys.indexOf(this.question) + step;
    if (next < 0 || next >= keys.length) return false;
    this.question = keys[next];
    return true;
  }

  // After a value was chosen, the next question without one is in turn.
  advance() {
    const open = this.scales().find((question) => this.value(question.key) === undefined);
    if (open) this.question = open.key;
  }

  // The first required question without an answer: {index, question}, or null.
  missing() {
    for (const [index, item] of this.items.entries()) {
      const question = this.questions.find((asked) => asked.required && asked.kind !== "tag"
        && this.isShown(asked, item) && this.value(asked.key, item) === undefined);
      if (question) return { index, question };
    }
    return null;
  }

  count(key) {
    return this.items.filter((item) => this.value(key, item) === 1).length;
  }

  draft(revising) {
    const { version, answers, comment, flagged, index } = this;
    return { version, answers, comment, flagged, index, revising };
  }
}
