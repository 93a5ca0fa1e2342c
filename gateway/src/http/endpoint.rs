//! One MCP endpoint over streamable HTTP: a body in, JSON or events out.

use std::{sync::Arc, time::Duration};

use axum::{
    body,
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::future::join_all;
use tokio::{sync::mpsc, time::timeout};

use super::{App, answer, message::Message};
use crate::{
    failure::Failure,
    mcp::{
        exchange::{Answered, Exchange},
        greet,
        message::{self, Body, Message as Received, Refused},
        modern::{self, Speaker},
        profile::Profile,
        version,
    },
};

/// Largest body of a request, in bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// How long a client may take to send a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// Notices that wait for a slow reader before the server is made to wait.
const NOTICES: usize = 16;

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
    if !greet::exists(&serving, &profile) {
        let Profile::Server(name) = &*profile else { unreachable!("the router always exists") };
        let refused = Refused::anonymous(Failure::UnknownServer(name.clone()));
        return (StatusCode::NOT_FOUND, answer::refusal(refused)).into_response();
    }
    let announced = headers.get(modern::PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
    let exchange = |request, headers, notices| Exchange {
        serving: Arc::clone(&serving),
        profile: Arc::clone(&profile),
        metrics: Arc::clone(&app.metrics),
        headers: Some(headers),
        request,
        notices,
    };
    match Body::parse(&bytes) {
        Err(refused) => answer::refusal(refused),
        Ok(Body::Batch(_)) if !version::has_batches(announced) => answer::refusal(
            Refused::anonymous(Failure::NotARequest("this protocol version has no batches")),
        ),
        Ok(Body::Batch(items)) => {
            batch(items, |request| exchange(request, headers.clone(), None)).await
        }
        Ok(Body::One(Received::Request(request))) if takes_events(&headers) => {
            let (notices, received) = mpsc::channel(NOTICES);
            answer::stream_or_single(exchange(request, headers, Some(notices)), received).await
        }
        Ok(Body::One(Received::Request(request))) => {
            answer::single(exchange(request, headers, None).answer().await)
        }
        // Nothing is remembered of a client, so there is nothing to notify.
        Ok(Body::One(Received::Notification(_) | Received::Response)) => {
            StatusCode::ACCEPTED.into_response()
        }
    }
}

async fn batch(
    items: Vec<Result<Received, Refused>>,
    exchange: impl Fn(message::Request) -> Exchange,
) -> Response {
    let answers = items.into_iter().filter_map(|item| match item {
        Ok(Received::Request(request)) => Some(Ok(exchange(request))),
        Ok(Received::Notification(_) | Received::Response) => None,
        Err(refused) => Some(Err(refused)),
    });
    let answers = join_all(answers.map(async |item| match item {
        Ok(exchange) => Message::new(exchange.answer().await).into_bytes(),
        Err(Refused { id, failure }) => {
            let outcome = Err(failure);
            Message::new(Answered { id, speaker: Speaker::Legacy, outcome }).into_bytes()
        }
    }));
    let answers: Vec<Bytes> = answers.await;
    if answers.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    answer::json(StatusCode::OK, Bytes::from([&b"["[..], &answers.join(&b","[..]), b"]"].concat()))
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
