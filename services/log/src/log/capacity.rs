//! How full a log is, and the thresholds that it crosses.

use crate::ds_log_admin::Threshold;
use crate::ds_log_notification::{CLEARED, CRITICAL, MINOR};
use crate::notices::Crossed;

/// Percentage that is compared with the thresholds. A log that wraps never gets less full: its gauge counts what has been
/// written since it was last at 100, and begins anew there (X.735).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gauge {
    written: u64,
    percent: Threshold,
}

impl Gauge {
    /// Notes the size of a log that halts; returns the thresholds that this crosses, upwards or downwards.
    pub(crate) fn filled(
        &mut self,
        size: u64,
        most: u64,
        thresholds: &[Threshold],
    ) -> Vec<Crossed> {
        let before = std::mem::replace(&mut self.percent, percent(size, most));
        crossed(before, self.percent, thresholds)
    }

    /// Notes octets that were written to a log that wraps; returns the thresholds that this crosses.
    pub(crate) fn written(
        &mut self,
        bytes: u64,
        most: u64,
        thresholds: &[Threshold],
    ) -> Vec<Crossed> {
        self.written = self.written.saturating_add(bytes);
        let before = std::mem::replace(&mut self.percent, percent(self.written, most));
        let alarms = crossed(before, self.percent, thresholds);
        if self.percent >= 100 {
            *self = Self::default();
        }
        alarms
    }

    /// Begins anew at the size of the log, without alarms: its maximum or its action has changed.
    pub(crate) fn reset(&mut self, size: u64, most: u64) {
        *self = Self {
            written: size,
            percent: percent(size, most),
        };
    }
}

/// Returns the percentage of a maximum; 0 where there is none.
fn percent(size: u64, most: u64) -> Threshold {
    let hundredfold = u128::from(size) * 100;
    let percent = hundredfold.checked_div(u128::from(most)).unwrap_or(0);
    Threshold::try_from(percent.min(100)).unwrap_or(100)
}

fn crossed(before: Threshold, now: Threshold, thresholds: &[Threshold]) -> Vec<Crossed> {
    let (least, most) = (before.min(now), before.max(now));
    let between = thresholds
        .iter()
        .filter(|one| (least + 1..=most).contains(*one));
    let alarm = |threshold: &Threshold| Crossed {
        threshold: *threshold,
        observed: now,
        severity: match *threshold {
            _ if now < before => CLEARED,
            100.. => CRITICAL,
            _ => MINOR,
        },
    };
    between.map(alarm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(alarms: &[Crossed]) -> Vec<(Threshold, u16)> {
        let told = alarms.iter().map(|alarm| (alarm.threshold, alarm.severity));
        told.collect()
    }

    #[test]
    fn thresholds_are_crossed_upwards_and_downwards_once() {
        let mut gauge = Gauge::default();
        let thresholds = [50, 80, 100];
        assert_eq!(told(&gauge.filled(49, 100, &thresholds)), []);
        let up = gauge.filled(85, 100, &thresholds);
        assert_eq!(told(&up), [(50, MINOR), (80, MINOR)]);
        assert_eq!(up[0].observed, 85);
        assert_eq!(told(&gauge.filled(90, 100, &thresholds)), []);
        let full = gauge.filled(100, 100, &thresholds);
        assert_eq!(told(&full), [(100, CRITICAL)]);
        let down = gauge.filled(60, 100, &thresholds);
        let cleared = [(80, CLEARED), (100, CLEARED)];
        assert_eq!(told(&down), cleared);
    }

    #[test]
    fn a_log_that_wraps_crosses_them_again_each_time_round() {
        let mut gauge = Gauge::default();
        for _ in 0..3 {
            assert_eq!(told(&gauge.written(40, 100, &[50])), []);
            let half = gauge.written(20, 100, &[50]);
            assert_eq!(told(&half), [(50, MINOR)]);
            assert_eq!(told(&gauge.written(40, 100, &[50])), []);
        }
    }

    #[test]
    fn a_log_without_a_maximum_crosses_none() {
        let mut gauge = Gauge::default();
        assert_eq!(told(&gauge.filled(u64::MAX, 0, &[0, 1, 100])), []);
    }
}
