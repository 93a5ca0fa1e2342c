//! What is wrong with a manifest, where, and why: one shape for every finding of this crate.
//! A message names fields, objects and files, never a secret's value.

use std::fmt;

use crate::condition::closed_list;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Where the document came from, as the reader called it: `servers.yaml#2`.
    pub origin: String,
    /// The object concerned, as far as it is known.
    pub object: Option<ObjectId>,
    /// The field concerned: `spec.transport.streamableHttp.url`; empty for the whole object.
    pub path: String,
    pub reason: Reason,
    /// One sentence for a human, without a full stop.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is not served, or not served as written.
    Error,
    /// Everything is served, but a detail is not as one may expect.
    Warning,
}

closed_list! {
    /// Machine-readable causes.
    Reason {
        /// Not YAML, not one mapping, or beyond the reader's bounds.
        InvalidDocument,
        /// A kind or version of our group that does not exist.
        UnknownKind,
        /// A kind of somebody else, which is not read.
        ForeignKind,
        /// The same object a second time.
        DuplicateObject,
        /// A field breaks a rule of its kind.
        InvalidField,
        /// A required field is absent.
        MissingField,
        /// A field the kind does not have.
        UnknownField,
        /// Another object already has the tool namespace.
        NamespaceConflict,
        /// A Secret, a ConfigMap or a key of one does not exist.
        RefNotFound,
        /// A Secret or ConfigMap holds something that cannot be used as it is asked for.
        RefInvalid,
        /// A `${NAME}` whose environment variable is not set.
        VariableNotSet,
        /// A policy names a server that does not exist.
        TargetNotFound,
        /// This placement cannot carry the transport.
        TransportNotSupported,
        /// Understood, but not built in this release.
        NotImplemented,
        /// A policy that cannot be read as it stands: what it may be for is withheld.
        PolicyInvalid,
    }
}

/// An object by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, origin, object, path, reason, message } = self;
        write!(f, "{origin}: ")?;
        if let Some(object) = object {
            write!(f, "{object}: ")?;
        }
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        match severity {
            Severity::Error => write!(f, "{message} ({reason})"),
            Severity::Warning => write!(f, "{message} ({reason}, warning)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_well_on_one_line() {
        let mut problem = Problem {
            severity: Severity::Error,
            origin: "servers.yaml".to_owned(),
            object: Some(ObjectId {
                kind: "UpstreamServer".to_owned(),
                namespace: "default".to_owned(),
                name: "everything".to_owned(),
            }),
            path: "spec.transport".to_owned(),
            reason: Reason::InvalidField,
            message: "exactly one of a, b must be set".to_owned(),
        };
        assert_eq!(
            problem.to_string(),
            "servers.yaml: UpstreamServer/default/everything: spec.transport: \
             exactly one of a, b must be set (InvalidField)"
        );
        problem.object = None;
        problem.path.clear();
        problem.severity = Severity::Warning;
        assert_eq!(
            problem.to_string(),
            "servers.yaml: exactly one of a, b must be set (InvalidField, warning)"
        );
    }
}
