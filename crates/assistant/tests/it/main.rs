//! Models and turns, against the scripted model server.

mod contract;
mod remote;
mod support;
mod turns;
