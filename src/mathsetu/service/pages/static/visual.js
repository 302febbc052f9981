// MathLive under our security policy: the policy forbids style attributes in markup, so they are
// renamed in the markup and set by this script, which the policy allows.

import { MathfieldElement } from "./mathlive.min.mjs";

// MathLive's own commands, and the standard LaTeX for them.
const PLAIN = [
  [/\\(?:d|capitalD)ifferentialD(?![a-zA-Z])\s*/g, " d"],
  [/\\exponentialE(?![a-zA-Z])\s*/g, " e"],
  [/\\imaginaryI(?![a-zA-Z])\s*/g, " i"],
  [/\\m(left|right)(?![a-zA-Z])/g, "\\$1"],
  [/\\([NZQRC])(?![a-zA-Z])/g, "\\mathbb{$1}"],
];
// Commands that affect the page outside the formula: formulas with them can be edited in the box only.
const REACHING = /\\(?:href|url|html|class|css|data|style|include|unicode)/i;

MathfieldElement.createHTML = (markup) =>
  // MathLive removes this style at once, before the script could set a renamed one.
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

/** Keep the virtual keyboard for touch screens from covering the field. */
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

/** Make a visual field inside an element, with callbacks for changes, for Escape and for Enter. */
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
  // A click beside the formula would not move the focus here.
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
