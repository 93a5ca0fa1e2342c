//! One JSON-RPC message as text: its envelope is read, what it carries stays as it was written.
//! No transport and no meaning of methods here.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A JSON value as its own text, shared with the message it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

impl RawJson {
    /// `text` has been read as JSON by the caller.
    pub(crate) fn slice(message: &Bytes, text: &str) -> Self {
        Self(message.slice_ref(text.as_bytes()))
    }

    pub fn as_str(&self) -> &str {
        // Made from text only.
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<String> for RawJson {
    fn from(json: String) -> Self {
        Self(json.into())
    }
}

/// A server's JSON-RPC error object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<RawJson>,
}

/// A message from a server.
#[derive(Debug)]
pub(crate) enum Frame {
    Response { id: Option<u64>, outcome: Result<RawJson, RpcError> },
    Request { id: RawJson, method: String },
    Notification { method: String, message: RawJson },
}

/// Text that is no JSON-RPC message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it is no JSON-RPC message")]
    NotAMessage,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<ErrorObject<'a>>,
}

#[derive(Deserialize)]
struct ErrorObject<'a> {
    code: i64,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl Frame {
    pub(crate) fn read(message: &Bytes) -> Result<Self, FrameError> {
        // Members that are not read are not looked into either, so the whole is checked here.
        let text = std::str::from_utf8(message).map_err(|_| FrameError::NotAMessage)?;
        let Envelope { id, method, result, error } = serde_json::from_str(text)?;
        let slice = |raw: &RawValue| RawJson::slice(message, raw.get());
        // Ids of ours are integers; some servers give them back as text.
        let own = |id: &RawValue| id.get().trim_matches('"').parse().ok();
        Ok(match (method, id, result, error) {
            (Some(method), Some(id), _, _) => {
                Self::Request { id: slice(id), method: method.into_owned() }
            }
            (Some(method), None, _, _) => Self::Notification {
                method: method.into_owned(),
                message: RawJson(message.clone()),
            },
            (None, id, Some(result), None) => {
                Self::Response { id: id.and_then(own), outcome: Ok(slice(result)) }
            }
            (None, id, _, Some(ErrorObject { code, message, data })) => {
                let error = RpcError { code, message: message.into_owned(), data: data.map(slice) };
                Self::Response { id: id.and_then(own), outcome: Err(error) }
            }
            (None, _, None, None) => return Err(FrameError::NotAMessage),
        })
    }
}

/// A request with our id.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// What a server is told that asks something of us: `ping` is answered, nothing else is offered.
pub(crate) fn reply(id: &RawJson, method: &str) -> String {
    let id = id.as_str();
    if method == "ping" {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
    } else {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"method not found"}}}}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let actual = format!("{:?}", Frame::read(&Bytes::from(text.to_owned())));
        assert!(actual.starts_with(expected), "{text}\n{actual}");
    }

    #[test]
    fn a_message_is_known_by_its_members() {
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}"#, "Ok(Response { id: Some(1)");
        check(r#"{"id":"7","error":{"code":-1,"message":"m"}}"#, "Ok(Response { id: Some(7)");
        check(r#"{"id":null,"error":{"code":-1,"message":"m"}}"#, "Ok(Response { id: None");
        check(r#"{"id":1,"method":"ping"}"#, "Ok(Request");
        check(r#"{"method":"notifications/x","params":{}}"#, "Ok(Notification");
        check(r#"{"id":1}"#, "Err(NotAMessage");
        check("[1]", "Err(NotJson");
        let torn = Bytes::from_static(b"{\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}");
        assert!(Frame::read(&torn).is_err());
        check("starting up …", "Err(NotJson");
    }

    #[test]
    fn a_result_keeps_its_text() {
        let message = Bytes::from_static(br#"{"id":1,"result": {"z":1.0,"a":[2e2] } }"#);
        match Frame::read(&message) {
            Ok(Frame::Response { outcome: Ok(result), .. }) => {
                assert_eq!(result.as_str(), r#"{"z":1.0,"a":[2e2] }"#);
            }
            other => panic!("{other:?}"),
        }
    }
}
