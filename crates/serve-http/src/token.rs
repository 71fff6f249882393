//! The token of a port, generated once and stored in a file.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// A secret that lets its holder in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token that this file holds. Where there is none it is made, readable
    /// by its owner only.
    pub fn load(path: &Path) -> io::Result<Self> {
        match Self::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        if let Some(parent) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)?;
        }
        let token = Self::new()?;
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        match made {
            Ok(mut file) => {
                file.write_all(token.0.as_bytes())?;
                Ok(token)
            }
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(error),
        }
    }

    fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).open(path)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let text = text.trim();
        if text.len() < 32 {
            let problem = "it holds no token; remove it and a new one is made";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(Self(text.to_owned()))
    }

    /// The token, to be shown to its user.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that says nothing.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
