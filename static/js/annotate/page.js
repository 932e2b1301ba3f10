// The lines around a task: what became of the draft, a banner above the transcript, how far the annotator is.

const $ = (id) => document.getElementById(id);

let isRefused = false;

// What became of the draft; it does not hide why a submit was refused.
export function say(text, isProblem = false) {
  if (isRefused && !isProblem) return;
  $("saved").textContent = text;
  $("saved").classList.toggle("problem", isProblem);
}

// Why a submit was refused, until something changes.
export function refuse(text) {
  say(text, true);
  isRefused = true;
}

export const forgetRefusal = () => {
  isRefused = false;
};

// Shows a banner, with a button where something can be done about it; without a text, none.
export function warn(text = "", action = "", onclick = null) {
  const banner = $("banner");
  banner.replaceChildren(text, " ");
  banner.hidden = !text;
  if (!action) return;
  const properties = { type: "button", className: "btn", textContent: action, onclick };
  banner.append(Object.assign(document.createElement("button"), properties));
}

export function showProgress({ text, time, done, whole }) {
  $("progress-text").textContent = text;
  $("time-left").textContent = time;
  $("progress").setAttribute("aria-valuenow", done);
  $("progress").setAttribute("aria-valuemax", whole);
  $("progress").firstElementChild.style.width = `${(100 * done) / whole}%`;
}
