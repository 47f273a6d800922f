//! Commands that look again and again, at intervals, until they are interrupted.

use signal_hook::iterator::Signals;
use std::io::Write;
use std::time::{Duration, Instant};

/// Longest time that an interrupted command waits on.
const NOTICED: Duration = Duration::from_millis(50);

/// Waits for the time of the next look; returns `false` as soon as the command is interrupted.
pub(crate) fn waited(signals: &mut Signals, interval: Duration) -> bool {
    let begin = Instant::now();
    loop {
        if signals.pending().next().is_some() {
            return false;
        }
        let left = interval.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(NOTICED));
    }
}

/// Prints what one look shows, at once.
///
/// # Errors
/// The reader has gone.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout();
    output.write_all(text.as_bytes())?;
    output.flush()
}
