// MathLive, made to keep our security policy: the policy allows no style attributes in markup, so
// they travel under another name and are set by this script, which the policy does allow.

import { MathfieldElement } from "./mathlive.min.mjs";

// Commands of MathLive's own, in LaTeX that everybody knows.
const PLAIN = [
  [/\\(?:d|capitalD)ifferentialD(?![a-zA-Z])\s*/g, " d"],
  [/\\exponentialE(?![a-zA-Z])\s*/g, " e"],
  [/\\imaginaryI(?![a-zA-Z])\s*/g, " i"],
  [/\\m(left|right)(?![a-zA-Z])/g, "\\$1"],
  [/\\([NZQRC])(?![a-zA-Z])/g, "\\mathbb{$1}"],
];
// Commands that reach out of a formula into the page: what holds them is left to the box.
const REACHING = /\\(?:href|url|html|class|css|data|style|include|unicode)/i;

MathfieldElement.createHTML = (markup) =>
  // It is taken back at once, before a style under another name could be set.
  markup.replace(' style="visibility:hidden"', "").replaceAll(" style=", " data-style=");
MathfieldElement.fontsDirectory = new URL(".", import.meta.url).href;
MathfieldElement.soundsDirectory = null;

function setStyles(root) {
  const set = () => {
    for (const element of root.querySelectorAll("[data-style]")) {
      element.style.cssText = element.dataset.style;
      element.removeAttribute("data-style");
    }
  };
  new MutationObserver(set).observe(root, { childList: true, subtree: true });
}

/** The keyboard for touch screens must not cover what is typed with it. */
function makeRoom(visual, keyboard) {
  keyboard.editToolbar = "none"; // its markup does not come through createHTML
  keyboard.addEventListener("geometrychange", () => {
    document.body.style.paddingBlockEnd = `${keyboard.boundingRect.height}px`;
    if (keyboard.visible) visual.scrollIntoView({ block: "center" });
  });
}

function plain(latex) {
  return PLAIN.reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), latex).trim();
}

/** A visual field inside an element, which says what was changed, and when one leaves or is done. */
export function makeVisualField(host, { change, leave, done }) {
  const visual = new MathfieldElement();
  setStyles(visual.shadowRoot);
  setStyles(document.body); // the keyboard for touch screens
  visual.setAttribute("aria-label", host.dataset.label);
  visual.dir = "ltr";
  visual.popoverPolicy = "off";
  visual.environmentPopoverPolicy = "off";
  makeRoom(visual, window.mathVirtualKeyboard);
  host.prepend(visual);
  visual.menuItems = [];
  visual.addEventListener("input", () => change(plain(visual.getValue("latex-without-placeholders"))));
  // A press beside the formula leaves the keys with whoever had them.
  visual.addEventListener("click", () => visual.focus());
  visual.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Escape") leave();
      else if (event.key === "Enter" && visual.mode !== "latex") done();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
  return {
    show: (latex) => visual.setValue(REACHING.test(latex) ? "" : latex, { silenceNotifications: true }),
    insert: (latex) => visual.insert(latex.replaceAll("{}", "{#?}"), { focus: true }),
    focus: () => visual.focus(),
  };
}
