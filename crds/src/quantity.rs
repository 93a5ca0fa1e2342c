//! Sizes and resource amounts as users write them (`4Mi`, `250m`).
//! Bounds belong to the field that has them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A number of bytes as a Kubernetes quantity: a whole number, or one with `k`, `M`, `G` (powers
/// of 1000) or `Ki`, `Mi`, `Gi` (powers of 1024).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ByteSize(
    #[schemars(length(min = 1, max = 16), regex(pattern = r"^[0-9]{1,12}(k|M|G|Ki|Mi|Gi)?$"))]
    String,
);

impl ByteSize {
    /// The number of bytes; `None` where the text never passed the schema.
    pub fn bytes(&self) -> Option<u64> {
        parse(&self.0)
    }
}

impl From<&str> for ByteSize {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

fn parse(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit: u64 = match &text[digits..] {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

/// An amount of a container resource, as in a Pod: `250m`, `64Mi`, or a bare number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    /// A whole number of the unit: `1`.
    Number(i64),
    /// A quantity as text: `250m`.
    Text(String),
}

// Written by hand: schemars makes `anyOf` of it, which is not structural.
impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "maxLength": 32,
            "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_of_bytes() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("512", Some(512)),
            ("4Mi", Some(4 << 20)),
            ("64k", Some(64_000)),
            ("1Gi", Some(1 << 30)),
            ("4MB", None),
            ("Mi", None),
            ("", None),
            ("99999999999999999999Gi", None),
        ] {
            assert_eq!(parse(text), bytes, "{text}");
        }
    }
}
