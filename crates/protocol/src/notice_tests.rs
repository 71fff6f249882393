use super::{Notice, NoticeKind, NoticeLevel, advice};

#[test]
fn a_person_is_not_advised_to_use_actions_of_the_assistant() {
    for advice in advice::ALL {
        let notice = Notice {
            level: NoticeLevel::Info,
            kind: NoticeKind::Success,
            handle: None,
            tool: None,
            text: format!("`web` stopped{advice}"),
        };
        assert_eq!(notice.for_person(), "`web` stopped");
    }
}
