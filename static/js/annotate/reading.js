// How much of a task was shown: for how long, and which of the turns to be judged were on screen.

const MOMENT_MS = 1000;

export class Reading {
  constructor(reader, submitButton) {
    Object.assign(this, { reader, submitButton, unseen: [], all: 0 });
    let asked = false;
    const look = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        this.look();
      });
    };
    reader.addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    document.addEventListener("visibilitychange", () => this.count());
  }

  // A task is on screen; one that its annotator `knows` (submitted before) needs no second look.
  begin(rows, knows) {
    this.all = rows.length;
    this.unseen = knows ? [] : rows;
    this.submitButton.toggleAttribute("data-early", !knows);
    this.count();
    this.look();
  }

  get isEarly() {
    return this.submitButton.hasAttribute("data-early");
  }

  // Time passes while the page is visible.
  count() {
    clearTimeout(this.timer);
    if (!document.hidden && this.isEarly)
      this.timer = setTimeout(() => this.submitButton.removeAttribute("data-early"), MOMENT_MS);
  }

  // A turn was seen once its end was in view.
  look() {
    if (document.hidden || !this.unseen.length) return;
    const { top, bottom } = this.reader.getBoundingClientRect();
    this.unseen = this.unseen.filter((row) => {
      const end = row.getBoundingClientRect().bottom;
      return end <= top || end > bottom + 1;
    });
  }

  // Why a submit should wait, as sentences; empty where nothing speaks against it. Who works one key a task
  // (`isQuick`) is not asked about haste.
  doubts(isQuick) {
    const why = this.isEarly && !isQuick ? ["You have had this task for less than a second."] : [];
    const count = this.unseen.length;
    if (count && this.all > 1)
      why.push(`${count} of its ${this.all} turns ${count > 1 ? "have" : "has"} not been on screen.`);
    else if (count) why.push("The end of what you rate has not been on screen.");
    return why.join(" ");
  }
}
