// Buttons of the palette put their LaTeX into the box.

import { insert } from "./box.js";

export function enhancePalette() {
  const palette = document.getElementById("palette");
  if (!palette) return;
  palette.hidden = false;
  palette.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-insert]");
    if (button) insert(button.dataset.insert);
  });
}
