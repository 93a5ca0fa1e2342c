//! Who keeps a tool namespace that several servers want: the oldest that is accepted.
//! A server that is merely out of order for now (a missing Secret) keeps its name; one that is
//! invalid never had it.

use std::collections::BTreeMap;

use surface::name::Namespace;

use super::{server::Judged, verdict::Refusal};
use crate::{condition::ConditionReason, problem::Reason};

/// Leaves each namespace to one server and refuses the others.
pub(super) fn settle(servers: &mut [Judged<'_>]) {
    let mut claims: BTreeMap<Namespace, Vec<usize>> = BTreeMap::new();
    for (place, server) in servers.iter().enumerate() {
        if let Ok(accepted) = &server.accepted {
            claims.entry(accepted.namespace.clone()).or_default().push(place);
        }
    }
    for (namespace, mut places) in claims {
        places.sort_by(|a, b| {
            servers[*a].manifest.seniority().cmp(&servers[*b].manifest.seniority())
        });
        let Some((winner, losers)) = places.split_first() else { continue };
        let winner = servers[*winner].manifest.id.clone();
        for loser in losers {
            let server = &mut servers[*loser];
            let message = format!(
                "tool namespace {namespace} of {} belongs to {winner}, which is older or comes first by name",
                server.manifest.id
            );
            refuse(server, message);
        }
    }
}

fn refuse(server: &mut Judged<'_>, message: String) {
    let problem =
        server.manifest.problem(Reason::NamespaceConflict, "spec.toolNamespace", message.clone());
    server.problems.push(problem);
    server.accepted = Err(Refusal { reason: ConditionReason::NamespaceConflict, message });
}
