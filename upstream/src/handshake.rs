//! Finding out what a server speaks, and opening the conversation (MCP 2026-07-28, "Versioning",
//! and the backward-compatibility parts of both transports).
//!
//! The SDK's types are used here and nowhere else.

use std::{sync::Arc, time::Duration};

use rmcp::model::{
    ClientCapabilities, ErrorCode, Implementation, InitializeRequestParams, ProtocolVersion,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use surface::doc::Era;

use crate::{
    UpstreamError,
    frame::{RawJson, RpcError},
    request::{Answer, DISCOVER_ID, Request},
    version::{MODERN, is_legacy},
    wire::Wire,
};

/// What a server said of itself.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) era: Era,
    pub(crate) protocol_version: String,
    pub(crate) server_info: Option<Arc<RawValue>>,
    pub(crate) capabilities: Option<Arc<RawValue>>,
    pub(crate) instructions: Option<String>,
}

/// The capabilities that decide what we ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub(crate) tools: bool,
    pub(crate) tools_list_changed: bool,
}

impl Greeting {
    pub(crate) fn offers(&self) -> Offers {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Tools {
            #[serde(default)]
            list_changed: bool,
        }
        #[derive(Deserialize)]
        struct Capabilities {
            tools: Option<Tools>,
        }
        let read = |raw: &Arc<RawValue>| serde_json::from_str::<Capabilities>(raw.get()).ok();
        match self.capabilities.as_ref().and_then(read).and_then(|found| found.tools) {
            Some(Tools { list_changed }) => {
                Offers { tools: true, tools_list_changed: list_changed }
            }
            None => Offers::default(),
        }
    }
}

/// What came of asking a server whether it is modern.
#[derive(Debug)]
pub(crate) enum Probe {
    Modern(Greeting),
    /// It is not; an `initialize` comes next.
    Legacy,
}

/// `_meta` of the requests that we make for ourselves: one fixed set of client capabilities, so
/// that a server's list does not depend on who happened to ask first.
pub(crate) fn own_meta() -> String {
    format!(
        concat!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"{version}","#,
            r#""io.modelcontextprotocol/clientInfo":{info},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}}}"#
        ),
        version = MODERN,
        info = own_info(),
    )
}

/// Our own `Implementation` object.
pub(crate) fn own_info() -> String {
    format!(r#"{{"name":"portreeve","version":"{}"}}"#, env!("CARGO_PKG_VERSION"))
}

/// Asks `server/discover`. Silence means a legacy server that waits for its `initialize`.
pub(crate) async fn discover(wire: &Wire, patience: Duration) -> Result<Probe, UpstreamError> {
    tokio::time::timeout(patience, probe(wire)).await.unwrap_or(Ok(Probe::Legacy))
}

/// The same, for as long as it takes.
pub(crate) async fn probe(wire: &Wire) -> Result<Probe, UpstreamError> {
    let params = format!(r#"{{"_meta":{}}}"#, own_meta());
    read_probe(wire.request(Request::plain(DISCOVER_ID, "server/discover", params)).await)
}

fn read_probe(outcome: Result<Answer, UpstreamError>) -> Result<Probe, UpstreamError> {
    match outcome {
        Ok(Ok(result)) => discovered(&result),
        Ok(Err(error)) if is_modern(&error) => refused_version(&error),
        // Any other error is how a server says that it does not know the method. HTTP servers say
        // it with a status alone, or close the door on a request without a session.
        Ok(Err(_)) | Err(UpstreamError::HttpStatus(400..=599) | UpstreamError::Closed) => {
            Ok(Probe::Legacy)
        }
        Err(error) => Err(error),
    }
}

fn is_modern(error: &RpcError) -> bool {
    [
        ErrorCode::HEADER_MISMATCH,
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
    ]
    .iter()
    .any(|code| i64::from(code.0) == error.code)
}

/// A modern refusal: another version of ours may do, else the two of us have none in common.
fn refused_version(error: &RpcError) -> Result<Probe, UpstreamError> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let supported = error
        .data
        .as_ref()
        .and_then(|data| serde_json::from_str::<Data>(data.as_str()).ok())
        .map(|data| data.supported)
        .unwrap_or_default();
    if supported.iter().any(|version| is_legacy(version)) {
        Ok(Probe::Legacy)
    } else {
        Err(UpstreamError::NoCommonVersion(versions(&supported)))
    }
}

fn discovered(result: &RawJson) -> Result<Probe, UpstreamError> {
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/serverInfo")]
        server_info: Option<Box<RawValue>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovered {
        supported_versions: Vec<String>,
        capabilities: Option<Box<RawValue>>,
        instructions: Option<String>,
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    let Ok(found) = serde_json::from_str::<Discovered>(result.as_str()) else {
        // A result that is no DiscoverResult: a legacy server that answers anything.
        return Ok(Probe::Legacy);
    };
    let Discovered { supported_versions, capabilities, instructions, meta } = found;
    if supported_versions.iter().any(|version| version == MODERN) {
        Ok(Probe::Modern(Greeting {
            era: Era::Modern,
            protocol_version: MODERN.to_owned(),
            server_info: meta.and_then(|meta| meta.server_info).map(Into::into),
            capabilities: capabilities.map(Into::into),
            instructions,
        }))
    } else if supported_versions.iter().any(|version| is_legacy(version)) {
        Ok(Probe::Legacy)
    } else {
        Err(UpstreamError::NoCommonVersion(versions(&supported_versions)))
    }
}

/// The params of our `initialize`: the newest version that has one.
pub(crate) fn initialize_params() -> String {
    let info = Implementation::new("portreeve", env!("CARGO_PKG_VERSION"));
    let params = InitializeRequestParams::new(ClientCapabilities::default(), info)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    serde_json::to_string(&params).unwrap_or_default()
}

/// Reads the answer to `initialize`.
pub(crate) fn initialized(answer: Answer) -> Result<Greeting, UpstreamError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
        server_info: Option<Box<RawValue>>,
        capabilities: Option<Box<RawValue>>,
        instructions: Option<String>,
    }
    let result = answer.map_err(|error| {
        UpstreamError::HandshakeRefused(format!("initialize failed with code {}", error.code))
    })?;
    let Initialized { protocol_version, server_info, capabilities, instructions } =
        serde_json::from_str(result.as_str()).map_err(|_| UpstreamError::Nonsense)?;
    if !is_legacy(&protocol_version) {
        return Err(UpstreamError::NoCommonVersion(versions(&[protocol_version])));
    }
    Ok(Greeting {
        era: Era::Legacy,
        protocol_version,
        server_info: server_info.map(Into::into),
        capabilities: capabilities.map(Into::into),
        instructions,
    })
}

/// What a server claims, cut to what a message can hold.
fn versions(claimed: &[String]) -> String {
    let shown: Vec<String> = claimed
        .iter()
        .take(5)
        .map(|version| version.chars().filter(char::is_ascii_graphic).take(16).collect())
        .collect();
    if shown.is_empty() {
        "it names none".to_owned()
    } else {
        format!("it names {}", shown.join(", "))
    }
}
