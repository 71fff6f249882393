use super::*;

const ORIGIN: ProgramOrigin = ProgramOrigin {
    session: [1; 16],
    program: 3,
};
const FIRST: ProgramId = ([1; 16], 3);
const SECOND: ProgramId = ([2; 16], 7);

#[test]
fn a_generation_ends_when_another_session_has_the_program() {
    let kept = KeptPrograms::default();
    assert_eq!(kept.assign(ORIGIN, FIRST), None);
    let generation = kept.renew(&ORIGIN, FIRST).unwrap();
    assert!(kept.is_current(&ORIGIN, generation));
    assert_eq!(kept.assign(ORIGIN, SECOND), Some(FIRST));
    assert!(!kept.is_current(&ORIGIN, generation));
    assert_eq!(kept.remove_current(&ORIGIN, generation), None);
    assert!(kept.of(&FIRST.0).is_empty());
    assert_eq!(kept.renew(&ORIGIN, FIRST), None);
    assert!(kept.is_of_other(&ORIGIN, FIRST) && !kept.is_of_other(&ORIGIN, SECOND));
    assert_eq!(kept.of(&SECOND.0), HashMap::from([(7, ORIGIN)]));
}

#[test]
fn the_generation_of_a_forgotten_program_does_not_come_back() {
    let kept = KeptPrograms::default();
    kept.assign(ORIGIN, FIRST);
    let generation = kept.renew(&ORIGIN, FIRST).unwrap();
    assert_eq!(kept.remove_current(&ORIGIN, generation), Some(FIRST));
    assert_eq!(kept.renew(&ORIGIN, FIRST), None);
    kept.assign(ORIGIN, FIRST);
    assert!(!kept.is_current(&ORIGIN, generation));
}
