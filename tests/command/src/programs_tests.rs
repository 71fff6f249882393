use std::fs::File;
use std::time::{Duration, SystemTime};

use super::*;

/// A program and its sources, which were written so many seconds after it.
fn judged(sources: &[(&str, i32)]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let built = SystemTime::now();
    let write = |name: &str, after: i32| {
        let path = folder.path().join(name);
        let written = if after < 0 {
            built - Duration::from_secs(after.unsigned_abs().into())
        } else {
            built + Duration::from_secs(after.unsigned_abs().into())
        };
        File::create(&path).unwrap().set_modified(written).unwrap();
        path
    };
    let program = write("program", 0);
    let listed = sources.iter().map(|(name, after)| {
        let path = write(name, *after).display().to_string();
        path.replace(' ', "\\ ")
    });
    let listed: Vec<String> = listed.collect();
    let list = format!("{}: {}\n", program.display(), listed.join(" "));
    fs::write(program.with_extension("d"), list).unwrap();
    let place = format!("{}/", folder.path().display());
    fault(&program).map(|fault| fault.replace(&place, ""))
}

#[test]
fn a_program_that_is_no_older_than_its_sources_is_used() {
    assert_eq!(judged(&[("a.rs", -5), ("with space.rs", 0)]), None);
}

#[test]
fn a_program_that_is_older_than_a_source_is_refused_with_its_name() {
    let refused = "`program` is older than its source `with space.rs`";
    let fault = judged(&[("a.rs", -5), ("with space.rs", 5)]);
    assert_eq!(fault.as_deref(), Some(refused));
}

#[test]
fn a_program_without_a_list_of_its_sources_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::write(&program, "").unwrap();
    let fault = fault(&program).unwrap();
    assert!(fault.ends_with("/program` are not known"), "{fault}");
}

#[test]
fn a_program_that_is_not_built_is_refused() {
    let fault = fault(Path::new("/no/such/program"));
    assert_eq!(fault.as_deref(), Some("there is no `/no/such/program`"));
}
