//! The server as its clients see it, with scripted tools.
//!
//! `support.rs` is a client that sends JSON lines; each other file is one
//! subject.

mod asking;
mod calls;
mod http;
mod leaving;
mod offering;
mod support;
mod tasks;
mod web;
