// What the annotator is asked before answers go or are overwritten.

import { choose, differences } from "./choosing.js";

const CONFLICT = {
  title: "Two sets of answers",
  lead: "Another tab or device saved other answers to this task. Nothing is saved until you choose.",
  here: "Keep what is here",
  there: "Take the other",
};
const SUBMITTED = {
  title: "Submitted already, with other answers",
  lead: "Answers to this task were submitted from another tab or device, and they stand unless you revise them.",
  here: "Revise with what is here",
  there: "Leave what was submitted",
};

export class Asking {
  constructor(which, sure, lines) {
    Object.assign(this, { dialog: which, sure, lines });
  }

  rows(answers, kept, showing) {
    const { questions, items } = answers;
    const name = (index) => showing.name(index);
    const told = (entry) => this.lines.told(entry);
    const here = { ...answers, evidence: answers.sentEvidence() };
    return differences({ questions, items, name, told }, here, kept);
  }

  // Resolves to "here", "there", or "" where the choice was put off; where nothing differs, to "here".
  async which(answers, kept, showing) {
    const rows = this.rows(answers, kept, showing);
    return rows.length ? choose(this.dialog, kept.isSubmitted ? SUBMITTED : CONFLICT, rows) : "here";
  }

  // Resolves to whether a task goes although something speaks against it.
  isSure(doubts) {
    this.sure.querySelector("[data-part=why]").textContent = doubts;
    this.sure.returnValue = "";
    this.sure.showModal();
    return new Promise((done) =>
      this.sure.addEventListener("close", () => done(this.sure.returnValue === "go"), { once: true }),
    );
  }
}
