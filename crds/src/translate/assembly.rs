//! Puts the judgements together: the document, the credentials, the conditions, the problems.
//! Every judgement was made before; here none is changed.

use std::collections::{BTreeMap, BTreeSet};

use surface::{
    credential::Credential,
    doc::{ObjectRef, ServerDoc, SnapshotDoc, WithheldDoc},
};

use super::{
    ObjectStatus, Translation,
    policy::{self, Restriction},
    server::{self, Accepted},
    status,
    store::Store,
    terms::Terms,
    unbuilt::Effect,
    verdict::Resolution,
};
use crate::{
    objects::{Manifest, Objects},
    problem::{ObjectId, Problem, Reason},
};

/// The whole translation.
pub(super) fn assemble(
    objects: &Objects,
    store: Store,
    servers: Vec<server::Judged<'_>>,
    policies: Vec<policy::Judged<'_>>,
) -> Translation {
    let statuses = statuses(&servers, &policies);
    let mut problems = [objects.problems.clone(), store.problems].concat();
    let mut restrictions: Vec<_> = objects.lost_policies.iter().map(Restriction::of_lost).collect();
    for policy in policies {
        problems.extend(policy.problems);
        restrictions.push(policy.restriction);
    }
    let (mut docs, mut credentials) = (BTreeMap::new(), BTreeMap::new());
    for mut server in servers {
        problems.append(&mut server.problems);
        if let Some((doc, credential)) = serve(server, &restrictions) {
            credentials.insert(doc.namespace.clone(), credential);
            docs.insert(doc.namespace.clone(), doc);
        }
    }
    let doc = SnapshotDoc::new(docs.into_values().collect());
    Translation { doc, credentials, statuses, problems: in_order(objects, problems) }
}

/// A server that is served, or nothing.
fn serve(
    server: server::Judged<'_>,
    restrictions: &[Restriction],
) -> Option<(ServerDoc, Credential)> {
    let withheld = withheld(&server, restrictions);
    let Accepted { namespace, terms } = server.accepted.ok()?;
    let Resolution::Resolved(connection) = server.resolved else { return None };
    let Terms { era, session, limits, breaker, poll_interval } = terms;
    let doc = ServerDoc {
        namespace,
        object: object(server.manifest),
        transport: connection.transport?,
        era,
        session,
        limits,
        breaker,
        poll_interval,
        withheld,
    };
    Some((doc, connection.credential))
}

fn withheld(server: &server::Judged<'_>, restrictions: &[Restriction]) -> Vec<WithheldDoc> {
    let own = server.unbuilt.iter().filter_map(|unbuilt| match &unbuilt.effect {
        Effect::Withheld(globs) => Some(WithheldDoc {
            tools: globs.clone(),
            reason: Reason::NotImplemented.to_string(),
            message: format!("{} of {} is not built yet", unbuilt.path, server.manifest.id),
        }),
        Effect::Refused | Effect::Ignored(_) => None,
    });
    let policies = restrictions.iter().flat_map(|restriction| restriction.on(server.manifest));
    own.chain(policies.cloned()).collect()
}

fn object(manifest: &Manifest) -> ObjectRef {
    let ObjectId { kind: _, namespace, name } = manifest.id.clone();
    ObjectRef { namespace, name }
}

/// One status for each object: a policy that stands in the input twice has one all the same.
fn statuses(servers: &[server::Judged<'_>], policies: &[policy::Judged<'_>]) -> Vec<ObjectStatus> {
    let all = servers.iter().map(status::of_server).chain(policies.iter().map(status::of_policy));
    let mut seen = BTreeSet::new();
    all.filter(|status| seen.insert(status.object.clone())).collect()
}

/// Problems document by document, in the order of reading.
fn in_order(objects: &Objects, mut problems: Vec<Problem>) -> Vec<Problem> {
    let places: BTreeMap<&str, usize> =
        objects.origins.iter().map(String::as_str).zip(0..).collect();
    problems.sort_by_key(|problem| places.get(problem.origin.as_str()).copied());
    problems
}
