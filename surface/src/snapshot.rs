//! The snapshot's working form: compiled from a `SnapshotDoc`, immutable, read by every request.
//! Everything a list request answers with is prepared here, so that serving it copies nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    catalogue::{Catalogue, Exclusion},
    digest::Digest,
    doc::{FORMAT, ListingDoc, ServerDoc, SnapshotDoc},
    members::{Members, quoted},
    name::Namespace,
    tool::Tool,
    view::{self, RoutedError},
};

/// How long a client may trust a list, in milliseconds. A snapshot may be swapped at any time, so
/// this is short; it equals the lower bound for what we trust servers with.
pub const LIST_TTL_MS: u64 = 10_000;

/// What the data plane serves.
#[derive(Debug)]
pub struct Snapshot {
    digest: Digest,
    servers: BTreeMap<Namespace, Arc<Server>>,
    router_list: Bytes,
}

/// One server of a snapshot.
#[derive(Debug)]
pub struct Server {
    doc: Arc<ServerDoc>,
    heard: Option<Heard>,
}

/// What is known of a server that has been listed.
#[derive(Debug)]
pub struct Heard {
    listing: Arc<ListingDoc>,
    /// Of the whole listing, what is left out and what is said beside the tools included.
    digest: Digest,
    catalogue: Catalogue,
    by_own_name: HashMap<Box<str>, Arc<Tool>>,
    by_upstream_name: HashMap<Box<str>, Arc<Tool>>,
    /// Result of `tools/list` on the server's own endpoint.
    list: Bytes,
    /// This server's part of the router's list: Tool objects with commas between.
    routed: String,
}

/// A document that cannot be served at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    #[error("the snapshot has format {0}; this release reads {FORMAT}")]
    UnknownFormat(u32),
    #[error("two servers claim the namespace {0}")]
    ContestedNamespace(Namespace),
    #[error("the namespace {0} cannot be registered: it holds '__' or ends in '_'")]
    AmbiguousNamespace(Namespace),
}

/// Compiles a document, or lists everything that is wrong with it. What did not change since
/// `previous` is taken over from there, so that one server's news cost one server's work.
pub fn compile(
    doc: &SnapshotDoc,
    previous: Option<&Snapshot>,
) -> Result<Snapshot, Vec<CompileError>> {
    let errors = check(doc);
    if !errors.is_empty() {
        return Err(errors);
    }
    let servers: BTreeMap<_, _> = doc
        .servers
        .iter()
        .map(|server| {
            let namespace = &server.namespace;
            let old = previous.and_then(|snapshot| snapshot.servers.get(namespace));
            (namespace.clone(), Server::compile(server, doc.listings.get(namespace), old))
        })
        .collect();
    let routed: Vec<&str> = servers
        .values()
        .filter_map(|server| server.heard.as_ref())
        .map(|heard| heard.routed.as_str())
        .filter(|part| !part.is_empty())
        .collect();
    Ok(Snapshot { digest: digest(&servers), router_list: list_result(&routed.join(",")), servers })
}

fn check(doc: &SnapshotDoc) -> Vec<CompileError> {
    let mut errors = Vec::new();
    if doc.format != FORMAT {
        errors.push(CompileError::UnknownFormat(doc.format));
    }
    let mut seen = HashSet::new();
    for ServerDoc { namespace, .. } in &doc.servers {
        if !seen.insert(namespace) {
            errors.push(CompileError::ContestedNamespace(namespace.clone()));
        }
        if !namespace.is_registrable() {
            errors.push(CompileError::AmbiguousNamespace(namespace.clone()));
        }
    }
    errors
}

fn digest(servers: &BTreeMap<Namespace, Arc<Server>>) -> Digest {
    let parts: Vec<Digest> = servers
        .values()
        .flat_map(|server| {
            // A document of plain values always serialises.
            let doc = Digest::of(serde_json::to_vec(&*server.doc).unwrap_or_default());
            [Some(doc), server.heard.as_ref().map(|heard| heard.digest)]
        })
        .flatten()
        .collect();
    Digest::over(&parts)
}

fn list_result(tools: &str) -> Bytes {
    format!(
        r#"{{"resultType":"complete","tools":[{tools}],"ttlMs":{LIST_TTL_MS},"cacheScope":"public"}}"#
    )
    .into()
}

impl Snapshot {
    /// A snapshot that serves nothing.
    pub fn empty() -> Self {
        Self {
            digest: digest(&BTreeMap::new()),
            servers: BTreeMap::new(),
            router_list: list_result(""),
        }
    }

    /// Equal digests serve equal bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    pub fn servers(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.servers.values()
    }

    pub fn server(&self, namespace: &str) -> Option<&Arc<Server>> {
        self.servers.get(namespace)
    }

    /// Result of `tools/list` under the router profile.
    pub fn router_list(&self) -> Bytes {
        self.router_list.clone()
    }

    /// The server a routed name leads to, and the tool's own name there.
    pub fn split_routed<'n>(
        &self,
        name: &'n str,
    ) -> Result<(&Arc<Server>, &'n str), RoutedError<'n>> {
        view::split_routed(name, |namespace| self.servers.get(namespace))
    }
}

impl Server {
    fn compile(
        doc: &ServerDoc,
        listing: Option<&Arc<ListingDoc>>,
        old: Option<&Arc<Server>>,
    ) -> Arc<Self> {
        if let Some(old) = old
            && *old.doc == *doc
            && same(old.heard.as_ref().map(|heard| &heard.listing), listing)
        {
            return Arc::clone(old);
        }
        let heard = listing.map(|listing| Heard::compile(doc, listing));
        Arc::new(Self { doc: Arc::new(doc.clone()), heard })
    }

    pub fn namespace(&self) -> &Namespace {
        &self.doc.namespace
    }

    pub fn doc(&self) -> &Arc<ServerDoc> {
        &self.doc
    }

    /// What is known of it; nothing before its first listing.
    pub fn heard(&self) -> Option<&Heard> {
        self.heard.as_ref()
    }
}

fn same(a: Option<&Arc<ListingDoc>>, b: Option<&Arc<ListingDoc>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

impl Heard {
    fn compile(doc: &ServerDoc, listing: &Arc<ListingDoc>) -> Self {
        let catalogue = Catalogue::read(&doc.namespace, listing, &doc.withheld);
        let index = |name: fn(&Tool) -> &str| {
            catalogue.tools.iter().map(|tool| (name(tool).into(), Arc::clone(tool))).collect()
        };
        let own: Vec<&str> = catalogue.tools.iter().map(|tool| tool.raw.get()).collect();
        let routed: Vec<String> =
            catalogue.tools.iter().map(|tool| routed_tool(&doc.namespace, tool)).collect();
        Self {
            by_own_name: index(|tool| &tool.own_name),
            by_upstream_name: index(|tool| &tool.upstream_name),
            list: list_result(&own.join(",")),
            routed: routed.join(","),
            // A document of plain values always serialises.
            digest: Digest::of(serde_json::to_vec(&**listing).unwrap_or_default()),
            listing: Arc::clone(listing),
            catalogue,
        }
    }

    /// The server's word, as it was heard.
    pub fn listing(&self) -> &Arc<ListingDoc> {
        &self.listing
    }

    /// Tools that are served, in id order.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.catalogue.tools
    }

    pub fn exclusions(&self) -> &[Exclusion] {
        &self.catalogue.exclusions
    }

    pub fn revision(&self) -> Digest {
        self.catalogue.revision
    }

    /// Result of `tools/list` on the server's own endpoint.
    pub fn list(&self) -> Bytes {
        self.list.clone()
    }

    /// A tool by its name behind the namespace, as the router shows it.
    pub fn tool_by_own_name(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_own_name.get(name)
    }

    /// A tool by the server's own name for it.
    pub fn tool_by_upstream_name(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_upstream_name.get(name)
    }
}

/// The Tool object under its routed name, everything else as the server wrote it.
fn routed_tool(namespace: &Namespace, tool: &Tool) -> String {
    let name = quoted(&view::routed(namespace, &tool.own_name));
    match Members::parse(tool.raw.get()) {
        Ok(mut members) => {
            members.set("name", &name);
            members.to_string()
        }
        Err(_) => unreachable!("a Tool was read from this object"),
    }
}

#[cfg(test)]
mod tests;
