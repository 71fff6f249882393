//! Starts tasks of tokio from boxed futures.
//!
//! `tokio::spawn` compiles the code that polls, cancels and drops a task anew
//! for each type of future, and twice: once for each scheduler. Every `async`
//! block is a type of its own. The functions here box the future first, so
//! that this code is compiled once for each type of output.

use std::pin::Pin;

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

type BoxedFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a task on the current runtime.
///
/// # Panics
/// Outside of a tokio runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(boxed(future))
}

/// Starts a task on the current runtime that `tracker` waits for.
///
/// # Panics
/// Outside of a tokio runtime.
#[track_caller]
pub fn spawn_tracked<F>(tracker: &TaskTracker, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tracker.spawn(boxed(future))
}

fn boxed<F>(future: F) -> BoxedFuture<F::Output>
where
    F: Future + Send + 'static,
{
    Box::pin(future)
}
