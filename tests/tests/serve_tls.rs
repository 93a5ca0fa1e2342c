//! Servers behind https: whose certificates are believed, under which name, and which of ours is
//! shown. Every authority is made by the test and trusted by nobody else.

#![allow(clippy::unwrap_used, reason = "a test may panic anywhere, in its helper functions too")]

use serde_json::json;
use tests::harness::{Gateway, http_server};

mod serve_tls {
    pub(crate) mod https;
}

use serve_tls::https::{Authority, HttpsServer, Identity};

/// Reaching for a server that is not reached must not take long.
const SHORT: &str = "limits: {connectTimeout: 2s}\ndiscovery: {pollInterval: 10s}";

const LOCAL: &[&str] = &["127.0.0.1"];
const TRUSTED: &str = "caBundleRef: {configMapKeyRef: {name: authority, key: ca.crt}}";
const SHOWN: &str = "clientCertificateRef: {name: identity}";

/// An `UpstreamServer` called `s` with these members of `tls`.
fn manifest(url: &str, tls: &[&str]) -> String {
    let tls = tls.join(", ");
    let open = "allowPrivateEndpoint: true";
    http_server("s", url, SHORT).replace(open, &format!("{open}, tls: {{{tls}}}"))
}

fn config_map(authority: &Authority) -> String {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "authority"},
        "data": {"ca.crt": authority.pem()},
    })
    .to_string()
}

fn secret(identity: &Identity) -> String {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "identity"},
        "type": "kubernetes.io/tls",
        "stringData": {"tls.crt": identity.certificate_pem(), "tls.key": identity.key_pem()},
    })
    .to_string()
}

async fn check_serves(manifests: &[String]) {
    let gateway = Gateway::launch(manifests, &[]).await;
    gateway.wait_for("s", "Ready", "True", "Ready").await;
    let answer = gateway.call("s__add", json!({"a": 2, "b": 3})).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"sum": 5}), "{answer}");
}

async fn check_fails(manifests: &[String], reason: &str, message: &str) {
    let gateway = Gateway::launch(manifests, &[]).await;
    let said = gateway.wait_for("s", "Verified", "False", reason).await;
    assert!(said.contains(message), "{said}");
    gateway.wait_for("s", "Ready", "False", "NotReady").await;
}

#[tokio::test]
async fn an_unknown_authority_is_not_believed_and_one_of_a_config_map_is() {
    let authority = Authority::new("servers");
    let server = HttpsServer::start(&authority.sign(LOCAL), None).await;
    let unknown = "its certificate: UnknownIssuer";
    check_fails(&[manifest(&server.url(), &[])], "Unreachable", unknown).await;
    let other = config_map(&Authority::new("another"));
    check_fails(&[manifest(&server.url(), &[TRUSTED]), other], "Unreachable", unknown).await;
    check_serves(&[manifest(&server.url(), &[TRUSTED]), config_map(&authority)]).await;
}

#[tokio::test]
async fn an_authority_is_believed_as_soon_as_its_config_map_is_applied() {
    let authority = Authority::new("servers");
    let server = HttpsServer::start(&authority.sign(LOCAL), None).await;
    let gateway = Gateway::launch(&[manifest(&server.url(), &[TRUSTED])], &[]).await;
    let said = gateway.wait_for("s", "ResolvedRefs", "False", "RefNotFound").await;
    assert!(said.contains("authority"), "{said}");
    gateway.apply("authority.yaml", &config_map(&authority));
    gateway.wait_for("s", "Ready", "True", "Ready").await;
}

#[tokio::test]
async fn a_certificate_is_checked_for_the_server_name_where_one_is_given() {
    let authority = Authority::new("servers");
    let server = HttpsServer::start(&authority.sign(&["mcp.example"]), None).await;
    let url = server.url();
    let ca = || config_map(&authority);
    let named = |name: &str| manifest(&url, &[TRUSTED, &format!("serverName: {name}")]);
    check_serves(&[named("mcp.example"), ca()]).await;
    for wrong in [manifest(&url, &[TRUSTED]), named("other.example")] {
        check_fails(&[wrong, ca()], "Unreachable", "its certificate is for another name").await;
    }
}

#[tokio::test]
async fn our_certificate_is_shown_to_a_server_that_asks_for_it() {
    let (authority, clients) = (Authority::new("servers"), Authority::new("clients"));
    let server = HttpsServer::start(&authority.sign(LOCAL), Some(&clients)).await;
    let url = server.url();
    let ca = || config_map(&authority);
    let ours = secret(&clients.sign(&["portreeve.example"]));
    check_serves(&[manifest(&url, &[TRUSTED, SHOWN]), ca(), ours.clone()]).await;
    check_fails(&[manifest(&url, &[TRUSTED]), ca()], "ConnectionClosed", "closed the connection")
        .await;
    let strangers = secret(&Authority::new("strangers").sign(&["portreeve.example"]));
    check_fails(
        &[manifest(&url, &[TRUSTED, SHOWN]), ca(), strangers],
        "ConnectionClosed",
        "closed the connection",
    )
    .await;
}
