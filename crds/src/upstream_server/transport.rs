//! `spec.transport`: the choice between the ways to reach a server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Container, HttpEndpoint, Stdio};
use crate::rule::exactly_one_of;

/// How the server is reached: exactly one of the fields is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "x-kubernetes-validations" = exactly_one_of(["streamableHttp", "sse", "stdio", "container"])
))]
pub struct Transport {
    /// A streamable HTTP endpoint, modern or legacy.
    pub streamable_http: Option<HttpEndpoint>,
    /// The event-stream endpoint of a 2024-11-05 server (`GET` stream and `POST` messages).
    pub sse: Option<HttpEndpoint>,
    /// A child process of a standalone gateway. In a cluster such a server is not accepted (reason
    /// `TransportNotSupported`): the operator never starts processes; use `container` there.
    pub stdio: Option<Stdio>,
    /// An image that the operator runs as a Deployment with a Service.
    pub container: Option<Container>,
}

/// A transport that was chosen.
#[derive(Debug, Clone, Copy)]
pub enum TransportChoice<'a> {
    StreamableHttp(&'a HttpEndpoint),
    Sse(&'a HttpEndpoint),
    Stdio(&'a Stdio),
    Container(&'a Container),
}

impl Transport {
    /// The one that is set; `None` where the object never passed the schema.
    pub fn choice(&self) -> Option<TransportChoice<'_>> {
        let Self { streamable_http, sse, stdio, container } = self;
        match (streamable_http, sse, stdio, container) {
            (Some(endpoint), None, None, None) => Some(TransportChoice::StreamableHttp(endpoint)),
            (None, Some(endpoint), None, None) => Some(TransportChoice::Sse(endpoint)),
            (None, None, Some(stdio), None) => Some(TransportChoice::Stdio(stdio)),
            (None, None, None, Some(container)) => Some(TransportChoice::Container(container)),
            _ => None,
        }
    }
}
