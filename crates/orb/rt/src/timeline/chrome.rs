//! Timeline in the format of Chrome's tracing (Trace Event Format), which `ui.perfetto.dev` and
//! `chrome://tracing` draw: a row for each thread, a bar for each upcall, marks for other events.

use punctual_orb::timeline::{Record, Stage, ThreadRecords};
use std::io::{self, Write};

/// Writes the timeline as JSON.
///
/// # Errors
/// Those of writing.
pub fn write_chrome_trace(threads: &[ThreadRecords], out: &mut impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut separator = "\n";
    for (thread, number) in threads.iter().zip(1..) {
        let name: String = thread.name.chars().map(plain).collect();
        write!(
            out,
            "{separator}{{\"ph\":\"M\",\"pid\":1,\"tid\":{number},\"name\":\"thread_name\",\"args\":{{\"name\":\"{name}\"}}}}"
        )?;
        separator = ",\n";
        for record in &thread.records {
            write!(out, "{separator}")?;
            event(&mut out, number, record)?;
        }
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

fn event(out: &mut impl Write, thread: u32, record: &Record) -> io::Result<()> {
    let (phase, name) = match record.stage {
        Stage::Upcall => ("B", "upcall"),
        Stage::UpcallEnd => ("E", "upcall"),
        Stage::Sent => ("i", "sent"),
        Stage::Read => ("i", "read"),
        Stage::Queued => ("i", "queued"),
        Stage::RunsAt => ("i", "runs at"),
        Stage::Replied => ("i", "replied"),
    };
    // Microseconds, to the nanosecond.
    let (micros, nanos) = (record.at / 1000, record.at % 1000);
    write!(
        out,
        "{{\"ph\":\"{phase}\",\"pid\":1,\"tid\":{thread},\"ts\":{micros}.{nanos:03},\"name\":\"{name}\""
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
    write!(out, "}}}}")
}

/// Replaces characters that would need an escape in JSON.
fn plain(letter: char) -> char {
    match letter {
        '"' | '\\' => '\'',
        control if control.is_control() => ' ',
        other => other,
    }
}
