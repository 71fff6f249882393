// The terminal's 256 colours. The first sixteen are the page's own, so that
// they are readable in both themes; the rest are the standard ones.

const STEPS = [0, 95, 135, 175, 215, 255];

/** Red, green and blue of a colour from 16 on. */
export function fixed(index) {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = index - 16;
  return [STEPS[Math.floor(cube / 36)], STEPS[Math.floor(cube / 6) % 6], STEPS[cube % 6]];
}

/** Whether a colour is one of the page's own. */
export const isNamed = (colour) => typeof colour === "number" && colour < 16;

/** A colour for CSS, unless it is one of the page's own. */
export function css(colour) {
  const [red, green, blue] = typeof colour === "number" ? fixed(colour) : colour;
  return `rgb(${red} ${green} ${blue})`;
}

/** The page's own colours as CSS has them now: sixteen, then text and ground. */
export function palette(node) {
  const style = getComputedStyle(node);
  const named = Array.from({ length: 16 }, (_, index) => style.getPropertyValue(`--c${index}`).trim());
  return { named, fg: style.getPropertyValue("--term-fg").trim(), bg: style.getPropertyValue("--term-bg").trim() };
}
