//! Example manifests.

use super::*;

fn check(manifest: &str) -> Vec<String> {
    let manifest: Table = manifest.parse().unwrap();
    strangers(&manifest).cloned().collect()
}

#[test]
fn a_dependency_of_the_workspace_is_right_in_every_spelling() {
    assert_eq!(
        check(
            "[dependencies]\na.workspace = true\nb = { workspace = true, features = [\"x\"] }\n\
             [dev-dependencies.c]\nworkspace = true"
        ),
        [""; 0]
    );
}

#[test]
fn a_version_of_its_own_is_found_wherever_it_stands() {
    assert_eq!(
        check(
            "[dependencies]\na = \"1\"\n[dev-dependencies]\nb = { version = \"1\" }\n\
             [build-dependencies]\nc = { path = \"../c\" }\n\
             [target.'cfg(unix)'.dependencies]\nd = { workspace = false, version = \"1\" }"
        ),
        ["a", "b", "c", "d"]
    );
}
