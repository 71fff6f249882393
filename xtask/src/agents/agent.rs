//! The agents, and what each needs to run without a network and a person.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// An agent.
pub(super) struct Agent {
    /// The command line's name for it.
    pub(super) name: &'static str,
    /// What `windlass mcp install` calls it.
    pub(super) client: &'static str,
    pub(super) title: &'static str,
    /// Its package.
    pub(super) package: &'static str,
    /// Its program.
    pub(super) program: &'static str,
    /// What it puts before the name of a tool of ours.
    pub(super) prefix: &'static str,
    /// What a request holds that offers the model our tools; others are asides,
    /// such as for a title.
    pub(super) offers: &'static str,
    /// It runs on a terminal, and its message is typed; otherwise its command
    /// line holds the message.
    pub(super) is_interactive: bool,
    /// Points it at a model, and gives it the message and leave to use our
    /// tools.
    pub(super) prepare: fn(&mut Command, &Place) -> anyhow::Result<()>,
}

/// Where an agent works.
pub(super) struct Place<'a> {
    pub(super) home: &'a Path,
    pub(super) project: &'a Path,
    /// Its model.
    pub(super) url: &'a str,
}

/// A key that opens nothing.
const KEY: &str = "no-key";
pub(super) const MESSAGE: &str = "Use the tools.";

pub(super) const ALL: &[Agent] = &[
    Agent {
        name: "claude",
        client: "claude",
        title: "Claude Code",
        package: "@anthropic-ai/claude-code",
        program: "claude",
        prefix: "mcp__windlass__",
        offers: "mcp__windlass__shell",
        is_interactive: false,
        prepare: prepare_claude,
    },
    Agent {
        name: "claude-interactive",
        client: "claude",
        title: "Claude Code on a terminal",
        package: "@anthropic-ai/claude-code",
        program: "claude",
        prefix: "mcp__windlass__",
        offers: "mcp__windlass__shell",
        is_interactive: true,
        prepare: prepare_claude_interactive,
    },
    Agent {
        name: "codex",
        client: "codex",
        title: "Codex",
        package: "@openai/codex",
        program: "codex",
        prefix: "mcp__windlass/",
        offers: "mcp__windlass",
        is_interactive: false,
        prepare: prepare_codex,
    },
    Agent {
        name: "opencode",
        client: "opencode",
        title: "opencode",
        package: "opencode-ai",
        program: "opencode",
        prefix: "windlass_",
        offers: "windlass_shell",
        is_interactive: false,
        prepare: prepare_opencode,
    },
    Agent {
        name: "gemini",
        client: "gemini",
        title: "Gemini CLI",
        package: "@google/gemini-cli",
        program: "gemini",
        prefix: "mcp_windlass_",
        offers: "mcp_windlass_shell",
        is_interactive: false,
        prepare: prepare_gemini,
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

/// As a person has it who has answered the questions of the first start.
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
    // As a person would who lets it use the tools without asking.
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
