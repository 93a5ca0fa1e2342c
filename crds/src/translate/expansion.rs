//! `${NAME}` in a text: where it stands for a variable, and where it does not.
//! Which texts are expanded, and from where, is said by the callers.

/// A text after expansion.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// Whether a variable went into it: then it may be secret.
    pub(super) from_variables: bool,
}

/// Replaces every `${NAME}`; `$${` stands for a literal `${`. Fails with everything that is wrong.
pub(super) fn expand(
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Expanded, Vec<String>> {
    let mut expanded = Expanded { text: String::new(), from_variables: false };
    let mut faults = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        rest = after;
        if let Some(before) = before.strip_suffix('$') {
            expanded.text.extend([before, "${"]);
            continue;
        }
        expanded.text.push_str(before);
        let Some((name, after)) = variable(rest) else {
            faults.push("'${' is not followed by NAME}; a literal one is '$${'".to_owned());
            continue;
        };
        rest = after;
        expanded.from_variables = true;
        match env(name) {
            Some(value) => expanded.text.push_str(&value),
            None => faults.push(format!("environment variable {name} is not set")),
        }
    }
    expanded.text.push_str(rest);
    if faults.is_empty() { Ok(expanded) } else { Err(faults) }
}

/// Splits `NAME}rest`.
fn variable(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.split_once('}')?;
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let others = characters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    (first && others).then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(&str, bool), &[&str]>) {
        let env = |name: &str| match name {
            "TOKEN" => Some("s3cret".to_owned()),
            "NESTED" => Some("${TOKEN}".to_owned()),
            _ => None,
        };
        let expanded = expand(text, &env);
        let expanded = expanded.as_ref().map(|e| (e.text.as_str(), e.from_variables));
        let expected = expected.map_err(|faults| faults.iter().map(|f| (*f).to_owned()).collect());
        assert_eq!(expanded, expected.as_ref().copied(), "{text}");
    }

    #[test]
    fn a_variable_is_replaced_once_and_only_where_it_is_one() {
        check("", Ok(("", false)));
        check("price: $5", Ok(("price: $5", false)));
        check("Bearer ${TOKEN}!", Ok(("Bearer s3cret!", true)));
        check("${TOKEN}${TOKEN}", Ok(("s3crets3cret", true)));
        check("$${TOKEN}", Ok(("${TOKEN}", false)));
        check("$$${TOKEN}", Ok(("$${TOKEN}", false)));
        check("${NESTED}", Ok(("${TOKEN}", true)));
    }

    #[test]
    fn everything_that_cannot_be_replaced_is_named() {
        const LITERAL: &str = "'${' is not followed by NAME}; a literal one is '$${'";
        check(
            "${A} ${TOKEN} ${B}",
            Err(&["environment variable A is not set", "environment variable B is not set"]),
        );
        check("${TOKEN", Err(&[LITERAL]));
        check("${1X}${}", Err(&[LITERAL, LITERAL]));
    }
}
