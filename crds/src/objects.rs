//! What a reader collected: manifests by kind, each with where it came from.
//! Filled from text or from values; what the objects mean together is decided in `translate`.

mod document;
mod metadata;

use serde_json::Value;

pub(crate) use self::metadata::Manifest;
use crate::{
    problem::{ObjectId, Problem, Reason, Severity},
    schema::Violation,
};

/// API group of the kinds this crate has.
pub const GROUP: &str = "portreeve.dev";
/// `apiVersion` of the kinds this crate has.
pub const API_VERSION: &str = "portreeve.dev/v1alpha1";

/// The manifests of one reading. An object that stands in it twice counts once: the first.
#[derive(Debug, Default)]
pub struct Objects {
    pub(crate) servers: Vec<Manifest>,
    pub(crate) policies: Vec<Manifest>,
    pub(crate) secrets: Vec<Manifest>,
    pub(crate) config_maps: Vec<Manifest>,
    /// Documents that are or may be policies and cannot even be attributed.
    pub(crate) lost_policies: Vec<LostPolicy>,
    /// What was wrong with documents before they were objects.
    pub(crate) problems: Vec<Problem>,
    /// Every origin in the order of reading.
    pub(crate) origins: Vec<String>,
}

/// A policy that says nothing reliable but that it is there.
#[derive(Debug)]
pub(crate) struct LostPolicy {
    pub(crate) origin: String,
    /// Its Kubernetes namespace; `None`: it may be for every server.
    pub(crate) namespace: Option<String>,
}

impl Objects {
    /// Reads a file of one or more YAML (or JSON) documents. What cannot be read becomes a
    /// problem with line and column; the other documents are taken all the same.
    ///
    /// `origin` is how the file is named in problems. Where it holds several documents their
    /// number is appended: `servers.yaml#2`.
    pub fn parse_file(&mut self, origin: &str, text: &str) {
        let parts = document::split(text);
        let single = parts.len() == 1;
        for (place, part) in parts.iter().enumerate() {
            let origin = if single { origin.to_owned() } else { format!("{origin}#{}", place + 1) };
            match part.read() {
                Ok(Value::Null) => {}
                Ok(value) => self.insert(&origin, value),
                Err(message) => self.lose(&origin, part.text(), message),
            }
        }
    }

    /// Takes note of a file that is there and is no text: it cannot be read (`held` is nothing),
    /// or it is not UTF-8. What nobody could read may have been a policy.
    pub fn unreadable(&mut self, origin: &str, held: Option<&[u8]>, why: String) {
        // Without zeros the words of UTF-16 show.
        let text = held.map(|bytes| bytes.iter().copied().filter(|b| *b != 0).collect::<Vec<_>>());
        let text = text.as_deref().map_or("ToolPolicy".into(), String::from_utf8_lossy);
        self.lose(origin, &text, why);
    }

    /// Takes one object as a value, for instance from a watch. A `List` is taken apart.
    pub fn insert(&mut self, origin: &str, object: Value) {
        self.origins.push(origin.to_owned());
        let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
        match (text("apiVersion"), text("kind")) {
            ("v1", "List") => self.insert_items(origin, object),
            (API_VERSION, "UpstreamServer") => self.keep(origin, object, |o| &mut o.servers),
            (API_VERSION, "ToolPolicy") => self.keep(origin, object, |o| &mut o.policies),
            ("v1", "Secret") => self.keep(origin, object, |o| &mut o.secrets),
            ("v1", "ConfigMap") => self.keep(origin, object, |o| &mut o.config_maps),
            ("", _) | (_, "") => {
                let message = "must be a mapping with apiVersion and kind";
                self.refuse(origin, Reason::InvalidDocument, message.to_owned());
            }
            (version, kind) => {
                let (version, kind) = (version.to_owned(), kind.to_owned());
                self.pass_by(origin, &version, &kind, &object);
            }
        }
    }

    fn insert_items(&mut self, origin: &str, mut list: Value) {
        match list.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => {
                for (place, item) in items.into_iter().enumerate() {
                    self.insert(&format!("{origin}[{place}]"), item);
                }
            }
            _ => self.refuse(origin, Reason::InvalidDocument, "a List must have items".to_owned()),
        }
    }

    fn keep(
        &mut self,
        origin: &str,
        object: Value,
        among: impl Fn(&mut Self) -> &mut Vec<Manifest>,
    ) {
        match Manifest::read(origin, object) {
            Ok(manifest) => self.keep_first(manifest, among),
            Err((object, violations)) => self.refuse_nameless(origin, &object, violations),
        }
    }

    fn keep_first(&mut self, manifest: Manifest, among: impl Fn(&mut Self) -> &mut Vec<Manifest>) {
        let kept = among(self);
        let first = kept.iter().find(|other| other.id == manifest.id);
        let Some(first) = first.map(|first| first.origin.clone()) else {
            return kept.push(manifest);
        };
        let message = format!("is already in {first}, which is used instead of this one");
        self.problems.push(manifest.problem(Reason::DuplicateObject, "", message));
        // One of the two texts is the policy that is meant, and either may forbid something.
        if manifest.is_policy() {
            self.policies.push(manifest);
        }
    }

    /// An object without a usable name belongs to nobody; as a policy it still may forbid.
    fn refuse_nameless(&mut self, origin: &str, object: &Value, violations: Vec<Violation>) {
        for Violation { path, reason, message } in violations {
            self.report(origin, path, reason, message);
        }
        if object["kind"] == "ToolPolicy" {
            self.lose_policy(origin, metadata::namespace(object));
        }
    }

    /// A kind that is not read: a mistake where it looks like ours, a stranger otherwise.
    fn pass_by(&mut self, origin: &str, version: &str, kind: &str, object: &Value) {
        let ours = version.split('/').next() == Some(GROUP)
            || matches!(kind, "UpstreamServer" | "ToolPolicy");
        if !ours {
            let message = format!("{version} {kind} is not read");
            let severity = Severity::Warning;
            let problem = Problem { severity, ..problem(origin, Reason::ForeignKind, message) };
            return self.problems.push(problem);
        }
        let message = format!(
            "{version} {kind} does not exist; the kinds of {API_VERSION} are UpstreamServer and ToolPolicy"
        );
        self.refuse(origin, Reason::UnknownKind, message);
        if kind.to_ascii_lowercase().contains("polic") {
            self.lose_policy(origin, metadata::namespace(object));
        }
    }

    /// A document that is no YAML: nobody knows what it was to be, but it may name a policy.
    fn lose(&mut self, origin: &str, text: &str, message: String) {
        self.origins.push(origin.to_owned());
        self.refuse(origin, Reason::InvalidDocument, message);
        if text.contains("ToolPolicy") {
            self.lose_policy(origin, None);
        }
    }

    fn lose_policy(&mut self, origin: &str, namespace: Option<String>) {
        let reach = match &namespace {
            Some(namespace) => format!("every server of namespace {namespace}"),
            None => "every server".to_owned(),
        };
        let message = format!(
            "a policy that cannot be read may forbid anything: the tools of {reach} are withheld"
        );
        self.refuse(origin, Reason::PolicyInvalid, message);
        self.lost_policies.push(LostPolicy { origin: origin.to_owned(), namespace });
    }

    fn refuse(&mut self, origin: &str, reason: Reason, message: String) {
        self.report(origin, String::new(), reason, message);
    }

    fn report(&mut self, origin: &str, path: String, reason: Reason, message: String) {
        self.problems.push(Problem { path, ..problem(origin, reason, message) });
    }
}

fn problem(origin: &str, reason: Reason, message: String) -> Problem {
    let (severity, origin) = (Severity::Error, origin.to_owned());
    Problem { severity, origin, object: None::<ObjectId>, path: String::new(), reason, message }
}
