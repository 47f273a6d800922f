//! Printing of findings as text.

use super::finding::{Finding, Verdict};
use super::report::Report;
use anstyle::{AnsiColor, Style};

const TITLE: Style = Style::new().bold();
const NOTE: Style = AnsiColor::Cyan.on_default();

/// Width of the longest name.
const NAME: usize = 25;

pub(super) fn print(report: &Report) {
    let mut group = "";
    for finding in &report.findings {
        if finding.group != group {
            group = finding.group;
            println!("{TITLE}{group}{TITLE:#}");
        }
        print_finding(finding);
    }
    let (style, said) = match report.granted {
        true => (
            of(Verdict::Ok),
            "An `RtOrb` with default settings starts here.",
        ),
        false => (
            of(Verdict::Missing),
            "An `RtOrb` with default settings does not start here: SCHED_FIFO is not granted.",
        ),
    };
    println!("{style}{said}{style:#}");
}

fn print_finding(finding: &Finding) {
    let style = of(finding.verdict);
    let verdict = match finding.verdict {
        Verdict::Ok => "ok",
        Verdict::Warning => "warning",
        Verdict::Missing => "missing",
        Verdict::Unknown => "unknown",
    };
    let (name, value) = (finding.name, &finding.value);
    println!("  {style}{verdict:<7}{style:#}  {name:<NAME$}  {value}");
    if finding.verdict == Verdict::Ok {
        return;
    }
    println!("           {}", finding.why);
    for (place, how) in finding.mend.iter().enumerate() {
        let label = if place == 0 { "mend" } else { "or" };
        println!("           {NOTE}{label}{NOTE:#}: {how}");
    }
}

fn of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Ok => AnsiColor::Green.on_default(),
        Verdict::Warning => AnsiColor::Yellow.on_default(),
        Verdict::Missing => AnsiColor::Red.on_default().bold(),
        Verdict::Unknown => Style::new().dimmed(),
    }
}
