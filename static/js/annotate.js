// The annotation page: shows a task, takes answers by key and by click, submits, and shows the next one.

import { Answers } from "./answers.js";
import { Drafts, kept, post } from "./drafts.js";

const $ = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const questions = JSON.parse($("questions").textContent);
const campaign = $("main").dataset.campaign;
const base = `/work/${campaign}/`;
const parts = Object.fromEntries(["banner", "transcript", "palette", "actions", "reader", "place", "saved",
  "submit", "undo", "flag"].map((id) => [id, $(id)]));
let task = null;
let answers = null;
let drafts = null;
let guidelines = null;
let sending = false;

// --- showing -----------------------------------------------------------------------------------------

function say(text, isProblem = false) {
  parts.saved.textContent = text;
  parts.saved.classList.toggle("problem", isProblem);
}

function warn(text, action) {
  parts.banner.replaceChildren(text ?? "");
  if (action) parts.banner.append(" ", button(action.text, action.run));
  parts.banner.hidden = !text;
  if (text) parts.reader.scrollTop = 0;
}

function button(text, run) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: "btn", textContent: text, onclick: run });
  return made;
}

function load(state) {
  drafts?.end(false);
  parts.transcript.innerHTML = state.html;
  task = state.task;
  parts.palette.hidden = parts.actions.hidden = !task;
  document.body.classList.toggle("idle", !task);
  showProgress(state.progress);
  refreshGuidelines(state.guidelines);
  warn();
  if (!task) return history.replaceState(null, "", base);
  const local = kept(task.assignment);
  if (local && local.version > (task.draft.version || 0)) task.draft = local;
  answers = new Answers(questions, task);
  drafts = new Drafts(task.assignment, `${base}${task.assignment}/draft/`, say);
  if (task.draft === local) drafts.save(answers.draft(task.revising));
  else say(task.draft.version ? "Draft restored" : "");
  history.replaceState(null, "", task.revising ? `${base}${task.assignment}/` : base);
  if (task.revising) warn("You are revising a task that you submitted. Submitting replaces your answers.", next);
  else if (state.campaign !== "open") warn(`The campaign is ${state.campaign}. Your draft is kept; nothing can be submitted now.`);
  $("comment-text").value = answers.comment;
  render();
  show(true);
}

const next = { text: "Leave it as it is", run: () => ask(`${base}next/`, {}) };

function showProgress({ done, left, minutes }) {
  const whole = left === null ? null : done + left;
  $("progress-text").textContent = whole === null ? `${done} done` : `${done} of ${whole}`;
  $("progress").setAttribute("aria-valuenow", done);
  $("progress").setAttribute("aria-valuemax", whole ?? done);
  $("progress").hidden = !whole;
  $("progress").firstElementChild.style.width = whole ? `${(100 * done) / whole}%` : "0";
  const time = minutes === null || !left ? "" : minutes < 1 ? "about a minute left" : minutes < 90
    ? `about ${minutes} min left` : `about ${Math.round(minutes / 60)} h left`;
  $("time-left").textContent = time;
}

async function refreshGuidelines(version) {
  const changed = guidelines !== null && guidelines !== version;
  guidelines = version;
  if (!changed) return;
  const answer = await fetch(`${base}guidelines/`);
  if (answer.ok) $("guidelines-text").innerHTML = await answer.text();
  $("guidelines-button").firstChild.textContent = "Guidelines (new) ";
}

function render() {
  const rows = all("[data-item]", parts.transcript);
  for (const row of rows) {
    const isHere = row.dataset.item === answers.item;
    row.classList.toggle("here", isHere && answers.items.length > 1);
    row.toggleAttribute("aria-current", isHere);
    renderChips(row);
  }
  for (const question of questions) renderQuestion(question);
  const waiting = answers.missing();
  parts.submit.classList.toggle("waiting", Boolean(waiting));
  parts.flag.setAttribute("aria-pressed", answers.flagged);
  parts.undo.disabled = !answers.past.length;
  $("comment-button").classList.toggle("has", Boolean(answers.comment));
  if (answers.items.length > 1) describePlace(rows);
}

function renderChips(row) {
  const tags = questions.filter((question) => question.kind === "tag" && answers.value(question.key, row.dataset.item) === 1);
  row.querySelector(".chips")?.remove();
  if (answers.items.length < 2 || !tags.length) return;
  const chips = document.createElement("div");
  chips.className = "chips";
  for (const { wording } of tags) chips.append(Object.assign(document.createElement("span"), { className: "chip", textContent: wording }));
  row.querySelector(".text").append(chips);
}

function renderQuestion(question) {
  const isShown = answers.isShown(question);
  const value = answers.value(question.key);
  for (const choice of all(`[data-scale="${question.key}"]`)) {
    choice.setAttribute("aria-pressed", value !== undefined && question.values[Number(choice.dataset.at)] === value);
    choice.hidden = !isShown;
  }
  for (const tag of all(`[data-tag="${question.key}"]`)) {
    tag.setAttribute("aria-pressed", value === 1);
    tag.hidden = !isShown;
    const count = tag.querySelector(".count");
    count.hidden = answers.items.length < 2;
    count.textContent = answers.count(question.key);
  }
  for (const entry of all(`[data-entry="${question.key}"]`)) {
    if (document.activeElement !== entry) entry.value = value ?? "";
    entry.closest(".field").hidden = !isShown;
  }
  for (const section of all(`[data-question="${question.key}"]`)) {
    section.hidden = !isShown;
    section.classList.toggle("current", question.key === answers.question && answers.scales().length > 1);
  }
  hideEmptySections();
}

function hideEmptySections() {
  for (const section of all(".asked:not([data-question])")) {
    section.hidden = all(".opt, .field", section).every((control) => control.hidden);
  }
}

function describePlace(rows) {
  const row = rows.find((each) => each.dataset.item === answers.item);
  if (!row) return;
  const [no, who] = [row.querySelector(".no").textContent, row.querySelector(".who").textContent];
  const [first, last] = [rows[0], rows.at(-1)].map((each) => each.querySelector(".no").textContent);
  parts.place.textContent = `Turn ${no}, ${who} · tag ${first} to ${last}`;
}

function show(isNew) {
  const row = parts.transcript.querySelector("[aria-current], .rated");
  if (row) row.scrollIntoView({ block: isNew && answers.items.length > 1 ? "start" : "nearest" });
  if (isNew) parts.reader.focus({ preventScroll: true });
}

function help(key) {
  for (const box of all("[data-help]")) {
    if (box.dataset.help === key) box.hidden = false;
    else if (all(`[data-help="${key}"]`).length) box.hidden = true;
  }
}

// --- changing ----------------------------------------------------------------------------------------

function changed() {
  drafts.save(answers.draft(task.revising));
  render();
}

function choose(question, value) {
  answers.question = question.key;
  answers.set(question.key, value);
  if (question.kind === "tag") help(question.key);
  else answers.advance();
  changed();
  if (answers.items.length > 1) show(false);
}

function toggle(question) {
  choose(question, answers.value(question.key) === 1 ? 0 : 1);
}

function move(step) {
  if (!answers.move(step)) return;
  render();
  show(false);
}

function undo() {
  if (!answers.undo()) return say("Nothing to undo in this task");
  changed();
  show(false);
}

function flag() {
  answers.flagged = !answers.flagged;
  answers.version += 1;
  changed();
}

// --- asking the server ---------------------------------------------------------------------------------

async function ask(url, payload) {
  if (sending) return null;
  sending = true;
  parts.submit.disabled = true;
  try {
    const { ok, body } = await post(url, payload);
    if (ok) {
      drafts?.end(true);
      load(body);
      return null;
    }
    return body;
  } catch {
    return { error: "Not sent: no connection. Nothing is lost; try again.", code: "offline" };
  } finally {
    sending = false;
    parts.submit.disabled = false;
  }
}

async function submit() {
  const waiting = answers.missing();
  if (waiting) {
    answers.index = waiting.index;
    answers.question = waiting.question.key;
    render();
    show(false);
    return say(`Not complete: “${waiting.question.wording}” has no answer yet.`, true);
  }
  const refused = await ask(`${base}${task.assignment}/submit/`, answers.draft(task.revising));
  if (!refused) return null;
  if (refused.code !== "lease_lost") return say(refused.error, true);
  drafts.end(true);
  return warn(refused.error, { text: "Next task", run: () => ask(`${base}next/`, {}) });
}

async function skip(event) {
  event.preventDefault();
  const form = new FormData($("skip-form"));
  const reason = [form.get("reason"), form.get("more").trim()].filter(Boolean).join(": ");
  const refused = await ask(`${base}${task.assignment}/skip/`, { reason });
  if (refused) $("skip-error").textContent = refused.error;
  else {
    $("skip-form").reset();
    $("skip-error").textContent = "";
    $("skip").close();
  }
}

async function reopen() {
  const refused = await ask(`${base}reopen/`, { before: task?.revising ? task.assignment : null });
  if (refused) say(refused.error, true);
}

// --- keys and clicks -----------------------------------------------------------------------------------

const COMMANDS = {
  "?": () => $("keys").showModal(),
  g: () => $("guidelines").showModal(),
  c: () => $("comment").showModal(),
  x: () => $("skip").showModal(),
  u: undo,
  m: flag,
  p: reopen,
  v: () => document.querySelector("[data-toggles-marks]")?.click(),
};

const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

// The letter on the key where the layout writes another script.
function letter(event) {
  return /^[\x20-\x7e]$/.test(event.key) ? event.key : event.code.replace(/^(Key|Digit)/, "").toLowerCase();
}

function onKey(event) {
  if (!task || document.querySelector("dialog[open]") || event.isComposing) return;
  const isTyping = event.target.matches("input, textarea, select");
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") run(event, submit);
  else if (isTyping && event.key === "Escape") event.target.blur();
  else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key in STEPS) {
    if (answers.items.length > 1 || answers.scales().length > 1) run(event, () => move(STEPS[event.key]));
  } else onLetter(event, letter(event));
}

function onLetter(event, key) {
  const current = questions.find((question) => question.key === answers.question);
  const tag = questions.find((question) => question.kind === "tag" && question.shortcut === key && answers.isShown(question));
  if (current && key in current.keys && answers.isShown(current)) run(event, () => choose(current, current.keys[key]));
  else if (tag) run(event, () => toggle(tag));
  else if (Object.hasOwn(COMMANDS, key)) run(event, COMMANDS[key]);
}

function run(event, action) {
  event.preventDefault();
  action();
}

function onClick(event) {
  const question = (name) => questions.find((each) => each.key === name);
  const { scale, tag, at } = event.target.closest("[data-scale], [data-tag]")?.dataset ?? {};
  const row = event.target.closest("[data-item]");
  if (scale) choose(question(scale), question(scale).values[Number(at)]);
  else if (tag) toggle(question(tag));
  else if (row && answers.items.length > 1 && String(getSelection()) === "") {
    answers.index = answers.items.indexOf(row.dataset.item);
    render();
  }
}

function onInput({ target }) {
  if (target.dataset.entry) {
    const isNumber = target.type === "number";
    const value = isNumber ? (Number.isNaN(target.valueAsNumber) ? null : target.valueAsNumber) : target.value;
    answers.set(target.dataset.entry, value, true);
  } else if (target.id === "comment-text") {
    answers.comment = target.value;
    answers.version += 1;
  } else return;
  changed();
}

document.addEventListener("keydown", onKey);
$("main").addEventListener("click", onClick);
document.addEventListener("input", onInput);
parts.palette.addEventListener("mouseover", (event) => help(event.target.closest("[data-tag]")?.dataset.tag));
parts.palette.addEventListener("focusin", (event) => help(event.target.closest("[data-tag]")?.dataset.tag));
parts.submit.addEventListener("click", submit);
parts.undo.addEventListener("click", undo);
parts.flag.addEventListener("click", flag);
$("previous").addEventListener("click", reopen);
$("skip-form").addEventListener("submit", skip);
for (const closer of all("[data-closes]")) closer.addEventListener("click", () => closer.closest("dialog").close());
load(JSON.parse($("state").textContent));
