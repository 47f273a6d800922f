//! `punctual bridge`: passes requests that arrive by one protocol on by another.

use crate::fail;
use crate::shown;
use crate::time::with_unit;
use punctual::bridge::{Bridge, BridgeOptions, Counts};
use punctual::policy::Otherwise;
use punctual::{ObjectRef, Orb, Policy, SetOverride, SystemException, SystemExceptionKind as Kind};
use punctual_host::Problem;
use punctual_host::publish::write_reference;
use punctual_host::run::{ON_ENDPOINTS, ending_signals, listening};
use serde_json::json;
use signal_hook::iterator::Signals;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time limit for requests in progress after a signal.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// Options of `punctual bridge`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Passes requests on to another server, by another protocol if need be, without \
                  demarshaling what they carry.\n\n\
                  It prints a reference that leads through the bridge to the target, and runs until it \
                  is interrupted or terminated; then it shows how many requests it has passed on. Any \
                  object of the target's server is reached through the bridge by its key, unless \
                  --target-only says otherwise. Both sides \
                  must speak the same GIOP version and code sets: a request that cannot be passed on as \
                  it is is refused, and the reason logged on standard error.",
    after_help = "For example: punctual bridge --listen iiop://:9000 --target file.ior --target-protocol \
                  shmiop"
)]
pub(crate) struct Options {
    /// Endpoint to listen at, as protocol://place, e.g. iiop://:9000 or uiop:///tmp/socket. May be given more
    /// than once.
    #[arg(long, value_name = "ENDPOINT", required = true)]
    listen: Vec<String>,
    /// The object to pass requests on to: an `IOR:` or `corbaloc:` text, or a file that holds one.
    #[arg(long, value_name = "REFERENCE")]
    target: String,
    /// Call the target by this protocol only, e.g. shmiop. May be given more than once, the preferred
    /// first.
    #[arg(long, value_name = "PROTOCOL")]
    target_protocol: Vec<String>,
    /// Rewrite references inside of requests and replies, so that those to the target's server lead
    /// through the bridge. Octets that look like a reference are taken for one, and rewritten if the new one fits.
    #[arg(long)]
    rewrite_references: bool,
    /// Forward requests only to the target and to the objects that `--object` names.
    #[arg(long)]
    target_only: bool,
    /// With `--target-only`: another object of the target's server that is reached, an `IOR:` or `corbaloc:` text, or a
    /// file that holds one. May be given more than once.
    #[arg(long, value_name = "REFERENCE", requires = "target_only")]
    object: Vec<String>,
    /// Time limit of a forwarded request, e.g. 200ms or 2s, with its unit. No limit by default.
    #[arg(long, value_name = "TIME", value_parser = with_unit)]
    timeout: Option<Duration>,
    /// Write the reference to this file, too.
    #[arg(long, value_name = "FILE")]
    write_reference: Option<PathBuf>,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON: one line at the start, one at the end.
    #[arg(long)]
    json: bool,
}

/// Time limit for the target's answer to the check at the start. The answer is not required.
const GREETING: Duration = Duration::from_secs(2);

const ON_TARGETS: &str = "a target is an `IOR:` or `corbaloc:` text, or a file that holds one; `punctual \
                          ior` shows what is in it";
const ON_PROTOCOLS: &str = "`punctual ior` shows which protocols the target has, `punctual protocols` \
                            which there are";
pub(crate) fn run(options: &Options) -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    match bridge(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem, problem.help()),
    }
}

fn bridge(options: &Options) -> Result<(), Problem> {
    // Before anything is started, so that no signal is missed.
    let mut signals = ending_signals()?;
    let orb = listening(&options.listen, options.config.as_deref(), |_| {})?;
    let target = target(&orb, options)?;
    let objects = options.target_only.then(|| keys(&orb, &options.object));
    let bridged = Bridge::new(
        &orb,
        &target,
        &BridgeOptions {
            rewrite_references: options.rewrite_references,
            objects: objects.transpose()?,
            timeout: options.timeout,
            ..BridgeOptions::default()
        },
    );
    let bridged = bridged
        .map_err(|exception| Problem::new(shown::exception(&exception), help_for(&exception)))?;
    greet(&target)?;
    let reference = bridged.reference();
    let reference = reference.and_then(|reference| orb.object_to_string(&reference));
    let reference =
        reference.map_err(|exception| Problem::new(shown::exception(&exception), ON_TARGETS))?;
    if let Some(path) = &options.write_reference {
        write_reference(path, &reference)?;
    }
    show_start(&orb, &reference, options);
    signals.forever().next();
    end_in_time(&orb, &mut signals);
    show_end(&bridged.counts(), options);
    Ok(())
}

/// Waits until requests in progress have ended, but at most for a time limit or until another
/// signal: a target may never answer.
fn end_in_time(orb: &Orb, signals: &mut Signals) {
    let (ended, over) = mpsc::channel();
    let ending = orb.clone();
    // Bare thread: it needs no settings, and the process may end before it does.
    std::thread::spawn(move || {
        // It fails only within an upcall, and this is none.
        let _ = ending.shutdown(true);
        // The receiver may have stopped waiting.
        let _ = ended.send(());
    });
    let until = Instant::now() + LAST_REQUESTS;
    while Instant::now() < until && signals.pending().next().is_none() {
        match over.recv_timeout(Duration::from_millis(20)) {
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Returns the object of a reference given as text or in a file.
fn object(orb: &Orb, reference: &str) -> Result<ObjectRef, Problem> {
    let text = crate::ior::read(reference).map_err(|problem| Problem::new(problem, ON_TARGETS))?;
    let object = orb.string_to_object(&text);
    object.map_err(|exception| Problem::new(shown::exception(&exception), ON_TARGETS))
}

/// Returns the object keys of references.
fn keys(orb: &Orb, references: &[String]) -> Result<Vec<Vec<u8>>, Problem> {
    let key = |reference: &String| {
        let key = object(orb, reference)?.object_key();
        key.ok_or_else(|| Problem::new(format!("{reference} has no object key"), ON_TARGETS))
    };
    references.iter().map(key).collect()
}

fn target(orb: &Orb, options: &Options) -> Result<ObjectRef, Problem> {
    let target = object(orb, &options.target)?;
    if options.target_protocol.is_empty() {
        return Ok(target);
    }
    let policy = Policy::protocols(&options.target_protocol, Otherwise::Raise);
    let target = target.set_policy_overrides(&[policy], SetOverride::Set);
    target.map_err(|exception| Problem::new(shown::exception(&exception), ON_PROTOCOLS))
}

/// Checks whether the target exists. If not, it may be started later; the command fails only if the
/// target cannot be called at all.
fn greet(target: &ObjectRef) -> Result<(), Problem> {
    match target.with_timeout(GREETING).locate() {
        Ok(true) => {}
        Ok(false) => tracing::warn!("the target's server does not know the object"),
        Err(exception) if exception.kind() == Kind::InvPolicy => {
            return Err(Problem::new(shown::exception(&exception), ON_PROTOCOLS));
        }
        Err(exception) => tracing::warn!(
            "the target does not answer yet: {}",
            shown::exception(exception)
        ),
    }
    Ok(())
}

fn help_for(exception: &SystemException) -> &'static str {
    match exception.kind() {
        Kind::Initialize => ON_ENDPOINTS,
        _ => ON_TARGETS,
    }
}

fn show_start(orb: &Orb, reference: &str, options: &Options) {
    let endpoints: Vec<String> = orb.endpoints().iter().map(ToString::to_string).collect();
    if options.json {
        println!(
            "{}",
            json!({ "reference": reference, "endpoints": endpoints })
        );
    } else {
        eprintln!("listening at {}", endpoints.join(", "));
        println!("{reference}");
    }
    // If the reader has gone, it needs no reference.
    let _ = std::io::stdout().flush();
}

fn show_end(counts: &Counts, options: &Options) {
    let rows = [
        ("two_way", "requests with a reply", counts.two_way),
        ("one_way", "requests without", counts.one_way),
        ("located", "questions where an object is", counts.located),
        ("refused", "refused", counts.refused),
        ("failed", "failed", counts.failed),
        ("rewritten", "references rewritten", counts.rewritten),
        (
            "not_rewritten",
            "references without room",
            counts.not_rewritten,
        ),
    ];
    if options.json {
        let counts: serde_json::Map<_, _> = rows
            .iter()
            .map(|(name, _, count)| ((*name).to_owned(), json!(count)))
            .collect();
        println!("{}", json!({ "counts": counts }));
        return;
    }
    for (_, what, count) in rows {
        println!("{count:>12} {what}");
    }
}
