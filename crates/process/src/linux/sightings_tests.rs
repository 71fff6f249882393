use std::fs;
use std::os::unix::fs::symlink;
use std::thread::sleep;

use super::*;

/// A folder with a few files, and the sightings of them.
struct Seen {
    folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

impl Seen {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("git/hooks")).unwrap();
        fs::create_dir_all(root.join("hollow")).unwrap();
        fs::write(root.join("config"), "1").unwrap();
        fs::write(root.join("envrc"), "1").unwrap();
        symlink(root.join("config"), root.join("link")).unwrap();
        let names = [
            "git/hooks",
            "git/config",
            "config",
            "envrc",
            "link",
            "none/at/all",
        ];
        Self {
            paths: names.map(|name| root.join(name)).into(),
            folder,
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn take(&self, young: Duration) -> Sightings {
        let hollow = [self.root().join("hollow")];
        let paths = self.paths.iter().chain(&hollow).map(PathBuf::as_path);
        Sightings::take_with(young, paths, hollow.iter().map(PathBuf::as_path)).unwrap()
    }

    /// Sightings that rely on names, however slow the machine is.
    fn take_young(&self) -> Sightings {
        let taken = self.take(Duration::from_hours(1));
        assert!(taken.folders.is_empty() && taken.renewed_at.is_some());
        taken
    }

    /// Sightings that rely on folders, not on names: those of a moment ago are not relied on.
    fn take_late(&self) -> Sightings {
        while self.take(YOUNG).renewed_at.is_some() {
            sleep(Duration::from_millis(5));
        }
        let taken = self.take(YOUNG);
        assert!(taken.folders.iter().any(|(path, _)| *path == self.root()));
        taken
    }
}

/// A change, in words and in deed.
type Change = (&'static str, fn(&Path));

/// Every change that another process could make to the files.
fn changes() -> Vec<Change> {
    vec![
        ("a file is removed", |root| {
            fs::remove_file(root.join("envrc")).unwrap();
        }),
        ("a file is replaced at once", |root| {
            fs::write(root.join("new"), "2").unwrap();
            fs::rename(root.join("new"), root.join("envrc")).unwrap();
        }),
        (
            "a file is removed and made, perhaps with the same number",
            |root| {
                fs::remove_file(root.join("envrc")).unwrap();
                fs::write(root.join("envrc"), "2").unwrap();
            },
        ),
        ("a file becomes a link", |root| {
            fs::remove_file(root.join("envrc")).unwrap();
            symlink("config", root.join("envrc")).unwrap();
        }),
        ("a name that did not exist is made", |root| {
            fs::write(root.join("git/config"), "2").unwrap();
        }),
        ("a folder above one that did not exist is made", |root| {
            fs::create_dir(root.join("none")).unwrap();
        }),
        ("a folder on the way is exchanged", |root| {
            fs::rename(root.join("git"), root.join("old")).unwrap();
            fs::create_dir_all(root.join("git/hooks")).unwrap();
        }),
        ("a link leads elsewhere", |root| {
            fs::remove_file(root.join("link")).unwrap();
            symlink(root.join("envrc"), root.join("link")).unwrap();
        }),
        ("the file that a link leads to is exchanged", |root| {
            fs::write(root.join("git/new"), "2").unwrap();
            fs::rename(root.join("git/new"), root.join("config")).unwrap();
        }),
        ("an empty folder gets a file", |root| {
            fs::write(root.join("hollow/file"), "").unwrap();
        }),
    ]
}

#[test]
fn every_change_is_seen_right_after_a_look() {
    for (what, change) in changes() {
        let seen = Seen::new();
        let taken = seen.take_young();
        assert!(taken.hold(), "before: {what}");
        change(&seen.root());
        assert!(!taken.hold(), "{what}");
    }
}

#[test]
fn every_change_is_seen_by_the_times_of_folders() {
    for (what, change) in changes() {
        let seen = Seen::new();
        let taken = seen.take_late();
        assert!(taken.hold(), "before: {what}");
        change(&seen.root());
        assert!(!taken.hold(), "{what}");
    }
}

/// The time of a file's change can be set by whoever may write it, that of a folder's change by nobody.
#[test]
fn a_time_that_was_set_back_hides_nothing() {
    let seen = Seen::new();
    let taken = seen.take_late();
    let before = fs::metadata(seen.root()).unwrap().modified().unwrap();
    fs::rename(seen.root().join("config"), seen.root().join("envrc")).unwrap();
    let folder = File::open(seen.root()).unwrap();
    folder.set_modified(before).unwrap();
    assert!(!taken.hold());
}

#[test]
fn the_content_of_files_does_not_matter() {
    let seen = Seen::new();
    let taken = seen.take_late();
    fs::write(seen.root().join("envrc"), "other").unwrap();
    fs::write(seen.root().join("git/hooks/x"), "other").unwrap();
    assert!(taken.hold());
}

#[test]
fn young_changes_are_looked_at_again() {
    let seen = Seen::new();
    let mut taken = seen.take_young();
    assert!(taken.hold());
    taken.renewed_at = Some(Instant::now());
    assert!(!taken.hold());
}
