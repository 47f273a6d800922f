//! Commands on one server.

use super::service::{Common, failed, refused};
use crate::call::Problem;
use crate::shown;
use punctual::Interface;
use punctual_imr::check_server;
use punctual_imr::implementation_repository::{
    ActivationMode, AdministrationActivateServerError, AdministrationExtKillServerError,
    AdministrationExtLinkServersError, EnvironmentVariable, ServerActiveStatus, StartupOptions,
};

const ON_ADDING: &str = "`punctual imr add --help` says what is wanted";
const ON_STARTS: &str = "the log of the activator has what the server has printed, and how its process has ended; `punctual imr list` shows the command";
const ON_ENDS: &str =
    "without --signal, the server itself is asked to end; `punctual imr list` shows which run";
const ON_LINKS: &str =
    "name the server that has the command first, and then the others of its process";

/// The server is started by its command line, which is split at blanks, with quotation marks; no shell is involved. It has to
/// register; behind `launch:`, the command may end before. A program of Punctual gets `-ORBUseImR 1 -ORBImplRepoServiceIOR REFERENCE` for that, one of TAO `-ORBUseImR 1`.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// The server's name.
    name: String,
    /// Program and arguments, as one text. Without it, the server can only register by itself.
    #[arg(long, value_name = "LINE", default_value = "")]
    command: String,
    /// Variable of its environment, beside those of the activator. May be given more than once.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    environment: Vec<(String, String)>,
    /// Folder in which it runs. Without it, that of the activator.
    #[arg(long, value_name = "FOLDER", default_value = "")]
    folder: String,
    /// When it is started.
    #[arg(long, value_name = "MODE", default_value = "normal")]
    mode: Mode,
    /// Activator that starts it. Without it, the only one that there is.
    #[arg(long, value_name = "NAME", default_value = "")]
    activator: String,
    /// How many starts in a row may fail before only `punctual imr start` starts it; 0: any number, with pauses that grow.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    start_limit: i32,
    #[command(flatten)]
    common: Common,
}

/// A process with several persistent POAs is several servers: one of them is added with the command. The others are linked by
/// themselves when they have registered once; this links them before.
#[derive(Debug, clap::Args)]
pub(crate) struct Link {
    /// The server that has the command.
    name: String,
    /// Servers that start with it; their own commands are removed.
    #[arg(required = true)]
    others: Vec<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// The server's name.
    name: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Stop {
    /// The server's name.
    name: String,
    /// Send this signal to its process, e.g. 9, instead of asking it.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i16).range(1..=31))]
    signal: Option<i16>,
    #[command(flatten)]
    common: Common,
}

/// With an object id it is the reference that a server of Punctual makes of its object. Without one it is a plain key, which leads
/// to what a server has bound in its IOR table under its own name.
#[derive(Debug, clap::Args)]
pub(crate) struct Reference {
    /// The server's name.
    name: String,
    /// Id of the object within the server's POA, as text.
    object: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// When a server is started.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Mode {
    /// When a client calls it.
    Normal,
    /// By `punctual imr start` only.
    Manual,
    /// For each client anew.
    PerClient,
    /// When its activator starts, and when a client calls it.
    AutoStart,
}

const MODES: [(Mode, ActivationMode); 4] = [
    (Mode::Normal, ActivationMode::Normal),
    (Mode::Manual, ActivationMode::Manual),
    (Mode::PerClient, ActivationMode::PerClient),
    (Mode::AutoStart, ActivationMode::AutoStart),
];

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn add(options: &Add, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, repository) = options.common.resolve(orb_options)?;
    let variables = options.environment.iter();
    let variable = |(name, value): &(String, String)| EnvironmentVariable {
        name: name.clone(),
        value: value.clone(),
    };
    let mode = MODES
        .iter()
        .find(|(one, _)| *one as u8 == options.mode as u8);
    let startup = StartupOptions {
        command_line: options.command.clone(),
        environment: variables.map(variable).collect(),
        working_directory: options.folder.clone(),
        activation: mode.map_or(ActivationMode::Normal, |(_, mode)| *mode),
        activator: options.activator.clone(),
        start_limit: options.start_limit,
    };
    if let Err(mistake) = check_server(&options.name, &startup) {
        return Err(Problem::usage(mistake.to_string(), ON_ADDING));
    }
    let added = repository.add_or_update_server(&options.name, &startup);
    added.map_err(|error| failed(&options.name, &error))
}

pub(super) fn link(options: &Link, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, repository) = options.common.resolve(orb_options)?;
    let linked = repository.link_servers(&options.name, &options.others);
    linked.map_err(|error| match &error {
        AdministrationExtLinkServersError::CannotComplete(why) => {
            refused(&options.name, &why.reason, ON_LINKS)
        }
        _ => failed(&options.name, &error),
    })
}

pub(super) fn remove(options: &Named, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, repository) = options.common.resolve(orb_options)?;
    let removed = repository.remove_server(&options.name);
    removed.map_err(|error| failed(&options.name, &error))
}

pub(super) fn start(options: &Named, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, repository) = options.common.resolve(orb_options)?;
    let started = repository.activate_server(&options.name);
    started.map_err(|error| match &error {
        AdministrationActivateServerError::CannotActivate(why) => {
            refused(&options.name, &why.reason, ON_STARTS)
        }
        _ => failed(&options.name, &error),
    })
}

pub(super) fn stop(options: &Stop, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, repository) = options.common.resolve(orb_options)?;
    let name = &options.name;
    match options.signal {
        Some(signal) => {
            let ended = repository.kill_server(name, signal);
            ended.map_err(|error| match &error {
                AdministrationExtKillServerError::CannotComplete(why) => {
                    refused(name, &why.reason, ON_ENDS)
                }
                _ => failed(name, &error),
            })
        }
        None => {
            let found = repository.find(name);
            let runs = found.map_or(true, |found| {
                found.active_status != ServerActiveStatus::ActiveNo
            });
            if !runs {
                eprintln!("`{}` does not run", shown::peer(name));
            }
            let ended = repository.shutdown_server(name);
            ended.map_err(|error| failed(name, &error))
        }
    }
}

pub(super) fn reference(options: &Reference, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, repository) = options.common.resolve(orb_options)?;
    let raised = |exception| Problem::System(exception, None);
    let located = repository.as_object();
    let key = match (&options.object, options.name.split_once(':')) {
        (None, _) => Ok(options.name.clone().into_bytes()),
        (Some(object), Some((id, poa))) => {
            punctual::poa::persistent_key(id, &[poa], object.as_bytes())
        }
        (Some(object), None) => {
            punctual::poa::persistent_key("", &[&options.name], object.as_bytes())
        }
    };
    let object = located
        .with_object_key(&key.map_err(raised)?, "")
        .map_err(raised)?;
    println!("{}", orb.object_to_string(&object).map_err(raised)?);
    Ok(())
}
