//! `punctual log query`: records as lines of JSON.

use super::factory::{OfFactory, failed};
use crate::call::Problem;
use crate::notify::refusal;
use crate::{payload, shown};
use punctual::Any;
use punctual_log::ds_log_admin::{
    DEFAULT_GRAMMAR, Iterator, LogMatchError, LogQueryError, LogRecord,
};
use std::io::Write;

/// A record's `time` is in units of 100 ns since 15 October 1582.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    log: OfFactory,
    /// Constraint that the records meet: `$.id > 3 and $site == 'Ulm'`. It sees `id`, `time`, `info`, and attributes by
    /// their names. Without it, all records are printed.
    #[arg(long, value_name = "CONSTRAINT", default_value = "")]
    filter: String,
    /// Grammar of the constraint: `EXTENDED_TCL` or `TCL`.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_GRAMMAR)]
    grammar: String,
    /// Print only the number of records.
    #[arg(long)]
    count: bool,
}

const ON_CONSTRAINTS: &str = "a constraint is in the extended Trader Constraint Language, e.g. `$.id > 3 and $site == 'Ulm'`";

const ON_GRAMMARS: &str = "the service knows `EXTENDED_TCL` and `TCL`";

/// Records that an iterator is asked for at a time.
const BATCH: u32 = 500;

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let log = options.log.resolve(orb_options)?;
    if options.count {
        let count = log.r#match(&options.grammar, &options.filter);
        println!(
            "{}",
            count.map_err(|error| refused(options, of_query(error)))?
        );
        return Ok(());
    }
    let (records, rest) = log
        .query(&options.grammar, &options.filter)
        .map_err(|error| refused(options, error))?;
    let is_read = print(&records).is_ok();
    match rest {
        Some(rest) => {
            if is_read {
                print_rest(&rest, records.len())?;
            }
            rest.destroy().map_err(failed)
        }
        None => Ok(()),
    }
}

/// Returns the error of `match` as the one of `query`, which has the same reasons.
fn of_query(error: LogMatchError) -> LogQueryError {
    match error {
        LogMatchError::InvalidGrammar(reason) => reason.into(),
        LogMatchError::InvalidConstraint(reason) => reason.into(),
        LogMatchError::System(exception) => exception.into(),
    }
}

fn refused(options: &Options, error: LogQueryError) -> Problem {
    match error {
        LogQueryError::InvalidGrammar(_) => {
            let grammar = shown::peer(&options.grammar);
            Problem::usage(
                format!("the service has no grammar `{grammar}`"),
                ON_GRAMMARS,
            )
        }
        LogQueryError::InvalidConstraint(_) => {
            Problem::usage(refusal(&options.grammar, &options.filter), ON_CONSTRAINTS)
        }
        other => failed(other),
    }
}

/// Prints the records behind those of the reply, until there is none, or the reader of the lines has gone.
fn print_rest(rest: &Iterator, printed: usize) -> Result<(), Problem> {
    let mut position = u32::try_from(printed).unwrap_or(u32::MAX);
    loop {
        let records = rest.get(position, BATCH).map_err(failed)?;
        if records.is_empty() || print(&records).is_err() {
            return Ok(());
        }
        position = position.saturating_add(u32::try_from(records.len()).unwrap_or(u32::MAX));
    }
}

fn print(records: &[LogRecord]) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    records
        .iter()
        .try_for_each(|record| writeln!(out, "{}", line(record)))
}

fn line(record: &LogRecord) -> String {
    let json = Any::new(record).map_err(|error| error.to_string());
    match json.and_then(|any| payload::json(&any)) {
        Ok(json) => shown::json(json.get()),
        Err(error) => format!("{{\"error\": {}}}", serde_json::Value::from(error.as_str())),
    }
}
