//! The kept programs of a worker. They outlive the sessions of their runtimes, so the worker finds them by their
//! origin.

use std::collections::HashMap;

use parking_lot::Mutex;
use windlass_hold_wire::{LinkSession, ProgramOrigin};

use super::far_session::FarSession;
use super::{ProgramId, Worker};

/// All kept programs whose holders may still exist.
#[derive(Default)]
pub(super) struct KeptPrograms(Mutex<KeptTable>);

#[derive(Default)]
struct KeptTable {
    programs: HashMap<ProgramOrigin, KeptProgram>,
    /// The last generation of all programs.
    generation: u64,
}

struct KeptProgram {
    /// The session that has it or had it last, and its number there.
    owner: ProgramId,
    /// Changes when a link takes or releases the program. A task that follows the program belongs to one generation.
    generation: u64,
}

impl KeptPrograms {
    /// Assigns a program to a session, in a new generation. Returns its earlier owner.
    pub(super) fn assign(&self, origin: ProgramOrigin, owner: ProgramId) -> Option<ProgramId> {
        let mut table = self.0.lock();
        table.generation += 1;
        let generation = table.generation;
        let program = KeptProgram { owner, generation };
        let earlier = table.programs.insert(origin, program);
        earlier.map(|program| program.owner)
    }

    /// Begins a new generation of a program, if it is kept and belongs to this owner.
    pub(super) fn renew(&self, origin: &ProgramOrigin, owner: ProgramId) -> Option<u64> {
        let mut table = self.0.lock();
        let next = table.generation + 1;
        let program = table.programs.get_mut(origin)?;
        if program.owner != owner {
            return None;
        }
        program.generation = next;
        table.generation = next;
        Some(next)
    }

    pub(super) fn contains(&self, origin: &ProgramOrigin) -> bool {
        self.0.lock().programs.contains_key(origin)
    }

    /// Whether a program is kept and belongs to another session, or has another number now.
    pub(super) fn is_of_other(&self, origin: &ProgramOrigin, owner: ProgramId) -> bool {
        let table = self.0.lock();
        let program = table.programs.get(origin);
        program.is_some_and(|program| program.owner != owner)
    }

    pub(super) fn is_current(&self, origin: &ProgramOrigin, generation: u64) -> bool {
        let table = self.0.lock();
        let program = table.programs.get(origin);
        program.is_some_and(|program| program.generation == generation)
    }

    /// Forgets a program; returns its owner.
    pub(super) fn remove(&self, origin: &ProgramOrigin) -> Option<ProgramId> {
        let program = self.0.lock().programs.remove(origin);
        program.map(|program| program.owner)
    }

    /// Forgets a program if this is still its generation; returns its owner.
    pub(super) fn remove_current(
        &self,
        origin: &ProgramOrigin,
        generation: u64,
    ) -> Option<ProgramId> {
        let mut table = self.0.lock();
        let program = table.programs.get(origin)?;
        if program.generation != generation {
            return None;
        }
        let program = table.programs.remove(origin);
        program.map(|program| program.owner)
    }

    /// The programs of a session: their numbers there, and their origins.
    pub(super) fn of(&self, session: &LinkSession) -> HashMap<u64, ProgramOrigin> {
        let table = self.0.lock();
        let programs = table.programs.iter();
        programs
            .filter(|(_, program)| program.owner.0 == *session)
            .map(|(origin, program)| (program.owner.1, *origin))
            .collect()
    }
}

impl Worker {
    /// Counts a program under another id.
    fn rename(&self, earlier: &ProgramId, id: ProgramId, runtime: &str) {
        let mut running = self.running.lock();
        if let Some(mut program) = running.remove(earlier) {
            runtime.clone_into(&mut program.runtime);
            running.insert(id, program);
        }
        drop(running);
        let mut exited = self.exited.lock();
        if exited.remove(earlier) {
            exited.insert(id);
        }
        drop(exited);
        self.changed.notify_one();
    }

    /// Hands a kept program over to a session. The link of the session that has it releases it first.
    pub(super) async fn hand_over(&self, origin: &ProgramOrigin, to: &FarSession, number: u64) {
        let id = (to.session, number);
        let started = (origin.session, origin.program);
        let earlier = self.kept.assign(*origin, id).unwrap_or(started);
        if earlier == id {
            return;
        }
        // Before the first await, because the link of the session may end meanwhile: it must be counted once.
        self.rename(&earlier, id, &to.runtime);
        let session = self.sessions.lock().get(&earlier.0).cloned();
        if let Some(session) = session {
            session.give_away(earlier.1);
            if earlier.0 != to.session {
                session.stop().await;
                // Its last frames have opened the record again.
                session.give_away(earlier.1);
            }
        }
    }
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
