//! Scripts of `/bin/sh` for the contract.
//!
//! A script that stays or repeats writes its process id to the file `pid` in
//! its folder.

use super::Behaviour;

impl Behaviour {
    /// The script of a tool that writes plain text. It asks questions as a text
    /// program does, secrets on a terminal.
    pub fn script(self) -> &'static str {
        match self {
            Self::Writes => "printf 'one\\ntwo\\n'",
            Self::Stays => "echo $$ > pid.new; mv pid.new pid; echo ready; exec sleep 1000",
            Self::Repeats => {
                "echo $$ > pid; echo ready; while read -r line; do echo \"got $line\"; done"
            }
            Self::Asks => {
                "case \"$*\" in *Ada*) echo 'hello Ada' ;; \
                 *) echo '{\"type\":\"waiting\",\"content\":\"well\",\
                 \"question\":{\"id\":\"name\",\"text\":\"Who?\",\"answer_type\":\"Text\"}}' ;; esac"
            }
            Self::AsksSecret => {
                "stty -echo; printf 'Password: '; read -r x; stty echo; echo; echo \"hello $x\""
            }
        }
    }

    /// The script of a state tool; `None` if it cannot behave so.
    pub fn state_script(self) -> Option<&'static str> {
        Some(match self {
            Self::Writes => {
                r#"echo '{"type":"running","content":"one"}'; echo '{"type":"running","content":"two"}'"#
            }
            Self::Stays => {
                r#"echo $$ > pid.new; mv pid.new pid; echo '{"type":"running","content":"ready"}'; exec sleep 1000"#
            }
            Self::Repeats => {
                r#"echo $$ > pid; echo '{"type":"running","content":"ready"}'
                   while read -r line; do
                     word=$(echo "$line" | sed -n 's/.*"input":"\([a-z]*\)".*/\1/p')
                     echo "{\"type\":\"running\",\"content\":\"got $word\"}"
                   done"#
            }
            Self::Asks => {
                r#"echo '{"type":"waiting","question":{"id":"name","text":"Who?","answer_type":"Text"}}'
                   read -r line
                   word=$(echo "$line" | sed -n 's/.*"answer":"\([A-Za-z]*\)".*/\1/p')
                   echo "{\"type\":\"running\",\"content\":\"hello $word\"}""#
            }
            Self::AsksSecret => return None,
        })
    }
}
