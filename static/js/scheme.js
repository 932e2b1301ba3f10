// The scheme editor: keeps the preview up to date without taking the cursor, and moves questions by key.
(() => {
  "use strict";
  const form = document.getElementById("scheme-form");
  const button = document.getElementById("refresh");
  const screen = document.querySelector(".preview .screen");
  let count = 0;
  button.hidden = true;

  // A new frame is filled behind the one in sight and takes its place: nothing flickers, and going back in the
  // browser does not lead through earlier previews.
  function refresh() {
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
  if (form.dataset.ready) refresh();
})();
