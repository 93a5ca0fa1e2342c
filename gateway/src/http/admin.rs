//! The operators' address: liveness, readiness, metrics. Agents never reach it.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::get,
};

use crate::{metrics::Metrics, serving::Live};

pub(crate) fn admin(live: Live, metrics: Arc<Metrics>) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(render))
        .with_state((live, metrics))
}

/// Ready once every server of the first snapshot has been tried; an unreachable one does not
/// keep the others from being served.
async fn readyz(State((live, _)): State<(Live, Arc<Metrics>)>) -> Response {
    let serving = live.load();
    if serving.ready {
        return "ok\n".into_response();
    }
    let waiting: Vec<&str> = serving
        .statuses
        .iter()
        .filter(|status| status.is_pending())
        .map(|status| status.object.name.as_str())
        .collect();
    let text = format!("not ready: not yet tried: {}\n", waiting.join(", "));
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}

async fn render(State((live, metrics)): State<(Live, Arc<Metrics>)>) -> Response {
    ([("content-type", "text/plain; version=0.0.4")], metrics.render(&live.load())).into_response()
}
