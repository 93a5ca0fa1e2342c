//! What a modern request must carry, in its body and mirrored into its headers
//! (MCP 2026-07-28, "Request Metadata" and "Server Validation").

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use surface::tool::Tool;
use upstream::mirror;

use super::{message::Request, version};
use crate::failure::Failure;

pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The members of params that decide a request's way.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) cursor: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, rename = "protocolVersion")]
    pub(crate) protocol_version: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Speaker {
    Modern,
    Legacy,
}

impl<'a> Params<'a> {
    pub(crate) fn read(request: &'a Request) -> Result<Self, Failure> {
        serde_json::from_slice(&request.params)
            .map_err(|_| Failure::InvalidParams("invalid params: a member is given twice"))
    }

    fn meta(&self) -> Meta<'a> {
        // A `_meta` that is no object holds nothing that is required of it.
        self.meta.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }
}

/// A string member as text.
pub(crate) fn text<'a>(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'a>>(raw?.get()).ok().map(|Text(text)| text)
}

/// Tells the eras apart and checks what the modern one requires.
/// `headers` are there on HTTP only; stdio carries everything in the body.
pub(crate) fn speaker(
    headers: Option<&HeaderMap>,
    request: &Request,
    params: &Params<'_>,
) -> Result<Speaker, Failure> {
    let Meta { version, capabilities } = params.meta();
    let header = headers.and_then(|headers| headers.get(PROTOCOL_VERSION));
    let announced = header.and_then(|value| value.to_str().ok());
    if version.is_none()
        && announced.is_none_or(version::is_legacy)
        && request.method != "server/discover"
    {
        return Ok(Speaker::Legacy);
    }
    let Some(version) = text(version) else {
        return Err(match announced {
            // Not a version of ours at all: say which are.
            Some(announced) if announced != version::MODERN => {
                Failure::UnsupportedVersion(announced.to_owned())
            }
            _ => Failure::MissingMeta(VERSION_KEY),
        });
    };
    if headers.is_some() {
        same("MCP-Protocol-Version", header, &version)?;
    }
    if version != version::MODERN {
        return Err(Failure::UnsupportedVersion(version.into_owned()));
    }
    if let Some(headers) = headers {
        check_headers(headers, request, params)?;
    }
    match capabilities {
        Some(raw) if raw.get().starts_with('{') => Ok(Speaker::Modern),
        _ => Err(Failure::MissingMeta(CAPABILITIES_KEY)),
    }
}

fn check_headers(
    headers: &HeaderMap,
    request: &Request,
    params: &Params<'_>,
) -> Result<(), Failure> {
    same("Mcp-Method", headers.get(METHOD), &request.method)?;
    let mirrored = match request.method.as_str() {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        _ => return Ok(()),
    };
    match text(mirrored) {
        Some(name) => same("Mcp-Name", headers.get(NAME), &name),
        // The missing name itself is reported where it is needed.
        None => Ok(()),
    }
}

fn same(name: &str, header: Option<&HeaderValue>, body: &str) -> Result<(), Failure> {
    let Some(header) = header else {
        return Err(Failure::HeaderMismatch(format!("{name} is missing")));
    };
    match header.to_str().ok().and_then(mirror::decode) {
        Some(value) if value == body => Ok(()),
        Some(value) => {
            Err(Failure::HeaderMismatch(format!("{name} is '{value}' and the body says '{body}'")))
        }
        None => Err(Failure::HeaderMismatch(format!("{name} has invalid characters"))),
    }
}

/// Checks the `Mcp-Param-…` headers that a tool's schema asks for.
pub(crate) fn check_param_headers(
    headers: &HeaderMap,
    tool: &Tool,
    arguments: Option<&RawValue>,
) -> Result<(), Failure> {
    if tool.param_headers.is_empty() {
        return Ok(());
    }
    let arguments: Value =
        arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    for expected in &tool.param_headers {
        let name = format!("Mcp-Param-{}", expected.name);
        let header = headers.get(&name);
        let decoded = header.and_then(|header| header.to_str().ok()).and_then(mirror::decode);
        let agree = match (expected.value(&arguments), header) {
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
            (Some(_), Some(_)) => {
                decoded.is_some_and(|decoded| expected.agrees(&decoded, &arguments))
            }
        };
        if !agree {
            // The value may be long or secret: the header is named, not quoted.
            let what = format!("{name} does not say what the argument says");
            return Err(Failure::HeaderMismatch(what));
        }
    }
    Ok(())
}
