//! Timeline in the format of Chrome's tracing (Trace Event Format), which `ui.perfetto.dev` and
//! `chrome://tracing` draw: a row for each thread, a bar for each upcall, marks for other events.

use super::connections::{RecordedConnection, Side};
use super::record::{Record, Stage};
use super::recorder::{ClockReading, Recorder};
use super::session::Recording;
use super::thread::ThreadRecords;
use crate::observed::JsonText;
use std::io::{self, Write};

/// Version of what `punctual schedule compare` reads of the file.
const VERSION: u32 = 1;

/// Writes the timeline as JSON, which `punctual schedule compare` reads, too: the bar of an upcall has the scoped name
/// of its operation.
///
/// # Errors
/// Those of writing.
pub fn write_chrome_trace(threads: &[ThreadRecords], out: &mut impl Write) -> io::Result<()> {
    write(threads, None, &mut io::BufWriter::new(out))
}

/// Writes the timeline as [`write_chrome_trace`] does, with the connections, the process and its clocks, for
/// `punctual timeline join`.
///
/// # Errors
/// Those of writing.
pub fn write_recording(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    let of = (&recording.recorder, &recording.connections[..]);
    write(&recording.threads, Some(of), &mut io::BufWriter::new(out))
}

fn write(
    threads: &[ThreadRecords],
    of: Option<(&Recorder, &[RecordedConnection])>,
    out: &mut impl Write,
) -> io::Result<()> {
    let lost: u64 = threads.iter().map(|thread| thread.lost).sum();
    let unnamed: u64 = threads.iter().map(|thread| thread.unnamed).sum();
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"punctual_timeline\":{VERSION},\"lost\":{lost},\"unnamed\":{unnamed}"
    )?;
    if let Some((recorder, connections)) = of {
        write_recorder(out, recorder)?;
        write_connections(out, connections)?;
    }
    write!(out, "}},\"traceEvents\":[")?;
    let mut separator = "\n";
    for (thread, number) in threads.iter().zip(1..) {
        let name = JsonText(&thread.name);
        write!(
            out,
            "{separator}{{\"ph\":\"M\",\"pid\":1,\"tid\":{number},\"name\":\"thread_name\",\"args\":{{\"name\":{name}}}}}"
        )?;
        separator = ",\n";
        for (record, operation) in thread.records.iter().zip(operations(thread)) {
            write!(out, "{separator}")?;
            event(out, number, record, operation)?;
        }
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

fn write_recorder(out: &mut impl Write, recorder: &Recorder) -> io::Result<()> {
    write!(
        out,
        ",\n\"process\":{{\"host\":{},\"program\":{},\"id\":{}}},\n\"clock\":{{\"boot\":{},\"time_namespace\":{},\"begin\":",
        JsonText(&recorder.host),
        JsonText(&recorder.program),
        recorder.process,
        JsonText(&recorder.boot),
        JsonText(&recorder.time_namespace),
    )?;
    write_reading(out, &recorder.begin)?;
    write!(out, ",\"end\":")?;
    write_reading(out, &recorder.end)?;
    write!(out, "}}")
}

fn write_reading(out: &mut impl Write, reading: &ClockReading) -> io::Result<()> {
    write!(
        out,
        "{{\"monotonic\":{},\"time_of_day\":{},\"within\":{}",
        reading.monotonic,
        reading.time_of_day,
        reading.within.as_nanos()
    )?;
    if let Some(discipline) = &reading.discipline {
        write!(
            out,
            ",\"synchronised\":{},\"tai_offset\":{},\"estimated_error\":{},\"maximum_error\":{}",
            discipline.is_synchronised,
            discipline.tai_offset,
            discipline.estimated_error.as_nanos(),
            discipline.maximum_error.as_nanos()
        )?;
    }
    write!(out, "}}")
}

fn write_connections(out: &mut impl Write, connections: &[RecordedConnection]) -> io::Result<()> {
    write!(out, ",\n\"connections\":[")?;
    let mut separator = "\n";
    for one in connections {
        let side = match one.side {
            Side::Client => "client",
            Side::Server => "server",
        };
        write!(
            out,
            "{separator}{{\"side\":\"{side}\",\"lane\":{},\"connection\":{},\"local\":{},\"peer\":{}}}",
            one.lane,
            one.connection,
            JsonText(&one.local),
            JsonText(&one.peer)
        )?;
        separator = ",\n";
    }
    write!(out, "]")
}

/// Returns the operation of each record that begins an upcall; it is known from the one that ends it. The upcalls of a
/// thread are nested in one another.
fn operations(thread: &ThreadRecords) -> Vec<Option<&str>> {
    let mut operations = vec![None; thread.records.len()];
    let mut begun = Vec::new();
    for (index, record) in thread.records.iter().enumerate() {
        match record.stage {
            Stage::Upcall => begun.push(index),
            Stage::UpcallEnd => {
                if let Some(begin) = begun.pop().and_then(|begin| operations.get_mut(begin)) {
                    *begin = thread.operation(record);
                }
            }
            _ => {}
        }
    }
    operations
}

fn event(
    out: &mut impl Write,
    thread: u32,
    record: &Record,
    operation: Option<&str>,
) -> io::Result<()> {
    let (phase, name) = match record.stage {
        Stage::Upcall => ("B", operation.unwrap_or("upcall")),
        Stage::UpcallEnd => ("E", "upcall"),
        Stage::Sending => ("i", "sending"),
        Stage::Sent => ("i", "sent"),
        Stage::Read => ("i", "read"),
        Stage::Queued => ("i", "queued"),
        Stage::RunsAt => ("i", "runs at"),
        Stage::Replied => ("i", "replied"),
        Stage::Received => ("i", "received"),
    };
    // Microseconds, to the nanosecond.
    let (micros, nanos) = (record.at / 1000, record.at % 1000);
    write!(
        out,
        "{{\"ph\":\"{phase}\",\"pid\":1,\"tid\":{thread},\"ts\":{micros}.{nanos:03},\"name\":{}",
        JsonText(name)
    )?;
    if phase == "i" {
        write!(out, ",\"s\":\"t\"")?;
    }
    write!(
        out,
        ",\"args\":{{\"lane\":{},\"connection\":{},\"request\":{},\"processor\":{}",
        record.request.lane, record.request.connection, record.request.request, record.processor
    )?;
    if let Some(priority) = record.priority {
        write!(out, ",\"priority\":{priority}")?;
    }
    if let Some(operation) = operation {
        write!(out, ",\"operation\":{}", JsonText(operation))?;
    }
    write!(out, "}}}}")
}
