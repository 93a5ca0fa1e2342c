//! Values mirrored from a message into HTTP headers, and back (MCP 2026-07-28, streamable HTTP,
//! "Value Encoding"). Both ends need it: towards servers we write, from clients we read.

use base64::{Engine as _, prelude::BASE64_STANDARD};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// A value as header text: plain where a header can carry it, wrapped in base64 elsewhere.
pub fn encode(value: &str) -> String {
    let plain = value.bytes().all(|c| matches!(c, b'\t' | b' '..=b'~'))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with(PREFIX) && value.ends_with(SUFFIX));
    if plain {
        value.to_owned()
    } else {
        format!("{PREFIX}{}{SUFFIX}", BASE64_STANDARD.encode(value))
    }
}

/// The value behind header text; nothing where it claims base64 and is none.
pub fn decode(header: &str) -> Option<String> {
    match header.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(header.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_examples_encode_and_decode() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(value), header);
            assert_eq!(decode(header).as_deref(), Some(value));
        }
        assert_eq!(decode("=?base64?§?="), None);
    }
}
