//! `punctual imr`: an Implementation Repository, and commands for that of Punctual or TAO.

mod list;
mod serve;
mod servers;
mod service;

use crate::call::Problem;
use std::process::ExitCode;

/// Servers that start when clients call them: a repository that knows how, and commands for it.
///
/// A server's name is that of its persistent POA, or with -ORBServerId ID of the server ID:POA.
#[derive(Debug, clap::Subcommand)]
#[command(
    after_help = "Commands but `serve` and `activator` end with status 0 when all went well, 1 for a wrong reference, 2 for a \
                        wrong command line, 3 for a system exception, 4 for a user exception as NotFound. They take the ORB's \
                        options, as -ORBInitRef ImplRepoService=file:///run/imr.ior."
)]
pub(crate) enum Options {
    /// Serve a repository until interrupted, and print its reference.
    Serve(Box<serve::Serve>),
    /// Start processes of this host for a repository, until interrupted.
    Activator(Box<serve::Activate>),
    /// Add a server, or change how it is started.
    Add(servers::Add),
    /// Have servers of one process started together, by the command of one of them.
    Link(servers::Link),
    /// Remove a server.
    Remove(servers::Named),
    /// Start a server, and wait until it has registered.
    Start(servers::Named),
    /// Ask a server to end, or end its process by a signal.
    Stop(servers::Stop),
    /// List the servers.
    List(list::List),
    /// Print a reference to an object of a server, whether it runs or not.
    Ior(servers::Reference),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::serve(options, orb_options).map_err(Problem::from),
        Options::Activator(options) => serve::activate(options, orb_options).map_err(Problem::from),
        Options::Add(options) => servers::add(options, orb_options),
        Options::Link(options) => servers::link(options, orb_options),
        Options::Remove(options) => servers::remove(options, orb_options),
        Options::Start(options) => servers::start(options, orb_options),
        Options::Stop(options) => servers::stop(options, orb_options),
        Options::List(options) => list::list(options, orb_options),
        Options::Ior(options) => servers::reference(options, orb_options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
