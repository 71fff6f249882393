//! Manifests, with and without a library.

use super::*;
use crate::artefacts::platform;

fn made(base: Value) -> Value {
    let base = serde_json::from_value(base).unwrap();
    let platforms: Vec<_> = platform::all().iter().take(2).collect();
    manifest(base, "1.2.3", &platforms).unwrap()
}

#[test]
fn a_package_uses_the_platforms_that_were_built_and_no_others() {
    assert_eq!(
        made(json!({}))["optionalDependencies"],
        json!({"windlass-linux-x64": "1.2.3", "windlass-linux-arm64": "1.2.3"})
    );
}

#[test]
fn nothing_runs_at_installation() {
    let made = made(json!({"scripts": {"postinstall": "false"}, "devDependencies": {"x": "1"}}));
    assert_eq!(
        (made.get("scripts"), made.get("devDependencies")),
        (None, None)
    );
}

#[test]
fn a_library_keeps_its_entry_points_and_dependencies() {
    let made = made(json!({
        "name": "other", "version": "9.9.9", "type": "module", "exports": "./dist/index.js",
        "dependencies": {"zod": "4"}, "engines": {"node": ">=20"},
    }));
    assert_eq!(made["exports"], "./dist/index.js");
    assert_eq!(made["dependencies"], json!({"zod": "4"}));
    assert_eq!(made["engines"], json!({"node": ">=20"}));
    assert_eq!(
        (&made["name"], &made["version"]),
        (&json!("windlass"), &json!("1.2.3"))
    );
    assert_eq!(made["bin"], json!({"windlass": "bin/windlass.cjs"}));
}

#[test]
fn the_mark_of_the_mcp_registry_is_the_name_in_server_json() {
    assert_eq!(
        made(json!({}))["mcpName"],
        json!(server_json::name().unwrap())
    );
}
