//! The environment of this process, and the part of it that programs get.
//!
//! Start at [`Environment::own`]. Keys of providers, the server's token and
//! variables that look like credentials are hidden from programs, unless a
//! table passes them on.

use std::ffi::{OsStr, OsString};

use windlass_config::{Config, VariableSettings, looks_like_credential};
use windlass_executors::Launcher;

/// Removes credentials from this process's environment, so that neither
/// children nor other processes of the user find them there; Windlass itself
/// still has them. Call it at the top of `main`, after [`init`](crate::init);
/// later it does nothing.
pub fn withdraw_credentials() {
    windlass_process::withdraw_variables(|name| {
        let known = windlass_config::is_known_key(name.to_str().unwrap_or_default());
        known || is_credential(name)
    });
}

/// A variable of this process, including withdrawn ones.
pub fn variable(name: &str) -> Option<String> {
    let withdrawn = windlass_process::withdrawn_variable(name).map(OsStr::to_owned);
    let value = withdrawn.or_else(|| std::env::var_os(name))?;
    value.into_string().ok()
}

/// The variables that this process was started with.
pub(crate) struct Environment {
    all: Vec<(OsString, OsString)>,
    keys: Vec<String>,
}

impl Environment {
    pub(crate) fn own(config: &Config) -> Self {
        let withdrawn = windlass_process::withdrawn_variables().iter().cloned();
        let keys = config.assistant.key_variables();
        Self {
            all: std::env::vars_os().chain(withdrawn).collect(),
            keys: keys.map(str::to_owned).collect(),
        }
    }

    /// The environment of programs without a table in the configuration.
    pub(crate) fn usual(&self) -> Vec<(OsString, OsString)> {
        let usual = VariableSettings::default();
        let all = self.all.iter();
        let passed = all.filter(|(name, _)| self.passes(&usual, name));
        passed.cloned().collect()
    }

    /// The launcher with the variables that these settings pass on, and without
    /// those that they hide.
    pub(crate) fn launcher(&self, base: &Launcher, settings: &VariableSettings) -> Launcher {
        let usual = VariableSettings::default();
        let changes = self.all.iter().filter_map(|(name, value)| {
            let passes = self.passes(settings, name);
            let changed = passes != self.passes(&usual, name);
            changed.then(|| (name.clone(), passes.then(|| value.clone())))
        });
        base.with_variables(changes.collect())
    }

    /// The launcher with everything except the server's token and the keys of
    /// providers.
    pub(crate) fn trusted(&self, base: &Launcher) -> Launcher {
        let everything = VariableSettings {
            pass: vec!["*".to_owned()],
            hide: Vec::new(),
        };
        self.launcher(base, &everything)
    }

    /// The names of the variables that a program does not get.
    pub(crate) fn hidden(&self, settings: &VariableSettings) -> Vec<String> {
        let hidden = self
            .all
            .iter()
            .filter(|(name, _)| !self.passes(settings, name));
        let mut names: Vec<String> = hidden
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    fn passes(&self, settings: &VariableSettings, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        let is_key = self.keys.iter().any(|key| *key == name);
        settings.passes(&name, is_key)
    }
}

fn is_credential(name: &OsStr) -> bool {
    looks_like_credential(&name.to_string_lossy())
}
