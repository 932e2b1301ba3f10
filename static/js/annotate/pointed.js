// Draws what answers point at: in the transcript, and at each question as chips that lead there or go.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// `aimed` is {question, line} while somebody points.
export function drawPointed(answers, { palette, lines, open, aimed }) {
  lines.mark(open.flatMap(({ key }) => answers.pointed(key)));
  lines.rows.forEach((row, index) => row.classList.toggle("aimed", index + 1 === aimed?.line));
  for (const box of all("[data-evidence]", palette)) {
    const key = box.dataset.evidence;
    const isOn = aimed?.question.key === key;
    box.hidden = !open.some((question) => question.key === key);
    box.querySelector("[data-points]").setAttribute("aria-pressed", isOn);
    for (const part of all("[data-while]", box)) part.hidden = !isOn;
    const chips = answers.pointed(key).map((entry, at) => chip(key, entry, at, lines.told(entry)));
    box.querySelector(".chips").replaceChildren(...chips);
  }
}

function chip(key, { line }, at, told) {
  const span = Object.assign(document.createElement("span"), {
    className: "chip badge bg-primary-lt",
    dir: "auto",
  });
  const button = (textContent, title, data) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent, title });
    made.setAttribute("aria-label", title);
    Object.assign(made.dataset, data);
    return made;
  };
  span.append(button(told, `Go to turn ${told}`, { jumps: line }));
  span.append(button("×", `Do not point at turn ${told}`, { removes: JSON.stringify([key, at]) }));
  return span;
}
