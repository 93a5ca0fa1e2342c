//! What servers refer to: found, missing, unusable; and that no secret leaves its place.

use std::fmt::Write as _;

use secrecy::ExposeSecret as _;
use surface::doc::TransportDoc;

use super::*;

/// A Secret in `default` with these fields in flow style.
fn secret(name: &str, fields: &str) -> String {
    format!("---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\n{fields}\n")
}

fn config_map(name: &str, fields: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n{fields}\n")
}

/// A server over HTTP with one more field in its spec.
fn http(endpoint: &str, more: &str) -> String {
    server(
        "a",
        &format!("{{transport: {{streamableHttp: {{url: 'https://h/', {endpoint}}}}}, {more}}}"),
    )
}

fn environment(entries: &str) -> String {
    server("a", &format!("{{transport: {{stdio: {{command: [run], env: [{entries}]}}}}}}"))
}

/// Everything the server presents: `header|env name: value`, secret values marked with a star.
fn presented(translation: &Translation) -> String {
    let [server] = &translation.doc.servers[..] else { panic!("{:#?}", translation.problems) };
    let credential = &translation.credentials[&server.namespace];
    let mut text = String::new();
    let (headers, env) = match &server.transport {
        TransportDoc::StreamableHttp { headers, .. } => (headers.as_slice(), &[][..]),
        TransportDoc::Stdio { env, .. } => (&[][..], env.as_slice()),
    };
    for (kind, literal, secret) in
        [("header", headers, &credential.headers), ("env", env, &credential.env)]
    {
        for (name, value) in literal {
            writeln!(text, "{kind} {name}: {value}").unwrap();
        }
        for (name, value) in secret {
            writeln!(text, "{kind} {name}:* {}", value.expose_secret()).unwrap();
        }
    }
    text
}

#[test]
fn each_type_of_credential_becomes_its_header() {
    let secrets =
        secret("s", "stringData: {token: abc, line: \"abc\\n\", username: me, password: \"p:w\"}");
    for (credential, header) in [
        ("type: Bearer, secretRef: {name: s, key: token}", "header Authorization:* Bearer abc\n"),
        ("type: Bearer, secretRef: {name: s, key: line}", "header Authorization:* Bearer abc\n"),
        ("type: Header, header: X-Key, secretRef: {name: s, key: token}", "header X-Key:* abc\n"),
        ("type: Basic, secretRef: {name: s}", "header Authorization:* Basic bWU6cDp3\n"),
    ] {
        let translation =
            standalone(&format!("{secrets}{}", http("", &format!("credential: {{{credential}}}"))));
        assert_eq!(presented(&translation), header, "{credential}");
    }
}

#[test]
fn literal_values_go_to_the_document_and_secret_ones_do_not() {
    let others = secret("s", "data: {k: c2VjcmV0}") + &config_map("c", "data: {k: public}");
    let translation = standalone(
        &(others.clone()
            + &http(
                "headers: [{name: A, value: a}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}, \
         {name: C, valueFrom: {secretKeyRef: {name: s, key: k}}}]",
                "",
            )),
    );
    assert_eq!(presented(&translation), "header A: a\nheader B: public\nheader C:* secret\n");
    let translation = standalone(
        &(others
            + &environment(
                "{name: A, value: a}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}, \
         {name: C, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: D, value: '${TOKEN}'}, \
         {name: E, value: 'costs $${TOKEN}'}",
            )),
    );
    assert_eq!(
        presented(&translation),
        "env A: a\nenv B: public\nenv E: costs ${TOKEN}\nenv C:* secret\nenv D:* s3cret\n"
    );
    let text = format!("{:?}{}", translation, serde_json::to_string(&translation.doc).unwrap());
    assert!(!text.contains("secret\"") && !text.contains("s3cret"), "{text}");
}

#[test]
fn collected_objects_do_not_show_their_contents() {
    let mut objects = Objects::default();
    objects.parse_file("f.yaml", &secret("s", "stringData: {k: hunter2}"));
    assert_eq!(format!("{:?}", objects.secrets), "[f.yaml: Secret/default/s]");
    assert!(!format!("{objects:?}").contains("hunter2"));
}

#[test]
fn variables_are_expanded_in_secrets_and_environments_only() {
    let others = secret("s", "stringData: {k: '<${TOKEN}>'}\ndata: {b: JHtUT0tFTn0=}")
        + &config_map("c", "data: {k: '${TOKEN}'}");
    let translation = standalone(
        &(others
            + &http(
                "headers: [{name: A, value: '${TOKEN}'}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}, \
         {name: C, valueFrom: {secretKeyRef: {name: s, key: k}}}, \
         {name: D, valueFrom: {secretKeyRef: {name: s, key: b}}}]",
                "",
            )),
    );
    assert_eq!(
        presented(&translation),
        "header A: ${TOKEN}\nheader B: ${TOKEN}\nheader C:* <s3cret>\nheader D:* ${TOKEN}\n"
    );
}

#[test]
fn a_cluster_expands_nothing() {
    let manifests = secret("s", "stringData: {k: '${TOKEN}'}")
        + &http("", "credential: {type: Bearer, secretRef: {name: s, key: k}}");
    let translation = translated(&manifests, Placement::Cluster);
    assert_eq!(presented(&translation), "header Authorization:* Bearer ${TOKEN}\n");
}

#[test]
fn what_does_not_resolve_is_named_and_not_served() {
    let others = secret(
        "s",
        "data: {bad: '***', bytes: /w==, crlf: YQ0KYg==}\nstringData: {unset: '${NONE}', colon: 'a:b'}",
    );
    let bearer = |name: &str, key: &str| {
        http("", &format!("credential: {{type: Bearer, secretRef: {{name: {name}, key: {key}}}}}"))
    };
    for (manifest, path, says) in [
        (
            bearer("none", "k"),
            "spec.credential.secretRef",
            "Secret default/none does not exist (RefNotFound)",
        ),
        (
            bearer("s", "k"),
            "spec.credential.secretRef",
            "Secret default/s has no key k (RefNotFound)",
        ),
        (
            bearer("s", "bad"),
            "spec.credential.secretRef",
            "key bad of Secret default/s cannot be used: \
            is not base64; plain text belongs into stringData (RefInvalid)",
        ),
        (
            bearer("s", "bytes"),
            "spec.credential.secretRef",
            "key bytes of Secret default/s cannot be used: \
            is not UTF-8 text (RefInvalid)",
        ),
        (
            bearer("s", "unset"),
            "spec.credential.secretRef",
            "key unset of Secret default/s cannot be used: \
            environment variable NONE is not set (RefInvalid)",
        ),
        (
            bearer("s", "crlf"),
            "spec.credential.secretRef",
            "holds a line break or another character that no header may hold (RefInvalid)",
        ),
        (
            http("headers: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}]", ""),
            "spec.transport.streamableHttp.headers[0].valueFrom.configMapKeyRef",
            "ConfigMap default/c does not exist (RefNotFound)",
        ),
        (
            http("tls: {caBundleRef: {secretKeyRef: {name: s, key: colon}}}", ""),
            "spec.transport.streamableHttp.tls.caBundleRef",
            "holds no PEM certificate (RefInvalid)",
        ),
        (
            environment("{name: A, value: '${NONE}'}"),
            "spec.transport.stdio.env[0].value",
            "environment variable NONE is not set (VariableNotSet)",
        ),
    ] {
        let translation = standalone(&(others.clone() + &manifest));
        assert_eq!(served(&translation), Vec::<String>::new(), "{manifest}");
        assert_eq!(
            conditions(&translation, "a"),
            "Accepted=True/Accepted ResolvedRefs=False/RefNotFound",
            "{manifest}"
        );
        let said = problems(&translation);
        let expected = format!("f.yaml#2: UpstreamServer/default/a: {path}: {says}");
        assert_eq!(said[3..], [expected], "{manifest}");
    }
}

#[test]
fn secrets_are_checked_themselves() {
    check(
        &secret("s", "data: {a: '***', b: 1}\nstringData: [x]\nstringdata: {}"),
        &[],
        &[
            "f.yaml: Secret/default/s: data[a]: is not base64; plain text belongs into stringData (InvalidField)",
            "f.yaml: Secret/default/s: data[b]: must be a string: quote it (InvalidField)",
            "f.yaml: Secret/default/s: stringData: must be a mapping of strings (InvalidField)",
            "f.yaml: Secret/default/s: stringdata: unknown field; the fields here are data, immutable, stringData, \
         type (UnknownField)",
        ],
    );
    check(
        &secret("s", "stringData: {a: '${NONE} ${NEVER}'}"),
        &[],
        &["f.yaml: Secret/default/s: stringData[a]: environment variable NONE is not set; \
         environment variable NEVER is not set (VariableNotSet)"],
    );
}

#[test]
fn every_missing_key_is_reported_at_once() {
    let translation = standalone(&http(
        "tls: {clientCertificateRef: {name: cert}}, headers: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]",
        "credential: {type: Basic, secretRef: {name: b}}",
    ));
    assert_eq!(translation.problems.len(), 5, "{:#?}", problems(&translation));
}

#[test]
fn a_reference_stays_in_its_namespace() {
    let elsewhere =
        secret("s", "stringData: {k: v}").replace("name: s", "name: s, namespace: other");
    let translation = standalone(
        &(elsewhere + &http("", "credential: {type: Bearer, secretRef: {name: s, key: k}}")),
    );
    assert_eq!(
        conditions(&translation, "a"),
        "Accepted=True/Accepted ResolvedRefs=False/RefNotFound"
    );
}

#[test]
fn certificates_reach_the_document_and_keys_the_credential() {
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\\nAA\\n-----END CERTIFICATE-----\\n";
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\\nBB\\n-----END PRIVATE KEY-----\\n";
    let manifests = config_map("ca", &format!("data: {{k: \"{CERTIFICATE}\"}}"))
        + &secret(
            "cert",
            &format!("stringData: {{tls.crt: \"{CERTIFICATE}\", tls.key: \"{KEY}\"}}"),
        )
        + &http(
            "tls: {serverName: h.internal, caBundleRef: {configMapKeyRef: {name: ca, key: k}}, \
             clientCertificateRef: {name: cert}}",
            "",
        );
    let translation = standalone(&manifests);
    let [server] = &translation.doc.servers[..] else { panic!("{:#?}", translation.problems) };
    let TransportDoc::StreamableHttp { tls, .. } = &server.transport else { panic!() };
    assert_eq!(tls.server_name.as_deref(), Some("h.internal"));
    assert!(tls.ca_bundle.as_deref().unwrap().starts_with("-----BEGIN CERTIFICATE-----\nAA\n"));
    let identity = translation.credentials["a"].client_identity.as_ref().unwrap().expose_secret();
    assert!(identity.contains("BEGIN CERTIFICATE") && identity.contains("BEGIN PRIVATE KEY"));
}
