//! Fuzz target for TLS records: those that a server and a client receive in their handshake, and
//! those that arrive on an established connection, also from a peer that knows its keys.

use punctual_cdr::Block;
use punctual_tls::fuzzing::{feed, say};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore};
use rustls::{ServerConfig, ServerConnection};
use std::io::Write;
use std::sync::{Arc, OnceLock};

struct Configs {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

fn configs() -> &'static Configs {
    static CONFIGS: OnceLock<Configs> = OnceLock::new();
    CONFIGS.get_or_init(|| {
        let key = KeyPair::generate().expect("there is a key");
        let params = CertificateParams::new(vec!["localhost".to_owned()]);
        let certificate = params
            .and_then(|params| params.self_signed(&key))
            .expect("a certificate signs itself");
        let certificate: CertificateDer<'static> = certificate.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut roots = RootCertStore::empty();
        roots
            .add(certificate.clone())
            .expect("the certificate is one");
        let server = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("key and certificate fit");
        let client = ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Configs {
            server: Arc::new(server),
            client: Arc::new(client),
        }
    })
}

fn server() -> Connection {
    let server = ServerConnection::new(configs().server.clone());
    server.expect("the configuration is sound").into()
}

fn client() -> Connection {
    let name = ServerName::try_from("localhost").expect("it is a name");
    let client = ClientConnection::new(configs().client.clone(), name);
    client.expect("the configuration is sound").into()
}

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    match how % 8 {
        0..4 => answered(server(), octets),
        4..6 => {
            let mut client = client();
            say(&mut client, false);
            answered(client, octets);
        }
        6 => {
            let [server, _] = shaken();
            answered(server, octets);
        }
        _ => from_one_that_knows_the_keys(octets),
    }
}

/// Passes the octets to a connection as received records, and takes the records that it sends in
/// return.
fn answered(mut tls: Connection, octets: &[u8]) {
    let fed = feed(&mut tls, octets, &mut Block::default());
    let said = say(&mut tls, fed.is_err());
    assert!(said.is_empty() || fed.is_ok());
}

/// Returns a server and a client that have completed their handshake.
fn shaken() -> [Connection; 2] {
    let (mut server, mut client) = (server(), client());
    let mut none = Block::default();
    for _ in 0..4 {
        let said = say(&mut client, false);
        feed(&mut server, &said, &mut none).expect("the client is honest");
        let said = say(&mut server, false);
        feed(&mut client, &said, &mut none).expect("the server is honest");
    }
    assert!(!server.is_handshaking() && !client.is_handshaking());
    [server, client]
}

/// Sends plaintext in records of chosen lengths, with at most one octet of the ciphertext changed.
fn from_one_that_knows_the_keys(octets: &[u8]) {
    let [mut server, mut client] = shaken();
    let (cut, octets) = crate::choice(octets);
    let (at, octets) = crate::choice(octets);
    let mut ciphertext = Vec::new();
    for record in octets.chunks(usize::from(cut).max(1)) {
        client.writer().write_all(record).expect("it is buffered");
        ciphertext.extend_from_slice(&say(&mut client, false));
    }
    if at & 1 == 1 {
        client.send_close_notify();
        ciphertext.extend_from_slice(&say(&mut client, false));
    }
    let is_whole = at & 0x80 == 0;
    let place = usize::from(at) * 3 % ciphertext.len().max(1);
    if let Some(octet) = ciphertext.get_mut(place).filter(|_| !is_whole) {
        *octet ^= 1 << (at & 7);
    }
    let mut block = Block::default();
    let fed = feed(&mut server, &ciphertext, &mut block);
    if is_whole {
        assert_eq!(fed.expect("it is as it was sent"), at & 1 == 1);
        assert_eq!(*block, *octets);
    }
    // Changed data never arrives: the received data is a prefix.
    assert!(octets.starts_with(&block));
}
