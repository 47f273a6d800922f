//! Builds operations: checks the values of their tables against one another.

use super::build::Builder;
use super::names::LONGEST_NAME;
use super::{Call, ExecutionTimes, Kind, Operation, file};
use crate::analysis::Preemption;
use crate::analysis::blocking::CriticalSection;
use crate::time::Time;
use toml::Spanned;

impl Builder {
    /// Makes an operation of its table; notes the faults.
    pub(super) fn operation(
        &mut self,
        name: &Spanned<String>,
        table: &file::Operation,
    ) -> Operation {
        if name.as_ref().chars().any(char::is_control) || name.as_ref().len() > LONGEST_NAME {
            let message =
                format!("a name has up to {LONGEST_NAME} bytes, and no control characters");
            self.fault(message, name.span(), "not a name");
        }
        let host = match &table.host {
            Some(host) => self.resolve(host, "host", |builder| &builder.host_names),
            None => self.only_host(name),
        };
        let times = self.execution_times(name, table);
        Operation {
            name: name.as_ref().clone(),
            times,
            period: self.above_zero(table.period.as_ref(), "period"),
            rates: self.longer(table, "rates", &table.rates),
            degraded: self.longer(table, "degraded", &table.degraded),
            deadline: self.deadline(table, times.worst),
            offset: table.offset.unwrap_or_default(),
            jitter: table.jitter.unwrap_or_default(),
            criticality: table.criticality.unwrap_or_default(),
            importance: table.importance.unwrap_or_default(),
            threads: table.threads.unwrap_or_default(),
            host,
            processor: self.processor(table.processor.as_ref(), host),
            kind: table.kind,
            preemption: self.preemption(name, table, times.worst),
            calls: table.calls.iter().map(|call| self.call(call)).collect(),
            sections: self.sections(&table.locks, times.worst),
            place: name.span(),
        }
    }

    fn only_host(&mut self, name: &Spanned<String>) -> usize {
        if self.hosts.len() > 1 {
            let message = format!(
                "operation `{}` has no host, and there are several",
                name.as_ref()
            );
            self.fault(message, name.span(), "add the key `host`");
        }
        0
    }

    fn execution_times(
        &mut self,
        name: &Spanned<String>,
        table: &file::Operation,
    ) -> ExecutionTimes {
        let is_operation = table.kind == Kind::Operation;
        let worst = match &table.wcet {
            Some(wcet) if is_operation => {
                self.above_zero(Some(wcet), "worst-case execution time");
                *wcet.as_ref()
            }
            Some(wcet) => *wcet.as_ref(),
            None => {
                if is_operation {
                    let message = format!("operation `{}` has no `wcet`", name.as_ref());
                    self.fault(message, name.span(), "add its worst-case execution time");
                }
                Time::ZERO
            }
        };
        for time in [&table.typical, &table.cached].into_iter().flatten() {
            if *time.as_ref() > worst {
                let message =
                    format!("the worst-case execution time, {worst}, is shorter than this one");
                self.fault(message, time.span(), "longer than `wcet`");
            }
        }
        let value = |time: &Option<Spanned<Time>>| time.as_ref().map(|time| *time.as_ref());
        ExecutionTimes {
            worst,
            typical: value(&table.typical),
            cached: value(&table.cached),
        }
    }

    fn above_zero(&mut self, time: Option<&Spanned<Time>>, what: &str) -> Option<Time> {
        let time = time?;
        if time.as_ref().is_zero() {
            self.fault(format!("a {what} is above zero"), time.span(), "zero");
        }
        Some(*time.as_ref())
    }

    /// Checks that the longer periods of a key rise from the operation's own.
    fn longer(
        &mut self,
        table: &file::Operation,
        key: &str,
        longer: &[Spanned<Time>],
    ) -> Vec<Time> {
        let Some(period) = &table.period else {
            if let Some(first) = longer.first() {
                let message = "an operation without a period has no longer ones";
                self.fault(message, first.span(), "add the key `period`");
            }
            return Vec::new();
        };
        let mut before = *period.as_ref();
        for one in longer {
            if *one.as_ref() <= before {
                let message = format!("periods of `{key}` rise: {before} comes before this one");
                self.fault(message, one.span(), "not longer");
            }
            before = *one.as_ref();
        }
        longer.iter().map(|one| *one.as_ref()).collect()
    }

    fn deadline(&mut self, table: &file::Operation, worst: Time) -> Option<Time> {
        let key = table.deadline.as_ref().or(table.period.as_ref())?;
        if *key.as_ref() < worst && !key.as_ref().is_zero() {
            let what = if table.deadline.is_some() {
                "deadline"
            } else {
                "period"
            };
            let message =
                format!("the worst-case execution time, {worst}, is longer than the {what}");
            self.fault(message, key.span(), "shorter than `wcet`");
        }
        self.above_zero(table.deadline.as_ref(), "deadline")
    }

    fn processor(&mut self, number: Option<&Spanned<u32>>, host: usize) -> Option<usize> {
        let number = number?;
        let at = usize::try_from(*number.as_ref()).unwrap_or(usize::MAX);
        let there = &self.hosts[host];
        if at >= there.processors {
            let message = format!(
                "host `{}` has no processor {at}: it has {}, counted from 0",
                there.name, there.processors
            );
            self.fault(message, number.span(), "no such processor");
        }
        Some(at)
    }

    fn preemption(
        &mut self,
        name: &Spanned<String>,
        table: &file::Operation,
        worst: Time,
    ) -> Preemption {
        let is_none = table.preemption == file::Preemption::None;
        match (is_none, &table.segments, &table.section) {
            (false, None, None) => Preemption::Full,
            (true, None, None) => Preemption::None,
            (false, Some(segments), None) => {
                let place = segments.span();
                let file::Segments { longest, last } = *segments.as_ref();
                if longest > worst || last > longest || last.is_zero() {
                    let message = "segments: 0 < `last` <= `longest` <= `wcet`";
                    self.fault(message, place, "out of bounds");
                }
                Preemption::Segments { longest, last }
            }
            (false, None, Some(section)) => {
                let longest = *section.as_ref();
                self.above_zero(Some(section), "section without preemption");
                if longest > worst {
                    let message = "a section without preemption is no longer than `wcet`";
                    self.fault(message, section.span(), "longer than `wcet`");
                }
                Preemption::Floating { longest }
            }
            _ => {
                let message = format!(
                    "operation `{}` has more than one of `preemption`, `segments`, `section`",
                    name.as_ref()
                );
                self.fault(message, name.span(), "keep one of them");
                Preemption::Full
            }
        }
    }

    fn call(&mut self, call: &file::Call) -> Call {
        let times = call.times.as_ref();
        if let Some(times) = times.filter(|times| *times.as_ref() == 0) {
            self.fault(
                "an operation that is called is called once at least",
                times.span(),
                "zero",
            );
        }
        Call {
            operation: self.resolve(&call.operation, "operation", |builder| {
                &builder.operation_names
            }),
            times: times.map_or(1, |times| u64::from(*times.as_ref())),
            two_way: call.kind == file::CallKind::TwoWay,
            place: call.operation.span(),
        }
    }

    fn sections(&mut self, locks: &[file::Lock], worst: Time) -> Vec<CriticalSection> {
        let mut sections = Vec::new();
        for lock in locks {
            let mutex = self.resolve(&lock.mutex, "mutex", |builder| &builder.mutex_names);
            let length = *lock.time.as_ref();
            if length.is_zero() {
                self.fault("a critical section is above zero", lock.time.span(), "zero");
            } else if length > worst {
                let message = format!(
                    "a critical section is no longer than `wcet`, {worst}: a mutex held across a call is not analysed"
                );
                self.fault(message, lock.time.span(), "too long");
            }
            sections.push(CriticalSection { mutex, length });
        }
        sections
    }
}
