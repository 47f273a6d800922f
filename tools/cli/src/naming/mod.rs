//! `punctual naming`: a Naming Service server, and commands for the naming service of any ORB.

mod change;
mod check;
mod exchange;
mod group;
mod names;
mod process;
mod raised;
mod read;
mod referred_group;
pub(crate) mod registry;
mod serve;
mod service;
mod service_options;
mod tree;
mod watch;
mod web;
mod with_groups;

use crate::call::Problem;
use std::process::ExitCode;

/// Names for objects: a server, and commands for the naming service of any ORB.
///
/// A name is text, as `plants/north.site/pump`: id, or id and kind with a dot between, and components with slashes
/// between; a backslash stands before a dot, slash or backslash that is part of one.
#[derive(Debug, clap::Subcommand)]
#[command(
    after_help = "Commands but `serve` end with status 0 when all went well, 1 for a wrong reference or name, \
                        2 for a wrong command line, 3 for a system exception, 4 for a user exception as NotFound, \
                        which is on standard error as JSON with --json. \
                        They take the ORB's options, as -ORBInitRef NameService=corbaloc::host:2809/NameService."
)]
pub(crate) enum Options {
    /// Serve a naming service until interrupted, and print the root context's reference.
    Serve(Box<serve::Options>),
    /// List the bindings of a context.
    List(read::ListOptions),
    /// Draw the bindings of a context and of all contexts below it as a tree.
    Tree(read::TreeOptions),
    /// Print the reference that a name is bound to.
    Resolve(read::ResolveOptions),
    /// Bind a name.
    Bind(change::BindOptions),
    /// Bind a name, replacing its binding.
    Rebind(change::BindOptions),
    /// Remove bindings.
    Unbind(change::UnbindOptions),
    /// Create a context and bind a name to it.
    NewContext(change::NewContextOptions),
    /// Bind a name to a group of objects, one of which each client gets.
    #[command(subcommand)]
    Group(group::Options),
    /// Print a context and all below it as JSON.
    Export(exchange::ExportOptions),
    /// Bind the names of an export.
    Import(exchange::ImportOptions),
    /// Print the changes below a context as they happen.
    Watch(watch::Options),
    /// Find bindings whose objects do not exist or do not answer.
    Check(check::Options),
}

impl Options {
    /// Returns whether JSON is asked for.
    fn json(&self) -> bool {
        let common = match self {
            Self::Serve(_) => return false,
            Self::Group(options) => return options.json(),
            Self::List(options) => &options.common,
            Self::Tree(options) => &options.common,
            Self::Resolve(options) => &options.common,
            Self::Bind(options) | Self::Rebind(options) => &options.common,
            Self::Unbind(options) => &options.common,
            Self::NewContext(options) => &options.common,
            Self::Export(options) => &options.common,
            Self::Import(options) => &options.common,
            Self::Watch(options) => &options.common,
            Self::Check(options) => &options.common,
        };
        common.json
    }
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::run(options, orb_options).map_err(Problem::from),
        Options::List(options) => read::list(options, orb_options),
        Options::Tree(options) => read::tree(options, orb_options),
        Options::Resolve(options) => read::resolve(options, orb_options),
        Options::Bind(options) => change::bind(options, false, orb_options),
        Options::Rebind(options) => change::bind(options, true, orb_options),
        Options::Unbind(options) => change::unbind(options, orb_options),
        Options::NewContext(options) => change::new_context(options, orb_options),
        Options::Group(options) => group::run(options, orb_options),
        Options::Export(options) => exchange::export(options, orb_options),
        Options::Import(options) => exchange::import(options, orb_options),
        Options::Watch(options) => watch::run(options, orb_options),
        Options::Check(options) => check::run(options, orb_options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Problem::Raised { json, .. }) if options.json() => Problem::User(json).report(),
        Err(problem) => Problem::report(problem),
    }
}
