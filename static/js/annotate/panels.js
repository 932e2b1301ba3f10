// The panel about the dialogue: it stays as its reader left it, from task to task; without turns it is open.

import { recall, remember } from "./memory.js";

export class Panels {
  constructor(campaign, { isAboutOpen, transcript }) {
    this.isAboutOpen = isAboutOpen;
    this.about = `concord-about-${campaign}`;
    transcript.addEventListener("click", ({ target }) => {
      const about = target.closest(".about > summary")?.parentElement;
      if (about) remember(this.about, !about.open);
    });
  }

  show(transcript) {
    const about = transcript.querySelector(".about");
    const hasTurns = transcript.querySelector(".turn");
    if (about) about.open = !hasTurns || (recall(this.about) ?? this.isAboutOpen);
  }
}
