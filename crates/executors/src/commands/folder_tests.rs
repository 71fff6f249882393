use std::os::unix::fs::symlink;
use std::sync::Arc;

use serde_json::json;
use windlass_process::{
    LauncherOptions, Process, RemoteAdoption, RemoteFuture, RemoteHost, RemotePlace, RemoteStart,
    StartError, TakeOverError,
};

use super::*;

/// A host on which the project is in `/workspace`.
struct Workspace {
    project: PathBuf,
}

impl RemoteHost for Workspace {
    fn name(&self) -> &'static str {
        "box"
    }

    fn path_there(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.project) {
            Ok(rest) => Path::new("/workspace").join(rest),
            Err(_) => path.to_owned(),
        }
    }

    fn start(&self, _: RemoteStart) -> RemoteFuture<'_, Result<Process, StartError>> {
        unreachable!("nothing is started")
    }

    fn has_place(&self, _: &RemotePlace) -> bool {
        false
    }

    fn adopt(&self, _: RemoteAdoption) -> RemoteFuture<'_, Result<Process, TakeOverError>> {
        unreachable!("nothing is adopted")
    }
}

/// The pattern for this `cwd`.
fn outside(launcher: &Launcher, root: &Path, folder: &str) -> Option<String> {
    let args = serde_json::from_value(json!({"command": "ls", "cwd": folder})).unwrap();
    folder_outside(&args, root, launcher).map(|pattern| pattern.text)
}

#[tokio::test]
async fn a_folder_on_a_host_is_compared_with_the_root_there() {
    let near = tempfile::tempdir().unwrap();
    let root = near.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&root).unwrap();
    // Here it is the project; there it is another folder.
    symlink(&root, root.with_file_name("alias")).unwrap();
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let launcher = launcher.on_host(Arc::new(Workspace {
        project: root.clone(),
    }));
    let beside = |name: &str| root.with_file_name(name).display().to_string();
    for folder in [
        "",
        ".",
        "only/there",
        "/workspace",
        "/workspace/only/there/",
        "/workspace/./sub/..",
        "sub/../other",
        &root.join("sub").display().to_string(),
    ] {
        assert_eq!(outside(&launcher, &root, folder), None, "{folder}");
    }
    for folder in [
        "..",
        "/",
        "/etc",
        "/workspaces",
        "/workspace/..",
        "/workspace/../etc",
        "sub/../..",
        "../project",
        "../../workspace/../etc",
        &beside("alias"),
        &near.path().display().to_string(),
    ] {
        let expected = quoted(["cd", folder]);
        let found = outside(&launcher, &root, folder);
        assert_eq!(found, Some(expected), "{folder}");
    }
}

#[tokio::test]
async fn a_folder_here_is_compared_on_the_disk() {
    let near = tempfile::tempdir().unwrap();
    let root = near.path().canonicalize().unwrap().join("project");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    symlink(near.path(), root.join("out")).unwrap();
    symlink(&root, root.with_file_name("alias")).unwrap();
    let launcher = Launcher::new(LauncherOptions::default()).unwrap();
    let alias = root.with_file_name("alias").display().to_string();
    for folder in ["", "sub", "../project/sub", &alias] {
        assert_eq!(outside(&launcher, &root, folder), None, "{folder}");
    }
    for folder in ["..", "out", "missing", "/workspace"] {
        assert!(outside(&launcher, &root, folder).is_some(), "{folder}");
    }
}
