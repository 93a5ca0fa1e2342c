//! The Secrets and ConfigMaps of a reading, decoded: what a reference can find.
//! A value that cannot be used is kept as the reason why, so that its users can be told.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::{Placement, expansion::expand};
use crate::{
    objects::{Manifest, Objects},
    problem::{Problem, Reason},
    reference::KeyRef,
    schema::Violation,
};

/// Everything that references can find, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Store {
    secrets: BTreeMap<(String, String), Entries<SecretString>>,
    config_maps: BTreeMap<(String, String), Entries<String>>,
    /// What is wrong with the Secrets and ConfigMaps themselves.
    pub(super) problems: Vec<Problem>,
}

/// The values of one object; an unusable one is the reason why.
type Entries<T> = BTreeMap<String, Result<T, String>>;

/// Why a reference finds nothing.
pub(super) type NotFound = (Reason, String);

impl Store {
    pub(super) fn read(objects: &Objects, placement: Placement<'_>) -> Self {
        let mut store = Self::default();
        for manifest in &objects.secrets {
            let mut values = store.values(manifest, "data", decode);
            values.extend(store.values(manifest, "stringData", |text| literal(text, placement)));
            let secrets =
                values.into_iter().map(|(key, value)| (key, value.map(SecretString::from)));
            store.secrets.insert(address(manifest), secrets.collect());
            store.check_fields(manifest, &["data", "immutable", "stringData", "type"]);
        }
        for manifest in &objects.config_maps {
            let values = store.values(manifest, "data", |text| Ok(text.to_owned()));
            store.config_maps.insert(address(manifest), values);
            store.check_fields(manifest, &["binaryData", "data", "immutable"]);
        }
        store
    }

    fn values(
        &mut self,
        manifest: &Manifest,
        field: &str,
        read: impl Fn(&str) -> Result<String, Violation>,
    ) -> Entries<String> {
        let none = Map::new();
        let entries = match &manifest.body[field] {
            Value::Object(entries) => entries,
            Value::Null => &none,
            _ => {
                let message = "must be a mapping of strings".to_owned();
                self.problems.push(manifest.problem(Reason::InvalidField, field, message));
                &none
            }
        };
        let mut values = Entries::new();
        for (key, value) in entries {
            let value = value.as_str().ok_or_else(not_a_string).and_then(&read);
            let value = value.map_err(|Violation { reason, message, .. }| {
                let path = format!("{field}[{key}]");
                self.problems.push(manifest.problem(reason, &path, message.clone()));
                message
            });
            values.insert(key.clone(), value);
        }
        values
    }

    fn check_fields(&mut self, manifest: &Manifest, known: &[&str]) {
        for Violation { path, reason, message } in &manifest.violations {
            self.problems.push(manifest.problem(*reason, path, message.clone()));
        }
        let fields = manifest.body.as_object().into_iter().flat_map(Map::keys);
        let common = ["apiVersion", "kind", "metadata"];
        for name in fields.filter(|n| !known.contains(&n.as_str()) && !common.contains(&n.as_str()))
        {
            let message = format!("unknown field; the fields here are {}", known.join(", "));
            self.problems.push(manifest.problem(Reason::UnknownField, name, message));
        }
    }

    /// A key of a Secret in `namespace`.
    pub(super) fn secret(&self, namespace: &str, at: &KeyRef) -> Result<&SecretString, NotFound> {
        find("Secret", &self.secrets, namespace, at)
    }

    /// A key of a ConfigMap in `namespace`.
    pub(super) fn config_map(&self, namespace: &str, at: &KeyRef) -> Result<&String, NotFound> {
        find("ConfigMap", &self.config_maps, namespace, at)
    }
}

fn find<'a, T>(
    kind: &str,
    among: &'a BTreeMap<(String, String), Entries<T>>,
    namespace: &str,
    KeyRef { name, key }: &KeyRef,
) -> Result<&'a T, NotFound> {
    let Some(entries) = among.get(&(namespace.to_owned(), name.clone())) else {
        return Err((Reason::RefNotFound, format!("{kind} {namespace}/{name} does not exist")));
    };
    match entries.get(key) {
        Some(Ok(value)) => Ok(value),
        Some(Err(why)) => {
            let message = format!("key {key} of {kind} {namespace}/{name} cannot be used: {why}");
            Err((Reason::RefInvalid, message))
        }
        None => Err((Reason::RefNotFound, format!("{kind} {namespace}/{name} has no key {key}"))),
    }
}

fn address(manifest: &Manifest) -> (String, String) {
    (manifest.id.namespace.clone(), manifest.id.name.clone())
}

fn decode(text: &str) -> Result<String, Violation> {
    let text: String = text.split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(text).map_err(|_| {
        fault(Reason::InvalidField, "is not base64; plain text belongs into stringData")
    })?;
    String::from_utf8(bytes).map_err(|_| fault(Reason::InvalidField, "is not UTF-8 text"))
}

fn literal(text: &str, placement: Placement<'_>) -> Result<String, Violation> {
    match placement {
        Placement::Cluster => Ok(text.to_owned()),
        Placement::Standalone { env } => expand(text, env)
            .map(|expanded| expanded.text)
            .map_err(|faults| fault(Reason::VariableNotSet, &faults.join("; "))),
    }
}

fn not_a_string() -> Violation {
    fault(Reason::InvalidField, "must be a string: quote it")
}

fn fault(reason: Reason, message: &str) -> Violation {
    Violation { path: String::new(), reason, message: message.to_owned() }
}
