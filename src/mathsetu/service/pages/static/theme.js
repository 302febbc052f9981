// Runs before the page is drawn, so that a chosen theme never flashes the other one.
"use strict";

(() => {
  try {
    const wanted = localStorage.getItem("theme");
    if (wanted === "dark" || wanted === "light") document.documentElement.dataset.theme = wanted;
  } catch {
    // Some browsers forbid remembering: the system's own setting counts.
  }
})();
