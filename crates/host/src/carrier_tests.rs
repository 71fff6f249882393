use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_carrier_that_makes_progress_is_waited_for() {
    let limit = Duration::from_mins(1);
    let (is_asking, progress) = (watch::Sender::new(false), watch::Sender::new(0));
    let begun = Instant::now();
    let waiting = impatience(limit, is_asking.subscribe(), progress.subscribe());
    let copying = async {
        for _ in 0..5 {
            tokio::time::sleep(limit / 2).await;
            progress.send_modify(|count| *count += 1);
        }
    };
    tokio::join!(waiting, copying);
    assert_eq!(begun.elapsed(), limit / 2 * 5 + limit);
}
