//! Made-up packages.

use std::path::PathBuf;

use super::*;

fn package(name: &str, folder: PathBuf) -> Dependency {
    Dependency {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        registry: Some("registry".to_owned()),
        licence: Some("MIT".to_owned()),
        description: None,
        authors: vec!["Ada".to_owned()],
        folder,
        in_program: true,
        uses: Vec::new(),
    }
}

#[test]
fn a_text_that_two_packages_share_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["one", "two", "three"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at("one/LICENSE-MIT"), "Do as you like.\n").unwrap();
    fs::write(at("two/license.txt"), "Do as you like.\r\n").unwrap();
    fs::write(at("two/lib.rs"), "Not a licence.").unwrap();
    let packages = ["one", "two", "three"].map(|name| package(name, at(name)));
    let text = collect(&Dependencies {
        packages: packages.to_vec(),
        root: 0,
    })
    .unwrap();
    let rule = "-".repeat(78);
    assert_eq!(
        text,
        format!(
            "Windlass is made of its own code and of the packages below, which keep\n\
             their licences.\n\n  one 1.0.0: MIT\n  two 1.0.0: MIT\n  three 1.0.0: MIT\n\n\
             These packages carry no text of their licence; their authors are\n\n  three 1.0.0: Ada\n\n\
             {rule}\none 1.0.0\ntwo 1.0.0\n{rule}\n\nDo as you like.\n"
        )
    );
}
