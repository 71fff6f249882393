//! The places of a machine that a sandbox is about.

use std::path::PathBuf;

/// The places of one project and its user. All paths are absolute and free of symbolic links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ProjectPlaces {
    /// The project's root folder.
    pub root: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The folders of this program's own state, token and control sockets.
    pub own: Vec<PathBuf>,
    /// Folders of git that belong to the project and lie outside of it, as those of a linked work tree do.
    pub git_folders: Vec<PathBuf>,
    /// Files and folders of the project that decide which programs git runs, beside those that every repository has.
    pub git_files: Vec<PathBuf>,
}

/// Folders that programs of every sandbox can write, relative to the home folder: caches of packages, without programs,
/// configuration or credentials.
pub(crate) const CACHES: &[&str] = &[
    ".cargo/registry",
    ".cargo/git",
    ".npm/_cacache",
    ".npm/_logs",
    ".cache",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".gradle/caches",
    "go/pkg/mod",
];

/// Those of them that are made if they do not exist, so that the usual package managers work at once.
pub(crate) const MADE_CACHES: &[&str] = &[
    ".cargo/registry",
    ".cargo/git",
    ".npm/_cacache",
    ".npm/_logs",
    ".cache",
];

/// Folders that programs need to be executed at all; readable where `read` lists folders.
pub(crate) const SYSTEM: &[&str] = &[
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/opt", "/etc", "/nix", "/gnu",
    "/dev", "/proc", "/sys", "/run",
];

/// Files of a project that later run outside of the sandbox: not writable, whatever else is.
pub(crate) const PROJECT_HOLES: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".windlass",
    ".envrc",
    ".mcp.json",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".cursor",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".vscode",
    ".zed",
    ".continue",
    ".clinerules",
    ".roo",
    ".windsurf",
    ".kiro",
    ".aider.conf.yml",
    ".idea",
    ".cline",
    ".pi",
    ".crush",
    "crush.json",
    ".crush.json",
    "crushrc",
    ".crushrc",
    ".kilocode",
    ".amazonq",
    ".junie",
    ".factory",
    ".devcontainer",
    ".github/hooks",
];

/// Files of a home folder that later run outside of the sandbox, for sandboxes that may write it.
pub(crate) const HOME_HOLES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config",
    ".local/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".gitconfig",
    ".vimrc",
    ".vim",
    ".emacs",
    ".emacs.d",
    ".inputrc",
    ".npmrc",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".local/share/applications",
    ".local/share/systemd",
    ".claude",
    ".codex",
    ".gemini",
    ".cache/gitstatus",
    ".cache/oh-my-zsh",
    ".cache/wal",
    ".cache/zsh",
];

/// Secrets in a home folder: not readable.
pub(crate) const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/rclone",
    ".config/sops",
    ".config/op",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/git/credentials",
    ".config/windlass",
    ".config/anthropic",
    ".config/openai",
    ".config/github-copilot",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d",
    ".terraformrc",
    ".boto",
    ".s3cfg",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".gem/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/opencode/auth.json",
    ".local/share/gopass",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".cache/huggingface/token",
    ".huggingface",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app/org.mozilla.firefox",
    ".var/app/com.google.Chrome",
    "snap/firefox",
    "snap/chromium",
];

/// Secrets of the system that a privileged user could read.
pub(crate) const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
];

/// Temporary folders of which every sandbox has its own.
pub(crate) const TEMPORARY: &[&str] = &["/tmp", "/dev/shm"];
