//! A program of three packages, one of which is only a build dependency.

use std::path::PathBuf;

use super::*;

fn package(name: &str, in_program: bool, uses: &[usize]) -> Dependency {
    let of_others = name != "program";
    Dependency {
        name: name.to_owned(),
        version: "1.2.3".to_owned(),
        registry: of_others.then(|| "registry".to_owned()),
        licence: Some("MIT/Apache-2.0".to_owned()),
        description: None,
        authors: Vec::new(),
        folder: PathBuf::new(),
        in_program,
        uses: uses.to_vec(),
    }
}

fn three() -> Dependencies {
    Dependencies {
        packages: vec![
            package("library", true, &[]),
            package("macro", false, &[]),
            package("program", true, &[0, 1]),
        ],
        root: 2,
    }
}

#[test]
fn the_bill_names_every_package_and_its_licence() {
    let bill = cyclonedx(&three());
    assert_eq!(bill["metadata"]["component"]["name"], "program");
    assert_eq!(bill["components"].as_array().unwrap().len(), 2);
    assert_eq!(
        bill["components"][0],
        json!({
            "type": "library", "bom-ref": "pkg:cargo/library@1.2.3", "name": "library",
            "version": "1.2.3", "purl": "pkg:cargo/library@1.2.3", "scope": "required",
            "licenses": [{"expression": "MIT OR Apache-2.0"}],
        })
    );
    assert_eq!(bill["components"][1]["scope"], "excluded");
    assert_eq!(
        bill["dependencies"][2],
        json!({"ref": "pkg:cargo/program@1.2.3", "dependsOn": ["pkg:cargo/library@1.2.3", "pkg:cargo/macro@1.2.3"]})
    );
}

#[test]
fn a_program_gives_back_the_list_that_was_put_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    assert!(extract(&program).is_err(), "nothing was put into it yet");
    embed(&three(), &program).unwrap();
    assert_eq!(
        extract(&program).unwrap(),
        json!({"packages": [
            {"name": "library", "version": "1.2.3", "source": "registry"},
            {"name": "macro", "version": "1.2.3", "source": "registry", "kind": "build"},
            {"name": "program", "version": "1.2.3", "source": "local", "dependencies": [0, 1], "root": true},
        ]})
    );
}
