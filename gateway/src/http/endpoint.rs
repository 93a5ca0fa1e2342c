//! One MCP endpoint over streamable HTTP: a body in, JSON or events out.

use std::{sync::Arc, time::Duration};

use axum::{
    body,
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use tokio::time::timeout;

use super::{App, answer, batch};
use crate::{
    failure::Failure,
    mcp::{
        exchange::Exchange,
        message::{Body, Message as Received, Refused},
        modern,
        profile::Profile,
        version,
    },
};

/// Largest body of a request, in bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// How long a client may take to send a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

pub(super) async fn serve(app: &App, profile: Arc<Profile>, request: Request) -> Response {
    if request.method() != Method::POST {
        // Neither sessions nor a standalone stream: nothing to get, nothing to delete.
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")]).into_response();
    }
    let (Parts { headers, .. }, body) = request.into_parts();
    if let Err((status, why)) = check_types(&headers) {
        return (status, format!("{why}\n")).into_response();
    }
    let bytes = match timeout(BODY_PATIENCE, body::to_bytes(body, MAX_BODY)).await {
        Ok(Ok(bytes)) => bytes,
        // Or the client has gone, and reads no answer.
        Ok(Err(_)) => {
            return answer::refusal(Refused::anonymous(Failure::TooLarge { limit: MAX_BODY }));
        }
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let serving = app.live.load();
    if let Err(failure) = profile.check(&serving) {
        let refusal = answer::refusal(Refused::anonymous(failure));
        return (StatusCode::NOT_FOUND, refusal).into_response();
    }
    let announced = headers.get(modern::PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
    let exchange = |request, headers| Exchange {
        serving: Arc::clone(&serving),
        profile: Arc::clone(&profile),
        metrics: Arc::clone(&app.metrics),
        headers: Some(headers),
        request,
        notices: None,
    };
    match Body::parse(&bytes) {
        Err(refused) => answer::refusal(refused),
        Ok(Body::Batch(_)) if !version::has_batches(announced) => answer::refusal(
            Refused::anonymous(Failure::NotARequest("this protocol version has no batches")),
        ),
        Ok(Body::Batch(items)) => {
            match batch::answer(items, |request| exchange(request, headers.clone())).await {
                Some(answers) => answer::json(StatusCode::OK, answers),
                None => StatusCode::ACCEPTED.into_response(),
            }
        }
        Ok(Body::One(Received::Request(request))) if takes_events(&headers) => {
            answer::stream_or_single(exchange(request, headers)).await
        }
        Ok(Body::One(Received::Request(request))) => {
            answer::single(exchange(request, headers).answer().await)
        }
        // Nothing is remembered of a client, so there is nothing to notify.
        Ok(Body::One(Received::Notification(_) | Received::Response)) => {
            StatusCode::ACCEPTED.into_response()
        }
    }
}

/// Refuses what cannot be meant for us, and what could not read our answer.
fn check_types(headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let essence = text(header::CONTENT_TYPE).map(|t| t.split(';').next().unwrap_or(t).trim());
    if !essence.is_some_and(|t| t.eq_ignore_ascii_case("application/json")) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type must be application/json"));
    }
    let readable = |accept: &str| {
        ["application/json", "text/event-stream", "*/*", "application/*"]
            .iter()
            .any(|t| accept.contains(t))
    };
    if text(header::ACCEPT).is_none_or(readable) {
        Ok(())
    } else {
        let why = "accept must list application/json and text/event-stream";
        Err((StatusCode::NOT_ACCEPTABLE, why))
    }
}

fn takes_events(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|accept| accept.contains("text/event-stream"))
}
