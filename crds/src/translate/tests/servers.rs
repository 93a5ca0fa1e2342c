//! Which servers are served, under which name, and on which terms.

use std::time::Duration;

use surface::doc::{EraChoice, SessionChoice, TransportDoc};

use super::*;

#[test]
fn a_valid_server_is_served_with_every_default() {
    let translation =
        standalone(&server("time", "{transport: {stdio: {command: [mcp-time, -v]}}}"));
    assert_eq!(problems(&translation), Vec::<String>::new());
    assert_eq!(
        conditions(&translation, "time"),
        "Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs"
    );
    let [server] = &translation.doc.servers[..] else { panic!("{:?}", translation.doc) };
    assert_eq!(server.namespace.as_str(), "time");
    assert_eq!(
        (server.object.namespace.as_str(), server.object.name.as_str()),
        ("default", "time")
    );
    let command = vec!["mcp-time".to_owned(), "-v".to_owned()];
    assert_eq!(server.transport, TransportDoc::Stdio { command, env: Vec::new(), cwd: None });
    assert_eq!((server.era, server.session), (EraChoice::Auto, SessionChoice::Auto));
    assert_eq!(server.limits, surface::doc::LimitsDoc::default());
    assert_eq!(server.breaker, surface::doc::BreakerDoc::default());
    assert_eq!(server.poll_interval, Duration::from_mins(1));
    assert!(translation.credentials.contains_key("time"));
}

#[test]
fn the_terms_are_those_of_the_spec() {
    let translation = standalone(&server(
        "a",
        "{toolNamespace: b, transport: {streamableHttp: {url: 'http://h/', allowPrivateEndpoint: true}}, \
         era: Legacy, session: Shared, limits: {concurrency: 3, callTimeout: 1m500ms, \
         maxResponseBytes: 64k}, resilience: {breaker: {openFor: 2m}}, discovery: {pollInterval: 1h}}",
    ));
    let [server] = &translation.doc.servers[..] else { panic!("{:?}", translation.problems) };
    assert_eq!(server.namespace.as_str(), "b");
    assert_eq!((server.era, server.session), (EraChoice::Legacy, SessionChoice::Shared));
    assert_eq!(server.limits.concurrency, 3);
    assert_eq!(server.limits.connect_timeout, Duration::from_secs(10));
    assert_eq!(server.limits.call_timeout, Duration::from_millis(60_500));
    assert_eq!(server.limits.max_response_bytes, 64_000);
    assert_eq!((server.breaker.failures, server.breaker.open_for), (5, Duration::from_mins(2)));
    assert_eq!(server.poll_interval, Duration::from_hours(1));
    let TransportDoc::StreamableHttp { allow_private_endpoint: true, .. } = server.transport else {
        panic!("{:?}", server.transport)
    };
}

#[test]
fn nothing_valid_is_dropped_for_what_stands_beside_it() {
    let invalid = server("bad", "{transport: {}, era: modern}");
    check(
        &format!("{}{invalid}---\na: [\n{}", stdio("a"), stdio("b")),
        &["a", "b"],
        &[
            "f.yaml#2: UpstreamServer/default/bad: spec.era: \
         unsupported value: \"modern\": supported values: \"Auto\", \"Modern\", \"Legacy\" (InvalidField)",
            "f.yaml#2: UpstreamServer/default/bad: spec.transport: \
         exactly one of streamableHttp, sse, stdio, container must be set (InvalidField)",
            "f.yaml#3: line 12, column 4: unclosed bracket '[' (InvalidDocument)",
        ],
    );
    let translation = standalone(&invalid);
    assert_eq!(
        conditions(&translation, "bad"),
        "Accepted=False/Invalid ResolvedRefs=Unknown/Invalid"
    );
}

#[test]
fn mistakes_in_metadata_are_found_too() {
    const SPEC: &str = "spec: {transport: {stdio: {command: [run]}}}\n";
    const HEAD: &str = "apiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\n";
    for (metadata, says) in [
        ("", "f.yaml: metadata.name: required value (MissingField)"),
        (
            "{name: A_b}",
            "f.yaml: metadata.name: must be a DNS subdomain: lower-case letters, digits, \
          '-' and '.', at most 253 characters (InvalidField)",
        ),
        (
            "{name: a, namespace: a.b}",
            "f.yaml: metadata.namespace: must be a DNS label: lower-case \
          letters, digits and '-', at most 63 characters (InvalidField)",
        ),
        (
            "{name: a, lables: {}}",
            "f.yaml: UpstreamServer/default/a: metadata.lables: \
          unknown field of metadata (UnknownField)",
        ),
        (
            "{name: a, labels: {a: 1}}",
            "f.yaml: UpstreamServer/default/a: metadata.labels: \
          must be a mapping of strings (InvalidField)",
        ),
        (
            "{name: a, creationTimestamp: today}",
            "f.yaml: UpstreamServer/default/a: \
          metadata.creationTimestamp: must be a time such as 2026-11-21T08:00:00Z (InvalidField)",
        ),
    ] {
        check(&format!("{HEAD}metadata: {metadata}\n{SPEC}"), &[], &[says]);
    }
}

#[test]
fn what_is_no_object_of_ours_is_told() {
    for (text, says) in [
        ("- a\n- b\n", "f.yaml: must be a mapping with apiVersion and kind (InvalidDocument)"),
        (
            "kind: UpstreamServer\n",
            "f.yaml: must be a mapping with apiVersion and kind (InvalidDocument)",
        ),
        ("apiVersion: v1\nkind: List\n", "f.yaml: a List must have items (InvalidDocument)"),
        (
            "apiVersion: apps/v1\nkind: Deployment\n",
            "f.yaml: apps/v1 Deployment is not read (ForeignKind, warning)",
        ),
        (
            "apiVersion: portreeve.dev/v1alpha1\nkind: Upstream\n",
            "f.yaml: portreeve.dev/v1alpha1 Upstream \
          does not exist; the kinds of portreeve.dev/v1alpha1 are UpstreamServer and ToolPolicy (UnknownKind)",
        ),
        (
            "apiVersion: portreeve.dev/v1\nkind: UpstreamServer\n",
            "f.yaml: portreeve.dev/v1 UpstreamServer \
          does not exist; the kinds of portreeve.dev/v1alpha1 are UpstreamServer and ToolPolicy (UnknownKind)",
        ),
    ] {
        check(text, &[], &[says]);
    }
}

#[test]
fn a_list_is_taken_apart() {
    let item = "{apiVersion: portreeve.dev/v1alpha1, kind: UpstreamServer, metadata: {name: a}, \
                spec: {transport: {stdio: {command: [run]}}}}";
    check(
        &format!("apiVersion: v1\nkind: List\nitems: [{item}, {{kind: Pod}}]\n"),
        &["a"],
        &["f.yaml[1]: must be a mapping with apiVersion and kind (InvalidDocument)"],
    );
}

#[test]
fn an_object_counts_once() {
    check(
        &format!("{}{}", stdio("a"), stdio("a")),
        &["a"],
        &[
            "f.yaml#2: UpstreamServer/default/a: is already in f.yaml#1, which is used instead of this one \
         (DuplicateObject)",
        ],
    );
}

fn aged(name: &str, created: &str) -> String {
    format!(
        "---\napiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\nmetadata: {{name: {name}{created}}}\n\
         spec: {{toolNamespace: x, transport: {{stdio: {{command: [run]}}}}}}\n"
    )
}

#[test]
fn the_older_server_keeps_a_contested_namespace() {
    const OLD: &str = ", creationTimestamp: '2026-01-01T00:00:00Z'";
    const NEW: &str = ", creationTimestamp: '2026-02-01T00:00:00Z'";
    for ((a, b), winner) in
        [(("", ""), "a"), ((NEW, OLD), "b"), (("", NEW), "b"), ((OLD, OLD), "a")]
    {
        let translation = standalone(&format!("{}{}", aged("b", b), aged("a", a)));
        let loser = if winner == "a" { "b" } else { "a" };
        assert_eq!(translation.doc.servers[0].object.name, winner, "{a} {b}");
        assert_eq!(translation.doc.servers.len(), 1);
        assert_eq!(
            conditions(&translation, loser),
            "Accepted=False/NamespaceConflict ResolvedRefs=True/ResolvedRefs"
        );
        let [problem] = &problems(&translation)[..] else { panic!("one problem is expected") };
        let names =
            [format!("UpstreamServer/default/{winner}"), format!("UpstreamServer/default/{loser}")];
        assert!(names.iter().all(|name| problem.contains(name)), "{problem}");
    }
}

#[test]
fn an_invalid_server_contests_nothing_and_an_unresolved_one_does() {
    let invalid = server("a", "{toolNamespace: x, transport: {}}");
    assert_eq!(served(&standalone(&format!("{invalid}{}", aged("b", "")))), ["x"]);
    let unresolved = server(
        "a",
        "{toolNamespace: x, transport: {stdio: {command: [run], env: [{name: A, valueFrom: \
         {secretKeyRef: {name: s, key: k}}}]}}}",
    );
    let translation = standalone(&format!("{unresolved}{}", aged("b", "")));
    assert_eq!(served(&translation), Vec::<String>::new());
    assert_eq!(
        conditions(&translation, "b"),
        "Accepted=False/NamespaceConflict ResolvedRefs=True/ResolvedRefs"
    );
}

#[test]
fn a_cluster_starts_no_processes() {
    let translation = translated(&stdio("a"), Placement::Cluster);
    assert_eq!(served(&translation), Vec::<String>::new());
    assert_eq!(
        conditions(&translation, "a"),
        "Accepted=False/TransportNotSupported ResolvedRefs=True/ResolvedRefs"
    );
}

#[test]
fn what_is_not_built_is_never_passed_over_in_silence() {
    const STDIO: &str = "transport: {stdio: {command: [run]}}";
    for (spec, serves, path, says) in [
        (
            "transport: {sse: {url: 'https://h/'}}",
            None,
            "spec.transport.sse",
            "the server is not served",
        ),
        (
            "transport: {container: {image: i}}",
            None,
            "spec.transport.container",
            "the server is not served",
        ),
        (
            &format!("{STDIO}, session: PerActor"),
            Some("a"),
            "spec.session",
            "all actors share one session",
        ),
        (
            &format!("{STDIO}, resilience: {{retries: 1}}"),
            Some("a"),
            "spec.resilience.retries",
            "no call is repeated",
        ),
        (
            &format!("{STDIO}, requiredKeys: [{{name: A}}]"),
            Some("a"),
            "spec.requiredKeys",
            "nobody is told of the keys",
        ),
        (
            &format!("{STDIO}, contract: {{tools: [{{name: t}}]}}"),
            Some("a"),
            "spec.contract",
            "it is compared with nothing",
        ),
        (
            &format!("{STDIO}, integrity: {{mode: Quarantine}}"),
            Some("a without *"),
            "spec.integrity.mode",
            "all tools are withheld until it is",
        ),
        (
            &format!("{STDIO}, integrity: {{approvedRevision: 'sha256:{}'}}", "0".repeat(64)),
            Some("a without *"),
            "spec.integrity.approvedRevision",
            "all tools are withheld until it is",
        ),
    ] {
        let translation = standalone(&server("a", &format!("{{{spec}}}")));
        assert_eq!(served(&translation), serves.into_iter().collect::<Vec<_>>(), "{spec}");
        let warning = if says.contains("withheld") || serves.is_none() { "" } else { ", warning" };
        assert_eq!(
            problems(&translation),
            [format!(
                "f.yaml: UpstreamServer/default/a: {path}: is not built yet: {says} (NotImplemented{warning})"
            )]
        );
        let accepted = if serves.is_some() { "True/Accepted" } else { "False/NotImplemented" };
        assert_eq!(
            conditions(&translation, "a"),
            format!(
                "Accepted={accepted} ResolvedRefs=True/ResolvedRefs NotImplemented=True/NotImplemented"
            )
        );
    }
}

#[test]
fn a_url_that_no_client_can_dial_is_refused() {
    check(
        &server("a", "{transport: {streamableHttp: {url: 'https://h:99999/'}}}"),
        &[],
        &["f.yaml: UpstreamServer/default/a: spec.transport.streamableHttp.url: \
         is not a URL: invalid port number (InvalidField)"],
    );
}
