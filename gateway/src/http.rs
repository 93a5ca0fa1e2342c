//! HTTP towards agents and towards operators: two listeners, and the layers before each.

pub(crate) mod admin;
pub(crate) mod answer;
pub(crate) mod batch;
mod endpoint;
mod guard;
pub(crate) mod listener;
pub(crate) mod message;
mod report;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State},
    http::StatusCode,
    middleware,
    response::{IntoResponse as _, Response},
    routing::{any, get},
};

pub(crate) use self::guard::Allowed;
use crate::{mcp::profile::Profile, metrics::Metrics, serving::Live};

/// What the public address is served from.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) live: Live,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) allowed: Arc<Allowed>,
    pub(crate) router: Arc<Profile>,
}

/// The public address. Layers from the outside in:
/// 1. `guard`: who may address us at all (Host) and from which pages (Origin). First, because
///    everything below would answer a rebinding page.
/// 2. the routes, each of which bounds the body it reads.
pub(crate) fn public(app: App) -> Router {
    Router::new()
        .route("/mcp/router", any(router))
        .route("/mcp/servers/{namespace}", any(server))
        .route("/api/servers", get(servers))
        .fallback(nowhere)
        .layer(middleware::from_fn_with_state(Arc::clone(&app.allowed), guard::guard))
        .with_state(app)
}

async fn router(State(app): State<App>, request: Request) -> Response {
    let profile = Arc::clone(&app.router);
    endpoint::serve(&app, profile, request).await
}

async fn server(
    State(app): State<App>,
    Path(namespace): Path<String>,
    request: Request,
) -> Response {
    endpoint::serve(&app, Arc::new(Profile::Server(namespace)), request).await
}

/// What is known of every server, for people and probes.
async fn servers(State(app): State<App>) -> Response {
    let body = report::report(&app.live.load()).to_string();
    ([("content-type", "application/json"), ("cache-control", "no-store")], body).into_response()
}

async fn nowhere() -> Response {
    let text = "not found; MCP is served at /mcp/router and /mcp/servers/{namespace}\n";
    (StatusCode::NOT_FOUND, text).into_response()
}
