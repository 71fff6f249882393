//! Restricted editors for git.
//!
//! A commit message or a rebase list is written in the user's editor, in its
//! restricted mode. If that editor has none, another installed editor is used.
//! An edited rebase list must not contain new commands to execute.

use windlass_process::Command;

/// The variable that holds the user's own `GIT_EDITOR`.
const OWN_EDITOR: &str = "WINDLASS_OWN_GIT_EDITOR";
/// The variable that holds the user's own `GIT_SEQUENCE_EDITOR`.
const OWN_SEQUENCE_EDITOR: &str = "WINDLASS_OWN_GIT_SEQUENCE_EDITOR";

/// Runs the editor in `$editor` on the arguments. The scripts must not contain
/// single quotes.
const EDIT: &str = r#"
unset GIT_EDITOR GIT_SEQUENCE_EDITOR
[ -n "$editor" ] || editor=$WINDLASS_OWN_GIT_EDITOR
[ -n "$editor" ] || editor=$(git var GIT_EDITOR) || editor=vi
first=${editor%% *}
restricted=
case ${first##*/} in
vim | vim.*) restricted="$editor -Z" ;;
vi | view | ex)
    case $("$first" --version 2>/dev/null) in VIM*) restricted="$editor -Z" ;; esac ;;
nano) restricted="$editor -R" ;;
rvim | rnano | true | : | code | subl | zed | gedit | kate) restricted=$editor ;;
esac
if [ -z "$restricted" ]; then
    if command -v vim >/dev/null 2>&1; then restricted="vim -Z"
    elif command -v nano >/dev/null 2>&1; then restricted="nano -R"
    else restricted=$editor
    fi
fi
eval "$restricted \"\$@\""
"#;

/// Edits a rebase list, and fails if commands to execute were added.
const EDIT_LIST: &str = r#"
commands() { grep -E "^[[:space:]]*(x|exec)([[:space:]]|$)" "$1"; }
before=$(commands "$1")
edit() {
    editor=$WINDLASS_OWN_GIT_SEQUENCE_EDITOR
    [ -n "$editor" ] || editor=$(git config sequence.editor)
    EDIT
}
edit "$@" || exit
after=$(commands "$1")
if [ -n "$after" ] && printf "%s\n" "$after" | grep -vxFe "$before" >/dev/null; then
    echo "the edited list has new commands to execute; nothing was rebased" >&2
    exit 1
fi
"#;

/// Makes git use restricted editors.
pub(super) fn restrict(mut command: Command) -> Command {
    for (variable, own) in [
        ("GIT_EDITOR", OWN_EDITOR),
        ("GIT_SEQUENCE_EDITOR", OWN_SEQUENCE_EDITOR),
    ] {
        if let Some(editor) = std::env::var_os(variable) {
            command = command.env(own, editor);
        }
    }
    let line = |script: &str| format!("sh -c '{script}' editor");
    command
        .env("GIT_EDITOR", line(&format!("editor=\n{EDIT}")))
        .env(
            "GIT_SEQUENCE_EDITOR",
            line(&EDIT_LIST.replace("EDIT\n", EDIT)),
        )
}
