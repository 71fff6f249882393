use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;

fn executable(folder: &Path, name: &str, mode: u32) {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn find(name: &str, path_env: &str, cwd: &Path) -> Result<PathBuf, StartError> {
    find_program(OsStr::new(name), Some(OsStr::new(path_env)), cwd)
}

#[test]
fn the_first_executable_in_path_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    executable(&root.join("one"), "program", 0o644);
    executable(&root.join("two"), "program", 0o755);
    executable(&root.join("three"), "program", 0o755);
    let path = format!("{0}/missing:{0}/one:{0}/two:{0}/three", root.display());
    let found = find("program", &path, Path::new("/"));
    assert_eq!(found.unwrap(), root.join("two/program"));
}

#[test]
fn relative_paths_start_at_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    executable(&root.join("bin"), "program", 0o755);
    let expected = root.join("bin/program");
    assert_eq!(find("bin/program", "/usr/bin", root).unwrap(), expected);
    assert_eq!(find("program", "bin", root).unwrap(), expected);
    let found = find("program", ":/usr/bin", &root.join("bin"));
    assert_eq!(
        found.unwrap(),
        expected,
        "an empty entry is the working directory"
    );
}

#[test]
fn the_error_says_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    executable(root, "denied", 0o644);
    let path = root.to_str().unwrap();
    let denied = find("denied", path, root);
    assert!(
        matches!(denied, Err(StartError::Permission { .. })),
        "{denied:?}"
    );
    let missing = find("missing", path, root);
    assert!(
        matches!(missing, Err(StartError::NotFound { .. })),
        "{missing:?}"
    );
    let directory = find("./", path, root);
    assert!(
        matches!(directory, Err(StartError::NotExecutable { .. })),
        "{directory:?}"
    );
    let empty = find("", path, root);
    assert!(
        matches!(empty, Err(StartError::NotFound { .. })),
        "{empty:?}"
    );
}
