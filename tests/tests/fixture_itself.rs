//! The fixture is what it says: both eras on both transports, and faults that break what they name.
//! Raw bytes on purpose: no MCP library of ours or of others may agree with itself here.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails the test")]

use serde_json::{Value, json};

mod fixture_itself {
    pub(crate) mod http;
    pub(crate) mod stdio;
}

use fixture_itself::{http, stdio};

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

fn modern(method: &str, mut params: Value) -> String {
    params["_meta"] = serde_json::from_str(META).unwrap();
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn legacy(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn initialize() -> String {
    let client = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    legacy("initialize", &params)
}

fn names(listing: &Value) -> Vec<&str> {
    let tools = listing["result"]["tools"].as_array().unwrap();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn a_modern_client_is_served_over_stdio() {
    let mut server = stdio::start(&["--name", "tide-tables"]);
    let found = server.ask(&modern("server/discover", json!({})));
    let about = &found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(about["name"], "tide-tables");
    let listing = server.ask(&modern("tools/list", json!({})));
    assert_eq!(listing["result"]["ttlMs"], 60_000);
    assert!(names(&listing).contains(&"echo"));
    let sum =
        server.ask(&modern("tools/call", json!({"name": "add", "arguments": {"a": 1, "b": 2}})));
    assert_eq!(sum["result"]["structuredContent"]["sum"], 3);
    assert_eq!(server.close(), Some(0));
}

#[test]
fn a_legacy_client_is_served_over_stdio() {
    let mut server = stdio::start(&[]);
    let hello = server.ask(&initialize());
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    server.tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let listing = server.ask(&legacy("tools/list", &json!({})));
    assert_eq!(listing["result"].get("ttlMs"), None);
    let caps = server.ask(&legacy("tools/call", &json!({"name": "caps"})));
    assert_eq!(caps["result"]["structuredContent"]["era"], "legacy");
    assert_eq!(server.close(), Some(0));
}

#[test]
fn a_modern_client_is_served_over_http() {
    let server = http::start(&["--json"]);
    let listing = server.post(&modern("tools/list", json!({})), &http::modern("tools/list", None));
    assert_eq!(listing.status, 200);
    assert!(names(&listing.message()).contains(&"test_simple_text"));
    let call = modern("tools/call", json!({"name": "fail"}));
    let failure = server.post(&call, &http::modern("tools/call", Some("fail"))).message();
    assert_eq!(failure["result"]["isError"], true);
}

#[test]
fn a_legacy_client_is_given_a_session_over_http() {
    let server = http::start(&[]);
    let hello = server.post(&initialize(), &[]);
    assert_eq!(hello.message()["result"]["protocolVersion"], "2025-11-25");
    let session = hello.header("mcp-session-id").unwrap();
    let call = legacy("tools/call", &json!({"name": "echo", "arguments": {"a": "é"}}));
    let echo = server.post(&call, &[("Mcp-Session-Id", session)]).message();
    assert_eq!(echo["result"]["structuredContent"], json!({"a": "é"}));
}

#[test]
fn sessions_off_hands_out_none() {
    let server = http::start(&["--sessions", "off"]);
    assert_eq!(server.post(&initialize(), &[]).header("mcp-session-id"), None);
}

#[test]
fn unknown_fields_go_out_as_exact_bytes() {
    let tool = r#""x-fixture":{"z":1,"a":[1.0,2e2,"é"]}}"#;
    let result = r#""x-result":{"z":1,"a":true}}}"#;
    let (list, call) =
        (modern("tools/list", json!({})), modern("tools/call", json!({"name": "echo"})));
    let mut on_stdio = stdio::start(&["--unknown-fields"]);
    assert!(on_stdio.ask_raw(&list).contains(tool));
    assert!(on_stdio.ask_raw(&call).ends_with(result));
    for switches in [&["--unknown-fields"][..], &["--unknown-fields", "--json"]] {
        let over_http = http::start(switches);
        assert!(over_http.post(&list, &http::modern("tools/list", None)).body.contains(tool));
        assert!(
            over_http.post(&call, &http::modern("tools/call", Some("echo"))).body.contains(result)
        );
    }
}

#[test]
fn one_era_refuses_the_other() {
    let mut legacy_only = stdio::start(&["--era", "legacy"]);
    let refused = legacy_only.ask(&modern("server/discover", json!({})));
    assert_eq!(refused["error"]["code"], -32_601);
    assert!(legacy_only.ask(&initialize())["result"].is_object());

    let mut modern_only = stdio::start(&["--era", "modern"]);
    let refused = modern_only.ask(&initialize());
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert!(modern_only.ask(&modern("tools/list", json!({})))["result"].is_object());

    let over_http = http::start(&["--era", "legacy"]);
    let discover = modern("server/discover", json!({}));
    let refused = over_http.post(&discover, &http::modern("server/discover", None));
    assert_eq!((refused.status, refused.header("content-type")), (400, Some("text/plain")));
}

#[test]
fn bad_tools_stand_beside_the_good_ones() {
    let mut server = stdio::start(&["--fault", "bad-tools", "--fault", "split-writes"]);
    let listing = server.ask(&modern("tools/list", json!({})));
    let names = names(&listing);
    assert!(names.contains(&"echo") && names.contains(&"has space"));
    assert_eq!(names.iter().filter(|name| **name == "twin").count(), 2);
}

#[test]
fn a_changed_schema_is_announced() {
    let mut server = stdio::start(&["--fault", "schema-changes"]);
    server.ask(&initialize());
    server.tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    // The notification above has no answer: one exchange makes sure that it was read.
    server.ask(&legacy("ping", &json!({})));
    server.tell(&legacy("tools/call", &json!({"name": "mutate", "arguments": {"n": 7}})));
    let said = [server.hear(), server.hear()];
    assert!(said.iter().any(|line| line.contains("notifications/tools/list_changed")), "{said:?}");
    let listing = server.ask(&legacy("tools/list", &json!({})));
    let shifter = &listing["result"]["tools"].as_array().unwrap().last().unwrap()["inputSchema"];
    assert_eq!(shifter["required"], json!(["field_7"]));
}

#[test]
fn dying_and_being_silent_end_as_documented() {
    let call = modern("tools/call", json!({"name": "echo"}));
    let mut dies_after = stdio::start(&["--fault", "die-after-calls=1"]);
    assert!(dies_after.ask(&call)["result"].is_object());
    assert_eq!(dies_after.code(), Some(4));
    let mut dies_in = stdio::start(&["--fault", "die-in-call"]);
    dies_in.tell(&call);
    assert_eq!(dies_in.code(), Some(5));
    assert_eq!(stdio::start(&["--fault", "dead"]).code(), Some(3));
    let mut silent = stdio::start(&["--fault", "silent"]);
    silent.tell(&call);
    assert_eq!(silent.close(), Some(0));
}
