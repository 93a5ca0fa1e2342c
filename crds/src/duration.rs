//! Durations as users write them (`10s`, `500ms`, `1h30m`), after Kubernetes' GEP-2257.
//! Bounds belong to the field that has them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration as text: whole numbers with the units `h`, `m`, `s` and `ms`, at most four of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct DurationText(
    #[schemars(length(min = 1, max = 32), regex(pattern = r"^([0-9]{1,5}(h|m|s|ms)){1,4}$"))]
    String,
);

impl DurationText {
    /// The duration; `None` where the text never passed the schema.
    pub fn get(&self) -> Option<Duration> {
        parse(&self.0)
    }
}

impl From<&str> for DurationText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

fn parse(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let count: u64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let unit = &unit[..unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len())];
        total = total.checked_add(Duration::from_millis(count.checked_mul(millis(unit)?)?))?;
        rest = &rest[digits + unit.len()..];
    }
    (!text.is_empty()).then_some(total)
}

fn millis(unit: &str) -> Option<u64> {
    match unit {
        "h" => Some(3_600_000),
        "m" => Some(60_000),
        "s" => Some(1_000),
        "ms" => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_means_what_kubernetes_makes_of_it() {
        for (text, millis) in [
            ("10s", Some(10_000)),
            ("500ms", Some(500)),
            ("1m", Some(60_000)),
            ("1h30m", Some(5_400_000)),
            ("1m500ms", Some(60_500)),
            ("0s", Some(0)),
            ("", None),
            ("10", None),
            ("s", None),
            ("1.5s", None),
            ("-1s", None),
            ("1d", None),
        ] {
            assert_eq!(parse(text), millis.map(Duration::from_millis), "{text}");
        }
    }
}
