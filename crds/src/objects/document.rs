//! From the text of a file to its YAML documents, each read on its own as `kubectl` would read it.
//! What a document is about is not known here.

use serde_json::{Number, Value};
use serde_saphyr::{Error, Options, UserMessageFormatter};

/// One document of a file, with its place in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    text: &'a str,
    /// Lines of the file before it.
    lines_before: u64,
}

/// Cuts a text at its `---` lines. In YAML such a line always begins a document, whatever stands
/// before it, so that a mistake in one document cannot swallow the next.
pub(super) fn split(text: &str) -> Vec<Document<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut documents = Vec::new();
    let (mut start, mut lines_before, mut content) = (0, 0, false);
    let mut position = 0;
    for (line_number, line) in (0..).zip(text.split_inclusive('\n')) {
        if is_marker(line) && content {
            documents.push(Document { text: &text[start..position], lines_before });
            (start, lines_before, content) = (position, line_number, false);
        }
        content |= has_content(line);
        position += line.len();
    }
    if content {
        documents.push(Document { text: &text[start..], lines_before });
    }
    documents
}

fn is_marker(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Whether a line is more than a comment, a directive or a bare marker.
fn has_content(line: &str) -> bool {
    let rest = if is_marker(line) { &line[3..] } else { line };
    !rest.trim_start().is_empty() && !rest.trim_start().starts_with('#') && !line.starts_with('%')
}

impl Document<'_> {
    pub(super) fn text(&self) -> &str {
        self.text
    }

    /// The document as a value, or what is wrong with it, with the line and column of the file.
    pub(super) fn read(&self) -> Result<Value, String> {
        serde_saphyr::from_str_with_options::<Value>(self.text, options())
            .map(whole_numbers)
            .map_err(|error| self.describe(&error))
    }

    fn describe(&self, error: &Error) -> String {
        let text = error.render_with_formatter(&UserMessageFormatter);
        // The library counts from the start of the document.
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        match error.location() {
            Some(at) => {
                let line = self.lines_before + at.line();
                format!("line {line}, column {}: {message}", at.column())
            }
            None => message.to_owned(),
        }
    }
}

/// YAML as the API's clients read it: 1.1 booleans and octal numbers, no key twice. Bounded well
/// above what the API server takes (3 MiB an object), and so that aliases cannot multiply.
fn options() -> Options {
    serde_saphyr::options! {
        with_snippet: false,
        legacy_octal_numbers: true,
        budget: serde_saphyr::budget! {
            max_depth: 64,
            max_nodes: 100_000,
            max_total_scalar_bytes: 16 * 1024 * 1024,
            max_aliases: 1_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 20_000,
        },
    }
}

/// `5.0` is sent as `5` by the API's clients, so it is a whole number to the API server.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number)),
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect()
        }
        other => other,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53 is exact")]
fn whole(number: Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) if float.fract() == 0.0 && float.abs() < EXACT => (float as i64).into(),
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_cut_at_its_markers_and_nowhere_else() {
        for (text, expected) in [
            ("", vec![]),
            ("# nothing\n---\n\n", vec![]),
            ("a: 1\n", vec![("a: 1\n", 0)]),
            ("---\na: 1\n", vec![("---\na: 1\n", 0)]),
            (
                "# head\n---\na: 1\n--- # two\nb: 2",
                vec![("# head\n---\na: 1\n", 0), ("--- # two\nb: 2", 3)],
            ),
            ("%YAML 1.2\n---\na: 1\n", vec![("%YAML 1.2\n---\na: 1\n", 0)]),
            ("a: |\n  ---\n----: x\n", vec![("a: |\n  ---\n----: x\n", 0)]),
            ("a: 1\r\n---\r\nb: 2\r\n", vec![("a: 1\r\n", 0), ("---\r\nb: 2\r\n", 1)]),
            ("--- {a: 1}\n--- {b: 2}\n", vec![("--- {a: 1}\n", 0), ("--- {b: 2}\n", 1)]),
            ("\u{feff}a: 1", vec![("a: 1", 0)]),
        ] {
            let cut: Vec<_> = split(text).iter().map(|d| (d.text, d.lines_before)).collect();
            assert_eq!(cut, expected, "{text:?}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Result<Value, &str>) {
        let document = Document { text, lines_before: 10 };
        assert_eq!(document.read(), expected.map_err(str::to_owned), "{text:?}");
    }

    #[test]
    fn a_document_is_read_as_kubectl_reads_it() {
        check(
            "a: on\nb: 0755\nc: 5.0\nd: 1.5\ne: 2001-01-01\n",
            Ok(json!({
                "a": true, "b": 493, "c": 5, "d": 1.5, "e": "2001-01-01",
            })),
        );
        check("a: &x [1]\nb: *x\n", Ok(json!({"a": [1], "b": [1]})));
    }

    #[test]
    fn a_mistake_is_told_with_its_place_in_the_file() {
        check(
            "a: 1\na: 2\n",
            Err("line 12, column 1: duplicate mapping key `a` is not allowed here"),
        );
        check(
            "a: b: c\n",
            Err("line 11, column 5: mapping values are not allowed in this context"),
        );
        check(
            "a: 1\n...\nb: 2\n",
            Err("line 13, column 1: only single YAML document expected but multiple found"),
        );
    }

    /// Levels of lists, each holding the level below so many times.
    fn bomb(innermost: &str, width: usize, levels: usize) -> String {
        let level = |n: usize| {
            let items = format!("*a{}, ", n - 1).repeat(width);
            format!("a{n}: &a{n} [{items}]\n")
        };
        format!("a0: &a0 {innermost}\n") + &(1..levels).map(level).collect::<String>()
    }

    #[test]
    fn aliases_cannot_multiply() {
        for text in [bomb("[x, x, x, x]", 10, 9), bomb(&"x".repeat(1 << 20), 20, 3)] {
            let error = Document { text: &text, lines_before: 0 }.read().unwrap_err();
            assert!(error.len() < 200, "{error}");
        }
    }
}
