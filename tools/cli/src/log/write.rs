//! `punctual log write`: records from a shell.

use super::factory::{OfFactory, failed};
use crate::call::Problem;
use crate::json_value::{JsonValue, NamedValue};
use punctual_log::ds_log_admin::{LogFull, LogRecord, LogWriteRecordlistError, NvPair};

/// Values are JSON as `punctual call` has it: `{"type": "string", "value": "open"}`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    log: OfFactory,
    /// Content of a record, as JSON. May be given more than once.
    #[arg(long = "info", value_name = "JSON", required = true)]
    infos: Vec<JsonValue>,
    /// Attribute that each of the records gets, with a value as JSON: `site={"type": "string", "value": "Ulm"}`. May be given
    /// more than once.
    #[arg(long = "attribute", value_name = "NAME=JSON")]
    attributes: Vec<NamedValue>,
}

const ON_STATES: &str = "`punctual log logs` shows the states of logs";

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let attributes = options.attributes.iter().cloned();
    let attr_list: Vec<_> = attributes
        .map(|NamedValue { name, value }| NvPair { name, value })
        .collect();
    let records = options
        .infos
        .iter()
        .cloned()
        .map(|JsonValue(info)| LogRecord {
            attr_list: attr_list.clone(),
            info,
            ..LogRecord::default()
        });
    let records: Vec<_> = records.collect();
    let log = options.log.resolve(orb_options)?;
    log.write_recordlist(&records).map_err(|error| {
        let reason = match &error {
            LogWriteRecordlistError::LogFull(LogFull { n_records_written }) => {
                let all = records.len();
                format!("the log is full: {n_records_written} of {all} records are written")
            }
            LogWriteRecordlistError::LogOffDuty(_) => "the log is off duty".to_owned(),
            LogWriteRecordlistError::LogLocked(_) => "the log is locked".to_owned(),
            LogWriteRecordlistError::LogDisabled(_) => {
                "the log is disabled: its store has failed".to_owned()
            }
            LogWriteRecordlistError::System(_) => return failed(error),
        };
        Problem::usage(reason, ON_STATES)
    })
}
