//! The CustomResourceDefinitions as they are published: what the derive makes, made structural.
//! `crdgen` writes them, `schema` enforces them in process; both see the same.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;
use serde_json::Value;
use serde_saphyr::SerializeError;

use crate::{tool_policy::ToolPolicy, upstream_server::UpstreamServer};

/// The definition of one kind.
pub fn definition<K: CustomResourceExt>() -> CustomResourceDefinition {
    let mut definition = K::crd();
    for version in &mut definition.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut()) {
            tidy(schema);
        }
    }
    definition
}

/// Takes out what Rust put in and Kubernetes has no use for: `nullable` and the choice `null` on
/// every `Option` (the API server prunes an explicit null where it is not nullable), number
/// formats it does not know, and the line breaks of source code in descriptions.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    if let Some(choices) = &mut schema.enum_ {
        choices.retain(|choice| !choice.0.is_null());
    }
    schema.title = None;
    schema.format = schema.format.take().filter(|format| KNOWN_FORMATS.contains(&format.as_str()));
    schema.description = schema.description.as_deref().map(reflow);
    schema.default = schema.default.take().map(|default| JSON(sorted(default.0)));
    for child in children(schema) {
        tidy(child);
    }
}

const KNOWN_FORMATS: [&str; 4] = ["date-time", "int32", "int64", "double"];

fn children(schema: &mut JSONSchemaProps) -> Vec<&mut JSONSchemaProps> {
    let mut children: Vec<&mut JSONSchemaProps> =
        schema.properties.iter_mut().flat_map(|properties| properties.values_mut()).collect();
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        children.push(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        children.push(values);
    }
    children
}

/// The same value with its keys in order, whichever map the build has chosen for JSON: the
/// generated text must not depend on features that some other crate turns on.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, sorted(value)));
            fields.collect::<BTreeMap<_, _>>().into_iter().collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// One line for each paragraph.
fn reflow(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n")
}

/// The command that brings the generated files up to date.
pub const REPAIR: &str = "cargo run -p crds --bin crdgen";

/// Every generated file: its name in `crds/generated` and its text.
pub fn generated() -> Result<Vec<(&'static str, String)>, SerializeError> {
    Ok(vec![
        ("portreeve.dev_toolpolicies.yaml", text(&definition::<ToolPolicy>())?),
        ("portreeve.dev_upstreamservers.yaml", text(&definition::<UpstreamServer>())?),
    ])
}

fn text(definition: &CustomResourceDefinition) -> Result<String, SerializeError> {
    let body = serde_saphyr::to_string(definition)?;
    Ok(format!("# Generated from the types in crds/src. To change it: {REPAIR}\n{body}"))
}

#[cfg(test)]
mod tests;
