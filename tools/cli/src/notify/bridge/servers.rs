//! Servers of NATS, and how to log in there.

use crate::call::Problem;
use punctual_jetstream::{Bridge, Credentials, JetStreamOptions, JetStreamTls};
use std::path::PathBuf;

/// The NATS servers.
#[derive(Debug, clap::Args)]
pub(super) struct Servers {
    /// NATS server, as nats://HOST:PORT or tls://HOST:PORT. May be given more than once.
    #[arg(long, value_name = "URL", required = true)]
    nats: Vec<String>,
    /// The file with a token and a key, as `nsc` writes it (.creds), that this program logs in to NATS with.
    #[arg(long, value_name = "FILE")]
    nats_credentials: Option<PathBuf>,
    /// Trust certificates of the authorities in this file (PEM) besides the system's, and call NATS by TLS alone.
    #[arg(long, value_name = "FILE")]
    nats_trusted: Option<PathBuf>,
}

const ON_NATS: &str = "--nats takes servers that run, as nats://host:port; --publish takes words separated by dots, and --subscribe may \
                       have `*` and `>`";

impl Servers {
    pub(super) fn open(&self) -> Result<Bridge, Problem> {
        let credentials = self.nats_credentials.clone();
        let options = JetStreamOptions {
            credentials: credentials.map_or(Credentials::None, Credentials::File),
            tls: JetStreamTls {
                is_required: self.nats_trusted.is_some(),
                authorities: self.nats_trusted.clone(),
                identity: None,
            },
            ..JetStreamOptions::new(self.nats.clone())
        };
        Bridge::open(&options).map_err(on_nats)
    }
}

/// Returns the problem for an error of NATS.
pub(super) fn on_nats(error: impl std::fmt::Display) -> Problem {
    Problem::usage(error.to_string(), ON_NATS)
}
