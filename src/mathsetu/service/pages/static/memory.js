// What the browser remembers of a visitor's choices. Some browsers forbid it: then nothing is.

export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds until the page is left.
  }
}
