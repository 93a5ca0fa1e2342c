//! Gives a tool its routed name back in what a server says about it (seed 2, "Error Message
//! Re-namespacing"): in error messages and in the text of error results, nowhere else.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use surface::members::{Members, quoted};

/// Replaces `clean` by `shown` where it stands as a word of its own.
pub(crate) fn restore<'a>(text: &'a str, clean: &str, shown: &str) -> Cow<'a, str> {
    if clean.is_empty() || clean == shown || !text.contains(clean) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + shown.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(at) = rest.find(clean) {
        let (head, tail) = rest.split_at(at);
        let previous = head.chars().next_back().or(before);
        let after = &tail[clean.len()..];
        out.push_str(head);
        let whole = borders(previous, clean.chars().next())
            && borders(clean.chars().next_back(), after.chars().next());
        out.push_str(if whole { shown } else { clean });
        before = clean.chars().next_back();
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a word ends between two characters. A name that itself starts or ends with something
/// else than a letter, a digit or `_` has a border there already.
fn borders(left: Option<char>, right: Option<char>) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !(word(left) && word(right))
}

/// A result with `isError` with the name restored in its text content; nothing when there is
/// nothing to restore, so that every other result passes as it was written.
pub(crate) fn restore_result(result: &str, clean: &str, shown: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Flag {
        #[serde(default)]
        is_error: bool,
    }
    // The cheap questions first: most results are no errors.
    if clean == shown || !result.contains("\"isError\"") || !result.contains(clean) {
        return None;
    }
    if !serde_json::from_str::<Flag>(result).is_ok_and(|flag| flag.is_error) {
        return None;
    }
    let mut members = Members::parse(result).ok()?;
    let blocks: Vec<&RawValue> = serde_json::from_str(members.get("content")?).ok()?;
    let restored: Vec<_> =
        blocks.iter().map(|block| restore_block(block.get(), clean, shown)).collect();
    if restored.iter().all(Option::is_none) {
        return None;
    }
    let blocks: Vec<&str> = blocks
        .iter()
        .zip(&restored)
        .map(|(block, restored)| restored.as_deref().unwrap_or(block.get()))
        .collect();
    let content = format!("[{}]", blocks.join(","));
    members.set("content", &content);
    Some(members.to_string())
}

/// A content block with the name restored in its text, everything else as it was written.
fn restore_block(block: &str, clean: &str, shown: &str) -> Option<String> {
    let mut members = Members::parse(block).ok()?;
    let text: String = serde_json::from_str(members.get("text")?).ok()?;
    let restored = restore(&text, clean, shown);
    if restored == text {
        return None;
    }
    let restored = quoted(&restored);
    members.set("text", &restored);
    Some(members.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(clean: &str, shown: &str, text: &str, expected: &str) {
        assert_eq!(restore(text, clean, shown), expected);
    }

    #[test]
    fn only_whole_words_are_restored() {
        check(
            "read_file",
            "fs__read_file",
            "Tool 'read_file' not found",
            "Tool 'fs__read_file' not found",
        );
        check(
            "read_file",
            "fs__read_file",
            "thread_file_reader failed",
            "thread_file_reader failed",
        );
        check(
            "read_file",
            "fs__read_file",
            "read_file2 and read_file",
            "read_file2 and fs__read_file",
        );
        check(
            "read_file",
            "fs__read_file",
            "Tool fs__read_file not found",
            "Tool fs__read_file not found",
        );
        check("sum", "calc__sum", "sum failed: no summary", "calc__sum failed: no summary");
        check(
            "sum",
            "calc__sum",
            "sum sum (sum) sum.",
            "calc__sum calc__sum (calc__sum) calc__sum.",
        );
        check("sum", "calc__sum", "SUM sumsum", "SUM sumsum");
        check(
            "größe",
            "fs__größe",
            "größe fehlt, übergröße nicht",
            "fs__größe fehlt, übergröße nicht",
        );
        check("t", "fs__t", "t't t_t t-t", "fs__t'fs__t t_t fs__t-fs__t");
        check("r\\1", "fs__r\\1", "Tool r\\1 not found", "Tool fs__r\\1 not found");
        check("x", "x", "x", "x");
    }

    #[test]
    fn results_that_are_no_errors_pass_untouched() {
        assert_eq!(
            restore_result(r#"{"isError":false,"content":[{"text":"t"}]}"#, "t", "s__t"),
            None
        );
        assert_eq!(restore_result(r#"{"content":[{"text":"t isError"}]}"#, "t", "s__t"), None);
        let check = |clean: &str, shown: &str, result: &str, expected: Option<&str>| {
            assert_eq!(restore_result(result, clean, shown).as_deref(), expected, "{result}");
        };
        let failed = r#"{"x":1.0,"isError":true,"content":[{"type":"text","text":"t failed","_meta":{"z":1.0,"a":123456789012345678901}},{"type":"image"}, 7]}"#;
        let restored = r#"{"x":1.0,"isError":true,"content":[{"type":"text","text":"s__t failed","_meta":{"z":1.0,"a":123456789012345678901}},{"type":"image"},7]}"#;
        check("t", "s__t", failed, Some(restored));
        check("t", "t", failed, None);
        check("z", "s__z", failed, None);
    }
}
