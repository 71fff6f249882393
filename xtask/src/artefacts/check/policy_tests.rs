//! Checks expressions and packages against a small policy.

use super::*;

fn policy() -> Policy {
    let text = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
        [bans]
        deny = [{ crate = "openssl-sys" }]
    "#;
    Policy::parse(text).unwrap()
}

#[test]
fn an_expression_is_met_by_one_side_of_or_and_both_of_and() {
    for (expression, permitted) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only/MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("(MIT OR GPL-3.0-only) AND Apache-2.0", true),
        ("MIT OR GPL-3.0-only AND LGPL-3.0-only", true),
        ("(MIT OR GPL-3.0-only) AND LGPL-3.0-only", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("MIT WITH LLVM-exception", false),
        ("(MIT", false),
        ("MIT MIT", false),
        ("", false),
    ] {
        assert_eq!(policy().permits(expression), permitted, "{expression}");
    }
}

fn package(name: &str, registry: &str, licence: Option<&str>) -> Dependency {
    Dependency {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        registry: Some(registry.to_owned()),
        licence: licence.map(str::to_owned),
        description: None,
        authors: Vec::new(),
        folder: std::path::PathBuf::new(),
        in_program: true,
        uses: Vec::new(),
    }
}

#[test]
fn a_banned_package_an_unknown_source_and_no_licence_are_each_a_fault() {
    assert_eq!(
        policy().faults(&package("openssl-sys", "registry", None)),
        [
            "`openssl-sys 1.0.0` is banned",
            "`openssl-sys 1.0.0` comes from an unknown source",
            "`openssl-sys 1.0.0` names no licence",
        ]
    );
    assert_eq!(
        policy().faults(&package("fine", "known", Some("MIT"))),
        [""; 0]
    );
}

#[test]
fn the_file_of_the_repository_is_understood() {
    let policy = Policy::read().unwrap();
    assert!(policy.permits("MIT OR Apache-2.0"));
    assert!(policy.banned.contains(&"openssl-sys".to_owned()));
}
