//! The key of every tool: `github:create_issue#06cc9cd7`, or `github:create_issue@1.4.0`.
//! Seed 1 §1. Opaque to everyone but `parse` (`FromStr`) and `format` (`Display`) here.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::name::{Hash8, NameError, Namespace, ToolName, Version};

/// Longest id in characters. The grammar alone would allow 237 of them, so this never refuses
/// what the parts accept; it bounds what is read before the parts are looked at.
pub const MAX_LEN: usize = 240;

/// A parsed tool id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolId {
    namespace: Namespace,
    name: ToolName,
    edition: Edition,
}

/// What tells two generations of one tool apart. A declared version may come with a hash; without
/// a version the hash is required.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edition {
    /// `#06cc9cd7`
    Hash(Hash8),
    /// `@1.4.0` or `@1.4.0#06cc9cd7`
    Version(Version, Option<Hash8>),
}

/// A text that is no tool id, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolIdError {
    #[error("tool_id is longer than {MAX_LEN} characters")]
    TooLong,
    #[error("tool_id has no namespace separator ':': {0:?}")]
    NoSeparator(String),
    #[error("tool_id needs a hash8 when it has no version: {0:?}")]
    NoEdition(String),
    #[error("tool_id: {0}")]
    Part(#[from] NameError),
}

impl ToolId {
    pub fn new(namespace: Namespace, name: ToolName, edition: Edition) -> Self {
        Self { namespace, name, edition }
    }

    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    pub fn name(&self) -> &ToolName {
        &self.name
    }

    pub fn edition(&self) -> &Edition {
        &self.edition
    }

    pub fn version(&self) -> Option<&Version> {
        match &self.edition {
            Edition::Hash(_) => None,
            Edition::Version(version, _) => Some(version),
        }
    }

    pub fn hash8(&self) -> Option<&Hash8> {
        match &self.edition {
            Edition::Hash(hash) => Some(hash),
            Edition::Version(_, hash) => hash.as_ref(),
        }
    }
}

impl FromStr for ToolId {
    type Err = ToolIdError;

    fn from_str(text: &str) -> Result<Self, ToolIdError> {
        if text.len() > MAX_LEN {
            return Err(ToolIdError::TooLong);
        }
        let (namespace, rest) =
            text.split_once(':').ok_or_else(|| ToolIdError::NoSeparator(text.to_owned()))?;
        let (rest, hash) = match rest.split_once('#') {
            Some((rest, hash)) => (rest, Some(hash.parse::<Hash8>()?)),
            None => (rest, None),
        };
        let (name, version) = match rest.split_once('@') {
            Some((name, version)) => (name, Some(version.parse::<Version>()?)),
            None => (rest, None),
        };
        let edition = match (version, hash) {
            (Some(version), hash) => Edition::Version(version, hash),
            (None, Some(hash)) => Edition::Hash(hash),
            (None, None) => return Err(ToolIdError::NoEdition(text.to_owned())),
        };
        Ok(Self { namespace: namespace.parse()?, name: name.parse()?, edition })
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, name, edition } = self;
        match edition {
            Edition::Hash(hash) => write!(f, "{namespace}:{name}#{hash}"),
            Edition::Version(version, None) => write!(f, "{namespace}:{name}@{version}"),
            Edition::Version(version, Some(hash)) => {
                write!(f, "{namespace}:{name}@{version}#{hash}")
            }
        }
    }
}

impl TryFrom<String> for ToolId {
    type Error = ToolIdError;

    fn try_from(text: String) -> Result<Self, ToolIdError> {
        text.parse()
    }
}

impl From<ToolId> for String {
    fn from(id: ToolId) -> Self {
        id.to_string()
    }
}
