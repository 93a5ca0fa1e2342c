//! A bare axum handler that answers every POST with the same bytes: what a server costs that
//! does nothing at all. Serves as control, and as the cheapest server behind the gateway.

use axum::{Router, body::Bytes, http::HeaderMap, routing::post, serve::ListenerExt as _};
use serde_json::Value;

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// Serves `body` at `/mcp`; its `host:port`.
pub(crate) async fn fixed(body: Bytes) -> String {
    listen(Router::new().route("/mcp", post(async move || (JSON, body.clone())))).await
}

/// A modern MCP server with one tool, as cheap as it can be.
pub(crate) async fn cheapest_server() -> String {
    listen(Router::new().route("/mcp", post(answer))).await
}

async fn answer(headers: HeaderMap, body: Bytes) -> ([(&'static str, &'static str); 1], String) {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match headers.get("mcp-method").and_then(|method| method.to_str().ok()) {
        Some("server/discover") => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public"}"#
        }
        Some("tools/list") => {
            r#"{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"public"}"#
        }
        _ => {
            r#"{"resultType":"complete","content":[{"type":"text","text":"{\"message\":\"hello\"}"}],"isError":false}"#
        }
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"]);
    (JSON, text)
}

async fn listen(routes: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    authority
}
