//! Examples of every command, shown below its help.

/// Example command lines of one command, each with an explanation.
type Examples = &'static [(&'static str, &'static str)];

/// The examples by command; at least two each.
pub(super) const EXAMPLES: &[(&str, Examples)] = &[
    (
        "chat",
        &[
            (
                "windlass chat --model ollama/qwen3",
                "Talk with a local model; /help lists the commands.",
            ),
            (
                "windlass chat --continue",
                "Take up the newest conversation of this project.",
            ),
        ],
    ),
    (
        "query",
        &[
            (
                "windlass query \"run the tests and tell me why they fail\"",
                "One turn with all the tools.",
            ),
            (
                "git diff | windlass query \"write a commit message\"",
                "The piped text follows the message.",
            ),
        ],
    ),
    (
        "models",
        &[
            ("windlass models", "Ask every provider that can be asked."),
            ("windlass models ollama", "The models of one provider."),
        ],
    ),
    (
        "run",
        &[
            (
                "windlass run -- cargo test",
                "Run it here; `windlass ps` and `windlass logs cargo` see it.",
            ),
            (
                "windlass run -d --id web -- npm run dev",
                "Leave it to the running `windlass serve`.",
            ),
        ],
    ),
    (
        "ps",
        &[
            (
                "windlass ps",
                "Everything that runs, and who waits for whom.",
            ),
            ("windlass ps --watch", "Draw it anew whenever it changes."),
        ],
    ),
    (
        "logs",
        &[
            (
                "windlass logs -n 20 -f web",
                "The last 20 lines, and those that follow.",
            ),
            (
                "windlass logs --since 5m --grep 'error|warn' build",
                "Lines of the last five minutes that match.",
            ),
        ],
    ),
    (
        "attach",
        &[
            (
                "windlass attach web",
                "Take its terminal over; Ctrl-] hands it back and leaves.",
            ),
            ("windlass attach --watch web", "Only look on."),
        ],
    ),
    (
        "send",
        &[
            ("windlass send db \"select 1;\"", "Type a line into it."),
            ("windlass send web --key ctrl-c", "Press a key."),
        ],
    ),
    (
        "kill",
        &[
            (
                "windlass kill web build",
                "End two handles and everything they started.",
            ),
            ("windlass kill --all", "End everything in every runtime."),
        ],
    ),
    (
        "questions",
        &[
            (
                "windlass questions",
                "The questions that tools ask you, in any session.",
            ),
            ("windlass questions --json", "The same for a program."),
        ],
    ),
    (
        "answer",
        &[
            (
                "windlass answer 4XK2M8QP yes",
                "The id as `windlass questions` prints it.",
            ),
            (
                "windlass answer 4XK2M8QP",
                "Be asked; a secret is not shown.",
            ),
        ],
    ),
    (
        "permissions",
        &[
            (
                "windlass permissions",
                "The rules that an \"always\" has made.",
            ),
            (
                "windlass permissions explain shell '{\"command\":\"git push\"}'",
                "Whether it would run, and why.",
            ),
        ],
    ),
    (
        "permissions explain",
        &[
            (
                "windlass permissions explain shell '{\"command\":\"ls\"}'",
                "Whether it would run, and why.",
            ),
            (
                "echo '{\"command\":\"ls\"}' | windlass permissions explain shell -",
                "The arguments from stdin.",
            ),
        ],
    ),
    (
        "permissions pending",
        &[
            (
                "windlass permissions pending",
                "The requests that wait for you.",
            ),
            (
                "windlass permissions pending --json",
                "The same for a program.",
            ),
        ],
    ),
    (
        "permissions reply",
        &[
            (
                "windlass permissions reply 4XK2M8QP once",
                "Let it run this time.",
            ),
            (
                "windlass permissions reply 4XK2M8QP reject --message \"use make\"",
                "Say no, and why.",
            ),
        ],
    ),
    (
        "permissions forget",
        &[
            (
                "windlass permissions forget 3",
                "Forget the third rule of `windlass permissions`.",
            ),
            (
                "windlass permissions forget 3 --json",
                "The same for a program.",
            ),
        ],
    ),
    (
        "sessions",
        &[
            ("windlass sessions", "The newest sessions of the record."),
            (
                "windlass sessions show last",
                "The messages and calls of the newest.",
            ),
        ],
    ),
    (
        "sessions show",
        &[
            ("windlass sessions show last", "The newest session."),
            (
                "windlass sessions show 4XK2M8QP --full",
                "One of the list, with the whole output.",
            ),
        ],
    ),
    (
        "sessions prune",
        &[
            (
                "windlass sessions prune --older-than 30d",
                "Remove old sessions and their logs.",
            ),
            (
                "windlass sessions prune --older-than 1w --outputs",
                "Keep the sessions, drop the output.",
            ),
        ],
    ),
    (
        "gain",
        &[
            (
                "windlass gain",
                "What digests have saved in the newest sessions.",
            ),
            ("windlass gain last", "In the newest one."),
        ],
    ),
    (
        "hosts",
        &[
            ("windlass hosts", "The machines of the configuration."),
            (
                "windlass hosts check build",
                "Connect to one and say what works there.",
            ),
        ],
    ),
    (
        "hosts check",
        &[
            (
                "windlass hosts check build",
                "Is it reached, and what is there?",
            ),
            ("windlass hosts check box", "A host that a project defines."),
        ],
    ),
    (
        "worker",
        &[
            (
                "windlass worker --nats nats://broker:4222 --pool ci",
                "Run tools of the pool on this machine.",
            ),
            (
                "windlass worker --nats tls://broker:4222 --credentials ~/ci.creds --ca ~/ca.pem --pool ci --labels linux,gpu --slots 8",
                "With credentials, TLS, labels and at most 8 programs at once.",
            ),
        ],
    ),
    (
        "workers",
        &[
            (
                "windlass workers",
                "The workers of the pools of the configuration.",
            ),
            (
                "windlass workers drain build-3",
                "One takes nothing new, and ends when its programs have.",
            ),
        ],
    ),
    (
        "workers drain",
        &[
            (
                "windlass workers drain build-3",
                "It takes nothing new, and ends when its programs have.",
            ),
            (
                "windlass workers drain build-3 --host fleet",
                "Of the pool of that host.",
            ),
        ],
    ),
    (
        "mcp",
        &[
            (
                "windlass mcp install claude",
                "Add Windlass to Claude Code.",
            ),
            (
                "windlass mcp --http 127.0.0.1:8414",
                "Serve any number of clients over HTTP.",
            ),
        ],
    ),
    (
        "mcp install",
        &[
            (
                "windlass mcp install",
                "Which agents are here, and which have Windlass.",
            ),
            (
                "windlass mcp install codex --scope project",
                "For this project only.",
            ),
        ],
    ),
    (
        "mcp uninstall",
        &[
            ("windlass mcp uninstall claude", "Take it out again."),
            (
                "windlass mcp uninstall claude --scope project --yes",
                "Out of the project's file, without asking.",
            ),
        ],
    ),
    (
        "serve",
        &[
            (
                "windlass serve",
                "The page and the HTTP interface on 127.0.0.1:8413.",
            ),
            (
                "windlass serve --listen 127.0.0.1:9000",
                "At another address.",
            ),
        ],
    ),
    (
        "drive",
        &[
            (
                "echo '[{\"tool\":\"shell\",\"arguments\":{\"command\":\"ls\"}}]' | windlass drive",
                "One batch.",
            ),
            (
                "windlass drive --ask",
                "Be asked for permissions on the same lines.",
            ),
        ],
    ),
    (
        "call",
        &[
            (
                "windlass call shell '{\"command\":\"ls\"}'",
                "Run a tool once.",
            ),
            (
                "windlass call save - < arguments.json",
                "The arguments from stdin.",
            ),
        ],
    ),
    (
        "tools",
        &[
            ("windlass tools", "The tools of this project."),
            (
                "windlass tools shell --dialect anthropic",
                "One tool as a model is told of it.",
            ),
        ],
    ),
    (
        "tools check",
        &[
            ("windlass tools check", "Ask every program anew."),
            ("windlass tools check --json", "The same for a program."),
        ],
    ),
    (
        "tools new",
        &[
            (
                "windlass tools new save --lang python",
                "Write a tool in Python, and its config.",
            ),
            ("windlass tools new lint", "Write one in sh."),
        ],
    ),
    (
        "init",
        &[
            ("windlass init", "Write .windlass/config.toml."),
            ("windlass init -C ../other", "In another folder."),
        ],
    ),
    (
        "config",
        &[
            ("windlass config show", "Every value and its origin."),
            ("windlass config edit", "Edit your own file, and check it."),
        ],
    ),
    (
        "config show",
        &[
            ("windlass config show", "Every value and its origin."),
            (
                "windlass config show conversation.tools.shell",
                "Those of one table.",
            ),
        ],
    ),
    (
        "config path",
        &[
            (
                "windlass config path",
                "The files, and whether each is there.",
            ),
            ("windlass config path --json", "The same for a program."),
        ],
    ),
    (
        "config edit",
        &[
            ("windlass config edit", "Your own file."),
            ("windlass config edit --project", "The project's file."),
        ],
    ),
    (
        "config check",
        &[
            (
                "windlass config check",
                "The files of this project and your own.",
            ),
            ("windlass config check --config other.toml", "And one more."),
        ],
    ),
    (
        "doctor",
        &[
            (
                "windlass doctor",
                "What works here, what does not, and what to do.",
            ),
            ("windlass doctor --json", "The same for a program."),
        ],
    ),
    (
        "trust",
        &[
            (
                "windlass trust",
                "Show the effect of the project's files, and ask.",
            ),
            (
                "windlass trust --list",
                "The projects that were decided about.",
            ),
        ],
    ),
    (
        "untrust",
        &[
            ("windlass untrust", "Trust this project no longer."),
            ("windlass untrust ../other", "Or another one."),
        ],
    ),
    (
        "completions",
        &[
            (
                "windlass completions bash > ~/.local/share/bash-completion/completions/windlass",
                "For bash.",
            ),
            (
                "windlass completions fish > ~/.config/fish/completions/windlass.fish",
                "For fish.",
            ),
        ],
    ),
];
