//! An interactive shell: where it is, what it exports, and its jobs.

use serde_json::json;
use windlass_outside::needs;

use crate::support::Project;
use crate::term_sitting::{Cost, Sitting, assert_shows, text};

pub(crate) fn session() -> Cost {
    let project = Project::new();
    project.write("sub/here", "");
    let (mut sitting, shown) = Sitting::down(&project, "PS1='$ ' bash --norc --noprofile -i");
    assert_eq!(text(&shown), "$ ");
    assert_eq!(text(&sitting.line("cd sub")), "$ ");
    assert_eq!(text(&sitting.line("ls")), "here\n$ ");
    sitting.line("export WORD=exported");
    assert_eq!(text(&sitting.line("sh -c 'echo $WORD'")), "exported\n$ ");
    // A job that reads the terminal from the background is stopped by it.
    sitting.line("cat > ../heard &");
    let stopped = sitting.line("wait -f; jobs");
    assert_shows(&stopped, "[1]+  Stopped");
    assert_shows(&sitting.line("fg"), "cat > ../heard");
    sitting.line("to the job");
    let suspended = sitting.keys(&["ctrl-z"]);
    assert_shows(&suspended, "Stopped");
    assert!(text(&suspended).ends_with("$ "), "{suspended}");
    sitting.line("fg");
    let ended = sitting.keys(&["ctrl-d"]);
    assert!(text(&ended).ends_with("$ "), "{ended}");
    assert_eq!(project.read("heard"), "to the job\n");
    let stopped = sitting.line("exit 3");
    assert_eq!(stopped["state"], json!("stopped"), "{stopped}");
    assert_eq!(stopped["exit_code"], json!(3));
    sitting.up()
}

#[test]
fn a_shell_keeps_where_it_is_and_its_jobs() {
    needs!("bash");
    session();
}
