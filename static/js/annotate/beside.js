// What stands beside the answers: notes on turns, and messages about them.

import { Notes } from "./notes.js";
import { Threads } from "./threads.js";

export class Beside {
  // `isPointing` says whether a click on a turn is for somebody else.
  constructor(transcript, base, isPointing) {
    this.threads = new Threads(transcript, base);
    const ask = (line, text) => this.threads.ask(line, text);
    this.notes = new Notes(transcript, document.getElementById("turn-note"), base, ask, isPointing);
  }

  begin(task) {
    this.notes.begin(task);
    this.threads.begin(task);
  }

  // Capital letters speak of the turn in hand, where the small ones speak of the task.
  get commands() {
    return {
      C: () => this.notes.open(),
      M: () => this.notes.toggle("flagged"),
      B: () => this.notes.toggle("bookmarked"),
    };
  }
}
