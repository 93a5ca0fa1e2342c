//! Why a server gave no answer. What a server *answered*, errors included, is an `Answer`.
//! Texts here may be shown to agents: no secret, no path, no raw internals of a server.

use std::time::Duration;

/// A call, listing or handshake that failed on the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    #[error("no answer within {}", human(*.0))]
    Timeout(Duration),
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("its address is refused: {0}")]
    AddressRefused(String),
    #[error("its process could not be started: {0}")]
    NotStarted(String),
    #[error("its process exited{}", .0.map_or(String::new(), |code| format!(" with code {code}")))]
    Exited(Option<i32>),
    #[error("it closed the connection before answering")]
    Closed,
    #[error("it answered HTTP {0}")]
    HttpStatus(u16),
    #[error("it refuses our credential (HTTP {0})")]
    Unauthorized(u16),
    #[error("it redirects to another host, which is not followed")]
    Redirected,
    #[error("it answered with content type {0:?}; JSON or an event stream was expected")]
    WrongContentType(String),
    #[error("it answered with something that is no JSON-RPC response")]
    Nonsense,
    #[error("its answer is larger than {0} bytes")]
    TooLarge(u64),
    #[error("it refused the handshake: {0}")]
    HandshakeRefused(String),
    #[error("it speaks no protocol version that we speak: {0}")]
    NoCommonVersion(String),
    #[error("its listing does not end: {0}")]
    EndlessListing(String),
    #[error("listing its tools failed: {0}")]
    ListingRefused(String),
    #[error("it has failed {failures} times in a row; it is tried again in {}", human(*.retry_in))]
    BreakerOpen { failures: u32, retry_in: Duration },
    #[error("{0} calls are already under way")]
    Busy(u32),
}

/// What a failure means to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    Timeout,
    Unavailable,
    /// It answered, and the answer cannot be used.
    BadAnswer,
    /// One of our own limits.
    Limited,
}

impl UpstreamError {
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Timeout(_) => FailureKind::Timeout,
            Self::Unreachable(_)
            | Self::AddressRefused(_)
            | Self::NotStarted(_)
            | Self::Exited(_)
            | Self::Closed
            | Self::Redirected
            | Self::Unauthorized(_)
            | Self::HandshakeRefused(_)
            | Self::NoCommonVersion(_)
            | Self::BreakerOpen { .. } => FailureKind::Unavailable,
            Self::HttpStatus(_)
            | Self::WrongContentType(_)
            | Self::Nonsense
            | Self::TooLarge(_)
            | Self::EndlessListing(_)
            | Self::ListingRefused(_) => FailureKind::BadAnswer,
            Self::Busy(_) => FailureKind::Limited,
        }
    }

    /// The reason of a `Verified=False` condition: a closed list.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Timeout(_) => "Timeout",
            Self::Unreachable(_) => "Unreachable",
            Self::AddressRefused(_) => "AddressRefused",
            Self::NotStarted(_) => "NotStarted",
            Self::Exited(_) => "Exited",
            Self::Closed => "ConnectionClosed",
            Self::HttpStatus(_) => "HttpStatus",
            Self::Unauthorized(_) => "Unauthorized",
            Self::Redirected => "Redirected",
            Self::WrongContentType(_) => "WrongContentType",
            Self::Nonsense => "InvalidResponse",
            Self::TooLarge(_) => "ResponseTooLarge",
            Self::HandshakeRefused(_) => "HandshakeRefused",
            Self::NoCommonVersion(_) => "NoCommonVersion",
            Self::EndlessListing(_) => "EndlessListing",
            Self::ListingRefused(_) => "ListingRefused",
            Self::BreakerOpen { .. } => "BreakerOpen",
            Self::Busy(_) => "Busy",
        }
    }
}

/// `300ms`, `60s`: as a user writes durations.
fn human(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}
