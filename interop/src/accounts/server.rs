//! Server process of the accounts test: it prints its port, serves until its standard input ends,
//! and lets requests in progress complete.

use super::bank::{Bank, Ledger};
use super::managers::set_servants;
use crate::Failure;
use crate::adapters as a;
use crate::matrix::Version;
use punctual::{ListenEndpoint, Orb, RootPoa};
use std::io::{Read, stdin};
use std::sync::Arc;

/// Options of the server process.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Newest version of GIOP that the server supports and publishes.
    #[arg(long, value_parser = version)]
    giop: Version,
    /// Port to listen on at the loopback; 0 for any port.
    #[arg(long)]
    port: u16,
}

fn version(text: &str) -> Result<Version, String> {
    let known = Version::ALL.into_iter().find(|one| one.text() == text);
    known.ok_or_else(|| format!("no version `{text}` of GIOP"))
}

/// Serves until standard input is closed.
///
/// # Errors
/// Reasons why serving failed.
pub(crate) fn serve(options: &Options) -> Result<(), Failure> {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", options.port))
        .configure(|config| config.giop_version = options.giop.giop())
        .build()?;
    let root = orb.root_poa()?;
    let ledger = Arc::new(Ledger::default());
    set_servants(&root, &ledger)?;
    let bank: a::Bank = root.activate(Bank {
        root: root.clone(),
        ledger,
    })?;
    orb.ior_table()?.bind("Bank", &bank)?;
    root.manager().activate()?;
    let port = orb.endpoints().iter().find_map(|endpoint| endpoint.port());
    println!("port {}", port.ok_or("no port")?);
    println!("ready");
    let mut rest = Vec::new();
    stdin().read_to_end(&mut rest)?;
    orb.shutdown(true)?;
    Ok(())
}
