use super::*;

fn unit(kind: &str, name: &str, has_unit_tests: bool) -> Unit {
    Unit {
        package: "windlass-host".to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        has_unit_tests,
    }
}

fn check(compiled: &[Unit], broken: &[&str]) -> Vec<String> {
    let all = [
        unit("lib", "windlass_host", false),
        unit("lib", "windlass_host", true),
        unit("test", "it", true),
    ];
    let outcome = CheckOutcome {
        compiled: compiled.iter().cloned().collect(),
        broken: broken
            .iter()
            .map(|name| ("windlass-host".to_owned(), (*name).to_owned()))
            .collect(),
        succeeded: broken.is_empty(),
    };
    faults_of(&PLATFORMS[0], &all.into(), &outcome)
}

#[test]
fn what_does_not_compile_is_named_and_so_is_what_waits_for_it() {
    let compiled = [
        unit("lib", "windlass_host", false),
        unit("lib", "windlass_host", true),
        unit("test", "it", true),
    ];
    assert_eq!(check(&compiled, &[]), [""; 0]);
    assert_eq!(
        check(&[], &["windlass_host"]),
        [
            "aarch64-apple-darwin: `windlass_host` of `windlass-host` does not compile",
            "aarch64-apple-darwin: test `it` of `windlass-host` with its unit tests was not checked, for something that it uses does not compile",
        ]
    );
    assert_eq!(check(&compiled[..2], &[]).len(), 1);
}

#[test]
fn a_package_is_named_in_its_id() {
    let id = "path+file:///work/crates/host#windlass-host@0.1.0";
    assert_eq!(package_name(id), "windlass-host");
    assert_eq!(package_name("path+file:///work/xtask#0.1.0"), "xtask");
}

/// CI compiles for its own platform.
#[test]
fn no_platform_is_named_that_nothing_compiles_for() {
    let compiled: Vec<_> = PLATFORMS.iter().map(|platform| platform.triple).collect();
    let is_compiled =
        |triple: &str| triple == "x86_64-unknown-linux-gnu" || compiled.contains(&triple);
    let text = std::fs::read_to_string(workspace::root().join("deny.toml")).unwrap();
    let deny: toml::Table = text.parse().unwrap();
    let named = deny["graph"]["targets"].as_array().unwrap().iter();
    let named = named.map(|triple| triple.as_str().unwrap().to_owned());
    let packaged = crate::artefacts::triples().map(str::to_owned);
    let named: Vec<String> = named.chain(packaged).collect();
    assert!(!named.is_empty());
    for triple in named {
        assert!(is_compiled(&triple), "{triple}");
    }
}
