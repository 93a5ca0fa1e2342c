//! `x-mcp-header`: parameters that a modern client mirrors into `Mcp-Param-…` headers
//! (MCP 2026-07-28, streamable HTTP, "Custom Headers from Tool Parameters").
//! Which headers a schema asks for, and which values arguments give them; no HTTP here.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// One annotated parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamHeader {
    /// The part after `Mcp-Param-`, as annotated.
    pub name: String,
    /// Property names from the root of the arguments to the value.
    pub path: Vec<String>,
}

const ANNOTATION: &str = "x-mcp-header";

/// The largest integer that a double holds beside all smaller ones.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

impl ParamHeader {
    /// All annotations of an input schema. A single bad one makes the tool unusable for clients,
    /// so it is an error for the whole schema.
    pub fn all(input_schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        collect(input_schema, &mut Vec::new(), &mut found)?;
        let mut names = HashSet::new();
        match found.iter().find(|header| !names.insert(header.name.to_ascii_lowercase())) {
            Some(twice) => Err(format!("{ANNOTATION} {:?} is given twice", twice.name)),
            None if found.len() == annotations(input_schema) => Ok(found),
            None => Err(format!("{ANNOTATION} below anything but plain properties")),
        }
    }

    /// The header's value for these arguments; none where the argument is absent or null.
    pub fn value(&self, arguments: &Value) -> Option<String> {
        match self.find(arguments)? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Whether a decoded header says the same as the arguments; integers compare as numbers.
    pub fn agrees(&self, decoded: &str, arguments: &Value) -> bool {
        match self.find(arguments) {
            Some(Value::Number(number)) => {
                number.as_f64().is_some_and(|number| decoded.parse() == Ok(number))
            }
            _ => self.value(arguments).as_deref() == Some(decoded),
        }
    }

    fn find<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        self.path.iter().try_fold(arguments, |value, key| value.get(key))
    }
}

/// Annotations that `properties` alone lead to.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (key, property) in properties {
        path.push(key.clone());
        if let Some(annotation) = property.get(ANNOTATION) {
            check(annotation, property).map_err(|why| format!("{}: {why}", path.join(".")))?;
            let name = annotation.as_str().unwrap_or_default().to_owned();
            found.push(ParamHeader { name, path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn check(annotation: &Value, property: &Value) -> Result<(), String> {
    let token = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    match annotation.as_str() {
        Some(name) if !name.is_empty() && name.bytes().all(token) => {}
        _ => return Err(format!("{ANNOTATION} must be an HTTP token, not {annotation}")),
    }
    let bounds = ["minimum", "maximum"];
    let unsafe_bound = |key: &&str| {
        property
            .get(key)
            .and_then(Value::as_i64)
            .is_some_and(|n| n.unsigned_abs() > MAX_SAFE_INTEGER)
    };
    match property.get("type").and_then(Value::as_str) {
        Some("integer") if bounds.iter().any(unsafe_bound) => {
            Err(format!("{ANNOTATION} on an integer beyond 2^53-1"))
        }
        Some("string" | "boolean" | "integer") => Ok(()),
        _ => Err(format!("{ANNOTATION} needs type string, integer or boolean")),
    }
}

/// How many annotations stand anywhere in a schema, so that one that `collect` could not reach is
/// noticed. A property that is itself called `x-mcp-header` is not one.
fn annotations(schema: &Value) -> usize {
    let nested = |map: &Map<String, Value>| -> usize {
        map.iter()
            .map(|(key, value)| match (key.as_str(), value) {
                (
                    "properties" | "$defs" | "definitions" | "patternProperties",
                    Value::Object(named),
                ) => named.values().map(annotations).sum(),
                // Data, not schema.
                ("const" | "enum" | "default" | "examples", _) => 0,
                _ => annotations(value),
            })
            .sum()
    };
    match schema {
        Value::Object(map) => usize::from(map.contains_key(ANNOTATION)) + nested(map),
        Value::Array(items) => items.iter().map(annotations).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(properties: &Value, expected: Result<&[&str], &str>) {
        let schema = json!({"type": "object", "properties": properties});
        let actual = ParamHeader::all(&schema);
        match (&actual, expected) {
            (Ok(found), Ok(names)) => {
                assert_eq!(found.iter().map(|h| h.name.as_str()).collect::<Vec<_>>(), names);
            }
            (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
            _ => panic!("{properties}: {actual:?}"),
        }
    }

    #[test]
    fn annotations_are_found_below_plain_properties_only() {
        let string = json!({"type": "string", "x-mcp-header": "Region"});
        check(&json!({"region": string}), Ok(&["Region"]));
        check(&json!({"a": {"type": "object", "properties": {"b": string}}}), Ok(&["Region"]));
        check(&json!({"a": {"type": "array", "items": string}}), Err("plain properties"));
        check(&json!({"a": {"anyOf": [string]}}), Err("plain properties"));
        check(&json!({"x-mcp-header": {"type": "string"}}), Ok(&[]));
    }

    #[test]
    fn a_bad_annotation_says_what_it_must_be() {
        check(&json!({"a": {"type": "string", "x-mcp-header": ""}}), Err("HTTP token"));
        check(&json!({"a": {"type": "string", "x-mcp-header": "a b"}}), Err("HTTP token"));
        check(&json!({"a": {"type": "number", "x-mcp-header": "A"}}), Err("needs type"));
        check(
            &json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
            Err("given twice"),
        );
    }

    #[test]
    fn a_value_is_the_argument_as_text() {
        let header = ParamHeader { name: "N".into(), path: vec!["a".into(), "b".into()] };
        for (arguments, expected) in [
            (json!({"a": {"b": "x"}}), Some("x")),
            (json!({"a": {"b": 42}}), Some("42")),
            (json!({"a": {"b": true}}), Some("true")),
            (json!({"a": {"b": null}}), None),
            (json!({"a": 1}), None),
        ] {
            assert_eq!(header.value(&arguments).as_deref(), expected, "{arguments}");
        }
        assert!(header.agrees("42.0", &json!({"a": {"b": 42}})));
        assert!(!header.agrees("43", &json!({"a": {"b": 42}})));
        assert!(!header.agrees("1000", &json!({"a": {"b": "1e3"}})), "text is compared as text");
    }
}
