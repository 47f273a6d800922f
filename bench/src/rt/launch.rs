//! `rt launch`: whether launch times (`SO_TXTIME`) keep the jitter of a thread off its periodic one-ways.
//!
//! A thread in one network namespace sends a one-way in each period, late by a random time, as a `diop` datagram; the server
//! in the other notes when each arrives. Jitter is how far the time between two arrivals is from the period. Both clocks
//! are one machine's, so that no clock adds to it.

use super::network::{Hosts, Rules, SERVER, Side, Way};
use crate::Result;
use crate::experiment::{Column, Experiment, Report, Row, Tabled};
use crate::oneway::idl::one_way::{Worker, WorkerServant};
use crate::output::Json;
use crate::peer::nanoseconds;
use crate::statistics::Record;
use clap::Args;
use punctual::{Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride, SystemException};
use punctual_sys::clock;
use punctual_sys::traffic::LaunchClock;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "rt launch",
    "whether launch times keep a thread's jitter off its periodic one-ways",
)
.conditions("two network namespaces, SCHED_OTHER")
.tables(&[Tabled::listing(
    "rows",
    "µs by which the time between two arrivals differs from the period of {period} ms; the thread sends up to {late} µs late",
    "{case}",
    &[
        Column::micros("median", "jitter.p50").decimals(0),
        Column::micros("p99", "jitter.p99").decimals(0),
        Column::micros("max", "jitter.max").decimals(0),
        Column::number("lost", "lost").decimals(0),
    ],
)]);

/// Options of the command `rt launch`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Period of the one-ways, in milliseconds.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=1_000))]
    period: u64,
    /// Time by which the thread is late at most, in microseconds.
    #[arg(long, default_value_t = 800, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    late: u64,
    /// One-ways of each case.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    calls: u32,
    #[command(flatten)]
    json: Json,
}

/// Case: rules of the device, and the clock of launch times.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    rules: Rules,
    clock: Option<LaunchClock>,
}

const CASES: [Case; 4] = [
    Case {
        name: "without launch times",
        rules: Rules::Plain,
        clock: None,
    },
    Case {
        name: "launch_clock=monotonic, device that ignores launch times",
        rules: Rules::Plain,
        clock: Some(LaunchClock::Monotonic),
    },
    Case {
        name: "launch_clock=monotonic, fq",
        rules: Rules::Launch,
        clock: Some(LaunchClock::Monotonic),
    },
    Case {
        name: "launch_clock=tai, etf in a queue of mqprio",
        rules: Rules::LaunchTai,
        clock: Some(LaunchClock::Tai),
    },
];

/// What one side of a case does, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Task {
    /// Serve until standard input ends, then print what has arrived.
    Serve,
    Send {
        reference: String,
        properties: Vec<(String, String)>,
        by_tai: bool,
        calls: u32,
        period: Duration,
        late: Duration,
    },
}

/// Options of one side, as the experiment itself starts it.
#[derive(Clone, Debug, Args)]
pub struct SideOptions {
    /// The side's task, as JSON.
    task: String,
}

/// Number and time of each one-way that has arrived, in nanoseconds of the monotonic clock.
type Arrivals = Vec<(u64, u64)>;

/// Runs the command.
///
/// # Errors
/// There are no network namespaces here, or a side fails.
pub(super) fn run(options: &Options) -> Result<()> {
    let (period, late) = (
        Duration::from_millis(options.period),
        Duration::from_micros(options.late),
    );
    if late + LEAD >= period {
        return Err("the thread is to be late by less than the period and a lead of 1 ms".into());
    }
    let hosts = Hosts::new()?;
    let settings = Row::default()
        .with("period", options.period)
        .with("late", options.late)
        .with("calls", options.calls);
    let mut report = Report::new(&EXPERIMENT, settings);
    let way = Way {
        rate: 0,
        delay: 0,
        loss: 0,
    };
    for case in CASES {
        if let Err(why) = hosts.set_rules(case.rules, &way) {
            // A kernel has some of the disciplines.
            eprintln!("`{}` is left out: {why}", case.name);
            continue;
        }
        let arrivals = measure(&hosts, &case, options, (period, late))?;
        let mut record = Record::default();
        record.add_round(&jitter(arrivals.get(COLD..).unwrap_or_default(), period));
        let figures = record.figures().ok_or("no two one-ways have arrived")?;
        let lost = u64::from(options.calls).saturating_sub(arrivals.len() as u64);
        let row = Row::default()
            .with("case", case.name)
            .with("jitter", Row::default().with_figures(&figures))
            .with("lost", lost);
        report.add("rows", [row]);
    }
    options.json.deliver(&report)
}

/// Number of one-ways that find code and connections cold.
const COLD: usize = 5;

/// Lead of the launch times: more than the `delta` of `etf`.
const LEAD: Duration = Duration::from_millis(1);

fn measure(
    hosts: &Hosts,
    case: &Case,
    options: &Options,
    (period, late): (Duration, Duration),
) -> Result<Arrivals> {
    let mut server = Side::start(&hosts.server, "launch-side", &Task::Serve)?;
    let reference = server.line()?;
    let mut properties = Vec::new();
    if let Some(clock) = case.clock {
        let clock = match clock {
            LaunchClock::Tai => "tai",
            LaunchClock::Monotonic => "monotonic",
        };
        for (name, value) in [
            ("launch_period_us", (options.period * 1_000).to_string()),
            ("launch_lead_us", LEAD.as_micros().to_string()),
            ("launch_clock", clock.to_owned()),
            ("socket_priority", "6".to_owned()),
        ] {
            properties.push((name.to_owned(), value));
        }
    }
    let send = Task::Send {
        reference,
        properties,
        by_tai: case.clock == Some(LaunchClock::Tai),
        calls: options.calls,
        period,
        late,
    };
    let mut client = Side::start(&hosts.client, "launch-side", &send)?;
    client.line()?;
    client.stop()?;
    // The last datagrams are on their way for a period at most.
    std::thread::sleep(4 * period);
    server.end_input();
    let arrivals = server.line()?;
    Ok(serde_json::from_str(&arrivals)
        .map_err(|error| format!("the server of `{}` said {arrivals:?}: {error}", case.name))?)
}

/// Returns by how many nanoseconds the time between each two successive one-ways is not the period.
fn jitter(arrivals: &[(u64, u64)], period: Duration) -> Vec<u64> {
    let pairs = arrivals.windows(2).filter_map(|pair| match *pair {
        [(first, at), (second, later)] if second == first + 1 => Some(later.saturating_sub(at)),
        _ => None,
    });
    pairs
        .map(|between| between.abs_diff(nanoseconds(period)))
        .collect()
}

/// Runs one side.
///
/// # Errors
/// The task cannot be read, or a call fails.
pub(super) fn run_side(options: &SideOptions) -> Result<()> {
    let mut output = std::io::stdout();
    let task = serde_json::from_str(&options.task)?;
    match task {
        Task::Serve => {
            let endpoint = format!("giop_oneway+diop://{SERVER}:7003");
            let endpoint: ListenEndpoint = endpoint.parse()?;
            let orb = Orb::builder().listen(endpoint).build()?;
            let root = orb.root_poa()?;
            root.manager().activate()?;
            let notes = Arc::new(Notes::default());
            let worker: Worker = root.activate(notes.clone())?;
            writeln!(output, "{}", orb.object_to_string(worker.as_object())?)?;
            output.flush()?;
            std::io::stdin().read_to_end(&mut Vec::new())?;
            let arrivals = notes.0.lock().map_err(|_| "a servant has panicked")?;
            writeln!(output, "{}", serde_json::to_string(&*arrivals)?)?;
        }
        task @ Task::Send { .. } => {
            send(task)?;
            writeln!(output, "sent")?;
        }
    }
    Ok(())
}

fn send(task: Task) -> Result<()> {
    let Task::Send {
        reference,
        properties,
        by_tai,
        calls,
        period,
        late,
    } = task
    else {
        return Err("nothing to send".into());
    };
    let orb = Orb::builder().build()?;
    let policies: Vec<Policy> = properties
        .iter()
        .map(|(name, value)| Policy::link_property("diop", name, value))
        .collect();
    let object = orb.string_to_object(&reference)?;
    let object = object.set_policy_overrides(&policies, SetOverride::Add)?;
    let worker = Worker::from_object(object);
    // The release is at a multiple of the period of the clock by which the device sends.
    let now = || match by_tai {
        true => LaunchClock::Tai.now(),
        false => LaunchClock::Monotonic.now(),
    };
    let (period, late) = (nanoseconds(period), nanoseconds(late));
    let mut release = now()?.div_ceil(period) * period + period;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for number in 0..u64::from(calls) {
        let at = release + random.below(late + 1);
        std::thread::sleep(Duration::from_nanos(at.saturating_sub(now()?)));
        worker.work(&number.to_be_bytes())?;
        release += period;
    }
    Ok(())
}

/// Numbers that look random, the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Servant that notes when each one-way arrives.
#[derive(Default)]
struct Notes(Mutex<Arrivals>);

impl WorkerServant for Notes {
    fn work(&self, values: &[u8]) -> std::result::Result<(), SystemException> {
        let at = clock::nanos();
        if let (Ok(mut arrivals), Ok(number)) = (self.0.lock(), values.try_into()) {
            arrivals.push((u64::from_be_bytes(number), at));
        }
        Ok(())
    }

    fn work_and_reply(&self, values: &[u8]) -> std::result::Result<(), SystemException> {
        self.work(values)
    }

    fn served(&self) -> std::result::Result<u64, SystemException> {
        Ok(self.0.lock().map_or(0, |arrivals| arrivals.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_of_successive_one_ways_and_not_across_a_loss() {
        let period = Duration::from_nanos(100);
        let arrivals = [(0, 1_000), (1, 1_090), (2, 1_200), (4, 1_390), (5, 1_495)];
        assert_eq!(jitter(&arrivals, period), [10, 10, 5]);
    }

    #[test]
    fn random_times_are_below_their_limit_and_differ() {
        let mut random = Random(1);
        let times: Vec<u64> = (0..100).map(|_| random.below(1_000)).collect();
        assert!(times.iter().all(|time| *time < 1_000));
        assert!(times.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
