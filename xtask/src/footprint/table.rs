//! The table of figures.

use super::measure::Memory;
use super::{Report, Row};
use std::fmt::Write;

/// Returns the table, in Markdown.
pub(super) fn shown(report: &Report) -> String {
    let mut text = format!(
        "Stripped programs ({}); memory: resident, and the process's own part of it; times: medians of {} starts.\n\n\
         | features | opt-level | target | client, KiB | server, KiB | libraries, KiB | idle, KiB | 1,000 objects, KiB \
         | first reply, ms | server ready, ms |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
        report.profile, report.starts
    );
    for row in &report.rows {
        text.push_str(&line(row));
    }
    if let Some(nothing) = report.nothing_ms {
        let _ = writeln!(
            text,
            "\nA program that does nothing (`true`) takes {nothing:.2} ms."
        );
    }
    for note in &report.notes {
        let _ = writeln!(text, "\n{note}");
    }
    text
}

fn line(row: &Row) -> String {
    let figures = &row.figures;
    let size = |bytes: u64| bytes.div_ceil(1024).to_string();
    let memory = |memory: Option<Memory>| {
        memory.map_or_else(
            || "–".to_owned(),
            |memory| format!("{}, {}", memory.resident, memory.own),
        )
    };
    let time = |time: Option<f64>| time.map_or_else(|| "–".to_owned(), |time| format!("{time:.2}"));
    let cells = [
        row.name.clone(),
        row.level.clone(),
        row.target.clone().unwrap_or_default(),
        size(figures.client_bytes),
        size(figures.server_bytes),
        size(figures.library_bytes),
        memory(figures.idle),
        memory(figures.with_objects),
        time(figures.first_reply_ms),
        time(figures.ready_ms),
    ];
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::measure::Figures;
    use super::*;

    #[test]
    fn what_was_not_measured_is_a_dash_and_reasons_stand_below() {
        let row = |idle| Row {
            name: "minimum".to_owned(),
            level: "s".to_owned(),
            target: None,
            figures: Figures {
                client_bytes: 1024,
                server_bytes: 2049,
                idle,
                first_reply_ms: idle.map(|_| 1.5),
                ..Figures::default()
            },
        };
        let report = Report {
            machine: crate::machine::Machine::this(),
            profile: "lto",
            starts: 3,
            nothing_ms: Some(0.5),
            rows: vec![
                row(None),
                row(Some(Memory {
                    resident: 1800,
                    own: 400,
                })),
            ],
            notes: vec!["omniORB is left out: no `omniidl`".to_owned()],
        };
        let text = shown(&report);
        assert!(
            text.contains("| minimum | s |  | 1 | 3 | 0 | – | – | – | – |"),
            "{text}"
        );
        assert!(text.contains("| 1800, 400 | – | 1.50 | – |"), "{text}");
        assert!(text.contains("(`true`) takes 0.50 ms"), "{text}");
        assert!(text.ends_with("left out: no `omniidl`\n"), "{text}");
    }
}
