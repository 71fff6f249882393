//! One connection to a server, from its start to its end.
//!
//! Start at [`open`]. A server program is a process tree of Windlass:
//! connection and process end together.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ProtocolVersion, ServerNotification, SubscriptionFilter};
use rmcp::service::{ClientInitializeError, Peer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use windlass_output::Stream;
use windlass_process::{Command, Exit, Launcher, Process};

use crate::error::{ServerError, chain, not_reached};
use crate::handler::{Handler, ServerNews};
use crate::routes::Tapped;
use crate::spec::{Reach, ServerSpec};

/// The maximum size of a message. A longer one is dropped.
const LONGEST_MESSAGE: usize = 64 << 20;
/// The time for reading the remaining output of an exited server, in case
/// another process keeps its pipe open.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The time that a server has to exit.
const GRACE: Duration = Duration::from_secs(2);

/// The start of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Asks for the server's protocol version.
    Either,
    /// The handshake of early protocol versions. Some servers exit on any other
    /// first message.
    Handshake,
}

/// A server that answers.
pub(crate) struct ServerConnection {
    peer: Peer<RoleClient>,
    /// The reason for its end, once it has ended.
    gone: watch::Receiver<Option<Arc<str>>>,
    retired: AtomicBool,
    pub(crate) opened: Instant,
    /// Ends the connection when the last user drops it.
    _ended_with_us: DropGuard,
}

impl ServerConnection {
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// New calls can use it.
    pub(crate) fn is_alive(&self) -> bool {
        self.gone.borrow().is_none() && !self.retired.load(Ordering::Acquire)
    }

    /// Directs new calls to another connection. Running calls may still be
    /// answered.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    /// The reason for its end, after a request failed because of it.
    pub(crate) async fn closed(&self) -> Arc<str> {
        self.retire();
        let why = timeout(LAST_WORDS * 4, self.gone()).await;
        why.unwrap_or_else(|_| "it closed the connection".into())
    }

    /// Resolves when it has ended, to how.
    pub(crate) async fn gone(&self) -> Arc<str> {
        let mut gone = self.gone.clone();
        let ended = gone.wait_for(Option::is_some).await;
        let why = ended.ok().and_then(|why| why.clone());
        why.unwrap_or_else(|| "Windlass closed the connection".into())
    }
}

/// Connects to a server. `ended` is called if it ends without having been
/// released.
pub(crate) async fn open(
    spec: &ServerSpec,
    launcher: &Launcher,
    handler: Arc<Handler>,
    era: Era,
    ended: impl FnOnce(&str) + Send + 'static,
) -> Result<ServerConnection, ServerError> {
    let routes = Arc::clone(&handler.routes);
    match &spec.reach {
        Reach::Program { .. } => {
            let process = start(spec, launcher).await?;
            let (stdout, stdin) = process.take_pipes().expect("they were asked for");
            let inner =
                AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(LONGEST_MESSAGE);
            let transport = Tapped { inner, routes };
            let served = serve(spec, handler, transport, era).await;
            let service = match served {
                Ok(service) => service,
                Err(error) => return Err(not_served(spec, &process, &error).await),
            };
            Ok(keep(service, Some(process), ended))
        }
        Reach::Address { url, headers } => {
            let inner = http(spec, url, headers)?;
            let transport = Tapped { inner, routes };
            let served = serve(spec, handler, transport, era).await;
            let service = served.map_err(|error| not_reached(&spec.name, &error))?;
            Ok(keep(service, None, ended))
        }
    }
}

async fn start(spec: &ServerSpec, launcher: &Launcher) -> Result<Process, ServerError> {
    let Reach::Program {
        program,
        args,
        env,
        cwd,
    } = &spec.reach
    else {
        unreachable!("only programs are started");
    };
    let mut command = Command::new(program)
        .args(args)
        .cwd(cwd)
        .grace(GRACE)
        .hand_over_pipes();
    for (name, value) in env {
        command = command.env(name, value);
    }
    let started = launcher.start(command).await;
    started.map_err(|error| ServerError::Start {
        server: spec.name.clone(),
        why: chain(&error),
    })
}

type Service = RunningService<RoleClient, Arc<Handler>>;
type Http = StreamableHttpClientTransport<reqwest::Client>;

fn http(spec: &ServerSpec, url: &str, headers: &[(String, String)]) -> Result<Http, ServerError> {
    // Another caller may have chosen first, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let bad = || ServerError::Header {
            server: spec.name.clone(),
            header: name.clone(),
        };
        let value = value.parse().map_err(|_| bad())?;
        custom.insert(name.parse().map_err(|_| bad())?, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_sse_event_size(LONGEST_MESSAGE)
        .reinit_on_expired_session(true);
    Ok(Http::from_config(config))
}

async fn serve<T>(
    spec: &ServerSpec,
    handler: Arc<Handler>,
    transport: Tapped<T>,
    era: Era,
) -> Result<Service, ClientInitializeError>
where
    T: Transport<RoleClient> + 'static,
{
    let lifecycle = match era {
        Era::Either => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Era::Handshake => ClientLifecycleMode::Initialize,
    };
    tracing::debug!(server = spec.name, ?era, "connecting");
    handler.serve_with_lifecycle(transport, lifecycle).await
}

/// The error of a program that did not become a server. An exit status says
/// more than a broken connection.
async fn not_served(
    spec: &ServerSpec,
    process: &Process,
    error: &ClientInitializeError,
) -> ServerError {
    let server = spec.name.clone();
    let exited = timeout(LAST_WORDS, process.wait()).await;
    match exited {
        Ok(exit) => ServerError::Gone {
            server,
            why: exited_with(process, &exit).into(),
        },
        Err(_) => ServerError::Handshake {
            server,
            why: chain(error),
        },
    }
}

fn keep(
    service: Service,
    process: Option<Process>,
    ended: impl FnOnce(&str) + Send + 'static,
) -> ServerConnection {
    let closing = CancellationToken::new();
    let (sender, gone) = watch::channel(None);
    let peer = service.peer().clone();
    windlass_task::spawn(listen(peer.clone(), Arc::clone(service.service())));
    let keeping = Keeping {
        service,
        process,
        closing: closing.clone(),
        gone: sender,
    };
    windlass_task::spawn(keeping.run(ended));
    ServerConnection {
        peer,
        gone,
        retired: AtomicBool::new(false),
        opened: Instant::now(),
        _ended_with_us: closing.drop_guard(),
    }
}

/// Subscribes to changes, for protocol versions that require it. In earlier
/// versions, servers send them unasked.
async fn listen(peer: Peer<RoleClient>, handler: Arc<Handler>) {
    let Some(info) = peer.peer_info() else {
        return;
    };
    if info.protocol_version.has_initialize() {
        return;
    }
    let capabilities = &info.capabilities;
    let mut wanted = SubscriptionFilter::new();
    let tools = capabilities.tools.as_ref();
    wanted.tools_list_changed = tools.and_then(|tools| tools.list_changed);
    let prompts = capabilities.prompts.as_ref();
    wanted.prompts_list_changed = prompts.and_then(|prompts| prompts.list_changed);
    let resources = capabilities.resources.as_ref();
    wanted.resources_list_changed = resources.and_then(|resources| resources.list_changed);
    let flags = [
        wanted.tools_list_changed,
        wanted.prompts_list_changed,
        wanted.resources_list_changed,
    ];
    if !flags.contains(&Some(true)) {
        return;
    }
    let Ok(mut subscription) = peer.listen(wanted).await else {
        return;
    };
    while let Ok(Some(notification)) = subscription.next().await {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => {
                handler.tools_changed(&peer).await;
            }
            ServerNotification::PromptListChangedNotification(_) => {
                handler.publish(ServerNews::Prompts);
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                handler.publish(ServerNews::Resources);
            }
            _ => {}
        }
    }
}

/// Looks after a connection until it ends.
struct Keeping {
    service: Service,
    process: Option<Process>,
    closing: CancellationToken,
    gone: watch::Sender<Option<Arc<str>>>,
}

impl Keeping {
    async fn run(self, ended: impl FnOnce(&str)) {
        let cancel = self.service.cancellation_token();
        let process = self.process.as_ref();
        let exited = async {
            match process {
                Some(process) => process.wait().await,
                None => std::future::pending().await,
            }
        };
        let mut served = Box::pin(self.service.waiting());
        let why = tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            exit = exited => {
                let _ = timeout(LAST_WORDS, &mut served).await;
                process.map(|process| exited_with(process, &exit))
            }
            _ = &mut served => Some(closed(process).await),
        };
        if let Some(why) = &why {
            ended(why);
        }
        let told = why.unwrap_or_else(|| "Windlass closed the connection".to_owned());
        self.gone.send_replace(Some(told.into()));
        cancel.cancel();
        // A server is asked to leave by the end of its input.
        drop(served);
        if let Some(process) = process {
            process.end(GRACE).await;
        }
    }
}

/// The reason for the end of a server whose output has ended.
async fn closed(process: Option<&Process>) -> String {
    let Some(process) = process else {
        return "it closed the connection".to_owned();
    };
    match timeout(LAST_WORDS, process.wait()).await {
        Ok(exit) => exited_with(process, &exit),
        Err(_) => "it closed its output".to_owned(),
    }
}

fn exited_with(process: &Process, exit: &Exit) -> String {
    let exit = match exit {
        Exit::Code(code) => format!("exited with code {code}"),
        Exit::Signal(number) => format!("ended by signal {number}"),
        Exit::Lost(why) => why.clone(),
    };
    match process.output().last_line(Stream::Stderr) {
        Some(line) => format!("{exit}: {line}"),
        None => exit,
    }
}
