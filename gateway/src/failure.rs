//! Everything that can go wrong with a request, and how each is told to a client.
//! One enum, one table; nothing else picks a code (DESIGN section 10).

use http::StatusCode;
use serde_json::{Value, json};
use surface::members::quoted;
use upstream::{RpcError, UpstreamError, error::FailureKind};

/// A cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    NotJson,
    NotARequest(&'static str),
    TooLarge {
        limit: usize,
    },
    UnknownMethod(String),
    /// The metadata that a modern request must carry.
    MissingMeta(&'static str),
    HeaderMismatch(String),
    UnsupportedVersion(String),
    InvalidParams(&'static str),
    InvalidCursor,
    NotNamespaced(String),
    UnknownServer(String),
    UnknownTool(String),
    /// A server has not been reached yet, so nobody knows its tools.
    Unlisted {
        server: String,
        because: Option<String>,
    },
    /// The same for a list, which has no room for a failure: an answer without `tools` is none.
    NoListing {
        server: String,
        because: Option<String>,
    },
    Upstream {
        tool: String,
        error: UpstreamError,
    },
    /// The server's own JSON-RPC error, names restored.
    Answered(RpcError),
}

/// How a cause is rendered: one line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) code: Code,
    /// On HTTP, towards a modern client. A legacy one gets 200 where the request could be read.
    pub(crate) status: StatusCode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// A JSON-RPC error: the request, the tool's name or we are at fault.
    Rpc(i64),
    /// A result with `isError`: something a model can read and mend.
    Tool(&'static str),
}

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

impl Failure {
    /// The table.
    pub(crate) fn row(&self) -> Row {
        let row = |code, status| Row { code, status };
        let rpc = |code, status| row(Code::Rpc(code), status);
        let tool = |code| row(Code::Tool(code), StatusCode::OK);
        match self {
            Self::NotJson => rpc(PARSE_ERROR, StatusCode::BAD_REQUEST),
            Self::NotARequest(_) => rpc(INVALID_REQUEST, StatusCode::BAD_REQUEST),
            Self::TooLarge { .. } => rpc(INVALID_REQUEST, StatusCode::PAYLOAD_TOO_LARGE),
            Self::UnknownMethod(_) => rpc(METHOD_NOT_FOUND, StatusCode::NOT_FOUND),
            Self::MissingMeta(_) => rpc(INVALID_PARAMS, StatusCode::BAD_REQUEST),
            Self::HeaderMismatch(_) => rpc(HEADER_MISMATCH, StatusCode::BAD_REQUEST),
            Self::UnsupportedVersion(_) => rpc(UNSUPPORTED_VERSION, StatusCode::BAD_REQUEST),
            Self::InvalidParams(_)
            | Self::InvalidCursor
            | Self::NotNamespaced(_)
            | Self::UnknownServer(_)
            | Self::UnknownTool(_) => rpc(INVALID_PARAMS, StatusCode::OK),
            Self::NoListing { .. } => rpc(INTERNAL_ERROR, StatusCode::OK),
            Self::Unlisted { .. } => tool("UPSTREAM_UNAVAILABLE"),
            Self::Upstream { error, .. } => tool(match error.kind() {
                FailureKind::Timeout => "UPSTREAM_TIMEOUT",
                FailureKind::Unavailable => "UPSTREAM_UNAVAILABLE",
                FailureKind::BadAnswer => "UPSTREAM_ERROR",
                FailureKind::Limited => "RATE_LIMITED",
            }),
            // The codes that the specification ties to a status keep it.
            Self::Answered(RpcError { code: code @ -32022..=-32020, .. }) => {
                rpc(*code, StatusCode::BAD_REQUEST)
            }
            Self::Answered(error) => rpc(error.code, StatusCode::OK),
        }
    }

    /// One sentence for a human. The texts about names are those of seed 2.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::NotJson => "parse error: the body is not JSON".to_owned(),
            Self::NotARequest(why) => format!("invalid request: {why}"),
            Self::TooLarge { limit } => format!("invalid request: larger than {limit} bytes"),
            Self::UnknownMethod(method) => format!("method not found: {method}"),
            Self::MissingMeta(key) => format!("invalid params: _meta lacks {key}"),
            Self::HeaderMismatch(what) => format!("header mismatch: {what}"),
            Self::UnsupportedVersion(_) => "unsupported protocol version".to_owned(),
            Self::InvalidParams(why) => (*why).to_owned(),
            Self::InvalidCursor => "invalid params: no list of ours gave this cursor".to_owned(),
            Self::NotNamespaced(name) => format!(
                "Tool '{name}' is not properly namespaced. All tool calls must use 'server__tool' format"
            ),
            Self::UnknownServer(name) => format!("Unknown server '{name}' in request"),
            Self::UnknownTool(name) => format!("Tool '{name}' not found"),
            Self::Unlisted { server, because: None }
            | Self::NoListing { server, because: None } => {
                format!("server '{server}' has not been reached yet")
            }
            Self::Unlisted { server, because: Some(because) }
            | Self::NoListing { server, because: Some(because) } => {
                format!("server '{server}' is not available: {because}")
            }
            Self::Upstream { tool, error } => format!("call of tool '{tool}' failed: {error}"),
            Self::Answered(error) => error.message.clone(),
        }
    }

    fn data(&self) -> Option<String> {
        match self {
            Self::UnsupportedVersion(requested) => Some(
                json!({"supported": crate::mcp::version::SUPPORTED, "requested": requested})
                    .to_string(),
            ),
            Self::Answered(error) => error.data.as_ref().map(|data| data.as_str().to_owned()),
            _ => None,
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Upstream { error: UpstreamError::BreakerOpen { retry_in, .. }, .. } => {
                json!({"retryAfterMs": u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX)})
            }
            Self::Upstream { error: UpstreamError::Busy(_), .. } => json!({"retryAfterMs": 1000}),
            _ => json!({}),
        }
    }

    /// As the `error` member of a JSON-RPC response, or as the `result` of a call.
    pub(crate) fn render(&self) -> Rendered {
        let message = self.message();
        match self.row().code {
            Code::Rpc(code) => {
                let data = self.data().map(|data| format!(r#","data":{data}"#));
                Rendered::Error(format!(
                    r#"{{"code":{code},"message":{}{}}}"#,
                    quoted(&message),
                    data.unwrap_or_default()
                ))
            }
            Code::Tool(code) => {
                let error = json!({
                    "error": code, "message": message, "path": "", "details": self.details(),
                });
                let result = json!({
                    "resultType": "complete",
                    "content": [{"type": "text", "text": error.to_string()}],
                    "structuredContent": error,
                    "isError": true,
                });
                Rendered::Result(result.to_string())
            }
        }
    }

    /// What is counted: a closed list.
    pub(crate) fn label(&self) -> &'static str {
        match (self, self.row().code) {
            (Self::Answered(_), _) => "answered_error",
            (_, Code::Tool("RATE_LIMITED")) => "limited",
            (Self::NoListing { .. }, _) | (_, Code::Tool(_)) => "upstream_failure",
            (_, Code::Rpc(_)) => "refused",
        }
    }
}

/// A failure as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rendered {
    Error(String),
    Result(String),
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn check(failure: &Failure, code: Code, status: u16, message: &str) {
        let row = failure.row();
        assert_eq!((row.code, row.status.as_u16()), (code, status), "{failure:?}");
        assert!(failure.message().contains(message), "{}", failure.message());
    }

    #[test]
    fn every_cause_has_its_code_and_text() {
        use Code::{Rpc, Tool};
        let name = || "x".to_owned();
        let upstream = |error| Failure::Upstream { tool: name(), error };
        check(&Failure::NotJson, Rpc(-32700), 400, "not JSON");
        check(&Failure::NotARequest("why"), Rpc(-32600), 400, "why");
        check(&Failure::TooLarge { limit: 7 }, Rpc(-32600), 413, "7 bytes");
        check(&Failure::UnknownMethod(name()), Rpc(-32601), 404, "x");
        check(&Failure::MissingMeta("k"), Rpc(-32602), 400, "k");
        check(&Failure::HeaderMismatch(name()), Rpc(-32020), 400, "x");
        check(&Failure::UnsupportedVersion(name()), Rpc(-32022), 400, "unsupported");
        check(&Failure::InvalidParams("why"), Rpc(-32602), 200, "why");
        check(&Failure::InvalidCursor, Rpc(-32602), 200, "cursor");
        check(
            &Failure::NotNamespaced(name()),
            Rpc(-32602),
            200,
            "Tool 'x' is not properly namespaced. All tool calls must use 'server__tool' format",
        );
        check(&Failure::UnknownServer(name()), Rpc(-32602), 200, "Unknown server 'x' in request");
        check(&Failure::UnknownTool(name()), Rpc(-32602), 200, "Tool 'x' not found");
        let unlisted = Failure::Unlisted { server: name(), because: None };
        check(&unlisted, Tool("UPSTREAM_UNAVAILABLE"), 200, "server 'x' has not been reached yet");
        let no_listing = |because| Failure::NoListing { server: name(), because };
        check(&no_listing(None), Rpc(-32603), 200, "server 'x' has not been reached yet");
        check(&no_listing(Some("y".into())), Rpc(-32603), 200, "server 'x' is not available: y");
        check(
            &upstream(UpstreamError::Timeout(Duration::from_millis(1500))),
            Tool("UPSTREAM_TIMEOUT"),
            200,
            "call of tool 'x' failed: no answer within 1500ms",
        );
        check(&upstream(UpstreamError::Closed), Tool("UPSTREAM_UNAVAILABLE"), 200, "closed");
        check(&upstream(UpstreamError::Nonsense), Tool("UPSTREAM_ERROR"), 200, "no JSON-RPC");
        check(&upstream(UpstreamError::Busy(3)), Tool("RATE_LIMITED"), 200, "3 calls");
        let answered = |code| Failure::Answered(RpcError { code, message: name(), data: None });
        check(&answered(-7), Rpc(-7), 200, "x");
        check(&answered(-32021), Rpc(-32021), 400, "x");
    }

    #[test]
    fn a_tool_error_is_the_same_object_as_text_and_as_structure() {
        let failure = Failure::Upstream {
            tool: "a__b".to_owned(),
            error: UpstreamError::BreakerOpen { failures: 5, retry_in: Duration::from_secs(3) },
        };
        let Rendered::Result(result) = failure.render() else { panic!("{failure:?}") };
        let result: Value = serde_json::from_str(&result).unwrap();
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(text["error"], "UPSTREAM_UNAVAILABLE");
        assert_eq!(text["details"]["retryAfterMs"], 3000);
        assert_eq!(result["isError"], true);
    }

    #[test]
    fn a_cause_is_counted_by_whose_it_is() {
        let upstream = |error| Failure::Upstream { tool: "x".to_owned(), error };
        for (failure, label) in [
            (upstream(UpstreamError::Busy(1)), "limited"),
            (upstream(UpstreamError::Closed), "upstream_failure"),
            (Failure::NoListing { server: "x".to_owned(), because: None }, "upstream_failure"),
            (Failure::NotJson, "refused"),
        ] {
            assert_eq!(failure.label(), label, "{failure:?}");
        }
    }
}
