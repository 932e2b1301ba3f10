// Messages beside the work: what a researcher wrote about a turn or the task, and the annotator's answers.

import { say, warn } from "./page.js";
import { post } from "./sending.js";

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export class Threads {
  // `base` is the address of the campaign's work.
  constructor(transcript, base) {
    Object.assign(this, { transcript, base });
    this.seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.see(target);
    });
  }

  // A task is on screen, or (null) none: its threads stand beside their turns, those of the task above.
  begin(task) {
    this.assignment = task?.assignment;
    this.seen.disconnect();
    const boxes = (task?.threads ?? []).map((thread) => [thread, this.draw(thread)]);
    const news = boxes.filter(([thread]) => thread.unread);
    for (const [, box] of news) this.seen.observe(box);
    if (!news.length) return;
    const [[{ line }, first]] = news;
    const number = first.closest(".turn")?.querySelector(".no").textContent;
    const show = () => {
      first.scrollIntoView({ block: "center" });
      warn();
    };
    warn(`A researcher wrote to you about ${line ? `turn ${number}` : "this task"}.`, "Show it", show);
  }

  // What came into view was seen; where nothing answers, it stays new until the next time.
  see(box) {
    this.seen.unobserve(box);
    this.send(`messages/${box.dataset.thread}/`, {}).catch(() => {});
  }

  draw(thread) {
    const isOpen = thread.unread > 0 || thread.messages.at(-1)?.mine;
    const box = make("details", { className: "alert alert-info", open: isOpen });
    box.dataset.thread = thread.thread;
    const count = thread.messages.length;
    const news = thread.unread ? `, ${thread.unread} new` : "";
    const title = `Messages about this ${thread.line ? "turn" : "task"} (${count}${news})`;
    box.append(make("summary", { textContent: title + (thread.closed ? ", closed" : "") }));
    for (const said of thread.messages) {
      box.append(
        make("p", {
          className: "small text-secondary",
          textContent: `${said.mine ? "You" : said.by}, ${said.at}`,
        }),
        make("p", { className: "words", dir: "auto", textContent: said.text }),
      );
    }
    if (!thread.closed) box.append(this.form(thread));
    const there = this.transcript.querySelector(`[data-thread="${thread.thread}"]`);
    const row = this.transcript.querySelector(`.turn[data-line="${thread.line}"]`);
    if (there) there.replaceWith(box);
    else if (row) row.querySelector(".text").append(box);
    else this.transcript.prepend(box);
    return box;
  }

  form({ thread, line }) {
    const text = make("textarea", { rows: 2, dir: "auto", maxLength: 5000, required: true });
    text.setAttribute("aria-label", "Your answer to the researcher");
    const form = make(
      "form",
      { className: "stack" },
      text,
      make("button", { className: "btn", textContent: "Answer" }),
    );
    // What is typed here is no key of the page; Ctrl+Enter sends this and not the task.
    form.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if ((event.ctrlKey || event.metaKey) && event.key === "Enter") form.requestSubmit();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const refused = await this.answered(`messages/${thread}/`, { text: text.value, line });
      say(refused || "Answer sent", Boolean(refused));
    });
    return form;
  }

  // Asks the researchers about a line; resolves to why it was refused, or "".
  ask(line, text) {
    return this.answered(`${this.assignment}/ask/`, { line, text });
  }

  // Sends and draws the thread that comes back; resolves to why it was refused, or "".
  async answered(place, payload) {
    const { assignment } = this;
    try {
      const { ok, body } = await this.send(place, payload);
      if (!ok) return body.error;
      if (assignment === this.assignment) this.draw(body).open = true;
      return "";
    } catch (problem) {
      return `Not sent: ${problem.message}. Try again.`;
    }
  }

  send(place, payload) {
    return post(this.base + place, payload);
  }
}
