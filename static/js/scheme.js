// The scheme editor: keeps the preview up to date without taking the cursor, and moves questions by key.
(() => {
  "use strict";
  const form = document.getElementById("scheme-form");
  const button = document.getElementById("refresh");
  const screen = document.querySelector(".preview .screen");
  let count = 0;
  let previewed = "";
  let isSaving = false;
  button.hidden = true;

  // A form that is submitted again before the browser has left drops what was submitted first: no preview may
  // come after a click on Save.
  form.addEventListener("submit", ({ submitter }) => {
    isSaving = submitter !== button;
  });
  window.addEventListener("pageshow", () => {
    isSaving = false;
  });

  // A new frame is filled behind the one in sight and takes its place: nothing flickers, and going back in the
  // browser does not lead through earlier previews.
  // What the preview shows already is not asked for again: an answer that is tried in it would be lost.
  function refresh() {
    const typed = new URLSearchParams(new FormData(form)).toString();
    if (isSaving || typed === previewed) return;
    previewed = typed;
    for (const coming of screen.querySelectorAll(".coming")) coming.remove();
    const [old] = screen.querySelectorAll("iframe");
    const fresh = old.cloneNode();
    fresh.removeAttribute("src");
    fresh.name = `preview-${++count}`;
    fresh.className = "coming";
    fresh.style = "position: absolute; visibility: hidden";
    fresh.addEventListener("load", () => {
      if (fresh.contentWindow.location.href === "about:blank") return;
      fresh.className = fresh.style = "";
      for (const other of screen.querySelectorAll("iframe:not(.coming)")) if (other !== fresh) other.remove();
    });
    screen.append(fresh);
    button.formTarget = fresh.name;
    form.requestSubmit(button);
  }

  // The server says so once what is typed can be asked.
  document.addEventListener("concord:previewable", refresh);
  document.addEventListener("concord:said", ({ detail }) => {
    document.getElementById("said").textContent = detail.value;
  });
  // What is typed while a button's answer is on its way is not in that answer: it is asked for again.
  let typed = 0;
  const asked = new WeakMap();
  form.addEventListener("input", () => {
    typed += 1;
  });
  form.addEventListener("htmx:beforeRequest", ({ detail }) => asked.set(detail.xhr, typed));
  form.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, target, requestConfig } = event.detail;
    if (target.id !== "fields" || asked.get(xhr) === typed) return;
    event.detail.shouldSwap = false;
    const again = requestConfig.elt.matches("select") ? "change" : "click";
    setTimeout(() => requestConfig.elt.dispatchEvent(new Event(again, { bubbles: true, cancelable: true })));
  });

  // A field is invalid as long as a problem is told beside it.
  function judge() {
    for (const field of form.querySelectorAll(":is(input, select, textarea)[aria-describedby]")) {
      const ids = field.getAttribute("aria-describedby").split(" ");
      const isWrong = ids.some((id) => document.querySelector(`#${id} li`));
      if (isWrong) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
  }
  form.addEventListener("htmx:afterSettle", judge);
  judge();
  form.querySelector("[aria-invalid]")?.focus();

  // Which questions stand open is posted with them, so that they stay as they are.
  const noted = ({ target }) => {
    if (target.matches("[data-question]"))
      target.querySelector("[name$='-unfolded']").value = target.open ? "1" : "";
  };
  form.addEventListener("toggle", noted, true);
  form.addEventListener("keydown", (event) => {
    const way = { ArrowUp: "up", ArrowDown: "down" }[event.key];
    const question = event.target.closest("[data-question]");
    if (!event.altKey || !way || !question) return;
    event.preventDefault();
    document.getElementById(`${question.id}-${way}`).click();
  });
  // Enter in a line of text saves in a form with one button; here it must not press the first of many.
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  });
  // In a campaign's form, the preview also follows the chosen scheme and speakers.
  form.addEventListener("change", ({ target }) => {
    if (["scheme", "speakers"].includes(target.name)) setTimeout(refresh);
  });
  // A scheme with a usual number of raters fills it in, unless a number was typed.
  const raters = form.elements.raters_per_item;
  form.elements.scheme?.addEventListener("change", ({ target }) => {
    if (!raters?.dataset.usual || raters.dataset.typed) return;
    raters.value = JSON.parse(raters.dataset.usual)[target.value] ?? raters.defaultValue;
  });
  raters?.addEventListener("input", () => {
    raters.dataset.typed = "1";
  });
  if (form.dataset.ready) refresh();
})();
