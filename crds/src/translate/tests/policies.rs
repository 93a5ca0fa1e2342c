//! What policies withhold while they are not enforced, and that broken ones withhold more.

use super::*;
use crate::problem::Reason;

fn three() -> String {
    let labelled = stdio("c").replace("{name: c}", "{name: c, labels: {team: x}}");
    let elsewhere = stdio("d").replace("{name: d}", "{name: d, namespace: other}");
    [stdio("a"), stdio("b"), labelled, elsewhere].concat()
}

#[test]
fn a_policy_withholds_what_it_would_restrict() {
    for (spec, a, path) in [
        ("tools: {deny: ['x*', k]}", "a without x*,k", "spec.tools.deny"),
        ("tools: {allow: [x]}", "a without *", "spec.tools.allow"),
        ("authorize: [{expression: 'true', message: m}]", "a without *", "spec.authorize"),
        ("redact: [{detector: Email}]", "a without *", "spec.redact"),
        ("redact: [{detector: Email, action: Observe}]", "a", "spec.redact"),
        ("rateLimit: {calls: 1}", "a without *", "spec.rateLimit"),
        ("approval: {tools: [z]}", "a without z", "spec.approval"),
        ("arguments: {strictness: Strict}", "a without *", "spec.arguments"),
        ("arguments: {maxDepth: 3}", "a without *", "spec.arguments"),
        ("result: {maxTokens: 100}", "a without *", "spec.result"),
        ("rename: [{tool: x, name: z}]", "a", "spec.rename"),
    ] {
        let translation = standalone(&(stdio("a") + &policy("p", &format!("{{{spec}}}"))));
        assert_eq!(served(&translation), [a], "{spec}");
        assert_eq!(
            conditions(&translation, "p"),
            "Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs NotImplemented=True/NotImplemented",
            "{spec}"
        );
        let [problem] = &translation.problems[..] else { panic!("{:?}", problems(&translation)) };
        assert_eq!(
            (problem.path.as_str(), problem.reason),
            (path, Reason::NotImplemented),
            "{spec}"
        );
        for withheld in &translation.doc.servers[0].withheld {
            assert_eq!(withheld.reason, "NotImplemented");
            assert!(withheld.message.contains("ToolPolicy/default/p"), "{}", withheld.message);
        }
    }
}

#[test]
fn a_policy_that_restricts_nothing_withholds_nothing() {
    for spec in ["{}", "{priority: 1, failure: Open, subjects: {actors: [x]}}", "{arguments: {}}"] {
        let translation = standalone(&(stdio("a") + &policy("p", spec)));
        assert_eq!(served(&translation), ["a"], "{spec}");
        assert_eq!(
            conditions(&translation, "p"),
            "Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs",
            "{spec}"
        );
    }
}

#[test]
fn a_policy_reaches_its_targets_and_nobody_else() {
    for (targets, serves) in [
        ("", ["a without t", "b without t", "c without t", "d"]),
        ("targetRefs: [{name: b}], ", ["a", "b without t", "c", "d"]),
        ("targetSelector: {matchLabels: {team: x}}, ", ["a", "b", "c without t", "d"]),
        (
            "targetSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}, ",
            ["a without t", "b without t", "c", "d"],
        ),
        (
            "targetSelector: {matchExpressions: [{key: team, operator: NotIn, values: [z]}]}, ",
            ["a without t", "b without t", "c without t", "d"],
        ),
        (
            "targetSelector: {matchExpressions: [{key: team, operator: In, values: [x, z]}, \
            {key: team, operator: Exists}]}, ",
            ["a", "b", "c without t", "d"],
        ),
    ] {
        let spec = format!("{{{targets}tools: {{deny: [t]}}}}");
        let translation = standalone(&(three() + &policy("p", &spec)));
        assert_eq!(served(&translation), serves, "{targets}");
    }
}

#[test]
fn a_target_that_does_not_exist_is_told() {
    let spec = "{targetRefs: [{name: b}, {name: d}, {name: e}], tools: {deny: [t]}}";
    let translation = standalone(&(three() + &policy("p", spec)));
    assert_eq!(served(&translation), ["a", "b without t", "c", "d"]);
    assert_eq!(
        problems(&translation)[1..],
        [
            "f.yaml#5: ToolPolicy/default/p: spec.targetRefs[1].name: \
         UpstreamServer default/d does not exist (TargetNotFound)",
            "f.yaml#5: ToolPolicy/default/p: spec.targetRefs[2].name: \
         UpstreamServer default/e does not exist (TargetNotFound)",
        ]
    );
    assert_eq!(
        conditions(&translation, "p"),
        "Accepted=True/Accepted ResolvedRefs=False/TargetNotFound NotImplemented=True/NotImplemented"
    );
    let spec = "{targetSelector: {matchLabels: {team: k}}}";
    assert_eq!(
        problems(&standalone(&(three() + &policy("p", spec)))),
        ["f.yaml#5: ToolPolicy/default/p: spec.targetSelector: no server has such labels \
         (TargetNotFound, warning)",]
    );
}

#[test]
fn an_invalid_policy_withholds_all_it_may_be_for() {
    for (spec, serves) in [
        ("{targetRefs: [{name: b}], denny: [t]}", ["a", "b without *", "c", "d"]),
        ("{denny: [t]}", ["a without *", "b without *", "c without *", "d"]),
        ("[]", ["a without *", "b without *", "c without *", "d"]),
        (
            "{targetRefs: [{name: b}, {nmae: a}]}",
            ["a without *", "b without *", "c without *", "d"],
        ),
        (
            "{targetRefs: [{name: b}], targetSelector: {matchLabels: {team: x}}}",
            ["a without *", "b without *", "c without *", "d"],
        ),
        (
            "{targetSelector: {matchLables: {team: x}}}",
            ["a without *", "b without *", "c without *", "d"],
        ),
    ] {
        let translation = standalone(&(three() + &policy("p", spec)));
        assert_eq!(served(&translation), serves, "{spec}");
        assert_eq!(
            conditions(&translation, "p"),
            "Accepted=False/Invalid ResolvedRefs=Unknown/Invalid",
            "{spec}"
        );
        let last = problems(&translation).pop().unwrap();
        assert!(last.ends_with("are withheld until the policy is valid (PolicyInvalid)"), "{last}");
    }
}

#[test]
fn a_policy_that_cannot_be_attributed_withholds_everything_it_could_be_for() {
    const HERE: [&str; 4] = ["a without *", "b without *", "c without *", "d"];
    const EVERYWHERE: [&str; 4] = ["a without *", "b without *", "c without *", "d without *"];
    const NOWHERE: [&str; 4] = ["a", "b", "c", "d"];
    for (text, serves) in [
        ("kind: ToolPolicy\nspec: [", EVERYWHERE),
        ("kind: UpstreamServer\nspec: [", NOWHERE),
        ("apiVersion: portreeve.dev/v1alpha1\nkind: ToolPolicy\nmetadata: {}", HERE),
        (
            "apiVersion: portreeve.dev/v1alpha1\nkind: ToolPolicy\nmetadata: {name: p, namespace: [x]}",
            EVERYWHERE,
        ),
        ("apiVersion: portreeve.dev/v1alpha1\nkind: ToolPolicy", EVERYWHERE),
        (
            "apiVersion: portreeve.dev/v1beta1\nkind: ToolPolicy\nmetadata: {name: p, namespace: default}",
            HERE,
        ),
        ("apiVersion: portreeve.dev/v1alpha1\nkind: ToolPolicies\nmetadata: {name: p}", HERE),
        ("apiVersion: portreeve.io/v1alpha1\nkind: ToolPolicy\nmetadata: {name: p}", HERE),
        ("apiVersion: other.dev/v1\nkind: NetworkPolicy\nmetadata: {name: p}", NOWHERE),
    ] {
        let translation = standalone(&format!("{}---\n{text}\n", three()));
        assert_eq!(served(&translation), serves, "{text}");
        let lost =
            problems(&translation).iter().any(|p| p.ends_with("are withheld (PolicyInvalid)"));
        assert_eq!(lost, serves != NOWHERE, "{text}");
    }
}

#[test]
fn of_two_policies_with_one_name_both_withhold() {
    let first = policy("p", "{tools: {deny: [x]}}");
    let second = policy("p", "{tools: {deny: [k]}}");
    let translation = standalone(&(stdio("a") + &first + &second));
    assert_eq!(served(&translation), ["a without x,k"]);
    assert_eq!(translation.statuses.len(), 2);
    assert!(problems(&translation).iter().any(|problem| problem.contains("DuplicateObject")));
}
