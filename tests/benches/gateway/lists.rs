//! `tools/list` of a thousand tools against a bare handler that has the same bytes at hand.

use axum::body::Bytes;
use serde_json::json;
use tests::harness::{Gateway, fixture_argv, http::modern_meta, stdio_server};

use crate::{
    control,
    load::{Connection, Target, in_turn},
    table::compare,
};

pub(crate) async fn run() {
    let gateway =
        Gateway::start(&[stdio_server("many", &fixture_argv(&["--tools", "1000"]), "")]).await;
    let list = |authority: &str, path| {
        Target {
        authority: authority.to_owned(),
        path,
        headers: vec![
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/list".to_owned()),
        ],
        body: json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_meta()}})
            .to_string(),
    }
    };
    let served = list(&gateway.agents, "/mcp/router");
    let bytes = served.once(&mut Connection::open(&gateway.agents).await).await;
    println!("tools/list of 1,000 tools is {} bytes", bytes.len());
    let bare = list(&control::fixed(Bytes::from(bytes)).await, "/mcp");
    for clients in [1, 32] {
        let (a, b) = in_turn(&bare, &served, clients).await;
        let title = format!("tools/list of 1,000 tools, {clients} clients");
        compare(&title, ("bare axum handler", &a), ("gateway", &b));
    }
}
