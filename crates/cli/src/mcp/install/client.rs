//! The clients: the location and format of each one's server list.
//!
//! Start at [`Client::setting`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use serde_json::{Map, Value, json};

/// An agent that speaks MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// opencode
    Opencode,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Cline CLI
    Cline,
    /// Copilot CLI
    Copilot,
    /// pi
    Pi,
    /// Zed
    Zed,
    /// VS Code
    Vscode,
    /// Cursor
    Cursor,
}

/// The config to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// All projects of this user
    User,
    /// This project only, for everybody who works in it
    Project,
}

/// The format of a config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigFormat {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
}

/// The relevant facts about the machine and its user.
pub(super) struct Around {
    pub(super) home: PathBuf,
    /// The user's config directory: `$XDG_CONFIG_HOME`.
    pub(super) config: PathBuf,
    pub(super) project: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`.
    pub(super) claude: Option<PathBuf>,
    /// `$CODEX_HOME`.
    pub(super) codex: Option<PathBuf>,
    /// `$COPILOT_HOME`.
    pub(super) copilot: Option<PathBuf>,
    /// `$PATH`.
    pub(super) path: OsString,
}

impl Around {
    pub(super) fn of_process(project: PathBuf) -> anyhow::Result<Self> {
        let folder = |name: &str| {
            let folder = std::env::var_os(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let home =
            folder("HOME").context("the folder of your config files is unknown; set `HOME`")?;
        Ok(Self {
            config: folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            home,
            project,
            claude: folder("CLAUDE_CONFIG_DIR"),
            codex: folder("CODEX_HOME"),
            copilot: folder("COPILOT_HOME"),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }
}

/// The file and the format of a client's server list.
pub(super) struct Setting {
    pub(super) scope: Scope,
    pub(super) file: PathBuf,
    pub(super) format: ConfigFormat,
    /// The table of servers.
    pub(super) table: &'static str,
    client: Client,
}

impl Setting {
    /// The client's config entry for the server.
    pub(super) fn entry(&self, windlass: &str) -> Map<String, Value> {
        let entry = match self.client {
            // Otherwise its tools would be hidden behind a search.
            Client::Claude => {
                json!({"type": "stdio", "command": windlass, "args": ["mcp"], "alwaysLoad": true})
            }
            Client::Qwen => {
                json!({"command": windlass, "args": ["mcp"], "alwaysLoadTools": true})
            }
            Client::Pi => json!({"command": windlass, "args": ["mcp"], "exposure": "direct"}),
            Client::Vscode => json!({"type": "stdio", "command": windlass, "args": ["mcp"]}),
            Client::Copilot => {
                json!({"type": "local", "command": windlass, "args": ["mcp"], "tools": ["*"]})
            }
            Client::Opencode => json!({"type": "local", "command": [windlass, "mcp"]}),
            Client::Codex | Client::Gemini | Client::Cline | Client::Zed | Client::Cursor => {
                json!({"command": windlass, "args": ["mcp"]})
            }
        };
        match entry {
            Value::Object(entry) => entry,
            other => unreachable!("an entry is an object, not {other}"),
        }
    }
}

impl Client {
    /// Its name on the command line.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value();
        let value = value.expect("every client has a value on the command line");
        value.get_name().to_owned()
    }

    /// Its product name.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
            Self::Gemini => "Gemini CLI",
            Self::Qwen => "Qwen Code",
            Self::Cline => "Cline",
            Self::Copilot => "Copilot CLI",
            Self::Pi => "pi",
            Self::Zed => "Zed",
            Self::Vscode => "VS Code",
            Self::Cursor => "Cursor",
        }
    }

    /// Its config of this scope; `None` if the client does not have this scope.
    pub(super) fn setting(self, scope: Scope, around: &Around) -> Option<Setting> {
        let table = match self {
            Self::Claude
            | Self::Gemini
            | Self::Qwen
            | Self::Cline
            | Self::Copilot
            | Self::Pi
            | Self::Cursor => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            Self::Vscode => "servers",
        };
        let format = match self {
            Self::Claude | Self::Cline | Self::Copilot | Self::Pi => ConfigFormat::Json,
            Self::Codex => ConfigFormat::Toml,
            Self::Opencode
            | Self::Gemini
            | Self::Qwen
            | Self::Zed
            | Self::Vscode
            | Self::Cursor => ConfigFormat::Jsonc,
        };
        let file = match scope {
            Scope::User => self.user_file(around),
            Scope::Project => self.project_file(&around.project)?,
        };
        Some(Setting {
            scope,
            file,
            format,
            table,
            client: self,
        })
    }

    fn user_file(self, around: &Around) -> PathBuf {
        let Around { home, config, .. } = around;
        match self {
            Self::Claude => around.claude.as_ref().unwrap_or(home).join(".claude.json"),
            Self::Codex => match &around.codex {
                Some(folder) => folder.join("config.toml"),
                None => home.join(".codex/config.toml"),
            },
            Self::Opencode => opencode_file(&config.join("opencode")),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Qwen => home.join(".qwen/settings.json"),
            Self::Cline => home.join(".cline/data/settings/cline_mcp_settings.json"),
            Self::Copilot => match &around.copilot {
                Some(folder) => folder.join("mcp-config.json"),
                None => home.join(".copilot/mcp-config.json"),
            },
            Self::Pi => home.join(".pi/agent/mcp.json"),
            Self::Zed => zed_folder(home, config).join("settings.json"),
            Self::Vscode => vscode_folder(home, config).join("User/mcp.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
        }
    }

    fn project_file(self, project: &Path) -> Option<PathBuf> {
        Some(match self {
            Self::Claude => project.join(".mcp.json"),
            Self::Codex => project.join(".codex/config.toml"),
            Self::Opencode => opencode_file(project),
            Self::Gemini => project.join(".gemini/settings.json"),
            Self::Qwen => project.join(".qwen/settings.json"),
            Self::Cline => return None,
            Self::Copilot => project.join(".github/mcp.json"),
            Self::Pi => project.join(".pi/mcp.json"),
            Self::Zed => project.join(".zed/settings.json"),
            Self::Vscode => project.join(".vscode/mcp.json"),
            Self::Cursor => project.join(".cursor/mcp.json"),
        })
    }

    /// Whether it is installed here, or has been used.
    pub(super) fn is_here(self, around: &Around) -> bool {
        let Around { home, config, .. } = around;
        let (programs, folder): (&[&str], PathBuf) = match self {
            Self::Claude => (
                &["claude"],
                around
                    .claude
                    .clone()
                    .unwrap_or_else(|| home.join(".claude")),
            ),
            Self::Codex => (
                &["codex"],
                around.codex.clone().unwrap_or_else(|| home.join(".codex")),
            ),
            Self::Opencode => (&["opencode"], config.join("opencode")),
            Self::Gemini => (&["gemini"], home.join(".gemini")),
            Self::Qwen => (&["qwen"], home.join(".qwen")),
            Self::Cline => (&["cline"], home.join(".cline")),
            Self::Copilot => (
                &["copilot"],
                around
                    .copilot
                    .clone()
                    .unwrap_or_else(|| home.join(".copilot")),
            ),
            Self::Pi => (&["pi"], home.join(".pi/agent")),
            // Distributions give it different names.
            Self::Zed => (&["zed", "zeditor", "zed-editor"], zed_folder(home, config)),
            Self::Vscode => (&["code"], vscode_folder(home, config)),
            Self::Cursor => (&["cursor", "cursor-agent"], home.join(".cursor")),
        };
        let runs = |folder: PathBuf| programs.iter().any(|name| folder.join(name).is_file());
        folder.is_dir()
            || self.user_file(around).is_file()
            || std::env::split_paths(&around.path).any(runs)
    }

    /// Whether it is started from a shell, and so has the user's PATH.
    pub(super) fn has_users_path(self) -> bool {
        !matches!(self, Self::Zed | Self::Vscode | Self::Cursor)
    }

    /// Further instructions before the client uses the server.
    pub(super) fn hint(self, scope: Scope) -> Option<&'static str> {
        match (self, scope) {
            (Self::Claude, Scope::Project) => {
                Some("it asks each user once whether the servers of this project may be started")
            }
            (Self::Codex, Scope::User) => Some(
                "`codex exec` cannot ask, so it refuses the tools unless the entry has \
                 `default_tools_approval_mode = \"approve\"`",
            ),
            (Self::Codex | Self::Pi, Scope::Project) => {
                Some("it reads this file in projects that its user trusts")
            }
            (Self::Copilot, Scope::User) => Some(
                "`copilot -p` cannot ask, so it refuses the tools unless started with \
                 `--allow-tool windlass`",
            ),
            _ => None,
        }
    }
}

/// The file to change: opencode reads both, and an existing one is preferred.
fn opencode_file(folder: &Path) -> PathBuf {
    let commented = folder.join("opencode.jsonc");
    if commented.is_file() {
        commented
    } else {
        folder.join("opencode.json")
    }
}

fn zed_folder(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join(".config/zed")
    } else {
        config.join("zed")
    }
}

fn vscode_folder(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Application Support/Code")
    } else {
        config.join("Code")
    }
}
