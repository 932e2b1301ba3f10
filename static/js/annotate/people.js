// A set of people as an answer: ids in order, joined by ";", or "nobody". Digits put somebody in or take out.

const NOBODY = "nobody";

export const named = (value) => (!value || value === NOBODY ? [] : value.split(";"));

// The answer once somebody was put in or taken out; nobody left is no answer, unless nobody was chosen.
export function toggled(value, id) {
  if (id === NOBODY) return value === NOBODY ? null : NOBODY;
  const before = named(value);
  const now = before.includes(id) ? before.filter((one) => one !== id) : [...before, id];
  return now.sort().join(";") || null;
}

// The id that a digit stands for: 0 for nobody.
export function byDigit(people, digit) {
  return digit === 0 ? NOBODY : people[digit - 1]?.[0];
}

// Draws a button for each of the people of a task and one for nobody.
export function drawPeople(box, answers) {
  const key = box.dataset.people;
  const question = answers.questions.find((asked) => asked.key === key);
  const shown = JSON.stringify(answers.people);
  if (box.dataset.shown !== shown) {
    box.dataset.shown = shown;
    const everyone = [...answers.people, [NOBODY, "Nobody"]];
    box.replaceChildren(
      ...everyone.map(([id, name], at) => button(key, id, name, (at + 1) % everyone.length)),
    );
  }
  const chosen = answers.value(key);
  const inside = named(chosen);
  for (const choice of box.children) {
    const { who } = choice.dataset;
    choice.hidden = !answers.isShown(question);
    choice.setAttribute("aria-pressed", who === NOBODY ? chosen === NOBODY : inside.includes(who));
  }
}

// Draws a button for each session that a task proposes; others are written into the field below.
export function drawSessions(box, answers) {
  const key = box.dataset.sessions;
  const question = answers.questions.find((asked) => asked.key === key);
  const shown = JSON.stringify(answers.people);
  if (box.dataset.shown !== shown) {
    box.dataset.shown = shown;
    box.replaceChildren(...answers.people.map(([id, name], at) => button(key, id, name, at + 1)));
  }
  const inside = listed(answers.value(key));
  for (const choice of box.children) {
    choice.hidden = !answers.isShown(question);
    choice.setAttribute("aria-pressed", inside.includes(choice.dataset.who));
  }
}

// The sessions of an answer, as they were chosen or written.
export function listed(value) {
  return (value ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter(Boolean);
}

// The answer once a session was put in or taken out; the others stay in the order they were given.
export function switched(value, id) {
  const before = listed(value);
  const now = before.includes(id) ? before.filter((one) => one !== id) : [...before, id];
  return now.join("; ") || null;
}

function button(key, id, name, digit) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "opt" });
  Object.assign(made.dataset, { names: key, who: id });
  const mark = digit < 10 ? Object.assign(document.createElement("kbd"), { textContent: digit }) : "";
  made.append(
    mark || document.createElement("span"),
    Object.assign(document.createElement("bdi"), { textContent: name }),
  );
  return made;
}
