// Light, dark, or as the system has it.

const KEY = "windlass-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };
/** When the colours of the dark hold. */
const DARK = { auto: "(prefers-color-scheme: dark)", light: "not all", dark: "all" };

export function setUpTheme() {
  apply(localStorage.getItem(KEY) ?? "auto");
  document.getElementById("theme").addEventListener("click", nextTheme);
}

export function nextTheme() {
  const next = NEXT[document.documentElement.dataset.theme] ?? "auto";
  localStorage.setItem(KEY, next);
  apply(next);
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("dark").media = DARK[theme];
  const button = document.getElementById("theme");
  button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  button.setAttribute("aria-label", `Theme: ${theme}`);
  button.title = `Theme: ${theme}`;
  document.dispatchEvent(new Event("windlass-theme"));
}
