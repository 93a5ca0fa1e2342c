//! The recorded vectors of the seeds' rules. Each file says in `made` how it was computed; where
//! this product departs from an original on purpose, the departure stands here with its reason.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use std::sync::Arc;

use serde_json::{Value, json, value::RawValue};
use surface::{
    canonical_shape,
    catalogue::{Catalogue, ExclusionReason, ExclusionScope},
    doc::{Era, ListingDoc},
    hash8,
    name::Namespace,
    tool::Tool,
    tool_id::ToolId,
    view::{self, RoutedError},
};

fn vectors(file: &str, key: &str) -> Vec<Value> {
    let path = format!("{}/testdata/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let list = serde_json::from_str::<Value>(&text).unwrap()[key].as_array().unwrap().clone();
    assert!(!list.is_empty());
    list
}

fn raw(value: &Value) -> Arc<RawValue> {
    RawValue::from_string(value.to_string()).unwrap().into()
}

fn tool(namespace: &Namespace, value: &Value) -> Tool {
    Tool::read(namespace, &raw(value)).unwrap()
}

fn id(tool: &Tool) -> Option<String> {
    tool.id.as_ref().ok().map(ToString::to_string)
}

#[test]
fn hash8_covers_name_and_shape_only() {
    for v in vectors("hash8", "vectors") {
        let name = v["upstream_name"].as_str().unwrap();
        assert_eq!(canonical_shape(&v["input_schema"]), v["canonical_shape"], "{v}");
        assert_eq!(hash8(name, &v["input_schema"]).as_str(), v["hash8"], "{v}");
    }
}

#[test]
fn ids_of_the_seeds_examples_are_computed() {
    for v in vectors("seed_examples", "vectors") {
        let expected = v["actual_id"].as_str().unwrap();
        let namespace = expected.split(':').next().unwrap().parse().unwrap();
        let actual = tool(
            &namespace,
            &json!({
                "name": v["upstream_name"],
                "inputSchema": v["input_schema"],
                "_meta": {"version": v["declared_version"]},
            }),
        );
        assert_eq!(id(&actual).as_deref(), Some(expected));
    }
}

#[test]
fn a_declared_version_replaces_the_hash() {
    let namespace = "github".parse().unwrap();
    for v in vectors("meta_version", "vectors") {
        let actual = tool(
            &namespace,
            &json!({
                "name": "github.create_issue",
                "inputSchema": {"type": "object", "properties": {}},
                "_meta": v["_meta"],
            }),
        );
        let expected = v["tool_id"].as_str();
        match expected.and_then(|text| text.split_once('#')) {
            // The vector's own schema is not recorded: the form is what is compared.
            Some((before, _)) => {
                let id = id(&actual).unwrap();
                assert!(id.starts_with(&format!("{before}#")), "{id}: {v}");
            }
            None => assert_eq!(id(&actual).as_deref(), expected, "{v}"),
        }
    }
}

#[test]
fn tool_ids_parse_and_read_back() {
    for v in vectors("parse_tool_id", "vectors") {
        let text = v["id"].as_str().unwrap();
        let parsed = text.parse::<ToolId>();
        // The original lets a final newline pass (its `$` matches before one); we do not.
        if v.get("error").is_some() || text.contains('\n') {
            assert!(parsed.is_err(), "{text:?}");
            continue;
        }
        let parsed = parsed.unwrap();
        assert_eq!(parsed.namespace().as_str(), v["namespace"]);
        assert_eq!(parsed.name().as_str(), v["name"]);
        assert_eq!(parsed.version().map(surface::name::Version::as_str), v["version"].as_str());
        assert_eq!(parsed.hash8().map(surface::name::Hash8::as_str), v["hash8"].as_str());
        assert_eq!(parsed.to_string(), text);
    }
}

#[test]
fn the_sixty_tools_have_their_recorded_ids_and_views() {
    let tools = vectors("catalog60", "tools");
    let ids = vectors("catalog60_ids", "vectors");
    assert_eq!(tools.len(), ids.len());
    for (listed, expected) in tools.iter().zip(ids) {
        let namespace: Namespace = expected["server"].as_str().unwrap().parse().unwrap();
        let tool = tool(&namespace, listed);
        let name = expected["name"].as_str().unwrap();
        let hash = expected["hash8_raw"].as_str().unwrap();
        match tool.id.as_ref().unwrap().version() {
            Some(_) => assert_eq!(id(&tool).unwrap(), expected["contextweaver_id"]),
            None => assert_eq!(id(&tool).unwrap(), format!("{namespace}:{name}#{hash}")),
        }
        assert_eq!(view::routed(&namespace, &tool.own_name), expected["gatekit_name"]);
        assert_eq!(view::dotted(&namespace, &tool.own_name), expected["gatemini_name"]);
    }
}

/// The recorded originals split in two ways that disagree. Ours is one: at the longest registered
/// namespace that `__` follows. With the recorded server registered, both agree with us wherever
/// that server could be registered at all.
#[test]
fn routed_names_split_at_a_registered_namespace() {
    for v in vectors("gatekit_parse", "vectors") {
        let Some(name) = v["name"].as_str() else { continue };
        let recorded = v["target_server"].as_str().unwrap_or_default();
        let registrable = recorded.parse::<Namespace>().is_ok_and(|ns| ns.is_registrable());
        let split = view::split_routed(name, |ns| (ns == recorded && registrable).then_some(()));
        match split {
            Ok(((), own)) => assert_eq!(own, v["clean_name"], "{name}"),
            Err(RoutedError::UnknownServer(server)) => assert_eq!(server, recorded, "{name}"),
            Err(RoutedError::NotNamespaced) => {
                assert!(recorded.is_empty(), "{name}");
                let message = v["error"]["message"].as_str().unwrap_or_default();
                assert!(
                    name.is_empty()
                        || v["error"].is_null()
                        || message.contains("not properly namespaced")
                );
            }
        }
    }
}

#[test]
fn a_tool_that_cannot_be_served_is_left_out_alone() {
    let namespace: Namespace = "s".parse().unwrap();
    let schema = json!({"type": "object"});
    let twin = json!({"name": "twin", "inputSchema": schema});
    let cases = [
        (json!({"name": "good", "inputSchema": schema}), None),
        (
            json!({"name": "has space", "inputSchema": schema}),
            Some(ExclusionReason::OutsideIdGrammar),
        ),
        (json!({"name": "t17", "inputSchema": {"type": 17}}), Some(ExclusionReason::InvalidSchema)),
        (json!({"name": "null", "inputSchema": null}), Some(ExclusionReason::InvalidSchema)),
        (
            json!({"name": "remote", "inputSchema": {"$ref": "https://schemas.invalid/x.json"}}),
            Some(ExclusionReason::InvalidSchema),
        ),
        (json!({"inputSchema": schema}), Some(ExclusionReason::NotATool)),
        (
            json!({"name": "s\u{202e}x", "inputSchema": schema}),
            Some(ExclusionReason::InvisibleCharacters),
        ),
        (
            json!({"name": "big", "description": "x".repeat(300_000), "inputSchema": schema}),
            Some(ExclusionReason::Oversize),
        ),
        (
            json!({"name": "number", "inputSchema": {"maximum": 9_007_199_254_740_993_u64}}),
            Some(ExclusionReason::NotCanonical),
        ),
        (twin.clone(), Some(ExclusionReason::Collision)),
        (twin, Some(ExclusionReason::Collision)),
        (json!({"name": "same", "inputSchema": schema}), Some(ExclusionReason::Collision)),
        (json!({"name": "s.same", "inputSchema": schema}), Some(ExclusionReason::Collision)),
    ];
    let listing = ListingDoc {
        era: Era::Modern,
        protocol_version: "2026-07-28".to_owned(),
        server_info: None,
        capabilities: None,
        instructions: None,
        tools: cases.iter().map(|(tool, _)| raw(tool)).collect(),
    };
    let catalogue = Catalogue::read(&namespace, &listing, &[]);
    let mut actual: Vec<_> = catalogue.exclusions.iter().map(|e| e.reason).collect();
    let mut expected: Vec<_> = cases.iter().filter_map(|(_, reason)| *reason).collect();
    actual.sort();
    expected.sort();
    assert_eq!(actual, expected);
    let served: Vec<_> = catalogue.tools.iter().map(|tool| &*tool.upstream_name).collect();
    assert_eq!(served, ["has space", "good"]);
    let collision = catalogue.exclusions.iter().find(|e| e.tool == "s.same").unwrap();
    assert!(collision.message.contains("\"same\"") && collision.message.contains("\"s.same\""));
    assert!(catalogue.exclusions.iter().all(|e| {
        (e.scope == ExclusionScope::Cards) == (e.reason == ExclusionReason::OutsideIdGrammar)
    }));
}
