// Small enhancements of every page: dialogs, confirmations, and marks of a transcript.
(() => {
  "use strict";
  // On a phone the tabs are one row that scrolls: begin with the current one in sight.
  const tab = document.querySelector(".workspace [aria-current]");
  if (tab) tab.closest("nav").scrollLeft = tab.offsetLeft - tab.closest("nav").offsetLeft - 48;
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) {
      const dialog = document.getElementById(opener.dataset.opens);
      if (dialog && !event.metaKey && !event.ctrlKey && !event.shiftKey) {
        event.preventDefault();
        dialog.showModal();
      }
      return;
    }
    const marks = event.target.closest("[data-toggles-marks]");
    if (marks) {
      const off = document.body.classList.toggle("marks-off");
      marks.setAttribute("aria-pressed", String(!off));
    }
  });
  // Times are shown in the browser's zone, unless the account page has another one.
  if (!/(?:^|; )concord_zone=/.test(document.cookie)) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    document.cookie = `concord_zone=${timeZone}; path=/; SameSite=Lax`;
  }
  // Search is one key away, wherever nothing is being written.
  document.addEventListener("keydown", (event) => {
    const isWriting = event.target.closest("input, textarea, select, [contenteditable]");
    const isAsked = event.key === "k" ? event.ctrlKey || event.metaKey : event.key === "/" && !isWriting;
    const search = document.getElementById("search");
    if (!isAsked || !search || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    search.showModal();
  });
  // A table or chart is copied as Markdown from its file; a browser that cannot follows the link.
  const copy = async (link) => {
    const status = link.closest("details").querySelector("[role=status]");
    try {
      const response = await fetch(link.href);
      if (!response.ok) throw new Error(response.statusText);
      await navigator.clipboard.writeText(await response.text());
      status.textContent = "Copied.";
    } catch {
      window.location.assign(link.href);
    }
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-copies-file]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    copy(link);
  });
  document.addEventListener("input", (event) => {
    const list = document.getElementById(event.target.dataset.narrows ?? "");
    if (!list) return;
    const wanted = event.target.value.toLowerCase().split(/\s+/);
    for (const group of list.querySelectorAll("[data-group]")) {
      const heading = group.firstElementChild.textContent.toLowerCase();
      let any = false;
      for (const choice of group.querySelectorAll("[data-choice]")) {
        const text = heading + choice.textContent.toLowerCase();
        choice.hidden = !wanted.every((word) => text.includes(word));
        any ||= !choice.hidden;
      }
      group.hidden = !any;
    }
  });
  // A list that stands on one page sorts by its headings, and a long one narrows to what is typed.
  const valueOf = (row, place) => {
    const cell = row.cells[place];
    const text = cell?.textContent.trim() ?? "";
    if (/^\d{1,2} [A-Z][a-z]{2} \d{4}/.test(text)) return Date.parse(text.replace(",", ""));
    return cell?.classList.contains("n") ? Number.parseFloat(text.replaceAll(",", "")) || 0 : text;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  const sortBy = (heading, button, rows) => {
    const falls = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.cells) {
      other.removeAttribute("aria-sort");
      other.querySelector(".table-sort")?.classList.remove("asc", "desc");
    }
    heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
    button.classList.add(falls ? "desc" : "asc");
    const place = heading.cellIndex;
    const sorted = [...rows].sort((a, b) => compare(valueOf(a, place), valueOf(b, place)) * (falls ? -1 : 1));
    rows[0].parentElement.append(...sorted);
  };
  const enrich = () => {
    for (const frame of document.querySelectorAll("[data-sorts]")) {
      const rows = frame.querySelector("tbody").rows;
      frame.removeAttribute("data-sorts");
      if (rows.length < 2) continue;
      for (const heading of frame.querySelector("thead tr").cells) {
        if (!heading.textContent.trim() || heading.querySelector(".visually-hidden")) continue;
        const button = document.createElement("button");
        button.type = "button";
        button.className = "table-sort";
        button.append(...heading.childNodes);
        button.addEventListener("click", () => sortBy(heading, button, rows));
        heading.append(button);
      }
      if (rows.length < 8) continue;
      const field = document.createElement("input");
      Object.assign(field, { type: "search", placeholder: "Filter", className: "form-control w-auto mb-2" });
      field.setAttribute("aria-label", "Filter the list");
      field.addEventListener("input", () => {
        const text = field.value.trim().toLowerCase();
        for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text);
      });
      frame.before(field);
    }
  };
  document.addEventListener("htmx:afterSettle", enrich);
  enrich();
  // A field that belongs to some choices of its form is there with these alone: data-with="name value value", URL-encoded.
  const belong = () => {
    for (const part of document.querySelectorAll("[data-with]")) {
      const [name, ...values] = part.dataset.with.split(" ");
      const chosen = new FormData(part.closest("form")).getAll(name).map(encodeURIComponent);
      part.hidden = !values.some((value) => chosen.includes(value));
      for (const field of part.querySelectorAll("input, select")) field.disabled = part.hidden;
    }
  };
  for (const name of ["change", "htmx:afterSettle"]) document.addEventListener(name, belong);
  belong();
  // What refreshes itself after the session ended is answered with the sign-in page: go there.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (new URL(event.detail.xhr.responseURL).pathname === "/sign-in/") {
      event.detail.shouldSwap = false;
      window.location.reload();
    }
  });
  // What is open or selected stays so when its place refreshes itself; htmx keeps the focus of what has an id.
  let open = [];
  let selected = [];
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    open = [...detail.target.querySelectorAll("details[open] > summary[id]")].map(({ id }) => id);
    const isAct = detail.requestConfig.verb === "post";
    selected = isAct
      ? []
      : [...detail.target.querySelectorAll("[name=selected]:checked")].map(({ id }) => id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const box of document.querySelectorAll("[name=selected]")) box.checked ||= selected.includes(box.id);
    for (const id of open) document.getElementById(id)?.parentElement.setAttribute("open", "");
  });
  // A link to a section that is folded, or to something inside it, opens it.
  const reveal = (id) => {
    const target = document.getElementById(decodeURIComponent(id));
    for (let part = target?.closest("details"); part; part = part.parentElement.closest("details"))
      part.open = true;
    return target;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) reveal(link.hash.slice(1));
  });
  window.addEventListener("hashchange", () => reveal(location.hash.slice(1))?.scrollIntoView());
  if (location.hash) reveal(location.hash.slice(1))?.scrollIntoView();
  // The list of contents marks the section in view: the last that begins in the upper third.
  const contents = document.querySelectorAll("[data-contents] a");
  let followed = null;
  const mark = () => {
    const passed = [...contents].filter(
      ({ hash }) => document.getElementById(hash.slice(1))?.getBoundingClientRect().top < innerHeight / 3,
    );
    const current = followed ?? passed.at(-1) ?? contents[0];
    for (const link of contents) {
      if (link !== current) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "location");
        const list = link.parentElement;
        list.scrollLeft = link.offsetLeft - list.offsetLeft - 48;
      }
    }
  };
  if (contents.length) {
    document.addEventListener("scroll", mark, { passive: true });
    // A section that was just chosen is current, also where the page is too short to scroll to it.
    contents[0].parentElement.addEventListener("click", ({ target }) => {
      followed = target.closest("a");
      mark();
      setTimeout(() => (followed = null), 500);
    });
    mark();
  }
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });
  // Signing in, in this tab or another, changes the token: what is sent takes the one that holds now.
  const token = () => document.cookie.match(/(?:^|; )concord_csrf=([^;]*)/)?.[1];
  const renew = (event) => {
    const field = event.target.elements?.csrfmiddlewaretoken;
    if (field && token()) field.value = token();
  };
  document.addEventListener("submit", renew, { capture: true });
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    if (token()) detail.headers["X-CSRFToken"] = token();
  });
  // A task that the browser kept may be done by now: ask the server first.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted && document.querySelector("[data-fresh]")) window.location.reload();
  });
})();
