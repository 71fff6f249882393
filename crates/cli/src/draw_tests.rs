use insta::assert_snapshot;
use serde_json::json;

use super::*;

#[test]
fn rows_that_changed_are_drawn_and_nothing_commands_the_terminal() {
    let screen: ScreenUpdate = serde_json::from_value(json!({
        "generation": 3, "rows": 24, "cols": 80, "cursor": [2, 90], "cursor_visible": true,
        "full_screen": false,
        "modes": {"application_cursor": true, "bracketed_paste": false, "mouse": false},
        "changed": [
            {"row": 2, "runs": [{"text": "a\u{1b}]0;x\u{7}", "fg": 1, "bold": true}]},
            {"row": 30, "runs": [{"text": "outside"}]},
        ],
    }))
    .unwrap();
    assert_snapshot!(
        draw(&screen, 24, 80).escape_debug(),
        @r"\u{1b}[?25l\u{1b}[?7l\u{1b}[2;1H\u{1b}[0m\u{1b}[2K\u{1b}[0;1;38;5;1ma]0;x\u{1b}[0m\u{1b}[?7h\u{1b}[?1h\u{1b}[?2004l\u{1b}[2;80H\u{1b}[?25h"
    );
}
