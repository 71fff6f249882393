//! The protocol as strangers see it: text in, text out.
//!
//! `strategies` makes values of every type; the other files hold the facts.

mod drive_lines;
mod records;
mod round_trips;
mod strategies;
mod views;
