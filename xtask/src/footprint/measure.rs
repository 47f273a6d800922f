//! Memory and times of programs that run.

use super::build::Programs;
use crate::run::Result;
use serde::Serialize;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Figures of one client and server.
#[derive(Debug, Default, Serialize)]
pub(super) struct Figures {
    pub(super) client_bytes: u64,
    pub(super) server_bytes: u64,
    /// Bytes of the shared libraries that the server loads, without those of the C library.
    pub(super) library_bytes: u64,
    pub(super) idle: Option<Memory>,
    pub(super) with_objects: Option<Memory>,
    /// Median of the milliseconds from a client's start to its first reply.
    pub(super) first_reply_ms: Option<f64>,
    /// Median of the milliseconds from a server's start to its reference, when it listens.
    pub(super) ready_ms: Option<f64>,
}

/// Resident memory of a process, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Memory {
    /// All of it (`VmRSS`), with pages of the program's file and of libraries, which processes may share.
    pub(super) resident: u64,
    /// The process's own (`RssAnon`): stacks and the heap.
    pub(super) own: u64,
}

/// Server that runs; it ends with the value.
#[derive(Debug)]
pub(super) struct Served {
    child: Child,
    pub(super) reference: String,
    pub(super) ready_ms: f64,
}

impl Served {
    /// Starts a server with a number of objects, and waits for its reference.
    pub(super) fn start(program: &Path, objects: u32) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["-ORBListenEndpoints", "iiop://127.0.0.1:0"]);
        // omniORB's endpoint, in whose programs the option is another one.
        if program
            .parent()
            .is_some_and(|folder| folder.ends_with("omniorb"))
        {
            command = Command::new(program);
            command.args(["-ORBendPoint", "giop:tcp:127.0.0.1:0"]);
        }
        let (child, reference, took) = first_line(command.arg(objects.to_string()))?;
        Ok(Self {
            child,
            reference,
            ready_ms: milliseconds(took),
        })
    }

    /// Returns the server's memory, when two readings in a row are equal.
    pub(super) fn memory(&self) -> Result<Memory> {
        let path = format!("/proc/{}/status", self.child.id());
        let mut last = None;
        for _ in 0..500 {
            let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
            let now =
                memory(&status).ok_or_else(|| format!("{path} is not understood: {status}"))?;
            if last == Some(now) {
                return Ok(now);
            }
            last = Some(now);
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!(
            "the memory of process {} does not come to rest",
            self.child.id()
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the median of the milliseconds from a client's start to its first reply.
pub(super) fn first_reply(programs: &Programs, server: &Served, starts: u32) -> Result<f64> {
    median(starts, || {
        let mut command = Command::new(&programs.client);
        let (mut child, reply, took) = first_line(command.arg(&server.reference))?;
        let ended = child.wait().map_err(|error| error.to_string())?;
        match (ended.success(), reply.as_str()) {
            (true, "Hello, world!") => Ok(took),
            _ => Err(format!("the client ended with {ended}, after `{reply}`")),
        }
    })
}

/// Returns the median of the milliseconds from a server's start to its reference.
pub(super) fn ready(programs: &Programs, starts: u32) -> Result<f64> {
    median(starts, || {
        let server = Served::start(&programs.server, 1)?;
        Ok(Duration::from_secs_f64(server.ready_ms / 1e3))
    })
}

/// Returns the median of the milliseconds that a program which does nothing takes, if there is one.
pub(super) fn nothing(starts: u32) -> Option<f64> {
    let started = || {
        let began = Instant::now();
        let ended = Command::new("true").status();
        ended
            .map(|_| began.elapsed())
            .map_err(|error| error.to_string())
    };
    median(starts, started).ok()
}

/// Returns the bytes of the shared libraries that a program loads, by `ldd`. The C library is left out, as all programs of a
/// machine have it.
pub(super) fn libraries(program: &Path) -> Result<u64> {
    let output = Command::new("ldd").arg(program).output();
    let output = output.map_err(|error| format!("ldd could not be started: {error}"))?;
    // A static program, or one for another machine: `ldd` fails.
    let listed = String::from_utf8_lossy(&output.stdout);
    let sizes = paths(&listed).map(|path| {
        let metadata = fs::metadata(path).map_err(|error| format!("{path}: {error}"))?;
        Ok(metadata.len())
    });
    sizes.sum()
}

/// Libraries of glibc, without their versions.
const OF_C: [&str; 6] = [
    "libc.so",
    "libm.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "ld-linux",
];

/// Returns the paths in the output of `ldd` but for those of the C library.
fn paths(listed: &str) -> impl Iterator<Item = &str> {
    let found = listed.lines().filter_map(|line| line.split_once(" => "));
    let found = found.filter(|(name, _)| !OF_C.iter().any(|of_c| name.trim().starts_with(of_c)));
    found.filter_map(|(_, path)| {
        path.split_whitespace()
            .next()
            .filter(|path| path.starts_with('/'))
    })
}

/// Starts a program, and returns it with the first line that it prints, and the time until then.
fn first_line(command: &mut Command) -> Result<(Child, String, Duration)> {
    let shown = format!("{:?}", command.get_program());
    let began = Instant::now();
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{shown} could not be started: {error}"))?;
    let output = child.stdout.take().ok_or("the program has no output")?;
    let mut line = String::new();
    let read = BufReader::new(output).read_line(&mut line);
    let took = began.elapsed();
    if read.is_err() || line.is_empty() {
        let _ = child.kill();
        let ended = child.wait().map_err(|error| error.to_string())?;
        return Err(format!("{shown} printed nothing, and ended with {ended}"));
    }
    Ok((child, line.trim_end().to_owned(), took))
}

/// Returns the median of what a function returns in so many calls, in milliseconds.
fn median(times: u32, mut one: impl FnMut() -> Result<Duration>) -> Result<f64> {
    let taken: Result<Vec<Duration>> = (0..times).map(|_| one()).collect();
    let mut taken = taken?;
    taken.sort_unstable();
    let middle = taken.get(taken.len() / 2);
    middle
        .copied()
        .map(milliseconds)
        .ok_or_else(|| "no times".to_owned())
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Returns the memory in the text of `/proc/PID/status`.
fn memory(status: &str) -> Option<Memory> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some(Memory {
        resident: field("VmRSS:")?,
        own: field("RssAnon:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_status_of_a_process() {
        let status =
            "Name:\tserver\nVmRSS:\t    1840 kB\nRssAnon:\t     412 kB\nRssFile:\t    1428 kB\n";
        let expected = Memory {
            resident: 1840,
            own: 412,
        };
        assert_eq!(memory(status), Some(expected));
        assert_eq!(memory("Name:\tserver\n"), None);
    }

    #[test]
    fn libraries_are_those_with_a_path_but_for_the_c_librarys() {
        let listed = "\tlinux-vdso.so.1 (0x7ffd)\n\tlibomniORB4.so.2 => /lib/libomniORB4.so.2 (0x7f)\n\
                      \tlibgcc_s.so.1 => /lib/libgcc_s.so.1 (0x7f)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        let found: Vec<&str> = paths(listed).collect();
        assert_eq!(found, ["/lib/libomniORB4.so.2", "/lib/libgcc_s.so.1"]);
        assert_eq!(paths("\tstatically linked\n").count(), 0);
    }

    #[test]
    fn a_median_is_the_middle_one_and_an_error_ends_it() {
        let mut times = [9, 1, 5].into_iter();
        let middle = median(3, || Ok(Duration::from_millis(times.next().unwrap())));
        assert_eq!(middle, Ok(5.0));
        assert_eq!(
            median(2, || Err("no server".to_owned())),
            Err("no server".to_owned())
        );
    }

    #[test]
    fn a_program_that_prints_nothing_is_an_error_with_its_end() {
        let failed = first_line(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(failed.starts_with("\"sh\" printed nothing"), "{failed}");
        let (mut child, line, _) = first_line(Command::new("echo").arg("ready")).unwrap();
        assert_eq!(line, "ready");
        assert!(child.wait().unwrap().success());
    }
}
