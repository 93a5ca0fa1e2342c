//! The table of rooms in ARCHITECTURE.md, held against what cargo says.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Which rooms of ours each room may use.
const MAY_USE: [(&str, &[&str]); 5] = [
    ("surface", &[]),
    ("crds", &["surface"]),
    ("upstream", &["surface"]),
    ("gateway", &["crds", "surface", "upstream"]),
    ("tests", &["crds", "surface", "upstream"]),
];

/// What must never stand behind a room, however far behind.
const MUST_NOT_REACH: [(&str, &[&str]); 4] = [
    ("surface", &["tokio", "reqwest", "hyper", "axum", "kube", "k8s-openapi", "tracing", "rmcp"]),
    ("crds", &["kube-client", "kube-runtime", "tokio", "reqwest", "hyper"]),
    ("upstream", &["kube", "kube-core", "k8s-openapi", "axum"]),
    ("gateway", &["kube-client", "kube-runtime"]),
];

fn metadata() -> Metadata {
    MetadataCommand::new().no_deps().exec().unwrap()
}

fn rooms(package: &Package) -> BTreeSet<&str> {
    package.dependencies.iter().filter(|d| d.path.is_some()).map(|d| d.name.as_str()).collect()
}

#[test]
fn every_room_uses_only_what_it_may() {
    let metadata = metadata();
    let known: BTreeSet<&str> = MAY_USE.iter().map(|(room, _)| *room).collect();
    let actual: BTreeSet<&str> = metadata.packages.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(actual, known, "a room was opened or closed: say so in MAY_USE and ARCHITECTURE.md");
    for (room, may_use) in MAY_USE {
        let package = metadata.packages.iter().find(|p| p.name == room).unwrap();
        for used in rooms(package) {
            assert!(may_use.contains(&used), "{room} must not use {used}");
        }
    }
}

#[test]
fn no_product_room_depends_on_the_tests() {
    for package in metadata().packages.iter().filter(|p| p.name != "tests") {
        assert!(!rooms(package).contains("tests"), "{} imports the tests", package.name);
    }
}

#[test]
fn nothing_forbidden_stands_behind_a_room() {
    let metadata = MetadataCommand::new().other_options(["--locked".to_owned()]).exec().unwrap();
    let resolve = metadata.resolve.as_ref().unwrap();
    for (room, forbidden) in MUST_NOT_REACH {
        let root = metadata.packages.iter().find(|p| p.name == room).unwrap();
        let mut seen = BTreeSet::new();
        let mut queue = vec![&root.id];
        while let Some(id) = queue.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = resolve.nodes.iter().find(|node| node.id == *id).unwrap();
            let normal = node
                .deps
                .iter()
                .filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal));
            queue.extend(normal.map(|dep| &dep.pkg));
        }
        for name in forbidden {
            let found = metadata.packages.iter().any(|p| p.name == *name && seen.contains(&p.id));
            assert!(!found, "{room} reaches {name}");
        }
    }
}
