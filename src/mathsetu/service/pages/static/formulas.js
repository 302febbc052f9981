// Formulas: a click copies the LaTeX, and a formula that is too wide for its line gets its own line.

import { announce } from "./announce.js";

const SHOWN = 900; // milliseconds for which a copied formula is marked

async function copy(text, element) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    announce("notCopied");
    return;
  }
  announce("copied");
  element.classList.add("copied");
  setTimeout(() => element.classList.remove("copied"), SHOWN);
}

function widen(formula) {
  const room = formula.closest(".prose, .reading, .question, .shore, dd, h1, h2")?.clientWidth;
  if (room && formula.getBoundingClientRect().width > room) formula.classList.add("wide");
  if (formula.scrollWidth > formula.clientWidth && formula.clientWidth > 0) {
    // Scrollable elements must be reachable with the keyboard.
    formula.tabIndex = 0;
  }
}

/** Fit the formulas of an element when it is opened: in a closed one they have no width. */
export function listenToFolds() {
  document.addEventListener(
    "toggle",
    (event) => {
      for (const formula of event.target.querySelectorAll(".formula:not(.wide)")) widen(formula);
    },
    { capture: true },
  );
}

/** Make the formulas inside an element copyable, and fit them to its width. */
export function enhanceFormulas(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button.dataset.copy, button));
  }
  for (const formula of root.querySelectorAll(".formula")) {
    widen(formula);
    if (formula.closest("a, button, summary, #preview")) continue;
    formula.title = formula.dataset.latex;
    formula.classList.add("copyable");
    formula.addEventListener("click", () => {
      // Not while a part of the text is being selected.
      if (getSelection().isCollapsed) copy(formula.dataset.latex, formula);
    });
  }
}
