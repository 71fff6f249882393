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
                "Continue the newest conversation of this project.",
            ),
        ],
    ),
    (
        "query",
        &[
            (
                "windlass query \"run the tests and tell me why they fail\"",
                "One turn, with all tools.",
            ),
            (
                "git diff | windlass query \"write a commit message\"",
                "The text from the pipe is added after the message.",
            ),
        ],
    ),
    (
        "models",
        &[
            (
                "windlass models",
                "List the models of every configured provider.",
            ),
            ("windlass models ollama", "List the models of one provider."),
        ],
    ),
    (
        "run",
        &[
            (
                "windlass run -- cargo test",
                "Run the tests here; `windlass ps` lists them, `windlass logs cargo` shows their output.",
            ),
            (
                "windlass run -d --id web -- npm run dev",
                "Start it in the running `windlass serve`, and return.",
            ),
        ],
    ),
    (
        "ps",
        &[
            (
                "windlass ps",
                "List everything that runs, and who must answer those that wait.",
            ),
            (
                "windlass ps --watch",
                "Redraw the list whenever it changes.",
            ),
        ],
    ),
    (
        "logs",
        &[
            (
                "windlass logs -n 20 -f web",
                "Print the last 20 lines, then new lines as they appear.",
            ),
            (
                "windlass logs --since 5m --grep 'error|warn' build",
                "Print matching lines of the last five minutes.",
            ),
        ],
    ),
    (
        "attach",
        &[
            (
                "windlass attach web",
                "Take over its terminal; Ctrl-] hands it back and detaches.",
            ),
            ("windlass attach --watch web", "Watch its terminal only."),
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
                "List the questions of tools to you, in every session.",
            ),
            ("windlass questions --json", "Print the list as JSON."),
        ],
    ),
    (
        "answer",
        &[
            (
                "windlass answer 4XK2M8QP yes",
                "Answer with `yes`; `windlass questions` prints the id.",
            ),
            (
                "windlass answer 4XK2M8QP",
                "Type the answer at a prompt; a secret is not shown.",
            ),
        ],
    ),
    (
        "permissions",
        &[
            (
                "windlass permissions",
                "List the rules that the reply \"always\" created.",
            ),
            (
                "windlass permissions explain shell '{\"command\":\"git push\"}'",
                "Show whether the call would run, and why.",
            ),
        ],
    ),
    (
        "permissions explain",
        &[
            (
                "windlass permissions explain shell '{\"command\":\"ls\"}'",
                "Show whether the call would run, and why.",
            ),
            (
                "echo '{\"command\":\"ls\"}' | windlass permissions explain shell -",
                "Read the arguments from stdin.",
            ),
        ],
    ),
    (
        "permissions pending",
        &[
            (
                "windlass permissions pending",
                "List the requests that wait for your reply.",
            ),
            (
                "windlass permissions pending --json",
                "Print the list as JSON.",
            ),
        ],
    ),
    (
        "permissions reply",
        &[
            (
                "windlass permissions reply 4XK2M8QP once",
                "Allow the call this time.",
            ),
            (
                "windlass permissions reply 4XK2M8QP reject --message \"use make\"",
                "Reject the call, with a reason.",
            ),
        ],
    ),
    (
        "permissions forget",
        &[
            (
                "windlass permissions forget 3",
                "Forget rule 3 of the list that `windlass permissions` prints.",
            ),
            (
                "windlass permissions forget 3 --json",
                "Forget it, and print the result as JSON.",
            ),
        ],
    ),
    (
        "sessions",
        &[
            ("windlass sessions", "List the newest recorded sessions."),
            (
                "windlass sessions show last",
                "Show the messages and calls of the newest session.",
            ),
        ],
    ),
    (
        "sessions show",
        &[
            ("windlass sessions show last", "Show the newest session."),
            (
                "windlass sessions show 4XK2M8QP --full",
                "Show a session with the whole output of its calls.",
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
                "Remove only the output, and keep the sessions.",
            ),
        ],
    ),
    (
        "gain",
        &[
            ("windlass gain", "Show the savings in the newest sessions."),
            (
                "windlass gain last",
                "Show the savings in the newest session.",
            ),
        ],
    ),
    (
        "hosts",
        &[
            ("windlass hosts", "List the configured machines."),
            (
                "windlass hosts check build",
                "Connect to a host and report what works there.",
            ),
        ],
    ),
    (
        "hosts check",
        &[
            (
                "windlass hosts check build",
                "Connect to the host `build` and report what works there.",
            ),
            (
                "windlass hosts check box cargo docker",
                "Check the host `box`, and look for two programs there.",
            ),
        ],
    ),
    (
        "worker",
        &[
            (
                "windlass worker --nats nats://broker:4222 --pool ci",
                "Run programs of the pool `ci` on this machine.",
            ),
            (
                "windlass worker --nats tls://broker:4222 --credentials ~/ci.creds --ca ~/ca.pem --pool ci --labels linux,gpu --slots 8",
                "Use credentials, TLS and labels, and run at most 8 programs at once.",
            ),
        ],
    ),
    (
        "workers",
        &[
            (
                "windlass workers",
                "List the workers of the configured pools.",
            ),
            (
                "windlass workers drain build-3",
                "Give the worker no new programs; it exits when its programs have ended.",
            ),
        ],
    ),
    (
        "workers drain",
        &[
            (
                "windlass workers drain build-3",
                "Give the worker no new programs; it exits when its programs have ended.",
            ),
            (
                "windlass workers drain build-3 --host fleet",
                "Drain the worker in the pool of the host `fleet`.",
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
                "List the installed agents, and which of them have Windlass.",
            ),
            (
                "windlass mcp install codex --scope project",
                "Add Windlass to Codex, for this project only.",
            ),
        ],
    ),
    (
        "mcp uninstall",
        &[
            (
                "windlass mcp uninstall claude",
                "Remove Windlass from Claude Code.",
            ),
            (
                "windlass mcp uninstall claude --scope project --yes",
                "Remove it from the project's file, without asking.",
            ),
        ],
    ),
    (
        "serve",
        &[
            (
                "windlass serve",
                "Serve the page and the HTTP interface on 127.0.0.1:8413.",
            ),
            (
                "windlass serve --listen 127.0.0.1:9000",
                "Serve at another address.",
            ),
        ],
    ),
    (
        "drive",
        &[
            (
                "echo '[{\"tool\":\"shell\",\"arguments\":{\"command\":\"ls\"}}]' | windlass drive",
                "Run one batch.",
            ),
            (
                "windlass drive --ask",
                "Receive requests for permissions as lines on stdout.",
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
                "Read the arguments from stdin.",
            ),
        ],
    ),
    (
        "tools",
        &[
            ("windlass tools", "List the tools of this project."),
            (
                "windlass tools shell --dialect anthropic",
                "Print the definition of a tool in the format of a provider.",
            ),
        ],
    ),
    (
        "tools check",
        &[
            ("windlass tools check", "Check every tool."),
            ("windlass tools check --json", "Print the result as JSON."),
        ],
    ),
    (
        "tools new",
        &[
            (
                "windlass tools new save --lang python",
                "Create a tool in Python, and its config.",
            ),
            ("windlass tools new lint", "Create a tool in sh."),
        ],
    ),
    (
        "init",
        &[
            ("windlass init", "Write .windlass/config.toml."),
            ("windlass init -C ../other", "Write it in another folder."),
        ],
    ),
    (
        "config",
        &[
            ("windlass config show", "List every value and its origin."),
            (
                "windlass config edit",
                "Edit your own config file, and check it.",
            ),
        ],
    ),
    (
        "config show",
        &[
            ("windlass config show", "List every value and its origin."),
            (
                "windlass config show conversation.tools.shell",
                "List the values of one table.",
            ),
        ],
    ),
    (
        "config path",
        &[
            (
                "windlass config path",
                "List the config files, and whether each exists.",
            ),
            ("windlass config path --json", "Print the list as JSON."),
        ],
    ),
    (
        "config edit",
        &[
            ("windlass config edit", "Edit your own config file."),
            (
                "windlass config edit --project",
                "Edit the project's config file.",
            ),
        ],
    ),
    (
        "config check",
        &[
            (
                "windlass config check",
                "Check your config file and those of this project.",
            ),
            (
                "windlass config check --config other.toml",
                "Check another file too.",
            ),
        ],
    ),
    (
        "doctor",
        &[
            (
                "windlass doctor",
                "Show what works, what does not, and how to fix it.",
            ),
            ("windlass doctor --json", "Print the result as JSON."),
        ],
    ),
    (
        "trust",
        &[
            (
                "windlass trust",
                "Show the effect of the project's files, and ask whether to trust them.",
            ),
            (
                "windlass trust --list",
                "List the projects that you have trusted or declined to trust.",
            ),
        ],
    ),
    (
        "untrust",
        &[
            ("windlass untrust", "Revoke the trust in this project."),
            (
                "windlass untrust ../other",
                "Revoke the trust in another project.",
            ),
        ],
    ),
    (
        "completions",
        &[
            (
                "windlass completions bash > ~/.local/share/bash-completion/completions/windlass",
                "Install the completions for bash.",
            ),
            (
                "windlass completions fish > ~/.config/fish/completions/windlass.fish",
                "Install the completions for fish.",
            ),
        ],
    ),
];
