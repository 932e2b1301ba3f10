// A ranking by dragging, with mouse, finger or pen: what has no place into the order, and from place to place.
//
// Between two places a response gets one of its own, on top of one it ties, back among those without it has none.
// Buttons and keys do the same, so nobody has to drag.

import { LETTERS, places } from "./ranking.js";

const EDGE = 0.3; // of a place's height: above and below it lies between two places

const all = (selector, root) => [...root.querySelectorAll(selector)];
const made = (tag, className, more = {}) =>
  Object.assign(document.createElement(tag), { className, ...more });

// The sides in their order, best first, those with the same place together.
function groups(found) {
  const known = [...new Set(found.filter(Boolean))].sort((one, other) => one - other);
  return known.map((place) => [...found.keys()].filter((side) => found[side] === place));
}

// The places once a side was dropped before (-1), on (0) or after (1) what stands at a place, or, where that is
// null, at the end. With `where` null it has none any more.
export function dropped(found, side, at, where) {
  const before = groups(found);
  const target = at === null ? null : before[at]?.filter((other) => other !== side);
  if (where !== null && at !== null && !target?.length) return found; // on itself
  const order = before
    .map((group) => group.filter((other) => other !== side))
    .filter((group) => group.length);
  if (where !== null) {
    const index = target ? order.findIndex((group) => group.includes(target[0])) : order.length;
    if (target && !where) order[index].push(side);
    else order.splice(index + (target && where > 0 ? 1 : 0), 0, [side]);
  }
  const after = found.map(() => null);
  let place = 1;
  for (const group of order) {
    for (const other of group) after[other] = place;
    place += group.length;
  }
  return after;
}

// Draws the order so far and what has no place yet.
export function drawOrder(box, answers) {
  const found = places(answers, box.dataset.order);
  const order = groups(found);
  const list = made("ol", "order");
  list.append(...order.map((group, at) => row(group, at)));
  if (!order.length) list.append(made("li", "empty", { textContent: "Drag the best one here" }));
  const rest = made("p", "rest small text-secondary", { textContent: "Without a place: " });
  rest.append(...[...found.keys()].filter((side) => found[side] === null).map(chip));
  box.replaceChildren(list, rest);
}

function row(group, at) {
  const item = made("li", "place");
  item.dataset.at = at;
  item.append(...group.map(chip));
  return item;
}

function chip(side) {
  const found = made("span", "chip", { textContent: LETTERS[side] });
  found.dataset.drags = side;
  return found;
}

export class Ordering {
  // `now` returns the answers in hand, or null; `ranked` hears of a key and its new places.
  constructor(palette, { now, ranked }) {
    Object.assign(this, { now, ranked, held: null });
    palette.addEventListener("pointerdown", (event) => this.take(event));
    palette.addEventListener("pointermove", (event) => this.move(event));
    palette.addEventListener("pointerup", (event) => this.drop(event));
    palette.addEventListener("pointercancel", () => this.end());
  }

  take(event) {
    const found = event.target.closest("[data-drags]");
    if (!found || event.button || !this.now()) return;
    event.preventDefault();
    this.end();
    const { clientX: x, clientY: y, pointerId } = event;
    this.held = { chip: found, box: found.closest("[data-order]"), x, y, pointerId };
    found.setPointerCapture(pointerId);
    found.classList.add("held");
  }

  move(event) {
    if (event.pointerId !== this.held?.pointerId) return;
    const { chip: found, x, y } = this.held;
    found.style.translate = `${event.clientX - x}px ${event.clientY - y}px`;
    const { at, where } = this.aim(event);
    for (const place of all(".place", this.held.box)) {
      const isAimed = Number(place.dataset.at) === at;
      place.dataset.drop = isAimed ? ["before", "with", "after"][where + 1] : "";
    }
  }

  // Where something would be dropped: at which place and on which side of it; null and null back in the rest.
  aim({ clientY: y }) {
    const { box } = this.held;
    const shown = all(".place", box);
    const rest = box.querySelector(".rest").getBoundingClientRect();
    if (shown.length && y > rest.top) return { at: null, where: null };
    for (const place of shown) {
      const { top, bottom, height } = place.getBoundingClientRect();
      const at = Number(place.dataset.at);
      if (y < top + EDGE * height) return { at, where: -1 };
      if (y <= bottom - EDGE * height) return { at, where: 0 };
      if (y <= bottom) return { at, where: 1 };
    }
    return { at: shown.length ? shown.length - 1 : null, where: 1 };
  }

  drop(event) {
    if (event.pointerId !== this.held?.pointerId) return;
    const { chip: found, box, x, y } = this.held;
    const key = box.dataset.order;
    const { at, where } = this.aim(event);
    const isMoved = Math.hypot(event.clientX - x, event.clientY - y) > 4;
    this.end();
    if (!isMoved || !this.now()) return;
    const before = places(this.now(), key);
    const after = dropped(before, Number(found.dataset.drags), at, where);
    if (after.some((place, side) => place !== before[side])) this.ranked(key, after);
  }

  end() {
    if (!this.held) return;
    const { chip: found, box } = this.held;
    found.classList.remove("held");
    found.style.translate = "";
    for (const place of all(".place", box)) delete place.dataset.drop;
    this.held = null;
  }
}
