//! What a client was given of one server, and what makes two of them the same.

use serde_json::{Value, json};
use tests::harness::real::client;

use super::servers::Real;

/// Tools that a server lists only to clients of a kind: the gateway lists them to nobody, since it
/// asks every server as one and the same client.
const BY_CAPABILITY: [&str; 1] = ["get-roots-list"];

/// The tools in the order of their names, and the result of a call without what differs by era.
#[derive(Debug)]
pub(crate) struct Given {
    tools: Vec<Value>,
    failed: bool,
    content: Value,
    structured: Value,
}

/// Lists and calls one server by its own names: directly, or at its endpoint.
pub(crate) async fn ask(
    name: &str,
    target: &[String],
    env: &[(&str, String)],
    server: &Real,
) -> Given {
    let commands = [list(), call(server.tool, &server.arguments)];
    let entries = client(name, target, env, &commands).await;
    Given::new(tools(&entries[0]), &entries[1])
}

/// Lists everything and calls each server through the router.
pub(crate) async fn ask_router(name: &str, target: &[String], servers: &[&Real]) -> Vec<Given> {
    let calls = servers.iter().map(|server| call(&server.routed(), &server.arguments));
    let commands: Vec<Value> = [list()].into_iter().chain(calls).collect();
    let entries = client(name, target, &[], &commands).await;
    let listed = tools(&entries[0]);
    let calls = servers.iter().zip(&entries[1..]);
    calls.map(|(server, called)| Given::new(own(&listed, server), called)).collect()
}

pub(crate) fn call(name: &str, arguments: &Value) -> Value {
    json!({"op": "call", "name": name, "arguments": arguments})
}

fn list() -> Value {
    json!({"op": "list"})
}

fn tools(listed: &Value) -> Vec<Value> {
    listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).clone()
}

/// The tools of one server out of a routed list, under the names that it gave them.
fn own(listed: &[Value], server: &Real) -> Vec<Value> {
    let prefix = format!("{}__", server.name);
    let own = listed.iter().filter_map(|tool| {
        let name = tool["name"].as_str()?.strip_prefix(&prefix)?.to_owned();
        let mut tool = tool.clone();
        tool["name"] = name.into();
        Some(tool)
    });
    own.collect()
}

impl Given {
    fn new(mut tools: Vec<Value>, called: &Value) -> Self {
        for tool in &mut tools {
            // Of 2025-11-25 alone: a client of both eras drops it when it speaks the modern one.
            tool.as_object_mut().unwrap().remove("execution");
        }
        tools.retain(|tool| !BY_CAPABILITY.iter().any(|name| tool["name"] == *name));
        tools.sort_by_key(|tool| tool["name"].to_string());
        let result = &called["result"];
        assert!(result["content"].is_array(), "{called}");
        Self {
            tools,
            failed: result["isError"].as_bool().unwrap_or_default(),
            content: result["content"].clone(),
            structured: result["structuredContent"].clone(),
        }
    }

    /// The same as through the router, where an error's text names the tool as it is shown.
    pub(crate) fn routed(&self, server: &Real) -> Self {
        let Self { tools, failed, content, structured } = self;
        let mut content = content.clone();
        if *failed {
            let text = content[0]["text"].as_str().unwrap().replace(server.tool, &server.routed());
            content[0]["text"] = text.into();
        }
        Self { tools: tools.clone(), failed: *failed, content, structured: structured.clone() }
    }

    pub(crate) fn assert_same(&self, direct: &Self, who: &str) {
        let names = |given: &Self| given.tools.iter().map(|tool| tool["name"].clone()).collect();
        let (own, expected): (Vec<Value>, Vec<Value>) = (names(self), names(direct));
        assert_eq!(own, expected, "{who}");
        assert!(!own.is_empty(), "{who}");
        for (own, expected) in self.tools.iter().zip(&direct.tools) {
            assert_eq!(own, expected, "{who}");
        }
        assert_eq!((self.failed, &self.content), (direct.failed, &direct.content), "{who}");
        assert_eq!(self.structured, direct.structured, "{who}");
    }
}
