//! Busy clients, whose latency is measured.

use super::CALL;
use super::report::Phase;
use crate::Result;
use crate::giop::{Connection, Target};
use crate::statistics::{Record, median};
use std::time::{Duration, Instant};

/// Number of parts into which a phase is divided. A phase's figures are the medians, over its
/// parts, of the parts' medians and 99th percentiles, so that a disturbance of the machine in one
/// part has no effect.
const PARTS: u32 = 10;

/// Clients that make calls in turn, each on a connection of its own.
pub(super) struct Busy<'t> {
    target: &'t Target,
    connections: Vec<Connection>,
    calls: u32,
}

impl<'t> Busy<'t> {
    /// Opens all connections, and makes a call on each.
    pub(super) fn connect(target: &'t Target, number: u32) -> Result<Self> {
        let mut busy = Self {
            target,
            connections: Vec::new(),
            calls: 0,
        };
        for _ in 0..number {
            busy.connections.push(target.connect()?);
        }
        for connection in &mut busy.connections {
            connection.call(target, 1, CALL)?;
        }
        Ok(busy)
    }

    /// Makes calls for `length`. A call that fails is counted as lost, and its connection replaced.
    pub(super) fn run(&mut self, name: &'static str, length: Duration) -> Result<Phase> {
        let mut record = Record::default();
        let mut lost = 0;
        for _ in 0..PARTS {
            let mut samples = Vec::new();
            lost += self.call_for(length / PARTS, &mut samples)?;
            record.add_round(&samples);
        }
        let figures = record.figures().ok_or("no call was answered")?;
        Ok(Phase {
            name,
            calls: figures.samples,
            lost,
            p50: median(record.medians()).unwrap_or_default(),
            p99: median(record.p99s()).unwrap_or_default(),
            p999: figures.p999,
            max: figures.max,
        })
    }

    /// Makes calls for `length`, and returns how many were lost.
    fn call_for(&mut self, length: Duration, samples: &mut Vec<u64>) -> Result<u64> {
        let began = Instant::now();
        let number = self.connections.len();
        let mut lost = 0;
        // Each connection has at least one turn.
        for turn in 0.. {
            if turn >= number && began.elapsed() >= length {
                break;
            }
            self.calls = self.calls.wrapping_add(1);
            let connection = &mut self.connections[turn % number];
            let called = Instant::now();
            match connection.call(self.target, self.calls, CALL) {
                Ok(()) => {
                    samples.push(u64::try_from(called.elapsed().as_nanos()).unwrap_or(u64::MAX));
                }
                Err(_) => {
                    lost += 1;
                    *connection = self.target.connect()?;
                }
            }
        }
        Ok(lost)
    }
}
