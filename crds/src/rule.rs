//! How a field says its CEL rules, so that rule and message stand beside the field.
//! Rules run twice: in the API server and in `schema`. Nothing here evaluates them.

use serde_json::{Value, json};

/// `x-kubernetes-validations` of one field: each rule with the message a user reads.
pub(crate) fn rules<const N: usize>(rules: [(&str, &str); N]) -> Value {
    rules.iter().map(|(rule, message)| json!({"rule": rule, "message": message})).collect()
}

/// Exactly one of these fields is set.
pub(crate) fn exactly_one_of<const N: usize>(fields: [&str; N]) -> Value {
    let present: Vec<String> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    rules([(
        &format!("[{}].exists_one(present, present)", present.join(", ")),
        &format!("exactly one of {} must be set", fields.join(", ")),
    )])
}

/// A duration within inclusive bounds.
pub(crate) fn duration_between(least: &str, most: &str) -> Value {
    rules([(
        &format!("duration(self) >= duration('{least}') && duration(self) <= duration('{most}')"),
        &format!("must be between {least} and {most}"),
    )])
}

/// A byte size within inclusive bounds.
pub(crate) fn size_between(least: &str, most: &str) -> Value {
    rules([(
        &format!(
            "quantity(self).compareTo(quantity('{least}')) >= 0 && \
             quantity(self).compareTo(quantity('{most}')) <= 0"
        ),
        &format!("must be between {least} and {most}"),
    )])
}
