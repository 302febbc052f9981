// Hits: a translation appears in place instead of on the post's own page.

import { announce } from "./announce.js";
import { enhanceFormulas } from "./formulas.js";

async function translateInPlace(link) {
  const hit = link.closest(".hit");
  const shown = hit.querySelector(".translated");
  if (shown) {
    shown.hidden = !shown.hidden;
    return;
  }
  link.setAttribute("aria-busy", "true");
  document.body.classList.add("busy");
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const translation = page.querySelector("#translation > *");
    if (!translation) throw new Error("no translation");
    hit.querySelector(".actions").before(translation);
    enhanceFormulas(translation);
  } catch {
    announce("failed");
    location.assign(link.href);
  } finally {
    link.removeAttribute("aria-busy");
    document.body.classList.remove("busy");
  }
}

export function enhanceHits() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".hit a.translate");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    translateInPlace(link);
  });
  // A click outside a menu closes it.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
}
