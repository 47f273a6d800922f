//! An etcd that requires authentication of its clients and authenticates itself to them.

use std::path::PathBuf;

use crate::authority::Authority;
use crate::naming_etcd::support::{Etcd, Server, name, object};
use crate::support::serve;
use punctual_naming::cos_naming::NamingContextBindError;

/// Returns the error of a server that cannot be started.
fn refused(etcd: &Etcd, options: &[&str]) -> String {
    let mut command = serve(&["--etcd", &etcd.at]);
    command.args(options);
    let ended = command.output().unwrap();
    assert!(!ended.status.success());
    String::from_utf8(ended.stderr).unwrap()
}

#[test]
fn etcd_is_called_by_tls_with_a_certificate_of_this_server_and_by_nobody_without() {
    let (authority, other) = (Authority::new(), Authority::new());
    // etcd's gateway calls etcd itself, with the server's certificate: it must be valid for either
    // side.
    let _ = authority.options("127.0.0.1");
    let file = |name: &str| authority.path(name).display().to_string();
    let (trusted, certificate, key) = (
        file("authority.pem"),
        file("127.0.0.1.pem"),
        file("127.0.0.1.key"),
    );
    let secured = [
        "--client-cert-auth",
        &format!("--trusted-ca-file={trusted}"),
        &format!("--cert-file={certificate}"),
        &format!("--key-file={key}"),
    ];
    let Some(etcd) = Etcd::start_with("https", &secured) else {
        return;
    };
    let orb = punctual::Orb::builder().build().unwrap();
    let options = [
        "--etcd-trusted",
        &trusted,
        "--etcd-certificate",
        &certificate,
        "--etcd-key",
        &key,
    ];
    let servers = [(); 2].map(|()| Server::start(&orb, &etcd, &options));
    servers[0]
        .root
        .bind(&name("pump"), Some(&object(&orb, 1)))
        .unwrap();
    assert!(matches!(
        servers[1].root.bind(&name("pump"), Some(&object(&orb, 2))),
        Err(NamingContextBindError::AlreadyBound(_))
    ));

    let stranger = other.path("authority.pem").display().to_string();
    let unknown = refused(&etcd, &["--etcd-trusted", &stranger]);
    assert!(unknown.contains("invalid peer certificate"), "{unknown}");
    refused(&etcd, &["--etcd-trusted", &trusted]);
    refused(&etcd, &[]);
    let missing = refused(&etcd, &["--etcd-trusted", "/nowhere.pem"]);
    assert!(missing.contains("/nowhere.pem"), "{missing}");
}

#[test]
fn etcd_with_users_is_called_by_name_and_password() {
    let Some(etcd) = Etcd::start_with("http", &["--auth-token-ttl=1"]) else {
        return;
    };
    for (path, body) in [
        ("user/add", r#"{"name":"root","password":"over all"}"#),
        ("user/add", r#"{"name":"names","password":"secret"}"#),
        ("role/add", r#"{"name":"names"}"#),
        // Keys from `/punctual` to the end of that prefix.
        (
            "role/grant",
            r#"{"name":"names","perm":{"permType":"READWRITE","key":"L3B1bmN0dWFs","range_end":"L3B1bmN0dWFt"}}"#,
        ),
        ("user/grant", r#"{"user":"names","role":"names"}"#),
        ("role/add", r#"{"name":"root"}"#),
        ("user/grant", r#"{"user":"root","role":"root"}"#),
        ("enable", "{}"),
    ] {
        let reply = etcd.post(&format!("/v3/auth/{path}"), body);
        assert!(reply.contains("200 OK"), "{path}: {reply}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| -> PathBuf {
        let file = folder.path().join(text);
        std::fs::write(&file, format!("{text}\n")).unwrap();
        file
    };
    let (good, bad) = (file("secret"), file("guessed"));
    let orb = punctual::Orb::builder().build().unwrap();
    let with = |file: &PathBuf| {
        let file = file.to_str().unwrap().to_owned();
        ["--etcd-user", "names", "--etcd-password-file", &file].map(str::to_owned)
    };
    let server =
        |options: &[String; 4]| Server::start(&orb, &etcd, &options.each_ref().map(String::as_str));
    let serving = server(&with(&good));
    serving
        .root
        .bind(&name("pump"), Some(&object(&orb, 1)))
        .unwrap();
    // etcd forgets tokens that were not used for a second.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    serving
        .root
        .bind(&name("valve"), Some(&object(&orb, 2)))
        .unwrap();
    assert_eq!(serving.listed(), ["pump", "valve"]);

    let wrong = refused(&etcd, &with(&bad).each_ref().map(String::as_str));
    assert!(
        wrong.contains("authentication failed") && !wrong.contains("guessed\n"),
        "{wrong}"
    );
    refused(&etcd, &[]);
}
