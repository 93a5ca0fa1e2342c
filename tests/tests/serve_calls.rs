//! The main journey: manifests in, tools listed, calls carried, both eras, both transports.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use serde_json::{Value, json};
use surface::members::Members;
use tests::harness::{FixtureServer, Gateway, fixture_argv, http, http_server, stdio_server};

/// Behind one gateway: both transports, both eras, sessions and none.
async fn all_kinds(fixture: &FixtureServer, legacy: &FixtureServer) -> Gateway {
    let fields = ["--unknown-fields", "--raw-echo"];
    Gateway::start(&[
        stdio_server("pipe", &fixture_argv(&fields), ""),
        stdio_server(
            "pipe-legacy",
            &fixture_argv(&[&fields[..], &["--era", "legacy"]].concat()),
            "",
        ),
        http_server("web", &fixture.url, ""),
        http_server("web-legacy", &legacy.url, ""),
    ])
    .await
}

async fn fixtures() -> (FixtureServer, FixtureServer) {
    let fields = ["--unknown-fields", "--raw-echo"];
    let legacy = [&fields[..], &["--era", "legacy"]].concat();
    (FixtureServer::start(&fields).await, FixtureServer::start(&legacy).await)
}

const SERVERS: [(&str, &str); 4] =
    [("pipe", "Modern"), ("pipe-legacy", "Legacy"), ("web", "Modern"), ("web-legacy", "Legacy")];

#[tokio::test]
async fn every_transport_and_era_is_listed_and_called_alike() {
    let (fixture, legacy) = fixtures().await;
    let gateway = all_kinds(&fixture, &legacy).await;
    let names = gateway.tool_names("/mcp/router").await;
    for (server, era) in SERVERS {
        let known = gateway.server(server).await;
        assert_eq!(known["era"], era, "{known}");
        assert!(names.contains(&format!("{server}__echo")), "{names:?}");
        let answer = gateway.call(&format!("{server}__add"), json!({"a": 2, "b": 3})).await;
        assert_eq!(answer["result"]["isError"], false, "{server}: {answer}");
        let params = json!({"name": "add", "arguments": {"a": 2, "b": 3}});
        let own =
            http::modern(&gateway.url(&format!("/mcp/servers/{server}")), "tools/call", params)
                .await;
        assert_eq!(own.json()["result"]["content"], answer["result"]["content"], "{server}");
        assert_eq!(own.json()["result"]["resultType"], "complete", "{server}");
    }
}

#[tokio::test]
async fn unknown_fields_and_the_spelling_of_numbers_survive() {
    let (fixture, legacy) = fixtures().await;
    let gateway = all_kinds(&fixture, &legacy).await;
    let arguments = r#"{"z":1.0, "a":[2e2,"\u00e9"],"big":12345678901234567890}"#;
    for (server, _) in SERVERS {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"{server}__echo","arguments":{arguments}}}}}"#
        );
        let answer = http::post(&gateway.url("/mcp/router"), body, &[]).await;
        assert!(
            answer.body.contains(r#""x-result":{"z":1,"a":true}"#),
            "{server}: {}",
            answer.body
        );
        let text = answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(text, arguments, "{server}");

        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let listed = http::post(&gateway.url("/mcp/router"), list.clone(), &[]).await.body;
        let kept = r#""x-fixture":{"z":1,"a":[1.0,2e2,"é"]}"#;
        assert_eq!(listed.matches(kept).count(), SERVERS.len(), "{listed}");
        let own = http::post(&gateway.url(&format!("/mcp/servers/{server}")), list, &[]).await.body;
        assert!(own.contains(kept), "{own}");
    }
}

#[tokio::test]
async fn a_payload_equals_that_of_a_direct_call() {
    let fixture = FixtureServer::start(&["--json"]).await;
    let gateway = Gateway::start(&[http_server("web", &fixture.url, "")]).await;
    for tool in [
        "test_simple_text",
        "test_image_content",
        "test_multiple_content_types",
        "test_error_handling",
    ] {
        let direct =
            http::modern(&fixture.url, "tools/call", json!({"name": tool, "arguments": {}})).await;
        let url = gateway.url("/mcp/servers/web");
        let own = http::modern(&url, "tools/call", json!({"name": tool, "arguments": {}})).await;
        let (direct, own) = (result_text(&direct.body), result_text(&own.body));
        assert_eq!(direct, own, "{tool}");
    }
    let direct = http::modern(&fixture.url, "tools/list", json!({})).await;
    let own = http::modern(&gateway.url("/mcp/servers/web"), "tools/list", json!({})).await;
    assert_eq!(by_name(&direct.json()), by_name(&own.json()));
}

/// The result's own text, so that bytes are compared and not values.
fn result_text(body: &str) -> String {
    Members::parse(body).unwrap().get("result").unwrap().to_owned()
}

fn by_name(answer: &Value) -> Vec<Value> {
    let mut tools = answer["result"]["tools"].as_array().unwrap().clone();
    tools.sort_by_key(|tool| tool["name"].to_string());
    tools
}

#[tokio::test]
async fn names_that_lead_nowhere_are_told_with_the_texts_of_the_routing_model() {
    let gateway = Gateway::start(&[stdio_server("fixture", &fixture_argv(&[]), "")]).await;
    for (name, message) in [
        (
            "echo",
            "Tool 'echo' is not properly namespaced. All tool calls must use 'server__tool' format",
        ),
        ("unknown__echo", "Unknown server 'unknown' in request"),
        ("fixture__nonexistent", "Tool 'fixture__nonexistent' not found"),
        ("fixture__", "Tool 'fixture__' not found"),
        ("", "Tool call missing required 'name' parameter"),
    ] {
        let answer = gateway.call(name, json!({})).await;
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
        assert_eq!(answer["error"]["message"], message);
    }
    let params = json!({"name": "fixture__echo", "arguments": {}});
    let own = gateway.request("/mcp/servers/fixture", "tools/call", &params).await;
    assert_eq!(own["error"]["message"], "Tool 'fixture__echo' not found");
    let elsewhere = gateway.request("/mcp/servers/unknown", "tools/list", &json!({})).await;
    assert_eq!(elsewhere["error"]["message"], "Unknown server 'unknown' in request");
}

#[tokio::test]
async fn names_in_errors_are_restored_and_data_is_left_alone() {
    let gateway = Gateway::start(&[stdio_server("fixture", &fixture_argv(&[]), "")]).await;
    let error = gateway.call("fixture__protocol_error", json!({})).await;
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("'fixture__protocol_error'"), "{message}");
    assert_eq!(error["error"]["data"]["tool"], "protocol_error");
    let failed = gateway.call("fixture__fail", json!({})).await;
    let text = failed["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "fixture__fail: the tool 'fixture__fail' failed on purpose");
    let params = json!({"name": "fail", "arguments": {}});
    let own = gateway.request("/mcp/servers/fixture", "tools/call", &params).await;
    assert_eq!(own["result"]["content"][0]["text"], "fail: the tool 'fail' failed on purpose");
}

#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let fixture = FixtureServer::start(&[]).await;
    let gateway = Gateway::start(&[
        stdio_server("pipe", &fixture_argv(&[]), ""),
        http_server("web", &fixture.url, ""),
    ])
    .await;
    for server in ["pipe", "web"] {
        let name = format!("{server}__wait");
        let long = gateway.call(&name, json!({"ms": 60_000}));
        let short = async {
            for other in ["pipe", "web"] {
                let answer = gateway.call(&format!("{other}__wait"), json!({"ms": 300})).await;
                assert_eq!(answer["result"]["isError"], false, "{answer}");
            }
        };
        // However busy the machine is: the short ones end while the long one is under way.
        tokio::select! {
            answer = long => panic!("the long call ended first: {answer}"),
            () = short => {}
        }
    }
}

#[tokio::test]
async fn progress_comes_before_the_answer_under_the_clients_token() {
    let (fixture, legacy) = fixtures().await;
    let gateway = all_kinds(&fixture, &legacy).await;
    for (server, _) in SERVERS {
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
            "name": format!("{server}__test_tool_with_progress"), "arguments": {},
            "_meta": {"progressToken": "mine"},
        }});
        let answer = http::post(&gateway.url("/mcp/router"), body.to_string(), &[]).await;
        let messages = answer.messages();
        let (last, notices) = messages.split_last().unwrap_or_else(|| panic!("{}", answer.body));
        assert_eq!(last["id"], 9, "{server}");
        assert_eq!(notices.len(), 3, "{server}: {notices:?}");
        assert!(
            notices.iter().all(|n| n["params"]["progressToken"] == "mine"),
            "{server}: {notices:?}"
        );
    }
}

#[tokio::test]
async fn lists_are_the_same_bytes_every_time_and_carry_caching_hints() {
    let gateway = Gateway::start(&[stdio_server("fixture", &fixture_argv(&[]), "")]).await;
    let list =
        || async { http::modern(&gateway.url("/mcp/router"), "tools/list", json!({})).await };
    let (first, second) = (list().await, list().await);
    assert_eq!(first.body, second.body);
    let result = &first.json()["result"];
    assert!(result["ttlMs"].as_u64().unwrap() > 0);
    assert_eq!(result["cacheScope"], "public");
    let names = gateway.tool_names("/mcp/router").await;
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted, "in id order");
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let fixture = FixtureServer::start(&[]).await;
    let limits = "limits: {concurrency: 1}";
    let gateway = Gateway::start(&[
        stdio_server("pipe", &fixture_argv(&[]), limits),
        http_server("web", &fixture.url, limits),
    ])
    .await;
    for server in ["pipe", "web"] {
        let name = format!("{server}__wait");
        let given_up = gateway.call(&name, json!({"ms": 60_000}));
        let given_up = tokio::time::timeout(std::time::Duration::from_millis(200), given_up).await;
        assert!(given_up.is_err());
        // The one permit is free again as soon as the gateway has noticed.
        let answer = tests::harness::until("the permit to be free", async || {
            let answer = gateway.call(&name, json!({"ms": 1})).await;
            (answer["result"]["isError"] == false).then_some(answer)
        })
        .await;
        assert_eq!(answer["result"]["isError"], false);
    }
}
