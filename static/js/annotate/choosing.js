// Two sets of answers to one task, side by side: what differs, and which of them is kept.

const MOST_ROWS = 12;
const NONE = "–";

const cell = (tag, textContent) => Object.assign(document.createElement(tag), { textContent, dir: "auto" });

function shown(question, value) {
  if (question.kind === "tag") return value === 1 ? "set" : NONE;
  return value === undefined || value === null || value === "" ? NONE : String(value);
}

// The places where two sets of answers differ, as [place, here, there]; `name` names the items, and `told`
// says what an answer points at.
export function differences({ questions, items, name, told }, here, there) {
  const found = [];
  items.forEach((item, index) => {
    for (const question of questions) {
      const [mine, other] = [here, there].map((set) => shown(question, set.answers?.[item]?.[question.key]));
      const turn = items.length > 1 ? `${name(index)}: ` : "";
      if (mine !== other) found.push([turn + question.wording, mine, other]);
      const points = (set) => (set.evidence?.[item]?.[question.key] ?? []).map(told).join(", ") || NONE;
      if (points(here) !== points(there))
        found.push([`${turn}${question.wording}: points at`, points(here), points(there)]);
    }
  });
  const [comment, flag] = [(set) => set.comment || NONE, (set) => (set.flagged ? "set" : NONE)];
  if (comment(here) !== comment(there)) found.push(["Comment", comment(here), comment(there)]);
  if (flag(here) !== flag(there)) found.push(["Flag", flag(here), flag(there)]);
  return found;
}

// Asks which set to keep and resolves to "here", "there", or "" where the question was put off.
export function choose(dialog, { title, lead, here, there }, rows) {
  const part = (name) => dialog.querySelector(`[data-part="${name}"]`);
  part("title").textContent = title;
  part("lead").textContent = lead;
  part("here").textContent = here;
  part("there").textContent = there;
  const more = rows.length - MOST_ROWS;
  part("rows").replaceChildren(
    ...rows.slice(0, MOST_ROWS).map(([place, mine, other]) => {
      const row = document.createElement("tr");
      row.append(cell("th", place), cell("td", mine), cell("td", other));
      return row;
    }),
  );
  part("more").textContent = more > 0 ? `… and ${more} more` : "";
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((done) =>
    dialog.addEventListener("close", () => done(dialog.returnValue), { once: true }),
  );
}
