//! The life of a service process, from its start to its end.
//!
//! | step | |
//! |---|---|
//! | 1 | the allocator returns what is freed; logs; the service is opened, its store locked |
//! | 2 | the status is answered: alive, perhaps not ready |
//! | | where one of several processes serves, this one waits for its turn; systemd and its watchdog are notified meanwhile |
//! | 3 | the ORB listens; the service's objects are activated and published |
//! | 4 | companions start, the reference is written and printed, systemd and its watchdog are notified |
//! | 5 | a signal comes: systemd is notified, the name is unbound, status and companions end |
//! | 6 | calls that wait are answered, the ORB is shut down; requests that have begun have until the deadline |
//! | 7 | the service stops, its store is closed |
//!
//! A signal that comes before step 5 ends the process soon, also where a step waits for other servers.

mod listen;
mod options;
mod starting;

use std::any::Any;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use punctual::{ObjectRef, Orb, RootPoa, SystemException};
use punctual_exec::thread::ThreadSpec;
use punctual_sys::allocator::return_freed_memory;

pub use listen::{ON_CONFIGURATION, ON_ENDPOINTS, ending_signals, listening};
pub use options::{Companion, RunOptions};

use listen::{listening_with, prepared};
use options::Ending;
use starting::Starting;

use crate::publish::{publish, write_reference};
use crate::status::Status;
use crate::systemd::{KeptAlive, Notifier};
use crate::{Problem, Service, log};

const ON_SERVING: &str =
    "start it again when the reason is gone; with --log debug, it says more of what it does before";
const ON_STATUS: &str = "an address of this machine and a port, as 127.0.0.1:2810";
const ON_SYSTEMD: &str = "NOTIFY_SOCKET names the socket that systemd is notified by";
const ON_TURN: &str =
    "the servers that have the service in common must be reachable, and of one version";
const ON_LOSS: &str = "start this process again, so that it serves when the other one ends";
const ON_DEADLINE: &str = "clients learn by COMM_FAILURE that these requests may have been done; --stop-deadline gives \
                           them more time";

/// Interval at which a process that may lose the right to serve, or be asked to end, looks whether it has.
const LOOK: Duration = Duration::from_millis(100);

/// Runs a service until the event that ends it. `open` opens the service, whose store is locked from then on.
///
/// # Errors
/// Those of `open`; an endpoint, the status's address or a file is not available; requests were
/// still in progress at the deadline.
pub fn run<S: Service>(
    open: impl FnOnce() -> Result<S, Problem>,
    mut options: RunOptions<S>,
) -> Result<(), Problem> {
    return_freed_memory();
    log::start(options.level);
    let starting = Starting::begin(options.ending.flag())?;
    let service = Arc::new(open()?);
    let status = started_status(&service, options.status.as_deref())?;
    let (config, orb_options) = (options.config.as_deref(), &options.orb_options);
    let prepared = prepared(&options.listen, config, orb_options, S::configure)?;
    let notifier = Notifier::from_environment();
    let notifier = notifier.map_err(|error| Problem::new(error, ON_SYSTEMD))?;
    if !has_turn(&service, &notifier, &mut options)? {
        drop(starting);
        service.stop();
        return Ok(());
    }
    let orb = listening_with(prepared)?;
    let deadline = options.stop_deadline;
    let ended = serve_until_the_end(&orb, &service, (status, &notifier, starting), options);
    service.end_waiting();
    let shut = shut_down(&orb, deadline);
    service.stop();
    ended.and(shut)
}

/// Serves a service until the event that ends it, and then ends everything except the ORB.
fn serve_until_the_end<S: Service>(
    orb: &Orb,
    service: &Arc<S>,
    (status, notifier, starting): (Option<Status>, &Notifier, Starting),
    mut options: RunOptions<S>,
) -> Result<(), Problem> {
    let reference = served(orb, &**service)?;
    let mut companions = Vec::new();
    for start in options.companions.drain(..) {
        companions.push(start(service, orb)?);
    }
    let name = named(orb, &reference, &options)?;
    let facts = [
        service.summary(),
        status
            .as_ref()
            .map(|status| format!("status at http://{}", status.address())),
    ];
    announce(
        orb,
        (&reference, service.further_references()),
        options.write_reference.as_deref(),
        facts.into_iter().flatten(),
    )?;
    notifier.ready();
    let watchdog = watched(notifier, service)?;
    drop(starting);
    let outcome = wait_for_end(orb, &**service, &mut options.ending);
    drop(watchdog);
    notifier.stopping();
    drop((name, status, companions));
    outcome
}

/// Waits until the process may serve, if it has to. Returns false if it is to end before.
fn has_turn<S: Service>(
    service: &Arc<S>,
    notifier: &Notifier,
    options: &mut RunOptions<S>,
) -> Result<bool, Problem> {
    let Some(turn) = service.turn() else {
        return Ok(true);
    };
    notifier.ready();
    let watchdog = watched(notifier, service)?;
    log::say("waiting until no other server serves");
    let waited = turn.wait(&mut || options.ending.has_come());
    drop(watchdog);
    if !matches!(waited, Ok(true)) {
        notifier.stopping();
    }
    waited.map_err(|error| Problem::new(error, ON_TURN))
}

/// Waits for the event that ends the run: a signal, or that the ORB has been shut down.
///
/// # Errors
/// The process has lost the right to serve.
fn wait_for_end<S: Service>(orb: &Orb, service: &S, ending: &mut Ending) -> Result<(), Problem> {
    let turn = service.turn();
    if turn.is_none() && !orb.config().implementation_repository {
        ending.wait();
        return Ok(());
    }
    while !ending.has_come() {
        if let Some(loss) = turn.as_ref().and_then(|turn| turn.loss()) {
            return Err(Problem::new(loss, ON_LOSS));
        }
        // The Implementation Repository asks servers to end by shutting their ORBs down.
        if orb.is_shut_down() {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn started_status<S: Service>(
    service: &Arc<S>,
    address: Option<&str>,
) -> Result<Option<Status>, Problem> {
    let Some(address) = address else {
        return Ok(None);
    };
    let status = Status::listen(service.clone(), address)
        .map_err(|error| Problem::new(format!("--status {address}: {error}"), ON_STATUS))?;
    Ok(Some(status))
}

/// Activates a service's objects and publishes the reference to its root object.
fn served<S: Service>(orb: &Orb, service: &S) -> Result<ObjectRef, Problem> {
    let raised = |exception: SystemException| Problem::new(exception, ON_SERVING);
    let poa = orb.root_poa().map_err(raised)?;
    let root = service.serve(&poa);
    let root = root.map_err(|error| Problem::new(error, ON_SERVING))?;
    publish(orb, S::INITIAL_REFERENCE, &root)?;
    let active = poa.manager().activate();
    active.map_err(|error| Problem::new(error, ON_SERVING))?;
    Ok(root)
}

/// Binds the service's name, if it has one, for as long as the returned value exists.
fn named<S>(
    orb: &Orb,
    reference: &ObjectRef,
    options: &RunOptions<S>,
) -> Result<Option<Box<dyn Any>>, Problem> {
    match (&options.name, &options.registry) {
        (Some(name), Some(registry)) => registry.bind(orb, name, reference).map(Some),
        _ => Ok(None),
    }
}

/// Writes the reference to its file, and to standard output for a script that waits for it, before further ones. The facts
/// about the service are printed before: nothing is, if it does not start.
fn announce(
    orb: &Orb,
    (reference, further): (&ObjectRef, Vec<ObjectRef>),
    file: Option<&Path>,
    facts: impl Iterator<Item = String>,
) -> Result<(), Problem> {
    let text = |reference: &ObjectRef| {
        let text = orb.object_to_string(reference);
        text.map_err(|exception| Problem::new(exception, ON_SERVING))
    };
    let further: Vec<String> = further.iter().map(text).collect::<Result<_, _>>()?;
    let text = text(reference)?;
    if let Some(file) = file {
        write_reference(file, &text)?;
    }
    for fact in facts {
        log::say(fact);
    }
    let endpoints: Vec<String> = orb.endpoints().iter().map(ToString::to_string).collect();
    log::say(format_args!("listening at {}", endpoints.join(", ")));
    // A reader that has gone needs no reference.
    let mut out = std::io::stdout();
    let mut texts = std::iter::once(&text).chain(&further);
    let _ = texts
        .try_for_each(|text| writeln!(out, "{text}"))
        .and_then(|()| out.flush());
    Ok(())
}

fn watched<S: Service>(
    notifier: &Notifier,
    service: &Arc<S>,
) -> Result<Option<KeptAlive>, Problem> {
    let service = service.clone();
    let kept = notifier.keep_alive(move || service.check_alive());
    kept.map_err(|error| Problem::new(error, ON_SYSTEMD))
}

/// Shuts an ORB down, and waits for the requests in progress until the deadline.
fn shut_down(orb: &Orb, deadline: Duration) -> Result<(), Problem> {
    let (done, ended) = channel();
    let ending = orb.clone();
    let shut = move || {
        // It fails only within an upcall, and this is none.
        let _ = ending.shutdown(true);
        let _ = done.send(());
    };
    if ThreadSpec::named("shutdown").start(shut).is_err() {
        // Without a thread there is no deadline.
        let _ = orb.shutdown(true);
        return Ok(());
    }
    ended.recv_timeout(deadline).map_err(|_| {
        let message = format!("requests were still in progress after {deadline:?}");
        Problem::new(message, ON_DEADLINE)
    })
}
