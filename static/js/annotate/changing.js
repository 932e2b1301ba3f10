// Changes to the answers of a task, by key, click and typing: each is drawn and kept as a draft at once.

import { Ordering } from "./ordering.js";
import { byDigit, switched, toggled } from "./people.js";
import { nextOpen, placed, written } from "./ranking.js";

// On a phone the last answer that a turn needs leads on to the next turn.
const sheet = matchMedia("(max-width: 48rem) and (pointer: coarse)");

export class Changing {
  // `now` returns the answers in hand, or null; `keep` saves them; `pointing` knows what they point at; `chosen`
  // hears of each value chosen.
  constructor(questions, showing, { now, keep, pointing, chosen }) {
    Object.assign(this, { questions, showing, now, keep, pointing, chosen });
    new Ordering(showing.palette, { now, ranked: (key, found) => this.rank(key, found) });
  }

  render() {
    this.showing.render(this.now());
    this.pointing.draw(this.now());
  }

  changed() {
    this.keep();
    this.render();
    if (this.now().isMultiple) this.showing.showTurn(this.now());
  }

  // The same value again takes the answer to an optional question back.
  choose(question, chosen, isByKey = false) {
    const answers = this.now();
    if (this.pointing.question !== question) this.pointing.end();
    const isTag = question.kind === "tag";
    const isAgain = !isTag && !question.required && answers.value(question.key) === chosen;
    const value = isAgain ? null : chosen;
    const wasOpen = !answers.isItemAnswered;
    answers.question = isTag ? answers.question : question.key;
    answers.set(question.key, value);
    if (!isTag && !isAgain) answers.advance();
    this.showing.help(isTag ? question.key : answers.question);
    this.changed();
    const text = value ? answers.textAfter(question) : null;
    if (text && this.showing.focusEntry(text.key)) return;
    const isDone = wasOpen && answers.isItemAnswered && !answers.takes(question);
    if (sheet.matches && answers.isMultiple && isDone && answers.move(1)) this.moved(answers);
    this.showing.showQuestion(answers);
    if (isByKey && !isTag) this.showing.focusEntry(answers.question);
    if (!isTag && !isAgain) this.chosen();
  }

  // Puts somebody into a set of people, or takes out; the question stays in turn, as more may follow.
  name(key, who) {
    const answers = this.now();
    if (!who) return;
    answers.question = key;
    answers.set(key, toggled(answers.value(key), who));
    this.changed();
  }

  nameByDigit(key, digit) {
    this.name(key, byDigit(this.now().people, digit));
  }

  // Puts a session into an answer, or takes it out.
  session(key, id) {
    const answers = this.now();
    if (!id) return;
    answers.question = key;
    answers.set(key, switched(answers.value(key), id));
    this.changed();
  }

  // Gives one of what is ranked a place; by key, the next one without a place is in turn.
  place(key, side, place, isByKey = false) {
    const answers = this.now();
    if (place > answers.sides) return;
    const places = placed(answers, key, side, place);
    answers.question = key;
    answers.side = side;
    answers.set(key, written(places));
    if (isByKey) answers.side = nextOpen(places, side);
    this.changed();
  }

  // Takes the places of all that is ranked at once, as dragging gives them.
  rank(key, found) {
    const answers = this.now();
    answers.question = key;
    answers.set(key, written(found));
    this.changed();
  }

  lookAt(side) {
    const answers = this.now();
    answers.side = Math.max(0, Math.min(side, answers.sides - 1));
    this.showing.render(answers);
  }

  toggle(question) {
    this.choose(question, this.now().value(question.key) === 1 ? 0 : 1);
  }

  move(step, isAcross) {
    const answers = this.now();
    document.activeElement.matches("input[type=number]") && document.activeElement.blur();
    if (!answers.move(step, isAcross)) return;
    this.moved(answers);
    this.showing.focusEntry(answers.question);
  }

  // A digit begins a number where the question in turn takes one: its field gets the cursor, and the digit.
  fill() {
    const { question } = this.now();
    if (this.questions.some(({ key, kind }) => key === question && kind === "number"))
      this.showing.focusEntry(question);
  }

  moved(answers) {
    this.render();
    this.showing.help(answers.question);
    this.showing.showTurn(answers);
    if (!answers.isMultiple) this.showing.showQuestion(answers);
  }

  undo() {
    if (!this.now().undo()) return;
    this.showing.help();
    this.changed();
  }

  flag() {
    this.now().note({ flagged: !this.now().flagged });
    this.changed();
  }

  type(target) {
    const number = Number.isNaN(target.valueAsNumber) ? null : target.valueAsNumber;
    const { entry } = target.dataset;
    if (entry) this.now().set(entry, target.type === "number" ? number : target.value, true);
    else if (target.id === "comment-text") this.now().note({ comment: target.value });
    else return;
    this.changed();
  }

  click(target) {
    const named = (name) => this.questions.find((question) => question.key === name);
    const { scale, tag, at } = target.closest("[data-scale], [data-tag]")?.dataset ?? {};
    const { ranks, side, place } = target.closest("[data-ranks]")?.dataset ?? {};
    const { names, who } = target.closest("[data-names]")?.dataset ?? {};
    const row = target.closest("[data-item]");
    if (names && target.closest("[data-sessions]")) return this.session(names, who);
    if (names) return this.name(names, who);
    if (ranks) this.place(ranks, Number(side), Number(place));
    else if (scale) this.choose(named(scale), named(scale).values[Number(at)]);
    else if (tag) this.toggle(named(tag));
    else if (row && this.now().isMultiple && String(getSelection()) === "") {
      this.now().go(this.now().items.indexOf(row.dataset.item));
      this.moved(this.now());
    }
  }

  // Goes to what a task lacks, and says what that is.
  complete(missing) {
    this.point(missing);
    const { question, points } = missing;
    if (!points) return `Not complete: “${question.wording}” has no answer yet.`;
    this.pointing.begin(question);
    return `Not complete: say which turns “${question.wording}” refers to.`;
  }

  // Goes to the first question that has no answer yet.
  point({ index, question }) {
    const answers = this.now();
    answers.index = index;
    if (!["tag", "text"].includes(question.kind)) answers.question = question.key;
    this.moved(answers);
    if (question.kind === "text") this.showing.focusEntry(question.key);
    else this.showing.showQuestion(answers);
  }
}
