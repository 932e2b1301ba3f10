// Keeps the draft of one task: on the server at every change, and on this device until the server has it.
//
// A draft says which page wrote it and which version it has seen, so that the server refuses one that would
// overwrite what another tab or device saved; then nothing more is sent until the annotator has chosen.

import { forget, names, recall, remember } from "./annotate/memory.js";
import { client, pause, post } from "./annotate/sending.js";

const LONGEST_WAIT_MS = 10000;
const LONGEST_DELAY_MS = 1500; // of a submit
const LARGEST_KEPT_ALIVE = 60000;

const place = (assignment, writer = "") => `concord-draft-${assignment}-${writer}`;

// The latest draft of a task that this device could not send: {content, version, base, client} or null.
export function unsent(assignment) {
  const kept = names(place(assignment)).map((name) => [name, recall(name)]);
  const [latest] = kept.filter(([, draft]) => draft?.at).sort(([, a], [, b]) => b.at - a.at);
  if (!latest) return null;
  forget(latest[0]);
  return latest[1];
}

// Whether a draft that was not sent goes on from the one that the server has.
export const continues = (local, kept) =>
  local.base === kept.version || (local.client === kept.client && local.version > kept.version);

export class Drafts {
  constructor({ assignment, url, base, say, onConflict }) {
    Object.assign(this, { assignment, url, base, say, onConflict, version: base });
    Object.assign(this, { waiting: null, conflict: null, busy: false, ended: false, tries: 0 });
  }

  // What a submit tells the server of its writer.
  get stamp() {
    return { client, based_on: this.base };
  }

  save(content) {
    this.version = Math.max(this.version, this.base) + 1;
    this.waiting = { ...content, version: this.version };
    remember(place(this.assignment, client), {
      ...this.waiting,
      client,
      base: this.base,
      at: Date.now(),
    });
    if (this.conflict) this.onConflict(this.conflict);
    else if (!this.busy) this.send();
  }

  // Resolves once no draft is on its way, or after a while: one that came after its submit would be refused.
  quiet() {
    return Promise.race([this.flight, pause(LONGEST_DELAY_MS)]);
  }

  async send() {
    this.busy = true;
    while (this.waiting && !this.ended && !this.conflict) {
      const draft = this.waiting;
      this.waiting = null;
      this.say("Saving…");
      const delivered = this.deliver({ ...draft, ...this.stamp });
      this.flight = delivered.catch(() => {});
      await delivered.catch(async (problem) => {
        this.waiting ??= draft;
        this.say(`Not saved: ${problem.message}. Trying again…`, true);
        await pause(problem.wait ?? Math.min(LONGEST_WAIT_MS, 1000 * 2 ** this.tries++));
      });
    }
    this.busy = false;
  }

  async deliver(draft) {
    const { ok, body } = await post(this.url, draft, {
      automatic: true,
      keepalive: JSON.stringify(draft).length < LARGEST_KEPT_ALIVE,
    });
    this.tries = 0;
    if (this.ended) return;
    if (ok) this.landed(body);
    else if (body.code === "draft_conflict") this.stop(body.kept);
    else this.say(body.error, true);
  }

  landed({ version, told = "Draft saved" }) {
    this.base = Math.max(this.base, version);
    if (this.waiting) return;
    this.say(told);
    forget(place(this.assignment, client));
  }

  // Nothing is sent until the annotator has chosen between what is here and what is kept.
  stop(kept) {
    this.hold(kept);
    this.onConflict(kept);
  }

  // `base` is the version that the draft here goes on from, where it was not sent before.
  hold(kept, base = this.base) {
    Object.assign(this, { conflict: kept, base });
    this.say("Not saved: another tab or device saved other answers. Choose which to keep.", true);
  }

  // The annotator has seen the answers kept on the server.
  settle(kept) {
    this.conflict = null;
    this.base = kept.version;
  }

  // Nothing more is sent; with `forgetting`, the copies on this device go too.
  end(forgetting) {
    this.ended = true;
    if (forgetting) names(place(this.assignment)).forEach(forget);
  }
}
