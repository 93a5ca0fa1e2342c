//! A JSON object as its members' own text: one member can be replaced and the rest stays exactly
//! as it was written, unknown members, their order and the spelling of numbers included.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of one object, in order.
#[derive(Debug, Clone, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    /// Reads an object. Anything else is an error.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The text of a member; the last one where it is given twice, as JSON readers do.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, text)| *text)
    }

    /// Puts `json` in the place of a member, or at the end.
    pub fn set(&mut self, name: &'a str, json: &'a str) {
        match self.0.iter_mut().rev().find(|(key, _)| key == name) {
            Some((_, text)) => *text = json,
            None => self.0.push((Cow::Borrowed(name), json)),
        }
    }

    /// Takes a member away.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, (key, text)) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}:{text}", quoted(key))?;
        }
        f.write_str("}")
    }
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            members.push((key, value.get()));
        }
        Ok(Members(members))
    }
}

/// A key that is borrowed unless it holds escapes (serde's own `Cow` always copies).
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_member_leaves_the_others_as_written() {
        let text = r#" { "z" : 1.0, "name":"a", "x":{"b":2e2 , "a":"\u00e9"}, "k\n":[] } "#;
        let mut members = Members::parse(text).unwrap();
        members.set("name", r#""b""#);
        members.set("new", "true");
        members.remove("z");
        assert_eq!(
            members.to_string(),
            r#"{"name":"b","x":{"b":2e2 , "a":"\u00e9"},"k\n":[],"new":true}"#
        );
    }

    #[test]
    fn only_an_object_has_members() {
        for text in ["[]", "1", "null", "{", r#"{"a":}"#] {
            assert!(Members::parse(text).is_err(), "{text}");
        }
    }
}
