//! A bare axum handler that answers every POST with the same bytes: what a server costs that
//! does nothing at all. Serves as control, and as the cheapest server behind the gateway.

use std::process::Stdio;

use axum::{Router, body::Bytes, http::HeaderMap, routing::post, serve::ListenerExt as _};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// Serves `body` at `/mcp`; its `host:port`.
pub(crate) async fn fixed(body: Bytes) -> String {
    listen(Router::new().route("/mcp", post(async move || (JSON, body.clone())))).await
}

/// The flag that makes this program the server below.
pub(crate) const CHEAPEST_SERVER: &str = "--cheapest-server";

/// A modern MCP server with one tool, as cheap as it can be, in a process of its own: a server in
/// the client's process would be nearer to it than any real one.
#[derive(Debug)]
pub(crate) struct CheapestServer {
    pub(crate) authority: String,
    _child: Child,
}

impl CheapestServer {
    pub(crate) async fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(CHEAPEST_SERVER)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let authority = lines.next_line().await.unwrap().unwrap();
        Self { authority, _child: child }
    }
}

/// Is that server, until it is killed.
pub(crate) async fn serve_cheapest() {
    println!("{}", listen(Router::new().route("/mcp", post(answer))).await);
    std::future::pending::<()>().await;
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
