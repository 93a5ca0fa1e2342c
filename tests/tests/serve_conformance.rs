//! The official conformance suite, through an endpoint of one server in front of the fixture.
//! Every scenario about tools passes but those named here; one of those that passes fails the test
//! too, so that the lists stay true.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use std::collections::BTreeMap;

use serde_json::Value;
use tests::harness::{
    FixtureServer, Gateway, fixture_argv, http_server, real::conformance, stdio_server,
};

/// The scenarios about tools, by requirement set.
const SCENARIOS: &str = include_str!("../real/conformance-tools.json");

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A scenario that does not pass yet, how it ends instead, and why.
type Exception = (&'static str, &'static str, &'static str);

const LEGACY_EXCEPTIONS: &[Exception] = &[
    ("logging-set-level", "fail", "a level would be remembered for a client without a session"),
    ("tools-call-with-logging", "fail", "it sets a level first"),
    ("tools-call-sampling", "fail", "the server asks the client, which takes a session"),
    ("tools-call-elicitation", "fail", "the server asks the client, which takes a session"),
    ("elicitation-sep1034-defaults", "fail", "the server asks the client, which takes a session"),
    ("elicitation-sep1330-enums", "fail", "the server asks the client, which takes a session"),
    ("server-sse-multiple-streams", "skip", "it applies only where a session id is handed out"),
];

/// The suite calls the first tool that is listed, without arguments. Lists are in the order of
/// ids, and the first would be `add`, which refuses to add nothing.
const WITHOUT_ADD: &str = "apiVersion: portreeve.dev/v1alpha1\nkind: ToolPolicy\nmetadata: {name: without-add}\nspec: {tools: {deny: [add]}}\n";

async fn gateway(server: String) -> Gateway {
    let gateway = Gateway::start(&[server, WITHOUT_ADD.to_owned()]).await;
    gateway.wait_for("fixture", "Ready", "True", "Ready").await;
    gateway
}

/// Judges the endpoint by everything about tools that a revision has, scored or not.
async fn check(gateway: &Gateway, revision: &str, exceptions: &[Exception]) {
    let sets: BTreeMap<String, Vec<String>> = serde_json::from_str(SCENARIOS).unwrap();
    let scenarios = [&sets[revision][..], &sets[&format!("{revision} not scored")]].concat();
    for (name, ..) in exceptions {
        assert!(scenarios.iter().any(|scenario| scenario == name), "no scenario is called {name}");
    }
    let verdicts = conformance(&gateway.url("/mcp/servers/fixture"), revision, &scenarios).await;
    assert_eq!(verdicts.len(), scenarios.len(), "{verdicts:?}");
    let complaints: Vec<String> =
        verdicts.iter().filter_map(|v| complaint(v, exceptions)).collect();
    assert!(complaints.is_empty(), "{revision}:\n{}", complaints.join("\n"));
}

/// What is wrong with one verdict.
fn complaint(verdict: &Value, exceptions: &[Exception]) -> Option<String> {
    let (scenario, outcome) = (verdict["scenario"].as_str()?, verdict["outcome"].as_str()?);
    let expected = match exceptions.iter().find(|(name, ..)| *name == scenario) {
        Some((_, outcome, _)) => outcome,
        None => "pass",
    };
    (outcome != expected).then(|| format!("expected {expected}: {verdict}"))
}

#[tokio::test]
async fn over_http_both_requirement_sets_pass_but_for_what_needs_a_session() {
    let fixture = FixtureServer::start(&[]).await;
    let gateway = gateway(http_server("fixture", &fixture.url, "")).await;
    tokio::join!(check(&gateway, MODERN, &[]), check(&gateway, LEGACY, LEGACY_EXCEPTIONS));
}

#[tokio::test]
async fn over_stdio_the_modern_requirement_set_passes() {
    let gateway = gateway(stdio_server("fixture", &fixture_argv(&[]), "")).await;
    check(&gateway, MODERN, &[]).await;
}
