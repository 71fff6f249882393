//! The sessions of the terminal tests, unchanged, with the program on a host: over a plain pipe, and over a real `sshd`.

use crate::hosts::{hosted, piped};
use crate::ssh_server::SshServer;
use crate::support::Project;
use crate::term_sitting::Cost;

/// No session takes longer.
const LEASE: u32 = 60;

fn over_a_pipe(session: fn() -> Cost) {
    Project::each_with(piped(LEASE), session);
}

fn over_ssh(session: fn() -> Cost) {
    let server = SshServer::start();
    let via = server.via();
    let via: Vec<&str> = via.iter().map(String::as_str).collect();
    Project::each_with(hosted(&via, LEASE), session);
}

/// Each session twice, as a test of its own.
macro_rules! sessions {
    ($($name:ident needs $($program:literal),+: $session:path;)+) => {
        mod on_a_pipe {
            $(#[test]
            fn $name() {
                windlass_outside::needs!($($program),+);
                super::over_a_pipe($session);
            })+
        }
        mod on_ssh {
            $(#[test]
            fn $name() {
                windlass_outside::needs!("ssh", "sshd", "ssh-keygen", $($program),+);
                super::over_ssh($session);
            })+
        }
    };
}

sessions! {
    hunks_are_staged_one_by_one needs "git": crate::term_git::staging;
    a_rebase_is_done_in_the_editor needs "git", "vim": crate::term_git::rebase;
    python_takes_statements needs "python3": crate::term_python::session;
    a_shell_takes_commands needs "bash": crate::term_bash::session;
    a_file_is_edited_in_vim needs "vim": crate::term_vim::edit;
    a_file_is_read_in_less needs "less": crate::term_vim::page;
    a_program_is_debugged_in_gdb needs "gdb", "gcc": crate::term_programs::debug;
    a_password_is_a_question needs "bash": crate::term_programs::password;
    a_key_is_made_by_answering_prompts needs "ssh-keygen": crate::term_programs::keygen;
    an_entry_is_chosen_from_a_menu needs "whiptail": crate::term_programs::menu;
}
