//! The names everything else is built from, each parsed once at the edge.
//! What a whole id or a client's view of a name looks like lives in `tool_id` and `view`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A name that broke its grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} does not match its grammar ({grammar}): {value:?}")]
pub struct NameError {
    /// Which part: `namespace`, `name`, `version` or `hash8`.
    pub what: &'static str,
    /// The grammar as a regular expression, for the reader of the message.
    pub grammar: &'static str,
    /// What was given.
    pub value: String,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $grammar:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(Box<str>);

        impl $type {
            /// The grammar as a regular expression.
            pub const GRAMMAR: &'static str = $grammar;

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(value: &str) -> Result<Self, NameError> {
                let accepts: fn(&[u8]) -> bool = $accepts;
                if accepts(value.as_bytes()) {
                    Ok(Self(value.into()))
                } else {
                    Err(NameError { what: $what, grammar: $grammar, value: value.to_owned() })
                }
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;

            fn try_from(value: String) -> Result<Self, NameError> {
                value.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0.into()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// First part of a tool id as any source may give it: `github`.
    Namespace, "namespace", "[a-z][a-z0-9_-]{0,63}",
    |b| matches(b, 64, |c| c.is_ascii_lowercase(),
        |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_' || c == b'-')
}

name! {
    /// A tool's own part of its id: `create_issue`.
    ToolName, "name", "[A-Za-z_][A-Za-z0-9_.-]{0,127}",
    |b| matches(b, 128, |c| c.is_ascii_alphabetic() || c == b'_',
        |c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-'))
}

name! {
    /// The version a server declares for a tool: `1.4.0`.
    Version, "version", "[A-Za-z0-9._-]{1,32}",
    |b| matches(b, 32, version_char, version_char)
}

name! {
    /// First eight hex digits of the schema hash: `06cc9cd7`.
    Hash8, "hash8", "[0-9a-f]{8}",
    |b| b.len() == 8 && b.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn version_char(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-')
}

fn matches(bytes: &[u8], max: usize, first: fn(u8) -> bool, rest: fn(u8) -> bool) -> bool {
    match bytes.split_first() {
        Some((head, tail)) => bytes.len() <= max && first(*head) && tail.iter().all(|c| rest(*c)),
        None => false,
    }
}

impl Namespace {
    /// Whether a server may register under this namespace.
    ///
    /// A routed name is `namespace__tool`, so a registered namespace holds no `__` and does not
    /// end in `_`: otherwise `a_` + `b` and `a` + `_b` would both be `a___b`.
    pub fn is_registrable(&self) -> bool {
        !self.0.contains("__") && !self.0.ends_with('_')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registered_namespace_leaves_the_routed_name_unambiguous() {
        for (text, registrable) in
            [("github", true), ("a-b_c", true), ("a__b", false), ("a_", false)]
        {
            let namespace: Namespace = text.parse().unwrap();
            assert_eq!(namespace.is_registrable(), registrable, "{text}");
        }
    }

    #[test]
    fn limits_are_inclusive() {
        assert!("a".repeat(64).parse::<Namespace>().is_ok());
        assert!("a".repeat(65).parse::<Namespace>().is_err());
        assert!("a".repeat(128).parse::<ToolName>().is_ok());
        assert!("a".repeat(129).parse::<ToolName>().is_err());
        assert!("a\n".parse::<ToolName>().is_err());
    }
}
