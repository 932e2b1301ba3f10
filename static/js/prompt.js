// The editor of prompts: a variable is put in at the cursor; a request is copied. Pages work without it.
(() => {
  "use strict";
  let last = document.querySelector("textarea[name$=user]");
  document.addEventListener("focusin", (event) => {
    if (event.target.matches("textarea.code")) last = event.target;
  });
  for (const inserter of document.querySelectorAll("[data-inserts]")) inserter.disabled = !last;
  document.addEventListener("click", ({ target }) => {
    const text = target.closest("[data-inserts]")?.dataset.inserts;
    if (!text) return;
    if (!last?.isConnected) last = document.querySelector("textarea[name$=user]");
    // execCommand keeps the browser's undo, which setRangeText does not
    last.focus();
    if (!document.execCommand("insertText", false, text))
      last.setRangeText(text, last.selectionStart, last.selectionEnd, "end");
  });
  const hint = document.querySelector("[data-inserts-hint]");
  if (hint) hint.hidden = !last;
  for (const copier of document.querySelectorAll("[data-copies]")) {
    copier.hidden = false;
    copier.addEventListener("click", async () => {
      const field = document.getElementById(copier.dataset.copies);
      const status = copier.parentElement.querySelector("[role=status]");
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
        status.textContent = "Copied.";
      } catch {
        // without a secure connection browsers keep the clipboard shut, but not this older way
        status.textContent = document.execCommand("copy") ? "Copied." : "Selected: copy it yourself.";
      }
    });
  }
})();
