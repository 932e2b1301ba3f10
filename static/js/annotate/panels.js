// What an annotator may have at hand: the panel about the dialogue, and the guidelines.

import { recall, remember } from "./memory.js";

export class Panels {
  constructor(campaign, { isAboutOpen, button, transcript }) {
    Object.assign(this, { isAboutOpen, button, guidelines: null });
    this.about = `concord-about-${campaign}`;
    this.seen = `concord-guidelines-${campaign}`;
    transcript.addEventListener("click", ({ target }) => {
      const about = target.closest(".about > summary")?.parentElement;
      if (about) remember(this.about, !about.open);
    });
    button.addEventListener("click", () => {
      remember(this.seen, this.guidelines);
      this.mark();
    });
  }

  // The panel stays as its reader left it, from task to task.
  show(transcript, guidelines) {
    const about = transcript.querySelector(".about");
    if (about) about.open = recall(this.about) ?? this.isAboutOpen;
    this.guidelines = guidelines;
    if (recall(this.seen) === null) remember(this.seen, guidelines);
    this.mark();
  }

  // Guidelines are new until they were opened.
  mark() {
    const isNew = this.guidelines !== null && recall(this.seen) !== this.guidelines;
    this.button.firstChild.textContent = isNew ? "Guidelines (new) " : "Guidelines ";
  }
}
