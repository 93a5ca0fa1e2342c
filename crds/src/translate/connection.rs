//! How a server is reached and what is presented to it: references looked up, literal values kept
//! apart from secret ones. Whether the server may be served at all is decided in `server`.

mod authorization;
mod http;

use surface::{credential::Credential, doc::TransportDoc};

use super::lookup::{Found, Lookup};
use crate::{
    schema::Violation,
    upstream_server::{EnvVar, Stdio, TransportChoice, UpstreamServerSpec},
};

/// A connection with every reference resolved.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` for a transport that no snapshot can hold yet.
    pub(super) transport: Option<TransportDoc>,
    pub(super) credential: Credential,
}

/// Resolves everything a spec refers to, or says everything that does not resolve.
pub(super) fn resolve(
    spec: &UpstreamServerSpec,
    lookup: Lookup<'_>,
) -> Result<Connection, Vec<Violation>> {
    let mut resolver = Resolver { lookup, credential: Credential::default() };
    let transport = resolver.transport(spec);
    if let Some(credential) = &spec.credential {
        let header = resolver.authorization(credential);
        resolver.credential.headers.extend(header);
    }
    let Resolver { lookup, credential } = resolver;
    let violations = lookup.violations;
    if violations.is_empty() { Ok(Connection { transport, credential }) } else { Err(violations) }
}

struct Resolver<'a> {
    lookup: Lookup<'a>,
    credential: Credential,
}

impl Resolver<'_> {
    fn transport(&mut self, spec: &UpstreamServerSpec) -> Option<TransportDoc> {
        match spec.transport.choice()? {
            TransportChoice::StreamableHttp(endpoint) => {
                Some(self.endpoint("spec.transport.streamableHttp", endpoint))
            }
            TransportChoice::Stdio(stdio) => Some(self.stdio(stdio)),
            TransportChoice::Sse(endpoint) => {
                self.endpoint("spec.transport.sse", endpoint);
                None
            }
            TransportChoice::Container(container) => {
                self.references("spec.transport.container.env", &container.env);
                None
            }
        }
    }

    fn stdio(&mut self, stdio: &Stdio) -> TransportDoc {
        let Stdio { command, env, cwd } = stdio;
        let env = self.env("spec.transport.stdio.env", env);
        TransportDoc::Stdio { command: command.clone(), env, cwd: cwd.clone() }
    }

    /// The literal variables; the secret ones go to the credential.
    fn env(&mut self, path: &str, env: &[EnvVar]) -> Vec<(String, String)> {
        let mut literal = Vec::new();
        for (place, EnvVar { name, value, value_from }) in env.iter().enumerate() {
            let path = format!("{path}[{place}]");
            let found = match value {
                Some(text) => self.lookup.expanded(&format!("{path}.value"), text),
                None => self.lookup.source(&format!("{path}.valueFrom"), value_from.as_ref()),
            };
            match found.and_then(|found| self.environment_value(&path, found)) {
                Some(Found::Literal(value)) => literal.push((name.clone(), value)),
                Some(Found::Secret(value)) => self.credential.env.push((name.clone(), value)),
                None => {}
            }
        }
        literal
    }

    /// Looks up what an environment refers to; the values are somebody else's.
    fn references(&mut self, path: &str, env: &[EnvVar]) {
        for (place, variable) in env.iter().enumerate() {
            let path = format!("{path}[{place}].valueFrom");
            self.lookup.source(&path, variable.value_from.as_ref());
        }
    }

    fn environment_value(&mut self, path: &str, found: Found) -> Option<Found> {
        if found.text().contains('\0') {
            return self.lookup.refuse(path, "holds a NUL, where an environment variable ends");
        }
        Some(found)
    }
}
