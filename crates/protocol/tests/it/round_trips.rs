//! Every type that is written comes back from its text as it was.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::strategies as a;

/// The value as text is one line, and is read as the same value.
fn check<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(value).unwrap();
    prop_assert!(!text.contains('\n'), "{text}");
    let read: T = serde_json::from_str(&text)
        .map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&read, value, "{}", text);
    Ok(())
}

macro_rules! come_back {
    ($($fact:ident: $strategy:expr,)*) => {
        proptest! {
            // There are many of them; 64 cases each take seconds in all.
            #![proptest_config(ProptestConfig::with_cases(64))]

            $(
                #[test]
                fn $fact(value in $strategy) {
                    check(&value)?;
                }
            )*
        }
    };
}

come_back! {
    a_handle_id_comes_back: a::handle_id(),
    a_permission_id_comes_back: a::permission_id(),
    a_session_id_comes_back: a::session_id(),
    a_message_id_comes_back: a::message_id(),
    a_part_id_comes_back: a::part_id(),
    an_answer_type_comes_back: a::answer_type(),
    a_question_comes_back: a::question(),
    a_tool_error_comes_back: a::tool_error(),
    a_tool_state_comes_back: a::tool_state(),
    an_outcome_comes_back: a::outcome(),
    an_exec_answer_comes_back: a::exec_answer(),
    a_state_input_comes_back: a::state_input(),
    an_action_of_a_handle_comes_back: a::handle_action(),
    a_view_comes_back: a::view(),
    what_is_typed_comes_back: a::typing(),
    a_command_comes_back: a::tool_command(),
    an_action_comes_back: a::action(),
    a_context_comes_back: a::context(),
    a_tool_comes_back: a::tool(),
    examples_come_back: a::examples(),
    an_io_mode_comes_back: a::io_mode(),
    a_parameter_type_comes_back: a::parameter_type(),
    a_parameter_comes_back: a::parameter(),
    a_spawn_description_comes_back: a::spawn_description(),
    a_tool_description_comes_back: a::tool_description(),
    tool_descriptions_come_back: a::tool_descriptions(),
    a_condition_comes_back: a::condition(),
    an_await_request_comes_back: a::await_request(),
    an_await_reply_comes_back: a::await_reply(),
    what_matched_comes_back: a::matched(),
    a_handle_state_comes_back: a::handle_state(),
    an_error_view_comes_back: a::error_view(),
    a_handle_view_comes_back: a::handle_view(),
    a_notice_comes_back: a::notice(),
    a_level_comes_back: a::notice_level(),
    a_kind_comes_back: a::notice_kind(),
    a_time_comes_back: a::millis(),
    a_start_comes_back: a::part_time(),
    a_start_and_an_end_come_back: a::part_time_with_end(),
    a_pending_state_comes_back: a::state_pending(),
    a_running_state_comes_back: a::state_running(),
    a_completed_state_comes_back: a::state_completed(),
    an_error_state_comes_back: a::state_error(),
    a_part_state_comes_back: a::part_state(),
    a_tool_part_comes_back: a::tool_part(),
    a_file_part_comes_back: a::file_part(),
    a_permission_request_comes_back: a::permission_request(),
    a_permissions_call_comes_back: a::permission_tool_context(),
    a_permission_reply_comes_back: a::permission_reply(),
    a_permission_answer_comes_back: a::permission_answer(),
    a_call_comes_back: a::tool_call(),
    a_batch_comes_back: a::batch(),
    a_reply_comes_back: a::call_reply(),
    a_replys_content_comes_back: a::reply_content(),
    a_batchs_reply_comes_back: a::batch_reply(),
    a_decision_comes_back: a::turn_end_decision(),
    a_handle_at_the_turns_end_comes_back: a::turn_end_handle(),
    a_turns_report_comes_back: a::turn_end_report(),
    an_ask_comes_back: a::ask(),
    an_event_comes_back: a::drive_event(),
    an_output_line_comes_back: a::drive_output(),
}
