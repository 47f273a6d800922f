//! An etcd that wants to know who calls, and shows who it is.

use std::path::PathBuf;
use std::process::Command;

use punctual_naming::cos_naming::NamingContextBindError;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

use crate::support::{Etcd, Server, name, object};

/// An authority, and a folder for what it signs.
struct Authority {
    folder: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    fn path(&self, file: &str) -> String {
        self.folder.path().join(file).display().to_string()
    }

    /// Writes a certificate for a host and its key. etcd's gateway calls etcd itself by the server's.
    fn sign(&self, host: &str) {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.path(&format!("{host}.pem")), certificate.pem()).unwrap();
        std::fs::write(self.path(&format!("{host}.key")), key.serialize_pem()).unwrap();
    }
}

/// What a server that cannot be started says.
fn refused(etcd: &Etcd, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "serve", "--listen", "iiop://127.0.0.1:0"]);
    command.args(["--etcd", &etcd.at]).args(options);
    let ended = command.output().unwrap();
    assert!(!ended.status.success());
    String::from_utf8(ended.stderr).unwrap()
}

#[test]
fn etcd_is_called_by_tls_with_a_certificate_of_this_server_and_by_nobody_without() {
    let (authority, other) = (Authority::new(), Authority::new());
    for signed in [&authority, &other] {
        signed.sign("127.0.0.1");
    }
    let (trusted, certificate, key) = (
        authority.path("authority.pem"),
        authority.path("127.0.0.1.pem"),
        authority.path("127.0.0.1.key"),
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

    let unknown = refused(&etcd, &["--etcd-trusted", &other.path("authority.pem")]);
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
        // Keys from `/punctual` to the next after all that begin so.
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
    // etcd forgets tokens that nobody shows for a second.
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
