//! Options on the object that is called.

use crate::idl_options::OptionsOfIdl;
use crate::time::with_unit;
use punctual::json::OctetForm;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// The IDL that declares the object's interface. Without it, the Interface Repository is asked, or the
    /// object itself.
    #[arg(long, value_name = "FILE")]
    pub(super) idl: Option<PathBuf>,
    #[command(flatten)]
    pub(super) front: OptionsOfIdl,
    /// The interface, by its scoped name or repository id, for a reference without a type id.
    #[arg(long, value_name = "NAME")]
    pub(super) interface: Option<String>,
    /// The Interface Repository that knows the object's interface.
    #[arg(long, value_name = "REFERENCE", conflicts_with = "idl")]
    pub(super) ifr: Option<String>,
    /// Time limit of a call, e.g. 200ms or 2s, with its unit. No limit by default.
    #[arg(long, value_name = "TIME", value_parser = with_unit)]
    pub(super) timeout: Option<Duration>,
    /// How to print octets.
    #[arg(long, value_name = "FORM", value_enum, default_value = "base64")]
    pub(super) octets: Octets,
    /// Print JSON on one line.
    #[arg(long)]
    pub(super) compact: bool,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Octets {
    Base64,
    Hex,
    Array,
}

impl From<Octets> for OctetForm {
    fn from(form: Octets) -> Self {
        match form {
            Octets::Base64 => Self::Base64,
            Octets::Hex => Self::Hex,
            Octets::Array => Self::Array,
        }
    }
}
