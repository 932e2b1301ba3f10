// A preview of the annotator's page: what would go to the server is answered here, and nothing is remembered.

import { rememberNothing } from "./annotate/memory.js";
import { answerWith } from "./annotate/sending.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const { previous, next, end } = read("preview");

// Another task is another page, which shows itself: there is nothing to come back to.
function go(address) {
  location.replace(address);
  return new Promise(() => {});
}

const shown = (state) => ({ ok: true, body: state });
let isOver = false;

answerWith(async (url, payload) => {
  if (url.endsWith("/draft/")) return shown({ version: payload.version, told: "Preview: nothing is kept" });
  if (url.endsWith("/note/")) return shown({ comment: "", flagged: false, bookmarked: false, ...payload });
  if (url.endsWith("/ask/")) return { ok: false, body: { error: "Preview: nothing is sent." } };
  if (url.endsWith("/reopen/") && !isOver)
    return previous
      ? go(previous)
      : { ok: false, body: { error: "No task comes before this one.", passes: true } };
  if (next) return go(next);
  isOver = !isOver;
  return shown(isOver ? end : read("state"));
});

rememberNothing();
