// Sends a chosen or dropped file at once, in the background, so that how much of it was sent is seen; and
// keeps what is open and being typed while the preview of an import is refreshed. Without it, a button sends.
(() => {
  "use strict";
  const sendingForm = () => document.querySelector("form[data-upload]");
  const sendButton = () => sendingForm()?.querySelector("button.btn-primary");
  const hideButton = () => sendButton()?.toggleAttribute("hidden", true);
  hideButton();

  document.addEventListener("change", (event) => {
    if (event.target.closest("form[data-upload]")) sendingForm().requestSubmit();
  });
  for (const name of ["dragover", "drop"])
    document.addEventListener(name, (event) => {
      const form = sendingForm();
      if (!form || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (name === "dragover" || !event.dataTransfer.files.length) return;
      form.querySelector("input[type=file]").files = event.dataTransfer.files;
      form.requestSubmit();
    });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-upload]");
    if (!form) return;
    event.preventDefault();
    const meter = form.querySelector("progress");
    const button = sendButton();
    if (button.disabled) return;
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.responseType = "document";
    request.upload.addEventListener("progress", (sent) => {
      if (sent.lengthComputable) meter.value = sent.loaded / sent.total;
    });
    request.addEventListener("load", () => {
      const answer = request.response?.querySelector("form[data-upload]");
      if (answer) {
        form.replaceWith(document.adoptNode(answer));
        hideButton();
      } else window.location.assign(request.responseURL);
    });
    request.addEventListener("error", () => {
      button.disabled = button.hidden = false;
      meter.hidden = true;
      form.querySelector("[data-upload-lost]").hidden = false;
    });
    button.disabled = true;
    meter.hidden = false;
    request.send(new FormData(form));
  });

  document.addEventListener(
    "toggle",
    (event) => {
      const field = event.target.querySelector(":scope > [data-open], :scope > .stack > [data-open]");
      if (field) field.value = event.target.open ? field.dataset.open : "";
    },
    true,
  );
  document.addEventListener("htmx:beforeSwap", (event) => {
    const field = document.activeElement;
    const isTyping = field?.form?.id === "import-form" && field.matches("input:not([type=checkbox])");
    if (isTyping && field.value !== field.defaultValue) event.detail.shouldSwap = false;
  });
})();
