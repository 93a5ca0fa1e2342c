//! Real clients in front, real servers behind: through the router and at a server's own endpoint, a
//! client is given what it is given by the same server directly.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic anywhere, in its helper functions too"
)]

use futures::future::join_all;
use serde_json::json;
use tests::harness::{Gateway, real::client};

mod serve_clients {
    pub(crate) mod given;
    pub(crate) mod ground;
    pub(crate) mod servers;
}

use serve_clients::{
    given::{Given, ask, ask_router, call},
    ground::Ground,
    servers::{LEGACY, MODERN, Real, all, few, time},
};

/// A real client and the eras it can be told to speak.
struct Client {
    name: &'static str,
    eras: &'static [&'static str],
}

const INSPECTOR: Client = Client { name: "inspector", eras: &[LEGACY, MODERN] };
const PYTHON_V2: Client = Client { name: "python-v2", eras: &[LEGACY, MODERN] };
const TYPESCRIPT_V1: Client = Client { name: "typescript-v1", eras: &[LEGACY] };

/// A client's arguments for an endpoint of the gateway.
fn endpoint(gateway: &Gateway, path: &str, era: &str) -> Vec<String> {
    vec![gateway.url(path), "--era".to_owned(), era.to_ascii_lowercase()]
}

async fn start(servers: &[Real]) -> Gateway {
    let manifests: Vec<String> = servers.iter().map(Real::manifest).collect();
    let gateway = Gateway::start(&manifests).await;
    for server in servers {
        gateway.wait_for(server.name, "Ready", "True", "Ready").await;
        let known = gateway.server(server.name).await;
        assert_eq!(known["era"], server.era, "{known}");
    }
    gateway
}

/// A client asks everything directly, where it and the server choose the era, and then again
/// through the gateway in each of its eras.
async fn check(client: Client, servers: &[Real]) {
    let Client { name, eras } = client;
    let gateway = start(servers).await;
    let direct = join_all(servers.iter().map(async |server| {
        let (target, env) = server.direct();
        ask(name, &target, env, server).await
    }))
    .await;
    for era in eras {
        // Each endpoint costs a process, so where a client has a choice, it is asked in the era
        // that its server does not speak; the router in each.
        let servers = servers.iter().zip(&direct);
        let bridged = servers.clone().filter(|(server, _)| eras.len() == 1 || server.era != *era);
        tokio::join!(
            check_router(&gateway, name, era, servers.collect()),
            join_all(bridged.map(|bridged| check_endpoint(&gateway, name, era, bridged))),
        );
    }
}

async fn check_router(gateway: &Gateway, name: &str, era: &str, servers: Vec<(&Real, &Given)>) {
    let target = endpoint(gateway, "/mcp/router", era);
    let asked: Vec<&Real> = servers.iter().map(|(server, _)| *server).collect();
    let given = ask_router(name, &target, &asked).await;
    for (given, (server, direct)) in given.iter().zip(servers) {
        let who = format!("{name}, {era}, {} through the router", server.name);
        given.assert_same(&direct.routed(server), &who);
    }
}

async fn check_endpoint(gateway: &Gateway, name: &str, era: &str, of: (&Real, &Given)) {
    let (server, direct) = of;
    let target = endpoint(gateway, &format!("/mcp/servers/{}", server.name), era);
    let given = ask(name, &target, &[], server).await;
    given.assert_same(direct, &format!("{name}, {era}, {} at its endpoint", server.name));
}

#[tokio::test]
async fn typescript_v1_is_given_what_each_server_gives_it_directly() {
    let ground = Ground::new();
    check(TYPESCRIPT_V1, &all(&ground).await).await;
}

#[tokio::test]
async fn python_v2_is_given_what_each_server_gives_it_directly_in_both_eras() {
    let ground = Ground::new();
    check(PYTHON_V2, &all(&ground).await).await;
}

/// It is a process for each command, so it asks fewer servers.
#[tokio::test]
async fn the_inspector_is_given_what_each_server_gives_it_directly_in_both_eras() {
    let ground = Ground::new();
    check(INSPECTOR, &few(&ground).await).await;
}

/// Not to the inspector: it calls nothing that it has not seen listed.
#[tokio::test]
async fn names_that_lead_nowhere_are_told_to_real_clients_with_the_texts_of_the_routing_model() {
    let gateway = start(&[time()]).await;
    let nowhere = [
        (
            "echo",
            "Tool 'echo' is not properly namespaced. All tool calls must use 'server__tool' format",
        ),
        ("unknown__echo", "Unknown server 'unknown' in request"),
        ("time__nonexistent", "Tool 'time__nonexistent' not found"),
    ];
    let commands = nowhere.map(|(tool, _)| call(tool, &json!({})));
    for Client { name, eras } in [TYPESCRIPT_V1, PYTHON_V2] {
        for era in eras {
            let target = endpoint(&gateway, "/mcp/router", era);
            let entries = client(name, &target, &[], &commands).await;
            for ((tool, message), entry) in nowhere.iter().zip(&entries) {
                let error = json!({"code": -32602, "message": message, "data": null});
                assert_eq!(entry["error"], error, "{name}, {era}, {tool}");
            }
        }
    }
}
