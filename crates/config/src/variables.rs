//! The environment variables that programs inherit. Variables that look like
//! credentials are hidden, unless a table passes them on.

use crate::expected::ExpectedValue;
use crate::node::Node;
use crate::read::{self, ConfigReader, Table};

/// The variable with the token of a Windlass server. It is never passed on.
pub const TOKEN_VARIABLE: &str = "WINDLASS_TOKEN";

/// The keys `pass_env` and `hide_env`. `*` stands for any characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariableSettings {
    /// Variables that are passed on although they look like credentials.
    pub pass: Vec<String>,
    /// Variables that are hidden, even if `pass` matches them.
    pub hide: Vec<String>,
}

impl VariableSettings {
    pub(crate) fn read(reader: &mut ConfigReader, table: &Table<'_>) -> Self {
        Self {
            pass: reader.get(table, "pass_env", names).unwrap_or_default(),
            hide: reader.get(table, "hide_env", names).unwrap_or_default(),
        }
    }

    /// Whether a program gets this variable. `is_key` means that it holds a
    /// provider's key, which only its exact name passes on.
    pub fn passes(&self, name: &str, is_key: bool) -> bool {
        if name == TOKEN_VARIABLE || matches_any(&self.hide, name) {
            return false;
        }
        if is_key {
            return self.pass.iter().any(|pass| pass == name);
        }
        !looks_like_credential(name) || matches_any(&self.pass, name)
    }
}

fn names(node: &Node) -> Result<Vec<String>, ExpectedValue> {
    let names = read::strings(node).map_err(|_| ExpectedValue::VariableNames)?;
    let fits =
        |name: &String| !name.is_empty() && !name.contains(['=', '\0']) && *name != TOKEN_VARIABLE;
    let fit = names.iter().all(fits);
    fit.then_some(names).ok_or(ExpectedValue::VariableNames)
}

fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// `*` matches any characters; everything else matches literally.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let mut ends = (0..=name.len()).filter(|&at| name.is_char_boundary(at));
            ends.any(|at| matches(rest, &name[at..]))
        }),
    }
}

/// Whether the name is typical of credentials. Variables for ordinary work,
/// such as `SSH_AUTH_SOCK`, are not.
pub fn looks_like_credential(name: &str) -> bool {
    /// Anywhere in the name.
    const PARTS: [&str; 12] = [
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "APIKEY",
        "API_KEY",
        "ACCESSKEY",
        "ACCESS_KEY",
        "PRIVATEKEY",
        "PRIVATE_KEY",
        "AUTHTOKEN",
    ];
    /// Words of the name, between underscores.
    const WORDS: [&str; 3] = ["TOKEN", "JWT", "BEARER"];
    /// The last word of the name.
    const LAST: [&str; 7] = ["KEY", "PASS", "PWD", "PAT", "AUTH", "COOKIE", "DSN"];
    const PREFIXES: [&str; 1] = ["AWS_"];
    const NAMES: [&str; 1] = ["DOCKER_AUTH_CONFIG"];

    let name = name.to_ascii_uppercase();
    // Ours that hold no secret: they are settings, and may be called anything.
    if name.starts_with("WINDLASS_") {
        return name == TOKEN_VARIABLE;
    }
    let mut words = name.split(['_', '-', '.', ':']);
    let last = words.clone().next_back().unwrap_or_default();
    let has_several = words.clone().count() > 1;
    PARTS.iter().any(|part| name.contains(part))
        || words.any(|word| WORDS.contains(&word))
        || has_several && LAST.contains(&last)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("_KEY_ID")
        || name.ends_with("CONNECTION_STRING")
        || NAMES.contains(&name.as_str())
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
