// The token comes with the printed link, behind `#`, and is kept for this tab.

const KEY = "windlass-token";

/** Takes the token out of the address, so that it is not seen or shared. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return token();
}

export function token() {
  return sessionStorage.getItem(KEY);
}
