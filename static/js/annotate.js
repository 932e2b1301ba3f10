// The annotation page: shows a task, takes answers by key and by click, submits, and shows the next one.

import { Answers } from "./answers.js";
import { accepting } from "./annotate/accepting.js";
import { Asking } from "./annotate/asking.js";
import { Attention } from "./annotate/attention.js";
import { Beside } from "./annotate/beside.js";
import { Changing } from "./annotate/changing.js";
import { Comfort } from "./annotate/comfort.js";
import { Keys } from "./annotate/keys.js";
import { forgetRefusal, refuse, say, showProgress, warn } from "./annotate/page.js";
import { Lines } from "./annotate/lines.js";
import { Panels } from "./annotate/panels.js";
import { Pointing } from "./annotate/pointing.js";
import { Reading } from "./annotate/reading.js";
import { postUntilUp } from "./annotate/sending.js";
import { Showing } from "./annotate/showing.js";
import { skipping } from "./annotate/skipping.js";
import { Drafts, continues, unsent } from "./drafts.js";

const $ = (id) => document.getElementById(id);
const main = $("main");
const questions = JSON.parse($("questions").textContent);
const { base } = main.dataset;
const [transcript, palette, reader, submitButton] = ["transcript", "palette", "reader", "submit"].map($);
const showing = new Showing(questions, { transcript, palette, submitButton });
const reading = new Reading(reader, submitButton);
const panels = new Panels(main.dataset.campaign, {
  isAboutOpen: main.dataset.about === "open",
  transcript,
});
const asking = new Asking($("which"), $("sure"), new Lines(transcript));
const attention = new Attention();
const beside = new Beside(transcript, base, () => Boolean(pointing.question));
const comfort = new Comfort(JSON.parse($("comfort").textContent), () => attention.all);
let task, answers, drafts;
let sending = false;

// Loading: a task with its draft, or that there is none.
function load(state) {
  drafts?.end();
  transcript.innerHTML = state.html;
  task = state.task;
  palette.hidden = $("actions").hidden = !task;
  document.body.classList.toggle("idle", !task);
  showProgress(state.progress);
  panels.show(transcript);
  history.replaceState(null, "", task?.revising ? `${base}${task.assignment}/` : base);
  warn();
  forgetRefusal();
  answers = task && new Answers(questions, task);
  pointing.question = null;
  attention.begin();
  beside.begin(task);
  comfort.name();
  if (!task) return reader.focus({ preventScroll: true });
  tell(state);
  draw();
  restore();
  reader.scrollTop = palette.scrollTop = 0;
  showing.help();
  showing.showTurn(answers, "start");
  reading.begin([...transcript.querySelectorAll(main.dataset.seen)], task.revising || task.returned);
  if (parent === window || document.hasFocus()) reader.focus({ preventScroll: true });
}

function tell(state) {
  if (task.told) warn(task.told);
  else if (task.closed) warn(task.closed, "To my next task", () => ask("next/"));
  else if (task.revising)
    warn(
      "You are revising a task that you submitted. Submitting replaces your answers.",
      "Leave it as it is",
      () => ask("next/"),
    );
  else if (state.campaign !== "open")
    warn(`The campaign is ${state.campaign}. Your draft is kept; nothing can be submitted now.`);
}

function draw() {
  changing.render();
  if (document.activeElement !== $("comment-text")) $("comment-text").value = answers.comment;
}

// What this device could not send goes on from what the server has, or the annotator chooses.
function restore() {
  const { assignment, draft } = task;
  drafts = new Drafts({
    assignment,
    url: `${base}${assignment}/draft/`,
    base: draft.version,
    say,
    onConflict: settle,
  });
  say(draft.answers && !task.revising ? "Draft restored" : "");
  const local = unsent(assignment);
  if (!local) return;
  answers.replace(local);
  draw();
  if (!continues(local, draft)) drafts.hold(draft, local.base);
  keep();
}

function keep() {
  forgetRefusal();
  if (task.closed) return;
  drafts.save({ ...answers.content(), revising: task.revising, attention: attention.ms });
}

// Two sets of answers: the one chosen is kept, and both stay where they are until then.
async function settle(kept) {
  const choice = await asking.which(answers, kept, showing);
  if (!choice) return drafts.hold(kept);
  drafts.settle(kept);
  if (choice === "there" && kept.isSubmitted) return ask("next/");
  if (choice === "there") answers.replace(kept);
  if (kept.isSubmitted) {
    task.revising = true;
    tell({});
  }
  draw();
  return keep();
}

// Posts `content()`, once no draft is on its way, and loads the task in the answer; a refusal is returned.
async function ask(place, content = () => ({})) {
  if (sending) return null;
  sending = submitButton.disabled = true;
  try {
    await drafts?.quiet();
    const [before, asked] = [answers?.changes, answers];
    const { ok, body } = await postUntilUp(base + place, content(), {
      waiting: ({ message }) => say(`Not submitted yet: ${message}. Trying again…`, true),
      wanted: () => asked === answers && before === answers?.changes,
    });
    if (!ok) return body;
    drafts?.end(true);
    load(body);
    return null;
  } catch (problem) {
    return { error: `Not sent: ${problem.message}. Nothing is lost; try again.`, passes: true };
  } finally {
    sending = submitButton.disabled = false;
  }
}

async function submit() {
  if (task.closed) return refuse(task.closed);
  if (sending) return null;
  const missing = answers.missing();
  if (missing) return refuse(changing.complete(missing));
  const doubts = reading.doubts(isQuick());
  if (doubts && !(await asking.isSure(doubts))) return reading.unseen[0]?.scrollIntoView({ block: "start" });
  const sent = () => ({ revising: task.revising, attention: attention.ms });
  const content = () => ({ ...answers.content(), ...drafts.stamp, ...sent() });
  const refused = await ask(`${task.assignment}/submit/`, content);
  if (refused?.kept)
    return settle({ ...refused.kept, isSubmitted: refused.code === "submitted_differently" });
  if (refused?.code === "consent_needed") return ask("next/");
  if (refused?.code === "lease_lost") return warn(refused.error, "Next task", () => ask("next/"));
  return refused && (refused.passes ? say(refused.error, true) : refuse(refused.error));
}

async function back() {
  const refused = await ask("reopen/", () => ({ before: task?.revising ? task.assignment : null }));
  if (refused) say(refused.error, true);
}

const accept = accepting(ask);
const isQuick = () => comfort.isOneKey(questions, answers);
const held = () => answers;
const now = () => (sending && isQuick() ? null : answers);
const chosen = () => isQuick() && submit();
const changed = () => changing.changed();
const pointing = new Pointing(questions, { transcript, reader, palette, now: held, changed });
const changing = new Changing(questions, showing, { now: held, keep, pointing, chosen });
const move = (step, isAcross) => changing.move(step, isAcross);
const undo = () => (isQuick() && !answers.past.length ? back() : changing.undo());
const flag = () => changing.flag();
const ACTIONS = { submit, undo, flag, back, accept, before: () => move(-1), after: () => move(1) };
const commands = {
  u: undo,
  m: flag,
  p: back,
  v: () => document.querySelector("[data-toggles-marks]")?.click(),
  g: () => $("guidelines-button").click(),
  N: () => Comfort.none(questions, answers) && changing.changed(),
  ...beside.commands,
};
new Keys(questions, { now, submit, changing, pointing, commands, usually: (key) => comfort.usually(key) });
main.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-does]");
  if (button) ACTIONS[button.dataset.does](button.dataset);
  else if (now() && !pointing.click(target)) changing.click(target);
});
document.addEventListener("input", ({ target }) => answers && changing.type(target));
skipping($("skip"), (reason) => ask(`${task.assignment}/skip/`, () => ({ reason })));
load(JSON.parse($("state").textContent));
