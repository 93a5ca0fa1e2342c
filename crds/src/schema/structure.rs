//! Checks a value against the structure of its schema and reports everything that does not fit, in
//! the API server's words, so that a reader finds the same in both places. Values are named only
//! where they are chosen from a list: the rest may be secret.

use serde_json::{Map, Value};

use super::{
    Violation,
    node::{Array, Bounds, Node, Number, Object, Shape, Text, Unique},
};
use crate::problem::Reason;

/// What breaks the structure of an object.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) violations: Vec<Violation>,
    /// Whether something is larger than its schema allows: rules over it could run for very long.
    pub(super) oversize: bool,
}

impl Findings {
    fn add(&mut self, violation: Violation) {
        self.violations.push(violation);
    }
}

/// Everything about `value` that breaks the structure, with paths below `path`.
pub(super) fn check(node: &Node, value: &Value, path: &str, found: &mut Findings) {
    match (&node.shape, value) {
        (Shape::Object(object), Value::Object(fields)) => check_fields(object, fields, path, found),
        (Shape::Array(array), Value::Array(items)) => check_items(array, items, path, found),
        (Shape::Text(text) | Shape::IntegerOrText(text), Value::String(value)) => {
            check_text(text, value, path, found);
        }
        (Shape::Number(number), Value::Number(value)) => check_number(number, value, path, found),
        (Shape::IntegerOrText(_), Value::Number(value)) if value.is_i64() => {}
        (Shape::Boolean, Value::Bool(_)) | (Shape::Any, _) => {}
        (shape, value) => {
            let message = format!("must be of type {}, not {}", expected(shape), given(value));
            return found.add(invalid(path, message));
        }
    }
    if !node.choices.is_empty() && !node.choices.contains(value) {
        let choices: Vec<String> = node.choices.iter().map(Value::to_string).collect();
        let choices = choices.join(", ");
        found
            .add(invalid(path, format!("unsupported value: {value}: supported values: {choices}")));
    }
}

fn check_fields(object: &Object, fields: &Map<String, Value>, path: &str, found: &mut Findings) {
    check_count(Counted::Fields, fields.len(), object.count, path, found);
    for name in object.required.iter().filter(|name| !fields.contains_key(*name)) {
        let (path, reason) = (member(path, name), Reason::MissingField);
        found.add(Violation { path, reason, message: "required value".to_owned() });
    }
    for (name, value) in fields {
        match object.properties.get(name).or(object.values.as_deref()) {
            Some(node) => check(node, value, &member(path, name), found),
            None => found.add(unknown(object, path, name)),
        }
    }
}

fn check_items(array: &Array, items: &[Value], path: &str, found: &mut Findings) {
    check_count(Counted::Items, items.len(), array.count, path, found);
    // Items beyond the bound are refused with it; looking at each would take too long.
    let most = usize::try_from(array.count.most).unwrap_or(usize::MAX);
    for (place, item) in items.iter().enumerate().take(most) {
        let path = format!("{path}[{place}]");
        check(&array.items, item, &path, found);
        if let Some(first) =
            items[..place].iter().position(|other| same(&array.unique, other, item))
        {
            found.add(invalid(&path, duplicate(&array.unique, first)));
        }
    }
}

fn same(unique: &Unique, a: &Value, b: &Value) -> bool {
    match unique {
        Unique::Nothing => false,
        Unique::Items => a == b,
        Unique::Keys(keys) => {
            keys.iter().all(|key| a.get(key).is_some() && a.get(key) == b.get(key))
        }
    }
}

fn duplicate(unique: &Unique, first: usize) -> String {
    match unique {
        Unique::Keys(keys) => {
            format!("duplicate value: the same {} as item {first}", keys.join(" and "))
        }
        Unique::Items | Unique::Nothing => format!("duplicate value: the same as item {first}"),
    }
}

fn check_text(text: &Text, value: &str, path: &str, found: &mut Findings) {
    check_count(Counted::Characters, value.chars().count(), text.length, path, found);
    if let Some(pattern) = text.pattern.as_ref().filter(|pattern| !pattern.matches(value)) {
        found.add(invalid(path, format!("should match '{}'", pattern.text)));
    }
}

fn check_number(number: &Number, value: &serde_json::Number, path: &str, found: &mut Findings) {
    let Number { whole, least, most } = *number;
    if whole && value.is_f64() {
        return found.add(invalid(path, "must be of type integer, not a fraction".to_owned()));
    }
    let value = value.as_f64().unwrap_or(f64::NAN);
    if let Some(least) = least.filter(|least| value < *least) {
        found.add(invalid(path, format!("should be greater than or equal to {least}")));
    }
    if let Some(most) = most.filter(|most| value > *most) {
        found.add(invalid(path, format!("should be less than or equal to {most}")));
    }
}

/// What is counted, with the API server's words for too few and too many of it.
#[derive(Debug, Clone, Copy)]
enum Counted {
    Fields,
    Items,
    Characters,
}

impl Counted {
    fn too_few(self, least: i64) -> String {
        match self {
            Self::Fields => format!("should have at least {least} properties"),
            Self::Items => format!("should have at least {least} items"),
            Self::Characters => format!("should be at least {least} chars long"),
        }
    }

    fn too_many(self, most: i64) -> String {
        match self {
            Self::Fields | Self::Items => format!("must have at most {most} items"),
            Self::Characters => format!("may not be more than {most} characters"),
        }
    }
}

fn check_count(counted: Counted, count: usize, bounds: Bounds, path: &str, found: &mut Findings) {
    let Bounds { least, most } = bounds;
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    if count < least {
        found.add(invalid(path, counted.too_few(least)));
    }
    if count > most {
        found.oversize = true;
        found.add(invalid(path, counted.too_many(most)));
    }
}

fn unknown(object: &Object, path: &str, name: &str) -> Violation {
    let known: Vec<&str> = object.properties.keys().map(String::as_str).collect();
    let message = format!("unknown field; the fields here are {}", known.join(", "));
    Violation { path: member(path, name), reason: Reason::UnknownField, message }
}

fn invalid(path: &str, message: String) -> Violation {
    Violation { path: path.to_owned(), reason: Reason::InvalidField, message }
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn expected(shape: &Shape) -> &'static str {
    match shape {
        Shape::Object(_) => "object",
        Shape::Array(_) => "array",
        Shape::Text(_) => "string",
        Shape::Number(Number { whole: true, .. }) => "integer",
        Shape::Number(_) => "number",
        Shape::Boolean => "boolean",
        Shape::IntegerOrText(_) => "integer or string",
        Shape::Any => "any",
    }
}

fn given(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean (quotes make a string of it)",
        Value::Number(_) => "number (quotes make a string of it)",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
