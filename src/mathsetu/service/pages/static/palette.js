// Buttons of the palette insert their LaTeX into the box, or into the visual editor if it is open.

import { insert } from "./box.js";
import { insertVisually } from "./editor.js";

export function enhancePalette() {
  const palette = document.getElementById("palette");
  if (!palette) return;
  palette.hidden = false;
  palette.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-insert]");
    if (button && !insertVisually(button.dataset.insert)) insert(button.dataset.insert);
  });
}
