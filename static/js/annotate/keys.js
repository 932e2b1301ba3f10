// What a key asks for. A key held down moves on through turns and questions; it does nothing else again.

const DIALOGS = { "?": "keys", c: "comment", x: "skip" };
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
const ACROSS = ["ArrowRight", "ArrowLeft"];

// On keyboards of other scripts, the letter at the key's place.
function letter(event) {
  if (/^[\x20-\x7e]$/.test(event.key)) return event.key;
  return event.code.replace(/^(Key|Digit)/, "").toLowerCase();
}

// `does` has the answers `now`, how they change (`changing`), `submit`, `commands` by their usual letter, and
// which letter a key is `usually`, for people who chose keys of their own.
export class Keys {
  constructor(questions, does) {
    Object.assign(this, { questions, does });
    document.addEventListener("keydown", (event) => this.press(event));
    // A wheel over a field for a number would change the number unseen.
    const leave = ({ target }) => target.type === "number" && target.blur();
    document.addEventListener("wheel", leave, { passive: true });
  }

  meaning(event, answers) {
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const points = this.does.pointing.action(event, letter(event));
    if (points) return points;
    const isAcross = ACROSS.includes(event.key);
    const current = this.questions.find((question) => question.key === answers.question);
    if (current?.kind === "ranking" && isAcross)
      return () => this.does.changing.lookAt(answers.side + STEPS[event.key]);
    const sided = { ArrowLeft: "first", ArrowRight: "second" }[event.key];
    if (sided && answers.sides === 2 && !answers.canMove && current?.values.includes(sided))
      return () => this.does.changing.choose(current, sided, true);
    const step = () => this.does.changing.move(STEPS[event.key], isAcross);
    if (event.key in STEPS) return answers.canMove ? step : undefined;
    const key = letter(event);
    if (current?.kind === "ranking" && answers.isShown(current) && /^\d$/.test(key))
      return () => this.does.changing.place(current.key, answers.side, Number(key) || 10, true);
    if (current?.kind === "people" && answers.isShown(current) && /^\d$/.test(key))
      return () => this.does.changing.nameByDigit(current.key, Number(key));
    if (current?.kind === "sessions" && answers.isShown(current) && /^[1-9]$/.test(key))
      return () => this.does.changing.session(current.key, answers.people[Number(key) - 1]?.[0]);
    const tag = this.questions.find((question) => question.kind === "tag" && question.shortcut === key);
    if (current && answers.isShown(current) && Object.hasOwn(current.keys, key))
      return () => this.does.changing.choose(current, current.keys[key], true);
    if (tag && answers.isShown(tag)) return () => this.does.changing.toggle(tag);
    const usual = this.does.usually(key);
    if (Object.hasOwn(DIALOGS, usual)) return () => document.getElementById(DIALOGS[usual]).showModal();
    return Object.hasOwn(this.does.commands, usual) ? this.does.commands[usual] : undefined;
  }

  press(event) {
    const isTyping = event.target.matches("input, textarea, select");
    if (event.repeat && event.key === "Enter" && !isTyping) event.preventDefault();
    const answers = this.does.now();
    if (!answers || document.querySelector("dialog[open]") || event.isComposing) return;
    if (isTyping && event.key === "Escape") event.target.blur();
    // In a field for a number, up and down leave it: they would change the number unseen.
    const leaves = event.target.type === "number" && ["ArrowUp", "ArrowDown"].includes(event.key);
    const submits = (event.ctrlKey || event.metaKey) && event.key === "Enter";
    if (!isTyping && !event.ctrlKey && /^[\d.,-]$/.test(event.key)) this.does.changing.fill();
    const action = submits
      ? this.does.submit
      : isTyping && !leaves
        ? undefined
        : this.meaning(event, answers);
    if (!action) return;
    event.preventDefault();
    if (!event.repeat || event.key in STEPS) action();
  }
}
