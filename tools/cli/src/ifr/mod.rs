//! `punctual ifr`: serving, loading and listing Interface Repositories.

mod idl;
mod serve;

use crate::fail;
use crate::idl_options::IdlOptions;
use crate::shown;
use idl::load_all;
use punctual_host::Problem;
use punctual_ifr::open_file;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Commands on a repository.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Options {
    /// Serve a repository until interrupted, and print its reference.
    Serve(serve::Options),
    /// Add or replace the definitions of IDL files.
    Load(LoadOptions),
    /// List the definitions: kind, scoped name, repository id.
    List(ListOptions),
}

/// Definitions that are there already become what the files say of them. While a server has the
/// file open, no other process can write to it: name the IDL files when you start the server.
#[derive(Debug, clap::Args)]
pub(crate) struct LoadOptions {
    /// The repository's file, which is created if missing.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    #[command(flatten)]
    idl: IdlOptions,
    /// The IDL files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListOptions {
    /// The repository's file.
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const ON_STORES: &str = "name a file that `punctual ifr` made, and that no server has open";

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let done = match options {
        Options::Serve(options) => serve::run(options, orb_options),
        Options::Load(options) => load(options),
        Options::List(options) => list(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem, problem.help()),
    }
}

fn load(options: &LoadOptions) -> Result<(), Problem> {
    let repository = open_file(&options.store)?;
    let new = load_all(&repository, &options.files, &options.idl)?;
    let files = options.files.len();
    println!("{new} new definitions from {files} files");
    Ok(())
}

fn list(options: &ListOptions) -> Result<(), Problem> {
    if !options.store.exists() {
        let message = format!("{}: the file does not exist", options.store.display());
        return Err(Problem::new(message, ON_STORES));
    }
    let definitions = open_file(&options.store)?.list();
    if options.json {
        let entry = |(kind, name, id): &(String, String, String)| json!({ "kind": kind, "name": name, "id": id });
        let entries: Vec<_> = definitions.iter().map(entry).collect();
        println!("{}", shown::json(format_args!("{:#}", json!(entries))));
        return Ok(());
    }
    // Clients may have changed the store, too.
    let definitions: Vec<_> = definitions
        .iter()
        .map(|(kind, name, id)| (shown::peer(kind), shown::peer(name), shown::peer(id)))
        .collect();
    let widest = |part: fn(&(String, String, String)) -> usize| {
        definitions.iter().map(part).max().unwrap_or(0)
    };
    let (kinds, names) = (
        widest(|(kind, ..)| kind.len()),
        widest(|(_, name, _)| name.len()),
    );
    for (kind, name, id) in &definitions {
        println!("{kind:kinds$}  {name:names$}  {id}");
    }
    Ok(())
}
