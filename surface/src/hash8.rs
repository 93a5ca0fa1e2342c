//! The schema hash of seed 1 §1.3: it moves when the set of top-level properties or the set of
//! required ones does, and never for prose.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::name::Hash8;

/// The hash of a tool's raw upstream name and the shape of its input schema.
pub fn hash8(upstream_name: &str, input_schema: &Value) -> Hash8 {
    let mut hash = Sha256::new();
    hash.update(upstream_name);
    hash.update("\n");
    hash.update(canonical_shape(input_schema));
    short(&hash.finalize())
}

/// The first eight hex digits of a digest.
pub(crate) fn short(digest: &[u8]) -> Hash8 {
    let mut text = String::with_capacity(8);
    for byte in &digest[..4] {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    match text.parse() {
        Ok(hash) => hash,
        Err(_) => unreachable!("eight lower-case hex digits are a hash8"),
    }
}

/// `{"properties":[…],"required":[…]}`: names sorted by code point, non-ASCII and DEL escaped as
/// UTF-16 units, so that every implementation hashes the same bytes.
pub fn canonical_shape(input_schema: &Value) -> String {
    let properties = input_schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|map| map.keys().map(String::as_str).collect());
    let required = input_schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect());
    let mut out = String::from(r#"{"properties":"#);
    push_sorted(&mut out, properties.unwrap_or_default());
    out.push_str(r#","required":"#);
    push_sorted(&mut out, required.unwrap_or_default());
    out.push('}');
    out
}

fn push_sorted(out: &mut String, mut names: Vec<&str>) {
    // Rust compares UTF-8 bytes, which order as code points do.
    names.sort_unstable();
    out.push('[');
    for (i, name) in names.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        push_ascii_string(out, name);
    }
    out.push(']');
}

fn push_ascii_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}
