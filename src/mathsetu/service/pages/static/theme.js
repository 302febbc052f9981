// Runs before the page is drawn, so that the other theme never flashes.
"use strict";

(() => {
  try {
    const wanted = localStorage.getItem("theme");
    if (wanted === "dark" || wanted === "light") document.documentElement.dataset.theme = wanted;
  } catch {
    // The browser forbids storage: the system's setting applies.
  }
})();
