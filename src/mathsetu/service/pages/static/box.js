// The search box: Enter searches, the preview follows the typed text, and waiting is visible.

import { announce } from "./announce.js";
import { enhanceFormulas } from "./formulas.js";

const PLACE = "{}"; // a placeholder
const PAUSE = 180; // milliseconds without a key before the preview is requested

const form = document.getElementById("box");
const field = document.getElementById("q");
const preview = document.getElementById("preview");

/** Insert LaTeX into the box at the cursor; selected text goes into its first placeholder. */
export function insert(latex) {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const filled = latex.replace(PLACE, () => `{${value.slice(start, end)}}`);
  const text = isInsideFormula(start) ? filled : `$${filled}$`;
  field.setRangeText(text, start, end, "end");
  field.setSelectionRange(start, start);
  if (!goToNextPlace()) {
    const after = start + text.length - (text === filled ? 0 : 1);
    field.setSelectionRange(after, after);
  }
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Move the cursor into the next placeholder; return whether there was one. */
function goToNextPlace() {
  const place = field.value.indexOf(PLACE, field.selectionEnd);
  if (place < 0 || !isInsideFormula(place)) return false;
  field.setSelectionRange(place + 1, place + 1);
  return true;
}

/** Whether a position in the box is inside a formula. */
export function isInsideFormula(place) {
  const dollars = field.value.slice(0, place).replaceAll("\\$", "").match(/\$+/g) ?? [];
  return dollars.length % 2 === 1;
}

/** The formula at a position in the box, including its dollars; null if there is none. */
export function formulaAt(place) {
  return formulaBetweenDollars(place) ?? formulaOfPreview(place);
}

function formulaBetweenDollars(place) {
  const marks = [...field.value.matchAll(/(?<!\\)\$+/g)];
  for (let number = 0; number + 1 < marks.length; number += 2) {
    const [open, close] = marks.slice(number, number + 2);
    const start = open.index;
    const end = close.index + close[0].length;
    if (start <= place && place <= end) {
      return { start, end, mark: open[0], latex: field.value.slice(start + open[0].length, close.index) };
    }
  }
  return null;
}

/** A formula without dollars, as the preview shows it, if the box has not changed since. */
function formulaOfPreview(place) {
  if (field.value !== previewed) return null;
  const before = field.value.length - field.value.trimStart().length;
  for (const formula of preview.querySelectorAll("[data-span]")) {
    const [start, end] = formula.dataset.span.split(" ").map((offset) => before + Number(offset));
    const { latex } = formula.querySelector("[data-latex]").dataset;
    if (start <= place && place <= end) return { start, end, mark: "$", latex };
  }
  return null;
}

/** The position of the first formula in the box; -1 if there is none. */
export function firstFormula() {
  const [start] = preview.querySelector("[data-span]")?.dataset.span.split(" ") ?? [-1];
  return Number(start);
}

function grow() {
  field.style.blockSize = "auto";
  field.style.blockSize = `${field.scrollHeight}px`;
}

let previewed = field?.value; // the text that the preview shows
let waiting = 0;
let asking = new AbortController();

async function showPreview() {
  asking.abort();
  asking = new AbortController();
  const address = new URL(preview.dataset.source, location);
  const text = field.value;
  address.searchParams.set("q", text);
  address.searchParams.set("lang", form.elements.lang?.value ?? "");
  if (form.elements.words?.checked) address.searchParams.set("words", "1");
  address.searchParams.set("ui", document.documentElement.lang);
  try {
    const answer = await fetch(address, { signal: asking.signal });
    if (!answer.ok) return;
    const shown = new DOMParser().parseFromString(await answer.text(), "text/html");
    preview.replaceChildren(...shown.body.childNodes);
    previewed = text;
    preview.dispatchEvent(new Event("previewed"));
    enhanceFormulas(preview);
  } catch {
    // A newer key was pressed, or the server does not respond: the old preview stays.
  }
}

export function enhanceBox() {
  if (!form) return;
  field.addEventListener("input", () => {
    grow();
    clearTimeout(waiting);
    waiting = setTimeout(showPreview, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
    // Without a next placeholder, Tab leaves the box as usual.
    if (event.key === "Tab" && !event.shiftKey && goToNextPlace()) event.preventDefault();
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "lang" || event.target.name === "words") form.requestSubmit();
  });
  form.addEventListener("submit", () => {
    document.body.classList.add("busy");
    announce("searching");
  });
  // Going back shows the page as it was left, so the progress line must be stopped.
  addEventListener("pageshow", () => document.body.classList.remove("busy"));
  grow();
}
