// The visual editor: shows the formula at the cursor typeset. Changes appear in the box at once. The
// component is large, so it is loaded on first use.

import { announce } from "./announce.js";
import { firstFormula, formulaAt } from "./box.js";

const button = document.getElementById("editor-button");
const panel = document.getElementById("editor");
const field = document.getElementById("q");

let visual = null; // the component, once it is loaded
let edited = null; // the edited formula: its position in the box, and its dollars
let isWriting = false;
let hasCursor = false; // whether the visitor has placed the cursor

function read() {
  const place = hasCursor ? field.selectionStart : firstFormula();
  const end = field.value.length;
  const nothing = { start: place < 0 ? end : place, end: place < 0 ? end : place, mark: "$", latex: "" };
  edited = formulaAt(place) ?? nothing;
  visual.show(edited.latex);
}

function write(latex) {
  const text = latex && `${edited.mark}${latex}${edited.mark}`;
  field.setRangeText(text, edited.start, edited.end, "end");
  edited.end = edited.start + text.length;
  hasCursor = true;
  isWriting = true;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  isWriting = false;
}

function close() {
  panel.hidden = true;
  button.setAttribute("aria-expanded", "false");
  field.focus();
}

async function open() {
  document.body.classList.add("busy");
  try {
    const { makeVisualField } = await import("./visual.js");
    visual ??= makeVisualField(panel, { change: write, leave: close, done: () => field.form.requestSubmit() });
  } catch {
    announce("failed");
    return;
  } finally {
    document.body.classList.remove("busy");
  }
  panel.hidden = false;
  button.setAttribute("aria-expanded", "true");
  read();
  visual.focus();
}

/** Insert LaTeX into the editor; return false if it is closed. */
export function insertVisually(latex) {
  if (!visual || panel.hidden) return false;
  visual.insert(latex);
  return true;
}

export function enhanceEditor() {
  if (!panel) return;
  button.hidden = false;
  button.addEventListener("click", () => (panel.hidden ? open() : close()));
  for (const event of ["keydown", "pointerdown"]) {
    field.addEventListener(event, () => (hasCursor = true));
  }
  // Formulas without dollars are known once the preview has been read.
  document.getElementById("preview")?.addEventListener("previewed", () => {
    if (!panel.hidden && document.activeElement === field) read();
  });
  // An action in the box may change this formula, or move to another one.
  for (const event of ["input", "keyup", "click"]) {
    field.addEventListener(event, () => {
      if (!panel.hidden && !isWriting) read();
    });
  }
}
