// A ranking of what is shown side by side: each has a place, and what has the same place is equal.
//
// A whole ranking is kept as the server takes it, best first: "2>0=1" (numbers in the order shown). One that
// lacks places is kept as "places:1,,3", which is no answer yet.

export const LETTERS = "ABCDEFGHIJ";
const PARTIAL = "places:";

export const isWhole = (value) => typeof value === "string" && !value.startsWith(PARTIAL);

// The place of each side, from 1, null where it has none.
export function places(answers, key) {
  const value = answers.value(key);
  const none = Array.from({ length: answers.sides }, () => null);
  if (!value) return none;
  if (!isWhole(value)) {
    const parts = value.slice(PARTIAL.length).split(",");
    return none.map((_, side) => Number(parts[side]) || null);
  }
  let place = 1;
  for (const group of value.split(">")) {
    for (const side of group.split("=")) none[Number(side)] = place;
    place += group.split("=").length;
  }
  return none;
}

// The places once one side is given one; the same place again takes it back.
export function placed(answers, key, side, place) {
  const found = places(answers, key);
  found[side] = found[side] === place ? null : place;
  return found;
}

export function written(found) {
  if (found.every((place) => place === null)) return null;
  if (found.includes(null)) return PARTIAL + found.map((place) => place ?? "").join(",");
  const groups = [...new Set(found)].sort((one, other) => one - other);
  const sidesAt = (place) => [...found.keys()].filter((side) => found[side] === place).join("=");
  return groups.map(sidesAt).join(">");
}

// The next side without a place after one, round from the last to the first; the same where all have one.
export function nextOpen(found, side) {
  const order = found.map((_, step) => (side + 1 + step) % found.length);
  return order.find((next) => found[next] === null) ?? side;
}

// Draws a row of places for each side, made once for a task; keys give a place to the side that is marked.
export function drawRanking(box, answers) {
  const key = box.dataset.ranking;
  if (box.children.length !== answers.sides) box.replaceChildren(...rows(key, answers.sides));
  const found = places(answers, key);
  const isCurrent = answers.question === key;
  [...box.children].forEach((row, side) => {
    const [name, scale] = row.children;
    name.classList.toggle("current", isCurrent && side === answers.side);
    for (const button of scale.children)
      button.setAttribute("aria-pressed", found[side] === Number(button.dataset.place));
  });
}

function rows(key, sides) {
  return Array.from({ length: sides }, (_, side) => {
    const row = document.createElement("div");
    const name = Object.assign(document.createElement("p"), {
      className: "side",
      textContent: LETTERS[side],
    });
    const scale = Object.assign(document.createElement("div"), { className: "scale numbers" });
    scale.setAttribute("role", "group");
    scale.setAttribute("aria-label", `Place of response ${LETTERS[side]}`);
    scale.append(...Array.from({ length: sides }, (_, at) => button(key, side, at + 1)));
    row.append(name, scale);
    return row;
  });
}

function button(key, side, place) {
  const made = Object.assign(document.createElement("button"), {
    type: "button",
    className: "opt",
    textContent: place,
  });
  Object.assign(made.dataset, { ranks: key, side, place });
  return made;
}
