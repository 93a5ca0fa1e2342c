//! A tool call through the router against the same call made directly.

use std::time::Instant;

use serde_json::{Value, json};
use tests::harness::{
    FixtureServer, Gateway, fixture_argv, http::modern_meta, http_server, stdio_server,
};

use crate::{
    control,
    load::{Target, in_turn},
    table::compare,
};

pub(crate) async fn run() {
    let fixture = FixtureServer::start(&["--json"]).await;
    let cheapest = control::CheapestServer::start().await;
    let cheap = &cheapest.authority;
    let gateway = Gateway::start(&[
        http_server("cheap", &format!("http://{cheap}/mcp"), ""),
        http_server("fixture", &fixture.url, ""),
        stdio_server("pipe", &fixture_argv(&[]), ""),
    ])
    .await;
    let direct = |authority: &str| call(authority, "/mcp", "echo");
    let routed = |name| call(&gateway.agents, "/mcp/router", name);
    for clients in [1, 32] {
        let title = format!("tools/call, {clients} clients, the cheapest HTTP server behind");
        let (a, b) = in_turn(&direct(cheap), &routed("cheap__echo"), clients).await;
        compare(&title, ("direct", &a), ("routed", &b));
        let title = format!("tools/call, {clients} clients, a real SDK server behind (HTTP)");
        let (a, b) = in_turn(&direct(fixture.authority()), &routed("fixture__echo"), clients).await;
        compare(&title, ("direct", &a), ("routed", &b));
        let title = format!("tools/call, {clients} clients, the same server over stdio");
        let (a, b) = in_turn(&direct(fixture.authority()), &routed("pipe__echo"), clients).await;
        compare(&title, ("direct (HTTP)", &a), ("routed (stdio)", &b));
    }
    together(&gateway).await;
    events(&fixture, &gateway).await;
}

/// Calls of two servers at once: as long as one of them, were there no waiting.
async fn together(gateway: &Gateway) {
    let wait = |name| gateway.call(name, json!({"ms": 300}));
    let started = Instant::now();
    let _ = tokio::join!(wait("pipe__wait"), wait("pipe__wait"), wait("fixture__wait"));
    println!("three calls of 300 ms to two servers take {:.0?}\n", started.elapsed());
}

/// Answers as event streams: without `TCP_NODELAY` each would take 40 ms.
async fn events(fixture: &FixtureServer, gateway: &Gateway) {
    let tool = "test_tool_with_progress";
    let direct = with_progress(&call(fixture.authority(), "/mcp", tool), tool);
    let name = format!("fixture__{tool}");
    let routed = with_progress(&call(&gateway.agents, "/mcp/router", &name), &name);
    let (a, b) = in_turn(&direct, &routed, 1).await;
    compare("three progress events and the answer, 1 client", ("direct", &a), ("routed", &b));
}

fn call(authority: &str, path: &'static str, name: &str) -> Target {
    target(authority, path, name, &json!({"message": "hello"}), &modern_meta())
}

fn with_progress(target: &Target, name: &str) -> Target {
    let mut meta = modern_meta();
    meta["progressToken"] = "p".into();
    self::target(&target.authority, target.path, name, &json!({}), &meta)
}

fn target(
    authority: &str,
    path: &'static str,
    name: &str,
    arguments: &Value,
    meta: &Value,
) -> Target {
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    Target {
        authority: authority.to_owned(),
        path,
        headers: vec![
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", name.to_owned()),
        ],
        body: body.to_string(),
    }
}
