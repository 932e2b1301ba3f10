// How long a task has had its annotator's attention: while the page is visible and focused, and somebody has
// moved, scrolled, touched or typed within the last minute. Reading is quiet, so that minute counts.

const QUIET_MS = 60000;
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchmove"];

export class Attention {
  constructor() {
    Object.assign(this, { before: 0, spent: 0, since: null });
    for (const sign of SIGNS) addEventListener(sign, () => this.notice(), { passive: true, capture: true });
    for (const change of ["focus", "blur"]) addEventListener(change, () => this.notice());
    document.addEventListener("visibilitychange", () => this.notice());
  }

  // A task is on screen, from now on.
  begin() {
    Object.assign(this, { before: this.all, spent: 0, since: null });
    this.notice();
  }

  // Milliseconds that this page has had, over all of its tasks.
  get all() {
    return this.before + this.ms;
  }

  // Milliseconds that the task has had so far.
  get ms() {
    const running = this.since === null ? 0 : Math.min(performance.now() - this.since, this.limit);
    return Math.round(this.spent + running);
  }

  notice() {
    this.spent = this.ms;
    const isHere = !document.hidden && document.hasFocus();
    this.since = isHere ? performance.now() : null;
    this.limit = QUIET_MS;
  }
}
