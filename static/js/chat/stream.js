// What the lobby and the chat share: a stream of events, requests that run singly, and texts on the page.

const REOPEN_MS = 15000;

export const part = (name) => document.querySelector(`[data-part="${name}"]`);
// Writes a text where it differs, so that a screen reader announces it once.
export const say = (name, text) => {
  if (part(name).textContent !== text) part(name).textContent = text;
};
export const minutes = (seconds) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

// A stream of events; `isOpen` says whether events arrive, so that asking again and again is not needed. The
// browser gives a stream up where the server answers with an error: then it begins anew after a while.
export function listen(url, heard) {
  let stream = null;
  let timer = null;
  const open = () => {
    stream = new EventSource(url);
    stream.onmessage = (event) => heard(event.data);
    stream.onerror = () => {
      if (stream.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_MS);
    };
  };
  open();
  return {
    isOpen: () => stream.readyState === EventSource.OPEN,
    close: () => {
      clearTimeout(timer);
      stream.close();
    },
  };
}

// Runs one at a time; a call meanwhile runs it once more afterwards.
export function oneAtATime(action) {
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        await action();
      }
    } finally {
      running = false;
    }
  };
}
