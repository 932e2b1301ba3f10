// Changes to the answers of a task, by key, click and typing: each is drawn and kept as a draft at once.

export class Changing {
  // `now` returns the answers in hand, or null; `keep` saves them; `chosen` hears of each value chosen.
  constructor(questions, showing, { now, keep, chosen }) {
    Object.assign(this, { questions, showing, now, keep, chosen });
  }

  changed() {
    this.keep();
    this.showing.render(this.now());
    if (this.now().isMultiple) this.showing.showTurn(this.now());
  }

  // The same value again takes the answer to an optional question back.
  choose(question, chosen, isByKey = false) {
    const answers = this.now();
    const isTag = question.kind === "tag";
    const isAgain = !isTag && !question.required && answers.value(question.key) === chosen;
    const value = isAgain ? null : chosen;
    answers.question = isTag ? answers.question : question.key;
    answers.set(question.key, value);
    if (!isTag && !isAgain) answers.advance();
    this.showing.help(isTag ? question.key : answers.question);
    this.changed();
    const text = value ? answers.textAfter(question) : null;
    if (text && this.showing.focusEntry(text.key)) return;
    this.showing.showQuestion(answers);
    if (isByKey && !isTag) this.showing.focusEntry(answers.question);
    if (!isTag && !isAgain) this.chosen();
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
    this.showing.render(answers);
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
    const row = target.closest("[data-item]");
    if (scale) this.choose(named(scale), named(scale).values[Number(at)]);
    else if (tag) this.toggle(named(tag));
    else if (row && this.now().isMultiple && String(getSelection()) === "") {
      this.now().go(this.now().items.indexOf(row.dataset.item));
      this.moved(this.now());
    }
  }

  // Goes to the first question that has no answer yet.
  point({ index, question }) {
    const answers = this.now();
    answers.index = index;
    if (question.kind !== "text") answers.question = question.key;
    this.moved(answers);
    if (question.kind === "text") this.showing.focusEntry(question.key);
    else this.showing.showQuestion(answers);
  }
}
