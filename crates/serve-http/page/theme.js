// Light, dark, or as the system has it.

const KEY = "windlass-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };

export function setUpTheme() {
  apply(localStorage.getItem(KEY) ?? "auto");
  document.getElementById("theme").addEventListener("click", nextTheme);
}

export function nextTheme() {
  const next = NEXT[document.documentElement.dataset.theme] ?? "auto";
  localStorage.setItem(KEY, next);
  apply(next);
}

/** Whether it is dark now, for those who draw by themselves. */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  button.setAttribute("aria-label", `Theme: ${theme}`);
  button.title = `Theme: ${theme}`;
  document.dispatchEvent(new Event("windlass-theme"));
}
