//! Opens a conversation: starts or dials, finds out the era, shakes hands.

use std::{pin::pin, sync::Arc, time::Duration};

use ::http::HeaderValue;
use surface::{
    credential::Credential,
    doc::{Era, EraChoice, ServerDoc, TransportDoc},
};

use crate::{
    UpstreamError,
    address::AddressRules,
    handshake::{self, Greeting, Probe},
    http::{Dialect, Endpoint, EndpointParts, HttpWire},
    request::{INITIALIZE_ID, Request, Signals},
    stdio::{Command, StdioWire},
    version,
    wire::Wire,
};

/// Everything a connection is made from.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) doc: &'a ServerDoc,
    pub(crate) credential: &'a Credential,
    pub(crate) blocked: &'a Arc<[std::net::IpAddr]>,
    pub(crate) signals: Signals,
    /// What it was found to speak the last time, which saves asking again.
    pub(crate) known: Option<Era>,
}

/// A wire, and who is at its other end.
type Opened = (Wire, Greeting);

pub(super) async fn stdio(opening: &Opening<'_>) -> Result<Opened, UpstreamError> {
    let wire = start(opening)?;
    let greeted = match choice(opening) {
        EraChoice::Modern => return modern_only(wire, opening).await,
        EraChoice::Legacy => initialize(&wire, opening).await,
        EraChoice::Auto => greet(&wire, opening).await,
    };
    match greeted {
        Ok(greeting) => Ok((wire, greeting)),
        // Some servers exit over a request they do not know.
        Err(UpstreamError::Exited(_)) if choice(opening) == EraChoice::Auto => {
            let wire = start(opening)?;
            let greeting = initialize(&wire, opening).await?;
            Ok((wire, greeting))
        }
        Err(error) => Err(error),
    }
}

/// Asks for the modern era first and, when that stays unanswered, for the legacy one beside it: a
/// server that is slow to start answers the question it knows.
async fn greet(wire: &Wire, opening: &Opening<'_>) -> Result<Greeting, UpstreamError> {
    let mut probe = pin!(handshake::probe(wire));
    match tokio::time::timeout(part_of_patience(opening), &mut probe).await {
        Ok(Ok(Probe::Modern(greeting))) => return Ok(greeting),
        Ok(Ok(Probe::Legacy)) => return initialize(wire, opening).await,
        Ok(Err(error)) => return Err(error),
        Err(_) => {}
    }
    let mut legacy = pin!(initialize(wire, opening));
    tokio::select! {
        late = &mut probe => match late? {
            Probe::Modern(greeting) => Ok(greeting),
            Probe::Legacy => legacy.await,
        },
        greeting = &mut legacy => match greeting {
            // It answers, and not to this: the other answer is on its way.
            Err(refused @ UpstreamError::HandshakeRefused(_)) => match probe.await {
                Ok(Probe::Modern(greeting)) => Ok(greeting),
                _ => Err(refused),
            },
            greeting => greeting,
        },
    }
}

async fn initialize(wire: &Wire, opening: &Opening<'_>) -> Result<Greeting, UpstreamError> {
    let params = handshake::initialize_params();
    let answer = wire.request(Request::plain(INITIALIZE_ID, "initialize", params));
    let answer = match (tokio::time::timeout(part_of_patience(opening), answer).await, wire) {
        (Ok(answer), _) => answer?,
        (Err(_), Wire::Stdio(stdio)) if stdio.only_nonsense() => {
            return Err(UpstreamError::Nonsense);
        }
        (Err(_), _) => return Err(UpstreamError::Timeout(opening.doc.limits.connect_timeout)),
    };
    let greeting = handshake::initialized(answer)?;
    wire.notify("notifications/initialized", "{}").await?;
    Ok(greeting)
}

pub(super) async fn http(opening: &Opening<'_>) -> Result<Opened, UpstreamError> {
    let endpoint = Arc::new(endpoint(opening)?);
    let wire = |dialect| HttpWire::new(Arc::clone(&endpoint), dialect, opening.signals.clone());
    let version = HeaderValue::from_static(version::MODERN);
    let modern = || Wire::Http(wire(Dialect::Modern { version: version.clone() }));
    match choice(opening) {
        EraChoice::Legacy => {}
        EraChoice::Modern => return modern_only(modern(), opening).await,
        EraChoice::Auto => {
            let wire = modern();
            if let Probe::Modern(greeting) =
                handshake::discover(&wire, part_of_patience(opening)).await?
            {
                return Ok((wire, greeting));
            }
        }
    }
    let params = handshake::initialize_params();
    let (answer, session) = wire(Dialect::Opening)
        .exchange(Request::plain(INITIALIZE_ID, "initialize", params))
        .await?;
    let greeting = handshake::initialized(answer)?;
    let version = HeaderValue::try_from(greeting.protocol_version.as_str())
        .map_err(|_| UpstreamError::Nonsense)?;
    let wire = Wire::Http(wire(Dialect::Legacy { version, session }));
    wire.notify("notifications/initialized", "{}").await?;
    Ok((wire, greeting))
}

async fn modern_only(wire: Wire, opening: &Opening<'_>) -> Result<Opened, UpstreamError> {
    match handshake::discover(&wire, opening.doc.limits.connect_timeout).await? {
        Probe::Modern(greeting) => Ok((wire, greeting)),
        Probe::Legacy => Err(UpstreamError::NoCommonVersion(
            "spec.era is Modern and it does not answer server/discover".to_owned(),
        )),
    }
}

fn choice(opening: &Opening<'_>) -> EraChoice {
    match (opening.doc.era, opening.known) {
        (EraChoice::Auto, Some(Era::Legacy)) => EraChoice::Legacy,
        (EraChoice::Auto, Some(Era::Modern) | None) => EraChoice::Auto,
        (chosen, _) => chosen,
    }
}

/// What one of two handshakes may take: a server that is silent to the first has time for the
/// second, and what is known after both can still be told before the whole time is over.
fn part_of_patience(opening: &Opening<'_>) -> Duration {
    opening.doc.limits.connect_timeout.mul_f32(0.45)
}

fn start(opening: &Opening<'_>) -> Result<Wire, UpstreamError> {
    let TransportDoc::Stdio { command, env, cwd } = &opening.doc.transport else {
        unreachable!("chosen by transport");
    };
    let command = Command {
        argv: command,
        env,
        cwd: cwd.as_deref(),
        credential: opening.credential,
        max_line: limit(opening),
    };
    StdioWire::start(&command, opening.signals.clone()).map(Wire::Stdio)
}

fn endpoint(opening: &Opening<'_>) -> Result<Endpoint, UpstreamError> {
    let TransportDoc::StreamableHttp { url, headers, tls, allow_private_endpoint } =
        &opening.doc.transport
    else {
        unreachable!("chosen by transport");
    };
    Endpoint::new(EndpointParts {
        url,
        headers,
        tls,
        credential: opening.credential,
        rules: AddressRules {
            allow_private: *allow_private_endpoint,
            blocked: Arc::clone(opening.blocked),
        },
        connect_timeout: opening.doc.limits.connect_timeout,
        limit: limit(opening),
    })
}

fn limit(opening: &Opening<'_>) -> usize {
    usize::try_from(opening.doc.limits.max_response_bytes).unwrap_or(usize::MAX)
}
