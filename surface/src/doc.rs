//! The snapshot's wire form: what the control plane writes and the data plane reads.
//! Serde and nothing else; `snapshot::compile` makes the working form. No secret value enters.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::name::Namespace;

/// The format this release writes. It reads this one and the one before.
pub const FORMAT: u32 = 1;

/// Everything a gateway needs in order to serve, as one document.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotDoc {
    /// See [`FORMAT`].
    pub format: u32,
    /// The accepted servers; one per namespace.
    pub servers: Vec<ServerDoc>,
    /// What each server said it has, as far as it has been heard.
    pub listings: BTreeMap<Namespace, Arc<ListingDoc>>,
}

impl SnapshotDoc {
    /// A document of the current format without listings.
    pub fn new(servers: Vec<ServerDoc>) -> Self {
        Self { format: FORMAT, servers, listings: BTreeMap::new() }
    }
}

/// One accepted server: where it is and how it may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerDoc {
    /// First part of every tool id of this server.
    pub namespace: Namespace,
    /// The object this came from.
    pub object: ObjectRef,
    pub transport: TransportDoc,
    pub era: EraChoice,
    pub session: SessionChoice,
    pub limits: LimitsDoc,
    pub breaker: BreakerDoc,
    /// The longest a listing is trusted; a server's own ttl is clamped to 10 s … this.
    #[serde(with = "millis")]
    pub poll_interval: Duration,
    /// Tools that must not be served, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<WithheldDoc>,
}

/// A Kubernetes object by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectRef {
    pub namespace: String,
    pub name: String,
}

/// How a server is reached. Values that come from secrets are not here but in
/// [`Credential`](crate::credential::Credential).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TransportDoc {
    /// A streamable HTTP endpoint.
    #[serde(rename_all = "camelCase")]
    StreamableHttp {
        url: String,
        /// Literal headers sent with every request.
        headers: Vec<(String, String)>,
        tls: TlsDoc,
        /// Whether loopback, private and link-local addresses may be dialled.
        allow_private_endpoint: bool,
    },
    /// A child process of a standalone gateway.
    #[serde(rename_all = "camelCase")]
    Stdio {
        /// Program and arguments.
        command: Vec<String>,
        /// Literal environment, beside PATH, HOME, LANG and TMPDIR.
        env: Vec<(String, String)>,
        cwd: Option<String>,
    },
}

/// TLS towards a server. Client certificates are secret and live in the credential.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TlsDoc {
    /// PEM certificates trusted instead of the system's.
    pub ca_bundle: Option<String>,
    /// Name expected in the certificate and sent as SNI, where it differs from the URL's host.
    pub server_name: Option<String>,
}

/// Which protocol era to speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EraChoice {
    /// Ask the server.
    #[default]
    Auto,
    Modern,
    Legacy,
}

/// Whether actors share an upstream session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionChoice {
    /// One session per actor where a legacy HTTP server hands out session ids, shared elsewhere.
    #[default]
    Auto,
    PerActor,
    Shared,
}

/// Bounds on the use of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsDoc {
    /// Calls under way at once.
    pub concurrency: u32,
    #[serde(with = "millis")]
    pub connect_timeout: Duration,
    #[serde(with = "millis")]
    pub call_timeout: Duration,
    /// Largest message accepted from the server, in bytes.
    pub max_response_bytes: u64,
}

impl Default for LimitsDoc {
    fn default() -> Self {
        Self {
            concurrency: 100,
            connect_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_mins(1),
            max_response_bytes: 4 * 1024 * 1024,
        }
    }
}

/// When to stop calling a server that keeps failing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakerDoc {
    /// Consecutive failures that open the breaker.
    pub failures: u32,
    /// How long it stays open before one call may try again.
    #[serde(with = "millis")]
    pub open_for: Duration,
}

impl Default for BreakerDoc {
    fn default() -> Self {
        Self { failures: 5, open_for: Duration::from_secs(10) }
    }
}

/// Tools that are kept from every profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithheldDoc {
    /// Globs (`*`, `?`) over the server's own tool names.
    pub tools: Vec<String>,
    /// Machine-readable cause, as in a condition: `NotImplemented`.
    pub reason: String,
    /// The same for a human.
    pub message: String,
}

/// The era a server was found to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Era {
    /// 2026-07-28 and later: stateless, metadata on every request.
    Modern,
    /// 2024-11-05 to 2025-11-25: `initialize` first.
    Legacy,
}

impl Era {
    /// As conditions, columns and metric labels spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Era::Modern => "Modern",
            Era::Legacy => "Legacy",
        }
    }
}

/// What one server said it has, exactly as it said it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListingDoc {
    pub era: Era,
    /// The protocol version in use with the server.
    pub protocol_version: String,
    /// The server's `Implementation` object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Arc<RawValue>>,
    /// The server's `ServerCapabilities` object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Arc<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Tool objects in the server's order, unknown fields and number spellings included.
    pub tools: Vec<Arc<RawValue>>,
}

/// Durations as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        u64::deserialize(d).map(Duration::from_millis)
    }
}
