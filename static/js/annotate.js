// The annotation page: shows a task, takes answers by key and by click, submits, and shows the next one.

import { Answers } from "./answers.js";
import { Drafts, kept, post } from "./drafts.js";

const $ = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const questions = JSON.parse($("questions").textContent);
const base = `/work/${$("main").dataset.campaign}/`;
const [banner, transcript, palette, reader, saved, submitButton] = [
  "banner",
  "transcript",
  "palette",
  "reader",
  "saved",
  "submit",
].map($);
let task, answers, drafts, guidelines;
let sending = false;

// Showing: a line beside the buttons, a warning above the transcript, a task, its answers.
function say(text, isProblem = false) {
  saved.textContent = text;
  saved.classList.toggle("problem", isProblem);
}

function warn(text = "", action = "") {
  banner.replaceChildren(text, " ");
  banner.hidden = !text;
  if (!action) return;
  const onclick = () => ask("next/");
  banner.append(
    Object.assign(document.createElement("button"), { className: "btn", textContent: action, onclick }),
  );
  reader.scrollTop = 0;
}

function load(state) {
  drafts?.end();
  transcript.innerHTML = state.html;
  task = state.task;
  palette.hidden = $("actions").hidden = !task;
  document.body.classList.toggle("idle", !task);
  showProgress(state.progress);
  if (guidelines && guidelines !== state.guidelines)
    $("guidelines-button").firstChild.textContent = "Guidelines (new) ";
  guidelines = state.guidelines;
  history.replaceState(null, "", task?.revising ? `${base}${task.assignment}/` : base);
  warn();
  if (!task) return;
  const local = kept(task.assignment);
  const isNewer = local?.version > (task.draft.version || 0);
  if (isNewer) task.draft = local;
  answers = new Answers(questions, task);
  drafts = new Drafts(task.assignment, `${base}${task.assignment}/draft/`, say);
  say(task.draft.version ? "Draft restored" : "");
  if (isNewer) drafts.save(answers.draft(task.revising));
  if (task.revising)
    warn(
      "You are revising a task that you submitted. Submitting replaces your answers.",
      "Leave it as it is",
    );
  else if (state.campaign !== "open")
    warn(`The campaign is ${state.campaign}. Your draft is kept; nothing can be submitted now.`);
  $("comment-text").value = answers.comment;
  render();
  show("start");
  reader.focus({ preventScroll: true });
}

function showProgress({ text, time, done, whole }) {
  $("progress-text").textContent = text;
  $("time-left").textContent = time;
  $("progress").setAttribute("aria-valuenow", done);
  $("progress").setAttribute("aria-valuemax", whole);
  $("progress").firstElementChild.style.width = `${(100 * done) / whole}%`;
}

function render() {
  const rows = all("[data-item]", transcript);
  for (const row of rows) renderRow(row);
  questions.forEach(renderQuestion);
  for (const section of all(".asked"))
    section.hidden = all(".opt, .field", section).every((control) => control.hidden);
  submitButton.classList.toggle("waiting", Boolean(answers.missing()));
  $("flag").setAttribute("aria-pressed", answers.flagged);
  $("undo").disabled = !answers.past.length;
  $("comment-button").classList.toggle("has", Boolean(answers.comment));
  if (answers.isMultiple) describePlace(rows);
}

function renderRow(row) {
  const isHere = row.dataset.item === answers.item;
  row.classList.toggle("here", isHere && answers.isMultiple);
  row.toggleAttribute("aria-current", isHere);
  row.querySelector(".chips")?.remove();
  const tags = questions.filter(
    ({ kind, key }) => kind === "tag" && answers.value(key, row.dataset.item) === 1,
  );
  if (!answers.isMultiple || !tags.length) return;
  const chips = Object.assign(document.createElement("div"), { className: "chips" });
  for (const { wording: textContent } of tags) {
    chips.append(Object.assign(document.createElement("span"), { className: "chip", textContent }));
  }
  row.querySelector(".text").append(chips);
}

function renderQuestion(question) {
  const { key, values } = question;
  const isShown = answers.isShown(question);
  const value = answers.value(key);
  for (const choice of all(`[data-scale="${key}"]`)) {
    choice.setAttribute("aria-pressed", value !== undefined && values[Number(choice.dataset.at)] === value);
    choice.hidden = !isShown;
  }
  for (const tag of all(`[data-tag="${key}"]`)) {
    tag.setAttribute("aria-pressed", value === 1);
    tag.hidden = !isShown;
    tag.lastElementChild.hidden = !answers.isMultiple;
    tag.lastElementChild.textContent = answers.count(key);
  }
  for (const entry of all(`[data-entry="${key}"]`)) {
    if (document.activeElement !== entry) entry.value = value ?? "";
    entry.closest(".field").hidden = !isShown;
  }
  const section = document.querySelector(`[data-question="${key}"]`);
  section?.classList.toggle("current", key === answers.question && answers.scales().length > 1);
}

function describePlace(rows) {
  const part = (row, name) => row.querySelector(name).textContent;
  const here = rows[answers.index];
  const range = `${part(rows[0], ".no")} to ${part(rows.at(-1), ".no")}`;
  $("place").textContent = `Turn ${part(here, ".no")}, ${part(here, ".who")} · tag ${range}`;
}

function show(block = "nearest") {
  const row = transcript.querySelector("[aria-current], .rated");
  row?.scrollIntoView({ block: answers.isMultiple ? block : "nearest" });
}

function help(key) {
  if (document.querySelector(`[data-help="${key}"]`))
    for (const box of all("[data-help]")) box.hidden = box.dataset.help !== key;
}

// Changing: each change is drawn and kept as a draft at once.
function changed() {
  drafts.save(answers.draft(task.revising));
  render();
  if (answers.isMultiple) show();
}

function choose(question, value) {
  answers.question = question.key;
  answers.set(question.key, value);
  if (question.kind === "tag") help(question.key);
  else answers.advance();
  changed();
}

const toggle = (question) => choose(question, answers.value(question.key) === 1 ? 0 : 1);

function move(step) {
  if (!answers.move(step)) return;
  render();
  show();
}

const undo = () => answers.undo() && changed();

const flag = () => {
  answers.note({ flagged: !answers.flagged });
  changed();
};

// Posts to an address of the campaign and loads the task in the answer; a refusal is returned.
async function ask(place, payload = {}) {
  if (sending) return null;
  sending = submitButton.disabled = true;
  try {
    const { ok, body } = await post(base + place, payload);
    if (!ok) return body;
    drafts?.end(true);
    load(body);
    return null;
  } catch {
    return { error: "Not sent: no connection. Nothing is lost; try again." };
  } finally {
    sending = submitButton.disabled = false;
  }
}

async function submit() {
  const missing = answers.missing();
  if (missing) {
    Object.assign(answers, { index: missing.index, question: missing.question.key });
    render();
    show();
    return say(`Not complete: “${missing.question.wording}” has no answer yet.`, true);
  }
  const refused = await ask(`${task.assignment}/submit/`, answers.draft(task.revising));
  if (refused?.code === "lease_lost") return warn(refused.error, "Next task");
  return refused && say(refused.error, true);
}

async function skip(event) {
  event.preventDefault();
  const form = new FormData(event.target);
  const reason = [form.get("reason"), form.get("more").trim()].filter(Boolean).join(": ");
  const refused = await ask(`${task.assignment}/skip/`, { reason });
  $("skip-error").textContent = refused?.error ?? "";
  if (refused) return;
  event.target.reset();
  $("skip").close();
}

async function back() {
  const refused = await ask("reopen/", { before: task?.revising ? task.assignment : null });
  if (refused) say(refused.error, true);
}

const ACTIONS = { submit, undo, flag, back, before: () => move(-1), after: () => move(1) };
const COMMANDS = {
  u: undo,
  m: flag,
  p: back,
  v: () => document.querySelector("[data-toggles-marks]")?.click(),
  g: () => $("guidelines-button").click(),
};
const DIALOGS = { "?": "keys", c: "comment", x: "skip" };
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

// What a key asks for, or undefined; on keyboards of other scripts, the letter at its place.
function meaning(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (event.key in STEPS) return answers.canMove ? () => move(STEPS[event.key]) : undefined;
  const key = /^[\x20-\x7e]$/.test(event.key)
    ? event.key
    : event.code.replace(/^(Key|Digit)/, "").toLowerCase();
  const current = questions.find((question) => question.key === answers.question);
  const tag = questions.find((question) => question.kind === "tag" && question.shortcut === key);
  if (current && Object.hasOwn(current.keys, key)) return () => choose(current, current.keys[key]);
  if (tag && answers.isShown(tag)) return () => toggle(tag);
  if (Object.hasOwn(DIALOGS, key)) return () => $(DIALOGS[key]).showModal();
  return Object.hasOwn(COMMANDS, key) ? COMMANDS[key] : undefined;
}

function onKey(event) {
  if (!task || document.querySelector("dialog[open]") || event.isComposing) return;
  const isTyping = event.target.matches("input, textarea, select");
  if (isTyping && event.key === "Escape") event.target.blur();
  const submits = (event.ctrlKey || event.metaKey) && event.key === "Enter";
  const action = submits ? submit : isTyping ? undefined : meaning(event);
  if (!action) return;
  event.preventDefault();
  action();
}

function onClick({ target }) {
  const named = (name) => questions.find((question) => question.key === name);
  const { scale, tag, at, does } = target.closest("[data-scale], [data-tag], [data-does]")?.dataset ?? {};
  const row = target.closest("[data-item]");
  if (does) ACTIONS[does]();
  else if (scale) choose(named(scale), named(scale).values[Number(at)]);
  else if (tag) toggle(named(tag));
  else if (row && answers.isMultiple && String(getSelection()) === "") {
    answers.index = answers.items.indexOf(row.dataset.item);
    render();
  }
}

function onInput({ target }) {
  const number = Number.isNaN(target.valueAsNumber) ? null : target.valueAsNumber;
  if (target.dataset.entry)
    answers.set(target.dataset.entry, target.type === "number" ? number : target.value, true);
  else if (target.id === "comment-text") answers.note({ comment: target.value });
  else return;
  changed();
}

document.addEventListener("keydown", onKey);
$("main").addEventListener("click", onClick);
document.addEventListener("input", onInput);
$("skip-form").addEventListener("submit", skip);
$("keep").addEventListener("click", () => $("skip").close());
for (const name of ["mouseover", "focusin"]) {
  palette.addEventListener(name, ({ target }) => help(target.closest("[data-tag]")?.dataset.tag));
}
load(JSON.parse($("state").textContent));
