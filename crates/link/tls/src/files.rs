//! Conversion of PEM files to configurations of the TLS library.

use crate::error::{OptionFile, Problem, TlsError};
use crate::options::{ClientCertificate, TlsOptions, TlsVersion};
use crate::validity::{TimeCheck, Validity};
use rustls::client::{ClientConfig, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, RootCertStore, SupportedProtocolVersion, version};
use std::sync::Arc;
use std::time::SystemTime;

/// TLS configurations for servers and clients.
#[derive(Clone)]
pub(crate) struct Configs {
    /// TLS configuration for servers; `None` if no certificate is configured.
    pub(crate) server: Option<Arc<ServerConfig>>,
    /// Configuration of clients; `None` where no authority is trusted.
    pub(crate) client: Option<Arc<ClientConfig>>,
}

/// Size of the largest file that is read, in bytes; larger ones are configured by mistake.
const LARGEST_FILE: u64 = 16 << 20;

/// Reads all certificate, key and revocation-list files that the options name.
pub(crate) fn load(options: &TlsOptions) -> Result<Configs, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let identity = load_identity(options, &provider)?;
    let trusted_files = options.trusted.iter();
    let trusted_files = trusted_files.map(|path| OptionFile::new("trusted", path));
    let trusted = load_trusted(trusted_files.clone())?.map(Arc::new);
    let crl = options.crl.iter();
    let crl = crl.map(|path| OptionFile::new("crl", path));
    let revoked = load_revoked(crl, trusted.as_ref(), &provider)?;
    let trusted = trusted.map(|trusted| Trusted { trusted, revoked });
    let server = identity
        .as_ref()
        .map(|(file, identity)| {
            server_config(options, identity, trusted.as_ref(), &provider)
                .map_err(|problem| file.error(problem))
        })
        .transpose()?;
    let client = trusted
        .zip(trusted_files.clone().next())
        .map(|(trusted, file)| {
            let identity = identity.as_ref().map(|(_, identity)| identity);
            link_config(options, identity, trusted, &provider)
                .map_err(|problem| file.error(problem))
        })
        .transpose()?;
    Ok(Configs {
        server: server.map(Arc::new),
        client: client.map(Arc::new),
    })
}

/// Returns a client's configuration, for protocols other than this crate's link. `None` where the
/// options trust no authority.
///
/// # Errors
/// A file that the options name cannot be read, or holds something else.
pub fn client_config(options: &TlsOptions) -> Result<Option<Arc<ClientConfig>>, TlsError> {
    Ok(load(options)?.client)
}

/// Authorities that issue peers' certificates, and the revoked certificates.
struct Trusted {
    trusted: Arc<RootCertStore>,
    revoked: Vec<CertificateRevocationListDer<'static>>,
}

type Identity = Arc<SingleCertAndKey>;

/// Returns the certificate's file, and the content of it and of the key's file.
fn load_identity<'o>(
    options: &'o TlsOptions,
    provider: &CryptoProvider,
) -> Result<Option<(OptionFile<'o>, Identity)>, TlsError> {
    let certificate = options.certificate.as_ref();
    let certificate = certificate.map(|path| OptionFile::new("certificate", path));
    let key = options.key.as_ref();
    let (file, key_file) = match (certificate, key.map(|path| OptionFile::new("key", path))) {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(None),
        (Some(certificate), None) => return Err(certificate.error(Problem::WithoutKey)),
        (None, Some(key)) => return Err(key.error(Problem::WithoutCertificate)),
    };
    let chain = certificates(file)?;
    if let Some(own) = chain.first() {
        check_time(own).map_err(|problem| file.error(problem))?;
    }
    let key =
        read(key_file, PrivateKeyDer::from_pem_slice).map_err(|error| match error.problem {
            Problem::NotPem(_) => key_file.error(Problem::NoKey),
            problem => key_file.error(problem),
        })?;
    let identity = CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
        Error::InconsistentKeys(_) => key_file.error(Problem::OtherKey(file.path.to_owned())),
        Error::InvalidCertificate(_) => file.error(Problem::BadCertificate(error.to_string())),
        error => key_file.error(Problem::BadKey(error.to_string())),
    })?;
    let identity = Arc::new(SingleCertAndKey::from(identity));
    Ok(Some((file, identity)))
}

fn check_time(certificate: &[u8]) -> Result<(), Problem> {
    match Validity::of(certificate).map(|validity| validity.at(SystemTime::now())) {
        None => Err(Problem::BadCertificate("it has no dates".to_owned())),
        Some(TimeCheck::Expired(end)) => Err(Problem::Expired(end)),
        Some(TimeCheck::NotYet(begin)) => Err(Problem::NotYetValid(begin)),
        Some(TimeCheck::Valid) => Ok(()),
    }
}

fn load_trusted<'o>(
    files: impl Iterator<Item = OptionFile<'o>>,
) -> Result<Option<RootCertStore>, TlsError> {
    let mut trusted = RootCertStore::empty();
    for file in files {
        for certificate in certificates(file)? {
            trusted
                .add(certificate)
                .map_err(|error| file.error(Problem::BadCertificate(error.to_string())))?;
        }
    }
    Ok((!trusted.is_empty()).then_some(trusted))
}

/// Returns all certificate revocation lists in the files; none where no authority is trusted.
fn load_revoked<'o>(
    files: impl Iterator<Item = OptionFile<'o>>,
    trusted: Option<&Arc<RootCertStore>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let mut all = Vec::new();
    for file in files {
        let found: Vec<_> = read(file, |octets| {
            CertificateRevocationListDer::pem_slice_iter(octets).collect()
        })?;
        if found.is_empty() {
            return Err(file.error(Problem::NoRevocationList));
        }
        if let Some(trusted) = trusted {
            // Made only to check the lists, so that the error names the file.
            let verifier =
                WebPkiClientVerifier::builder_with_provider(trusted.clone(), provider.clone());
            let judged = verifier.with_crls(found.iter().cloned()).build();
            judged.map_err(|error| file.error(Problem::BadRevocationList(error.to_string())))?;
        }
        all.extend(found);
    }
    Ok(all)
}

/// Returns all certificates of a file; at least one.
fn certificates(file: OptionFile<'_>) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Vec<_> = read(file, |octets| {
        CertificateDer::pem_slice_iter(octets).collect()
    })?;
    if found.is_empty() {
        return Err(file.error(Problem::NoCertificate));
    }
    Ok(found)
}

fn read<T>(
    file: OptionFile<'_>,
    parse: impl FnOnce(&[u8]) -> Result<T, pem::Error>,
) -> Result<T, TlsError> {
    let read = || {
        let length = std::fs::metadata(file.path)?.len();
        if length > LARGEST_FILE {
            return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
        }
        std::fs::read(file.path)
    };
    let octets = read().map_err(|error| file.error(Problem::Unreadable(error)))?;
    // The library's message describes only the form, never the content.
    parse(&octets).map_err(|error| {
        let reason = match error {
            pem::Error::Base64Decode(_) => "the base 64 in it is malformed".to_owned(),
            pem::Error::IllegalSectionStart { .. } => {
                "a section has a malformed first line".to_owned()
            }
            pem::Error::MissingSectionEnd { .. } => "a section has no end line".to_owned(),
            error => error.to_string(),
        };
        file.error(Problem::NotPem(reason))
    })
}

/// Versions allowed from TLS 1.2 on, the preferred one first.
const FROM_1_2: &[&SupportedProtocolVersion] = &[&version::TLS13, &version::TLS12];
const FROM_1_3: &[&SupportedProtocolVersion] = &[&version::TLS13];

const fn versions(minimum: TlsVersion) -> &'static [&'static SupportedProtocolVersion] {
    match minimum {
        TlsVersion::V1_2 => FROM_1_2,
        TlsVersion::V1_3 => FROM_1_3,
    }
}

fn server_config(
    options: &TlsOptions,
    identity: &Identity,
    trusted: Option<&Trusted>,
    provider: &Arc<CryptoProvider>,
) -> Result<ServerConfig, Problem> {
    let verifier = || {
        let Trusted { trusted, revoked } = trusted.ok_or(Problem::NobodyTrusted)?;
        let verifier =
            WebPkiClientVerifier::builder_with_provider(trusted.clone(), provider.clone());
        Ok(verifier.with_crls(revoked.iter().cloned()))
    };
    let unfit = |error: &dyn std::error::Error| Problem::Unfit(error.to_string());
    let verifier = match options.client_certificate {
        ClientCertificate::None => WebPkiClientVerifier::no_client_auth(),
        ClientCertificate::Wanted => verifier()?
            .allow_unauthenticated()
            .build()
            .map_err(|error| unfit(&error))?,
        ClientCertificate::Required => verifier()?.build().map_err(|error| unfit(&error))?,
    };
    Ok(ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions(options.minimum))
        .map_err(|error| unfit(&error))?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(identity.clone()))
}

fn link_config(
    options: &TlsOptions,
    identity: Option<&Identity>,
    Trusted { trusted, revoked }: Trusted,
    provider: &Arc<CryptoProvider>,
) -> Result<ClientConfig, Problem> {
    let verifier = WebPkiServerVerifier::builder_with_provider(trusted, provider.clone())
        .with_crls(revoked)
        .build()
        .map_err(|error| Problem::Unfit(error.to_string()))?;
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions(options.minimum))
        .map_err(|error| Problem::Unfit(error.to_string()))?
        .with_webpki_verifier(verifier);
    Ok(match identity {
        Some(identity) => config.with_client_cert_resolver(identity.clone()),
        None => config.with_no_client_auth(),
    })
}
