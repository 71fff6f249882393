//! Which files are read, and which of them wins.

use std::fs;
use std::time::Duration;

use windlass_config::{ProblemKind, SAMPLE_CONFIG};

use crate::support::Folder;

const SHELL: &str = "[conversation.tools.shell]\n";

/// The time limit of `shell` says which layer won.
fn timeout(folder: &Folder) -> u64 {
    let config = folder.load().unwrap_or_else(|error| panic!("{error}"));
    let tool = config.builtin("shell").unwrap();
    tool.definition.limits.timeout.as_secs()
}

#[test]
fn nothing_at_all_is_fine() {
    let folder = Folder::new(&[]);
    let config = folder.load().unwrap();
    assert!(config.tools.is_empty());
    assert!(config.warnings.is_empty());
    assert!(config.files.is_empty());
    assert_eq!(config.root, folder.path("project"));
    assert_eq!(timeout(&folder), 600);
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let with = |secs: u64| format!("{SHELL}timeout_secs = {secs}");
    let mut folder = Folder::new(&[("home/windlass/config.toml", &with(1))]);
    assert_eq!(timeout(&folder), 1);

    let write = |folder: &Folder, path: &str, secs| {
        let path = folder.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, with(secs)).unwrap();
    };
    write(&folder, "project/.windlass/config.toml", 2);
    assert_eq!(timeout(&folder), 2);
    write(&folder, "project/.windlass/tools/b.toml", 4);
    write(&folder, "project/.windlass/tools/a.toml", 3);
    write(&folder, "project/.windlass/tools/ignored.txt", 99);
    assert_eq!(timeout(&folder), 4);
    write(&folder, "project/given.toml", 5);
    folder.options.explicit.push("given.toml".into());
    assert_eq!(timeout(&folder), 5);
    let key = "conversation.tools.shell.timeout_secs";
    let variables = [("WINDLASS_SET_A", 7), ("WINDLASS_SET", 6)];
    folder.options.environment = variables
        .map(|(name, secs)| (name.to_owned(), format!("{key}={secs}")))
        .to_vec();
    assert_eq!(timeout(&folder), 7);
    let folder = folder.set(&format!("{key}=8")).set(&format!("{key}=9"));
    assert_eq!(timeout(&folder), 9);

    let files = folder.load().unwrap().files;
    let expected = [
        "home/windlass/config.toml",
        "project/.windlass/config.toml",
        "project/.windlass/tools/a.toml",
        "project/.windlass/tools/b.toml",
        "project/given.toml",
    ];
    assert_eq!(files, expected.map(|file| folder.path(file)));
}

#[test]
fn sub_folders_of_tools_are_read() {
    let tool = |name: &str| format!("[conversation.tools.{name}]\ncommand = 'x {{{{tool}}}}'\n");
    let folder = Folder::new(&[
        ("project/.windlass/tools/b.toml", &tool("b")),
        ("project/.windlass/tools/a/c.toml", &tool("c")),
        ("project/.windlass/tools/a/deep/er/d.toml", &tool("d")),
        ("project/.windlass/tools/.hidden/e.toml", "nonsense"),
        (
            "project/.windlass/tools/f/Cargo.toml",
            "[package]\nname = 'f'",
        ),
        ("project/.windlass/tools/f/clippy.toml", "msrv = '1'"),
        ("project/.windlass/tools/f/f.toml", &tool("f")),
        ("project/.windlass/tools/f/target/g.toml", "nonsense"),
        (
            "project/.windlass/tools/h/h.yaml",
            "conversation: {tools: {}}",
        ),
        ("project/.windlass/tools/h/data.json", "{}"),
        ("project/.windlass/tools/h/I.TOML", ""),
    ]);
    let config = folder.load().unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<_> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["c", "d", "b", "f"]);
    let passed_by = ["h/I.TOML", "h/h.yaml"].map(|file| {
        let file = folder.path(&format!("project/.windlass/tools/{file}"));
        format!(
            "`{}` is not read; files that define tools end in `.toml`",
            file.display()
        )
    });
    assert_eq!(config.warnings, passed_by);
}

#[test]
fn a_wrong_file_of_a_sub_folder_is_reported_by_its_name() {
    let folder = Folder::new(&[("project/.windlass/tools/a/b.toml", "[conversation.tool.x]")]);
    let error = folder.error();
    assert!(
        error.starts_with(".windlass/tools/a/b.toml:1:15"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_leads_into_itself_is_reported() {
    let folder = Folder::new(&[("project/.windlass/tools/a/b.toml", "")]);
    let link = folder.path("project/.windlass/tools/a/round");
    std::os::unix::fs::symlink("..", link).unwrap();
    let error = folder.error();
    assert!(error.contains("in a cycle of links"), "{error}");
}

#[test]
fn a_tool_may_be_spread_over_layers() {
    let folder = Folder::new(&[
        (
            "project/.windlass/config.toml",
            "[conversation.tools.x]\ncommand = 'x'\nparameters.a = { type = 'string', summary = 'old' }",
        ),
        (
            "project/.windlass/tools/x.toml",
            "[conversation.tools.x]\nsource = 'local'\nparameters.a.summary = 'new'\nparameters.b.type = 'integer'",
        ),
    ]);
    let config = folder.load().unwrap();
    let tool = config.tool("x").unwrap();
    insta::assert_json_snapshot!(tool.definition.shape.parameters.to_object_schema(), @r#"
    {
      "type": "object",
      "properties": {
        "a": {
          "type": "string",
          "description": "new"
        },
        "b": {
          "type": "integer"
        }
      },
      "additionalProperties": false
    }
    "#);
}

#[test]
fn the_nearest_folder_with_a_windlass_folder_is_the_project() {
    let mut folder = Folder::new(&[
        (
            "project/.windlass/config.toml",
            "[conversation.tools.shell]\ntimeout_secs = 3",
        ),
        ("project/deep/er/.windlass", "this is a file and no folder"),
    ]);
    folder.options.cwd = folder.path("project/deep/er");
    assert_eq!(timeout(&folder), 3);
    assert_eq!(folder.load().unwrap().root, folder.path("project"));
}

#[test]
fn the_home_of_the_configuration_comes_from_the_environment() {
    let mut folder = Folder::new(&[
        (
            "xdg/windlass/config.toml",
            "[conversation.tools.shell]\ntimeout_secs = 3",
        ),
        (
            "me/.config/windlass/config.toml",
            "[conversation.tools.shell]\ntimeout_secs = 4",
        ),
    ]);
    folder.options.config_home = None;
    let variable = |name: &str, path: &str| {
        (
            name.to_owned(),
            folder.path(path).to_str().unwrap().to_owned(),
        )
    };
    let (xdg, home) = (variable("XDG_CONFIG_HOME", "xdg"), variable("HOME", "me"));
    let relative = ("XDG_CONFIG_HOME".to_owned(), "xdg".to_owned());
    folder.options.environment = vec![home.clone(), xdg];
    assert_eq!(timeout(&folder), 3);
    folder.options.environment = vec![home.clone()];
    assert_eq!(timeout(&folder), 4);
    folder.options.environment = vec![relative, home];
    assert_eq!(timeout(&folder), 4);
    folder.options.environment = Vec::new();
    assert_eq!(timeout(&folder), 600);
}

#[test]
fn a_variable_may_hold_several_assignments() {
    let mut folder = Folder::new(&[]);
    let value = "conversation.tools.*.timeout_secs=3\n\n conversation.tools.shell.grace_secs=0.5\n";
    folder.options.environment = vec![
        ("WINDLASS_SET".to_owned(), value.to_owned()),
        (
            "WINDLASS_SETTINGS".to_owned(),
            "is somebody else's".to_owned(),
        ),
    ];
    let limits = folder
        .load()
        .unwrap()
        .builtin("shell")
        .unwrap()
        .definition
        .limits;
    assert_eq!(limits.timeout, Duration::from_secs(3));
    assert_eq!(limits.grace, Duration::from_millis(500));
}

#[test]
fn a_given_file_must_be_there() {
    let mut folder = Folder::new(&[]);
    folder.options.explicit.push("gone.toml".into());
    insta::assert_snapshot!(folder.error(), @"cannot read `/project/gone.toml`: No such file or directory (os error 2)");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let folder = Folder::new(&[("project/.windlass/tools/a.toml", "")]);
    fs::write(
        folder.path("project/.windlass/config.toml"),
        b"a = \"\xff\"",
    )
    .unwrap();
    fs::create_dir(folder.path("project/.windlass/tools/b.toml")).unwrap();
    let problems = folder.load().unwrap_err().problems;
    assert_eq!(problems.len(), 2);
    for problem in problems {
        use ProblemKind::{Refused, Unreadable};
        assert!(matches!(problem.kind, Unreadable { .. } | Refused { .. }));
    }
}

#[test]
fn the_sample_loads_and_so_does_all_that_it_comments_out() {
    let folder = Folder::new(&[("project/.windlass/config.toml", SAMPLE_CONFIG)]);
    let config = folder.load().unwrap();
    assert_eq!(config.tools.len(), 1);
    assert!(config.warnings.is_empty());
    assert!(!config.tool("count_lines").unwrap().asks_program);

    // Commented lines of TOML begin with a bracket or a key and a sign.
    let whole: String = SAMPLE_CONFIG
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(toml) if toml.starts_with('[') || toml.contains(" = ") => format!("{toml}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(folder.path("project/.windlass/config.toml"), whole).unwrap();
    let config = folder.load().unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<_> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        ["shell", "count_lines", "cargo_check", "search_docs"]
    );
    assert_eq!(config.mcp_servers.len(), 1);
}
