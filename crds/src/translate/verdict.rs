//! The two verdicts on every object: may it be, and is what it refers to there?

use crate::{condition::ConditionReason, problem::Reason, schema::Violation};

/// Why an object is not accepted.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) reason: ConditionReason,
    pub(super) message: String,
}

/// What became of an object's references.
#[derive(Debug)]
pub(super) enum Resolution<T> {
    /// The spec cannot be read, so nothing was looked up.
    Unread,
    Resolved(T),
    /// What was not found, as one message.
    Unresolved(String),
}

impl<T> From<Result<T, String>> for Resolution<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(value) => Self::Resolved(value),
            Err(message) => Self::Unresolved(message),
        }
    }
}

/// The refusal for everything that is wrong; the first finding gives the reason.
pub(super) fn refusal(violations: &[Violation]) -> Refusal {
    let reason = match violations.first().map(|violation| violation.reason) {
        Some(Reason::NotImplemented) => ConditionReason::NotImplemented,
        Some(Reason::TransportNotSupported) => ConditionReason::TransportNotSupported,
        _ => ConditionReason::Invalid,
    };
    Refusal { reason, message: summary(violations) }
}

/// Everything in one message, within what a condition may hold.
pub(super) fn summary(violations: &[Violation]) -> String {
    const MOST: usize = 8;
    let shown = violations.iter().take(MOST).map(|violation| match violation.path.as_str() {
        "" => violation.message.clone(),
        path => format!("{path}: {}", violation.message),
    });
    let mut parts: Vec<String> = shown.collect();
    if violations.len() > MOST {
        parts.push(format!("and {} more", violations.len() - MOST));
    }
    parts.join("; ")
}
