//! The gateway as a child of its client: one profile over stdin and stdout, both eras, line by
//! line and through real clients, and nothing left behind when the client leaves.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic anywhere, in its helper functions too"
)]

use serde_json::{Value, json};
use tests::harness::{fixture_argv, real::client, stdio_server, until};
use tokio::sync::Mutex;

mod serve_stdio {
    pub(crate) mod pipe;
}

use serve_stdio::pipe::{self, Pipe};

/// A fixture that has no subscription open when it is asked to leave: it takes its time with one.
fn fixture(more: &str) -> String {
    stdio_server("fixture", &fixture_argv(&["--no-list-changed"]), more)
}

fn add() -> Value {
    json!({"name": "fixture__add", "arguments": {"a": 2, "b": 3}})
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_legacy_client_shakes_hands_lists_and_calls() {
    let mut pipe = Pipe::start(&[fixture("")]);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    pipe.request(1, "initialize", hello).await;
    let hello = pipe.answer(1).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18", "{hello}");
    assert_eq!(hello["result"]["serverInfo"]["name"], "portreeve", "{hello}");
    pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    pipe.request(2, "tools/list", json!({})).await;
    assert!(names(&pipe.answer(2).await).contains(&"fixture__echo"));
    pipe.request(3, "tools/call", add()).await;
    let answer = pipe.answer(3).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"sum": 5}), "{answer}");
    assert_eq!(pipe.close().await, (vec![], Some(0)));
}

#[tokio::test]
async fn a_modern_client_discovers_lists_and_calls() {
    let mut pipe = Pipe::start(&[fixture("")]);
    pipe.modern(1, "server/discover", json!({})).await;
    let found = pipe.answer(1).await;
    assert_eq!(found["result"]["supportedVersions"][0], "2026-07-28", "{found}");
    pipe.modern(2, "tools/list", json!({})).await;
    let listed = pipe.answer(2).await;
    assert!(names(&listed).contains(&"fixture__echo"));
    assert_eq!(listed["result"]["resultType"], "complete");
    pipe.modern(3, "tools/call", add()).await;
    let answer = pipe.answer(3).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"sum": 5}), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(pipe.close().await, (vec![], Some(0)));
}

#[tokio::test]
async fn progress_comes_before_the_answer_under_the_clients_token() {
    let mut pipe = Pipe::start(&[fixture("")]);
    let params = json!({"name": "fixture__test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": "mine"}});
    pipe.request(1, "tools/call", params).await;
    for progress in [0, 50, 100] {
        let notice = pipe.line().await.unwrap();
        assert_eq!(notice["method"], "notifications/progress", "{notice}");
        assert_eq!(notice["params"]["progressToken"], "mine", "{notice}");
        assert_eq!(notice["params"]["progress"].as_f64(), Some(f64::from(progress)), "{notice}");
    }
    assert_eq!(pipe.answer(1).await["result"]["isError"], false);
}

#[tokio::test]
async fn answers_come_as_they_are_ready() {
    let mut pipe = Pipe::start(&[fixture("")]);
    let wait = |ms: u32| json!({"name": "fixture__wait", "arguments": {"ms": ms}});
    pipe.request(1, "tools/call", wait(1000)).await;
    pipe.request(2, "tools/call", wait(1)).await;
    pipe.answer(2).await;
    pipe.answer(1).await;
}

#[tokio::test]
async fn a_cancelled_call_ends_at_the_server_and_is_not_answered() {
    let mut pipe = Pipe::start(&[fixture("limits: {concurrency: 1, callTimeout: 60s}")]);
    let wait = |ms: u32| json!({"name": "fixture__wait", "arguments": {"ms": ms}});
    pipe.request(1, "tools/call", wait(50_000)).await;
    pipe.request(2, "tools/call", wait(50_000)).await;
    // Whichever came second is refused, so the other one is under way.
    let refused = pipe.line().await.unwrap();
    assert_eq!(refused["result"]["structuredContent"]["error"], "RATE_LIMITED", "{refused}");
    let under_way = if refused["id"] == 1 { 2 } else { 1 };
    let params = json!({"requestId": under_way, "reason": "of no interest any more"});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    pipe.send(&notice.to_string()).await;
    // The one permit is free again as soon as the call is given up.
    let later = Mutex::new((pipe, 3..));
    until("the permit to be free", async || {
        let (pipe, ids) = &mut *later.lock().await;
        let id = ids.next().unwrap();
        pipe.request(id, "tools/call", wait(1)).await;
        let answer = pipe.answer(id).await;
        (answer["result"]["isError"] == false).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_line_that_is_no_request_is_told_and_the_next_is_served() {
    let mut pipe = Pipe::start(&[fixture("")]);
    for (line, code, id) in [
        ("{", -32700, json!(null)),
        ("hello", -32700, json!(null)),
        ("7", -32600, json!(null)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, -32600, json!(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#, -32601, json!(3)),
    ] {
        pipe.send(line).await;
        let answer = pipe.line().await.unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}");
    }
    pipe.send("\r").await;
    pipe.request(4, "ping", json!({})).await;
    assert_eq!(pipe.answer(4).await["result"], json!({}));
}

#[tokio::test]
async fn a_gateway_that_is_asked_to_stop_does_not_wait_for_its_client() {
    let mut pipe = Pipe::start(&[fixture("")]);
    pipe.request(1, "tools/call", add()).await;
    pipe.answer(1).await;
    let children = pipe.children();
    assert_eq!(pipe.terminate().await, Some(0));
    for child in children {
        pipe::gone(child).await;
    }
}

#[tokio::test]
async fn a_greeting_is_answered_while_servers_are_still_starting() {
    let stuck = stdio_server("stuck", &["sleep".to_owned(), "60".to_owned()], "");
    let mut pipe = Pipe::start(&[stuck]);
    pipe.request(1, "tools/list", json!({})).await;
    pipe.request(2, "ping", json!({})).await;
    pipe.answer(2).await;
    pipe.modern(3, "server/discover", json!({})).await;
    pipe.answer(3).await;
}

#[tokio::test]
async fn several_messages_in_one_line_are_answered_in_one() {
    let mut pipe = Pipe::start(&[fixture("")]);
    let message = |id, method, params| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = json!([message(1, "ping", json!({})), notice, message(2, "tools/call", add())]);
    pipe.send(&batch.to_string()).await;
    let answers = pipe.line().await.unwrap();
    assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(1), &json!({})), "{answers}");
    assert_eq!(answers[1]["result"]["structuredContent"], json!({"sum": 5}), "{answers}");
}

#[tokio::test]
async fn the_end_of_input_ends_the_gateway_and_what_it_started() {
    let slow_to_leave = stdio_server("other", &fixture_argv(&[]), "");
    let mut pipe = Pipe::start(&[fixture(""), slow_to_leave]);
    pipe.request(1, "tools/call", add()).await;
    pipe.answer(1).await;
    let children = pipe.children();
    assert_eq!(children.len(), 2, "{children:?}");
    // What is under way is still answered.
    let wait = json!({"name": "other__wait", "arguments": {"ms": 300}});
    pipe.request(2, "tools/call", wait).await;
    let (said, code) = pipe.close().await;
    assert_eq!((said.len(), &said[0]["id"], code), (1, &json!(2), Some(0)), "{said:?}");
    for child in children {
        pipe::gone(child).await;
    }
}

#[tokio::test]
async fn real_clients_start_it_as_their_server() {
    let folder = pipe::folder(&[fixture("")]);
    let commands = [
        json!({"op": "initialize"}),
        json!({"op": "list"}),
        json!({"op": "call", "name": "fixture__add", "arguments": {"a": 2, "b": 3}}),
        json!({"op": "call", "name": "add", "arguments": {}}),
    ];
    for (name, era, version) in [
        ("python-v2", &[][..], "2026-07-28"),
        ("python-v2", &["--era", "legacy"], "2025-11-25"),
        ("typescript-v1", &[], "2025-11-25"),
    ] {
        let target = [era, &["--stdio"]].concat().into_iter().map(str::to_owned);
        let target: Vec<String> = target.chain(pipe::argv(folder.path())).collect();
        let [hello, list, call, bare] = &client(name, &target, &[], &commands).await[..] else {
            unreachable!("as many entries as commands")
        };
        assert_eq!(hello["result"]["protocolVersion"], version, "{name}: {hello}");
        assert!(names(list).contains(&"fixture__add"), "{name}: {list}");
        assert_eq!(call["result"]["structuredContent"], json!({"sum": 5}), "{name}: {call}");
        let message = bare["error"]["message"].as_str().unwrap_or_else(|| panic!("{bare}"));
        assert!(message.contains("is not properly namespaced"), "{name}: {message}");
    }
}
