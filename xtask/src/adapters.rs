//! `cargo xtask adapters`: the programs of `docs/adapters/` with real frameworks and a scripted model.
//!
//! Start at [`run`] and [`ALL`]. Each framework has its own environment with the versions of its row. A program passes
//! if the model received everything it expects (`xtask/adapters/model.py`) and no process is left.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::sdks::{self, PackageTests};
use crate::{packages, workspace};

/// A page of `docs/adapters/`, and the requirements of its program.
struct Adapter {
    /// The name of the page.
    name: &'static str,
    packages: &'static [&'static str],
    /// Whether `cargo xtask test` runs it too.
    in_test: bool,
}

/// One row per page.
#[rustfmt::skip]
const ALL: &[Adapter] = &[
    Adapter { name: "python-openai-agents", packages: &["openai-agents==0.24.0"], in_test: false },
    Adapter { name: "python-langgraph", packages: &["langgraph==1.2.20", "langchain-openai==1.7.3"], in_test: false },
    Adapter { name: "python-pydantic-ai", packages: &["pydantic-ai-slim[openai]==2.66.0"], in_test: false },
    Adapter { name: "python-anthropic", packages: &["anthropic==2.8.0"], in_test: true },
    Adapter { name: "python-openai", packages: &["openai==3.49.0"], in_test: false },
    Adapter { name: "typescript-ai-sdk", packages: &["ai@7.0.169", "@ai-sdk/openai@4.0.114"], in_test: true },
    Adapter { name: "typescript-openai-agents", packages: &["@openai/agents@0.20.0", "zod@4.6.7"], in_test: false },
    Adapter { name: "typescript-anthropic", packages: &["@anthropic-ai/sdk@1.8.0"], in_test: false },
];

/// The model's last message.
const WORDS: &str = "It is sunny in Oslo, and the handle says hello.";
/// The time limit of a program.
const LIMIT: Duration = Duration::from_mins(3);

/// Runs the programs of the named pages; default: all.
pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    for name in names {
        let known: Vec<_> = ALL.iter().map(|adapter| adapter.name).collect();
        ensure!(
            known.contains(&name.as_str()),
            "`{name}` is not an adapter; the adapters are {}",
            known.join(", ")
        );
    }
    let windlass = workspace::build_windlass()?;
    let tests = run_all(&windlass, |adapter| {
        names.is_empty() || names.iter().any(|name| name == adapter.name)
    });
    println!(
        "{} adapters passed, {} failed, {} skipped",
        tests.passed, tests.failed, tests.skipped
    );
    ensure!(tests.failed == 0, "some adapters failed");
    Ok(())
}

/// Runs the programs that are part of `cargo xtask test`.
pub(crate) fn check() -> anyhow::Result<PackageTests> {
    let windlass = workspace::built("windlass")?;
    Ok(run_all(&windlass, |adapter| adapter.in_test))
}

fn run_all(windlass: &Path, wanted: impl Fn(&Adapter) -> bool) -> PackageTests {
    let mut tests = PackageTests {
        title: "adapters".to_owned(),
        passed: 0,
        failed: 0,
        skipped: 0,
    };
    for adapter in ALL.iter().filter(|adapter| wanted(adapter)) {
        let program = match adapter.install() {
            Ok(program) => program,
            Err(why) => {
                println!("skipped: adapter {}: {why:#}", adapter.name);
                tests.skipped += 1;
                continue;
            }
        };
        match adapter.check(program, windlass) {
            Ok(()) => {
                println!("adapter {}: ok", adapter.name);
                tests.passed += 1;
            }
            Err(fault) => {
                println!("adapter {}: {fault:#}", adapter.name);
                tests.failed += 1;
            }
        }
    }
    tests
}

impl Adapter {
    /// Installs the framework; returns the command that runs the page's program.
    fn install(&self) -> anyhow::Result<Command> {
        let folder = packages::folder("windlass-adapters")?.join(self.name);
        if self.name.starts_with("python-") {
            let python = packages::pypi(&folder, self.packages)?;
            let program = folder.join("program.py");
            std::fs::write(&program, self.program("python")?)?;
            let mut command = Command::new(python);
            command
                .args(["-W", "error::RuntimeWarning"])
                .arg(program)
                .env("PYTHONPATH", workspace::root().join("python/src"))
                .env("PYTHONDONTWRITEBYTECODE", "1");
            return Ok(command);
        }
        packages::npm(&folder, self.packages)?;
        install_own_package(&folder)?;
        let program = folder.join("program.mjs");
        std::fs::write(&program, self.program("js")?)?;
        let mut command = sdks::node_command("node")?;
        command.arg(program);
        Ok(command)
    }

    /// The program of the page.
    fn program(&self, language: &str) -> anyhow::Result<String> {
        let page = workspace::root().join(format!("docs/adapters/{}.md", self.name));
        let text = std::fs::read_to_string(&page)
            .with_context(|| format!("cannot read `{}`", page.display()))?;
        let program = text
            .split_once(&format!("\n```{language}\n"))
            .and_then(|(_, rest)| rest.split_once("\n```"));
        let (program, _) =
            program.with_context(|| format!("there is no program in `{}`", page.display()))?;
        Ok(format!("{program}\n"))
    }

    fn check(&self, mut command: Command, windlass: &Path) -> anyhow::Result<()> {
        let place = tempfile::tempdir()?;
        let model = Model::start()?;
        let marker = format!("{}-{}", std::process::id(), self.name);
        let mut child = command
            .current_dir(place.path())
            .env("HOME", place.path())
            .env("WINDLASS_BIN", windlass)
            .env("WINDLASS_VECTOR", &marker)
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url))
            .env("OPENAI_API_KEY", "none")
            .env("ANTHROPIC_BASE_URL", &model.url)
            .env("ANTHROPIC_API_KEY", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run the program")?;
        let said = collect(child.stdout.take());
        let complaint = collect(child.stderr.take());
        let status = wait(&mut child)?;
        let (said, complaint) = (
            said.join().unwrap_or_default(),
            complaint.join().unwrap_or_default(),
        );
        let finished = model.finish()?;
        ensure!(status, "the program failed: {}", complaint.trim());
        ensure!(said.contains(WORDS), "the program said `{}`", said.trim());
        ensure!(finished == 1, "the model has finished {finished} turns");
        wait_until_gone(&marker)
    }
}

/// Installs the TypeScript package where the program finds it.
fn install_own_package(folder: &Path) -> anyhow::Result<()> {
    let package = sdks::build_typescript()?;
    let target = folder.join("node_modules/windlass");
    let _ = std::fs::remove_dir_all(&target);
    copy(&package.join("dist"), &target.join("dist"))?;
    std::fs::copy(package.join("package.json"), target.join("package.json"))?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in
        std::fs::read_dir(from).with_context(|| format!("cannot list `{}`", from.display()))?
    {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn collect(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for a program; returns whether it succeeded.
fn wait(child: &mut Child) -> anyhow::Result<bool> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("the program does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until no process has the marker in its environment.
fn wait_until_gone(marker: &str) -> anyhow::Result<()> {
    let marker = format!("WINDLASS_VECTOR={marker}");
    let start = Instant::now();
    loop {
        let carries = |path: PathBuf| {
            let environment = std::fs::read(path.join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|one| one == marker.as_bytes())
        };
        let left = std::fs::read_dir("/proc")?
            .flatten()
            .filter(|entry| carries(entry.path()))
            .count();
        if left == 0 {
            return Ok(());
        }
        ensure!(
            start.elapsed() < Duration::from_secs(30),
            "{left} processes are left"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The scripted model. It ends when its input is closed.
struct Model {
    child: Child,
    url: String,
    lines: BufReader<std::process::ChildStdout>,
}

impl Model {
    fn start() -> anyhow::Result<Self> {
        let mut child = Command::new("python3")
            .arg(workspace::root().join("xtask/adapters/model.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the scripted model")?;
        let stdout = child.stdout.take().context("it was asked for")?;
        let mut lines = BufReader::new(stdout);
        let mut url = String::new();
        lines.read_line(&mut url)?;
        let url = url.trim().to_owned();
        Ok(Self { child, url, lines })
    }

    /// Stops it; returns the number of finished turns.
    fn finish(mut self) -> anyhow::Result<usize> {
        drop(self.child.stdin.take());
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        self.child.wait()?;
        line.trim()
            .parse()
            .context("the scripted model does not report its turns")
    }
}
