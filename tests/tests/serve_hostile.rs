//! Servers written by hand to do what no real one does on demand: answer everything at once, hang
//! when they are told something, never let go.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Response},
    routing::any,
};
use serde_json::{Value, json};
use tests::harness::{Gateway, http, http_server, stdio_server, until};

/// A process that answers each request with the lines a shell function prints; `$id` is there.
fn shell_server(call: &str, more: &str) -> String {
    let script = format!(
        r#"
        while read -r line; do
            id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case $line in
            *'"server/discover"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}}}}}\n' "$id" ;;
            *'"tools/list"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}}}}]}}}}\n' "$id" ;;
            *'"tools/call"'*) {call} ;;
            esac
        done
        "#
    );
    stdio_server("s", &["sh".to_owned(), "-c".to_owned(), script], more)
}

#[tokio::test]
async fn notices_that_come_in_one_piece_with_the_answer_are_not_lost() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n"#;
    let result = r#"{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n"#;
    let call =
        format!(r#"printf '{progress}{progress}{progress}{result}' "$id" "$id" "$id" "$id""#);
    let gateway = Gateway::start(&[shell_server(&call, "")]).await;
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "s__t", "arguments": {}, "_meta": {"progressToken": "mine"}}});
    for _ in 0..20 {
        let answer = http::post(&gateway.url("/mcp/router"), body.to_string(), &[]).await;
        let messages = answer.messages();
        assert_eq!(messages.len(), 4, "{}", answer.body);
        assert_eq!(messages[3]["id"], 5);
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_its_own_call_whatever_ids_it_holds() {
    // The id last, as the TypeScript SDK writes it, and the other call's id inside.
    let huge = r#"case $line in *huge*) big=$(head -c 20000 /dev/zero | tr '\0' x)
        printf '{"result":{"id":%s,"text":"%s"},"jsonrpc":"2.0","id":%s}\n' "$((id - 1))" "$big" "$id"
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$((id - 1))" ;; esac"#;
    let limits = "limits: {callTimeout: 10s, maxResponseBytes: 4Ki}";
    let gateway = Gateway::start(&[shell_server(huge, limits)]).await;
    let first = gateway.call("s__t", json!({"wait": true}));
    let second = async {
        until("the first call to be under way", async || {
            let metrics = gateway.metrics().await;
            metrics.contains("portreeve_gateway_tools").then_some(())
        })
        .await;
        tokio::time::timeout(Duration::from_secs(5), gateway.call("s__t", json!({"huge": true})))
            .await
            .unwrap()
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(second["result"]["structuredContent"]["error"], "UPSTREAM_ERROR", "{second}");
    assert_eq!(first["result"]["content"], json!([]), "{first}");
}

#[tokio::test]
async fn polls_that_succeed_do_not_keep_the_breaker_shut() {
    let more = "limits: {callTimeout: 300ms}\ndiscovery: {pollInterval: 10s}\nresilience: {breaker: {failures: 3, openFor: 5m}}";
    let gateway = Gateway::start(&[shell_server(":", more)]).await;
    until("the breaker to open", async || {
        let answer = gateway.call("s__t", json!({})).await;
        let code = &answer["result"]["structuredContent"]["error"];
        (*code == "UPSTREAM_UNAVAILABLE").then_some(())
    })
    .await;
}

/// A legacy server with sessions that answers lists, and nothing else for ever.
async fn hanging(told: Arc<AtomicUsize>) -> String {
    let answer = async move |headers: HeaderMap, body: Bytes| -> Response {
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match request["method"].as_str() {
            Some("initialize") => {
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "hanging", "version": "1"}})
            }
            Some("tools/list") => {
                json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
            }
            Some("notifications/initialized") => return StatusCode::ACCEPTED.into_response(),
            Some("server/discover") => return StatusCode::BAD_REQUEST.into_response(),
            _ => {
                assert!(headers.contains_key("mcp-session-id"));
                told.fetch_add(1, Ordering::Relaxed);
                return std::future::pending().await;
            }
        };
        let text = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
        ([("content-type", "application/json"), ("mcp-session-id", "s1")], text).into_response()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let routes = Router::new().route("/mcp", any(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    url
}

#[tokio::test]
async fn a_server_that_hangs_when_it_is_told_something_holds_nothing_of_ours() {
    let told = Arc::new(AtomicUsize::new(0));
    let url = hanging(Arc::clone(&told)).await;
    let more = "limits: {callTimeout: 100ms}\nresilience: {breaker: {failures: 100, openFor: 1s}}";
    let gateway = Gateway::start(&[http_server("s", &url, more)]).await;
    let open_files = || std::fs::read_dir(format!("/proc/{}/fd", gateway.pid())).unwrap().count();
    let before = open_files();
    for _ in 0..20 {
        let answer = gateway.call("s__t", json!({})).await;
        assert_eq!(answer["result"]["structuredContent"]["error"], "UPSTREAM_TIMEOUT");
    }
    // Each call was cancelled at the server, which hung over that too.
    until("the cancellations", async || (told.load(Ordering::Relaxed) >= 40).then_some(())).await;
    until("the sockets to be let go", async || (open_files() <= before + 4).then_some(())).await;
    let stopped = tokio::time::timeout(Duration::from_secs(15), gateway.stop()).await;
    assert_eq!(stopped.unwrap(), Some(0), "the DELETE of the session hangs as well");
}
