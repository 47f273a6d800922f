//! `punctual imr list`: the servers of a repository.

use super::service::{Common, failed};
use crate::call::Problem;
use crate::shown;
use anstyle::{AnsiColor, Style};
use punctual_imr::implementation_repository::{
    ActivationMode, ServerActiveStatus, ServerInformation,
};
use serde_json::{Value, json};

/// Number of servers in one request.
const AT_ONCE: u32 = 500;
/// Maximum number of servers that are listed: a server could go on without end.
const MOST: usize = 1_000_000;

/// A line for each server has its name, its state, its mode, its activator and its command. The repository asks each that
/// runs whether it lives.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Do not ask the servers whether they live.
    #[arg(long)]
    known: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn list(options: &List, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, repository) = options.common.resolve(orb_options)?;
    let failed = |exception: punctual::SystemException| failed("", &exception);
    let (mut servers, mut rest) = repository.list(AT_ONCE, !options.known).map_err(failed)?;
    while let Some(iterator) = rest.take() {
        let (is_more, next) = iterator.next_n(AT_ONCE).map_err(failed)?;
        let is_over = next.is_empty() || servers.len() > MOST;
        servers.extend(next);
        if is_more && !is_over {
            rest = Some(iterator);
        } else {
            // Its end is no concern of the list.
            let _ = iterator.destroy();
        }
    }
    match options.json {
        true => {
            let all: Vec<Value> = servers.iter().map(as_json).collect();
            println!("{}", shown::json(format_args!("{:#}", json!(all))));
        }
        false => print_table(&servers),
    }
    Ok(())
}

fn print_table(servers: &[ServerInformation]) {
    let bold = Style::new().bold();
    let rows: Vec<[String; 5]> = servers.iter().map(row).collect();
    let heads = ["SERVER", "STATE", "MODE", "ACTIVATOR", "COMMAND"];
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells
            .map(|cell| cell.chars().count())
            .chain(heads.get(at).map(|head| head.len()))
            .max()
            .unwrap_or(0)
    };
    let [name, state, mode, activator] = [width(0), width(1), width(2), width(3)];
    let [a, b, c, d, e] = heads;
    println!("{bold}{a:name$}  {b:state$}  {c:mode$}  {d:activator$}  {e}{bold:#}");
    for ([a, b, c, d, e], server) in rows.iter().zip(servers) {
        let colour = colour(server.active_status);
        println!("{a:name$}  {colour}{b:state$}{colour:#}  {c:mode$}  {d:activator$}  {e}");
    }
}

fn row(server: &ServerInformation) -> [String; 5] {
    [
        shown::peer(&server.server),
        state(server.active_status).to_owned(),
        mode(server.startup.activation).to_owned(),
        shown::peer(&server.startup.activator),
        shown::peer(&server.startup.command_line),
    ]
}

fn state(status: ServerActiveStatus) -> &'static str {
    match status {
        ServerActiveStatus::ActiveYes => "runs",
        ServerActiveStatus::ActiveMaybe => "silent",
        ServerActiveStatus::ActiveNo => "ended",
    }
}

fn colour(status: ServerActiveStatus) -> Style {
    match status {
        ServerActiveStatus::ActiveYes => AnsiColor::Green.on_default(),
        ServerActiveStatus::ActiveMaybe => AnsiColor::Yellow.on_default(),
        ServerActiveStatus::ActiveNo => Style::new().dimmed(),
    }
}

fn mode(mode: ActivationMode) -> &'static str {
    match mode {
        ActivationMode::Normal => "normal",
        ActivationMode::Manual => "manual",
        ActivationMode::PerClient => "per-client",
        ActivationMode::AutoStart => "auto-start",
    }
}

fn as_json(server: &ServerInformation) -> Value {
    let environment = server.startup.environment.iter();
    let environment: serde_json::Map<String, Value> = environment
        .map(|one| (one.name.clone(), json!(one.value)))
        .collect();
    json!({
        "server": server.server,
        "state": state(server.active_status),
        "place": server.partial_ior,
        "mode": mode(server.startup.activation),
        "activator": server.startup.activator,
        "command": server.startup.command_line,
        "folder": server.startup.working_directory,
        "environment": environment,
        "start_limit": server.startup.start_limit,
    })
}
