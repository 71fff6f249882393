use super::{Goal, Line, Quantity, Table, Unit};

fn line(measured: f64, unit: Unit, floor: Option<f64>, goal: Goal) -> Line {
    Line {
        what: "a thing".to_owned(),
        measured: Quantity::once(measured, unit),
        floor: floor.map(|floor| Quantity::once(floor, unit)),
        goal,
    }
}

#[test]
fn a_goal_is_reached_at_its_very_limit() {
    let times = |measured| line(measured, Unit::Micros, Some(100.0), Goal::Times(1.5)).reached();
    assert_eq!(times(150.0), Some(true));
    assert_eq!(times(151.0), Some(false));
    let most = |measured| line(measured, Unit::KiB, None, Goal::AtMost(24.0)).reached();
    assert_eq!(most(24.0), Some(true));
    assert_eq!(most(24.1), Some(false));
    let over = |measured| line(measured, Unit::Micros, Some(100.0), Goal::Over(30.0)).reached();
    assert_eq!(over(130.0), Some(true));
    assert_eq!(over(131.0), Some(false));
    let rate = Unit::MegabytesPerSecond;
    let part = |measured| line(measured, rate, Some(50.0), Goal::TimesAtLeast(0.5)).reached();
    assert_eq!(part(25.0), Some(true));
    assert_eq!(part(24.9), Some(false));
    let least = |measured| line(measured, Unit::PerSecond, None, Goal::AtLeast(5.0)).reached();
    assert_eq!(least(5.0), Some(true));
    assert_eq!(least(4.9), Some(false));
}

#[test]
fn a_ratio_without_a_floor_reaches_nothing() {
    for goal in [Goal::Times(2.0), Goal::TimesAtLeast(0.5), Goal::Over(2.0)] {
        let line = line(1.0, Unit::Micros, None, goal);
        assert_eq!(line.reached(), Some(false));
    }
}

#[test]
fn columns_are_aligned_and_say_all() {
    let mut table = Table::default();
    table.extend([
        line(1500.0, Unit::Millis, Some(1000.0), Goal::Times(1.2)),
        line(3.0, Unit::Pieces, None, Goal::Nothing),
    ]);
    assert_eq!(
        table.to_string(),
        "what     measured  spread   floor  spread   ratio     goal\n\
         a thing    1.5 ms          1.0 ms          1.50 ×  ≤ 1.2 ×  MISSED\n\
         a thing         3\n\
         Medians; eight of ten samples lie within the spread.\n"
    );
}
