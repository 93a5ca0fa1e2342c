//! Digests: of one Tool object, of a listing (its revision), of a snapshot.
//! RFC 8785 says which bytes are hashed; `exact` refuses what that form cannot hold.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256, shown as `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of bytes as they stand.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a JSON value in RFC 8785 form.
    pub fn of_json(value: &Value) -> Result<Self, CanonicalError> {
        Ok(Self::of(serde_json_canonicalizer::to_vec(value)?))
    }

    /// The digest over several digests in the order given.
    pub fn over<'a>(digests: impl IntoIterator<Item = &'a Digest>) -> Self {
        let mut hash = Sha256::new();
        for digest in digests {
            hash.update(digest.0);
        }
        Self(hash.finalize().into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first twelve hex digits: enough for a column or a log line.
    pub fn short(&self) -> String {
        self.to_string()["sha256:".len()..][..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 'sha256:' and 64 lower-case hex digits, got {0:?}")]
pub struct DigestError(String);

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError(text.to_owned());
        let hex = text.strip_prefix("sha256:").map(str::as_bytes).ok_or_else(error)?;
        let digit = |c: u8| match c {
            b'0'..=b'9' => Ok(c - b'0'),
            b'a'..=b'f' => Ok(c - b'a' + 10),
            _ => Err(error()),
        };
        let (pairs, []) = hex.as_chunks::<2>() else { return Err(error()) };
        if pairs.len() != 32 {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// JSON that has no canonical form.
#[derive(Debug, thiserror::Error)]
#[error("has no canonical form (RFC 8785): {0}")]
pub struct CanonicalError(#[from] serde_json::Error);

/// Reads a JSON text that has a canonical form. An integer that no double holds exactly and a
/// member that is given twice have none: two readers would see two different objects.
pub fn exact(text: &str) -> Result<Value, CanonicalError> {
    let Exact(value) = serde_json::from_str(text)?;
    Ok(value)
}

/// A JSON value that means the same to every reader.
struct Exact(Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor).map(Exact)
    }
}

struct ExactVisitor;

impl<'de> Visitor<'de> for ExactVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        exact_integer(value, i128::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        exact_integer(value, i128::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Exact(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((key, Exact(value))) = map.next_entry::<String, Exact>()? {
            if members.contains_key(&key) {
                return Err(de::Error::custom(format_args!("member {key:?} is given twice")));
            }
            members.insert(key, value);
        }
        Ok(Value::Object(members.into_iter().collect()))
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn exact_integer<E: de::Error>(number: impl Into<Value>, integer: i128) -> Result<Value, E> {
    // The cast rounds; comparing with the integer it came from is the point.
    if (integer as f64) as i128 == integer {
        Ok(number.into())
    } else {
        Err(E::custom(format_args!("{integer} fits no double exactly")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let actual = exact(text).ok().map(|value| {
            String::from_utf8(serde_json_canonicalizer::to_vec(&value).unwrap()).unwrap()
        });
        assert_eq!(actual.as_deref(), expected, "{text}");
    }

    #[test]
    fn the_canonical_form_is_that_of_rfc_8785() {
        check(r#"{"b": 1.0, "a": [2e2, "é", null]}"#, Some(r#"{"a":[200,"é",null],"b":1}"#));
        check(r#"{"\ufb33":1,"\ud83d\ude00":2}"#, Some("{\"😀\":2,\"\u{fb33}\":1}"));
        check("9007199254740992", Some("9007199254740992"));
        check("1e21", Some("1e+21"));
    }

    #[test]
    fn what_two_readers_would_read_differently_has_no_canonical_form() {
        check("9007199254740993", None);
        check("18446744073709551615", None);
        check("1e400", None);
        check(r#"{"a":1,"a":2}"#, None);
        check("[1,]", None);
    }

    #[test]
    fn a_digest_reads_back_as_it_was_shown() {
        let digest = Digest::of("x");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!("sha256:00".parse::<Digest>().is_err());
        assert!(digest.to_string().to_uppercase().parse::<Digest>().is_err());
    }
}
