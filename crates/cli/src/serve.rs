//! `windlass serve`: the runtime over HTTP, and all runtimes of this machine.
//!
//! Start at [`run`]. The server may replace another one (`--replace`,
//! `replacing.rs`), and resumes the sessions with kept handles of an earlier
//! one (`taking_up.rs`).

mod greeting;
mod place;
mod replacing;
mod taking_up;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;
use windlass_control::{Api, ControlSocket, EventLogs, HandoverSocket, Predecessor, run_dir};
use windlass_process::peer_is_tool;
use windlass_serve_http::Token;
use windlass_serve_mcp::{HttpSessions, McpServer};

use crate::args::{Global, ServeArgs};
use crate::ask::ProjectModels;
use crate::control;
use crate::drive::over_http::Drivers;
use crate::host_survey::ProjectHosts;
use crate::setup;
use crate::signals::Signals;
use crate::stdout::errln;
use crate::trust;
use crate::{mcp, mcp_http};
use place::ServerPlace;

/// The name of this front end for the sessions of a server.
const FRONT_END: &str = "serve";
/// The grace period of tools when the server ends.
const GRACE: Duration = Duration::from_secs(2);
/// The time limit for open requests of a server that ends, after its sessions
/// have ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Creates the runtime. Agents on `/mcp` may provide their model to MCP
/// servers.
async fn set_up(global: &Global) -> anyhow::Result<Windlass> {
    trust::ask_if_untrusted(global).await?;
    setup::build(setup::builder(global)?.lends_clients()).await
}

pub(crate) async fn run(global: &Global, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    if args.replace {
        crate::person::only("serve --replace")?;
    }
    let preparing = async {
        let windlass = Arc::new(set_up(global).await?);
        setup::await_trust(&windlass, global)?;
        setup::warn_of_record(&windlass);
        Preparation::prepare(args, windlass).await
    };
    let prepared = tokio::select! {
        prepared = preparing => prepared?,
        code = signals.next() => return Ok(ExitCode::from(code)),
    };
    let mut serving = prepared.begin(global).await?;
    let outcome = loop {
        tokio::select! {
            code = signals.next() => break Ok(ExitCode::from(code)),
            handed_over = serving.hand_over() => match handed_over {
                Ok(false) => {}
                Ok(true) => break Ok(ExitCode::SUCCESS),
                Err(error) => break Err(error),
            }
        }
    };
    signals.finish(serving.end()).await;
    outcome
}

/// Everything that a server prepares before it takes its place.
struct Preparation {
    args: ServeArgs,
    windlass: Arc<Windlass>,
    folder: PathBuf,
    predecessor: Option<Predecessor>,
    place: Option<ServerPlace>,
    token: Token,
    token_file: PathBuf,
}

impl Preparation {
    async fn prepare(args: ServeArgs, windlass: Arc<Windlass>) -> anyhow::Result<Self> {
        let state = windlass::state_dir();
        let folder = run_dir(&state);
        let predecessor = replacing::find(&args, &windlass, &folder).await?;
        let inherited = predecessor.as_ref().and_then(|it| it.listener.as_ref());
        let place = match inherited {
            _ if args.socket => None,
            Some(listener) => Some(ServerPlace::taken(&args, listener.try_clone()?)?),
            None => Some(ServerPlace::new(&args)?),
        };
        let token_file = state.join("token");
        let token = Token::load(&token_file)
            .with_context(|| format!("the token in `{}` cannot be used", token_file.display()))?;
        Ok(Self {
            args,
            windlass,
            folder,
            predecessor,
            place,
            token,
            token_file,
        })
    }

    /// Takes the place, resumes the sessions that were left, and serves. On
    /// failure, everything is left for another server.
    async fn begin(mut self, global: &Global) -> anyhow::Result<Serving> {
        if let Some(predecessor) = &mut self.predecessor {
            predecessor.take().await?;
        }
        let api = interface(&self.windlass, &self.folder);
        taking_up::take_up(&self.windlass, &api).await;
        match self.serve(global, &api).await {
            Ok(serving) => Ok(serving),
            Err(error) => {
                api.let_go_of_events();
                api.leave_kept().await;
                Err(error)
            }
        }
    }

    async fn serve(self, global: &Global, api: &Api) -> anyhow::Result<Serving> {
        let (closing, clients_stop) = (CancellationToken::new(), CancellationToken::new());
        let (mcp, mcp_sessions) =
            mcp_http::nested(&mcp_server(&self.windlass), clients_stop.clone());
        let drivers = Drivers::new(&self.windlass, clients_stop.clone());
        let place = match self.place {
            Some(place) => {
                let beside = drivers.router().nest_service("/mcp", mcp);
                let router = place.router(&self.args, api, beside, self.token.clone())?;
                Some((place, router))
            }
            None => None,
        };
        let doors = open(&self.folder, api, place.as_ref(), &closing)?;
        let serving = Serving {
            args: self.args,
            windlass: self.windlass,
            api: api.clone(),
            folder: self.folder,
            place,
            doors,
            mcp_sessions,
            drivers,
            clients_stop,
            closing,
        };
        serving.greet(global, &self.token, &self.token_file)?;
        if let Some(predecessor) = self.predecessor {
            let pid = predecessor.offer.pid;
            // Fails if the predecessor has ended.
            let _ = predecessor.is_up().await;
            errln!("windlass: this server has replaced process {pid}");
        }
        taking_up::forget_the_rest(&serving.windlass, api);
        Ok(serving)
    }
}

/// A running server.
struct Serving {
    args: ServeArgs,
    windlass: Arc<Windlass>,
    api: Api,
    folder: PathBuf,
    /// Its port, unless it has only a control socket.
    place: Option<(ServerPlace, Router)>,
    doors: Doors,
    mcp_sessions: HttpSessions,
    drivers: Drivers,
    /// Ends the streams of MCP clients and the connections of drivers.
    clients_stop: CancellationToken,
    /// Closes all connections.
    closing: CancellationToken,
}

/// The listeners of a server.
#[derive(Default)]
struct Doors {
    control: Option<ControlSocket>,
    handover: Option<HandoverSocket>,
    /// Ends when all connections of the port have ended.
    port: Option<JoinHandle<()>>,
}

impl Serving {
    fn greet(&self, global: &Global, token: &Token, token_file: &Path) -> anyhow::Result<()> {
        let control = self.doors.control.as_ref();
        let socket = control.map_or(Path::new(""), ControlSocket::path);
        match &self.place {
            None => greeting::say_socket(global, socket),
            Some((place, _)) if global.json => greeting::say_json(&place.url()?, token, socket),
            Some((place, _)) => greeting::say(&self.args, &place.url()?, token, token_file),
        }
    }

    /// Waits for a process that requests the place, and hands it over. Returns
    /// whether that process has it; otherwise this server continues.
    async fn hand_over(&mut self) -> anyhow::Result<bool> {
        let Some(handover) = &self.doors.handover else {
            return std::future::pending().await;
        };
        let mut successor = handover.next().await;
        if let Some(why) = replacing::refusal(self, &successor.request) {
            successor.refuse(&why).await;
            return Ok(false);
        }
        if let Err(error) = replacing::offer(self, &mut successor).await {
            errln!("windlass: not replaced: {error:#}");
            return Ok(false);
        }
        self.leave().await;
        match successor.hand_over().await {
            Ok(()) => {
                errln!("windlass: another process has replaced this server");
                Ok(true)
            }
            Err(error) => {
                errln!("windlass: the new server did not start, so this one continues: {error}");
                self.come_back().await?;
                Ok(false)
            }
        }
    }

    /// Stops accepting connections, and releases everything that the successor
    /// continues.
    async fn leave(&mut self) {
        self.api.leave();
        if let Some(control) = &self.doors.control {
            control.leave();
        }
        self.api.let_go_of_events();
        self.api.leave_kept().await;
    }

    /// Takes back everything that was released.
    async fn come_back(&mut self) -> anyhow::Result<()> {
        self.api.come_back();
        if let Err(error) = self.api.take_events_back() {
            errln!("windlass: events are no longer written to disk: {error}");
        }
        taking_up::take_up(&self.windlass, &self.api).await;
        // Dropping them removes their files.
        self.doors = Doors::default();
        self.doors = open(&self.folder, &self.api, self.place.as_ref(), &self.closing)?;
        Ok(())
    }

    /// Ends everything that is not kept. Open requests are answered.
    async fn end(mut self) {
        self.leave().await;
        let ending = async { tokio::join!(self.api.close(GRACE), self.mcp_sessions.close(GRACE)) };
        ending.await;
        self.clients_stop.cancel();
        self.drivers.closed(GRACE).await;
        if let Some(port) = self.doors.port.take() {
            // Longer requests are cut off.
            let _ = tokio::time::timeout(LAST_WORDS, port).await;
        }
        self.closing.cancel();
    }
}

/// MCP under `/mcp`. Returning clients find their kept handles.
fn mcp_server(windlass: &Arc<Windlass>) -> McpServer {
    mcp::server(windlass, None, None).with_succession(mcp::succession(windlass))
}

/// The interface, which continues the events of an earlier server.
fn interface(windlass: &Arc<Windlass>, folder: &Path) -> Api {
    let opening = Arc::clone(windlass);
    let api = Api::new(windlass.runtime(), FRONT_END)
        .opening(Arc::new(move |options| opening.session(options)))
        .reaching(folder)
        .holding(windlass.kept().clone())
        .asking(Arc::new(ProjectModels::new(windlass)))
        .surveying(Arc::new(ProjectHosts::new(windlass)));
    let api = control::looking_again(windlass, control::recalling(windlass, api));
    if !taking_up::can_keep(windlass) {
        return api;
    }
    match EventLogs::open(&taking_up::folder(windlass)) {
        Ok(logs) => api.keeping_events(logs),
        Err(error) => {
            errln!(
                "windlass: events cannot be written to disk, so the next server will not have \
                    them: {error}"
            );
            api
        }
    }
}

fn open(
    folder: &Path,
    api: &Api,
    place: Option<&(ServerPlace, Router)>,
    closing: &CancellationToken,
) -> anyhow::Result<Doors> {
    let control = ControlSocket::listen(folder, api, peer_is_tool)
        .context("the control socket cannot be created")?;
    let handover = HandoverSocket::listen(folder, peer_is_tool)
        .context("the handover socket cannot be created")?;
    let port = match place {
        Some((place, router)) => Some(place.serve(router.clone(), api, closing.clone())?),
        None => None,
    };
    Ok(Doors {
        control: Some(control),
        handover: Some(handover),
        port,
    })
}
