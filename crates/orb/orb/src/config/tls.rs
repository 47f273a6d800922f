//! The table `[tls]` of the configuration file.

use super::error::{ConfigError, bad_value};
use super::orb_config::OrbConfig;
use punctual_tls::{ClientCertificate, TlsVersion};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsTable {
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    trusted: Option<Vec<PathBuf>>,
    crl: Option<Vec<PathBuf>>,
    client_certificate: Option<String>,
    minimum_version: Option<String>,
    server_name: Option<String>,
}

/// Applies the table. Paths of files are relative to `folder`.
pub(super) fn obey(
    config: &mut OrbConfig,
    table: &TlsTable,
    folder: &Path,
) -> Result<(), ConfigError> {
    let tls = config.tls.get_or_insert_default();
    if let Some(file) = &table.certificate {
        tls.certificate = Some(folder.join(file));
    }
    if let Some(file) = &table.key {
        tls.key = Some(folder.join(file));
    }
    if let Some(files) = &table.trusted {
        tls.trusted = files.iter().map(|file| folder.join(file)).collect();
    }
    if let Some(files) = &table.crl {
        tls.crl = files.iter().map(|file| folder.join(file)).collect();
    }
    if let Some(word) = &table.client_certificate {
        tls.client_certificate = match word.as_str() {
            "none" => ClientCertificate::None,
            "wanted" => ClientCertificate::Wanted,
            "required" => ClientCertificate::Required,
            _ => {
                let expected = "none, wanted or required";
                return Err(bad_value("tls.client_certificate", word, expected));
            }
        };
    }
    if let Some(version) = &table.minimum_version {
        tls.minimum = match version.as_str() {
            "1.2" => TlsVersion::V1_2,
            "1.3" => TlsVersion::V1_3,
            _ => return Err(bad_value("tls.minimum_version", version, "1.2 or 1.3")),
        };
    }
    if let Some(name) = &table.server_name {
        tls.server_name = Some(name.clone());
    }
    Ok(())
}
