//! Executes each order to a job once, even if it arrives repeatedly.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use windlass_protocol::{InputError, OrderId};

use crate::session::new_ulid;

/// The number of orders that are remembered. A sender repeats only its last
/// order after a lost connection.
const REMEMBERED: usize = 256;

type Outcome = Arc<OnceCell<Result<(), InputError>>>;

/// The executed orders of a job, with their results.
#[derive(Debug, Default)]
pub struct OrderLedger {
    orders: Mutex<VecDeque<(OrderId, Outcome)>>,
}

impl OrderLedger {
    /// Executes an order unless it was executed before, and returns its result.
    /// A repeated order waits for the first.
    pub async fn once<F>(&self, order: &OrderId, carry_out: F) -> Result<(), InputError>
    where
        F: Future<Output = Result<(), InputError>>,
    {
        let outcome = Self::outcome(&mut self.orders.lock(), order);
        outcome.get_or_init(|| carry_out).await.clone()
    }

    /// Executes an immediate order, unless it was executed before.
    pub fn once_now(
        &self,
        order: &OrderId,
        carry_out: impl FnOnce() -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        // Locked until it is carried out, so that a second thread finds the outcome.
        let mut orders = self.orders.lock();
        let outcome = Self::outcome(&mut orders, order);
        if let Some(known) = outcome.get() {
            return known.clone();
        }
        let result = carry_out();
        // An order is given through one of the two functions, so nobody else sets it.
        let _ = outcome.set(result.clone());
        result
    }

    fn outcome(orders: &mut VecDeque<(OrderId, Outcome)>, order: &OrderId) -> Outcome {
        if let Some((_, outcome)) = orders.iter().rev().find(|(id, _)| id == order) {
            return Arc::clone(outcome);
        }
        let outcome = Outcome::default();
        orders.push_back((order.clone(), Arc::clone(&outcome)));
        if orders.len() > REMEMBERED {
            orders.pop_front();
        }
        outcome
    }
}

/// An id that no other order has.
pub(crate) fn new_order() -> OrderId {
    OrderId(new_ulid().into())
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod tests;
