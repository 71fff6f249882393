//! The words that are for the model and no tool's own.

/// How to use the handles of a tool, for its own description: many clients show
/// their model no instructions.
pub(crate) const OF_LASTING_TOOL: &str =
    "spawn runs it in the background; then await its id, fetch new output, apply input, abort.";

/// When `await` is used, for its own description.
pub(crate) const OF_AWAIT: &str = "A call that lasts too long answers with a handle: await its id.";

/// What is to be done about a call that went on as a handle.
pub(crate) fn goes_on(id: &str, tool: &str) -> String {
    format!(
        "It still runs, as handle `{id}`: `await` it with {{\"all\":[\"{id}\"]}} for its result, or end it \
         with `{tool}` and action abort."
    )
}

/// How to use handles, for a client's system prompt.
pub(crate) const INSTRUCTIONS: &str = "Tools with an `action` can last. Omit `action` to run once. \
    `spawn` starts a tool in the background under an id of your choice; `fetch` reads what is new, `apply` types into it \
    or answers its question, `abort` ends it and everything it started. `await` blocks until handles stop, print a \
    pattern, open a port or wait for input: use it instead of polling. A call that takes too long answers with a handle \
    to await.";
