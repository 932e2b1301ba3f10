// What a key asks for. A key held down moves on through turns and questions; it does nothing else again.

const DIALOGS = { "?": "keys", c: "comment", x: "skip" };
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

// On keyboards of other scripts, the letter at the key's place.
function letter(event) {
  if (/^[\x20-\x7e]$/.test(event.key)) return event.key;
  return event.code.replace(/^(Key|Digit)/, "").toLowerCase();
}

// `does` has the answers `now`, the actions submit, move, choose and toggle, and `commands` by letter.
export class Keys {
  constructor(questions, does) {
    Object.assign(this, { questions, does });
    document.addEventListener("keydown", (event) => this.press(event));
  }

  meaning(event, answers) {
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    if (event.key in STEPS) return answers.canMove ? () => this.does.move(STEPS[event.key]) : undefined;
    const key = letter(event);
    const current = this.questions.find((question) => question.key === answers.question);
    const tag = this.questions.find((question) => question.kind === "tag" && question.shortcut === key);
    if (current && Object.hasOwn(current.keys, key))
      return () => this.does.choose(current, current.keys[key]);
    if (tag && answers.isShown(tag)) return () => this.does.toggle(tag);
    if (Object.hasOwn(DIALOGS, key)) return () => document.getElementById(DIALOGS[key]).showModal();
    return Object.hasOwn(this.does.commands, key) ? this.does.commands[key] : undefined;
  }

  press(event) {
    const isTyping = event.target.matches("input, textarea, select");
    if (event.repeat && event.key === "Enter" && !isTyping) event.preventDefault();
    const answers = this.does.now();
    if (!answers || document.querySelector("dialog[open]") || event.isComposing) return;
    if (isTyping && event.key === "Escape") event.target.blur();
    const submits = (event.ctrlKey || event.metaKey) && event.key === "Enter";
    const action = submits ? this.does.submit : isTyping ? undefined : this.meaning(event, answers);
    if (!action) return;
    event.preventDefault();
    if (!event.repeat || event.key in STEPS) action();
  }
}
