// What this device remembers. A browser that keeps nothing works all the same.

let device = () => localStorage;

// From now on nothing is kept on this device, nor found there.
export const rememberNothing = () => {
  device = () => null;
};

export function onDevice(action) {
  try {
    return action(device());
  } catch {
    return null;
  }
}

export const recall = (name) => onDevice((device) => JSON.parse(device.getItem(name)));
export const remember = (name, value) => onDevice((device) => device.setItem(name, JSON.stringify(value)));
export const forget = (name) => onDevice((device) => device.removeItem(name));

// The names that begin with a text.
export const names = (beginning) =>
  onDevice((device) => Object.keys(device).filter((name) => name.startsWith(beginning))) ?? [];
