//! Network element, or the management system of one: pushes alarms, the ends of alarms, and heartbeats into a channel.
//!
//! ```sh
//! alarm-element corbaloc::127.0.0.1:2809/NotifyEventChannelFactory raise port-1 LOS critical
//! ```

mod supplier;

use std::error::Error;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use clap::{Parser, Subcommand};
use punctual::Orb;
use punctual::config::parse_duration;
use punctual_example_alarms::exit::ended;
use punctual_example_alarms::{Form, Report, Severity, now};
use punctual_host::run::ending_signals;

use supplier::Supplier;

/// Most events of one push.
const BATCH: usize = 100;

/// Pushes alarms and heartbeats into a notification channel, as the management system of a network element does.
/// Options that begin with -ORB configure the ORB.
#[derive(Debug, Parser)]
#[command(name = "alarm-element")]
struct Options {
    /// Factory of channels: an `IOR:`, `corbaloc:` or `corbaname:` text, or `file://` with the path of a file that holds one.
    factory: String,
    /// Id of the channel.
    #[arg(long, value_name = "ID", default_value_t = 0)]
    channel: i32,
    /// Form of the events.
    #[arg(long, value_enum, default_value_t = Form::Tmf)]
    form: Form,
    /// Name of the management system.
    #[arg(long, default_value = "acme-ems")]
    system: String,
    /// Name of the network element.
    #[arg(long, default_value = "north")]
    element: String,
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Raise an alarm, or change it.
    Raise {
        object: String,
        cause: String,
        severity: Severity,
        /// Explanation for operators.
        #[arg(long, default_value = "")]
        text: String,
    },
    /// End an alarm.
    Clear { object: String, cause: String },
    /// Send heartbeats.
    Heartbeat {
        /// Number of heartbeats; without it, they go on.
        #[arg(long)]
        count: Option<u64>,
        /// Time between two.
        #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
        every: Duration,
    },
    /// Raise this number of alarms as fast as the channel takes them, and end every second one.
    Burst { count: u32 },
    /// Live for a while: an alarm comes, another ends, and a heartbeat follows each.
    Run {
        /// Number of turns; without it, they go on.
        #[arg(long)]
        turns: Option<u64>,
        /// Time between two.
        #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
        every: Duration,
    },
}

fn main() -> ExitCode {
    ended("alarm-element", run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let options = Options::parse_from(arguments);
    let supplier = Supplier::connected(&orb, &options.factory, options.channel)?;
    let mut element = Element {
        supplier,
        form: options.form,
        system: options.system,
        element: options.element,
        started: now(),
        count: 0,
    };
    element.act(&options.deed)?;
    element.supplier.disconnect();
    Ok(())
}

/// Element with a connection to the channel.
struct Element {
    supplier: Supplier,
    form: Form,
    system: String,
    element: String,
    /// Time of the start, which makes the ids of notifications unique.
    started: u64,
    count: u64,
}

impl Element {
    fn act(&mut self, deed: &Deed) -> Result<(), Box<dyn Error>> {
        match deed {
            Deed::Raise {
                object,
                cause,
                severity,
                text,
            } => self.report(&[(&**object, &**cause, *severity, &**text)]),
            Deed::Clear { object, cause } => {
                self.report(&[(&**object, &**cause, Severity::Cleared, "")])
            }
            Deed::Heartbeat { count, every } => turns(*count, *every, |_| self.beat()),
            Deed::Burst { count } => self.burst(*count),
            Deed::Run {
                turns: count,
                every,
            } => turns(*count, *every, |turn| self.live(turn)),
        }
    }

    fn burst(&mut self, count: u32) -> Result<(), Box<dyn Error>> {
        let objects: Vec<String> = (0..count).map(|number| format!("port-{number}")).collect();
        let raised = objects.iter().zip(Severity::ACTIVE.into_iter().cycle());
        let raised = raised.map(|(object, severity)| (&**object, "LOS", severity, "burst"));
        let second = objects.iter().step_by(2);
        let cleared = second.map(|object| (&**object, "LOS", Severity::Cleared, ""));
        let all: Vec<_> = raised.chain(cleared).collect();
        for some in all.chunks(BATCH) {
            self.report(some)?;
        }
        println!("{count} raised, {} cleared", count.div_ceil(2));
        Ok(())
    }

    fn live(&mut self, turn: u64) -> Result<(), Box<dyn Error>> {
        const CAUSES: [(&str, Severity); 4] = [
            ("LOS", Severity::Critical),
            ("BER_SD", Severity::Minor),
            ("AIS", Severity::Major),
            ("EMS", Severity::Warning),
        ];
        let at = |turn: u64| {
            let kind = usize::try_from(turn % 4).unwrap_or(0);
            (format!("port-{}", turn % 10), CAUSES[kind])
        };
        let (object, (cause, severity)) = at(turn);
        self.report(&[(&*object, cause, severity, "seen in the simulation")])?;
        if let Some(earlier) = turn.checked_sub(6) {
            let (object, (cause, _)) = at(earlier);
            self.report(&[(&*object, cause, Severity::Cleared, "")])?;
        }
        self.beat()
    }

    /// Pushes one report for each object, cause, severity and text.
    fn report(&mut self, what: &[(&str, &str, Severity, &str)]) -> Result<(), Box<dyn Error>> {
        let mut events = Vec::new();
        for &(object, cause, severity, text) in what {
            let report = Report {
                id: self.id(),
                system: self.system.clone(),
                element: self.element.clone(),
                object: object.to_owned(),
                cause: cause.to_owned(),
                severity,
                text: text.to_owned(),
                at: now(),
            };
            events.push(self.form.alarm(&report)?);
        }
        self.supplier.push(&events)
    }

    fn beat(&mut self) -> Result<(), Box<dyn Error>> {
        let id = self.id();
        let event = self.form.heartbeat(&self.system, &id, now())?;
        self.supplier.push(&[event])
    }

    fn id(&mut self) -> String {
        self.count += 1;
        format!("{:x}-{:x}-{}", self.started, std::process::id(), self.count)
    }
}

/// Does something so many times, or until a signal ends it, with a pause between two.
fn turns(
    count: Option<u64>,
    every: Duration,
    mut turn: impl FnMut(u64) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut signals = ending_signals()?;
    for number in 0..count.unwrap_or(u64::MAX) {
        if number > 0 {
            sleep(every);
        }
        if signals.pending().next().is_some() {
            break;
        }
        turn(number)?;
    }
    Ok(())
}
