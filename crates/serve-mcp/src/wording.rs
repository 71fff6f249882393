//! The words that are for the model and no tool's own.

/// How to use handles, for a client's system prompt.
pub(crate) const INSTRUCTIONS: &str = "Tools with an `action` can last. Omit `action` to run once. \
    `spawn` starts a tool in the background under an id of your choice; `fetch` reads what is new, `apply` types into it \
    or answers its question, `abort` ends it and everything it started. `await` blocks until handles stop, print a \
    pattern, open a port or wait for input: use it instead of polling. A call that takes too long answers with a handle \
    to await.";
