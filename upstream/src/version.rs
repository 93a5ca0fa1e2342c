//! The protocol versions that are spoken, towards servers and towards agents alike.

use rmcp::model::ProtocolVersion;

/// The modern version.
pub const MODERN: &str = "2026-07-28";

/// Whether we speak a version that opens with `initialize`.
pub fn is_legacy(version: &str) -> bool {
    ProtocolVersion::KNOWN_VERSIONS
        .iter()
        .any(|known| known.has_initialize() && known.as_str() == version)
}
