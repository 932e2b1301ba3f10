// The page of a writer: a response is sent until the server has it, and its draft is saved meanwhile.

import { pause, post, Unreachable } from "./annotate/sending.js";

const DRAFT_MS = 800;
const AGAIN_MS = 2000;

const part = (name) => document.querySelector(`[data-part="${name}"]`);
const { base, assignment, number } = document.getElementById("main").dataset;
const form = part("compose");
const field = form.elements.text;
const button = form.querySelector("button");
let timer = null;
let isSending = false;

const content = (text) => ({ assignment: Number(assignment), number: Number(number), text });

function show() {
  const left = field.dataset.most - [...field.value.trim()].length;
  part("left").textContent = `${left} characters left`;
  part("left").classList.toggle("text-danger", left < 0);
  button.disabled = isSending || left < 0 || !field.value.trim();
}

async function saveDraft() {
  if (isSending) return;
  try {
    const { ok, body } = await post(`${base}draft/`, content(field.value), { automatic: true });
    if (!isSending) part("status").textContent = ok ? "Draft saved" : body.error;
  } catch (problem) {
    if (!(problem instanceof Unreachable)) throw problem;
    part("status").textContent = "Draft not saved: no connection";
  }
}

// Sends until the server has answered; then the page goes on, or says why not.
async function deliver(url, payload) {
  isSending = true;
  clearTimeout(timer);
  show();
  for (;;) {
    try {
      const { ok, body } = await post(url, payload);
      if (ok && body.is_last) return finish(body.real);
      if (ok) return window.location.replace(base);
      part("error").textContent = body.error;
      part("reload").hidden = false;
      break;
    } catch (problem) {
      if (!(problem instanceof Unreachable)) throw problem;
      part("error").textContent = "Not sent yet: no connection. It is sent as soon as there is one.";
      await pause(problem.wait ?? AGAIN_MS);
    }
  }
  isSending = false;
  show();
  return null;
}

function finish(real) {
  form.hidden = true;
  document.querySelector('[data-opens="skip"]').hidden = true;
  part("ending").textContent = real ? `This was really said last: “${real}”` : "";
  part("over").hidden = false;
  part("over").querySelector("a").focus();
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(saveDraft, DRAFT_MS);
  show();
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!button.disabled) deliver(`${base}send/`, content(field.value));
});
part("skip")
  .closest("dialog")
  .addEventListener("close", (event) => {
    const isSure = event.target.returnValue === "yes";
    event.target.returnValue = "";
    if (isSure) deliver(`${base}skip/`, content(part("skip").elements.reason.value));
  });

part("scroll").scrollTop = part("scroll").scrollHeight;
if (window.innerWidth >= 768) field.focus();
show();
