//! The files of `examples/tls`, with a Naming Service and its client.

use crate::support::{Process, punctual, text};
use punctual_guide::root;
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn the_example_protects_a_server_and_lets_in_its_client_alone() {
    let example = root().join("examples/tls");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for file in ["server.toml", "client.toml"] {
        fs::copy(example.join(file), at(file)).unwrap();
    }
    let made = Command::new("sh")
        .arg(example.join("certificates.sh"))
        .arg(folder.path())
        .output()
        .unwrap();
    if !made.status.success() && Command::new("openssl").arg("version").output().is_err() {
        return println!("skipped: there is no openssl");
    }
    assert!(made.status.success(), "{}", text(made.stderr));

    let server = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "naming",
            "serve",
            "--memory",
            "--config",
            &at("server.toml"),
        ])
        .args(["--listen", "ssliop://127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut server = Process(server.unwrap());
    let reference = server.reference();
    let list = |config: &str| {
        let service = ["naming", "list", "--service", &reference];
        punctual(&[&service[..], &["--config", config]].concat())
    };
    let listed = list(&at("client.toml"));
    assert!(listed.status.success(), "{}", text(listed.stderr));

    // One that has no certificate is not let in.
    let bare = "security = \"require\"\n[tls]\ntrusted = [\"authority.pem\"]\n";
    fs::write(at("bare.toml"), bare).unwrap();
    assert!(!list(&at("bare.toml")).status.success());
    // Nor is one without TLS.
    fs::write(at("clear.toml"), "security = \"off\"\n").unwrap();
    assert!(!list(&at("clear.toml")).status.success());
}
