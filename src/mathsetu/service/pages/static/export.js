// Export of a post: a click copies, instead of following the link or downloading the file.

import { announce } from "./announce.js";

const SHOWN = 900; // milliseconds for which a copied item is marked

async function text(link) {
  if (link.dataset.take === "link") return link.href;
  const answer = await fetch(link.href);
  if (!answer.ok) throw new Error("no file");
  return answer.text();
}

export function enhanceExport() {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-take]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(await text(link));
      announce("copied");
      link.classList.add("copied");
      setTimeout(() => link.classList.remove("copied"), SHOWN);
    } catch {
      location.assign(link.href); // the browser forbids copying, so the file is downloaded
    }
  });
}
