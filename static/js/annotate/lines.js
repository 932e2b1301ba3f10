// The lines of a transcript as evidence names them: numbered from 1, with places in their text that count
// code points (a script counts halves of them), and the words that keys move over.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const inPoints = (text, at) => [...text.slice(0, at)].length;
const inHalves = (text, at) => [...text].slice(0, at).join("").length;
const HIGHLIGHT = "evidence";
const QUOTE = 40;

export class Lines {
  constructor(transcript) {
    this.transcript = transcript;
  }

  get rows() {
    return all(".turn", this.transcript);
  }

  row(line) {
    return this.rows[line - 1];
  }

  said(line) {
    return this.row(line)?.querySelector("[data-said]");
  }

  // What an entry is called: the turn's number, and the words it points at.
  told({ line, start, end }) {
    const number = this.row(line)?.querySelector(".no").textContent ?? line;
    if (start === undefined) return number;
    const quote = [...(this.said(line)?.textContent ?? "")].slice(start, end);
    return `${number} “${quote.slice(0, QUOTE).join("")}${quote.length > QUOTE ? "…" : ""}”`;
  }

  // Who speaks in a line, and its number.
  named(line) {
    const [number, who] = [".no", ".who"].map((part) => this.row(line).querySelector(part).textContent);
    return `turn ${number}, ${who}`;
  }

  // The words of a line, as [start, end] in halves of code points.
  words(line) {
    const text = this.said(line).textContent;
    if (!Intl.Segmenter)
      return [...text.matchAll(/\S+/g)].map(({ 0: { length }, index }) => [index, index + length]);
    const segments = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)];
    const words = segments.filter(({ isWordLike, segment }) => isWordLike || /[^\s\p{P}]/u.test(segment));
    return words.map(({ index, segment }) => [index, index + segment.length]);
  }

  range(line, from, to) {
    const range = document.createRange();
    const [start, end] = [from, to].map((at) => spot(this.said(line), at));
    range.setStart(...start);
    range.setEnd(...end);
    return range;
  }

  entry(line, from, to) {
    const text = this.said(line).textContent;
    return { line, start: inPoints(text, from), end: inPoints(text, to) };
  }

  // What is selected, as an entry for each line it reaches into; blanks at its ends are left out.
  selected() {
    const selection = getSelection();
    if (selection.isCollapsed || !this.transcript.contains(selection.anchorNode)) return [];
    const range = selection.getRangeAt(0);
    return this.rows.flatMap((row, index) => this.within(row.querySelector("[data-said]"), range, index + 1));
  }

  within(said, range, line) {
    if (!range.intersectsNode(said)) return [];
    const inside = document.createRange();
    inside.selectNodeContents(said);
    const before = inside.cloneRange();
    if (said.contains(range.startContainer)) inside.setStart(range.startContainer, range.startOffset);
    if (said.contains(range.endContainer)) inside.setEnd(range.endContainer, range.endOffset);
    before.setEnd(inside.startContainer, inside.startOffset);
    const [text, first] = [String(inside), String(before).length];
    if (!text.trim()) return [];
    const from = first + text.length - text.trimStart().length;
    return [this.entry(line, from, from + text.trim().length)];
  }

  // Marks whole turns and words; browsers that cannot mark words show them at the question alone.
  mark(entries) {
    const whole = new Set(entries.filter(({ start }) => start === undefined).map(({ line }) => line));
    this.rows.forEach((row, index) => row.classList.toggle("pointed", whole.has(index + 1)));
    if (!CSS.highlights) return;
    const parts = entries.filter(({ line, start }) => start !== undefined && this.said(line));
    const ranges = parts.map(({ line, start, end }) => {
      const text = this.said(line).textContent;
      return this.range(line, inHalves(text, start), inHalves(text, end));
    });
    CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
  }
}

// The node and place of the n-th half of a code point in an element's text.
function spot(element, at) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode();
  for (let left = at; node; node = walker.nextNode()) {
    if (left <= node.length) return [node, left];
    left -= node.length;
  }
  return [element, element.childNodes.length];
}
