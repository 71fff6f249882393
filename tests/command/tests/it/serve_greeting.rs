//! What `windlass serve` prints, taken at its word.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use windlass_outside::needs;

use crate::support::Project;

/// A server on a terminal. Dropping it kills it.
struct Greeting {
    child: Child,
    lines: Vec<String>,
}

impl Greeting {
    fn of(project: &Project) -> Self {
        let mut child = project
            .windlass(&["serve", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        for line in stdout.lines() {
            lines.push(line.unwrap());
            if lines.last().unwrap().contains("Ctrl-C") {
                break;
            }
        }
        Self { child, lines }
    }
}

impl Drop for Greeting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines that the README has, for a server at this place.
fn in_the_readme(url: &str, token: &str) -> Vec<String> {
    let readme = include_str!("../../../../README.md");
    let line = readme
        .lines()
        .filter(|line| line.contains("/api/v1/sessions"));
    let here = |line: &str| {
        line.replace("http://127.0.0.1:8413", url)
            .replace("~/.local/state/windlass/token", token)
    };
    line.map(here).collect()
}

#[test]
fn the_lines_to_try_work_when_they_are_pasted() {
    needs!("curl");
    let project = Project::new();
    let greeting = Greeting::of(&project);
    let lines = &greeting.lines;
    let token = std::fs::read_to_string(project.state_dir().join("token")).unwrap();
    let link = lines[0].strip_prefix("Windlass listens at ").unwrap();
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    assert!(link.ends_with(&format!("/#token={}", token.trim())));
    let place = lines[1].strip_prefix("The token is in ").unwrap();
    assert_eq!(std::fs::read_to_string(place).unwrap(), token);

    let after = lines.iter().skip_while(|line| !line.starts_with("Try, "));
    let pasted = after.skip(1).map_while(|line| line.strip_prefix("  "));
    let pasted: Vec<&str> = pasted.collect();
    assert_eq!(pasted.len(), 2, "{lines:#?}");
    let url = link.split_once("/#").unwrap().0;
    assert_eq!(pasted, in_the_readme(url, place));
    let mut shell = project.program("sh");
    let output = shell.arg("-c").arg(pasted.join("\n")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.ends_with(r#""replies":[{"id":"1","content":"hello\n","is_error":false}]}"#),
        "{said}"
    );
}
