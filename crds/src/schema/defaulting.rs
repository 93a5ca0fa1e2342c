//! What the API server does to an object before it checks it: nulls go, defaults come.

use serde_json::{Map, Value};

use super::node::{Node, Object, Shape};

/// Prunes nulls (no field of ours is nullable) and fills in defaults, from the outside in, so that
/// a default may hold fields that have defaults themselves.
pub(super) fn apply(node: &Node, value: &mut Value) {
    match (&node.shape, value) {
        (Shape::Object(object), Value::Object(fields)) => apply_fields(object, fields),
        (Shape::Array(array), Value::Array(items)) => {
            for item in items {
                apply(&array.items, item);
            }
        }
        _ => {}
    }
}

fn apply_fields(object: &Object, fields: &mut Map<String, Value>) {
    fields.retain(|name, value| {
        !value.is_null() || (!object.properties.contains_key(name) && object.values.is_none())
    });
    for (name, node) in &object.properties {
        if let (Some(default), false) = (&node.default, fields.contains_key(name)) {
            fields.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in fields {
        if let Some(node) = object.properties.get(name).or(object.values.as_deref()) {
            apply(node, value);
        }
    }
}
