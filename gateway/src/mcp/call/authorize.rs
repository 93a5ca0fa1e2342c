//! Turns a route into a permit. Nothing else makes one, and nothing without one reaches a server.
//! Tools that a policy withholds are not in the snapshot, so no route leads to them.

use std::sync::Arc;

use surface::{name::Namespace, tool::Tool};
use tokio::sync::mpsc;
use upstream::{Answer, Call, Client, RawJson, UpstreamError};

use crate::{failure::Failure, mcp::profile::Route, serving::Serving};

/// A call that may be made.
#[derive(Debug)]
pub(crate) struct Permit {
    route: Route,
    client: Arc<Client>,
}

pub(crate) fn authorize(serving: &Serving, route: Route) -> Result<Permit, Failure> {
    let namespace = route.server.namespace();
    match serving.clients.get(namespace) {
        Some(client) => Ok(Permit { client: Arc::clone(client), route }),
        // A server of a restored snapshot whose client is about to be made.
        None => Err(Failure::Unlisted { server: namespace.to_string(), because: None }),
    }
}

impl Permit {
    pub(crate) fn namespace(&self) -> &Namespace {
        self.route.server.namespace()
    }

    pub(crate) fn tool(&self) -> &Tool {
        &self.route.tool
    }

    /// Carries the call to its server.
    pub(crate) async fn carry(
        &self,
        params: &str,
        notices: Option<mpsc::Sender<RawJson>>,
    ) -> Result<Answer, UpstreamError> {
        self.client.call(Call { tool: &self.route.tool, params, notices }).await
    }
}
