//! Tests of trust, and of the errors that either side gets.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual_link::{Address, Cause, Link, Phase, Properties};
use punctual_tls::{ClientCertificate, NAME, Problem, Ssliop, TlsOptions, TlsVersion};
use rcgen::date_time_ymd;
use std::time::Duration;
use support::{
    Authority, LOOPBACK, authority, connect, here, limit, listen, receive, refusal, send, talk,
};

#[test]
fn octets_pass_in_both_versions_and_the_server_is_known() {
    let authority = authority();
    for minimum in [TlsVersion::V1_2, TlsVersion::V1_3] {
        let (_link, acceptor) = listen(TlsOptions {
            minimum,
            ..authority.with("server")
        });
        let client = connect(authority.trusting(), &*acceptor).unwrap();
        let server = acceptor.accept().unwrap();
        talk(&*client, &*server);
        assert!(!client.peer_certificates().is_empty());
        assert!(server.peer_certificates().is_empty());
    }
}

#[test]
fn endpoints_at_one_address_take_the_clients_whose_packets_their_processors_receive() {
    use punctual_sys::processor::pin_to;
    let pinned = |number: usize| std::thread::spawn(move || pin_to(number).is_ok());
    if !(0..2).all(|number| pinned(number).join().unwrap()) {
        println!("skipped: this process cannot be on the processors 0 and 1");
        return;
    }
    let authority = authority();
    let link = Ssliop::new(authority.with("server")).unwrap();
    let steered = |processor| Properties::from_iter([("incoming_cpu", processor)]);
    let first = link.listen(&here(), &steered("0")).unwrap();
    let second = link.listen(first.address(), &steered("1")).unwrap();
    for (processor, acceptor) in [(1, &second), (0, &first), (1, &second), (0, &first)] {
        let client = std::thread::scope(|scope| {
            let client = scope.spawn(|| {
                pin_to(processor).unwrap();
                connect(authority.trusting(), &**acceptor).unwrap()
            });
            client.join().unwrap()
        });
        talk(&*client, &*acceptor.accept().unwrap());
    }
}

#[test]
fn a_client_with_a_good_certificate_is_let_in_and_known() {
    let authority = authority();
    for required in [ClientCertificate::Wanted, ClientCertificate::Required] {
        let (_link, acceptor) = listen(TlsOptions {
            client_certificate: required,
            trusted: authority.trusting().trusted,
            ..authority.with("server")
        });
        let known = TlsOptions {
            trusted: authority.trusting().trusted,
            ..authority.with("client")
        };
        let client = connect(known, &*acceptor).unwrap();
        let server = acceptor.accept().unwrap();
        talk(&*client, &*server);
        assert_eq!(server.peer_certificates().len(), 1);
    }
}

#[test]
fn a_client_without_a_certificate_is_let_in_where_none_is_required() {
    let authority = authority();
    let (_link, acceptor) = listen(TlsOptions {
        client_certificate: ClientCertificate::Wanted,
        trusted: authority.trusting().trusted,
        ..authority.with("server")
    });
    let client = connect(authority.trusting(), &*acceptor).unwrap();
    talk(&*client, &*acceptor.accept().unwrap());
}

/// Returns the error of a client whose handshake the server ends: while it connects, or, in TLS
/// 1.3, when it receives.
fn told(options: TlsOptions, acceptor: &dyn punctual_link::Acceptor) -> String {
    match connect(options, acceptor) {
        Err(error) => error.to_string(),
        Ok(client) => {
            let received = client.receive(&mut client.lend(0), 1, limit());
            received.unwrap_err().to_string()
        }
    }
}

#[test]
fn a_client_without_the_certificate_required_is_refused_with_reasons_on_both_sides() {
    let authority = authority();
    let (link, acceptor) = listen(TlsOptions {
        client_certificate: ClientCertificate::Required,
        trusted: authority.trusting().trusted,
        ..authority.with("server")
    });
    let told = told(authority.trusting(), &*acceptor);
    assert!(told.contains("CertificateRequired"), "{told}");
    let reason = refusal(&link);
    assert!(reason.contains("no certificates"), "{reason}");
    assert_eq!(link.refused(), 1);
}

#[test]
fn a_client_of_a_strange_authority_is_refused_with_reasons_on_both_sides() {
    let (authority, strange) = (authority(), support::authority());
    let (link, acceptor) = listen(TlsOptions {
        client_certificate: ClientCertificate::Wanted,
        trusted: authority.trusting().trusted,
        ..authority.with("server")
    });
    let stranger = TlsOptions {
        trusted: authority.trusting().trusted,
        ..strange.with("client")
    };
    let told = told(stranger, &*acceptor);
    assert!(told.contains("received fatal alert"), "{told}");
    let reason = refusal(&link);
    assert!(reason.contains("UnknownIssuer"), "{reason}");
}

#[test]
fn an_endpoint_may_demand_more_than_its_link() {
    let authority = authority();
    let (link, open) = listen(TlsOptions {
        trusted: authority.trusting().trusted,
        ..authority.with("server")
    });
    let demanding = Properties::from_iter([("client_certificate", "required"), ("minimum", "1.3")]);
    let strict = link.listen(&here(), &demanding).unwrap();
    let told = told(authority.trusting(), &*strict);
    assert!(told.contains("CertificateRequired"), "{told}");
    let client = connect(authority.trusting(), &*open).unwrap();
    talk(&*client, &*open.accept().unwrap());
    // Missing files are reported where they are needed.
    let (link, _acceptor) = listen(authority.with("server"));
    let error = link.listen(&here(), &demanding).unwrap_err();
    assert_eq!(error.phase, Phase::Listen);
    assert!(
        error.to_string().contains("no trusted authority"),
        "{error}"
    );
}

#[test]
fn a_server_of_a_strange_authority_is_not_talked_to() {
    let (authority, strange) = (authority(), authority());
    let (link, acceptor) = listen(strange.with("server"));
    let error = connect(authority.trusting(), &*acceptor).unwrap_err();
    assert_eq!(error.phase, Phase::Connect);
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
    let reason = refusal(&link);
    assert!(reason.contains("UnknownCA"), "{reason}");
}

#[test]
fn a_server_with_a_certificate_for_another_host_is_not_talked_to() {
    let authority = authority();
    authority.issue("other", &["other.example"], |_| ());
    let (_link, acceptor) = listen(authority.with("other"));
    let error = connect(authority.trusting(), &*acceptor).unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
    // Unless that is the expected name: by option, or by property.
    let expecting = TlsOptions {
        server_name: Some("other.example".to_owned()),
        ..authority.trusting()
    };
    let client = connect(expecting, &*acceptor).unwrap();
    talk(&*client, &*acceptor.accept().unwrap());
    let link = Ssliop::new(authority.trusting()).unwrap();
    let properties = Properties::from_iter([("server_name", "other.example")]);
    let client = link.connect(acceptor.address(), &properties, limit());
    talk(&*client.unwrap(), &*acceptor.accept().unwrap());
}

#[test]
fn a_server_is_found_and_checked_by_name_too() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let port = acceptor.address().host_and_port().unwrap().1;
    let address = Address::new(NAME, &format!("localhost:{port}"));
    let link = Ssliop::new(authority.trusting()).unwrap();
    let client = link.connect(&address, &Properties::NONE, limit()).unwrap();
    talk(&*client, &*acceptor.accept().unwrap());
}

#[test]
fn an_expired_certificate_is_refused_by_who_owns_it_and_by_who_sees_it() {
    let authority = authority();
    authority.issue("expired", &LOOPBACK, |params| {
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 2, 3);
    });
    let error = Ssliop::new(authority.with("expired")).unwrap_err();
    assert!(matches!(error.problem, Problem::Expired(_)));
    let text = error.to_string();
    assert!(text.contains("expired.pem"), "{text}");
    assert!(
        text.contains("expired at 2002-02-03 00:00:00 UTC"),
        "{text}"
    );
    authority.issue("early", &LOOPBACK, |params| {
        params.not_before = date_time_ymd(2090, 1, 1);
        params.not_after = date_time_ymd(2091, 1, 1);
    });
    let error = Ssliop::new(authority.with("early")).unwrap_err();
    assert!(matches!(error.problem, Problem::NotYetValid(_)), "{error}");
    // A certificate that expires while its server runs: only the client can detect that.
    authority.issue("short", &LOOPBACK, |params| {
        params.not_after = (std::time::SystemTime::now() + Duration::from_secs(2)).into();
    });
    let (_link, acceptor) = listen(authority.with("short"));
    let deadline = limit();
    let error = loop {
        match connect(authority.trusting(), &*acceptor) {
            Err(error) => break error,
            Ok(_) if deadline.has_passed() => panic!("it never expired"),
            // Each attempt costs a handshake.
            Ok(_) => {
                drop(acceptor.accept().unwrap());
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    };
    assert!(error.to_string().contains("expired"), "{error}");
}

#[test]
fn sessions_are_resumed_and_still_the_server_is_known() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let link = Ssliop::new(authority.trusting()).unwrap();
    for _ in 0..3 {
        let client = link
            .connect(acceptor.address(), &Properties::NONE, limit())
            .unwrap();
        let server = acceptor.accept().unwrap();
        talk(&*client, &*server);
        assert!(!client.peer_certificates().is_empty());
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_name() {
    let authority = authority();
    let problem = |options: TlsOptions| {
        let error = Ssliop::new(options).unwrap_err();
        (error.file.clone(), error.to_string(), error.problem)
    };
    let option = |options: TlsOptions| Ssliop::new(options).unwrap_err().option;
    let good = authority.with("server");
    let (server, key) = (authority.file("server.pem"), authority.file("server.key"));

    let (file, _, found) = problem(TlsOptions {
        certificate: Some(authority.file("missing.pem")),
        ..good.clone()
    });
    assert!(matches!(found, Problem::Unreadable(_)));
    assert_eq!(file, authority.file("missing.pem"));
    let missing = authority.file("missing.pem");
    let without_key = TlsOptions {
        key: Some(missing.clone()),
        ..good.clone()
    };
    assert_eq!(option(without_key), "key");
    let trusted = TlsOptions {
        trusted: vec![missing.clone()],
        ..good.clone()
    };
    assert_eq!(option(trusted), "trusted");
    let crl = TlsOptions {
        crl: vec![missing],
        ..good.clone()
    };
    assert_eq!(option(crl), "crl");

    let (file, text, found) = problem(TlsOptions {
        key: Some(authority.file("client.key")),
        ..good.clone()
    });
    assert!(matches!(found, Problem::OtherKey(_)), "{found}");
    assert_eq!(file, authority.file("client.key"));
    assert!(text.contains("server.pem"), "{text}");

    let swapped = TlsOptions {
        certificate: Some(key.clone()),
        key: Some(server.clone()),
        ..TlsOptions::default()
    };
    assert!(matches!(problem(swapped).2, Problem::NoCertificate));
    let (file, _, found) = problem(TlsOptions {
        key: Some(server.clone()),
        ..good.clone()
    });
    assert!(matches!(found, Problem::NoKey));
    assert_eq!(file, server);

    let garbage = authority.file("garbage.pem");
    let pem =
        |text: &str| format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
    std::fs::write(&garbage, pem("!!!!")).unwrap();
    let with_garbage = TlsOptions {
        certificate: Some(garbage.clone()),
        ..good.clone()
    };
    assert!(matches!(
        problem(with_garbage.clone()).2,
        Problem::NotPem(_)
    ));
    std::fs::write(&garbage, pem("AAAA")).unwrap();
    assert!(matches!(
        problem(with_garbage).2,
        Problem::BadCertificate(_)
    ));
    let trusting_garbage = TlsOptions {
        trusted: vec![garbage],
        ..TlsOptions::default()
    };
    assert!(matches!(
        problem(trusting_garbage).2,
        Problem::BadCertificate(_)
    ));

    // Keys with a password, in both existing forms.
    let locked = authority.file("locked.key");
    let pem = std::fs::read_to_string(&key).unwrap();
    let body: String = pem.lines().filter(|line| !line.contains("-----")).collect();
    for (label, head) in [
        ("ENCRYPTED PRIVATE KEY", ""),
        (
            "EC PRIVATE KEY",
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n",
        ),
    ] {
        let text = format!("-----BEGIN {label}-----\n{head}{body}\n-----END {label}-----\n");
        std::fs::write(&locked, text).unwrap();
        let (file, text, _) = problem(TlsOptions {
            key: Some(locked.clone()),
            ..good.clone()
        });
        assert_eq!(file, locked, "{text}");
        assert!(text.contains("encrypted"), "{text}");
    }

    let without = TlsOptions {
        key: None,
        ..good.clone()
    };
    assert!(matches!(problem(without).2, Problem::WithoutKey));
    let without = TlsOptions {
        certificate: None,
        ..good.clone()
    };
    assert!(matches!(problem(without).2, Problem::WithoutCertificate));
    let nobody = TlsOptions {
        client_certificate: ClientCertificate::Required,
        ..good
    };
    assert!(matches!(problem(nobody).2, Problem::NobodyTrusted));
}

#[test]
fn what_is_not_configured_cannot_be_used_and_says_so() {
    let authority = authority();
    let client_only = Ssliop::new(authority.trusting()).unwrap();
    let error = client_only.listen(&here(), &Properties::NONE).unwrap_err();
    assert_eq!(error.phase, Phase::Listen);
    assert!(error.to_string().contains("certificate"), "{error}");
    let (server_only, acceptor) = listen(authority.with("server"));
    let connected = server_only.connect(acceptor.address(), &Properties::NONE, limit());
    let error = connected.unwrap_err();
    assert!(matches!(error.cause, Cause::Os(_)));
    assert!(error.to_string().contains("authority"), "{error}");
}

#[test]
fn a_changed_certificate_is_used_from_the_next_handshake_on() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let certificate = |authority: &Authority| {
        let client = connect(authority.trusting(), &*acceptor).unwrap();
        talk(&*client, &*acceptor.accept().unwrap());
        (client.peer_certificates(), client)
    };
    let (first, open) = certificate(&authority);
    let (again, _) = certificate(&authority);
    assert_eq!(first, again);
    authority.issue("server", &LOOPBACK, |_| ());
    let (second, _) = certificate(&authority);
    assert_ne!(first, second);
    assert_eq!(
        open.peer_certificates(),
        first,
        "what is open stays as it is"
    );
}

#[test]
fn what_is_open_goes_on_when_its_authority_is_trusted_no_more_and_nobody_new_gets_in() {
    let (authority, other) = (authority(), authority());
    let trusted = authority.file("trusted.pem");
    std::fs::copy(authority.file("ca.pem"), &trusted).unwrap();
    let (link, acceptor) = listen(TlsOptions {
        client_certificate: ClientCertificate::Required,
        trusted: vec![trusted.clone()],
        ..authority.with("server")
    });
    let known = TlsOptions {
        trusted: authority.trusting().trusted,
        ..authority.with("client")
    };
    // One link, so that it has a session to resume.
    let client_link = Ssliop::new(known).unwrap();
    let connect = || client_link.connect(acceptor.address(), &Properties::NONE, limit());
    let open = connect().unwrap();
    let server = acceptor.accept().unwrap();
    talk(&*open, &*server);
    std::fs::copy(other.file("ca.pem"), &trusted).unwrap();
    link.reload().unwrap();
    talk(&*open, &*server);
    if let Ok(client) = connect() {
        let error = client.receive(&mut client.lend(0), 1, limit()).unwrap_err();
        assert!(error.to_string().contains("alert"), "{error}");
    }
    let reason = refusal(&link);
    assert!(reason.contains("UnknownIssuer"), "{reason}");
    talk(&*open, &*server);
}

#[test]
fn a_revoked_certificate_is_refused_by_either_side_once_the_list_says_so() {
    let authority = authority();
    for (name, serial) in [("server", 7), ("client", 8)] {
        authority.issue(name, &LOOPBACK, |params| {
            params.serial_number = Some(serial.into());
        });
    }
    authority.revoke("crl.pem", &[]);
    let checking = |name| TlsOptions {
        crl: vec![authority.file("crl.pem")],
        trusted: authority.trusting().trusted,
        client_certificate: ClientCertificate::Required,
        ..authority.with(name)
    };
    let (link, acceptor) = listen(checking("server"));
    let connecting = Ssliop::new(checking("client")).unwrap();
    let connect = || connecting.connect(acceptor.address(), &Properties::NONE, limit());
    talk(&*connect().unwrap(), &*acceptor.accept().unwrap());

    // Read automatically, as any file that changes; no session is resumed.
    authority.revoke("crl.pem", &[7]);
    let error = connect().unwrap_err();
    assert!(error.to_string().contains("Revoked"), "{error}");
    authority.revoke("crl.pem", &[6, 8]);
    if let Ok(client) = connect() {
        let error = client.receive(&mut client.lend(0), 1, limit()).unwrap_err();
        assert!(error.to_string().contains("CertificateRevoked"), "{error}");
    }
    let deadline = limit();
    while !link
        .refusals()
        .iter()
        .any(|one| one.reason.contains("invalid peer certificate: Revoked"))
    {
        assert!(!deadline.has_passed(), "{:?}", link.refusals());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }

    // A certificate whose issuer has no list may be revoked.
    let other = support::authority();
    other.revoke("crl.pem", &[]);
    let strangers = TlsOptions {
        crl: vec![other.file("crl.pem")],
        ..authority.trusting()
    };
    let (_link, acceptor) = listen(authority.with("server"));
    let error = self::connect(strangers.clone(), &*acceptor).unwrap_err();
    assert!(
        error.to_string().contains("UnknownRevocationStatus"),
        "{error}"
    );

    let problem = |file| {
        let error = Ssliop::new(TlsOptions {
            crl: vec![authority.file(file)],
            ..authority.trusting()
        });
        let error = error.unwrap_err();
        assert_eq!(error.file, authority.file(file));
        error.problem
    };
    assert!(matches!(problem("ca.pem"), Problem::NoRevocationList));
    let bad = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n";
    std::fs::write(authority.file("bad.pem"), bad).unwrap();
    assert!(matches!(problem("bad.pem"), Problem::BadRevocationList(_)));
}

#[test]
fn a_bad_new_file_leaves_the_old_one_in_use() {
    let authority = authority();
    let (link, acceptor) = listen(authority.with("server"));
    std::fs::write(authority.file("server.pem"), "nothing of use").unwrap();
    let error = link.reload().unwrap_err();
    assert!(matches!(error.problem, Problem::NoCertificate), "{error}");
    let client = connect(authority.trusting(), &*acceptor).unwrap();
    talk(&*client, &*acceptor.accept().unwrap());
    // A new certificate whose key is still to come, then the key.
    let key = std::fs::read(authority.file("server.key")).unwrap();
    authority.issue("server", &LOOPBACK, |_| ());
    let new_key = std::fs::read(authority.file("server.key")).unwrap();
    std::fs::write(authority.file("server.key"), key).unwrap();
    assert!(matches!(
        link.reload().unwrap_err().problem,
        Problem::OtherKey(_)
    ));
    let client = connect(authority.trusting(), &*acceptor).unwrap();
    let old = client.peer_certificates();
    std::fs::write(authority.file("server.key"), new_key).unwrap();
    link.reload().unwrap();
    let client = connect(authority.trusting(), &*acceptor).unwrap();
    assert_ne!(client.peer_certificates(), old);
}

#[test]
fn the_end_is_told_from_a_stream_that_was_cut_off() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let client = connect(authority.trusting(), &*acceptor).unwrap();
    let server = acceptor.accept().unwrap();
    send(&*client, b"goodbye");
    client.close();
    assert_eq!(receive(&*server, 7), b"goodbye");
    let error = server.receive(&mut server.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(error.cause, Cause::Closed), "{error}");
}
