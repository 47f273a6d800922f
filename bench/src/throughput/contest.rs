//! Measurement of the contenders of a kind, in turns.

use super::report::{Report, Row, rows};
use super::{Effort, Kind, Load};
use crate::Result;
use crate::attempts::{Unrest, calmest};
use crate::case::{Case, Operation};
use crate::contender::{Absent, Contender};
use crate::machine::Machine;
use crate::output::progress;
use crate::protocol::References;
use crate::running::{Launch, Running, in_turn};
use std::time::Duration;

/// Ratio of one-ways to two-way calls.
const ONE_WAYS: u32 = 5;

/// Measures these kinds by every contender that starts.
///
/// # Errors
/// A contender does not end as it should.
pub fn measure(
    contenders: &[Contender],
    absent: &[Absent],
    kinds: &[Kind],
    effort: Effort,
) -> Result<Report> {
    let left_out = |absent: &Absent| format!("{}: {}", absent.name, absent.reason);
    let mut report = Report {
        machine: Machine::this(),
        rounds: effort.rounds,
        calls: effort.calls,
        skipped: absent.iter().map(left_out).collect(),
        failed: Vec::new(),
        rows: Vec::new(),
    };
    let progress = progress(kinds.len());
    for &kind in kinds {
        progress.set_message(kind.to_string());
        match kind.launch() {
            Ok(launch) => contest(kind, &launch, contenders, effort, &mut report)?,
            Err(reason) => {
                let reason = reason.to_string();
                report.skip(format!("{}: {reason}", kind.heading()));
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(report)
}

/// Contender, and its rates in the current attempt.
pub(super) struct Entrant<'c> {
    pub(super) contender: &'c Contender,
    pub(super) running: Option<Running>,
    pub(super) rates: Vec<f64>,
}

fn contest(
    kind: Kind,
    launch: &Launch,
    contenders: &[Contender],
    effort: Effort,
    report: &mut Report,
) -> Result<()> {
    let mut entrants = Vec::new();
    for contender in contenders.iter().filter(|one| kind.suits(one)) {
        match contender.start(launch) {
            Ok(running) => entrants.push(Entrant {
                contender,
                running: Some(running),
                rates: Vec::new(),
            }),
            Err(reason) => report.skip(reason.to_string()),
        }
    }
    let attempt = || {
        all_rounds(kind, &mut entrants, effort, &mut report.failed);
        rows(kind, &entrants)
    };
    let unrest = |rows: &Vec<Row>| Unrest::of(rows.iter().map(|row| (row.spread, row.known)));
    let rows = calmest(effort.again, attempt, unrest);
    report.rows.extend(rows);
    let mut running = entrants.into_iter().filter_map(|entrant| entrant.running);
    running.try_for_each(Running::stop)
}

/// Runs all rounds of a kind. A contender that fails is out from then on.
fn all_rounds(kind: Kind, entrants: &mut [Entrant<'_>], effort: Effort, failed: &mut Vec<String>) {
    for entrant in &mut *entrants {
        entrant.rates.clear();
    }
    for round in 0..effort.rounds as usize {
        for who in in_turn(round, entrants.len()) {
            let entrant = &mut entrants[who];
            if let Err(error) = entrant.turn(kind, effort.calls) {
                failed.push(format!("{}: {kind}: {error}", entrant.contender.name));
                entrant.running = None;
            }
        }
    }
}

impl Entrant<'_> {
    fn turn(&mut self, kind: Kind, calls: u32) -> Result<()> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let each = match kind.load {
            Load::TwoWay => {
                let references = kind.references.unwrap_or(References::Shared);
                // Each thread makes an equal share.
                let whole = |calls: u32| calls.div_ceil(kind.threads) * kind.threads;
                running.flood(kind.threads, whole(calls.div_ceil(10)), references)?;
                let took = running.flood(kind.threads, whole(calls), references)?;
                took / whole(calls)
            }
            Load::OneWay | Load::Buffered => {
                let calls = calls.saturating_mul(ONE_WAYS);
                let ping = Case::plain(Operation::Ping);
                let samples = running.run(ping, calls.div_ceil(10), calls)?;
                Duration::from_nanos(samples.first().copied().unwrap_or_default())
            }
        };
        self.rates.push(1.0 / each.as_secs_f64().max(1e-9));
        Ok(())
    }
}
