//! `punctual group`: object groups, and commands on them.

mod change;
mod list;
mod serve;
mod service;
mod watch;
mod web;

use crate::call::Problem;
use std::process::ExitCode;

pub(crate) use service::failed;

/// Groups of objects behind one reference each: replicas with a primary (Fault Tolerant CORBA), or members among which clients are
/// balanced (CosLoadBalancing).
///
/// A group is given by its number or its reference, a member by its location: a name as text, such as `host-1/process-2`.
#[derive(Debug, clap::Subcommand)]
#[command(
    after_help = "Commands but `serve` end with status 0 when all went well, 1 for a wrong reference, 2 for a wrong command line, 3 \
                        for a system exception, 4 for a user exception as MemberNotFound. They take the ORB's options, as \
                        -ORBInitRef ReplicationManager=file:///run/group.ior."
)]
pub(crate) enum Options {
    /// Serve object groups until interrupted, and print the reference of the ReplicationManager.
    Serve(Box<serve::Serve>),
    /// List the groups with their members.
    List(list::List),
    /// Create a group, and print its reference.
    Create(change::Create),
    /// Add a member to a group.
    Add(change::Add),
    /// Remove a member of a group, or a whole group.
    Remove(change::Remove),
    /// Print what changes in the groups, until interrupted.
    Watch(watch::Watch),
    /// Lead no more clients to a member; a primary hands over to another member.
    Drain(change::Drain),
    /// Make a member the primary of its group.
    SetPrimary(change::SetPrimary),
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::serve(options, orb_options).map_err(Problem::from),
        Options::List(options) => list::list(options, orb_options),
        Options::Create(options) => change::create(options, orb_options),
        Options::Add(options) => change::add(options, orb_options),
        Options::Remove(options) => change::remove(options, orb_options),
        Options::Watch(options) => watch::watch(options, orb_options),
        Options::Drain(options) => change::drain(options, orb_options),
        Options::SetPrimary(options) => change::set_primary(options, orb_options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
