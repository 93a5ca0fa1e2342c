//! The protocol versions that are spoken to agents.

use rmcp::model::ProtocolVersion;
use serde::Serialize;
pub(crate) use upstream::version::{MODERN, is_legacy};

/// Newest first, as they are told to clients.
pub(crate) const SUPPORTED: Supported = Supported;

/// The list as JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Supported;

impl Serialize for Supported {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ProtocolVersion::KNOWN_VERSIONS.iter().rev())
    }
}

/// What is agreed with a legacy client: its version where we know it, else our newest.
pub(crate) fn agree(requested: &str) -> &str {
    if is_legacy(requested) {
        requested
    } else {
        // Spelled by the SDK; the borrow is static.
        LATEST_LEGACY
    }
}

const LATEST_LEGACY: &str = "2025-11-25";

/// The versions whose clients may send several messages in one body.
pub(crate) fn has_batches(version: Option<&str>) -> bool {
    matches!(version, None | Some("2024-11-05" | "2025-03-26"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_versions_are_the_sdks() {
        assert_eq!(MODERN, ProtocolVersion::LATEST.as_str());
        assert_eq!(LATEST_LEGACY, ProtocolVersion::LATEST_WITH_INITIALIZE.as_str());
        assert_eq!(agree("2025-03-26"), "2025-03-26");
        assert_eq!(agree("2030-01-01"), LATEST_LEGACY);
    }
}
