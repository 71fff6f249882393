//! The store with real sessions of a scripted tool.

mod conversations;
mod failing;
mod pruning;
mod recording;
mod recovering;
mod rules;
mod support;
