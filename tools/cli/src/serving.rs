//! What the commands have in common that run as servers until they are interrupted.

use punctual::{ConfigError, InitError, Orb};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::path::Path;

/// What went wrong, and what the next step may be.
pub(crate) type Problem = (String, &'static str);

pub(crate) const ON_ENDPOINTS: &str = "an endpoint is protocol://place, e.g. iiop://:9000 or \
                                       uiop:///tmp/socket; `punctual protocols` lists the protocols";

/// What there is to say to a value that the ORB's configuration cannot have.
pub(crate) const ON_CONFIGURATION: &str =
    "see the configuration file; docs/guide/configuration.md says what each key may be";

/// Signals that end the program. To be asked for before anything is begun, so that none is missed.
pub(crate) fn ending_signals() -> Result<Signals, Problem> {
    Signals::new([SIGINT, SIGTERM])
        .map_err(|error| (error.to_string(), "the system handles no signals"))
}

/// An ORB that listens at these endpoints, configured by a file if there is one.
pub(crate) fn listening(endpoints: &[String], config: Option<&Path>) -> Result<Orb, Problem> {
    let mut builder = Orb::builder();
    if let Some(file) = config {
        let read = builder.file(file);
        builder = read.map_err(|error| (error.to_string(), ON_CONFIGURATION))?;
    }
    let mut arguments = vec!["punctual".to_owned()];
    for endpoint in endpoints {
        arguments.extend(["-ORBListenEndpoints".to_owned(), endpoint.clone()]);
    }
    let bad = |error: InitError| (error.to_string(), help_for(&error));
    let (builder, _) = builder.arguments(arguments).map_err(bad)?;
    builder.build().map_err(bad)
}

/// What there is to say to an ORB that does not start. Its endpoints are from the command line, the rest is from the file.
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

/// Writes a reference to a file for others to call by.
pub(crate) fn write_reference(path: &Path, reference: &str) -> Result<(), Problem> {
    write_whole(path, reference).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        (message, "name a file in a folder that can be written to")
    })
}

/// Whoever waits for the file sees all of it or nothing: it is written beside and then renamed.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    writeln!(file, "{text}")?;
    file.persist(path)?;
    Ok(())
}
