//! What an endpoint shows: which tools, under which names.

use std::sync::Arc;

use bytes::Bytes;
use surface::{
    snapshot::{Heard, Server},
    tool::Tool,
    view::RoutedError,
};

use crate::{failure::Failure, serving::Serving, status::ServerStatus};

/// One MCP surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Every tool of every server as `server__tool`.
    Router,
    /// One server under its own names.
    Server(String),
}

/// A tool call's way: found by the name a client gave.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: Arc<Tool>,
}

impl Profile {
    /// For metrics: a closed list.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Server(_) => "servers",
        }
    }

    /// Refuses an endpoint that no server stands behind, before anything else is looked at.
    pub(crate) fn check(&self, serving: &Serving) -> Result<(), Failure> {
        match self {
            Self::Router => Ok(()),
            Self::Server(namespace) => server(serving, namespace).map(drop),
        }
    }

    /// Result of `tools/list`, prepared when the snapshot was compiled.
    pub(crate) fn list(&self, serving: &Serving) -> Result<Bytes, Failure> {
        match self {
            Self::Router => Ok(serving.snapshot.router_list()),
            Self::Server(namespace) => {
                let server = self::server(serving, namespace)?;
                server.heard().map(Heard::list).ok_or_else(|| Failure::NoListing {
                    server: namespace.clone(),
                    because: last_failure(serving, server),
                })
            }
        }
    }

    /// Finds the tool a client means.
    pub(crate) fn route(&self, serving: &Serving, name: &str) -> Result<Route, Failure> {
        let (server, tool) = match self {
            Self::Router => {
                let split = serving.snapshot.split_routed(name);
                let (server, own_name) = split.map_err(|error| unrouted(name, &error))?;
                (server, heard(serving, server)?.tool_by_own_name(own_name))
            }
            Self::Server(namespace) => {
                let server = self::server(serving, namespace)?;
                (server, heard(serving, server)?.tool_by_upstream_name(name))
            }
        };
        let tool = tool.ok_or_else(|| Failure::UnknownTool(name.to_owned()))?;
        Ok(Route { server: Arc::clone(server), tool: Arc::clone(tool) })
    }
}

fn unrouted(name: &str, error: &RoutedError<'_>) -> Failure {
    match error {
        RoutedError::NotNamespaced => Failure::NotNamespaced(name.to_owned()),
        RoutedError::UnknownServer(server) => Failure::UnknownServer((*server).to_owned()),
    }
}

/// The server behind an endpoint of its own.
pub(crate) fn server<'a>(
    serving: &'a Serving,
    namespace: &str,
) -> Result<&'a Arc<Server>, Failure> {
    let server = serving.snapshot.server(namespace);
    server.ok_or_else(|| Failure::UnknownServer(namespace.to_owned()))
}

/// What it listed; a server that was never reached says why.
fn heard<'a>(serving: &Serving, server: &'a Server) -> Result<&'a Heard, Failure> {
    server.heard().ok_or_else(|| Failure::Unlisted {
        server: server.namespace().to_string(),
        because: last_failure(serving, server),
    })
}

fn last_failure(serving: &Serving, server: &Server) -> Option<String> {
    serving.status(server.namespace()).and_then(ServerStatus::failure)
}
