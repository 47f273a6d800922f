//! Measured times as JSON, which `punctual schedule record --from` and `punctual schedule compare` read.

use super::arrivals::Arrivals;
use super::histogram::Distribution;
use super::operation::MeasuredOperation;
use super::recording::{Measured, current};
use crate::observed::JsonText;
use std::fmt::Write;
use std::path::Path;
use std::{fmt, fs, io};

/// Returns measured times as JSON: an object with `version` 1, `not_recorded`, and a list of
/// `operations`. Times are in nanoseconds.
#[must_use]
pub fn to_json(measured: &Measured) -> String {
    let mut out = String::new();
    let written = write_all(&mut out, measured);
    debug_assert!(written.is_ok(), "a string takes any text");
    out
}

/// Writes the times that the running recording has measured so far to a file, as [`to_json`]
/// returns them; without a recording an empty list.
///
/// # Errors
/// Those of writing the file.
pub fn write_file(path: &Path) -> io::Result<()> {
    fs::write(path, to_json(&current().unwrap_or_default()))
}

fn write_all(out: &mut String, measured: &Measured) -> fmt::Result {
    let not_recorded = measured.not_recorded;
    write!(
        out,
        "{{\"version\":1,\"not_recorded\":{not_recorded},\"operations\":["
    )?;
    let mut separator = "\n";
    for operation in &measured.operations {
        out.write_str(separator)?;
        separator = ",\n";
        write_operation(out, operation)?;
    }
    out.write_str("\n]}\n")
}

fn write_operation(out: &mut String, one: &MeasuredOperation) -> fmt::Result {
    write!(
        out,
        "{{\"name\":{},\"interface\":{},\"operation\":{}",
        JsonText(&one.name),
        JsonText(&one.interface),
        JsonText(&one.operation)
    )?;
    for (key, times) in [
        ("execution", &one.execution),
        ("response", &one.response),
        ("distance", &one.distance),
    ] {
        write!(out, ",\"{key}\":")?;
        write_times(out, times)?;
    }
    write_arrivals(out, one.arrivals)?;
    write!(
        out,
        ",\"is_planned\":{},\"overruns\":{},\"early_releases\":{},\"missed_deadlines\":{}}}",
        one.is_planned, one.overruns, one.early_releases, one.missed_deadlines
    )
}

fn write_arrivals(out: &mut String, arrivals: Option<Arrivals>) -> fmt::Result {
    let Some(Arrivals { period, jitter }) = arrivals else {
        return Ok(());
    };
    let (period, jitter) = (period.as_nanos(), jitter.as_nanos());
    write!(
        out,
        ",\"arrivals\":{{\"period\":{period},\"jitter\":{jitter}}}"
    )
}

fn write_times(out: &mut String, times: &Distribution) -> fmt::Result {
    write!(
        out,
        "{{\"count\":{},\"min\":{},\"mean\":{},\"p50\":{},\"p90\":{},\"p99\":{},\"p999\":{},\"max\":{}}}",
        times.count,
        times.shortest.as_nanos(),
        times.mean.as_nanos(),
        times.quantile(0.5).as_nanos(),
        times.quantile(0.9).as_nanos(),
        times.quantile(0.99).as_nanos(),
        times.quantile(0.999).as_nanos(),
        times.longest.as_nanos(),
    )
}
