//! Models and turns, against the scripted model server.

mod remote;
mod support;
mod turns;
