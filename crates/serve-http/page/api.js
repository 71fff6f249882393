// Requests to `/api/v1`. An error says what the server said.

import { token } from "./token.js";

class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function headers(more = {}) {
  return { authorization: `Bearer ${token()}`, ...more };
}

async function ask(method, path, body, options = {}) {
  const sent = { method, headers: headers(), cache: "no-store", ...options };
  if (body !== undefined) {
    sent.headers["content-type"] = "application/json";
    sent.body = JSON.stringify(body);
  }
  const response = await fetch(`/api/v1${path}`, sent);
  if (!response.ok) {
    const said = await response.json().catch(() => ({}));
    throw new ApiError(response.status, said.error ?? `the server replied with status ${response.status}`);
  }
  return response;
}

export const get = async (path, options) => (await ask("GET", path, undefined, options)).json();

export const raw = (path, options) => ask("GET", path, undefined, options);

export async function post(path, body = {}, options) {
  const response = await ask("POST", path, body, options);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

export const remove = (path, options) => ask("DELETE", path, undefined, options);

/** The path of a handle. */
export function handlePath(session, handle) {
  return `/sessions/${encodeURIComponent(session)}/handles/${encodeURIComponent(handle)}`;
}
