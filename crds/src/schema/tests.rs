//! What files cannot show: changes, excess, and what comes before the rules. The rules themselves
//! are in `crds/testdata`, one file each.

use serde_json::json;

use super::*;

fn server(spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "portreeve.dev/v1alpha1",
        "kind": "UpstreamServer",
        "metadata": {"name": "a"},
    });
    object["spec"] = spec;
    object
}

fn named(namespace: &str) -> Value {
    server(json!({"toolNamespace": namespace, "transport": {"stdio": {"command": ["run"]}}}))
}

#[track_caller]
fn check(object: &Value, old: Option<&Value>, expected: &[(&str, &str)]) {
    let violations = UpstreamServer::rules().admit(object, old).err().unwrap_or_default();
    let found: Vec<_> = violations.iter().map(|v| (v.path.as_str(), v.message.as_str())).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for ((path, message), (expected_path, start)) in found.iter().zip(expected) {
        assert_eq!(path, expected_path);
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn a_rule_on_changes_needs_an_old_object() {
    check(&named("b"), None, &[]);
    check(&named("b"), Some(&named("b")), &[]);
    check(&named("b"), Some(&named("a")), &[("spec.toolNamespace", "toolNamespace is immutable")]);
}

#[test]
fn a_status_is_dropped_and_any_other_stranger_is_not() {
    let mut object = named("b");
    object["status"] = json!({"era": "Ancient"});
    check(&object, None, &[]);
    object["data"] = json!(null);
    check(
        &object,
        None,
        &[("data", "unknown field; the fields here are apiVersion, kind, metadata, spec")],
    );
}

/// With quadratic rules over this list the test would take minutes.
#[test]
fn an_excess_is_counted_and_not_looked_into() {
    let headers: Vec<Value> =
        (0..50_000).map(|n| json!({"name": format!("h{n}"), "value": "v"})).collect();
    let endpoint = json!({"url": "https://h/", "headers": headers});
    check(
        &server(json!({"transport": {"streamableHttp": endpoint}})),
        None,
        &[("spec.transport.streamableHttp.headers", "must have at most 32 items")],
    );
}

#[test]
fn a_rule_that_stumbles_over_a_wrong_shape_is_not_reported_beside_it() {
    check(
        &server(json!({"transport": {"stdio": {"command": "run"}}})),
        None,
        &[("spec.transport.stdio.command", "must be of type array, not string")],
    );
}

#[test]
fn values_that_may_be_secret_are_not_repeated() {
    let transport = json!({"streamableHttp": {"url": "hunter2", "headers": [
        {"name": "hunter 2", "value": "hunter2\n"}, {"name": "A", "value": ["hunter2"]},
    ]}});
    let violations = UpstreamServer::rules().admit(&server(json!({"transport": transport})), None);
    let text = format!("{violations:?}");
    assert!(text.contains("should match") && !text.contains("hunter"), "{text}");
}
