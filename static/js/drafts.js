// Keeps the draft of one task: on the server at every change, and on this device until the server has it.

const place = (assignment) => `concord-draft-${assignment}`;
const LONGEST_WAIT_MS = 10000;

const headers = {
  "Content-Type": "application/json",
  ...JSON.parse(document.body.getAttribute("hx-headers")),
};

// Posts JSON and returns {ok, body}; throws only where nothing answered.
export async function post(url, payload, options = {}) {
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(payload), ...options });
  const isJson = (answer.headers.get("content-type") || "").includes("json");
  if (isJson) return { ok: answer.ok, body: await answer.json() };
  const error =
    answer.redirected || answer.status === 403
      ? "You are signed out. Sign in again in another tab; your draft is kept on this device."
      : "The server could not answer. Your draft is kept on this device; try again.";
  return { ok: false, body: { error } };
}

// A browser that keeps nothing on the device still saves to the server.
function onDevice(action) {
  try {
    return action(localStorage);
  } catch {
    return null;
  }
}

const store = (assignment, draft) =>
  onDevice((device) =>
    draft ? device.setItem(place(assignment), JSON.stringify(draft)) : device.removeItem(place(assignment)),
  );

export const kept = (assignment) => onDevice((device) => JSON.parse(device.getItem(place(assignment))));

export class Drafts {
  constructor(assignment, url, say) {
    Object.assign(this, { assignment, url, say, waiting: null, busy: false, ended: false, tries: 0 });
  }

  save(draft) {
    store(this.assignment, draft);
    this.waiting = draft;
    if (!this.busy) this.send();
  }

  async send() {
    this.busy = true;
    while (this.waiting && !this.ended) {
      const draft = this.waiting;
      this.waiting = null;
      this.say("Saving…");
      try {
        const { ok, body } = await post(this.url, draft, { keepalive: JSON.stringify(draft).length < 60000 });
        this.tries = 0;
        if (this.ended) break;
        if (!ok) this.say(body.error, true);
        else if (body.version > draft.version && !this.waiting) {
          this.say("Newer answers were saved in another tab. Reload to see them.", true);
        } else if (!this.waiting) {
          this.say("Draft saved");
          store(this.assignment, null);
        }
      } catch {
        this.waiting ??= draft;
        this.say("Not saved: no connection. Trying again…", true);
        await new Promise((done) => setTimeout(done, Math.min(LONGEST_WAIT_MS, 1000 * 2 ** this.tries++)));
      }
    }
    this.busy = false;
  }

  // Nothing more is sent; with `forget`, the copy on this device goes too.
  end(forget) {
    this.ended = true;
    if (forget) store(this.assignment, null);
  }
}
