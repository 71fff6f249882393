// The token comes with the printed link, behind `#`, or is pasted into a field,
// and is kept for this tab.

const KEY = "windlass-token";

/** Takes the token out of the address, so that it is not seen or shared. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    keepToken(given);
    history.replaceState(null, "", location.pathname);
  }
  return token();
}

export function token() {
  return sessionStorage.getItem(KEY);
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

/** The token in a text: alone, or in a link; `null` if there is none. */
export function tokenIn(text) {
  const found = /(?:^|[#&]token=)([\w-]{20,})\s*$/.exec(text.trim());
  return found?.[1] ?? null;
}
