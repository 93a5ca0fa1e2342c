//! `serve`: puts the parts together, and takes them down in order when asked to stop.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::ServeOptions,
    config::{directory::Watch, settings::Settings},
    http::{Allowed, App, admin, listener, public},
    keeper::{Keeper, News},
    mcp::profile::Profile,
    metrics::Metrics,
    serving::Live,
};

pub(crate) async fn run(options: ServeOptions) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(&options)?;
    let metrics = Arc::new(Metrics::new()?);
    let live = Live::new();
    let (agents, operators) =
        (listener::bind(settings.listen).await?, listener::bind(settings.admin).await?);
    let app = App {
        live: live.clone(),
        metrics: Arc::clone(&metrics),
        allowed: Arc::new(Allowed {
            hosts: settings.allowed_hosts,
            origins: settings.allowed_origins,
        }),
        router: Arc::new(Profile::Router),
    };
    let backing = Backing::start(options.manifests, settings.state, &live, &metrics)?;
    let (at, status_at) = (agents.local_addr()?, operators.local_addr()?);
    tracing::info!(agents = %at, operators = %status_at, "serving MCP on http://{at}/mcp/router");
    let stop = CancellationToken::new();
    let served = async {
        tokio::join!(
            listener::serve(agents, public(app), stop.clone()),
            listener::serve(operators, admin::admin(live, metrics), stop.clone()),
        )
    };
    tokio::pin!(served);
    tokio::select! {
        _ = &mut served => {}
        reason = asked_to_stop() => {
            tracing::info!("stopping: {}", reason?);
            stop.cancel();
            served.await;
        }
    }
    backing.end().await;
    Ok(ExitCode::SUCCESS)
}

/// What stands behind any front: the manifests' follower and the keeper.
pub(crate) struct Backing {
    stop: CancellationToken,
    keeper: tokio::task::JoinHandle<()>,
}

impl Backing {
    /// Reads the manifests once, so that a wrong folder is said at once, and follows them.
    pub(crate) fn start(
        manifests: PathBuf,
        state: Option<PathBuf>,
        live: &Live,
        metrics: &Arc<Metrics>,
    ) -> anyhow::Result<Self> {
        let (keeper, news) = Keeper::new(live.clone(), Arc::clone(metrics), state);
        let sender = keeper.sender();
        let (watch, first) = Watch::start(manifests)?;
        let stop = CancellationToken::new();
        let tell = move |translation| {
            // Refused only when the keeper has stopped.
            let _ = sender.send(News::Declared(Box::new(translation)));
        };
        tell(first);
        tokio::spawn(watch.follow(stop.clone(), tell));
        let keeper = tokio::spawn(keeper.run(news, stop.clone()));
        Ok(Self { stop, keeper })
    }

    /// Ends every server that was started.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        // Fails only if it panicked, which was reported when it did.
        let _ = self.keeper.await;
    }
}

/// Resolves with the reason.
pub(crate) async fn asked_to_stop() -> std::io::Result<&'static str> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => Ok("SIGTERM"),
        _ = interrupt.recv() => Ok("interrupted"),
    }
}
