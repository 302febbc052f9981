// Stores a visitor's choices in the browser. If the browser forbids it, nothing is stored.

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
    // The choice applies until the visitor leaves the page.
  }
}
