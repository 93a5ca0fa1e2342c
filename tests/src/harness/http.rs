//! A plain HTTP client for tests: nothing is retried, followed or hidden.

use std::{sync::OnceLock, time::Duration};

use serde_json::{Value, json};

/// A whole response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub body: String,
}

impl Answer {
    /// The body as JSON; of an event stream, its last message.
    pub fn json(&self) -> Value {
        let text = match self.messages().last() {
            Some(last) => last.to_string(),
            None => self.body.clone(),
        };
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The messages of an event stream.
    pub fn messages(&self) -> Vec<Value> {
        if !self.content_type.starts_with("text/event-stream") {
            return Vec::new();
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }
}

fn client() -> &'static reqwest::Client {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .no_proxy()
            // Tests run on runtimes of their own: a pooled connection dies with the one it came from.
            .pool_max_idle_per_host(0)
            .timeout(Duration::from_mins(1))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap()
    })
}

/// A GET.
pub async fn get(url: &str) -> Answer {
    send(client().get(url)).await
}

/// A POST of a JSON body with the headers that MCP asks for, and more.
pub async fn post(url: &str, body: impl Into<String>, headers: &[(&str, &str)]) -> Answer {
    let mut request = client()
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request.body(body.into())).await
}

/// A request as given, whatever its method and headers.
pub async fn raw(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: impl Into<String>,
) -> Answer {
    let mut request = client().request(method.parse().unwrap(), url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request.body(body.into())).await
}

async fn send(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let content_type = response.headers().get("content-type");
    let content_type = content_type.map_or("", |value| value.to_str().unwrap()).to_owned();
    Answer { status, content_type, body: response.text().await.unwrap() }
}

/// One legacy request without a session.
pub async fn rpc(url: &str, method: &str, params: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    post(url, body.to_string(), &[]).await.json()
}

/// The metadata of a modern request.
pub fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// One modern request, its metadata and headers included.
pub async fn modern(url: &str, method: &str, mut params: Value) -> Answer {
    params["_meta"] = modern_meta();
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    post(url, body.to_string(), &headers).await
}
