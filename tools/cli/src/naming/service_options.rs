//! Options of the commands that call a naming service.

use crate::time::with_unit;
use std::path::PathBuf;
use std::time::Duration;

/// The naming service, and how it is called.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// The naming context that names are in: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    /// Without it, the ORB's initial reference NameService, or else corbaloc::localhost:2809/NameService.
    #[arg(long, value_name = "REFERENCE")]
    pub(super) service: Option<String>,
    /// Time limit of a call, e.g. 200ms or 2s, with its unit.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = with_unit)]
    pub(super) timeout: Duration,
    /// Give up after so many bindings: a server could go on listing without end.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000_000)]
    pub(super) most: u64,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}
