//! `punctual ior`: contents of an object reference.

mod check;
mod report;
mod text;

use crate::fail;
use crate::shown;
use crate::time::with_unit;
use check::Answer;
use punctual_host::run::ON_CONFIGURATION;
use punctual_ior::{Corbaloc, Corbaname, Ior};
use punctual_reference::Facts;
use report::Shown;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// A reference is an `IOR:`, a `corbaloc:` or a `corbaname:` text (of which the context is shown), the path of a file that holds one, a `file://`
/// URL, or `-` for standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Try to connect to each endpoint: TCP and TLS ports, Unix sockets, shared memory. The exit status is
    /// 1 if a reference has none that does.
    #[arg(long)]
    check: bool,
    /// With --check: how long to try each endpoint, e.g. 200ms or 2s.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = with_unit, requires = "check")]
    timeout: Duration,
    /// With --check: a configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE", requires = "check")]
    config: Option<PathBuf>,
    /// The references; without any, one is read from standard input.
    #[arg(value_name = "REFERENCE", default_value = "-")]
    references: Vec<String>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let orb = match options.check.then(|| check::orb(options.config.as_deref())) {
        None => None,
        Some(Ok(orb)) => Some(orb),
        Some(Err(problem)) => return fail(problem, Some(ON_CONFIGURATION)),
    };
    let mut all = Vec::new();
    for reference in &options.references {
        match read(reference).and_then(|text| decoded(&text)) {
            Ok((facts, ior)) => {
                let endpoints = orb
                    .as_ref()
                    .map(|orb| check::all(orb, &ior, options.timeout));
                all.push(Shown { facts, endpoints });
            }
            Err(problem) => {
                let help =
                    "a reference begins with `IOR:` or `corbaloc:`; a file holds one of these";
                return fail(shown::peer(problem), Some(help));
            }
        }
    }
    if options.json {
        let json = match all.as_slice() {
            [one] => serde_json::to_string_pretty(one),
            all => serde_json::to_string_pretty(all),
        };
        match json {
            Ok(json) => println!("{}", shown::json(json)),
            Err(error) => return fail(error, None),
        }
    } else {
        for shown in &all {
            text::print(shown);
        }
    }
    let is_out_of_reach = |shown: &Shown| match &shown.endpoints {
        Some(endpoints) => !endpoints.iter().any(|one| one.reached == Answer::Yes),
        None => false,
    };
    match all.iter().any(is_out_of_reach) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Returns the text of a reference: the argument itself, or the contents of the file that it names.
/// Either may be in JSON form, as `punctual call` prints it.
pub(crate) fn read(reference: &str) -> Result<String, String> {
    if reference == "-" {
        let mut text = String::new();
        let read = std::io::stdin().take(MAX_TEXT).read_to_string(&mut text);
        return read
            .map(|_| of_json(&text).unwrap_or(text))
            .map_err(|error| format!("standard input: {error}"));
    }
    let reference = &of_json(reference).unwrap_or_else(|| reference.to_owned());
    if is_reference(reference) {
        return Ok(reference.to_owned());
    }
    let path = reference.strip_prefix("file://").unwrap_or(reference);
    let read = || {
        let mut text = String::new();
        std::fs::File::open(Path::new(path))?
            .take(MAX_TEXT)
            .read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    let read = read().map(|text| of_json(&text).unwrap_or(text));
    read.map_err(|error| {
        let shown: String = path.chars().take(60).collect();
        format!("`{shown}` is neither a reference nor a readable file: {error}")
    })
}

/// Returns a reference that was printed as JSON: the text in its quotes, or nil for `null`.
fn of_json(text: &str) -> Option<String> {
    match serde_json::from_str(text.trim()).ok()? {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Null => Some(Ior::nil().to_string()),
        _ => None,
    }
}

/// Upper bound of the length of a reference's text, in bytes.
const MAX_TEXT: u64 = 16 << 20;

fn is_reference(text: &str) -> bool {
    ["ior:", "corbaloc:", "corbaname:"].iter().any(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Decodes a text into its facts and its reference; the latter is nil for an initial reference.
fn decoded(text: &str) -> Result<(Facts, Ior), String> {
    let text = text.trim();
    if text
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("ior:"))
    {
        let ior: Ior = text.parse().map_err(|error| format!("{error}"))?;
        return Ok((Facts::of_ior(&ior), ior));
    }
    if !is_reference(text) {
        let shown: String = text.chars().take(40).collect();
        return Err(format!("`{shown}` is not an object reference"));
    }
    // A name is not resolved here: the location of its context is shown.
    let location = match text.get(.."corbaname:".len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case("corbaname:") => text
            .parse()
            .map(|url: Corbaname| url.context)
            .map_err(|error| error.to_string()),
        _ => text.parse::<Corbaloc>().map_err(|error| error.to_string()),
    };
    let location = location.map_err(|error| format!("`{text}`: {error}"))?;
    let ior = location
        .to_ior()
        .map_err(|error| format!("`{text}`: {error}"))?;
    Ok(match ior {
        Some(ior) => (Facts::of_ior(&ior), ior),
        None => (Facts::of_initial_reference(&location.key), Ior::nil()),
    })
}
