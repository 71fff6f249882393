use super::*;

#[test]
fn a_filter_fits_into_a_message() {
    for internet in [true, false] {
        for unix in [true, false] {
            let filter = compile(FilterOptions {
                internet,
                unix,
                debuggers: unix,
            });
            assert!(filter.len().is_multiple_of(8));
            assert!((100..4096 * 8).contains(&filter.len()), "{}", filter.len());
        }
    }
}
