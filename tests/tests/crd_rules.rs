//! Rung 2: the rules of the kinds, one YAML file for each in `crds/testdata`, applied in process.
//! `no-*` files are refused with the messages they name; all others are accepted. A second
//! document of a file is a change of the first. What objects lead to is tested in `crds`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "this whole file is a test")]

use std::{fs, path::Path};

use crds::{
    schema::{Admissible as _, KindRules, Violation},
    tool_policy::ToolPolicy,
    upstream_server::UpstreamServer,
};
use serde_json::Value;

/// One file of testdata.
struct Case {
    name: String,
    text: String,
}

impl Case {
    fn refused(&self) -> bool {
        self.name.starts_with("no-")
    }

    /// What its leading comments say under a key.
    fn named(&self, key: &str) -> Vec<&str> {
        let prefix = format!("# {key}: ");
        let comments = self.text.lines().take_while(|line| line.starts_with('#'));
        comments.filter_map(|line| line.strip_prefix(&prefix)).collect()
    }

    /// The verdict on its last document, which changes the one before it.
    fn verdict(&self) -> Result<Value, Vec<Violation>> {
        let documents: Vec<Value> = serde_saphyr::from_multiple(&self.text).unwrap();
        let (last, before) = documents.split_last().expect("a file holds a document");
        rules(last).admit(last, before.last())
    }
}

fn rules(object: &Value) -> &'static KindRules {
    match object["kind"].as_str() {
        Some("UpstreamServer") => UpstreamServer::rules(),
        Some("ToolPolicy") => ToolPolicy::rules(),
        other => panic!("testdata of an unknown kind: {other:?}"),
    }
}

fn room() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crds"))
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = fs::read_dir(room().join("testdata"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| Case {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            text: fs::read_to_string(&path).unwrap(),
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// What is wrong with the verdict on a case; nothing, if it is as the file says.
fn faults(case: &Case) -> Vec<String> {
    let violations = match case.verdict() {
        Ok(_) if case.refused() => return vec!["was accepted".to_owned()],
        Ok(_) => return Vec::new(),
        Err(violations) if !case.refused() => return vec![format!("was refused: {violations:#?}")],
        Err(violations) => violations,
    };
    let said = |message: &str| {
        let message = message.to_lowercase();
        violations.iter().any(|violation| violation.message.to_lowercase().contains(&message))
    };
    let at = |path: &str| violations.iter().any(|violation| violation.path == path);
    let (messages, paths) = (case.named("expect"), case.named("path"));
    let mut faults = Vec::new();
    if messages.is_empty() {
        faults.push("names no message with `# expect: `".to_owned());
    }
    let unsaid = messages.into_iter().filter(|message| !said(message));
    faults
        .extend(unsaid.map(|message| format!("was not refused with {message:?}: {violations:#?}")));
    let untouched = paths.into_iter().filter(|path| !at(path));
    faults.extend(untouched.map(|path| format!("was not refused at {path}: {violations:#?}")));
    faults
}

#[test]
fn every_file_is_judged_as_it_says() {
    let cases = cases();
    assert!(cases.len() > 100, "only {} files in crds/testdata", cases.len());
    let faults: Vec<String> = cases
        .iter()
        .flat_map(|case| faults(case).into_iter().map(|fault| format!("{} {fault}", case.name)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn defaults_are_filled_in_as_the_api_server_does() {
    let case = cases().into_iter().find(|case| case.name == "server-null-is-absent.yaml").unwrap();
    let spec = case.verdict().unwrap()["spec"].clone();
    assert_eq!(
        spec,
        serde_json::json!({
            "transport": {"streamableHttp": {
                "url": "https://mcp.example.com/mcp",
                "allowPrivateEndpoint": false,
            }},
            "era": "Auto",
            "session": "Auto",
            "limits": {
                "concurrency": 100,
                "connectTimeout": "10s",
                "callTimeout": "60s",
                "maxResponseBytes": "4Mi",
            },
            "resilience": {"retries": 0, "breaker": {"failures": 5, "openFor": "10s"}},
            "discovery": {"pollInterval": "60s"},
            "integrity": {"mode": "Observe"},
        })
    );
}
