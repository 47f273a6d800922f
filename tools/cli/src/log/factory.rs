//! Factories and logs, as commands use them.

use crate::call::{self, Problem};
use crate::shown;
use punctual::{Interface, NotNil, OperationError, SystemException};
use punctual_log::ds_log_admin::{
    AdministrativeState, BasicLogFactory, BasicLogFactoryCreateWithIdError, HALT, Log, LogId,
    LogMgr, OperationalState, WRAP,
};
use serde_json::{Value, json};
use std::path::PathBuf;

const ON_FACTORIES: &str = "FACTORY is the factory of a Telecom Log Service: an `IOR:`, `corbaloc:` or `corbaname:` text, or a \
                            file that holds one; `punctual log serve` starts one";

const ON_LOGS: &str = "`punctual log logs` lists the logs, and `punctual log create` makes one";

/// The service.
#[derive(Debug, clap::Args)]
pub(super) struct Factory {
    /// The factory of logs: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    factory: String,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The log.
#[derive(Debug, clap::Args)]
pub(super) struct OfFactory {
    #[command(flatten)]
    factory: Factory,
    /// Id of the log; `punctual log logs` lists them.
    #[arg(long = "log", value_name = "ID")]
    id: LogId,
}

/// A line for each log has its id, its records and octets, what it does when it is full, and what keeps it from taking
/// records.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    factory: Factory,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A log halts when it is full, unless it is to wrap.
#[derive(Debug, clap::Args)]
pub(crate) struct Create {
    #[command(flatten)]
    factory: Factory,
    /// Id of the log; without it, the service gives it one.
    #[arg(long, value_name = "ID")]
    id: Option<LogId>,
    /// Maximum size in octets; 0 is none.
    #[arg(long, value_name = "OCTETS", default_value_t = 0)]
    max_size: u64,
    /// Replace the oldest records when the log is full, instead of refusing new ones.
    #[arg(long)]
    wrap: bool,
    /// Delete records after so many seconds; 0 keeps them.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    life: u32,
}

/// Returns the problem of a call that has failed.
pub(super) fn failed<E: OperationError + std::fmt::Display>(error: E) -> Problem {
    match error.system() {
        Some(exception) => Problem::System(exception.clone(), Some(ON_FACTORIES.to_owned())),
        None => Problem::usage(shown::peer(error), ON_LOGS),
    }
}

impl Factory {
    fn resolve<I: Interface>(&self, orb_options: &[String]) -> Result<I, Problem> {
        let mut all: Vec<_> = ["-ORBCallTimeout", "30s"].map(str::to_owned).into();
        all.extend_from_slice(orb_options);
        let orb = call::orb(self.config.as_deref(), &all)?;
        let object = call::object_of(&orb, &self.factory)
            .map_err(|message| Problem::usage(message, ON_FACTORIES))?;
        I::narrow(object).map_err(failed)
    }
}

impl OfFactory {
    pub(super) fn resolve(&self, orb_options: &[String]) -> Result<Log, Problem> {
        let factory: LogMgr = self.factory.resolve(orb_options)?;
        let found = factory.find_log(self.id).map_err(failed)?;
        let absent = || Problem::usage(format!("the service has no log {}", self.id), ON_LOGS);
        found.ok_or_else(absent)
    }
}

/// Facts of a log that `punctual log logs` shows.
struct Facts {
    id: LogId,
    records: u64,
    octets: u64,
    max_size: u64,
    wraps: bool,
    /// What keeps it from taking records.
    states: Vec<&'static str>,
}

impl Facts {
    fn of(log: &Log) -> Result<Self, SystemException> {
        let status = log.get_availability_status()?;
        let is_locked = log.get_administrative_state()? == AdministrativeState::Locked;
        let is_disabled = log.get_operational_state()? == OperationalState::Disabled;
        let states = [
            (is_locked, "locked"),
            (is_disabled, "disabled"),
            (status.off_duty, "off duty"),
            (status.log_full, "full"),
        ];
        Ok(Self {
            id: log.id()?,
            records: log.get_n_records()?,
            octets: log.get_current_size()?,
            max_size: log.get_max_size()?,
            wraps: log.get_log_full_action()? == WRAP,
            states: states
                .into_iter()
                .filter_map(|(holds, state)| holds.then_some(state))
                .collect(),
        })
    }

    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "records": self.records,
            "octets": self.octets,
            "max_size": self.max_size,
            "wraps": self.wraps,
            "states": self.states,
        })
    }

    fn line(&self) -> String {
        let most = match self.max_size {
            0 => String::new(),
            most => format!(" of {most}"),
        };
        let action = if self.wraps { "wraps" } else { "halts" };
        let mut line = format!(
            "{}: {} records, {} octets{most}, {action}",
            self.id, self.records, self.octets
        );
        for state in &self.states {
            line = format!("{line}, {state}");
        }
        line
    }
}

pub(super) fn list(options: &List, orb_options: &[String]) -> Result<(), Problem> {
    let factory: LogMgr = options.factory.resolve(orb_options)?;
    for log in factory.list_logs().map_err(failed)? {
        let facts = Facts::of(&log.not_nil().map_err(failed)?).map_err(failed)?;
        match options.json {
            true => println!("{}", facts.json()),
            false => println!("{}", facts.line()),
        }
    }
    Ok(())
}

pub(super) fn create(options: &Create, orb_options: &[String]) -> Result<(), Problem> {
    let factory: BasicLogFactory = options.factory.resolve(orb_options)?;
    let action = if options.wrap { WRAP } else { HALT };
    let created = match options.id {
        None => factory.create(action, options.max_size).map_err(failed)?.0,
        Some(id) => {
            let created = factory.create_with_id(id, action, options.max_size);
            created.map_err(|error| match error {
                BasicLogFactoryCreateWithIdError::LogIdAlreadyExists(_) => {
                    Problem::usage(format!("the service has a log {id} already"), ON_LOGS)
                }
                other => failed(other),
            })?
        }
    };
    let log = created.not_nil().map_err(failed)?;
    if options.life > 0 {
        log.set_max_record_life(options.life).map_err(failed)?;
    }
    println!("{}", log.id().map_err(failed)?);
    Ok(())
}
