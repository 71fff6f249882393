use std::time::Duration;

use super::Samples;

fn samples(numbers: impl IntoIterator<Item = f64>) -> Samples {
    let mut samples = Samples::default();
    for number in numbers {
        samples.push(number);
    }
    samples
}

#[test]
#[expect(clippy::float_cmp, reason = "a sample comes back as it was given")]
fn the_median_and_the_spread_are_samples_whatever_their_order() {
    let samples = samples([9.0, 1.0, 5.0, 3.0, 7.0, 2.0, 8.0, 4.0, 6.0, 10.0, 11.0]);
    assert_eq!(samples.median(), 6.0);
    assert_eq!(samples.spread(), (2.0, 10.0));
}

#[test]
#[expect(clippy::float_cmp, reason = "a sample comes back as it was given")]
fn one_sample_is_its_own_median_and_spread() {
    let mut samples = Samples::default();
    samples.push_time(Duration::from_millis(2));
    assert_eq!(samples.median(), 2000.0);
    assert_eq!(samples.spread(), (2000.0, 2000.0));
}
