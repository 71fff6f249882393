use super::*;

#[test]
fn credentials_are_known_by_their_names() {
    let names = "ANTHROPIC_API_KEY OPENAI_API_KEY GITHUB_TOKEN GH_TOKEN NPM_TOKEN CARGO_REGISTRY_TOKEN \
                 HF_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE \
                 DB_PASSWORD PGPASSWORD MYSQL_PWD DB_PASS CLIENT_SECRET SECRET SECRET_KEY_BASE \
                 GOOGLE_APPLICATION_CREDENTIALS STRIPE_KEY SSH_PRIVATE_KEY AZURE_DEVOPS_EXT_PAT \
                 AZURE_STORAGE_CONNECTION_STRING REDISCLI_AUTH SENTRY_DSN WINDLASS_TOKEN TOKEN API_KEY \
                 npm_config__authToken github_token B2_APPLICATION_KEY_ID CI_JOB_JWT DOCKER_AUTH_CONFIG \
                 GPG_PASSPHRASE ARM_ACCESS_KEY DJANGO_SECRET_KEY TOKEN_FOR_CI";
    for name in names.split_ascii_whitespace() {
        assert!(looks_like_credential(name), "{name}");
    }
}

#[test]
fn what_ordinary_work_needs_is_no_credential() {
    let names = "PATH HOME USER SHELL LANG LC_ALL TERM PWD OLDPWD TMPDIR EDITOR VISUAL DISPLAY \
                 SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GIT_ASKPASS SUDO_ASKPASS GPG_TTY GPG_AGENT_INFO \
                 DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_CONFIG_HOME XAUTHORITY WAYLAND_DISPLAY \
                 GNOME_KEYRING_CONTROL HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE DATABASE_URL \
                 CARGO_HOME RUSTFLAGS PYTHONPATH VIRTUAL_ENV NODE_OPTIONS GOPATH JAVA_HOME KUBECONFIG \
                 DOCKER_HOST VAULT_ADDR TOKENIZERS_PARALLELISM MAX_TOKENS KEYTIMEOUT GIT_AUTHOR_NAME \
                 WINDLASS_SET_API_KEY WINDLASS_LOG WINDLASS_RUNTIME KEY AUTH PASS";
    for name in names.split_ascii_whitespace() {
        assert!(!looks_like_credential(name), "{name}");
    }
}

#[test]
fn lists_pass_and_hide() {
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let settings = VariableSettings {
        pass: list(&["GITHUB_TOKEN", "AWS_*", "OPENAI_API_KEY", "*"]),
        hide: list(&["AWS_SECRET*", "EDITOR"]),
    };
    assert!(settings.passes("GITHUB_TOKEN", false));
    assert!(settings.passes("AWS_REGION", false));
    assert!(!settings.passes("AWS_SECRET_ACCESS_KEY", false));
    assert!(!settings.passes("EDITOR", false));
    assert!(!settings.passes("WINDLASS_TOKEN", false));
    // A key is passed on by its own name alone.
    assert!(settings.passes("OPENAI_API_KEY", true));
    assert!(!settings.passes("ANTHROPIC_API_KEY", true));
    let usual = VariableSettings::default();
    assert!(usual.passes("PATH", false));
    assert!(!usual.passes("GITHUB_TOKEN", false));
}

#[test]
fn a_star_stands_for_any_characters() {
    for (pattern, name, is_match) in [
        ("A*", "A", true),
        ("A*", "AB", true),
        ("*_KEY", "A_KEY", true),
        ("*_KEY", "A_KEYS", false),
        ("A*C*E", "ABCDE", true),
        ("A*C*E", "ABDE", false),
        ("*", "", true),
    ] {
        assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
    }
}
