//! Manifests as tests write them.

use std::fmt::Write as _;

use super::binary;

/// The fixture over stdio with these switches, as an argv.
pub fn fixture_argv(switches: &[&str]) -> Vec<String> {
    let fixture = binary("fixture").to_string_lossy().into_owned();
    [fixture, "stdio".to_owned()]
        .into_iter()
        .chain(switches.iter().map(|switch| (*switch).to_owned()))
        .collect()
}

/// An `UpstreamServer` that is started; `more` is further YAML below `spec`.
pub fn stdio_server(name: &str, argv: &[String], more: &str) -> String {
    let command = serde_json::to_string(argv).unwrap();
    server(name, &format!("stdio: {{command: {command}}}"), more)
}

/// An `UpstreamServer` over HTTP on loopback.
pub fn http_server(name: &str, url: &str, more: &str) -> String {
    let transport = format!("streamableHttp: {{url: \"{url}\", allowPrivateEndpoint: true}}");
    server(name, &transport, more)
}

fn server(name: &str, transport: &str, more: &str) -> String {
    let mut yaml = format!(
        "apiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\nmetadata:\n  name: {name}\nspec:\n  transport:\n    {transport}\n"
    );
    for line in more.lines() {
        writeln!(yaml, "  {line}").unwrap();
    }
    yaml
}
