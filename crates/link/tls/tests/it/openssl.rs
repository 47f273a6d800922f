//! Tests against another implementation of TLS: the `openssl` program, where it is installed.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual_link::{Address, Link, Properties};
use punctual_tls::{ClientCertificate, NAME, Ssliop, TlsOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use support::{Authority, authority, limit, listen, receive, send};

/// Returns whether the `openssl` program is installed; prints a message if it is not.
fn is_there() -> bool {
    let found = Command::new("openssl").arg("version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no `openssl` on this machine");
    }
    found
}

/// Child process that is killed when the test ends.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn openssl(authority: &Authority, arguments: &[&str]) -> Program {
    let file = |name| authority.file(name).display().to_string();
    let child = Command::new("openssl")
        .args(arguments)
        .args(["-CAfile", &file("ca.pem"), "-verify_return_error"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Program(child)
}

#[test]
fn its_client_talks_to_our_server_in_both_versions_and_proves_who_it_is() {
    if !is_there() {
        return;
    }
    let authority = authority();
    let (_link, acceptor) = listen(TlsOptions {
        client_certificate: ClientCertificate::Required,
        trusted: authority.trusting().trusted,
        ..authority.with("server")
    });
    for version in ["-tls1_2", "-tls1_3"] {
        let (certificate, key) = (authority.file("client.pem"), authority.file("client.key"));
        let mut program = openssl(
            &authority,
            &[
                "s_client",
                version,
                "-quiet",
                "-connect",
                acceptor.address().place(),
                "-verify_hostname",
                "localhost",
                "-cert",
                certificate.to_str().unwrap(),
                "-key",
                key.to_str().unwrap(),
            ],
        );
        let server = acceptor.accept().unwrap();
        assert!(!server.peer_certificates().is_empty());
        let mut input = program.0.stdin.take().unwrap();
        input.write_all(b"from openssl").unwrap();
        input.flush().unwrap();
        assert_eq!(receive(&*server, 12), b"from openssl");
        send(&*server, b"to openssl");
        let mut said = [0; 10];
        program
            .0
            .stdout
            .take()
            .unwrap()
            .read_exact(&mut said)
            .unwrap();
        assert_eq!(&said, b"to openssl");
    }
}

#[test]
fn our_client_talks_to_its_server_in_both_versions() {
    if !is_there() {
        return;
    }
    let authority = authority();
    for version in ["-tls1_2", "-tls1_3"] {
        let (certificate, key) = (authority.file("server.pem"), authority.file("server.key"));
        let mut program = openssl(
            &authority,
            &[
                "s_server",
                version,
                "-accept",
                "127.0.0.1:0",
                "-naccept",
                "1",
                "-Verify",
                "1",
                "-cert",
                certificate.to_str().unwrap(),
                "-key",
                key.to_str().unwrap(),
            ],
        );
        let mut output = BufReader::new(program.0.stdout.take().unwrap());
        let port = loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "it said no port");
            if let Some(place) = line.strip_prefix("ACCEPT ") {
                break place.trim().rsplit(':').next().unwrap().to_owned();
            }
        };
        let link = Ssliop::new(TlsOptions {
            trusted: authority.trusting().trusted,
            ..authority.with("client")
        })
        .unwrap();
        let address = Address::new(NAME, &format!("127.0.0.1:{port}"));
        let client = link.connect(&address, &Properties::NONE, limit()).unwrap();
        let mut input = program.0.stdin.take().unwrap();
        input.write_all(b"hello from openssl\n").unwrap();
        input.flush().unwrap();
        assert_eq!(receive(&*client, 19), b"hello from openssl\n");
        send(&*client, b"hello openssl\n");
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "it heard nothing");
            if line.contains("hello openssl") {
                break;
            }
        }
    }
}
