//! Adopts a program that an earlier near runtime kept.

use windlass_hold_wire::ProgramOrigin;
use windlass_process::{Process, RemoteAdoption, TakeOverError};

use super::Host;
use super::owner::OwnedKept;
use super::program::NearProgram;

impl Host {
    /// Adopts a program. All of its output is sent again, from the first byte.
    pub(super) async fn take_over(
        &self,
        adoption: RemoteAdoption,
    ) -> Result<Process, TakeOverError> {
        let key = &adoption.key;
        let name = key.name.clone();
        let gone = |name: String| TakeOverError::Gone {
            name,
            source: std::io::ErrorKind::NotFound.into(),
        };
        let Some(place) = &key.remote else {
            return Err(gone(name));
        };
        let origin = ProgramOrigin {
            session: key.nonce,
            program: place.program,
        };
        let kept = OwnedKept::take(key.clone())?;
        self.reach(&name).await?;
        let sandbox = self.sandbox_of(adoption.sandbox.as_ref());
        let program = NearProgram::adopted(&self.link, adoption, (kept, origin), sandbox);
        while !self.link.resume(&program) {
            // The host was abandoned since it was reached.
            self.reach(&name).await?;
        }
        match program.started().await {
            Ok(()) => Ok(Process::remote(program)),
            Err(_) if program.is_gone() => Err(gone(name)),
            // It may be adopted later.
            Err(error) => {
                tracing::debug!(%error, "a kept program is not adopted");
                Err(TakeOverError::Silent { name })
            }
        }
    }

    /// Connects to the host of a kept program.
    async fn reach(&self, name: &str) -> Result<(), TakeOverError> {
        let reached = self.link.connect(Vec::new()).await;
        reached.map(drop).map_err(|error| {
            tracing::debug!(%error, "the host of a kept program is not reached");
            let name = name.to_owned();
            TakeOverError::Silent { name }
        })
    }
}
