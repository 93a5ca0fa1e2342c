//! What servers do wrong: each fault shows in a condition or an error, and costs nobody else
//! anything.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use serde_json::{Value, json};
use tests::harness::{FixtureServer, Gateway, fixture_argv, http_server, stdio_server, until};

/// Short limits, so that silence is known for what it is soon.
const SHORT: &str = "limits: {connectTimeout: 2s, callTimeout: 1s, maxResponseBytes: 256Ki}\ndiscovery: {pollInterval: 10s}";

fn good() -> String {
    stdio_server("good", &fixture_argv(&[]), "")
}

async fn good_answers(gateway: &Gateway) {
    let answer = gateway.call("good__add", json!({"a": 1, "b": 2})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

fn code(answer: &Value) -> &str {
    let code = &answer["result"]["structuredContent"]["error"];
    assert!(code.is_string(), "{answer}");
    code.as_str().unwrap()
}

/// A server that cannot be listed: its condition says why, and its tools say so when called.
async fn check_unlisted(bad: String, reason: &str, message: &str) {
    let gateway = Gateway::launch(&[bad, good()], &[]).await;
    let said = gateway.wait_for("bad", "Verified", "False", reason).await;
    assert!(said.contains(message), "{said}");
    gateway.wait_for("good", "Verified", "True", "Listed").await;
    gateway.ready().await;
    good_answers(&gateway).await;
    assert_eq!(code(&gateway.call("bad__echo", json!({})).await), "UPSTREAM_UNAVAILABLE");
    assert_eq!(gateway.stop().await, Some(0));
}

fn bad_stdio(switches: &[&str]) -> String {
    stdio_server("bad", &fixture_argv(switches), SHORT)
}

#[tokio::test]
async fn a_process_that_dies_at_once_says_its_exit_code() {
    check_unlisted(bad_stdio(&["--fault", "dead"]), "Exited", "exited with code 3").await;
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_not_started() {
    let argv = ["no-such-program-anywhere".to_owned()];
    check_unlisted(stdio_server("bad", &argv, SHORT), "NotStarted", "no-such-program").await;
}

#[tokio::test]
async fn silence_ends_at_the_timeout() {
    check_unlisted(bad_stdio(&["--fault", "silent"]), "Timeout", "no answer within 2s").await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_named_as_such() {
    check_unlisted(bad_stdio(&["--fault", "nonsense"]), "InvalidResponse", "no JSON-RPC").await;
}

#[tokio::test]
async fn half_a_line_ends_at_the_timeout() {
    check_unlisted(bad_stdio(&["--fault", "half-line"]), "Timeout", "no answer within 1s").await;
}

#[tokio::test]
async fn a_line_without_end_is_given_up() {
    check_unlisted(bad_stdio(&["--fault", "endless-line"]), "ResponseTooLarge", "262144").await;
}

#[tokio::test]
async fn pages_without_end_are_given_up() {
    check_unlisted(bad_stdio(&["--fault", "same-cursor"]), "EndlessListing", "same cursor").await;
    let argv = fixture_argv(&["--fault", "endless-paging"]);
    let patient = "limits: {callTimeout: 30s}";
    check_unlisted(stdio_server("bad", &argv, patient), "EndlessListing", "pages").await;
}

#[tokio::test]
async fn over_http_the_same_faults_are_told_the_same_way() {
    for (fault, reason, message) in [
        ("silent", "Timeout", "no answer within 2s"),
        ("nonsense", "WrongContentType", "text/html"),
        ("wrong-content-type", "WrongContentType", "text/plain"),
        ("half-line", "Timeout", "no answer within 1s"),
        ("endless-line", "ResponseTooLarge", "262144"),
        ("endless-line=sse", "ResponseTooLarge", "262144"),
        ("http-status=503", "HttpStatus", "503"),
        ("http-status=401", "Unauthorized", "401"),
        ("same-cursor", "EndlessListing", "same cursor"),
        ("redirect", "Redirected", "another host"),
    ] {
        let fixture = FixtureServer::start(&["--fault", fault]).await;
        check_unlisted(http_server("bad", &fixture.url, SHORT), reason, message).await;
    }
}

#[tokio::test]
async fn nobody_listening_is_unreachable_until_somebody_does() {
    let fixture = FixtureServer::start(&[]).await;
    let (authority, url) = (fixture.authority().to_owned(), fixture.url.clone());
    fixture.kill().await;
    let gateway = Gateway::start(&[http_server("bad", &url, SHORT), good()]).await;
    let said = gateway.wait_for("bad", "Verified", "False", "Unreachable").await;
    assert!(said.contains("connection refused"), "{said}");
    let _fixture = FixtureServer::start_on(&authority, &[]).await;
    gateway.wait_for("bad", "Verified", "True", "Listed").await;
    let answer = gateway.call("bad__add", json!({"a": 1, "b": 2})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[tokio::test]
async fn a_private_address_needs_permission() {
    let fixture = FixtureServer::start(&[]).await;
    let open = http_server("bad", &fixture.url, SHORT);
    let closed = open.replace("allowPrivateEndpoint: true", "allowPrivateEndpoint: false");
    check_unlisted(closed.clone(), "AddressRefused", "allowPrivateEndpoint").await;
    // A name is checked by what it resolves to.
    let named = closed.replace("127.0.0.1", "localhost");
    check_unlisted(named, "AddressRefused", "allowPrivateEndpoint").await;
    let metadata = open.replace(fixture.authority(), "169.254.169.254");
    check_unlisted(metadata, "AddressRefused", "platform").await;
}

#[tokio::test]
async fn a_call_that_is_not_answered_times_out_alone() {
    for bad in [bad_stdio(&["--fault", "silent-calls"]), bad_stdio(&["--fault", "slow-call=5000"])]
    {
        let gateway = Gateway::start(&[bad, good()]).await;
        let (answer, ()) =
            tokio::join!(gateway.call("bad__echo", json!({})), good_answers(&gateway));
        assert_eq!(code(&answer), "UPSTREAM_TIMEOUT", "{answer}");
        let message = answer["result"]["structuredContent"]["message"].as_str().unwrap();
        assert_eq!(message, "call of tool 'bad__echo' failed: no answer within 1s");
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_and_is_started_again() {
    let gateway = Gateway::start(&[bad_stdio(&["--fault", "die-in-call"]), good()]).await;
    let answer = gateway.call("bad__echo", json!({})).await;
    assert_eq!(code(&answer), "UPSTREAM_UNAVAILABLE", "{answer}");
    good_answers(&gateway).await;
    let again = gateway.call("bad__add", json!({"a": 1, "b": 2})).await;
    assert_eq!(again["result"]["isError"], false, "{again}");
}

#[tokio::test]
async fn a_server_that_dies_between_two_calls_is_started_again() {
    let gateway = Gateway::start(&[bad_stdio(&["--fault", "die-after-calls=1"]), good()]).await;
    for round in 0..3 {
        // A call that was sent into the dying process fails, since nobody knows what became of
        // it; the next one finds a new process.
        until(&format!("answer {round}"), async || {
            let answer = gateway.call("bad__add", json!({"a": 1, "b": 2})).await;
            let answered = answer["result"]["isError"] == false;
            assert!(answered || code(&answer) == "UPSTREAM_UNAVAILABLE", "{answer}");
            answered.then_some(())
        })
        .await;
        good_answers(&gateway).await;
    }
}

#[tokio::test]
async fn a_result_that_is_too_large_fails_its_own_call() {
    let fixture = FixtureServer::start(&["--fault", "huge-result=1000000", "--json"]).await;
    let events = FixtureServer::start(&["--fault", "huge-result=1000000"]).await;
    for bad in [
        bad_stdio(&["--fault", "huge-result=1000000"]),
        http_server("bad", &fixture.url, SHORT),
        http_server("bad", &events.url, SHORT),
    ] {
        let gateway = Gateway::start(&[bad, good()]).await;
        let (huge, small) = tokio::join!(
            gateway.call("bad__echo", json!({})),
            gateway.call("bad__add", json!({"a": 1, "b": 2})),
        );
        assert_eq!(code(&huge), "UPSTREAM_ERROR", "{huge}");
        assert_eq!(small["result"]["isError"], false, "{small}");
        good_answers(&gateway).await;
    }
}

#[tokio::test]
async fn faults_that_can_be_borne_are_borne() {
    let split = FixtureServer::start(&["--fault", "split-writes"]).await;
    let gateway = Gateway::start(&[
        stdio_server("split", &fixture_argv(&["--fault", "split-writes"]), ""),
        stdio_server("noise", &fixture_argv(&["--fault", "noise"]), ""),
        stdio_server("flood", &fixture_argv(&["--fault", "stderr-flood"]), ""),
        stdio_server("slow", &fixture_argv(&["--fault", "slow-list=300"]), ""),
        stdio_server("pages", &fixture_argv(&["--page-size", "3"]), ""),
        http_server("split-web", &split.url, ""),
    ])
    .await;
    let echoes = gateway.tool_names("/mcp/router").await;
    for server in ["split", "noise", "flood", "slow", "pages", "split-web"] {
        assert!(echoes.contains(&format!("{server}__wait")), "{server}: {echoes:?}");
        let answer = gateway.call(&format!("{server}__add"), json!({"a": 1, "b": 2})).await;
        assert_eq!(answer["result"]["isError"], false, "{server}: {answer}");
    }
}

#[tokio::test]
async fn tools_that_cannot_be_served_are_left_out_alone_and_named() {
    let gateway =
        Gateway::start(&[stdio_server("bad", &fixture_argv(&["--fault", "bad-tools"]), "")]).await;
    let server = gateway.server("bad").await;
    let mut reasons: Vec<&str> = server["excluded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["reason"].as_str().unwrap())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in
        ["Collision", "InvalidSchema", "NotATool", "NotCanonical", "OutsideIdGrammar", "Oversize"]
    {
        assert!(reasons.contains(&reason), "{reason}: {server}");
    }
    let names = gateway.tool_names("/mcp/router").await;
    assert!(names.contains(&"bad__add".to_owned()));
    assert!(names.contains(&"bad__has space".to_owned()), "only profiles with cards leave it out");
    assert!(!names.iter().any(|name| name.contains("twin")), "{names:?}");
    let excluded = gateway.call("bad__twin", json!({})).await;
    assert_eq!(excluded["error"]["message"], "Tool 'bad__twin' not found");
    let metrics = gateway.metrics().await;
    assert!(
        metrics.contains(r#"portreeve_gateway_excluded_tools{reason="Collision",server="bad"} 2"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn a_changed_schema_is_served_soon_announced_or_not() {
    let changes = ["--fault", "schema-changes"];
    let web = FixtureServer::start(&changes).await;
    let web_legacy = FixtureServer::start(&["--fault", "schema-changes", "--era", "legacy"]).await;
    let silent = ["--fault", "schema-changes", "--no-list-changed", "--fault", "ttl=0"];
    let gateway = Gateway::start(&[
        stdio_server("pipe", &fixture_argv(&changes), ""),
        stdio_server(
            "pipe-legacy",
            &fixture_argv(&[&changes[..], &["--era", "legacy"]].concat()),
            "",
        ),
        http_server("web", &web.url, ""),
        http_server("web-legacy", &web_legacy.url, ""),
        // Found by polling alone.
        stdio_server("poll", &fixture_argv(&silent), "discovery: {pollInterval: 10s}"),
    ])
    .await;
    for server in ["pipe", "pipe-legacy", "web", "web-legacy", "poll"] {
        let before = gateway.server(server).await["revision"].clone();
        let answer = gateway.call(&format!("{server}__mutate"), json!({"n": 7})).await;
        assert_eq!(answer["result"]["isError"], false, "{server}: {answer}");
        until(&format!("the new schema of {server}"), async || {
            let answer = gateway.request("/mcp/router", "tools/list", &json!({})).await;
            let tools = answer["result"]["tools"].as_array().unwrap();
            let name = format!("{server}__shape_shifter");
            let tool = tools.iter().find(|tool| tool["name"] == name)?;
            tool["inputSchema"]["required"].to_string().contains("field_7").then_some(())
        })
        .await;
        assert_ne!(gateway.server(server).await["revision"], before, "{server}");
    }
}

#[tokio::test]
async fn the_breaker_opens_and_says_when_to_come_back() {
    let more = "limits: {callTimeout: 200ms}\nresilience: {breaker: {failures: 2, openFor: 30s}}";
    let bad = stdio_server("bad", &fixture_argv(&["--fault", "silent-calls"]), more);
    let gateway = Gateway::start(&[bad, good()]).await;
    for _ in 0..2 {
        assert_eq!(code(&gateway.call("bad__echo", json!({})).await), "UPSTREAM_TIMEOUT");
    }
    let refused = gateway.call("bad__echo", json!({})).await;
    assert_eq!(code(&refused), "UPSTREAM_UNAVAILABLE");
    let details = &refused["result"]["structuredContent"]["details"];
    assert!(details["retryAfterMs"].as_u64().unwrap() > 20_000, "{refused}");
    good_answers(&gateway).await;
}

#[tokio::test]
async fn calls_beyond_the_limit_are_refused_at_once() {
    let bad = stdio_server("bad", &fixture_argv(&[]), "limits: {concurrency: 1}");
    let gateway = Gateway::start(&[bad]).await;
    let wait = || gateway.call("bad__wait", json!({"ms": 500}));
    let (a, b) = tokio::join!(wait(), wait());
    let codes: Vec<_> = [&a, &b]
        .iter()
        .map(|answer| answer["result"]["structuredContent"]["error"].clone())
        .collect();
    assert!(codes.contains(&json!("RATE_LIMITED")) && codes.contains(&Value::Null), "{codes:?}");
}
