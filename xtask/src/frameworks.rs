//! `cargo xtask frameworks`: agent frameworks as clients of `windlass mcp`.
//!
//! Start at [`run`] and [`ALL`]. A driver in `xtask/frameworks/` opens the
//! tools with the framework's own API; `checks.py` contains the expected
//! results. No model is needed: the framework's tool objects are called
//! directly.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::{packages, workspace};

/// A framework.
struct Framework {
    name: &'static str,
    title: &'static str,
    /// The version of the first one is reported.
    packages: &'static [&'static str],
    /// A file of `xtask/frameworks/`; `.mjs` runs in Node.
    driver: &'static str,
}

/// One row per framework.
#[rustfmt::skip]
const ALL: &[Framework] = &[
    Framework { name: "langchain", title: "LangChain", packages: &["langchain-mcp-adapters"], driver: "langchain.py" },
    Framework { name: "llamaindex", title: "LlamaIndex", packages: &["llama-index-tools-mcp"], driver: "llamaindex.py" },
    // Its metadata does not declare that it needs the older `mcp`.
    Framework { name: "autogen", title: "AutoGen", packages: &["autogen-ext[mcp]", "mcp<2"], driver: "autogen.py" },
    Framework { name: "openai", title: "OpenAI Agents SDK", packages: &["openai-agents"], driver: "openai_agents.py" },
    Framework { name: "smolagents", title: "smolagents", packages: &["smolagents[mcp]", "mcp[ws]<2"], driver: "smolagents_mcp.py" },
    Framework { name: "crewai", title: "CrewAI", packages: &["crewai-tools[mcp]"], driver: "crewai_mcp.py" },
    Framework { name: "pydantic", title: "Pydantic AI", packages: &["pydantic-ai-slim[mcp]"], driver: "pydantic_mcp.py" },
    Framework { name: "adk", title: "Google ADK", packages: &["google-adk", "mcp<2"], driver: "adk.py" },
    Framework { name: "agno", title: "Agno", packages: &["agno", "mcp>=2.1,<3", "fastmcp"], driver: "agno_mcp.py" },
    Framework { name: "strands", title: "Strands", packages: &["strands-agents"], driver: "strands_mcp.py" },
    Framework { name: "haystack", title: "Haystack", packages: &["mcp-haystack"], driver: "haystack_mcp.py" },
    Framework { name: "vercel", title: "Vercel AI SDK", packages: &["ai@latest", "@ai-sdk/mcp@latest"], driver: "vercel.mjs" },
    Framework { name: "mastra", title: "Mastra", packages: &["@mastra/mcp@latest", "@mastra/core@latest"], driver: "mastra.mjs" },
];

/// The module that the Node drivers share.
const SHARED_MODULE: &str = "driver.mjs";
/// Runs the checks through a driver in Node.
const THROUGH_NODE: &str = "through_node.py";
const TOKEN: &str = "a-token-for-frameworks-that-opens-nothing-else";

/// Runs the checks with the named frameworks (default: all), and prints a
/// table. A framework that cannot be installed is reported as skipped.
pub(crate) fn run(names: &[String]) -> anyhow::Result<()> {
    let frameworks = chosen(names)?;
    let windlass = workspace::build_windlass()?;
    let home = packages::folder("windlass-frameworks")?.join("home");
    std::fs::create_dir_all(&home)?;
    let server = Server::start(&windlass, &home)?;
    let mut rows = Vec::new();
    for framework in frameworks {
        println!("== {}", framework.title);
        let place = Place {
            windlass: &windlass,
            home: &home,
            url: &server.url,
        };
        let row = match framework.install() {
            Err(why) => Row::skipped(framework, &why),
            Ok(installed) => framework.check(&installed, &place)?,
        };
        println!("{}", row.outcome);
        rows.push(row);
    }
    println!("\n{:<20} {:<10} outcome", "framework", "version");
    for row in &rows {
        println!("{:<20} {:<10} {}", row.title, row.version, row.outcome);
    }
    ensure!(
        rows.iter().all(|row| row.well),
        "not every framework could use Windlass"
    );
    Ok(())
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Framework>> {
    if names.is_empty() {
        return Ok(ALL.iter().collect());
    }
    let find = |name: &String| {
        let mut frameworks = ALL.iter();
        let found = frameworks.find(|framework| framework.name == name);
        found.with_context(|| {
            let known: Vec<_> = ALL.iter().map(|framework| framework.name).collect();
            format!(
                "`{name}` is not a framework; the frameworks are {}",
                known.join(", ")
            )
        })
    };
    names.iter().map(find).collect()
}

struct Row {
    title: &'static str,
    version: String,
    outcome: String,
    well: bool,
}

impl Row {
    fn skipped(framework: &Framework, why: &anyhow::Error) -> Self {
        Self {
            title: framework.title,
            version: "-".to_owned(),
            outcome: format!("skipped: {why:#}"),
            well: true,
        }
    }
}

/// The environment of the checks.
struct Place<'a> {
    windlass: &'a Path,
    /// A home, and the working directory of the tools.
    home: &'a Path,
    url: &'a str,
}

/// Installed programs.
enum Installed {
    Python(PathBuf),
    Node { node: PathBuf, folder: PathBuf },
}

impl Framework {
    fn is_for_node(&self) -> bool {
        Path::new(self.driver).extension() == Some("mjs".as_ref())
    }

    fn install(&self) -> anyhow::Result<Installed> {
        let folder = packages::folder("windlass-frameworks")?.join(self.name);
        if !self.is_for_node() {
            return Ok(Installed::Python(packages::pypi(&folder, self.packages)?));
        }
        packages::npm(&folder, self.packages)?;
        // Node finds a module's packages relative to its directory.
        for module in [SHARED_MODULE, self.driver] {
            std::fs::copy(drivers().join(module), folder.join(module))?;
        }
        let node = packages::node()?.join("node");
        Ok(Installed::Node { node, folder })
    }

    fn check(&self, installed: &Installed, place: &Place) -> anyhow::Result<Row> {
        let mut command = match installed {
            Installed::Python(python) => {
                let mut command = Command::new(python);
                command.arg(drivers().join(self.driver));
                command
            }
            Installed::Node { node, folder } => {
                let mut command = Command::new("python3");
                command
                    .arg(drivers().join(THROUGH_NODE))
                    .env("NODE", node)
                    .env("DRIVER", folder.join(self.driver));
                command
            }
        };
        let output = command
            .arg(place.windlass)
            .args([place.url, TOKEN])
            .current_dir(place.home)
            .env("HOME", place.home)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .with_context(|| format!("cannot run the driver of {}", self.title))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        let (passed, faults) = read(&printed);
        for fault in &faults {
            println!("{}: {fault}", self.title);
        }
        let ended = output.status.success() && passed > 0;
        if !ended {
            println!("{}: {}", self.title, complaint.trim());
        }
        Ok(Row {
            title: self.title,
            version: self.version(installed),
            outcome: format!("{passed} checks passed, {} failed", faults.len()),
            well: ended && faults.is_empty(),
        })
    }

    /// The version of the first package.
    fn version(&self, installed: &Installed) -> String {
        let package = bare_name(self.packages[0]);
        let version = match installed {
            Installed::Python(python) => {
                let ask = format!("import importlib.metadata as m; print(m.version('{package}'))");
                let said = Command::new(python).args(["-c", &ask]).output();
                said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
                    .ok()
            }
            Installed::Node { folder, .. } => {
                let manifest = folder.join("node_modules").join(package);
                let manifest = std::fs::read_to_string(manifest.join("package.json")).ok();
                let manifest = manifest.and_then(|text| serde_json::from_str::<Value>(&text).ok());
                manifest.and_then(|manifest| manifest["version"].as_str().map(str::to_owned))
            }
        };
        version.unwrap_or_else(|| "?".to_owned())
    }
}

/// A package's name without version and extras.
fn bare_name(package: &str) -> &str {
    let end = package
        .char_indices()
        .skip(1)
        .find(|(_, sign)| "[<>=@".contains(*sign))
        .map_or(package.len(), |(place, _)| place);
    &package[..end]
}

/// The number of passed checks, and the errors of the others.
fn read(printed: &str) -> (usize, Vec<String>) {
    let lines = printed
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["check"].is_string());
    let mut passed = 0;
    let mut faults = Vec::new();
    for line in lines {
        match line["fault"].as_str() {
            None => passed += 1,
            Some(fault) => faults.push(format!(
                "{}: {fault}",
                line["check"].as_str().unwrap_or_default()
            )),
        }
    }
    (passed, faults)
}

fn drivers() -> PathBuf {
    workspace::root().join("xtask/frameworks")
}

/// A `windlass mcp --http`. Dropping this kills it.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(windlass: &Path, home: &Path) -> anyhow::Result<Self> {
        let child = Command::new(windlass)
            .args(["mcp", "--http", "127.0.0.1:0"])
            .current_dir(home)
            .env("HOME", home)
            .env("WINDLASS_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run `windlass mcp --http`")?;
        let mut server = Self {
            child,
            url: String::new(),
        };
        let stderr = server.child.stderr.take().context("it was asked for")?;
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.find("http://").map(|from| line[from..].to_owned()));
        server.url = url.context("`windlass mcp --http` does not say where it is")?;
        // Drain its later output, so that the pipe does not fill up.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[path = "frameworks_tests.rs"]
mod tests;
