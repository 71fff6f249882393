//! Secrets of an account: `sudo` and `ssh` ask for its password.
//!
//! The account is made for the test and goes with it, which only root can do.

use std::fs;
use std::process::Command;

use serde_json::json;
use windlass_outside::{needs, skip};

use crate::support::{Project, eventually, sandbox_of_tests};
use crate::term_secrets::{Asked, UNATTENDED};
use crate::term_sitting::{assert_ended_well, outside};

const PASSWORD: &str = "open-sesame-9";

/// An account of this machine, gone when it is dropped.
struct Account {
    name: String,
}

impl Account {
    fn new(test: &str) -> Self {
        let name = format!("wl-{test}-{}", std::process::id());
        // Another program may hold the lock of the accounts for a moment.
        eventually("the account is made", || {
            let flags = ["--no-create-home", "--home-dir", "/", "--shell", "/bin/sh"];
            is_done(Command::new("useradd").args(flags).arg(&name))
        });
        let account = Self { name };
        let set = format!("echo '{}:{PASSWORD}' | chpasswd", account.name);
        eventually("the account has its password", || {
            is_done(Command::new("sh").args(["-c", &set]))
        });
        account
    }

    /// The rule by which it may do everything, for its password.
    fn rule(&self) -> String {
        format!("/etc/sudoers.d/{}", self.name)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.rule());
        eventually("the account is gone", || {
            is_done(Command::new("userdel").args(["--force", &self.name]))
                || !is_done(Command::new("id").arg(&self.name))
        });
    }
}

/// Why no account can be used here, if so.
fn obstacle(project: &Project) -> Option<&'static str> {
    if sandbox_of_tests().is_some() {
        Some("a sandbox has neither setuid programs nor a network for `sudo` and `ssh`")
    } else if outside(project, "id", &["-u"]).trim() != "0" {
        Some("only root can make an account")
    } else {
        None
    }
}

fn is_done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Runs a command that asks for the account's password and then writes who it
/// is to `heard`.
#[track_caller]
fn check(project: &Project, command: &str, prompt: &str, who: &str) {
    let mut asked = Asked::by(project, command);
    let question = &asked.question["question"];
    assert_eq!(question["secret"], json!(true), "{question}");
    assert_eq!(question["text"], json!(prompt));
    let ended = asked.answer(PASSWORD);
    assert_ended_well(&ended);
    assert_eq!(project.read("heard"), format!("{who}\n"));
    asked.end_without(project, PASSWORD);
}

#[test]
fn sudo_gets_its_password_from_the_person() {
    needs!("sudo", "setpriv", "useradd");
    let project = Project::with_config(UNATTENDED);
    if let Some(why) = obstacle(&project) {
        skip!("{why}");
    }
    let account = Account::new("sudo");
    let name = &account.name;
    fs::write(account.rule(), format!("{name} ALL=(ALL) PASSWD: ALL\n")).unwrap();
    let command = format!(
        "exec setpriv --reuid={name} --regid={name} --init-groups sudo -k -p 'Your word: ' id -un > heard"
    );
    check(&project, &command, "Your word:", "root");
}

#[test]
fn ssh_gets_its_password_from_the_person() {
    needs!("ssh", "sshd", "ssh-keygen", "useradd");
    let project = Project::with_config(UNATTENDED);
    if let Some(why) = obstacle(&project) {
        skip!("{why}");
    }
    let account = Account::new("ssh");
    let name = &account.name;
    outside(
        &project,
        "ssh-keygen",
        &["-q", "-t", "ed25519", "-N", "", "-f", "host"],
    );
    let host = project.root().join("host");
    let config = format!(
        "HostKey {}\nUsePAM no\nPasswordAuthentication yes\nKbdInteractiveAuthentication no\n",
        host.display()
    );
    project.write("server", &config);
    fs::create_dir_all("/run/sshd").unwrap();
    // The server talks through the pipes of the client, so that no port is
    // open and nothing outlives the connection.
    let server = format!(
        "$(command -v sshd) -i -f {}",
        project.root().join("server").display()
    );
    let client = "-F /dev/null -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
                  -o LogLevel=ERROR -o PreferredAuthentications=password -o NumberOfPasswordPrompts=1";
    let command =
        format!("exec ssh {client} -o \"ProxyCommand={server}\" {name}@here id -un > heard");
    check(
        &project,
        &command,
        &format!("{name}@here's password:"),
        name,
    );
}
