//! Asks for permission during dispatch.

use std::sync::Arc;

use futures_util::FutureExt;
use windlass_protocol::{Arguments, Ending, HandleAction, Keyboard, RunMode, Typing};

use super::{BatchRun, Permit};
use crate::arguments::typed;
use crate::catalogue::RegisteredTool;
use crate::denied::RunsAgain;
use crate::handle::Handle;
use crate::late_permit::{LateGrant, LatePermit, LatePermits, PermitKey};
use crate::part::CallPart;
use crate::permission::{self, Granted, GrantedBy, PermissionCheck};
use crate::refusal::Refusal;
use crate::starting::DeferredPermit;

/// The state of a permission.
pub(super) enum Permitted {
    /// Decided.
    Now(Permit),
    /// Still open, and the caller is in a hurry.
    Later(DeferredPermit),
}

impl BatchRun<'_> {
    /// Asks whether a call whose sandbox has denied something runs again. A
    /// caller in a hurry does not wait.
    pub(super) async fn permit_again(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        args: &Arguments,
        ending: &Ending,
    ) -> RunsAgain {
        if self.session.inner.options.trusted {
            return RunsAgain::No;
        }
        let asking = self.asking(call, tool, None);
        let permitted = self
            .hurry
            .run_until_cancelled(asking.permit_again(args, ending));
        Box::pin(permitted).await.unwrap_or(RunsAgain::No)
    }

    pub(super) fn asking(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        action: Option<HandleAction>,
    ) -> PermissionCheck {
        PermissionCheck {
            session: Arc::clone(&self.session.inner),
            tool: Arc::clone(tool),
            call: Arc::clone(&call.id),
            message: call.message.clone(),
            secret: call.is_secret(),
            handle: call.handle().cloned(),
            action,
        }
    }

    /// Asks about commands that would be typed, if there are any. True if they
    /// were permitted.
    pub(super) async fn permit_typed(
        &self,
        call: &CallPart<'_>,
        tool: &Arc<RegisteredTool>,
        handle: &Arc<Handle>,
        typing: &Typing,
    ) -> Result<bool, Refusal> {
        let started = handle.granted_by();
        let has_rules = !tool.definition.permissions.is_empty();
        let is_heard = has_rules || started == GrantedBy::Rule;
        // The answer to a question is typed nowhere.
        let is_typed = handle.status().is_running();
        let Some(job) = handle.job().filter(|_| is_heard && is_typed) else {
            return Ok(false);
        };
        let action = Some(HandleAction::Apply);
        let skips = matches!(
            permission::mode(&self.session.inner, tool, action),
            RunMode::Skip
        );
        if self.session.inner.options.trusted || skips {
            return Ok(false);
        }
        let Some(commands) = job.typed_commands(&Keyboard::Typing(typing.clone())) else {
            return Ok(false);
        };
        let args = typed(typing);
        let key = PermitKey::new(
            &tool.definition.name,
            handle.known_as(),
            HandleAction::Apply,
            &args,
        );
        let asking = self.asking(call, tool, action);
        let permitted = {
            let args = args.clone();
            async move {
                let Granted(granted) = asking.permit_typed(&args, commands, started).await?;
                Ok((args, granted.then_some(GrantedBy::Person)))
            }
        };
        let (_, by) = self
            .permit_late(call, handle, key.of_commands(), permitted)
            .await?;
        let granted = by.is_some();
        if granted {
            call.running(tool, &args);
        }
        Ok(granted)
    }

    /// Asks whether a call on a handle may run.
    pub(super) async fn permit_now(
        &self,
        call: &CallPart<'_>,
        handle: &Arc<Handle>,
        action: HandleAction,
        args: Arguments,
    ) -> Result<Permit, Refusal> {
        let tool = &handle.tool;
        let permit = match self.permit_by_policy(tool, Some(action), args) {
            Ok(permit) => permit,
            Err(args) => {
                let name = &tool.definition.name;
                let key = PermitKey::new(name, handle.known_as(), action, &args);
                let asking = self.asking(call, tool, Some(action));
                let permitted = asking.permit(args);
                let permitted = permitted.map(|granted| granted.map(|(args, by)| (args, Some(by))));
                // Few calls ask; the others stay small.
                let permitted = Box::pin(self.permit_late(call, handle, key, permitted));
                let (args, by) = permitted.await?;
                Permit::Run(args, by.unwrap_or(GrantedBy::Policy))
            }
        };
        if let Permit::Run(args, _) = &permit {
            call.running(tool, args);
        }
        Ok(permit)
    }

    /// Waits for the permission of a call that cannot continue without its
    /// caller. A caller in a hurry is told to repeat the call, which finds the
    /// request.
    async fn permit_late(
        &self,
        call: &CallPart<'_>,
        handle: &Arc<Handle>,
        key: PermitKey,
        asking: impl Future<Output = Result<LateGrant, Refusal>> + Send + 'static,
    ) -> Result<LateGrant, Refusal> {
        let session = &self.session.inner;
        let late = LatePermits::take(session, &key, &call.id);
        let permit = late.unwrap_or_else(|| LatePermit::new(&call.id, asking));
        if let Some(granted) = self.hurry.run_until_cancelled(permit.outcome()).await {
            return granted;
        }
        let request = permit.request(session);
        permit.park(session, handle, key);
        let tool = handle.tool.definition.name.clone();
        Err(Refusal::Unpermitted { tool, request })
    }
}
