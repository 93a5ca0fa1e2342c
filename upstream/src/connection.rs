//! One conversation with one server, from its handshake to its end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::HeaderValue;
use surface::{
    credential::Credential,
    doc::{Era, EraChoice, ServerDoc, TransportDoc},
};
use tokio_util::sync::CancellationToken;

use crate::{
    UpstreamError,
    address::AddressRules,
    handshake::{self, Greeting, MODERN_VERSION, Probe},
    http::{Dialect, Endpoint, HttpWire},
    request::{Answer, FIRST_FREE_ID, INITIALIZE_ID, Request, Signals},
    stdio::{Command, StdioWire},
    wire::Wire,
};

/// Pauses before a change stream is opened again after it ended.
const REOPEN: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Connection {
    wire: Wire,
    greeting: Greeting,
    ids: AtomicU64,
    /// Cancelled when it takes no new requests; its change stream is given up then.
    retired: CancellationToken,
}

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

impl Connection {
    /// Opens one within the server's connect timeout.
    pub(crate) async fn open(opening: &Opening<'_>) -> Result<Arc<Self>, UpstreamError> {
        let patience = opening.doc.limits.connect_timeout;
        let opened = tokio::time::timeout(patience, async {
            match &opening.doc.transport {
                TransportDoc::Stdio { .. } => open_stdio(opening).await,
                TransportDoc::StreamableHttp { .. } => open_http(opening).await,
            }
        })
        .await
        .unwrap_or(Err(UpstreamError::Timeout(patience)))?;
        let (wire, greeting) = opened;
        let connection = Arc::new(Self {
            wire,
            greeting,
            ids: AtomicU64::new(FIRST_FREE_ID),
            retired: CancellationToken::new(),
        });
        if connection.greeting.offers().tools_list_changed {
            tokio::spawn(listen(Arc::downgrade(&connection)));
        }
        Ok(connection)
    }

    pub(crate) fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Answer, UpstreamError> {
        self.wire.request(request).await
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        self.wire.closed()
    }

    pub(crate) fn retire(&self) {
        self.retired.cancel();
    }

    pub(crate) async fn shutdown(&self) {
        self.retire();
        self.wire.shutdown().await;
    }
}

type Opened = (Wire, Greeting);

async fn open_stdio(opening: &Opening<'_>) -> Result<Opened, UpstreamError> {
    let wire = start(opening)?;
    let wire = match choice(opening) {
        EraChoice::Legacy => wire,
        EraChoice::Modern => return modern_only(wire, opening).await,
        EraChoice::Auto => match handshake::discover(&wire, part_of_patience(opening)).await? {
            Probe::Modern(greeting) => return Ok((wire, greeting)),
            // Some servers exit over a request they do not know.
            Probe::Legacy if wire.closed().is_cancelled() => start(opening)?,
            Probe::Legacy => wire,
        },
    };
    let params = handshake::initialize_params();
    let answer = wire.request(Request::plain(INITIALIZE_ID, "initialize", params));
    let answer = match (tokio::time::timeout(part_of_patience(opening), answer).await, &wire) {
        (Ok(answer), _) => answer?,
        (Err(_), Wire::Stdio(stdio)) if stdio.only_nonsense() => {
            return Err(UpstreamError::Nonsense);
        }
        (Err(_), _) => return Err(UpstreamError::Timeout(opening.doc.limits.connect_timeout)),
    };
    let greeting = handshake::initialized(answer)?;
    wire.notify("notifications/initialized", "{}").await?;
    Ok((wire, greeting))
}

async fn open_http(opening: &Opening<'_>) -> Result<Opened, UpstreamError> {
    let endpoint = Arc::new(endpoint(opening)?);
    let wire = |dialect| HttpWire::new(Arc::clone(&endpoint), dialect, opening.signals.clone());
    let version = HeaderValue::from_static(MODERN_VERSION);
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
    Endpoint::new(crate::http::EndpointParts {
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

/// Keeps the server's change stream open for as long as the connection lives. What it brings
/// arrives as a signal; that it is missing costs only the wait for the next poll.
async fn listen(connection: std::sync::Weak<Connection>) {
    loop {
        let Some(alive) = connection.upgrade() else { return };
        let (closed, retired) = (alive.closed().clone(), alive.retired.clone());
        let again = tokio::select! {
            again = listen_once(&alive) => again,
            () = closed.cancelled() => false,
            () = retired.cancelled() => false,
        };
        // Not held over the pause: the last caller's hold decides when the connection ends.
        drop(alive);
        if !again {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(crate::schedule::jittered(REOPEN)) => {}
            () = retired.cancelled() => return,
        }
    }
}

/// Whether it is worth opening the stream again.
async fn listen_once(connection: &Connection) -> bool {
    match (&connection.wire, connection.greeting.era) {
        // A legacy process announces changes unasked.
        (Wire::Stdio(_), Era::Legacy) => false,
        (Wire::Http(wire), Era::Legacy) => {
            !matches!(wire.listen().await, Err(UpstreamError::HttpStatus(400..=499)))
        }
        (wire, Era::Modern) => {
            let params = format!(
                r#"{{"_meta":{},"notifications":{{"toolsListChanged":true}}}}"#,
                handshake::own_meta()
            );
            let request = Request::plain(connection.next_id(), "subscriptions/listen", params);
            !matches!(wire.request(request).await, Ok(Err(_)))
        }
    }
}
