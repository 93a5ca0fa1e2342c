//! One UpstreamServer: is it valid, can it be carried here, does what it refers to exist?
//! Its neighbours are not known here; they are weighed against it in `contest`.

use surface::name::Namespace;
use url::Url;

use super::{
    Placement,
    connection::{Connection, resolve},
    lookup::Lookup,
    store::Store,
    terms::{Terms, terms},
    unbuilt::{self, Unbuilt},
    verdict::{Refusal, Resolution, refusal, summary},
};
use crate::{
    objects::Manifest,
    problem::{Problem, Reason},
    schema::Violation,
    upstream_server::{HttpEndpoint, TransportChoice, UpstreamServer, UpstreamServerSpec},
};

/// A server after everything that can be said of it alone.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) problems: Vec<Problem>,
    /// The condition `Accepted`.
    pub(super) accepted: Result<Accepted, Refusal>,
    /// The condition `ResolvedRefs`.
    pub(super) resolved: Resolution<Connection>,
    /// The condition `NotImplemented`.
    pub(super) unbuilt: Vec<Unbuilt>,
}

/// A spec that holds, as far as it is not a connection.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) namespace: Namespace,
    pub(super) terms: Terms,
}

/// Judges one server on its own.
pub(super) fn judge<'a>(
    manifest: &'a Manifest,
    placement: Placement<'_>,
    store: &Store,
) -> Judged<'a> {
    match manifest.admit::<UpstreamServer>() {
        Ok(spec) => judge_spec(manifest, &spec, placement, store),
        Err(violations) => Judged {
            manifest,
            problems: report(manifest, &violations),
            accepted: Err(refusal(&violations)),
            resolved: Resolution::Unread,
            unbuilt: Vec::new(),
        },
    }
}

fn judge_spec<'a>(
    manifest: &'a Manifest,
    spec: &UpstreamServerSpec,
    placement: Placement<'_>,
    store: &Store,
) -> Judged<'a> {
    let unbuilt = unbuilt::of_server(spec);
    let mut refused = refusals(spec, placement);
    refused.extend(unbuilt.iter().filter_map(Unbuilt::refusal));
    let namespace = &manifest.id.namespace;
    let lookup = Lookup { namespace, store, placement, violations: Vec::new() };
    let resolved = resolve(spec, lookup);

    let accepted = match (name(manifest, spec), terms(spec)) {
        (Ok(namespace), Ok(terms)) if refused.is_empty() => Ok(Accepted { namespace, terms }),
        (name, terms) => {
            refused.extend(name.err().into_iter().chain(terms.err()));
            Err(refusal(&refused))
        }
    };
    let mut problems = report(manifest, &refused);
    problems.extend(unbuilt.iter().filter_map(|unbuilt| unbuilt.problem(manifest)));
    problems.extend(resolved.as_ref().err().into_iter().flat_map(|v| report(manifest, v)));
    let resolved = resolved.map_err(|violations| summary(&violations)).into();
    Judged { manifest, problems, accepted, resolved, unbuilt }
}

/// The name the server registers under. The schema has checked it; the type is made here.
fn name(manifest: &Manifest, spec: &UpstreamServerSpec) -> Result<Namespace, Violation> {
    let name = spec.tool_namespace.as_deref().unwrap_or(&manifest.id.name);
    name.parse::<Namespace>().map_err(|error| Violation {
        path: "spec.toolNamespace".to_owned(),
        reason: Reason::InvalidField,
        message: error.to_string(),
    })
}

/// What a schema cannot say: a URL that no client can dial, and what cannot be carried here.
fn refusals(spec: &UpstreamServerSpec, placement: Placement<'_>) -> Vec<Violation> {
    let transport = match (spec.transport.choice(), placement) {
        (Some(TransportChoice::StreamableHttp(endpoint)), _) => {
            undialable("spec.transport.streamableHttp.url", endpoint)
        }
        (Some(TransportChoice::Sse(endpoint)), _) => undialable("spec.transport.sse.url", endpoint),
        (Some(TransportChoice::Stdio(_)), Placement::Cluster) => Some(Violation {
            path: "spec.transport.stdio".to_owned(),
            reason: Reason::TransportNotSupported,
            message: "needs a standalone gateway: in a cluster nobody starts processes; \
                      use container"
                .to_owned(),
        }),
        _ => None,
    };
    transport.into_iter().collect()
}

fn undialable(path: &str, endpoint: &HttpEndpoint) -> Option<Violation> {
    let error = Url::parse(&endpoint.url).err()?;
    let (path, reason) = (path.to_owned(), Reason::InvalidField);
    Some(Violation { path, reason, message: format!("is not a URL: {error}") })
}

fn report(manifest: &Manifest, violations: &[Violation]) -> Vec<Problem> {
    violations
        .iter()
        .map(|Violation { path, reason, message }| manifest.problem(*reason, path, message.clone()))
        .collect()
}
