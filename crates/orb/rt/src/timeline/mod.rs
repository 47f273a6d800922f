//! Analysis of a timeline of requests: inversions, where one was served before a more urgent one,
//! and a drawing.
//!
//! ```no_run
//! use punctual_rt::timeline::{self, Timeline, TimelineLimits, Within};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recording = Timeline::start(TimelineLimits::default())?;
//! // … requests are served …
//! let threads = recording.stop();
//! let requests = timeline::requests(&threads);
//! assert!(timeline::inversions(&requests, Within::Lane).is_empty());
//! timeline::write_chrome_trace(&threads, &mut std::fs::File::create("requests.json")?)?; // for ui.perfetto.dev
//! # Ok(()) }
//! ```

mod inversions;
mod requests;

pub use inversions::{Inversion, Within, inversions};
pub use punctual_orb::timeline::{
    AlreadyRecording, ClockReading, Discipline, Record, RecordedConnection, Recorder, Recording,
    RequestId, Side, Stage, ThreadRecords, Timeline, TimelineLimits, write_chrome_trace,
    write_recording,
};
pub use requests::{ServedRequest, requests};
