//! The token of a port, and the check of requests for it.
//!
//! `windlass serve` keeps its token in a file ([`Token::load`]). [`Token::check`]
//! is the only place where a bearer token is compared.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// The fewest characters of a token: a shorter one could be guessed.
const FEWEST: usize = 32;

/// A secret that lets its holder in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// A token that is too short.
#[derive(Debug, thiserror::Error)]
#[error("a token must have at least {FEWEST} characters")]
pub struct TokenError;

/// The outcome of a check for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BearerCheck {
    /// The request has the token.
    Accepted,
    /// The request has another token.
    Wrong,
    /// The request has no token.
    Missing,
}

impl Token {
    /// A token that somebody has chosen.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        if text.len() < FEWEST {
            return Err(TokenError);
        }
        Ok(Self(text.to_owned()))
    }

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
        let token = Self::generate()?;
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

    /// A random token.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).open(path)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Self::new(text.trim()).map_err(|_| {
            let problem = "it holds no token; remove it and a new one is made";
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })
    }

    /// The token, to be shown to its user.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks the `Authorization` of a request, in constant time.
    pub fn check(&self, headers: &HeaderMap) -> BearerCheck {
        let given = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim());
        match given {
            Some(given) if self.0.as_bytes().ct_eq(given.as_bytes()).into() => {
                BearerCheck::Accepted
            }
            Some(_) => BearerCheck::Wrong,
            None => BearerCheck::Missing,
        }
    }
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
