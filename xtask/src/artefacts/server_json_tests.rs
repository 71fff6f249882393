//! The file in the repository.

use super::*;
use crate::artefacts::stage;

fn server() -> Value {
    let text = std::fs::read_to_string(workspace::root().join("server.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_version_is_that_of_the_workspace() {
    let (server, version) = (server(), stage::version().unwrap());
    assert_eq!(server["version"], version);
    let packages = server["packages"].as_array().unwrap();
    assert_eq!(packages.len(), 2);
    for package in packages {
        assert_eq!(package["version"], version, "{package}");
        assert_eq!(package["identifier"], "windlass", "{package}");
        assert_eq!(package["packageArguments"][0]["value"], "mcp", "{package}");
    }
}

#[test]
fn the_registry_takes_the_name_and_the_description() {
    let server = server();
    let name = server["name"].as_str().unwrap();
    let (namespace, own) = name.split_once('/').unwrap();
    assert!(namespace.contains('.') && !own.is_empty(), "{name}");
    assert!(server["description"].as_str().unwrap().len() <= 100);
}

#[test]
fn a_readme_is_marked_once() {
    let once = marked("# Windlass\n").unwrap();
    assert!(once.ends_with(&format!("<!-- mcp-name: {} -->\n", name().unwrap())));
    assert_eq!(marked(&once).unwrap(), once);
}
