// Hindi typed in Latin letters: a finished word is converted to Devanagari, and other words that
// sound like it can be chosen instead. Formulas are not changed.

import { formulaAt, isInsideFormula } from "./box.js";
import { recall, remember } from "./memory.js";

const WORD = /[A-Za-z]{2,}/g;
const WORD_BEFORE_CURSOR = /[A-Za-z]{2,}$/;

const field = document.getElementById("q");
const list = document.getElementById("candidates");

async function candidates(word) {
  try {
    const answer = await fetch(`/typed?word=${encodeURIComponent(word)}`);
    return answer.ok ? await answer.json() : [];
  } catch {
    return []; // the server does not respond: the word stays as it was typed
  }
}

function replace(start, old, chosen) {
  if (field.value.slice(start, start + old.length) !== old) return false;
  const cursor = field.selectionStart + chosen.length - old.length;
  field.setRangeText(chosen, start, start + old.length);
  field.setSelectionRange(cursor, cursor);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return true;
}

function offer(start, shown, words) {
  let current = shown;
  list.replaceChildren(
    ...words.map((word) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.lang = /[a-z]/i.test(word) ? "hi-Latn" : "hi";
      button.textContent = word;
      button.addEventListener("click", () => {
        if (replace(start, current, word)) current = word;
        field.focus();
      });
      item.append(button);
      return item;
    }),
  );
  list.hidden = false;
}

async function finishWord() {
  const place = field.selectionStart - 1;
  const word = field.value.slice(0, place).match(WORD_BEFORE_CURSOR)?.[0];
  if (!word || isInsideFormula(place)) return;
  const words = await candidates(word);
  const start = place - word.length;
  if (words.length && replace(start, word, words[0])) offer(start, words[0], [...words, word]);
}

/** Convert what was typed before the box was ticked. */
async function convertAll() {
  const words = [...field.value.matchAll(WORD)].filter(({ index }) => !formulaAt(index));
  for (const { 0: word, index } of words.reverse()) {
    const [best] = await candidates(word);
    if (best) replace(index, word, best);
  }
}

export function enhanceTyping() {
  const box = document.querySelector("input[name=deva]");
  if (!box) return;
  // Otherwise the server would convert the whole question again, after its words were converted.
  box.removeAttribute("name");
  box.checked = box.checked || recall("devanagari") === "1";
  box.addEventListener("change", () => {
    remember("devanagari", box.checked ? "1" : "0");
    list.hidden = true;
    field.focus();
    if (box.checked) convertAll();
  });
  field.addEventListener("input", (event) => {
    if (!event.data) return;
    // Typing on confirms the word; suggestions replace the list below the box.
    list.hidden = true;
    if (box.checked && event.data.endsWith(" ")) finishWord();
  });
}
