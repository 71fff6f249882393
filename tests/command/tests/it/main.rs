//! The binary as its users see it: real programs, real deaths, real lines.
//!
//! Each file is one subject. The library of this package starts the binary and
//! talks to it; its modules have the names here that they have there.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the binary itself is nobody's program"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written in place, and read better without a borrow"
)]

use windlass_command_tests::{
    kept_support, lease_orders, mcp_support, pool_support, processes, programs, ssh_server, support,
};

mod answering;
mod asking;
mod bad_input;
mod batches;
mod chat;
mod churn;
mod commands;
mod daily;
mod deaths;
mod describing;
mod describing_badly;
mod digest;
mod doc_blocks;
mod drive_http;
mod drive_requests;
mod driver_tools;
mod endings;
mod environment;
mod example_tools;
mod filtered;
mod floods;
mod formatting;
mod grpc;
mod guide;
mod hosts;
mod hosts_asking;
mod hosts_faults;
mod hosts_install;
mod hosts_kept;
mod hosts_listed;
mod hosts_network;
mod hosts_onlookers;
mod hosts_refusals;
mod hosts_rules;
mod hosts_sandbox;
mod hosts_sessions;
mod hosts_traffic;
mod http;
mod http_looking;
mod http_malice;
mod http_opencode;
mod http_others;
mod http_schemathesis;
mod http_support;
mod installed;
mod kept;
mod kept_conversations;
mod kept_counting;
mod kept_deaths;
mod kept_sandbox;
mod kept_serve;
mod killed_records;
mod killed_serve;
mod load;
mod mcp;
mod mcp_clients;
mod mcp_install;
mod mcp_passing;
mod mcp_serve;
mod mcp_servers;
mod mcp_starting;
mod mcp_upstream;
mod network;
mod network_scene;
mod new_tools;
mod one_shots;
mod outcomes;
mod outputs;
mod page;
mod page_ask;
mod page_asks;
mod page_axe;
mod page_held;
mod page_home;
mod page_hosts;
mod page_malice;
mod page_support;
mod page_takeover;
mod page_terminals;
mod page_timeline;
mod permission_rules;
mod pool;
mod pool_away;
mod pool_credentials;
mod pool_faults;
mod pool_fleet;
mod pool_kept;
mod pool_network;
mod pool_output;
mod pool_refusals;
mod pool_tls;
mod pool_traffic;
mod query;
mod query_agents;
mod query_prompts;
mod query_terminal;
mod reaching;
mod records;
mod sandbox;
mod serve_greeting;
mod serve_replacing;
mod shapes;
mod state_tools;
mod templates;
mod term_accounts;
mod term_bash;
mod term_economy;
mod term_endings;
mod term_git;
mod term_programs;
mod term_python;
mod term_secrets;
mod term_sitting;
mod term_tools;
mod term_views;
mod term_vim;
mod terminal;
mod transcripts;
mod trust;
mod typing;
mod typing_rules;
mod usage;
mod vectors;
mod widths;

/// A file without a `mod` line would never run.
#[test]
fn every_file_is_a_module_of_this_binary() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let sources = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || sources.contains(&format!("mod {module};")),
            "`{name}` is not part of main.rs"
        );
    }
}
