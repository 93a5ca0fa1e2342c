//! The folder of manifests: followed while serving, checked aloud, kept over a restart.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use std::{path::Path, process::Stdio};

use serde_json::{Value, json};
use tests::harness::{
    FixtureServer, Gateway, binary, fixture_argv, http_server, stdio_server, until,
};

#[tokio::test]
async fn servers_come_and_go_with_their_manifests() {
    let gateway = Gateway::start(&[stdio_server("first", &fixture_argv(&[]), "")]).await;
    gateway.apply("second.yaml", &stdio_server("second", &fixture_argv(&[]), ""));
    gateway.wait_for("second", "Ready", "True", "Ready").await;
    let answer = gateway.call("second__add", json!({"a": 1, "b": 2})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    gateway.delete("second.yaml");
    until("the second server to be gone", async || {
        let answer = gateway.call("second__add", json!({})).await;
        (answer["error"]["message"] == "Unknown server 'second' in request").then_some(())
    })
    .await;
    let names = gateway.tool_names("/mcp/router").await;
    assert!(names.iter().all(|name| name.starts_with("first__")), "{names:?}");
}

#[tokio::test]
async fn a_changed_manifest_lets_calls_under_way_finish() {
    let server =
        |name| stdio_server("s", &fixture_argv(&["--name", name]), "limits: {concurrency: 1}");
    let gateway = Gateway::start(&[server("old")]).await;
    let old = children(gateway.pid());
    assert_eq!(old.len(), 1, "{old:?}");
    let limited = |answer: &Value| answer["result"]["structuredContent"]["error"] == "RATE_LIMITED";
    // Refused itself as long as one of the questions below is being answered.
    let under_way = until("the call's answer", async || {
        let answer = gateway.call("s__wait", json!({"ms": 5000})).await;
        (!limited(&answer)).then_some(answer)
    });
    let change = async {
        until("the call to be under way", async || {
            limited(&gateway.call("s__wait", json!({"ms": 0})).await).then_some(())
        })
        .await;
        gateway.apply("000.yaml", &server("new"));
        until("the new server", async || {
            (gateway.server("s").await["serverInfo"]["name"] == "new").then_some(())
        })
        .await;
        assert!(children(gateway.pid()).contains(&old[0]), "it serves the call under way");
    };
    tokio::pin!(under_way);
    tokio::select! {
        biased;
        () = change => {}
        answer = &mut under_way => unreachable!("before the change: {answer}"),
    }
    let answer = under_way.await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    until("the old server's process to be gone", async || {
        (!children(gateway.pid()).contains(&old[0])).then_some(())
    })
    .await;
}

/// Processes that a process has started and that still run.
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name before the bracket may hold spaces; behind it stand state and parent.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let mut fields = fields.split_whitespace();
        fields.next() != Some("Z") && fields.next() == Some(&*parent.to_string())
    };
    ids.filter(is_child).collect()
}

#[tokio::test]
async fn a_list_that_nobody_knows_is_an_error_and_a_call_a_result() {
    let gateway = Gateway::start(&[http_server("s", "http://127.0.0.1:9/mcp", "")]).await;
    let endpoint = "/mcp/servers/s";
    let listed = gateway.request(endpoint, "tools/list", &json!({})).await;
    assert_eq!(listed["error"]["code"], -32603, "{listed}");
    let message = listed["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("server 's' is not available: "), "{message}");
    let called = gateway.request(endpoint, "tools/call", &json!({"name": "x"})).await;
    assert_eq!(called["result"]["structuredContent"]["message"], message, "{called}");
}

#[tokio::test]
async fn a_contested_namespace_stays_with_the_first_by_name_and_nothing_valid_is_dropped() {
    let gateway = Gateway::start(&[
        stdio_server("b", &fixture_argv(&["--name", "second"]), "toolNamespace: shared"),
        stdio_server("a", &fixture_argv(&["--name", "first"]), "toolNamespace: shared"),
        "apiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\nmetadata: {name: broken}\nspec: {nonsense: 1}\n".to_owned(),
        "not: [yaml".to_owned(),
        stdio_server("good", &fixture_argv(&[]), ""),
    ])
    .await;
    assert_eq!(gateway.server("a").await["serverInfo"]["name"], "first");
    let (status, reason, message) = gateway.condition("b", "Accepted").await.unwrap();
    assert_eq!((status.as_str(), reason.as_str()), ("False", "NamespaceConflict"));
    assert!(message.contains("default/a"), "{message}");
    assert_eq!(gateway.condition("broken", "Accepted").await.unwrap().0, "False");
    assert_eq!(gateway.condition("broken", "ResolvedRefs").await.unwrap().0, "Unknown");
    let (status, reason, message) = gateway.condition("broken", "Verified").await.unwrap();
    assert_eq!((status.as_str(), reason.as_str()), ("False", "NotServed"));
    assert_eq!(message, "the manifest is not accepted");
    assert_eq!(gateway.condition("good", "Ready").await.unwrap().0, "True");
    let problems = gateway.report().await["problems"].to_string();
    assert!(problems.contains("003.yaml") && problems.contains("spec.nonsense"), "{problems}");
}

#[tokio::test]
async fn a_field_that_is_not_built_yet_is_said_and_what_it_restricts_is_withheld() {
    let policy = "apiVersion: portreeve.dev/v1alpha1\nkind: ToolPolicy\nmetadata: {name: careful}\nspec:\n  tools: {deny: ['ech*']}\n";
    let gateway =
        Gateway::start(&[stdio_server("s", &fixture_argv(&[]), ""), policy.to_owned()]).await;
    let names = gateway.tool_names("/mcp/router").await;
    assert!(
        names.contains(&"s__add".to_owned()) && !names.contains(&"s__echo".to_owned()),
        "{names:?}"
    );
    let excluded = gateway.server("s").await["excluded"].to_string();
    assert!(excluded.contains("Withheld") && excluded.contains("careful"), "{excluded}");
    assert!(excluded.contains(r#""scope":"Everywhere""#), "{excluded}");
    let policies = &gateway.report().await["policies"];
    assert_eq!(policies[0]["object"]["name"], "careful", "{policies}");
    assert_eq!(policies[0]["conditions"][0]["type"], "Accepted", "{policies}");
    let answer = gateway.call("s__echo", json!({})).await;
    assert_eq!(answer["error"]["message"], "Tool 's__echo' not found");
    gateway.delete("001.yaml");
    until("the tool to be back", async || {
        gateway.tool_names("/mcp/router").await.contains(&"s__echo".to_owned()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn credentials_and_headers_come_from_secrets_and_rotate() {
    let fixture = FixtureServer::start(&[]).await;
    let secret = |token: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: token}}\nstringData: {{token: \"{token}\"}}\n"
        )
    };
    let server = http_server(
        "s",
        &fixture.url,
        "credential: {type: Bearer, secretRef: {name: token, key: token}}",
    );
    let server = server.replace(
        "allowPrivateEndpoint: true",
        "allowPrivateEndpoint: true, headers: [{name: X-Team, value: blue}]",
    );
    let gateway = Gateway::start(&[server, secret("first-secret")]).await;
    let seen = async || gateway.call("s__headers", json!({})).await.to_string();
    let first = seen().await;
    assert!(first.contains("Bearer first-secret") && first.contains("blue"), "{first}");
    gateway.apply("001.yaml", &secret("second-secret"));
    until("the new credential", async || {
        seen().await.contains("Bearer second-secret").then_some(())
    })
    .await;
    let report = gateway.report().await.to_string();
    assert!(!report.contains("first-secret") && !report.contains("second-secret"));
}

#[tokio::test]
async fn a_child_process_sees_only_what_its_manifest_names() {
    let manifest = stdio_server("s", &fixture_argv(&[]), "").replace(
        "stdio: {",
        "stdio: {env: [{name: GIVEN, value: yes-it-is}, {name: HIDDEN, valueFrom: {secretKeyRef: {name: s, key: k}}}], ",
    );
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: from-the-secret}\n";
    let gateway = Gateway::start(&[manifest, secret.to_owned()]).await;
    let env = async |name: &str| {
        let answer = gateway.call("s__env", json!({"name": name})).await;
        answer["result"]["structuredContent"].clone()
    };
    assert_eq!(env("GIVEN").await["value"], "yes-it-is");
    let seen = env("HIDDEN").await;
    assert_eq!(seen["value"], "from-the-secret");
    let allowed = ["GIVEN", "HIDDEN", "PATH", "HOME", "LANG", "TMPDIR"];
    let names = seen["names"].as_array().unwrap();
    assert!(names.iter().all(|name| allowed.contains(&name.as_str().unwrap())), "{names:?}");
}

#[tokio::test]
async fn a_restart_serves_what_was_served_before_its_servers_answer() {
    let state = tempfile::tempdir().unwrap();
    let flags = ["--state", state.path().to_str().unwrap()];
    let fixture = FixtureServer::start(&[]).await;
    let manifest = http_server("s", &fixture.url, "");
    let before = Gateway::start_with(std::slice::from_ref(&manifest), &flags).await;
    let names = before.tool_names("/mcp/router").await;
    assert_eq!(before.stop().await, Some(0));
    fixture.kill().await;
    let after = Gateway::start_with(&[manifest], &flags).await;
    assert_eq!(after.tool_names("/mcp/router").await, names);
    after.wait_for("s", "Stale", "True", "NotRefreshed").await;
    assert_eq!(after.stop().await, Some(0));
    std::fs::write(state.path().join("snapshot.json"), "half a docu").unwrap();
    let again = Gateway::start_with(&[stdio_server("s", &fixture_argv(&[]), "")], &flags).await;
    assert!(!again.tool_names("/mcp/router").await.is_empty());
}

async fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = tokio::process::Command::new(binary("portreeve-gateway"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

async fn check(folder: &Path) -> (Option<i32>, String) {
    let (code, out, err) = run(&["check", folder.to_str().unwrap()]).await;
    (code, out + &err)
}

#[tokio::test]
async fn check_says_every_problem_with_file_object_field_and_reason() {
    let bad = "apiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\nmetadata: {name: bad}\nspec:\n  toolNamespace: a__b\n  transport:\n    streamableHttp: {url: 'ftp://x', headers: [{name: A, valueFrom: {secretKeyRef: {name: none, key: k}}}]}\n";
    let broken = folder(&[("bad.yaml", bad), ("half.yaml", "kind: [")]);
    let (code, said) = check(broken.path()).await;
    assert_eq!(code, Some(1), "{said}");
    for part in [
        "bad.yaml: UpstreamServer/default/bad: spec.toolNamespace",
        "spec.transport.streamableHttp.url",
        "half.yaml",
        "0 servers would be served",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let fine = folder(&[("good.yaml", &stdio_server("good", &fixture_argv(&[]), ""))]);
    let (code, said) = check(fine.path()).await;
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "1 server would be served; 0 errors, 0 warnings\n")
    );
    let (code, said) = check(Path::new("no-such-folder")).await;
    assert!(
        code == Some(1) && said.contains("cannot read the manifests in no-such-folder"),
        "{said}"
    );
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_said_before_anything_starts() {
    let empty = folder(&[]);
    let manifests = empty.path().to_str().unwrap();
    let serve =
        async |more: &[&str]| run(&[&["serve", "--manifests", manifests][..], more].concat()).await;
    let (code, _, said) = serve(&["--listen", "0.0.0.0:0"]).await;
    assert!(code == Some(1) && said.contains("--insecure-no-auth"), "{said}");
    let config = folder(&[("gateway.yaml", "lisen: 127.0.0.1:1\n")]);
    let file = config.path().join("gateway.yaml");
    let (code, _, said) = serve(&["--config", file.to_str().unwrap()]).await;
    assert!(code == Some(1) && said.contains("lisen"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, _, said) = serve(&["--listen", &address]).await;
    assert!(code == Some(1) && said.contains(&address), "{said}");
}
