// Appends more hits below the present ones, so that the visitor keeps the place. The address then
// covers all of them: a visitor who comes back from a post finds them again.

import { announce } from "./announce.js";
import { enhanceFormulas } from "./formulas.js";

const MOST = 100; // hits of one page, at most

function remember(last) {
  const address = new URL(location);
  const shown = last - Number(address.searchParams.get("offset") ?? 0);
  if (shown > MOST) return; // a later page has its own address
  address.searchParams.set("k", shown);
  history.replaceState(null, "", address);
  // The link back from a post leads to all of them, too.
  for (const link of document.querySelectorAll("#hits a[href^='/post?']:not([data-take])")) {
    const way = new URL(link.href);
    for (const name of ["k", "offset"]) {
      if (address.searchParams.has(name)) way.searchParams.set(name, address.searchParams.get(name));
      else way.searchParams.delete(name);
    }
    link.setAttribute("href", way.pathname + way.search + way.hash);
  }
}

async function showMore(link) {
  document.body.classList.add("busy");
  announce("searching");
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const hits = [...page.querySelectorAll("#hits > li")];
    if (!answer.ok || !hits.length) throw new Error("no more hits");
    document.getElementById("hits").append(...hits);
    const next = page.querySelector(".more a");
    remember(page.querySelector("#hits").start + hits.length - 1);
    const shown = document.getElementById("shown");
    shown.textContent = shown.dataset.text.replace("{last}", page.querySelector("#shown").dataset.last);
    if (next) link.parentElement.replaceChildren(next);
    else link.parentElement.remove();
    for (const hit of hits) enhanceFormulas(hit);
    hits[0].querySelector("h2 a").focus({ preventScroll: true });
  } catch {
    location.assign(link.href);
  } finally {
    document.body.classList.remove("busy");
  }
}

export function enhanceMore() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".more a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showMore(link);
  });
}
