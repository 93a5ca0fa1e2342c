//! The public address as clients meet it: malformed messages, wrong headers, both eras' rules.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use serde_json::{Value, json};
use tests::harness::{Gateway, fixture_argv, http, stdio_server};

async fn gateway() -> Gateway {
    Gateway::start(&[stdio_server("fixture", &fixture_argv(&[]), "")]).await
}

#[tokio::test]
async fn malformed_messages_get_their_codes() {
    let gateway = gateway().await;
    let url = gateway.url("/mcp/router");
    for (body, status, code, id) in [
        ("{", 400, -32700, json!(null)),
        ("", 400, -32700, json!(null)),
        ("7", 400, -32600, json!(null)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, 400, -32600, json!(3)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":[]}"#, 400, -32600, json!(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#, 200, -32601, json!(3)),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}"#,
            200,
            -32602,
            json!(3),
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fixture__echo","arguments":[]}}"#,
            200,
            -32602,
            json!(3),
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}"#,
            200,
            -32602,
            json!(3),
        ),
        (r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}"#, 200, -32602, json!(3)),
    ] {
        let answer = http::post(&url, body, &[]).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert_eq!(answer.json()["error"]["code"], code, "{body}: {}", answer.body);
        assert_eq!(answer.json()["id"], id, "{body}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_and_the_next_is_served() {
    let gateway = gateway().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "fixture__echo", "arguments": {"text": "x".repeat(5 * 1024 * 1024)}}});
    let answer = http::post(&gateway.url("/mcp/router"), body.to_string(), &[]).await;
    assert_eq!(answer.status, 413, "{}", answer.body);
    assert_eq!(answer.json()["error"]["code"], -32600);
    assert!(!gateway.tool_names("/mcp/router").await.is_empty());
}

#[tokio::test]
async fn a_modern_request_must_say_the_same_in_its_headers_and_its_body() {
    let gateway = gateway().await;
    let url = gateway.url("/mcp/router");
    let params = json!({"name": "fixture__echo", "arguments": {}, "_meta": http::modern_meta()});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let version = ("mcp-protocol-version", "2026-07-28");
    let method = ("mcp-method", "tools/call");
    let name = ("mcp-name", "fixture__echo");
    for (headers, status, code) in [
        (vec![version, method, name], 200, json!(null)),
        (vec![version, method, ("mcp-name", "=?base64?Zml4dHVyZV9fZWNobw==?=")], 200, json!(null)),
        (vec![method, name], 400, json!(-32020)),
        (vec![version, name], 400, json!(-32020)),
        (vec![version, method], 400, json!(-32020)),
        (vec![("mcp-protocol-version", "2025-11-25"), method, name], 400, json!(-32020)),
        (vec![version, ("mcp-method", "tools/list"), name], 400, json!(-32020)),
        (vec![version, method, ("mcp-name", "fixture__add")], 400, json!(-32020)),
    ] {
        let answer = http::post(&url, body.clone(), &headers).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.body);
        assert_eq!(answer.json()["error"]["code"], code, "{headers:?}");
    }
}

#[tokio::test]
async fn a_modern_request_must_be_of_a_version_we_know_and_complete() {
    let gateway = gateway().await;
    let url = gateway.url("/mcp/router");
    let post = async |meta: Value, version: &str| {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        let headers = [("mcp-protocol-version", version), ("mcp-method", "tools/list")];
        http::post(&url, body.to_string(), &headers).await
    };
    let mut future = http::modern_meta();
    future["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let answer = post(future, "2099-01-01").await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(answer.json()["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(answer.json()["error"]["data"]["supported"][0], "2026-07-28");
    let mut bare = http::modern_meta();
    bare.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    let answer = post(bare, "2026-07-28").await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32602)));
    let unknown = http::modern(&url, "no/such", json!({})).await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
    let discovered = http::modern(&url, "server/discover", json!({})).await.json();
    assert_eq!(discovered["result"]["supportedVersions"][0], "2026-07-28");
    assert_eq!(
        discovered["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "portreeve"
    );
}

#[tokio::test]
async fn a_legacy_client_is_served_without_a_session() {
    let gateway = gateway().await;
    for (requested, agreed) in
        [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")]
    {
        let params = json!({"protocolVersion": requested, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = gateway.request("/mcp/router", "initialize", &params).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed);
    }
    let url = gateway.url("/mcp/router");
    let notified =
        http::post(&url, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &[]).await;
    assert_eq!((notified.status, notified.body.as_str()), (202, ""));
    assert_eq!(gateway.request("/mcp/router", "ping", &json!({})).await["result"], json!({}));
    for method in ["GET", "DELETE"] {
        assert_eq!(
            http::raw(method, &url, &[("accept", "text/event-stream")], "").await.status,
            405
        );
    }
}

#[tokio::test]
async fn batches_are_for_the_versions_that_have_them() {
    let gateway = gateway().await;
    let url = gateway.url("/mcp/router");
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},7,
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fixture__add","arguments":{"a":1,"b":2}}}]"#;
    let answers = http::post(&url, batch, &[]).await.json();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(answers[1]["error"]["code"], -32600);
    assert_eq!(answers[2]["result"]["isError"], false);
    let newer = http::post(&url, batch, &[("mcp-protocol-version", "2025-06-18")]).await;
    assert_eq!((newer.status, &newer.json()["error"]["code"]), (400, &json!(-32600)));
    let silent = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    assert_eq!(http::post(&url, silent, &[]).await.status, 202);
}

#[tokio::test]
async fn strangers_and_their_pages_are_turned_away() {
    let gateway = gateway().await;
    let url = gateway.url("/mcp/router");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (header, value, status) in [
        ("host", "evil.example", 403),
        ("origin", "https://evil.example", 403),
        ("origin", "http://localhost:6274", 200),
        ("content-type", "text/plain", 415),
        ("accept", "text/html", 406),
    ] {
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        headers.retain(|(name, _)| *name != header);
        headers.push((header, value));
        let answer = http::raw("POST", &url, &headers, ping).await;
        assert_eq!(answer.status, status, "{header}: {value}: {}", answer.body);
    }
    let nowhere = http::get(&gateway.url("/")).await;
    assert_eq!(nowhere.status, 404);
    assert!(nowhere.body.contains("/mcp/router"), "{}", nowhere.body);
}

#[tokio::test]
async fn a_client_that_reads_no_events_gets_one_answer() {
    let gateway = gateway().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "fixture__test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": 1}}});
    let headers = [("content-type", "application/json"), ("accept", "application/json")];
    let answer = http::raw("POST", &gateway.url("/mcp/router"), &headers, body.to_string()).await;
    assert_eq!(answer.content_type, "application/json");
    assert_eq!(answer.json()["result"]["isError"], false);
}
