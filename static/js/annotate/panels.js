// The panel about the dialogue: it stays as its reader left it, from task to task.

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
    if (about) about.open = recall(this.about) ?? this.isAboutOpen;
  }
}
