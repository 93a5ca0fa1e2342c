//! From manifests to a snapshot document: what is served, what is not, and why.
//! A plain function of its input; each step lives in a file below, in the order it is taken here.

mod assembly;
mod connection;
mod contest;
mod expansion;
mod lookup;
mod policy;
mod reach;
mod server;
mod status;
mod store;
mod terms;
mod unbuilt;
mod verdict;

use std::collections::BTreeMap;

use surface::{credential::Credential, doc::SnapshotDoc, name::Namespace};

use self::store::Store;
use crate::{
    condition::{Condition, ConditionStatus, ConditionType},
    objects::Objects,
    problem::{ObjectId, Problem},
};

/// Where the snapshot will be served.
#[derive(Clone, Copy)]
pub enum Placement<'a> {
    /// By a gateway without a cluster. It starts stdio servers, and its own environment, looked
    /// up through `env`, stands behind `${NAME}` in `stringData` of Secrets and in values of
    /// `transport.stdio.env`.
    Standalone { env: &'a dyn Fn(&str) -> Option<String> },
    /// By gateways of a cluster, where nothing is expanded and no process is started.
    Cluster,
}

impl std::fmt::Debug for Placement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Standalone { .. } => "Standalone",
            Self::Cluster => "Cluster",
        })
    }
}

/// What became of the objects.
#[derive(Debug)]
pub struct Translation {
    /// The servers to serve, in the order of their namespaces, without listings.
    pub doc: SnapshotDoc,
    /// What is presented to each server of `doc`; one entry for each.
    pub credentials: BTreeMap<Namespace, Credential>,
    /// One entry for each UpstreamServer and each ToolPolicy, good or bad.
    pub statuses: Vec<ObjectStatus>,
    /// Everything that is wrong, in the order of the documents.
    pub problems: Vec<Problem>,
}

/// The conditions of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectStatus {
    pub object: ObjectId,
    /// `Accepted` and `ResolvedRefs` always, `NotImplemented` only while it holds.
    pub conditions: Vec<Condition>,
}

impl ObjectStatus {
    /// Whether a condition is there and true.
    pub fn is_true(&self, type_: ConditionType) -> bool {
        let holds = |c: &Condition| c.type_ == type_ && c.status == ConditionStatus::True;
        self.conditions.iter().any(holds)
    }
}

/// Translates everything that can be translated and reports everything else.
///
/// A server is served when it is valid, supported here, has its tool namespace for itself and
/// every reference of it resolves. What a policy demands and this release cannot enforce is
/// withheld from every server the policy is for.
pub fn translate(objects: &Objects, placement: Placement<'_>) -> Translation {
    let store = Store::read(objects, placement);
    let mut servers: Vec<_> =
        objects.servers.iter().map(|manifest| server::judge(manifest, placement, &store)).collect();
    contest::settle(&mut servers);
    let policies: Vec<_> =
        objects.policies.iter().map(|manifest| policy::judge(manifest, &objects.servers)).collect();
    assembly::assemble(objects, store, servers, policies)
}

#[cfg(test)]
mod tests;
