//! More programs that want a terminal: a debugger, a monitor, prompts and a
//! menu.

use serde_json::json;
use windlass_outside::needs;

use crate::support::{Project, eventually};
use crate::term_sitting::{Cost, SCREEN, Sitting, assert_ended_well, assert_shows, outside, text};

/// Breaks, runs, steps and prints.
pub(crate) fn debug() -> Cost {
    let project = Project::new();
    project.write(
        "main.c",
        "int main(void) {\n  int x = 1;\n  x = x + 41;\n  return x - 42;\n}\n",
    );
    outside(&project, "gcc", &["-g", "-O0", "-o", "main", "main.c"]);
    let (mut sitting, shown) = Sitting::down(&project, "gdb -q -nx ./main");
    assert!(text(&shown).ends_with("(gdb) "), "{shown}");
    assert_shows(&sitting.line("break main"), "Breakpoint 1 at");
    assert_shows(&sitting.line("run"), "int x = 1;");
    assert_eq!(text(&sitting.line("next")), "3\t  x = x + 41;\n(gdb) ");
    assert_shows(&sitting.line("next"), "return x - 42;");
    assert_eq!(text(&sitting.line("print x")), "$1 = 42\n(gdb) ");
    assert_shows(&sitting.line("quit"), "(y or n) ");
    assert_ended_well(&sitting.line("y"));
    sitting.up()
}

#[test]
fn a_program_is_debugged_in_gdb() {
    needs!("gdb", "gcc");
    debug();
}

/// Refreshes twice and leaves. It shows one process, so that what else the
/// machine does has no part in what this costs.
pub(crate) fn monitor() -> Cost {
    let (cost, told) = watch("exec top -d 300 -p $$", 2);
    // What has not changed is not told.
    assert!(!told.contains("COMMAND"), "{told}");
    cost
}

/// Refreshes a full screen of processes more often. They are its own children,
/// so that the other processes of the machine do not count.
pub(crate) fn monitor_many() -> Cost {
    let refreshes = 12;
    let start = "for i in $(seq 16); do sleep 1000 & all=$all,$!; done";
    let (cost, told) = watch(&format!("{start}; exec top -d 300 -p $$$all"), refreshes);
    let average = told.len() / refreshes;
    assert!(average < SCREEN / 4, "{average} bytes a refresh: {told}");
    cost
}

/// Gives the cost, and what the refreshes told.
fn watch(command: &str, refreshes: usize) -> (Cost, String) {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(&project, command);
    assert_shows(&shown, "load average");
    assert_shows(&shown, "COMMAND");
    let mut told = String::new();
    for _ in 1..refreshes {
        told.push_str(&text(&sitting.keys(&["space"])));
    }
    // A refresh that comes at once may find nothing changed; the clock in the
    // first row is sure to change.
    eventually("a refresh is told", || {
        told.push_str(&text(&sitting.keys(&["space"])));
        !told.is_empty()
    });
    assert_ended_well(&sitting.keys(&["q"]));
    (sitting.up(), told)
}

#[test]
fn top_is_refreshed_and_left() {
    needs!("top");
    monitor_many();
}

/// A password is read without echo and told nowhere.
pub(crate) fn password() -> Cost {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(
        &project,
        "exec bash -c 'read -rs -p \"Password: \" word; echo; echo \"$word\" > heard; echo ${#word} letters'",
    );
    assert_eq!(text(&shown), "Password: ");
    assert_eq!(shown["state"], json!("waiting"));
    assert_eq!(shown["question"]["secret"], json!(true));
    let ended = sitting.line("hunter22");
    assert_ended_well(&ended);
    assert_shows(&ended, "8 letters");
    assert!(!ended.to_string().contains("hunter22"), "{ended}");
    assert_eq!(project.read("heard"), "hunter22\n");
    sitting.up()
}

#[test]
fn a_password_is_not_echoed() {
    needs!("bash");
    password();
}

/// Makes a key, asked for its place and twice for a passphrase.
pub(crate) fn keygen() -> Cost {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(&project, "ssh-keygen -t ed25519 -C nobody");
    assert_shows(&shown, "Enter file in which to save the key");
    assert_eq!(shown["awaiting_input"], json!(true));
    let file = project.root().join("key");
    let first = sitting.line(file.to_str().unwrap());
    assert_eq!(first["state"], json!("waiting"), "{first}");
    let second = sitting.line("between us");
    assert_eq!(second["state"], json!("waiting"), "{second}");
    assert_shows(&second, "again");
    assert_ended_well(&sitting.line("between us"));
    let public = outside(
        &project,
        "ssh-keygen",
        &["-y", "-P", "between us", "-f", "key"],
    );
    assert!(public.starts_with("ssh-ed25519 "), "{public}");
    sitting.up()
}

#[test]
fn a_key_is_made_by_answering_prompts() {
    needs!("ssh-keygen");
    keygen();
}

/// Chooses the second entry of a curses menu.
pub(crate) fn menu() -> Cost {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(
        &project,
        "whiptail --menu Pick 15 40 4 a Apple b Banana c Cherry 2> chosen",
    );
    assert_shows(&shown, "Banana");
    sitting.keys(&["down"]);
    assert_ended_well(&sitting.keys(&["enter"]));
    assert_eq!(project.read("chosen"), "b");
    sitting.up()
}

#[test]
fn an_entry_is_chosen_from_a_menu() {
    needs!("whiptail");
    menu();
}

/// Switches the echo off, draws a page and waits for Return, as `vttest` does, then asks for a password in the same way.
const PAGES: &str = "stty -echo; printf '\\033[2J\\033[5;7HPush <RETURN>'; read -r a; \
                     printf '\\033[2J\\033[HOne page more.\\n\\nPush <RETURN>'; read -r c; \
                     printf '\\033[2J\\033[5;7HPassword:'; read -r b; stty echo; echo \"$a-$b\" > heard";

#[test]
fn a_page_without_echo_that_waits_for_return_asks_for_no_secret() {
    let project = Project::new();
    let (mut sitting, shown) = Sitting::down(&project, PAGES);
    assert_eq!(shown["state"], json!("running"), "{shown}");
    assert_shows(&shown, "Push <RETURN>");
    let more = sitting.line("plain");
    assert_eq!(more["state"], json!("running"), "{more}");
    assert_shows(&more, "One page more.");
    let asked = sitting.line("");
    assert_eq!(asked["state"], json!("waiting"), "{asked}");
    assert_eq!(asked["question"]["secret"], json!(true), "{asked}");
    assert_ended_well(&sitting.line("hidden"));
    assert_eq!(project.read("heard"), "plain-hidden\n");
}

#[test]
fn the_last_line_of_a_full_screen_is_a_line_of_it() {
    let project = Project::new();
    let screen = "printf '\\033[?1049h\\033[2J\\033[3;1H\\033[7mstatus\\033[m: ok\\033[1;4Hx\\033[?25l'; cat";
    let (_sitting, _) = Sitting::down(&project, screen);
    let machine = project.list(&["ps"]);
    let listed = serde_json::to_string(&machine).unwrap();
    assert!(listed.contains("\"last_line\":\"status: ok\""), "{listed}");
}
