use super::super::client::{Around, Client, Scope};
use super::*;

fn setting(client: Client) -> Setting {
    let around = Around {
        home: "/home/user".into(),
        config: "/home/user/.config".into(),
        project: "/project".into(),
        claude: None,
        codex: None,
        copilot: None,
        path: "".into(),
    };
    client
        .setting(Scope::User, &around)
        .expect("every client has a config of its user")
}

/// Edits twice: the second time nothing is left to do.
#[track_caller]
fn check(client: Client, before: &str, after: &str) {
    let setting = setting(client);
    assert_eq!(edited(before, &setting, "/bin/windlass").unwrap(), after);
    assert_eq!(edited(after, &setting, "/bin/windlass").unwrap(), after);
    assert!(has_entry(after, &setting));
}

#[track_caller]
fn check_error(client: Client, before: &str, says: &str) {
    let setting = setting(client);
    let error = edited(before, &setting, "/bin/windlass").unwrap_err();
    assert_eq!(error.to_string(), says);
}

#[test]
fn an_empty_config_gets_the_entry() {
    let claude = r#"{
  "mcpServers": {
    "windlass": {
      "type": "stdio",
      "command": "/bin/windlass",
      "args": ["mcp"],
      "alwaysLoad": true
    }
  }
}
"#;
    check(Client::Claude, "", claude);
    check(Client::Claude, "{}\n", claude);
    check(
        Client::Codex,
        "",
        "[mcp_servers.windlass]\ncommand = \"/bin/windlass\"\nargs = [\"mcp\"]\n",
    );
}

#[test]
fn everything_else_of_a_config_stays_as_it_was() {
    check(
        Client::Zed,
        r#"// Mine.
{
    "theme": "One Dark", // dark
    /* no servers yet */
    "context_servers": {
        "other": { "command": "other" }, // keep
    },
    "tab_size": 2,
}
"#,
        r#"// Mine.
{
    "theme": "One Dark", // dark
    /* no servers yet */
    "context_servers": {
        "other": { "command": "other" }, // keep
        "windlass": {
            "command": "/bin/windlass",
            "args": ["mcp"],
        },
    },
    "tab_size": 2,
}
"#,
    );
    check(
        Client::Codex,
        "# Mine.\nmodel = \"m\" # good\n\n[mcp_servers.other]\ncommand = \"other\"\n\n[tui]\ntheme = 'dark'\n",
        "# Mine.\nmodel = \"m\" # good\n\n[mcp_servers.other]\ncommand = \"other\"\n\n\
         [mcp_servers.windlass]\ncommand = \"/bin/windlass\"\nargs = [\"mcp\"]\n\n[tui]\ntheme = 'dark'\n",
    );
}

#[test]
fn what_a_person_added_to_the_entry_stays() {
    check(
        Client::Gemini,
        r#"{
  "mcpServers": {
    "windlass": {
      "command": "/old/windlass", // moved
      "args": ["mcp", "--max-block-secs", "20"],
      "trust": true
    }
  }
}
"#,
        r#"{
  "mcpServers": {
    "windlass": {
      "command": "/bin/windlass", // moved
      "args": ["mcp", "--max-block-secs", "20"],
      "trust": true
    }
  }
}
"#,
    );
    check(
        Client::Opencode,
        r#"{"mcp": {"windlass": {"type": "local", "command": ["old", "mcp", "-C", "/x"], "enabled": false}}}"#,
        r#"{"mcp": {"windlass": {"type": "local", "command": ["/bin/windlass", "mcp", "-C", "/x"], "enabled": false}}}"#,
    );
    check(
        Client::Codex,
        "[mcp_servers.windlass]\ncommand = \"old\" # moved\nargs = [\"mcp\", \"-C\", \"/x\"]\ntool_timeout_sec = 90\n",
        "[mcp_servers.windlass]\ncommand = \"/bin/windlass\" # moved\nargs = [\"mcp\", \"-C\", \"/x\"]\ntool_timeout_sec = 90\n",
    );
}

#[test]
fn an_entry_that_starts_something_else_is_mended() {
    check(
        Client::Cursor,
        r#"{"mcpServers": {"windlass": {"command": "/bin/windlass", "args": ["drive"]}}}"#,
        r#"{"mcpServers": {"windlass": {"command": "/bin/windlass", "args": ["mcp"]}}}"#,
    );
    check(
        Client::Codex,
        "mcp_servers = { windlass = { command = \"/bin/windlass\" } }\n",
        "mcp_servers = { windlass = { command = \"/bin/windlass\" , args = [\"mcp\"] } }\n",
    );
}

#[test]
fn a_table_in_one_line_stays_in_one_line() {
    check(
        Client::Codex,
        "mcp_servers = { other = { command = \"other\" } }\n",
        "mcp_servers = { other = { command = \"other\" } , windlass = { command = \"/bin/windlass\", args = [\"mcp\"] } }\n",
    );
}

#[test]
fn a_config_that_cannot_be_read_is_an_error() {
    for (client, before, says) in [
        (Client::Zed, "{,}", "it is not valid JSON"),
        (Client::Zed, "{} {}", "it is not valid JSON"),
        // This client would not read it either.
        (Client::Claude, "{} // mine", "it is not valid JSON"),
        (Client::Claude, "[]", "it is JSON, but not an object"),
        (
            Client::Vscode,
            r#"{"servers": []}"#,
            "its `servers` is not an object",
        ),
        (
            Client::Vscode,
            r#"{"servers": {"windlass": 1}}"#,
            "its server `windlass` is not an object",
        ),
        (Client::Codex, "[", "it is not valid TOML"),
        (
            Client::Codex,
            "mcp_servers = 1",
            "its `mcp_servers` is not a table",
        ),
        (
            Client::Codex,
            "mcp_servers.windlass = 1",
            "its server `windlass` is not a table",
        ),
    ] {
        check_error(client, before, says);
    }
}

#[test]
fn a_server_elsewhere_is_not_made_a_local_one() {
    let says = "its server `windlass` is another server, with a `url`; remove or rename it";
    check_error(
        Client::Claude,
        r#"{"mcpServers": {"windlass": {"type": "http", "url": "http://127.0.0.1:1/mcp"}}}"#,
        says,
    );
    check_error(
        Client::Codex,
        "[mcp_servers.windlass]\nurl = \"http://127.0.0.1:1/mcp\"\n",
        says,
    );
}
