//! Files of time stamps that a measured process leaves for the harness: one for each side.

use crate::Result;
use crate::peer;
use punctual::probe::{self, CallTrace, Side, Stamp};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Time stamps recorded by one thread, as plain numbers for storage.
#[derive(Debug, Serialize, Deserialize)]
struct Thread {
    name: String,
    lost: u64,
    stamps: Vec<u64>,
}

/// Runs one side, client or server, with its probes on, and then writes its time stamps to
/// `directory`.
///
/// # Errors
/// Those of `run`; or the file cannot be written.
pub(crate) fn recorded(
    directory: &Path,
    side: &peer::Side,
    run: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let side = match side {
        peer::Side::Client(_) => Side::Client,
        peer::Side::Server(_) => Side::Server,
    };
    probe::switch(true);
    let done = run();
    probe::switch(false);
    let threads: Vec<Thread> = probe::take()
        .into_iter()
        .map(|thread| Thread {
            name: thread.thread,
            lost: thread.lost,
            stamps: thread.stamps.into_iter().map(Stamp::to_word).collect(),
        })
        .collect();
    std::fs::write(file(directory, side), serde_json::to_vec(&threads)?)?;
    done
}

/// Returns the recorded calls of one side, in the order in which they began.
///
/// # Errors
/// The side has written no time stamps, or an invalid file.
pub(crate) fn read(directory: &Path, side: Side) -> Result<Vec<CallTrace>> {
    let octets = std::fs::read(file(directory, side))?;
    let threads: Vec<Thread> = serde_json::from_slice(&octets)?;
    let mut seen = Vec::new();
    for thread in threads {
        let stamps = thread.stamps.into_iter().map(Stamp::from_word);
        let stamps: Option<Vec<Stamp>> = stamps.collect();
        let stamps = stamps.ok_or_else(|| format!("{}: a stamp that is none", thread.name))?;
        seen.extend(probe::calls(&stamps, side));
    }
    seen.sort_by_key(|call| call.begin().map(|stamp| stamp.ticks));
    Ok(seen)
}

fn file(directory: &Path, side: Side) -> PathBuf {
    directory.join(match side {
        Side::Client => "client.json",
        Side::Server => "server.json",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::probe::Point;

    #[test]
    fn calls_of_all_threads_are_read_back_in_the_order_in_which_they_began() {
        let call = |begin| {
            let stamps = [
                Stamp::new(Point::ClientInitialise, begin),
                Stamp::new(Point::ClientEnd, begin + 5),
            ];
            Thread {
                name: "a".to_owned(),
                lost: 0,
                stamps: stamps.map(Stamp::to_word).to_vec(),
            }
        };
        let directory = tempfile::tempdir().unwrap();
        let write = |threads: &[Thread]| {
            let octets = serde_json::to_vec(threads).unwrap();
            std::fs::write(file(directory.path(), Side::Client), octets).unwrap();
        };
        write(&[call(200), call(100)]);
        let seen = read(directory.path(), Side::Client).unwrap();
        let begins = seen.iter().map(|call| call.begin().unwrap().ticks);
        assert_eq!(begins.collect::<Vec<_>>(), [100, 200]);
        assert!(read(directory.path(), Side::Server).is_err());

        let mut foreign = call(1);
        foreign.stamps.push(u64::MAX);
        write(&[foreign]);
        assert!(read(directory.path(), Side::Client).is_err());
    }
}
