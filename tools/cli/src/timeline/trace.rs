//! The joined time line in the Trace Event Format: a process for each file, with its threads, and one of requests, which
//! has the stages of each at client and server on one line.

use super::file::{Event, Stage};
use super::join::{Joined, Whole};
use super::stages::within;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Version of the file.
const VERSION: u32 = 1;

/// Writes the joined time line; times count from its first event.
pub(super) fn write(joined: &Joined, out: &mut impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let begin = joined.begin();
    let uncertainty: Vec<_> = (0..joined.files.len())
        .map(|file| joined.uncertainty(file))
        .collect();
    let about = json!({"punctual_joined": VERSION, "uncertainty_ns": uncertainty});
    writeln!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":["
    )?;
    let name = json!({"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "requests"}});
    write!(out, "{name}")?;
    for (number, request) in joined.requests.iter().enumerate() {
        for event in of_request(joined, number, request, begin) {
            write!(out, ",\n{event}")?;
        }
    }
    for (number, file) in joined.files.iter().enumerate() {
        if !joined.is_joined(number) {
            continue;
        }
        let (pid, process) = (number + 1, &file.process);
        let name = format!("{} {} ({})", process.host, process.program, process.id);
        let name = json!({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}});
        write!(out, ",\n{name}")?;
        for (thread, name) in &file.threads {
            let name = json!({"ph": "M", "pid": pid, "tid": thread, "name": "thread_name", "args": {"name": name}});
            write!(out, ",\n{name}")?;
        }
        for event in &file.events {
            if let Some(at) = joined.at(number, event.at) {
                let event = of_thread(pid, micros(at - begin), event, &file.operations);
                write!(out, ",\n{event}")?;
            }
        }
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

/// Returns the events of a request: a bar of the whole call, and one of each stage within.
fn of_request(joined: &Joined, number: usize, request: &Whole, begin: i64) -> Vec<Value> {
    let Some(received) = request.received else {
        return Vec::new();
    };
    let event = |phase: &str, at: i64, name: &str| {
        json!({"ph": phase, "cat": "request", "id": number, "pid": 0, "tid": 0,
            "ts": micros(at - begin), "name": name})
    };
    let operation = joined.operation(request);
    let mut first = event("b", request.sending, operation);
    if let Some(first) = first.as_object_mut() {
        let about = json!({"client": request.client + 1, "server": request.server + 1,
            "uncertainty_ns": request.uncertainty});
        first.insert("args".to_owned(), about);
    }
    let mut events = vec![first];
    let mut from = request.sending;
    // Within the uncertainty stages may seem to end before they begin.
    let mut stage = |name: &str, until: Option<i64>| {
        if let Some(until) = until {
            let until = within(until, from, received);
            events.push(event("b", from, name));
            events.push(event("e", until, name));
            from = until;
        }
    };
    stage("request", Some(request.read));
    stage("wait", request.upcall);
    stage("upcall", request.upcall_end);
    stage("reply", Some(received));
    events.push(event("e", received, operation));
    events
}

fn of_thread(pid: usize, at: f64, event: &Event, operations: &[String]) -> Value {
    let mut operation = None;
    let (phase, name) = match event.stage {
        Stage::Upcall(number) => {
            let place = number.and_then(|number| usize::try_from(number).ok());
            operation = place.and_then(|place| operations.get(place));
            ("B", operation.map_or("upcall", String::as_str))
        }
        Stage::UpcallEnd => ("E", "upcall"),
        Stage::Sending => ("i", "sending"),
        Stage::Sent => ("i", "sent"),
        Stage::Read => ("i", "read"),
        Stage::Queued => ("i", "queued"),
        Stage::RunsAt => ("i", "runs at"),
        Stage::Replied => ("i", "replied"),
        Stage::Received => ("i", "received"),
    };
    let request = event.request;
    let mut args = json!({"lane": request.lane, "connection": request.connection,
        "request": request.request, "processor": event.processor});
    if let Some(args) = args.as_object_mut() {
        if let Some(priority) = event.priority {
            args.insert("priority".to_owned(), priority.into());
        }
        if let Some(operation) = operation {
            args.insert("operation".to_owned(), operation.as_str().into());
        }
    }
    let mut event =
        json!({"ph": phase, "pid": pid, "tid": event.thread, "ts": at, "name": name, "args": args});
    if phase == "i"
        && let Some(event) = event.as_object_mut()
    {
        event.insert("s".to_owned(), "t".into());
    }
    event
}

/// Returns microseconds, to the nanosecond.
fn micros(nanos: i64) -> f64 {
    super::offset::float(nanos) / 1000.0
}
