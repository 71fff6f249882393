use proptest::prelude::*;

use super::*;

fn orders() -> impl Strategy<Value = HolderOrder> {
    prop_oneof![
        any::<u8>().prop_map(HolderOrder::Signal),
        any::<u32>().prop_map(|millis| HolderOrder::End {
            grace: Duration::from_millis(millis.into())
        }),
        proptest::collection::vec(any::<u8>(), 0..64).prop_map(HolderOrder::Write),
        Just(HolderOrder::CloseInput),
        any::<(u16, u16)>().prop_map(|(rows, cols)| HolderOrder::Resize { rows, cols }),
    ]
}

proptest! {
    #[test]
    fn orders_are_read_as_they_were_written(id in ".{0,40}", order in orders()) {
        prop_assert_eq!(HolderOrder::read(&order.write()), Some(order.clone()));
        let numbered = NumberedOrder { id, order };
        prop_assert_eq!(NumberedOrder::read(&numbered.write()), Some(numbered));
    }

    #[test]
    fn outcomes_are_read_as_they_were_written(id in ".{0,40}", error in proptest::option::of(".{0,40}")) {
        let outcome = OrderOutcome { id, error };
        prop_assert_eq!(OrderOutcome::read(&outcome.write()), Some(outcome));
    }

    #[test]
    fn reports_are_read_as_they_were_written(
        status: i32,
        idle: bool,
        ended: u32,
        survivors in proptest::collection::vec((any::<u32>(), "[a-z]{1,16}"), 0..8),
    ) {
        let survivors = survivors.into_iter().map(|(pid, name)| (pid, name.into_bytes())).collect();
        for report in [
            HolderReport::Exited { status, idle },
            HolderReport::Idle,
            HolderReport::Ended { ended, survivors },
        ] {
            prop_assert_eq!(HolderReport::read(&report.write()), Some(report));
        }
    }

    #[test]
    fn no_bytes_confuse_a_reader_of_orders(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = HolderOrder::read(&bytes);
        let _ = NumberedOrder::read(&bytes);
        let _ = OrderOutcome::read(&bytes);
        let _ = HolderReport::read(&bytes);
    }
}
