//! The agents, and the setup of each to run without a network or a user.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// An agent.
pub(super) struct Agent {
    /// Its name on the command line.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) package: Package,
    pub(super) setup: Setup,
    /// The prefix that it adds to the names of our tools.
    pub(super) prefix: &'static str,
    /// A text in each request that offers our tools to the model. Other
    /// requests are asides, such as for a title.
    pub(super) offers: &'static str,
    /// Whether it runs on a terminal and its message is typed. Otherwise the
    /// message is on its command line.
    pub(super) is_interactive: bool,
    /// Configures its model, its message and the permission to use our tools.
    pub(super) prepare: fn(&mut Command, &Place) -> anyhow::Result<()>,
}

/// An agent's npm package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) program: Program,
}

/// The location of a package's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// npm links it.
    Linked(&'static str),
    /// A self-contained script. The package's dependencies are not installed.
    Bundle(&'static str),
}

/// How Windlass is added to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setup {
    /// By `windlass mcp install`, under this name.
    Install(&'static str),
    /// Manually, in [`Agent::prepare`].
    Prepared,
}

/// The directories and the model of an agent.
pub(super) struct Place<'a> {
    pub(super) home: &'a Path,
    pub(super) project: &'a Path,
    /// The address of its model.
    pub(super) url: &'a str,
    pub(super) windlass: &'a Path,
}

/// An invalid key.
const KEY: &str = "no-key";
pub(super) const MESSAGE: &str = "Use the tools.";

const CLAUDE: Package = Package {
    name: "@anthropic-ai/claude-code",
    program: Program::Linked("claude"),
};

/// One row per agent.
pub(super) const ALL: &[Agent] = &[
    Agent {
        name: "claude",
        title: "Claude Code",
        package: CLAUDE,
        setup: Setup::Install("claude"),
        prefix: "mcp__windlass__",
        offers: "mcp__windlass__shell",
        is_interactive: false,
        prepare: prepare_claude,
    },
    Agent {
        name: "claude-interactive",
        title: "Claude Code on a terminal",
        package: CLAUDE,
        setup: Setup::Install("claude"),
        prefix: "mcp__windlass__",
        offers: "mcp__windlass__shell",
        is_interactive: true,
        prepare: prepare_claude_interactive,
    },
    Agent {
        name: "codex",
        title: "Codex",
        package: Package {
            name: "@openai/codex",
            program: Program::Linked("codex"),
        },
        setup: Setup::Install("codex"),
        prefix: "mcp__windlass/",
        offers: "mcp__windlass",
        is_interactive: false,
        prepare: prepare_codex,
    },
    Agent {
        name: "opencode",
        title: "opencode",
        package: Package {
            name: "opencode-ai",
            program: Program::Linked("opencode"),
        },
        setup: Setup::Install("opencode"),
        prefix: "windlass_",
        offers: "windlass_shell",
        is_interactive: false,
        prepare: prepare_opencode,
    },
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        package: Package {
            name: "@google/gemini-cli",
            program: Program::Linked("gemini"),
        },
        setup: Setup::Install("gemini"),
        prefix: "mcp_windlass_",
        offers: "mcp_windlass_shell",
        is_interactive: false,
        prepare: prepare_gemini,
    },
    Agent {
        name: "qwen",
        title: "Qwen Code",
        package: Package {
            name: "@qwen-code/qwen-code",
            program: Program::Linked("qwen"),
        },
        setup: Setup::Install("qwen"),
        prefix: "mcp__windlass__",
        offers: "mcp__windlass__shell",
        is_interactive: false,
        prepare: prepare_qwen,
    },
    Agent {
        name: "cline",
        title: "Cline CLI",
        package: Package {
            name: "cline",
            program: Program::Linked("cline"),
        },
        setup: Setup::Install("cline"),
        prefix: "windlass__",
        offers: "windlass__shell",
        is_interactive: false,
        prepare: prepare_cline,
    },
    Agent {
        name: "copilot",
        title: "Copilot CLI",
        package: Package {
            name: "@github/copilot",
            program: Program::Linked("copilot"),
        },
        setup: Setup::Install("copilot"),
        prefix: "windlass-",
        offers: "windlass-shell",
        is_interactive: false,
        prepare: prepare_copilot,
    },
    Agent {
        name: "pi",
        title: "pi",
        package: Package {
            name: "@earendil-works/pi-coding-agent",
            program: Program::Bundle("dist/bundle/cli.js"),
        },
        setup: Setup::Install("pi"),
        prefix: "mcp__windlass__",
        offers: "mcp__windlass__shell",
        is_interactive: false,
        prepare: prepare_pi,
    },
    Agent {
        name: "continue",
        title: "Continue CLI",
        package: Package {
            name: "@continuedev/cli",
            program: Program::Linked("cn"),
        },
        setup: Setup::Prepared,
        prefix: "",
        offers: r#""name":"await""#,
        is_interactive: false,
        prepare: prepare_continue,
    },
];

#[expect(
    clippy::unnecessary_wraps,
    reason = "others must write files to be prepared"
)]
fn prepare_claude(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    claude(command, place).args(["--print", MESSAGE, "--allowedTools", "mcp__windlass"]);
    Ok(())
}

/// The state after a user has answered the questions of the first start.
fn prepare_claude_interactive(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let file = place.home.join(".claude.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    settings["hasCompletedOnboarding"] = json!(true);
    settings["theme"] = json!("dark");
    settings["customApiKeyResponses"] = json!({"approved": [KEY], "rejected": []});
    let project = place.project.display().to_string();
    settings["projects"][project] =
        json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
    std::fs::write(file, settings.to_string())?;
    claude(command, place).args(["--allowedTools", "mcp__windlass"]);
    Ok(())
}

fn claude<'a>(command: &'a mut Command, place: &Place) -> &'a mut Command {
    command
        .env("ANTHROPIC_BASE_URL", place.url)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("ENABLE_TOOL_SEARCH", "false")
}

fn prepare_codex(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let file = place.home.join(".codex/config.toml");
    let servers = std::fs::read_to_string(&file)?;
    let model = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
         name = \"scripted\"\nbase_url = \"{}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n",
        place.url
    );
    // The setting of a user who lets it use the tools without asking.
    let approved = "default_tools_approval_mode = \"approve\"\n";
    std::fs::write(file, format!("{model}\n{servers}{approved}"))?;
    command
        .env("SCRIPTED_KEY", KEY)
        .args(["exec", "--skip-git-repo-check", MESSAGE]);
    Ok(())
}

fn prepare_opencode(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let provider: Value = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": format!("{}/v1", place.url), "apiKey": KEY},
        "models": {"scripted": {}},
    });
    let config = json!({
        "provider": {"scripted": provider},
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
    });
    std::fs::write(place.project.join("opencode.json"), config.to_string())?;
    command
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
        .args(["run", MESSAGE]);
    Ok(())
}

fn prepare_gemini(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let file = place.home.join(".gemini/settings.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    settings["security"] = json!({"auth": {"selectedType": "gemini-api-key"}});
    std::fs::write(file, settings.to_string())?;
    command
        .env("GOOGLE_GEMINI_BASE_URL", place.url)
        .env("GEMINI_API_KEY", KEY)
        .env("GEMINI_TELEMETRY_ENABLED", "false")
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .args(["--model", "gemini-2.5-pro", "--yolo", "--prompt", MESSAGE]);
    Ok(())
}

fn prepare_qwen(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let file = place.home.join(".qwen/settings.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    settings["security"] = json!({"auth": {"selectedType": "openai"}});
    std::fs::write(file, settings.to_string())?;
    command
        .env("OPENAI_BASE_URL", format!("{}/v1", place.url))
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_MODEL", "scripted")
        .args(["--yolo", MESSAGE]);
    Ok(())
}

fn prepare_cline(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let provider = json!({
        "provider": "openai-compatible",
        "apiKey": KEY,
        "model": "scripted",
        "baseUrl": format!("{}/v1", place.url),
    });
    let providers = json!({
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": {
            "settings": provider,
            "updatedAt": "2026-01-01T00:00:00.000Z",
            "tokenSource": "manual",
        }},
    });
    let settings = place.home.join(".cline/data/settings");
    std::fs::create_dir_all(&settings)?;
    std::fs::write(settings.join("providers.json"), providers.to_string())?;
    command
        .env("CLINE_TELEMETRY_DISABLED", "1")
        .args(["--auto-approve", "true", MESSAGE]);
    Ok(())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "others must write files to be prepared"
)]
fn prepare_copilot(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    command
        .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", place.url))
        .env("COPILOT_PROVIDER_API_KEY", KEY)
        .env("COPILOT_MODEL", "scripted")
        .env("COPILOT_OFFLINE", "true")
        .args(["--no-auto-update", "--disable-builtin-mcps"])
        .args(["--allow-tool", "windlass", "--prompt", MESSAGE]);
    Ok(())
}

fn prepare_pi(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let provider = json!({
        "baseUrl": format!("{}/v1", place.url),
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [{"id": "scripted"}],
    });
    let models = json!({"providers": {"scripted": provider}});
    let file = place.home.join(".pi/agent/models.json");
    std::fs::write(file, models.to_string())?;
    command
        .env("PI_OFFLINE", "1")
        .env("PI_TELEMETRY", "0")
        .args(["--provider", "scripted", "--model", "scripted"])
        .args(["--print", MESSAGE]);
    Ok(())
}

fn prepare_continue(command: &mut Command, place: &Place) -> anyhow::Result<()> {
    let model = json!({
        "name": "scripted",
        "provider": "openai",
        "model": "scripted",
        "apiBase": format!("{}/v1", place.url),
        "apiKey": KEY,
        "roles": ["chat"],
    });
    let server = json!({"name": "windlass", "command": place.windlass, "args": ["mcp"]});
    let config = json!({
        "name": "scripted",
        "version": "0.0.1",
        "schema": "v1",
        "models": [model],
        "mcpServers": [server],
    });
    // JSON is valid YAML.
    let file = place.home.join("config.yaml");
    std::fs::write(&file, config.to_string())?;
    command
        .env("CONTINUE_TELEMETRY_ENABLED", "0")
        .arg("--config")
        .arg(file)
        .args(["--auto", "--print", MESSAGE]);
    Ok(())
}
