// The page on which somebody decides on a case: keys, and a draft that is kept at every change.

import { Drafts, continues, unsent } from "./drafts.js";

const $ = (id) => document.getElementById(id);
const form = $("decision");
const state = JSON.parse($("state").textContent);
const choices = [...form.querySelectorAll("[name=choice]")];
const written = $("value");

function say(text, isProblem = false) {
  $("saved").textContent = text;
  $("saved").classList.toggle("problem", isProblem);
}

const chosen = () => choices.find((choice) => choice.checked)?.value ?? "";

// What a draft says. A form names a value by its place in the scale.
function content() {
  const cannot = chosen() === "cannot";
  const answer = written ? written.value : (state.values[chosen()] ?? null);
  return { answer: cannot ? null : answer, cannot, reason: $("reason").value };
}

function show({ answer, cannot, reason }) {
  const place = written ? "written" : String(state.values.indexOf(answer));
  for (const choice of choices) choice.checked = choice.value === (cannot ? "cannot" : place);
  if (written) written.value = answer ?? "";
  $("reason").value = reason ?? "";
}

const drafts = new Drafts({
  assignment: `case-${state.decision}`,
  url: $("main").dataset.draft,
  base: state.version,
  say,
  onConflict: settle,
});

// Another tab kept another draft: whoever decides says which of the two stays.
function settle(kept) {
  const banner = $("banner");
  const button = (textContent, does) => {
    const act = () => {
      banner.hidden = true;
      drafts.settle(kept);
      does();
    };
    const properties = { type: "button", className: "btn", textContent, onclick: act };
    return Object.assign(document.createElement("button"), properties);
  };
  banner.replaceChildren(
    "Another tab or device kept another draft of this case. ",
    button("Keep what is here", () => drafts.save(content())),
    " ",
    button("Take the other", () => show(kept)),
  );
  banner.hidden = false;
}

const keep = () => drafts.save(content());

function choose(choice) {
  choice.checked = true;
  choice.scrollIntoView({ block: "nearest" });
  keep();
}

function step(by) {
  const next = choices.findIndex((choice) => choice.checked) + by;
  if (choices[next]) choose(choices[next]);
}

const open = (id) => () => $(id)?.showModal();
const COMMANDS = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  r: () => $("reason").focus(),
  p: () => $("back")?.click(),
  g: open("guidelines"),
  "?": open("keys"),
};

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.isComposing) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  const isTyping = event.target.matches("input:not([type=radio]), textarea, select");
  if (isTyping && event.key === "Escape") event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const choice = choices.find(({ dataset }) => dataset.key === event.key);
  const command = choice ? () => choose(choice) : COMMANDS[event.key];
  if (!command) return;
  event.preventDefault();
  command();
});

form.addEventListener("input", ({ target }) => {
  if (target === written) choices.forEach((choice) => (choice.checked = choice.value === "written"));
  keep();
});
form.addEventListener("submit", () => drafts.end(true));
document.querySelector("[data-closes]").addEventListener("click", () => $("pass").close());

const local = unsent(`case-${state.decision}`);
if (local && continues(local, { version: state.version })) {
  show(local);
  keep();
}
const rated = $("here") ?? $("transcript").querySelector(".turn.item, .turn.rated");
rated?.scrollIntoView({ block: "center" });
$("reader").focus({ preventScroll: true });
