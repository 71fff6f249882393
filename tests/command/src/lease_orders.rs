//! Leases that a test ends in real processes, in place of waiting for them.
//!
//! Only debug builds of the command take such orders, from a folder that [`LEASE_ORDERS`] names. When the folder is gone,
//! all leases are over, so that no test leaves programs behind.

use std::fs;

use crate::support::Project;

/// The variable that names the folder. See `crates/process/src/lease.rs`.
pub const LEASE_ORDERS: &str = "WINDLASS_TEST_ORDERS";

impl Project {
    /// From now on every lease that its processes count is over.
    pub fn end_leases(&self) {
        self.end_leases_up_to(u64::MAX);
    }

    /// From now on every lease of at most this many seconds that its processes count is over.
    pub fn end_leases_up_to(&self, seconds: u64) {
        let folder = self.orders_dir();
        // Processes read it at any time, so it appears whole.
        let draft = folder.join("draft");
        fs::write(&draft, seconds.to_string()).unwrap();
        fs::rename(draft, folder.join("leases")).unwrap();
    }

    /// From now on leases last as long as they say.
    pub fn let_leases_run(&self) {
        fs::remove_file(self.orders_dir().join("leases")).unwrap();
    }

    /// What its processes have noted of leases, a line per event.
    pub fn lease_events(&self) -> String {
        fs::read_to_string(self.orders_dir().join("events")).unwrap_or_default()
    }
}
