//! Which HTTP headers a manifest may set, said once for the schema and for values from secrets.
//! Sending them is the business of `upstream`.

use serde_json::Value;

use crate::rule::rules;

/// Grammar of a header name: an HTTP token.
pub(crate) const NAME_PATTERN: &str = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
/// A header value holds no control characters: a line break would start another header.
pub(crate) const VALUE_PATTERN: &str = r"^[^\x00-\x08\x0A-\x1F\x7F]*$";

/// Headers that frame the message or belong to one hop, or that MCP itself sets. Beside these,
/// everything that begins with `mcp-`.
const RESERVED: [&str; 16] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The rule for a field that names a header.
pub(crate) fn name_rules() -> Value {
    let names = RESERVED.map(|name| format!("'{name}'")).join(", ");
    rules([(
        &format!("!(self.lowerAscii() in [{names}]) && !self.lowerAscii().startsWith('mcp-')"),
        "must not be a header that HTTP or MCP itself sets \
         (such as Host, Content-Length, Accept, Connection or Mcp-Session-Id)",
    )])
}

/// Whether a value may be sent. Manifests are checked by [`VALUE_PATTERN`]; this is for what
/// comes out of a Secret or ConfigMap.
pub(crate) fn is_value(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !c.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_and_the_pattern_agree_on_values() {
        let pattern = regex::Regex::new(VALUE_PATTERN).unwrap();
        for c in (0..=0xff).filter_map(char::from_u32).chain(['é', '漢']) {
            let text = format!("a{c}b");
            assert_eq!(is_value(&text), pattern.is_match(&text), "{c:?}");
        }
    }
}
