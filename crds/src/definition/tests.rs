//! What the API server and a reader demand of a definition, at every place of every schema.

use std::{fs, path::Path};

use super::*;

const YAML_BOOLEANS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];

/// What is wrong with one place.
fn faults(schema: &JSONSchemaProps) -> Vec<&'static str> {
    let kind = schema.type_.as_deref().unwrap_or_default();
    let either = schema.x_kubernetes_int_or_string == Some(true);
    let branches = [&schema.all_of, &schema.any_of, &schema.one_of];
    let bounded = schema.max_length.is_some() || schema.enum_.is_some() || schema.format.is_some();
    let keyed = schema.properties.is_some();
    let free = schema.additional_properties.is_some();
    let mut choices = schema.enum_.iter().flatten();
    let demands = [
        (either == kind.is_empty(), "has a type, or is int-or-string"),
        (schema.nullable.is_none(), "is not nullable"),
        (choices.all(|choice| !choice.0.is_null()), "has no null among its choices"),
        (branches.iter().all(|b| b.is_none()) && schema.not.is_none(), "has no branches"),
        (!(keyed && free), "has fields or free keys, not both"),
        (!free || schema.max_properties.is_some(), "bounds its keys"),
        (kind != "string" || bounded, "bounds its text"),
        (kind != "array" || schema.max_items.is_some(), "bounds its items"),
        (kind != "array" || schema.x_kubernetes_list_type.is_some(), "says how its list merges"),
        (!["integer", "number"].contains(&kind) || schema.minimum.is_some(), "bounds its number"),
    ];
    demands.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
}

fn check(path: &str, schema: &JSONSchemaProps, found: &mut Vec<String>) {
    found.extend(faults(schema).into_iter().map(|fault| format!("not so: {path} {fault}")));
    for (name, field) in schema.properties.iter().flatten() {
        if YAML_BOOLEANS.contains(&name.as_str()) {
            found.push(format!("{path}.{name} reads as a boolean"));
        }
        if !field.description.as_deref().is_some_and(|text| text.ends_with('.')) {
            found.push(format!("{path}.{name} is not described in sentences"));
        }
        check(&format!("{path}.{name}"), field, found);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
        check(&format!("{path}[]"), items, found);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
        check(&format!("{path}[*]"), values, found);
    }
}

#[test]
fn every_schema_is_structural_bounded_and_described() {
    let mut found = Vec::new();
    for definition in [definition::<ToolPolicy>(), definition::<UpstreamServer>()] {
        let version = definition.spec.versions.into_iter().next().unwrap();
        let schema = version.schema.unwrap().open_api_v3_schema.unwrap();
        check(&definition.spec.names.kind, &schema, &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_generated_files_are_up_to_date() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("generated");
    for (name, text) in generated().unwrap() {
        let written = fs::read_to_string(directory.join(name)).unwrap_or_default();
        assert!(written == text, "crds/generated/{name} is stale; run: {REPAIR}");
    }
}

#[test]
fn a_description_has_one_line_for_each_paragraph() {
    assert_eq!(reflow("one\ntwo\n\nthree\nfour"), "one two\nthree four");
}
