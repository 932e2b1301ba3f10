// The lobby: somebody waits until a conversation begins.

import { post, Unreachable } from "./annotate/sending.js";
import { listen, minutes, oneAtATime, part, say } from "./chat/stream.js";

const ASK_MS = 5000;

const box = document.getElementById("lobby");
const base = box.dataset.base;
const status = part("status");
const [start, stop] = box.querySelectorAll("[data-does]");
let stream = null;
let timer = null;
const ask = oneAtATime(async () => {
  if (timer === null) return;
  try {
    const { ok, body } = await post(`${base}wait/`, {});
    if (timer === null) return;
    if (!ok) status.textContent = body.error;
    else if (body.address) window.location.assign(body.address);
    else {
      const others = body.others === 1 ? "1 other waits" : `${body.others} others wait`;
      say(
        "status",
        `${body.others ? `${others}, too.` : "Nobody else waits at the moment."} Keep this page open.`,
      );
      say("time", `You have waited for ${minutes(body.seconds)}.`);
    }
  } catch (problem) {
    if (!(problem instanceof Unreachable)) throw problem;
    status.textContent = "No connection. Trying again.";
  }
});
const show = (isWaiting) => {
  start.hidden = isWaiting;
  stop.hidden = !isWaiting;
};
start.addEventListener("click", () => {
  timer = setInterval(ask, ASK_MS);
  stream = listen(`${base}events/`, ask);
  status.textContent = "One moment …";
  show(true);
  ask();
  stop.focus();
});
stop.addEventListener("click", async () => {
  clearInterval(timer);
  timer = null;
  stream.close();
  say("status", "You are not waiting any more.");
  say("time", "");
  show(false);
  await post(`${base}stop/`, {}).catch(() => null); // who stops asking is forgotten anyway
});
