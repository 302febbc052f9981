// Keys of the page: / goes to the box, j and k move between hits, w shows why a hit was found,
// t translates it, Esc closes, ? shows the help.

const field = document.getElementById("q");
const help = document.getElementById("help");

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable], iframe") !== null;
}

function hits() {
  return [...document.querySelectorAll(".hit")];
}

function current() {
  return document.activeElement?.closest(".hit") ?? null;
}

function walk(step) {
  const all = hits();
  if (!all.length) return;
  const place = all.indexOf(current());
  const next = place < 0 ? (step > 0 ? 0 : all.length - 1) : place + step;
  const hit = all[Math.min(Math.max(next, 0), all.length - 1)];
  hit.querySelector("h2 a").focus();
  hit.scrollIntoView({ block: "nearest" });
}

function leave() {
  const open = document.activeElement?.closest("details[open]");
  if (open) {
    open.open = false;
    open.querySelector("summary").focus();
  } else {
    document.activeElement?.blur();
  }
}

/** Show or hide the help beside the page, which stays visible and usable. */
function toggleHelp() {
  if (help.open) help.close();
  else help.show();
  document.body.classList.toggle("with-help", help.open);
}

const KEYS = {
  "/": () => field?.focus(),
  j: () => walk(1),
  k: () => walk(-1),
  w: () => current()?.querySelector(".why > summary").click(),
  t: () => current()?.querySelector("a.translate")?.click(),
  "?": toggleHelp,
};

export function listenToKeys() {
  const button = document.getElementById("help-button");
  button.hidden = false;
  button.addEventListener("click", toggleHelp);
  help.addEventListener("close", () => document.body.classList.remove("with-help"));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (help.open) help.close();
      else leave();
    }
    if (isTyping(event.target) || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
}
