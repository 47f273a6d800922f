//! The ORB of a server process, and the signals that end it.

use punctual::config::ConfigError;
use punctual::{InitError, Orb, OrbBuilder, OrbConfig};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::Problem;

/// Help text for endpoints at which the ORB cannot listen.
pub const ON_ENDPOINTS: &str = "an endpoint is protocol://place, e.g. iiop://:9000 or \
                                       uiop:///tmp/socket; `punctual protocols` lists the protocols";

/// Help text for invalid values in the ORB's configuration.
pub const ON_CONFIGURATION: &str =
    "see the configuration file; docs/guide/configuration.md lists the keys and their values";

const ON_SIGNALS: &str = "handlers of signals cannot be installed";

/// Returns the signals that end the process. To be called before anything else is started, so that
/// no signal is missed.
///
/// # Errors
/// The system handles no signals.
pub fn ending_signals() -> Result<Signals, Problem> {
    let signals = Signals::new([SIGINT, SIGTERM]);
    signals.map_err(|error| Problem::new(error, ON_SIGNALS))
}

/// Returns a flag that the same signals set.
///
/// # Errors
/// The system handles no signals.
pub(super) fn signal_flag() -> Result<Arc<AtomicBool>, Problem> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = signal_hook::flag::register(signal, flag.clone());
        registered.map_err(|error| Problem::new(error, ON_SIGNALS))?;
    }
    Ok(flag)
}

/// Starts an ORB that listens at these endpoints, configured by `defaults`, and then by a file if there is one.
///
/// # Errors
/// The configuration or an endpoint is wrong, or the endpoint is in use.
pub fn listening(
    endpoints: &[String],
    config: Option<&Path>,
    defaults: impl FnOnce(&mut OrbConfig),
) -> Result<Orb, Problem> {
    listening_with(prepared(endpoints, config, &[], defaults)?)
}

/// Starts an ORB that was prepared.
///
/// # Errors
/// An endpoint is in use.
pub(super) fn listening_with(prepared: OrbBuilder) -> Result<Orb, Problem> {
    prepared.build().map_err(|error| bad(&error))
}

/// Prepares an ORB as [`listening`] starts it, with `-ORB…` options behind the file.
///
/// # Errors
/// The configuration or the text of an endpoint is wrong.
pub(super) fn prepared(
    endpoints: &[String],
    config: Option<&Path>,
    orb_options: &[String],
    defaults: impl FnOnce(&mut OrbConfig),
) -> Result<OrbBuilder, Problem> {
    let mut builder = Orb::builder().configure(defaults);
    if let Some(file) = config {
        let read = builder.file(file);
        builder = read.map_err(|error| Problem::new(error, ON_CONFIGURATION))?;
    }
    let mut arguments = vec!["punctual".to_owned()];
    arguments.extend_from_slice(orb_options);
    for endpoint in endpoints {
        arguments.extend(["-ORBListenEndpoints".to_owned(), endpoint.clone()]);
    }
    let (builder, _) = builder.arguments(arguments).map_err(|error| bad(&error))?;
    Ok(builder)
}

fn bad(error: &InitError) -> Problem {
    Problem::new(error, help_for(error))
}

/// Returns the help text for an ORB that cannot be started. Its endpoints are from the command
/// line, most other values from the configuration file.
fn help_for(error: &InitError) -> &'static str {
    let is_of_endpoints = |key: &str| key == "listen" || key == "-ORBListenEndpoints";
    match error {
        InitError::Config(ConfigError::BadValue { key, .. }) if is_of_endpoints(key) => {
            ON_ENDPOINTS
        }
        InitError::Config(_) | InitError::RealTime(_) | InitError::WithoutPlugins(_) => {
            ON_CONFIGURATION
        }
        InitError::Tls(_) | InitError::Library(_) => ON_CONFIGURATION,
        _ => ON_ENDPOINTS,
    }
}
