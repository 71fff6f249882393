use std::collections::BTreeSet;

use super::*;

#[test]
fn every_driver_is_there_and_used() {
    let used = ALL.iter().map(|framework| framework.driver);
    let used = used.chain([SHARED_MODULE, THROUGH_NODE, "checks.py"]);
    let used: BTreeSet<String> = used.map(str::to_owned).collect();
    let there = std::fs::read_dir(drivers()).unwrap();
    let there = there.map(|file| file.unwrap().file_name().into_string().unwrap());
    let there = there.filter(|name| name != "__pycache__");
    assert_eq!(used, there.collect());
}

#[test]
fn a_package_is_known_without_its_version_and_extras() {
    for (package, name) in [
        ("autogen-ext[mcp]", "autogen-ext"),
        ("mcp>=2.1,<3", "mcp"),
        ("@mastra/mcp@latest", "@mastra/mcp"),
        ("agno", "agno"),
    ] {
        assert_eq!(bare_name(package), name);
    }
}

#[test]
fn faults_are_reported_with_their_check() {
    let printed = "noise\n{\"check\": \"stdio: list\", \"fault\": null}\n\
                   {\"check\": \"http: handle\", \"fault\": \"no\"}\n{}\n";
    assert_eq!(read(printed), (1, vec!["http: handle: no".to_owned()]));
}
