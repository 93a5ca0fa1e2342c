//! A structural schema in its working form: shapes with their limits, patterns compiled.
//! Made from the generated definition; checking values against it is done in `structure`.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use regex::Regex;
use serde_json::Value;

/// One place of a schema.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) shape: Shape,
    /// The only values allowed; empty: any.
    pub(super) choices: Vec<Value>,
    /// What the API server fills in where the field is absent.
    pub(super) default: Option<Value>,
}

#[derive(Debug)]
pub(super) enum Shape {
    Object(Object),
    Array(Array),
    Text(Text),
    Number(Number),
    Boolean,
    /// `x-kubernetes-int-or-string`.
    IntegerOrText(Text),
    /// Not looked into: `metadata` and the type of the root.
    Any,
}

#[derive(Debug)]
pub(super) struct Object {
    pub(super) properties: BTreeMap<String, Node>,
    /// Schema of the values, where the keys are the user's.
    pub(super) values: Option<Box<Node>>,
    pub(super) required: Vec<String>,
    pub(super) count: Bounds,
}

#[derive(Debug)]
pub(super) struct Array {
    pub(super) items: Box<Node>,
    pub(super) count: Bounds,
    pub(super) unique: Unique,
}

/// What must not occur twice in a list.
#[derive(Debug)]
pub(super) enum Unique {
    Nothing,
    Items,
    Keys(Vec<String>),
}

#[derive(Debug)]
pub(super) struct Text {
    /// In characters.
    pub(super) length: Bounds,
    pub(super) pattern: Option<Pattern>,
}

/// A pattern; one that does not compile matches nothing, so that it cannot let anything through.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    regex: Option<Regex>,
}

impl Pattern {
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

#[derive(Debug)]
pub(super) struct Number {
    pub(super) whole: bool,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
}

/// Inclusive bounds of a count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: i64,
    pub(super) most: i64,
}

impl Bounds {
    fn new(least: Option<i64>, most: Option<i64>) -> Self {
        Self { least: least.unwrap_or(0), most: most.unwrap_or(i64::MAX) }
    }
}

impl Node {
    /// The schema of a whole object: beside the kind's own fields it has what all objects have.
    pub(super) fn root(schema: &JSONSchemaProps) -> Self {
        let mut node = Self::compile(schema);
        if let Shape::Object(object) = &mut node.shape {
            for name in ["apiVersion", "kind", "metadata"] {
                let any = Self { shape: Shape::Any, choices: Vec::new(), default: None };
                object.properties.insert(name.to_owned(), any);
            }
        }
        node
    }

    fn compile(schema: &JSONSchemaProps) -> Self {
        let shape = match schema.type_.as_deref() {
            _ if schema.x_kubernetes_int_or_string == Some(true) => {
                Shape::IntegerOrText(text(schema))
            }
            Some("string") => Shape::Text(text(schema)),
            Some("array") => Shape::Array(array(schema)),
            Some("boolean") => Shape::Boolean,
            Some(number @ ("integer" | "number")) => Shape::Number(Number {
                whole: number == "integer",
                least: schema.minimum,
                most: schema.maximum,
            }),
            _ => Shape::Object(object(schema)),
        };
        let choices = schema.enum_.iter().flatten().map(|choice| choice.0.clone()).collect();
        let default = schema.default.as_ref().map(|default| default.0.clone());
        Self { shape, choices, default }
    }
}

fn object(schema: &JSONSchemaProps) -> Object {
    let properties = schema.properties.iter().flatten();
    let values = match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => Some(Box::new(Node::compile(values))),
        _ => None,
    };
    Object {
        properties: properties.map(|(name, node)| (name.clone(), Node::compile(node))).collect(),
        values,
        required: schema.required.clone().unwrap_or_default(),
        count: Bounds::new(schema.min_properties, schema.max_properties),
    }
}

fn array(schema: &JSONSchemaProps) -> Array {
    let items = match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => Node::compile(items),
        _ => Node::compile(&JSONSchemaProps::default()),
    };
    let unique =
        match (schema.x_kubernetes_list_type.as_deref(), &schema.x_kubernetes_list_map_keys) {
            (Some("set"), _) => Unique::Items,
            (Some("map"), Some(keys)) => Unique::Keys(keys.clone()),
            _ => Unique::Nothing,
        };
    Array { items: Box::new(items), count: Bounds::new(schema.min_items, schema.max_items), unique }
}

fn text(schema: &JSONSchemaProps) -> Text {
    Text {
        length: Bounds::new(schema.min_length, schema.max_length),
        pattern: schema
            .pattern
            .as_ref()
            .map(|pattern| Pattern { text: pattern.clone(), regex: Regex::new(pattern).ok() }),
    }
}
