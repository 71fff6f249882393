//! People and their handles on a host: everything that works for local handles does for these.

use windlass_outside::needs;

use crate::hosts::piped;
use crate::support::Project;
use crate::{daily, http, page_takeover, term_secrets, term_tools};

/// Does what a test of local handles does, with `shell` on a host.
fn on_a_host(test: fn()) {
    Project::each_with(piped(600), test);
}

#[test]
fn a_handle_on_a_host_is_watched_searched_and_ended_over_http() {
    on_a_host(http::a_handle_is_watched_typed_into_and_ended);
    on_a_host(http::a_screen_is_streamed_as_it_changes);
}

#[test]
fn a_person_takes_over_a_handle_on_a_host() {
    on_a_host(http::a_person_takes_over_and_the_assistant_is_notified);
}

#[test]
fn the_page_takes_over_a_handle_on_a_host_and_hands_it_back() {
    needs!("page-driver", "chromium");
    on_a_host(page_takeover::handing_back_restores_the_size);
}

#[test]
fn a_secret_of_a_handle_on_a_host_is_the_persons() {
    on_a_host(http::a_secret_is_asked_for_and_answered_by_the_person);
    on_a_host(term_secrets::a_secret_goes_from_the_person_to_the_program_and_nowhere_else);
    on_a_host(term_secrets::what_is_typed_while_nothing_is_echoed_is_not_recorded);
    on_a_host(term_secrets::a_program_that_shows_stars_asks_the_person);
}

#[test]
fn logs_of_a_handle_on_a_host_are_cut_and_searched() {
    on_a_host(daily::logs_are_cut_by_lines_time_and_pattern);
}

#[test]
fn a_terminal_on_a_host_is_recorded() {
    on_a_host(term_tools::a_terminal_is_recorded_for_as_long_as_its_session_is);
}
