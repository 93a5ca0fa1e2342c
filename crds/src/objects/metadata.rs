//! What all objects have: a name, a namespace, labels, an age.
//! Names become file paths, map keys and text in messages, so they are checked first.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use serde_json::{Map, Value};

use crate::{
    problem::{ObjectId, Problem, Reason, Severity},
    schema::{Admissible, Violation, admit},
};

/// One object as it was read, with its identity.
#[derive(Clone)]
pub(crate) struct Manifest {
    pub(crate) origin: String,
    pub(crate) id: ObjectId,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) body: Value,
    /// What is wrong with the metadata, beside the identity.
    pub(crate) violations: Vec<Violation>,
}

/// Names only: the body may be a Secret.
impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.id)
    }
}

impl Manifest {
    /// An object with a name of its own; otherwise the object back, and why it has none.
    pub(super) fn read(origin: &str, body: Value) -> Result<Self, (Value, Vec<Violation>)> {
        let none = Map::new();
        let metadata = body["metadata"].as_object().unwrap_or(&none);
        let (name, namespace) = match (read_name(metadata), read_namespace(metadata)) {
            (Ok(name), Ok(namespace)) => (name, namespace),
            (name, namespace) => {
                return Err((body, name.err().into_iter().chain(namespace.err()).collect()));
            }
        };
        let mut violations = unknown_fields(metadata);
        let labels = read_strings(metadata, "labels", &mut violations);
        read_strings(metadata, "annotations", &mut violations);
        let created = read_created(metadata, &mut violations);
        let kind = body["kind"].as_str().unwrap_or_default().to_owned();
        let (origin, id) = (origin.to_owned(), ObjectId { kind, namespace, name });
        Ok(Self { origin, id, labels, created, body, violations })
    }

    /// The spec with every default filled in, or everything that is wrong with the object.
    pub(crate) fn admit<K: Admissible>(&self) -> Result<K::Spec, Vec<Violation>> {
        match (admit::<K>(&self.body, None), &self.violations[..]) {
            (admitted, []) => admitted,
            (Ok(_), violations) => Err(violations.to_vec()),
            (Err(others), violations) => Err([violations, &others].concat()),
        }
    }

    pub(crate) fn is_policy(&self) -> bool {
        self.id.kind == "ToolPolicy"
    }

    pub(crate) fn problem(&self, reason: Reason, path: &str, message: String) -> Problem {
        Problem {
            severity: Severity::Error,
            origin: self.origin.clone(),
            object: Some(self.id.clone()),
            path: path.to_owned(),
            reason,
            message,
        }
    }

    pub(crate) fn warning(&self, reason: Reason, path: &str, message: String) -> Problem {
        Problem { severity: Severity::Warning, ..self.problem(reason, path, message) }
    }

    /// Older objects come first, then those without an age, then by name.
    pub(crate) fn seniority(&self) -> impl Ord + '_ {
        (self.created.is_none(), self.created, &self.id.namespace, &self.id.name)
    }
}

/// The namespace of an object that may have no identity, where it can be read.
pub(super) fn namespace(object: &Value) -> Option<String> {
    read_namespace(object["metadata"].as_object()?).ok()
}

fn read_name(metadata: &Map<String, Value>) -> Result<String, Violation> {
    let path = "metadata.name";
    let Some(name) = metadata.get("name").filter(|name| !name.is_null()) else {
        return Err(violation(path, Reason::MissingField, "required value"));
    };
    let name = name.as_str().filter(|name| is_subdomain(name, 253));
    name.map(str::to_owned).ok_or_else(|| {
        let message = "must be a DNS subdomain: lower-case letters, digits, '-' and '.', \
                       at most 253 characters";
        violation(path, Reason::InvalidField, message)
    })
}

fn read_namespace(metadata: &Map<String, Value>) -> Result<String, Violation> {
    match metadata.get("namespace") {
        None | Some(Value::Null) => Ok("default".to_owned()),
        Some(Value::String(name)) if is_subdomain(name, 63) && !name.contains('.') => {
            Ok(name.clone())
        }
        Some(_) => {
            let message = "must be a DNS label: lower-case letters, digits and '-', \
                           at most 63 characters";
            Err(violation("metadata.namespace", Reason::InvalidField, message))
        }
    }
}

fn is_subdomain(name: &str, most: usize) -> bool {
    let is_label = |label: &str| {
        let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        label.starts_with(alphanumeric)
            && label.ends_with(alphanumeric)
            && label.chars().all(|c| alphanumeric(c) || c == '-')
    };
    name.len() <= most && name.split('.').all(is_label)
}

fn read_strings(
    metadata: &Map<String, Value>,
    field: &str,
    violations: &mut Vec<Violation>,
) -> BTreeMap<String, String> {
    let strings = match metadata.get(field) {
        None | Some(Value::Null) => return BTreeMap::new(),
        Some(strings) => serde_json::from_value(strings.clone()),
    };
    strings.unwrap_or_else(|_| {
        let message = "must be a mapping of strings";
        violations.push(violation(&format!("metadata.{field}"), Reason::InvalidField, message));
        BTreeMap::new()
    })
}

fn read_created(
    metadata: &Map<String, Value>,
    violations: &mut Vec<Violation>,
) -> Option<Timestamp> {
    let created = metadata.get("creationTimestamp").filter(|created| !created.is_null())?;
    let created = serde_json::from_value::<Time>(created.clone());
    if created.is_err() {
        let message = "must be a time such as 2026-11-21T08:00:00Z";
        violations.push(violation("metadata.creationTimestamp", Reason::InvalidField, message));
    }
    created.ok().map(|created| created.0)
}

const KNOWN: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

fn unknown_fields(metadata: &Map<String, Value>) -> Vec<Violation> {
    let unknown = metadata.keys().filter(|name| !KNOWN.contains(&name.as_str()));
    unknown
        .map(|name| {
            let message = "unknown field of metadata";
            violation(&format!("metadata.{name}"), Reason::UnknownField, message)
        })
        .collect()
}

fn violation(path: &str, reason: Reason, message: &str) -> Violation {
    Violation { path: path.to_owned(), reason, message: message.to_owned() }
}
