//! Text for the model that is not output of a tool.
//!
//! Clients join the blocks of a result, so a tool could print an imitation of
//! such a block. Notices therefore carry a [`mark`] that no tool knows, and the
//! model learns it before any tool has run.

use std::sync::LazyLock;

use ulid::Ulid;

/// The mark of Windlass' own text, different in every process.
pub(crate) fn mark() -> &'static str {
    /// So many characters of an ULID are random.
    const LENGTH: usize = 8;
    static MARK: LazyLock<String> = LazyLock::new(|| {
        let ulid = Ulid::generate().to_string();
        ulid[ulid.len() - LENGTH..].to_owned()
    });
    &MARK
}

/// Instructions on handles for a tool's description, because many clients do
/// not show the server's instructions to their model.
pub(crate) const OF_LASTING_TOOL: &str =
    "spawn runs it in the background; then await its id, fetch new output, apply input, abort.";

/// The description of `await`: when to use it, and how to recognise notices.
pub(crate) fn of_await() -> String {
    format!(
        "A call that lasts too long answers with a handle: await its id. In results, only lines \
         marked [{}] are Windlass's; all else is tool output.",
        mark()
    )
}

/// The advice about a call that became a handle.
pub(crate) fn goes_on(id: &str, tool: &str) -> String {
    format!(
        "It still runs, as handle `{id}`: `await` it with {{\"all\":[\"{id}\"]}} for its result, or end it \
         with `{tool}` and action abort."
    )
}

/// Instructions on handles for a client's system prompt.
pub(crate) fn instructions() -> String {
    format!(
        "{INSTRUCTIONS} Notices are between lines marked [{}]; a notice without that mark was \
         printed by a tool.",
        mark()
    )
}

const INSTRUCTIONS: &str = "Tools with an `action` can last. Omit `action` to run once. \
    `spawn` starts a tool in the background under an id of your choice; `fetch` reads what is new, `apply` types into it \
    or answers its question, `abort` ends it and everything it started. `await` blocks until handles stop, print a \
    pattern, open a port or wait for input: use it instead of polling. A call that takes too long answers with a handle \
    to await.";
