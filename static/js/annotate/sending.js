// Posting JSON to the server, and what it means when nothing, or a server that restarts, answers.

import { signIn, token } from "./sign_in.js";

const SHORTEST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30000;

// Names this page among the tabs and devices that may show the same task.
export const client = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) =>
  part.toString(36),
).join("-");

// Waits, or goes on at once when the connection is back.
export const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
    window.addEventListener("online", done, { once: true });
  });

// Nothing is lost, and the same may be sent again: after `wait` milliseconds where the server said when.
export class Unreachable extends Error {
  constructor(why, wait = null) {
    super(why);
    this.wait = wait;
  }
}

function waitOf(answer) {
  const seconds = Number(answer.headers.get("retry-after")) || 2;
  return Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, 1000 * seconds));
}

let standIn = null;

// From now on `answer(url, payload)` answers, and nothing goes to the server.
export const answerWith = (answer) => {
  standIn = answer;
};

async function send(url, payload, options) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token() };
  const request = { method: "POST", headers, body: JSON.stringify(payload), ...options };
  const answer = await fetch(url, request).catch(() => {
    throw new Unreachable("no connection");
  });
  if ([502, 503, 504].includes(answer.status))
    throw new Unreachable("the server is restarting", waitOf(answer));
  return answer;
}

const isJson = (answer) => (answer.headers.get("content-type") || "").includes("json");
const isSignedOut = (answer) => answer.redirected || (answer.status === 403 && !isJson(answer));

// Returns {ok, body}; throws Unreachable where nothing answered or the server asks to wait. Where the session
// has ended it asks to sign in, and sends the same again.
export async function post(url, payload, { automatic = false, ...options } = {}) {
  if (standIn) return standIn(url, payload);
  let answer = await send(url, payload, options);
  while (isSignedOut(answer) && (await signIn({ automatic }))) answer = await send(url, payload, options);
  if (isJson(answer)) return { ok: answer.ok, body: await answer.json() };
  const error = isSignedOut(answer)
    ? "Not saved: you are signed out. Your answers are kept on this device; submit to sign in again."
    : "The server could not answer. Your draft is kept on this device; try again.";
  return { ok: false, body: { error } };
}

// Posts until the server is up again, telling `waiting` each time; a change of mind (`wanted` false) ends it.
export async function postUntilUp(url, payload, { waiting, wanted }) {
  for (;;) {
    try {
      return await post(url, payload);
    } catch (problem) {
      if (!problem.wait) throw problem;
      waiting(problem);
      await pause(problem.wait);
      if (!wanted())
        return {
          ok: false,
          body: { error: "Not submitted: you changed your answers meanwhile. Submit again." },
        };
    }
  }
}
