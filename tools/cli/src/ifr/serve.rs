//! `punctual ifr serve`: a repository as a server.

use super::{Idl, load_all, open};
use crate::serving::{Problem, ending_signals, listening, write_reference};
use punctual::{Orb, RootPoa, SystemException};
use punctual_ifr::{InterfaceRepository, Quota};
use std::io::Write;
use std::path::PathBuf;

/// It prints a reference to the repository, which `punctual call --ifr` and other ORBs' clients take, and
/// runs until it is interrupted or terminated. The objects of the ORBs that know it, by
/// `-ORBInitRef InterfaceRepository=REFERENCE`, tell their interfaces by it.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where to listen, as protocol://place, e.g. iiop://:9000. May be given more than once.
    #[arg(long, value_name = "ENDPOINT", required = true)]
    listen: Vec<String>,
    /// The repository's file; it is made if need be. Without it, definitions are gone when the server is.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Let whoever reaches the server change it, as the standard's interface allows. Without it, whatever would raises
    /// NO_PERMISSION.
    #[arg(long)]
    writable: bool,
    /// How many definitions the repository may have; what would be more is refused with NO_RESOURCES.
    #[arg(long, value_name = "NUMBER", default_value_t = Quota::default().definitions)]
    most_definitions: usize,
    /// How many bytes the records of all definitions may take.
    #[arg(long, value_name = "BYTES", default_value_t = Quota::default().bytes)]
    most_bytes: usize,
    #[command(flatten)]
    idl: Idl,
    /// Write the reference to this file, too.
    #[arg(long, value_name = "FILE")]
    write_reference: Option<PathBuf>,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// IDL files to load first.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

const ON_SERVING: &str = "another server may have the endpoint";

pub(super) fn run(options: &Options) -> Result<(), Problem> {
    // Before anything is begun, so that no signal is missed.
    let mut signals = ending_signals()?;
    let repository = match &options.store {
        Some(path) => open(path)?,
        None => InterfaceRepository::in_memory(),
    };
    repository.set_quota(Quota {
        definitions: options.most_definitions,
        bytes: options.most_bytes,
    });
    load_all(&repository, &options.files, &options.idl)?;
    let orb = listening(&options.listen, options.config.as_deref())?;
    let reference = published(&orb, &repository, options.writable)?;
    if let Some(path) = &options.write_reference {
        write_reference(path, &reference)?;
    }
    let endpoints: Vec<String> = orb.endpoints().iter().map(ToString::to_string).collect();
    eprintln!("listening at {}", endpoints.join(", "));
    println!("{reference}");
    // A reader that has gone needs no reference.
    let _ = std::io::stdout().flush();
    signals.forever().next();
    // It fails only within an upcall, and this is none.
    let _ = orb.shutdown(true);
    Ok(())
}

/// Serves the repository; its own objects tell their interfaces by it, too.
fn published(
    orb: &Orb,
    repository: &InterfaceRepository,
    is_writable: bool,
) -> Result<String, Problem> {
    let raised = |exception: SystemException| (exception.to_string(), ON_SERVING);
    let poa = orb.root_poa().map_err(raised)?;
    let root = match is_writable {
        true => repository.serve(&poa),
        false => repository.serve_read_only(&poa),
    };
    let root = root.map_err(|error| (error.to_string(), ON_SERVING))?;
    orb.register_initial_reference("InterfaceRepository", &root)
        .map_err(raised)?;
    // For whoever has no reference yet: corbaloc::HOST:PORT/InterfaceRepository.
    let bound = orb
        .ior_table()
        .map_err(raised)?
        .bind("InterfaceRepository", &root);
    bound.map_err(|error| (error.to_string(), ON_SERVING))?;
    let active = poa.manager().activate();
    active.map_err(|error| (error.to_string(), ON_SERVING))?;
    orb.object_to_string(&root).map_err(raised)
}
