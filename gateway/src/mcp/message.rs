//! A client's JSON-RPC message, parsed once: the envelope and what decides its way are read, the
//! rest stays text.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// Most messages in one batch. No known client sends more than a handful.
const MAX_BATCH: usize = 64;

/// What one body holds.
#[derive(Debug)]
pub(crate) enum Body {
    One(Message),
    Batch(Vec<Result<Message, Refused>>),
}

#[derive(Debug)]
pub(crate) enum Message {
    Request(Request),
    Notification(Notification),
    /// An answer to something we never asked.
    Response,
}

/// A request whose envelope is sound.
#[derive(Debug)]
pub(crate) struct Request {
    /// The id as the client wrote it.
    pub(crate) id: Bytes,
    pub(crate) method: String,
    /// The params object as the client wrote it; `{}` where there is none.
    pub(crate) params: Bytes,
}

#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) method: String,
    pub(crate) params: Bytes,
}

/// A message that cannot be taken, with its id where it could be read.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) id: Bytes,
    pub(crate) failure: Failure,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    // Null and absent differ: the one is a malformed request, the other a notification.
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(d).map(Some)
}

const NO_ID: Bytes = Bytes::from_static(b"null");

impl Body {
    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, Refused> {
        if !bytes.trim_ascii_start().starts_with(b"[") {
            return Message::parse(bytes).map(Self::One);
        }
        let refuse = |failure| Refused { id: NO_ID, failure };
        let items: Vec<&RawValue> =
            serde_json::from_slice(bytes).map_err(|_| refuse(Failure::NotJson))?;
        match items.len() {
            0 => Err(refuse(Failure::NotARequest("the batch is empty"))),
            n if n > MAX_BATCH => Err(refuse(Failure::NotARequest("the batch is too long"))),
            _ => Ok(Self::Batch(
                items
                    .iter()
                    .map(|item| Message::parse(&bytes.slice_ref(item.get().as_bytes())))
                    .collect(),
            )),
        }
    }
}

impl Message {
    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, Refused> {
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|error| Refused {
            id: NO_ID,
            failure: match error.classify() {
                serde_json::error::Category::Data => {
                    Failure::NotARequest("it is no JSON-RPC message")
                }
                _ => Failure::NotJson,
            },
        })?;
        Self::read(bytes, &envelope)
    }

    fn read(bytes: &Bytes, envelope: &Envelope<'_>) -> Result<Self, Refused> {
        let Envelope { jsonrpc, id, method, params, result, error } = envelope;
        let slice = |raw: &RawValue| bytes.slice_ref(raw.get().as_bytes());
        let id_is_sound = id.is_none_or(is_sound_id);
        let shown_id = id.filter(|_| id_is_sound).map_or(NO_ID, slice);
        let refuse =
            |why| Err(Refused { id: shown_id.clone(), failure: Failure::NotARequest(why) });
        if jsonrpc.as_deref() != Some("2.0") {
            return refuse("jsonrpc must be \"2.0\"");
        }
        if !id_is_sound {
            return refuse("id must be a string or an integer");
        }
        let Some(method) = method else {
            let answers = result.is_some() || error.is_some();
            return if answers { Ok(Self::Response) } else { refuse("it has no method") };
        };
        let Ok(method) = serde_json::from_str::<String>(method.get()) else {
            return refuse("method must be a string");
        };
        let params = match params {
            None => Bytes::from_static(b"{}"),
            Some(params) if params.get().starts_with('{') => slice(params),
            Some(_) => return refuse("params must be an object"),
        };
        Ok(match id {
            Some(_) => Self::Request(Request { id: shown_id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }
}

fn is_sound_id(id: &RawValue) -> bool {
    let text = id.get();
    text.starts_with('"') || text.parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &'static str, expected: &str) {
        let bytes = Bytes::from_static(text.as_bytes());
        let actual = match Message::parse(&bytes) {
            Ok(Message::Request(Request { id, method, params })) => {
                let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
                format!("request {} {method} {}", text(&id), text(&params))
            }
            Ok(Message::Notification(Notification { method, .. })) => format!("notice {method}"),
            Ok(Message::Response) => "response".to_owned(),
            Err(Refused { id, failure }) => {
                format!("{} {}", String::from_utf8(id.to_vec()).unwrap(), failure.message())
            }
        };
        assert_eq!(actual, expected, "{text}");
    }

    #[test]
    fn envelopes_are_read_and_contents_are_left_alone() {
        check(
            r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"z":1.0, "a":2e2}}"#,
            r#"request "a" m {"z":1.0, "a":2e2}"#,
        );
        check(r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#, "request 7 m {}");
        check(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "notice notifications/x");
        check(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "response");
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id_where_it_has_one() {
        check("{", "null parse error: the body is not JSON");
        check("7", "null invalid request: it is no JSON-RPC message");
        check(r#"{"id":7,"method":"m"}"#, "7 invalid request: jsonrpc must be \"2.0\"");
        check(r#"{"jsonrpc":"2.0","id":7}"#, "7 invalid request: it has no method");
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":1}"#,
            "7 invalid request: method must be a string",
        );
        for id in ["null", "1.5", "{}", "true"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            check(text.leak(), "null invalid request: id must be a string or an integer");
        }
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[]}"#,
            "7 invalid request: params must be an object",
        );
    }
}
