// Asks to sign in on the spot once the session has ended, so that what was to be sent can be sent again.

const dialog = document.getElementById("sign-in-again");
let asking = null;
let declined = false;

// The token that the server takes now: signing in, in this tab or another, changes it.
export const token = () => document.cookie.match(/(?:^|; )concord_csrf=([^;]*)/)?.[1] ?? "";

// Resolves to whether it is worth sending again. What goes by itself (`automatic`) does not ask again once declined.
export function signIn({ automatic = false } = {}) {
  if (!dialog || (automatic && declined)) return Promise.resolve(false);
  asking ??= ask().finally(() => {
    asking = null;
  });
  return asking;
}

function ask() {
  const form = dialog.querySelector("form");
  const part = (name) => form.querySelector(`[data-part=${name}]`);
  const tell = (problem) => {
    part("error").textContent = problem;
    part("error").hidden = !problem;
  };
  const ended = new AbortController();
  return new Promise((resolve) => {
    const end = (isWorthIt) => {
      declined = !isWorthIt;
      ended.abort();
      form.reset();
      dialog.close();
      resolve(isWorthIt);
    };
    const on = (target, event, does) => target.addEventListener(event, does, { signal: ended.signal });
    tell("");
    on(part("later"), "click", () => end(false));
    on(dialog, "cancel", () => end(false));
    // Back from another tab: whoever signed in there can send now.
    on(document, "visibilitychange", () => document.hidden || end(true));
    on(form, "submit", async (event) => {
      event.preventDefault();
      tell("");
      const problem = await send(form);
      if (!problem) return end(true);
      tell(problem);
      return form.elements.password.select();
    });
    dialog.showModal();
    form.elements.password.focus();
  });
}

// Returns why the password was refused; empty once it was taken.
async function send(form) {
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.action, {
    method: "POST",
    headers: { "X-CSRFToken": token() },
    body,
    redirect: "manual",
  }).catch(() => null);
  if (!answer) return "No connection. Try again.";
  if (answer.type === "opaqueredirect") return "";
  if (answer.ok) return "The password is not right. Try again."; // the form again
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector("main .empty p")?.textContent.trim() ?? "Signing in failed. Try again.";
}
