//! Reads everything a server lists, page by page, within bounds.

use std::{collections::HashSet, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::value::RawValue;
use surface::{
    digest::Digest,
    doc::{Era, ListingDoc},
    members::quoted,
};

use crate::{UpstreamError, connection::Connection, handshake::own_meta, request::Request};

/// Bounds of one listing. Real servers stay far below; a server that does not end is a fault.
const MAX_PAGES: usize = 1_000;
const MAX_TOOLS: usize = 20_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;
const MAX_CURSOR: usize = 4096;

/// A whole listing, and how long the server says it may be trusted.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) listing: ListingDoc,
    pub(crate) ttl: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    tools: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
    ttl_ms: Option<f64>,
}

pub(crate) async fn list(connection: &Connection) -> Result<Listed, UpstreamError> {
    let greeting = connection.greeting();
    let (tools, ttl) =
        if greeting.offers().tools { tools(connection).await? } else { (Vec::new(), None) };
    let listing = ListingDoc {
        era: greeting.era,
        protocol_version: greeting.protocol_version.clone(),
        server_info: greeting.server_info.clone(),
        capabilities: greeting.capabilities.clone(),
        instructions: greeting.instructions.clone(),
        tools,
    };
    Ok(Listed { listing, ttl })
}

type Tools = Vec<Arc<RawValue>>;

async fn tools(connection: &Connection) -> Result<(Tools, Option<Duration>), UpstreamError> {
    let endless = |why: String| Err(UpstreamError::EndlessListing(why));
    let mut tools: Tools = Vec::new();
    let mut bytes = 0;
    let mut ttl: Option<Duration> = None;
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let (page, size) = page(connection, cursor.as_deref()).await?;
        bytes += size;
        tools.extend(page.tools.into_iter().map(Arc::from));
        if tools.len() > MAX_TOOLS || bytes > MAX_BYTES {
            return endless(format!("more than {MAX_TOOLS} tools or {MAX_BYTES} bytes"));
        }
        let page_ttl = page.ttl_ms.map(|ms| Duration::from_secs_f64(ms.clamp(0.0, 1e9) / 1e3));
        ttl = [ttl, page_ttl].into_iter().flatten().min();
        match page.next_cursor {
            None => return Ok((tools, ttl)),
            Some(next) if next.len() > MAX_CURSOR => {
                return endless(format!("a cursor of more than {MAX_CURSOR} bytes"));
            }
            Some(next) if !seen.insert(Digest::of(&next)) => {
                return endless("it gave the same cursor twice".to_owned());
            }
            next => cursor = next,
        }
    }
    endless(format!("more than {MAX_PAGES} pages"))
}

/// One page, and its size in bytes.
async fn page(
    connection: &Connection,
    cursor: Option<&str>,
) -> Result<(Page, usize), UpstreamError> {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, quoted(cursor)));
    let meta = match connection.greeting().era {
        Era::Modern => Some(format!(r#""_meta":{}"#, own_meta())),
        Era::Legacy => None,
    };
    let members: Vec<String> = [cursor, meta].into_iter().flatten().collect();
    let params = format!("{{{}}}", members.join(","));
    let request = Request::plain(connection.next_id(), "tools/list", params);
    match connection.request(request).await? {
        Ok(result) => match serde_json::from_str(result.as_str()) {
            Ok(page) => Ok((page, result.as_str().len())),
            Err(_) => Err(UpstreamError::Nonsense),
        },
        Err(error) => Err(UpstreamError::ListingRefused(format!("code {}", error.code))),
    }
}
