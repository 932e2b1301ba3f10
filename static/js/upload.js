// Sends the import form in the background, so that how much of the file was sent is seen. Without it, the
// form is sent as any other.
(() => {
  "use strict";
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-upload]");
    if (!form) return;
    event.preventDefault();
    const meter = form.querySelector("progress");
    const button = form.querySelector("button.primary");
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.responseType = "document";
    request.upload.addEventListener("progress", (sent) => {
      if (sent.lengthComputable) meter.value = sent.loaded / sent.total;
    });
    request.addEventListener("load", () => {
      const answer = request.response?.querySelector("form[data-upload]");
      if (answer) form.replaceWith(document.adoptNode(answer));
      else window.location.assign(request.responseURL);
    });
    request.addEventListener("error", () => {
      button.disabled = false;
      meter.hidden = true;
      form.querySelector("[data-upload-lost]").hidden = false;
    });
    button.disabled = true;
    meter.hidden = false;
    request.send(new FormData(form));
  });
})();
