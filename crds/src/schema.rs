//! The rules of the kinds, applied in process as the API server would apply them: unknown fields,
//! nulls, defaults, structure, CEL. Which objects there are, and what they lead to, is not known
//! here.

mod defaulting;
mod node;
mod structure;

use std::sync::LazyLock;

use kube::{
    CustomResourceExt,
    core::{
        cel::{CompiledSchema, ErrorKind, compile_schema, validate_compiled},
        object::HasSpec,
    },
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::{node::Node, structure::Findings};
use crate::{
    definition::definition, problem::Reason, tool_policy::ToolPolicy,
    upstream_server::UpstreamServer,
};

/// A rule that an object breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The field: `spec.limits.concurrency`; empty for the whole object.
    pub path: String,
    /// `InvalidField`, `MissingField` or `UnknownField`.
    pub reason: Reason,
    /// What the rule demands, without the path.
    pub message: String,
}

/// A kind whose rules can be applied in process.
pub trait Admissible: HasSpec<Spec: DeserializeOwned> {
    /// The rules of the kind.
    fn rules() -> &'static KindRules;
}

/// The rules of one kind, compiled once from its generated definition.
#[derive(Debug)]
pub struct KindRules {
    structure: Node,
    cel: CompiledSchema,
}

impl KindRules {
    fn of<K: CustomResourceExt>() -> Self {
        let schema = definition::<K>()
            .spec
            .versions
            .into_iter()
            .find_map(|version| version.schema?.open_api_v3_schema)
            .unwrap_or_default();
        let structure = Node::root(&schema);
        // Of our own making and without maps with odd keys: this cannot fail, and an empty schema
        // would refuse every field through `structure`.
        let cel = compile_schema(&serde_json::to_value(&schema).unwrap_or_default());
        Self { structure, cel }
    }

    /// What the API server would store for this object, or everything it would refuse it for.
    /// With `old`, rules on changes apply too. The status of a new object is dropped.
    pub fn admit(&self, object: &Value, old: Option<&Value>) -> Result<Value, Vec<Violation>> {
        let object = self.with_defaults(object);
        let old = old.map(|old| self.with_defaults(old));
        let mut findings = Findings::default();
        structure::check(&self.structure, &object, "", &mut findings);
        let Findings { mut violations, oversize } = findings;
        if !oversize {
            self.check_cel(&object, old.as_ref(), &mut violations);
        }
        if violations.is_empty() { Ok(object) } else { Err(violations) }
    }

    fn with_defaults(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            fields.remove("status");
        }
        defaulting::apply(&self.structure, &mut object);
        object
    }

    /// Rules may stumble over a value of the wrong shape; where the structure is already refused,
    /// only plain verdicts count.
    fn check_cel(&self, object: &Value, old: Option<&Value>, violations: &mut Vec<Violation>) {
        let sound = violations.is_empty();
        let Err(errors) = validate_compiled(&self.cel, object, old) else { return };
        violations.extend(
            errors
                .into_iter()
                .filter(|error| sound || error.kind == ErrorKind::ValidationFailure)
                .map(|error| Violation {
                    path: error.field_path.trim_start_matches('.').to_owned(),
                    reason: Reason::InvalidField,
                    message: error.message,
                }),
        );
    }
}

/// The spec of an object with every default filled in, or everything that is wrong with it.
pub fn admit<K: Admissible>(
    object: &Value,
    old: Option<&Value>,
) -> Result<K::Spec, Vec<Violation>> {
    let mut admitted = K::rules().admit(object, old)?;
    let spec = admitted.get_mut("spec").map(Value::take).unwrap_or_default();
    serde_json::from_value(spec).map_err(|error| {
        let (path, reason) = ("spec".to_owned(), Reason::InvalidField);
        vec![Violation { path, reason, message: error.to_string() }]
    })
}

impl Admissible for UpstreamServer {
    fn rules() -> &'static KindRules {
        static RULES: LazyLock<KindRules> = LazyLock::new(KindRules::of::<UpstreamServer>);
        &RULES
    }
}

impl Admissible for ToolPolicy {
    fn rules() -> &'static KindRules {
        static RULES: LazyLock<KindRules> = LazyLock::new(KindRules::of::<ToolPolicy>);
        &RULES
    }
}

#[cfg(test)]
mod tests;
