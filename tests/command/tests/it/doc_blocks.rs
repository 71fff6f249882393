//! Every block of commands in the README and the docs is run here, run by
//! another test under its file name, or marked `no-run` with a reason.
//!
//! `terminal: TEXT KEY; …` has a block run on a terminal, where each key is
//! pressed once its text is on the screen.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use windlass_outside::model::{ModelServer, Script, Turn};

use crate::programs::windlass;
use crate::query::asked;
use crate::query_terminal::sit_at;
use crate::support::{Project, files_below, workspace};

/// A block of commands.
struct Block {
    file: PathBuf,
    line: usize,
    /// The words after its language.
    info: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let root = workspace();
    let mut files = files_below(&root.join("docs"));
    files.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let mut blocks = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let Some(fence) = line.strip_prefix("```") else {
                continue;
            };
            let body = lines.by_ref().map(|(_, line)| line);
            let body: Vec<&str> = body.take_while(|line| *line != "```").collect();
            let (language, info) = fence.split_once(' ').unwrap_or((fence, ""));
            if matches!(language, "sh" | "bash" | "shell" | "console") {
                blocks.push(Block {
                    file: file.clone(),
                    line: number + 1,
                    info: info.to_owned(),
                    text: body.join("\n"),
                });
            }
        }
    }
    blocks
}

/// A project in which the blocks of a page run: that of the guide to tools has
/// the guide's own tool, and one that is trusted has something to trust.
fn project_for(block: &Block) -> Project {
    if block.text.contains("windlass trust") {
        let tool = "[conversation.tools.hi]\ncommand = \"echo hi\"\nparameters = {}\n";
        return Project::with_config(tool);
    }
    if !block.text.contains("save") {
        return Project::new();
    }
    let named = |name: &str| {
        let guide = fs::read_to_string(workspace().join("docs/guide/writing-tools.md")).unwrap();
        let mut lines = guide.lines();
        assert!(
            lines.any(|line| line.ends_with(&format!(" {name}"))),
            "{name}"
        );
        let body: Vec<&str> = lines.take_while(|line| *line != "```").collect();
        body.join("\n") + "\n"
    };
    let project = Project::with_config(&named("sh/save.toml"));
    project.write("save.sh", &named("sh/save.sh"));
    project
}

#[test]
fn every_page_is_found_from_the_index() {
    let docs = workspace().join("docs");
    let index = fs::read_to_string(docs.join("index.md")).unwrap();
    for file in files_below(&docs) {
        let name = file.strip_prefix(&docs).unwrap().display().to_string();
        let is_page = file.extension().is_some_and(|it| it == "md") && name != "index.md";
        assert!(
            !is_page || index.contains(&format!("({name})")),
            "docs/index.md does not lead to {name}"
        );
    }
}

/// A model for the blocks that ask one, of whichever provider.
async fn model() -> ModelServer {
    let turn = Turn::text("All is well.").repeated();
    ModelServer::start(Script::new([turn])).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_block_of_commands_is_run_or_says_why_not() {
    let model = model().await;
    let blocks = blocks();
    let keys = |block: &Block| block.info.strip_prefix("terminal:").map(str::to_owned);
    let (typed, other): (Vec<_>, Vec<_>) =
        blocks.into_iter().partition(|block| keys(block).is_some());
    for block in &typed {
        run_on_terminal(block, &keys(block).unwrap_or_default(), &model.url()).await;
    }
    tokio::task::block_in_place(|| run_all(&other, typed.len(), &model.url()));
}

/// The variable that leads to the program under test.
fn path() -> String {
    let program = PathBuf::from(windlass());
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", program.parent().unwrap().display())
}

async fn run_on_terminal(block: &Block, steps: &str, model: &str) {
    let asked = asked("ask", []).await;
    let mut command = asked.project.program("sh");
    command
        .env("PATH", path())
        .env("OLLAMA_HOST", model)
        .args(["-euc", &block.text]);
    let sitting = sit_at(asked, command);
    for step in steps.split(';') {
        let (text, key) = step.trim().rsplit_once(' ').unwrap();
        sitting.until(|rows| rows.contains(text)).await;
        sitting.press(match key {
            "Ctrl-D" => "\x04",
            key => key,
        });
    }
    let (exit, rows) = sitting.ends().await;
    let place = format!("{}:{}", block.file.display(), block.line);
    assert_eq!(exit, Some(0), "{place}:\n{}\n{rows}", block.text);
}

/// The packages that a page has people install are those that `cargo xtask
/// adapters` installs to run the page's program.
#[test]
fn adapters_name_the_packages_that_their_programs_are_run_with() {
    let table = fs::read_to_string(workspace().join("xtask/src/adapters.rs")).unwrap();
    let folder = workspace().join("docs/adapters");
    let mut seen = 0;
    for block in blocks() {
        if block.file.parent() != Some(&folder) {
            continue;
        }
        let name = block.file.file_stem().unwrap().to_string_lossy();
        let entry = format!("name: \"{name}\", packages: &[");
        let (_, rest) = table.split_once(&entry).unwrap_or_else(|| panic!("{name}"));
        let (listed, _) = rest.split_once("], in_test").unwrap();
        // `name==1.2` of PyPI, `@scope/name@1.2` of npm.
        let mut tested: Vec<&str> = listed
            .split(", ")
            .map(|package| package.trim_matches('"'))
            .map(|package| match package.split_once("==") {
                Some((name, _)) => name.split('[').next().unwrap(),
                None => package.rsplit_once('@').map_or(package, |(name, _)| name),
            })
            .collect();
        let words = block.text.split_whitespace().skip(2);
        let named = words.map(|word| word.trim_matches(['\'', '"']));
        let named = named.map(|word| word.split('[').next().unwrap_or(word));
        let mut named: Vec<&str> = named.filter(|word| *word != "windlass").collect();
        tested.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, tested, "{}", block.file.display());
        seen += 1;
    }
    assert_eq!(seen, fs::read_dir(&folder).unwrap().count());
}

fn run_all(blocks: &[Block], typed: usize, model: &str) {
    let (mut ran, mut elsewhere, mut marked) = (typed, 0, 0);
    for block in blocks {
        let place = format!("{}:{}", block.file.display(), block.line);
        if let Some(reason) = block.info.strip_prefix("no-run") {
            let reason = reason.trim_start_matches(':').trim();
            assert!(reason.len() > 10, "{place} says no reason for `no-run`");
            marked += 1;
            continue;
        }
        if block.info.contains('/') {
            elsewhere += 1;
            continue;
        }
        assert_eq!(block.info, "", "{place}: `no-run: REASON`, or nothing");
        let project = project_for(block);
        project.trust();
        let mut command = project.program("sh");
        command
            .env("PATH", path())
            .env("OLLAMA_HOST", model)
            .env("ANTHROPIC_BASE_URL", model)
            .stdin(Stdio::null())
            .args(["-euc", &block.text]);
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{place}:\n{}\n{}{}",
            block.text,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        ran += 1;
    }
    // Past the test's capture, so that the counts are seen in every run.
    let _ = writeln!(
        std::io::stderr(),
        "blocks of commands in README and docs: {ran} run, {elsewhere} run as files, {marked} marked no-run"
    );
    assert!(ran > 0 && elsewhere > 0);
}
