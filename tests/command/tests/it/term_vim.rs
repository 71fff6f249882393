//! Full-screen programs that edit and show files: vim and less.

use serde_json::json;
use windlass_outside::needs;

use crate::support::Project;
use crate::term_sitting::{Cost, Sitting, assert_ended_well, assert_shows, numbers, text};

/// Opens a file, changes a line and leaves.
pub(crate) fn edit() -> Cost {
    let project = Project::new();
    project.write("file", &numbers(60));
    let (mut sitting, shown) = Sitting::down(&project, "vim -u NONE -i NONE file");
    assert!(text(&shown).starts_with("1\n2\n3\n"), "{shown}");
    assert_eq!(shown["cursor"], json!([1, 1]));
    // Moving changes no row, so only the cursor is reported.
    let moved = sitting.apply(json!({"input": "4G", "enter": false}));
    assert_eq!(
        (text(&moved).as_str(), &moved["cursor"]),
        ("", &json!([4, 1]))
    );
    let changed = sitting.apply(json!({"input": "ccfour", "enter": false}));
    assert_eq!(text(&changed), "4│four");
    sitting.keys(&["esc"]);
    let moved = sitting.keys(&["down", "j", "x"]);
    assert_eq!(moved["cursor"], json!([6, 1]));
    assert_ended_well(&sitting.leave(json!({"input": ":wq"})));
    let expected = numbers(60)
        .replace("\n4\n", "\nfour\n")
        .replace("\n6\n", "\n\n");
    assert_eq!(project.read("file"), expected);
    sitting.up()
}

#[test]
fn a_file_is_edited_in_vim() {
    needs!("vim");
    edit();
}

/// Pages, searches and leaves.
pub(crate) fn page() -> Cost {
    let project = Project::new();
    project.write("file", &numbers(500));
    let (mut sitting, shown) = Sitting::down(&project, "less file");
    assert!(text(&shown).starts_with("1\n2\n3\n"), "{shown}");
    let next = sitting.keys(&["space"]);
    assert_shows(&next, "24\n25\n");
    let found = sitting.line("/^432");
    assert_shows(&found, "432\n433\n");
    let found = sitting.keys(&["G"]);
    assert_shows(&found, "500\n");
    assert_ended_well(&sitting.leave(json!({"keys": ["q"]})));
    sitting.up()
}

#[test]
fn a_file_is_read_in_less() {
    needs!("less");
    page();
}
