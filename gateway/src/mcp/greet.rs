//! What we say of ourselves: the answers to `initialize` and `server/discover`.

use bytes::Bytes;
use serde_json::{Value, json};
use surface::snapshot::{Heard, LIST_TTL_MS};

use super::{
    modern::{self, Params},
    profile::{self, Profile},
    version,
};
use crate::{failure::Failure, serving::Serving};

/// The identity an endpoint shows: ours, or the server's own where there is only one.
struct Identity {
    info: Value,
    instructions: Option<String>,
}

fn identity(serving: &Serving, profile: &Profile) -> Result<Identity, Failure> {
    let server = match profile {
        Profile::Router => None,
        Profile::Server(namespace) => profile::server(serving, namespace)?.heard(),
    };
    let listing = server.map(Heard::listing);
    let info = listing
        .and_then(|listing| serde_json::from_str(listing.server_info.as_ref()?.get()).ok())
        .unwrap_or_else(own_info);
    Ok(Identity { info, instructions: listing.and_then(|listing| listing.instructions.clone()) })
}

fn own_info() -> Value {
    json!({"name": "portreeve", "version": env!("CARGO_PKG_VERSION")})
}

fn capabilities() -> Value {
    json!({"tools": {}})
}

/// Result of `initialize`. Nothing is remembered: any replica answers what follows.
pub(crate) fn initialize(
    serving: &Serving,
    profile: &Profile,
    params: &Params<'_>,
) -> Result<Bytes, Failure> {
    let requested = modern::text(params.protocol_version);
    let Some(requested) = requested else {
        return Err(Failure::InvalidParams("invalid params: initialize lacks protocolVersion"));
    };
    let Identity { info, instructions } = identity(serving, profile)?;
    let mut result = json!({
        "protocolVersion": version::agree(&requested),
        "capabilities": capabilities(),
        "serverInfo": info,
    });
    add_instructions(&mut result, instructions);
    Ok(result.to_string().into())
}

/// Result of `server/discover`.
pub(crate) fn discover(serving: &Serving, profile: &Profile) -> Result<Bytes, Failure> {
    let Identity { info, instructions } = identity(serving, profile)?;
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": version::SUPPORTED,
        "capabilities": capabilities(),
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": info},
    });
    add_instructions(&mut result, instructions);
    Ok(result.to_string().into())
}

fn add_instructions(result: &mut Value, instructions: Option<String>) {
    if let Some(instructions) = instructions {
        result["instructions"] = instructions.into();
    }
}
