//! Progress of a measurement, on standard error: a bar on a terminal, and lines where that is a pipe or a file.

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// Progress bar of a measurement.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Start of the measurement, if progress is shown as lines instead of a bar.
    lines_since: Option<Instant>,
}

/// Begins to show the progress of a measurement of so many steps.
pub(crate) fn progress(steps: usize) -> Progress {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed}, {eta} left {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    Progress {
        bar: bar.with_style(style),
        lines_since: (!stderr().is_terminal()).then(Instant::now),
    }
}

impl Progress {
    /// Sets the name of the current step.
    pub(crate) fn set_message(&self, message: impl Into<String>) {
        self.bar.set_message(message.into());
    }

    /// Counts steps that are done. Lines show the first one, which makes an estimate, and each tenth of all.
    pub(crate) fn inc(&self, steps: u64) {
        let before = self.bar.position();
        self.bar.inc(steps);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        if let Some(since) = self.lines_since
            && is_shown(before, done, all)
        {
            eprintln!(
                "{}: {}",
                line(done, all, since.elapsed()),
                self.bar.message()
            );
        }
    }

    /// Ends the progress display and clears it.
    pub(crate) fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns whether a line is due behind these steps.
fn is_shown(before: u64, done: u64, all: u64) -> bool {
    let tenths = |steps: u64| steps * 10 / all.max(1);
    before == 0 || tenths(done) > tenths(before)
}

/// Returns the state and the estimate: each step is taken to last as long as those before.
fn line(done: u64, all: u64, elapsed: Duration) -> String {
    let left = all.saturating_sub(done) as f64 / done.max(1) as f64;
    let left = HumanDuration(elapsed.mul_f64(left));
    format!(
        "{done} of {all} after {}, about {left} left",
        HumanDuration(elapsed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_the_first_step_and_each_tenth() {
        let shown = |all| (1..=all).filter(move |&done| is_shown(done - 1, done, all));
        assert_eq!(shown(3).collect::<Vec<_>>(), [1, 2, 3]);
        let of_many: Vec<_> = shown(200).collect();
        assert_eq!(of_many, [1, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200]);
    }

    #[test]
    fn a_line_has_an_estimate_of_what_is_left() {
        assert_eq!(
            line(10, 40, Duration::from_secs(60)),
            "10 of 40 after 60 seconds, about 3 minutes left"
        );
        assert_eq!(
            line(40, 40, Duration::from_secs(240)),
            "40 of 40 after 4 minutes, about 0 seconds left"
        );
    }
}
