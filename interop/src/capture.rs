//! Packet captures: Wireshark decodes a capture of each run, which must contain GIOP without a
//! malformed packet, and the messages of interest in the expected direction.
//!
//! Wireshark 4.0 has two faults of its own, which are left out: it reassembles the fragments of
//! GIOP
//! 1.1 by a request id that they do not have (reassembly is off), and it aligns the body of a
//! LocateReply of GIOP 1.2 to 8, as if it were a Reply.

use crate::matrix::{Direction, Outcome, Version};
use crate::process::{self, Running};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

const GIOP: &str = "tshark: GIOP, not malformed";

const FRAGMENTS: &str = "tshark: fragments";
const NO_FRAGMENTS_TO: &str = "our ORB sends no fragments in GIOP 1.1 unless it is told to \
                               (fragment_giop_1_1): omniORB waits for ever when it gets them";

/// Values of GIOP message types (CORBA 3.3 part 2, §9.4.1) and of reply statuses, as Wireshark
/// prints them.
const LOCATE_REQUEST: &str = "3";
const LOCATE_REPLY: &str = "4";
const FRAGMENT: &str = "7";
const LOCATION_FORWARD: &str = "3";
const OBJECT_FORWARD: &str = "2";

/// Capture in progress, or the reason why there is none.
#[derive(Debug)]
pub(crate) enum Capture {
    /// Network capture in progress.
    Running(Box<Written>),
    /// Reason why the network traffic cannot be captured.
    Impossible(String),
}

/// Network capture file, with the tshark process that writes it.
#[derive(Debug)]
pub(crate) struct Written {
    process: Running,
    file: PathBuf,
    theirs: u16,
    ours: Vec<u16>,
}

impl Capture {
    /// Starts a capture of the traffic to and from the ports of the peer's server and of ours.
    pub(crate) fn start(file: &Path, theirs: u16, ours: Vec<u16>) -> Self {
        if !process::installed("tshark") {
            return Self::Impossible("not installed: tshark".to_owned());
        }
        // A file of an earlier run would be taken for this one's.
        let _ = std::fs::remove_file(file);
        let ports = ours.iter().chain([&theirs]);
        let filter: Vec<String> = ports.map(|port| format!("tcp port {port}")).collect();
        let mut tshark = Command::new("tshark");
        tshark
            .args([
                "-i",
                "lo",
                "-B",
                "256",
                "-q",
                "-f",
                &filter.join(" or "),
                "-w",
            ])
            .arg(file);
        tshark.stderr(std::process::Stdio::null());
        let mut process = match Running::start("tshark", &mut tshark) {
            Ok(process) => process,
            Err(why) => return Self::Impossible(why),
        };
        // The program reports that it captures before it does; its file has a header once it does.
        for _ in 0..400 {
            if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
                let file = file.to_owned();
                return Self::Running(Box::new(Written {
                    process,
                    file,
                    theirs,
                    ours,
                }));
            }
            if process.wait(Duration::from_millis(25)) {
                break;
            }
        }
        Self::Impossible("tshark cannot capture on lo (it needs CAP_NET_RAW)".to_owned())
    }

    /// Ends the capture. Returns the named Wireshark fields of each frame with a GIOP message, in
    /// order.
    ///
    /// # Errors
    /// The outcome that the matrix shows when there is no capture, with the reason.
    pub(crate) fn fields(self, fields: &[&str]) -> Result<Vec<Vec<String>>, Outcome> {
        match self {
            Self::Running(mut written) => {
                written.finish().map_err(Outcome::Failed)?;
                let lines = written.lines(fields).map_err(Outcome::Failed)?;
                let split = |line: &str| line.split('|').map(str::to_owned).collect();
                Ok(lines.lines().map(split).collect())
            }
            Self::Impossible(why) => Err(Outcome::Skipped(why)),
        }
    }

    /// Ends the capture and returns the outcomes of the checks on its contents.
    pub(crate) fn end(self, version: Version) -> Vec<(&'static str, Direction, Outcome)> {
        match self {
            Self::Running(written) => written
                .outcomes(version)
                .unwrap_or_else(|why| all(&Outcome::Failed(why))),
            Self::Impossible(why) => all(&Outcome::Skipped(why)),
        }
    }
}

fn all(outcome: &Outcome) -> Vec<(&'static str, Direction, Outcome)> {
    vec![(GIOP, Direction::Through, outcome.clone())]
}

/// Predicate that selects the frames that a row of the matrix requires.
type IsOne = fn(&Frame) -> bool;

/// Captured frame, with the kinds of the GIOP messages in it.
struct Frame {
    number: String,
    from: u16,
    to: u16,
    types: Vec<String>,
    locate_status: String,
    reply_statuses: Vec<String>,
    malformed: bool,
}

impl Frame {
    fn parse(line: &str) -> Option<Self> {
        let several = |text: &str| text.split(',').map(str::to_owned).collect();
        let fields: Vec<&str> = line.split('|').collect();
        let [number, from, to, types, locate_status, replies, malformed] = fields[..] else {
            return None;
        };
        Some(Self {
            number: number.to_owned(),
            from: from.parse().ok()?,
            to: to.parse().ok()?,
            types: several(types),
            locate_status: locate_status.to_owned(),
            reply_statuses: several(replies),
            malformed: !malformed.is_empty(),
        })
    }

    fn has(&self, message_type: &str) -> bool {
        self.types.iter().any(|one| one == message_type)
    }

    fn forwards(&self) -> bool {
        self.locate_status == OBJECT_FORWARD
            || self
                .reply_statuses
                .iter()
                .any(|status| status == LOCATION_FORWARD)
    }

    /// Returns whether Wireshark reports a valid frame as malformed because of its own fault.
    fn is_misread(&self, version: Version) -> bool {
        version == Version::V1_2
            && self.types == [LOCATE_REPLY]
            && self.locate_status == OBJECT_FORWARD
    }
}

impl Written {
    fn outcomes(
        mut self,
        version: Version,
    ) -> Result<Vec<(&'static str, Direction, Outcome)>, String> {
        self.finish()?;
        let frames = self.frames()?;
        let whole =
            whole(&frames, version).map_err(|why| format!("{why} of {}", self.file.display()));
        let mut outcomes = vec![(GIOP, Direction::Through, whole.into())];
        let rows: [(&str, IsOne, bool); 3] = [
            (
                "tshark: LocateRequest",
                |frame| frame.has(LOCATE_REQUEST),
                true,
            ),
            ("tshark: forward", Frame::forwards, false),
            (FRAGMENTS, |frame| frame.has(FRAGMENT), true),
        ];
        for (row, is_one, by_client) in rows {
            for direction in [Direction::To, Direction::From] {
                let found = frames.iter().any(|frame| {
                    let to_theirs = frame.to == self.theirs;
                    let answered_by_theirs = frame.from == self.theirs;
                    let to_ours = self.ours.contains(&frame.to);
                    let answered_by_ours = self.ours.contains(&frame.from);
                    let goes = match (direction, by_client) {
                        (Direction::To, true) => to_theirs,
                        (Direction::To, false) => answered_by_theirs,
                        (_, true) => to_ours,
                        (_, false) => answered_by_ours,
                    };
                    goes && is_one(frame)
                });
                let outcome = match (found, row, version, direction) {
                    (true, ..) => Outcome::Passed,
                    (false, FRAGMENTS, Version::V1_0, _) => {
                        Outcome::NotApplicable("GIOP 1.0 has no fragments".to_owned())
                    }
                    (false, FRAGMENTS, Version::V1_1, Direction::To) => {
                        Outcome::NotApplicable(NO_FRAGMENTS_TO.to_owned())
                    }
                    _ => Outcome::Failed("none was captured".to_owned()),
                };
                outcomes.push((row, direction, outcome));
            }
        }
        Ok(outcomes)
    }

    fn finish(&mut self) -> Result<(), String> {
        // The last packets have to reach the file: the kernel hands them over in batches.
        std::thread::sleep(Duration::from_millis(300));
        let mut kill = Command::new("kill");
        kill.args(["-INT", &self.process.id().to_string()]);
        process::succeed("kill", &mut kill, LIMIT)?;
        if self.process.wait(LIMIT) {
            Ok(())
        } else {
            Err("tshark does not end".to_owned())
        }
    }

    fn frames(&self) -> Result<Vec<Frame>, String> {
        let text = self.lines(&[
            "frame.number",
            "tcp.srcport",
            "tcp.dstport",
            "giop.type",
            "giop.locale_status",
            "giop.replystatus",
            "_ws.malformed",
        ])?;
        Ok(text.lines().filter_map(Frame::parse).collect())
    }

    /// Returns one line with the named fields for each frame with GIOP.
    fn lines(&self, fields: &[&str]) -> Result<String, String> {
        let mut tshark = Command::new("tshark");
        tshark.arg("-r").arg(&self.file).args([
            "-o",
            "giop.reassemble:FALSE",
            "-o",
            "tcp.reassemble_out_of_order:TRUE",
        ]);
        tshark.args(["-Y", "giop", "-T", "fields", "-E", "separator=|"]);
        for port in self.ours.iter().chain([&self.theirs]) {
            tshark.args(["-d", &format!("tcp.port=={port},giop")]);
        }
        for field in fields {
            tshark.args(["-e", field]);
        }
        process::succeed("tshark", &mut tshark, LIMIT)
    }
}

fn whole(frames: &[Frame], version: Version) -> Result<(), String> {
    if frames.is_empty() {
        return Err("no GIOP message".to_owned());
    }
    let malformed = frames
        .iter()
        .filter(|frame| frame.malformed && !frame.is_misread(version));
    let numbers: Vec<&str> = malformed.map(|frame| frame.number.as_str()).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let shown = numbers[..numbers.len().min(8)].join(", ");
    Err(format!(
        "{} of {} malformed, frames {shown}",
        numbers.len(),
        frames.len()
    ))
}
