//! Log of the servers, captured so that a test can search it for the lines about its own peer.

use crate::hostile::peer::Peer;
use std::io::Write;
use std::sync::{Mutex, Once};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// Log lines captured from all tests of this program.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LOGGING: Once = Once::new();

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Log
    }
}

/// Captures the log from now on; calls after the first have no effect.
pub(crate) fn catch() {
    LOGGING.call_once(|| {
        tracing_subscriber::fmt()
            .with_writer(Log)
            .with_ansi(false)
            .init();
    });
}

/// Sends the log to the standard error stream from now on, in a process of its own.
pub(crate) fn to_stderr() {
    LOGGING.call_once(|| {
        tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .init();
    });
}

/// Asserts that a line with all of `parts` was logged about this peer.
pub(crate) fn assert_logged(peer: &Peer, parts: &[&str]) {
    let marker = format!("peer={}", peer.address());
    assert_line(&marker, parts, |line| has_word(line, &marker));
}

/// Returns whether a line with all of `parts` has been logged about this peer so far.
pub(crate) fn is_logged(peer: &Peer, parts: &[&str]) -> bool {
    let marker = format!("peer={}", peer.address());
    has_line(parts, |line| has_word(line, &marker))
}

/// Asserts that a line with all of `parts` was logged about one of these peers.
pub(crate) fn assert_logged_of_one(peers: &[Peer], parts: &[&str]) {
    let markers: Vec<String> = peers
        .iter()
        .map(|peer| format!("peer={}", peer.address()))
        .collect();
    assert_line(&markers.join(", "), parts, |line| {
        markers.iter().any(|marker| has_word(line, marker))
    });
}

/// Asserts that a line with all of `parts` was logged about a peer of the server that listens at
/// this address.
pub(crate) fn assert_logged_at(place: &str, parts: &[&str]) {
    assert_line(place, parts, |line| line.contains(&format!("{place}#")));
}

fn assert_line(marker: &str, parts: &[&str], is_about: impl Fn(&str) -> bool) {
    for _ in 0..6000 {
        if has_line(parts, &is_about) {
            return;
        }
        // The line is written by the server's thread, after its answer, however late that is.
        std::thread::sleep(Duration::from_millis(10));
    }
    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    let said: Vec<&str> = log.lines().filter(|line| is_about(line)).collect();
    panic!("nothing with {parts:?} was logged about {marker}, but {said:#?}");
}

fn has_word(line: &str, marker: &str) -> bool {
    line.split(' ').any(|word| word == marker)
}

fn has_line(parts: &[&str], is_about: impl Fn(&str) -> bool) -> bool {
    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    let mut lines = log.lines().filter(|line| is_about(line));
    lines.any(|line| parts.iter().all(|part| line.contains(part)))
}
