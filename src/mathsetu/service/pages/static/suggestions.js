// Suggestions below the box during typing: terms, topics, titles, and earlier searches of this
// visitor. Only the browser stores earlier searches.

import { isInsideFormula } from "./box.js";
import { recall, remember } from "./memory.js";

const PAUSE = 120; // milliseconds without a key before suggestions are requested
const KEPT = 12; // searches that are remembered
const RECENT = 4; // how many of them are shown at once

const field = document.getElementById("q");
const panel = document.getElementById("suggestions");
const list = document.getElementById("suggestion-list");
const candidates = document.getElementById("candidates");
const forget = document.getElementById("forget-button");

let shown = []; // suggestions: kind, text, and the position from which they replace the typed text
let active = -1;
let waiting = 0;
let asking = new AbortController();

function recent() {
  try {
    const kept = JSON.parse(recall("recent") ?? "[]");
    return Array.isArray(kept) ? kept.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}

function keep(text) {
  const others = recent().filter((other) => other !== text);
  remember("recent", JSON.stringify([text, ...others].slice(0, KEPT)));
}

function recentLike(typed) {
  const wanted = typed.trim().toLowerCase();
  return recent()
    .filter((text) => text !== field.value.trim() && text.toLowerCase().startsWith(wanted))
    .slice(0, RECENT)
    .map((text) => ({ kind: "recent", text, start: 0, whole: true }));
}

function close() {
  panel.hidden = true;
  shown = [];
  active = -1;
  field.removeAttribute("aria-activedescendant");
}

function highlight(place) {
  active = place;
  [...list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === place)));
  if (place < 0) field.removeAttribute("aria-activedescendant");
  else {
    field.setAttribute("aria-activedescendant", list.children[place].id);
    list.children[place].scrollIntoView({ block: "nearest" });
  }
}

function choose({ kind, text, start, whole }) {
  const end = whole ? field.value.length : field.selectionStart;
  field.setRangeText(text, start, end, "end");
  close();
  field.focus();
  if (kind === "recent" || kind === "title") field.form.requestSubmit();
  else field.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: "chosen" }));
}

function item(suggestion, number) {
  const element = document.createElement("li");
  element.id = `suggestion-${number}`;
  element.setAttribute("role", "option");
  element.setAttribute("aria-selected", "false");
  const text = document.createElement("span");
  text.dir = "auto";
  text.textContent = suggestion.text;
  const kind = document.createElement("span");
  kind.className = "kind";
  kind.textContent = panel.dataset[suggestion.kind];
  element.append(text, " ", kind);
  // The box keeps the focus.
  element.addEventListener("pointerdown", (event) => event.preventDefault());
  element.addEventListener("click", () => choose(suggestion));
  return element;
}

function show(suggestions) {
  if (!candidates.hidden) return close(); // words of the same sound are shown there
  const known = new Set();
  shown = suggestions.filter(({ text }) => !known.has(text) && known.add(text));
  list.replaceChildren(...shown.map(item));
  forget.hidden = !shown.some(({ kind }) => kind === "recent");
  panel.hidden = !shown.length;
  highlight(-1);
}

async function suggest() {
  asking.abort();
  asking = new AbortController();
  const place = field.selectionStart;
  const typed = field.value.slice(0, place);
  const earlier = recentLike(typed);
  if (!typed.trim()) return show(earlier);
  if (isInsideFormula(place)) return close();
  const address = new URL(panel.dataset.source, location);
  address.searchParams.set("q", typed);
  address.searchParams.set("lang", field.form.elements.lang?.value ?? "");
  address.searchParams.set("ui", document.documentElement.lang);
  try {
    const answer = await fetch(address, { signal: asking.signal });
    const found = answer.ok ? await answer.json() : [];
    if (document.activeElement === field && field.value.slice(0, place) === typed) {
      show([...earlier, ...found]);
    }
  } catch {
    // A newer key was pressed, or the server does not respond.
  }
}

function followKey(event) {
  if (panel.hidden || event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    highlight(((active + 1 + step + shown.length + 1) % (shown.length + 1)) - 1);
  } else if (event.key === "Enter" && active >= 0) {
    choose(shown[active]);
  } else if (event.key === "Escape") {
    close();
  } else {
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Must run before enhanceBox: a key that chooses a suggestion must not also start a search. */
export function enhanceSuggestions() {
  if (!panel) return;
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  const asked = new URL(location).searchParams.get("q")?.trim();
  if (asked && location.pathname === "/search") keep(asked);
  field.addEventListener("keydown", followKey);
  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (event.detail === "chosen") close();
    else waiting = setTimeout(suggest, PAUSE);
  });
  field.addEventListener("focus", () => {
    if (!field.value.trim()) show(recentLike(""));
  });
  field.addEventListener("blur", close);
  field.form.addEventListener("submit", () => {
    clearTimeout(waiting);
    asking.abort();
    close();
  });
  forget.addEventListener("pointerdown", (event) => event.preventDefault());
  forget.addEventListener("click", () => {
    remember("recent", "[]");
    close();
  });
}
