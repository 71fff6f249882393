//! Blocking work that a future can wait for.

use std::sync::Arc;
use std::thread;

use event_listener::Event;

/// Runs blocking work on a separate thread; the future resolves to its result.
///
/// If the future is dropped, the work continues; it ends with the program at
/// the latest. A panic is propagated.
pub async fn unblock<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = Arc::new(Event::new());
    let listener = done.listen();
    let notify = NotifyOnDrop(Arc::clone(&done));
    let worker = thread::spawn(move || {
        // A panic must be told too.
        let _notify = notify;
        work()
    });
    listener.await;
    worker
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct NotifyOnDrop(Arc<Event>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify(usize::MAX);
    }
}

#[cfg(test)]
#[path = "unblock_tests.rs"]
mod tests;
