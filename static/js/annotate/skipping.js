// Giving a task up, with a reason. `skip` sends it and resolves to a refusal, or null.

export function skipping(dialog, skip) {
  const form = dialog.querySelector("#skip-form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const reason = [given.get("reason"), given.get("more").trim()].filter(Boolean).join(": ");
    const refused = await skip(reason);
    dialog.querySelector("#skip-error").textContent = refused?.error ?? "";
    if (refused) return;
    form.reset();
    dialog.close();
  });
  dialog.querySelector("#keep").addEventListener("click", () => dialog.close());
}
