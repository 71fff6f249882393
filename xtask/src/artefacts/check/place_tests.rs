//! Commands that write inside and outside the directory.

use windlass_skip::skip;

use super::*;

fn sh(place: &EmptyPlace, script: &str) -> anyhow::Result<()> {
    archive::run(place.command("sh").args(["-c", script]))
}

#[test]
fn a_file_that_nobody_meant_is_found() {
    let place = EmptyPlace::new().unwrap();
    sh(
        &place,
        "echo 1 > in-work; mkdir -p $HOME/.config; echo 2 > $HOME/.config/x",
    )
    .unwrap();
    let told = place.is_tidy(&["work"]).unwrap_err().to_string();
    assert!(told.contains("home/.config/x"), "{told}");
    place.is_tidy(&["work", "home/.config"]).unwrap();
}

#[test]
fn nothing_outside_can_be_written_where_the_system_permits_that() {
    if let Err(why) = read_only() {
        eprintln!("{why:#}");
        skip!("the system permits no read-only mounts");
    }
    let outside = tempfile::tempdir().unwrap();
    let place = EmptyPlace::new().unwrap();
    let script = format!("echo 1 > {}/file", outside.path().display());
    assert!(sh(&place, &script).is_err());
    sh(&place, "echo 1 > file").unwrap();
}

#[test]
fn a_command_sees_an_empty_home_and_none_of_our_variables() {
    let place = EmptyPlace::new().unwrap();
    sh(
        &place,
        r#"test -z "$(ls -A "$HOME")" && test -z "$CARGO_MANIFEST_DIR""#,
    )
    .unwrap();
}
