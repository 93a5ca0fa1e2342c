//! One tool call as the server must see it: its own name for the tool, its own era's metadata,
//! our id as progress token. Arguments pass through as they were written.

use std::pin::pin;

use serde_json::Value;
use surface::{
    doc::Era,
    members::{Members, quoted},
    tool::Tool,
};
use tokio::sync::mpsc;

use crate::{
    Answer, RawJson, UpstreamError, connection::Connection, handshake::own_info, request::Request,
    version,
};

const META: &str = "_meta";
const PROGRESS_TOKEN: &str = "progressToken";
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PER_REQUEST: [&str; 4] = [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL];

/// Notices of one call that may wait to be taken; more are lost.
const NOTICES: usize = 256;

/// A tool call of an agent.
#[derive(Debug)]
pub struct Call<'a> {
    pub tool: &'a Tool,
    /// The client's `params` object as it was written.
    pub params: &'a str,
    /// Progress and log messages of this call, as whole JSON-RPC notifications with the client's
    /// own progress token.
    pub notices: Option<mpsc::Sender<RawJson>>,
}

impl Call<'_> {
    pub(super) async fn send(&self, connection: &Connection) -> Result<Answer, UpstreamError> {
        let id = connection.next_id();
        let era = connection.greeting().era;
        // The client's params were read once to get here; a failure is a fault of ours.
        let params = Members::parse(self.params).map_err(|_| UpstreamError::Nonsense)?;
        let meta = params.get(META).and_then(|meta| Members::parse(meta).ok());
        let token = meta.as_ref().and_then(|meta| meta.get(PROGRESS_TOKEN));
        let request = Request {
            id,
            method: "tools/call",
            params: upstream_params(params.clone(), meta.clone(), self.tool, era, id),
            name: Some(&self.tool.upstream_name),
            param_headers: self.param_headers(&params),
            notices: None,
        };
        let (Some(notices), token) = (&self.notices, token.unwrap_or("null")) else {
            return connection.request(request).await;
        };
        // Log messages are for clients that asked for them in this request.
        let logs = meta.as_ref().is_some_and(|meta| meta.get(LOG_LEVEL).is_some());
        let (sender, mut received) = mpsc::channel(NOTICES);
        let mut answer = pin!(connection.request(Request { notices: Some(sender), ..request }));
        loop {
            tokio::select! {
                // What was said before the answer is told before it.
                biased;
                Some(notice) = received.recv() => relay(notices, &notice, token, logs),
                answer = &mut answer => {
                    // Both may have come in one piece.
                    while let Ok(notice) = received.try_recv() {
                        relay(notices, &notice, token, logs);
                    }
                    return answer;
                }
            }
        }
    }

    fn param_headers(&self, params: &Members<'_>) -> Vec<(String, String)> {
        if self.tool.param_headers.is_empty() {
            return Vec::new();
        }
        let arguments = params.get("arguments").and_then(|text| serde_json::from_str(text).ok());
        let arguments: Value = arguments.unwrap_or_default();
        let headers = self.tool.param_headers.iter();
        headers
            .filter_map(|header| Some((header.name.clone(), header.value(&arguments)?)))
            .collect()
    }
}

fn upstream_params(
    params: Members<'_>,
    meta: Option<Members<'_>>,
    tool: &Tool,
    era: Era,
    id: u64,
) -> String {
    let name = quoted(&tool.upstream_name);
    let (info, version, id) = (own_info(), quoted(version::MODERN), id.to_string());
    // Bound again for the shorter life of what is put in.
    let (mut params, mut meta) = (params, meta.unwrap_or_default());
    if meta.get(PROGRESS_TOKEN).is_some() {
        meta.set(PROGRESS_TOKEN, &id);
    }
    match era {
        Era::Modern => {
            // A legacy client cannot answer what a modern server may ask within a call, so for
            // it no capabilities are claimed.
            for (key, default) in [(CLIENT_INFO, info.as_str()), (CLIENT_CAPABILITIES, "{}")] {
                if meta.get(key).is_none() {
                    meta.set(key, default);
                }
            }
            meta.set(PROTOCOL_VERSION, &version);
        }
        Era::Legacy => PER_REQUEST.iter().for_each(|key| meta.remove(key)),
    }
    let meta_text = meta.to_string();
    params.set("name", &name);
    if meta.is_empty() {
        params.remove(META);
    } else {
        params.set(META, &meta_text);
    }
    params.to_string()
}

/// Hands a notice on without waiting: a client that reads slowly loses notices, not the time its
/// call has.
fn relay(notices: &mpsc::Sender<RawJson>, notice: &RawJson, token: &str, logs: bool) {
    if let Some(notice) = for_client(notice, token, logs) {
        let _ = notices.try_send(notice);
    }
}

/// A notice as the client may see it: progress under its own token, log messages as they are, if
/// at all.
fn for_client(notice: &RawJson, token: &str, logs: bool) -> Option<RawJson> {
    let mut message = Members::parse(notice.as_str()).ok()?;
    if message.get("method") != Some(r#""notifications/progress""#) {
        return logs.then(|| notice.clone());
    }
    let mut params = Members::parse(message.get("params")?).ok()?;
    params.set(PROGRESS_TOKEN, token);
    let params = params.to_string();
    message.set("params", &params);
    Some(RawJson::from(message.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::value::RawValue;

    use super::*;

    fn check(era: Era, params: &str, expected: &str) {
        let raw = r#"{"name":"git.log","inputSchema":{"type":"object"}}"#;
        let raw: Arc<RawValue> = RawValue::from_string(raw.to_owned()).unwrap().into();
        let tool = Tool::read(&"git".parse().unwrap(), &raw).unwrap();
        let parsed = Members::parse(params).unwrap();
        let meta = parsed.get(META).map(|meta| Members::parse(meta).unwrap());
        let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
        assert_eq!(upstream_params(parsed.clone(), meta, &tool, era, 7), expected);
    }

    #[test]
    fn a_legacy_server_sees_no_modern_metadata() {
        check(
            Era::Legacy,
            concat!(
                r#"{"name":"git__log","arguments":{"n":1.0, "z":2e2},"_meta":"#,
                r#"{"progressToken":"p","traceparent":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                r#""io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}}}"#
            ),
            r#"{"name":"git.log","arguments":{"n":1.0, "z":2e2},"_meta":{"progressToken":7,"traceparent":"t"}}"#,
        );
        check(Era::Legacy, r#"{"name":"git__log"}"#, r#"{"name":"git.log"}"#);
    }

    #[test]
    fn a_modern_server_sees_the_clients_own_metadata_or_ours() {
        check(
            Era::Modern,
            concat!(
                r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c"},"#,
                r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},"#,
                r#""name":"git__log","inputResponses":{"a":1},"requestState":"s"}"#
            ),
            concat!(
                r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c"},"#,
                r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"#,
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28"},"#,
                r#""name":"git.log","inputResponses":{"a":1},"requestState":"s"}"#
            ),
        );
        check(
            Era::Modern,
            r#"{"name":"git__log"}"#,
            concat!(
                r#"{"name":"git.log","_meta":{"io.modelcontextprotocol/clientInfo":"#,
                r#"{"name":"portreeve","version":"VERSION"},"#,
                r#""io.modelcontextprotocol/clientCapabilities":{},"#,
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#
            ),
        );
    }

    #[test]
    fn progress_comes_back_under_the_clients_token() {
        let notice =
            r#"{"method":"notifications/progress","params":{"progressToken":7,"progress":1.0}}"#;
        let shown = for_client(&RawJson::from(notice.to_owned()), r#""mine""#, false).unwrap();
        assert_eq!(
            shown.as_str(),
            r#"{"method":"notifications/progress","params":{"progressToken":"mine","progress":1.0}}"#
        );
        let log = RawJson::from(r#"{"method":"notifications/message","params":{}}"#.to_owned());
        assert_eq!(for_client(&log, "null", false), None, "nobody asked for it");
        assert_eq!(for_client(&log, "null", true), Some(log));
    }
}
