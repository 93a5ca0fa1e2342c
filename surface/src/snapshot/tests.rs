use serde_json::{json, value::RawValue};

use super::*;
use crate::doc::{Era, EraChoice, LimitsDoc, ObjectRef, SessionChoice, TransportDoc};

fn server(namespace: &str) -> ServerDoc {
    ServerDoc {
        namespace: namespace.parse().unwrap(),
        object: ObjectRef { namespace: "default".to_owned(), name: namespace.to_owned() },
        transport: TransportDoc::Stdio { command: vec!["x".to_owned()], env: vec![], cwd: None },
        era: EraChoice::Auto,
        session: SessionChoice::Auto,
        limits: LimitsDoc::default(),
        breaker: crate::doc::BreakerDoc::default(),
        poll_interval: std::time::Duration::from_mins(1),
        withheld: Vec::new(),
    }
}

fn listing(instructions: &str, tools: &[&str]) -> Arc<ListingDoc> {
    let tool = |name: &&str| {
        let tool = json!({"name": name, "inputSchema": {"type": "object"}});
        Arc::from(RawValue::from_string(tool.to_string()).unwrap())
    };
    Arc::new(ListingDoc {
        era: Era::Modern,
        protocol_version: "2026-07-28".to_owned(),
        server_info: None,
        capabilities: None,
        instructions: Some(instructions.to_owned()),
        tools: tools.iter().map(tool).collect(),
    })
}

fn doc(listings: &[(&str, &Arc<ListingDoc>)]) -> SnapshotDoc {
    let mut doc = SnapshotDoc::new(listings.iter().map(|(name, _)| server(name)).collect());
    doc.listings =
        listings.iter().map(|(name, l)| (name.parse().unwrap(), Arc::clone(l))).collect();
    doc
}

#[test]
fn equal_documents_are_served_alike_and_everything_that_is_served_moves_the_digest() {
    let digest =
        |listing: &Arc<ListingDoc>| compile(&doc(&[("s", listing)]), None).unwrap().digest();
    let first = digest(&listing("i", &["a"]));
    assert_eq!(first, digest(&listing("i", &["a"])));
    assert_ne!(first, digest(&listing("j", &["a"])), "instructions are served");
    assert_ne!(first, digest(&listing("i", &["a", "b"])));
    assert_ne!(first, digest(&listing("i", &["a", ""])), "what is left out is reported");
}

#[test]
fn what_did_not_change_is_taken_over() {
    let (a, b) = (listing("i", &["t"]), listing("i", &["t"]));
    let before = compile(&doc(&[("a", &a), ("b", &b)]), None).unwrap();
    let news = listing("i", &["t", "u"]);
    let after = compile(&doc(&[("a", &a), ("b", &news)]), Some(&before)).unwrap();
    assert!(Arc::ptr_eq(before.server("a").unwrap(), after.server("a").unwrap()));
    assert!(!Arc::ptr_eq(before.server("b").unwrap(), after.server("b").unwrap()));
}

#[test]
fn every_problem_of_a_document_is_listed() {
    let mut doc = SnapshotDoc::new(vec![server("a__b"), server("s"), server("s")]);
    doc.format = 99;
    let errors = compile(&doc, None).unwrap_err();
    assert_eq!(errors.len(), 3, "{errors:?}");
}

#[test]
fn routed_names_lead_to_their_tools() {
    let listing = listing("i", &["s.read", "a_b"]);
    let snapshot = compile(&doc(&[("s", &listing)]), None).unwrap();
    let list = String::from_utf8(snapshot.router_list().to_vec()).unwrap();
    assert!(list.contains(r#""name":"s__read""#) && list.contains(r#""name":"s__a_b""#), "{list}");
    let (server, own) = snapshot.split_routed("s__read").unwrap();
    let tool = server.heard().unwrap().tool_by_own_name(own).unwrap();
    assert_eq!(&*tool.upstream_name, "s.read");
    assert!(server.heard().unwrap().tool_by_upstream_name("s.read").is_some());
}
