// The switch between light and dark; without a choice, the system's setting applies.

import { remember } from "./memory.js";

const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches;
}

export function enhanceTheme() {
  const button = document.getElementById("theme-button");
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("theme", root.dataset.theme);
    show();
  });
  systemIsDark.addEventListener("change", show);
  show();
}
