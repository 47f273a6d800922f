//! `punctual schedule compare`.

use super::comparison::{has_run, print_measured, print_timeline, print_verdict};
use super::draw::write_picture;
use super::measured_file::read_observed;
use super::source::{Source, print_json};
use super::values::{above_zero, picture};
use crate::fail;
use punctual_scheduling::Time;
use punctual_scheduling::draw::Options as Drawing;
use punctual_scheduling::measured::{
    Compared, Observed, RecordedTimeline, compare, compare_timeline,
};
use punctual_scheduling::model::Model;
use punctual_scheduling::plan::Plan;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of `punctual schedule compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// What ran: measured times, as `-ORBRecord` wrote them, or a time line, as `-ORBTimeline` or
    /// `write_chrome_trace` wrote it.
    #[arg(value_name = "MEASURED", required_unless_present = "idl")]
    measured: Option<PathBuf>,
    /// Draw what ran below the simulated plan, from a time line: an SVG, or a page with zoom and pan, by the ending .svg
    /// or .html; an SVG without ending.
    #[arg(long, value_name = "FILE", value_parser = picture)]
    draw: Option<PathBuf>,
    /// Time to draw, e.g. 100ms; by default as `punctual schedule draw` does.
    #[arg(long, value_name = "TIME", requires = "draw", value_parser = above_zero)]
    until: Option<Time>,
}

impl Options {
    /// Returns the model and the file of what ran: the only file is that of what ran, where IDL says all of the model.
    fn files(&self) -> Result<(Source, &PathBuf), ExitCode> {
        match (&self.measured, self.source.file()) {
            (Some(measured), _) => Ok((self.source.clone(), measured)),
            (None, Some(measured)) => Ok((self.source.without_file(), measured)),
            (None, None) => Err(fail(
                "the file of what ran is missing",
                Some(
                    "`punctual schedule compare [FILE] MEASURED`, as `-ORBRecord MEASURED` or `-ORBTimeline MEASURED` wrote it",
                ),
            )),
        }
    }
}

/// Comparison in JSON.
#[derive(Serialize)]
struct Comparison {
    as_planned: bool,
    /// Kind of the file: `measured` or `timeline`.
    source: &'static str,
    not_recorded: u64,
    /// Number of records that the time line has lost.
    lost_records: u64,
    operations: Vec<Compared>,
}

impl Comparison {
    fn new(model: &Model, plan: &Plan, observed: &Observed) -> Self {
        let (source, operations, not_recorded, lost_records) = match observed {
            Observed::Measured(measured) => {
                let all = compare(model, plan, measured);
                ("measured", all, measured.not_recorded, 0)
            }
            Observed::Timeline(recorded) => {
                let all = compare_timeline(model, plan, recorded);
                ("timeline", all, recorded.unnamed, recorded.lost)
            }
        };
        let mut findings = operations.iter().flat_map(|one| &one.findings);
        Self {
            as_planned: not_recorded == 0
                && has_run(&operations)
                && !findings.any(|finding| finding.is_worse()),
            source,
            not_recorded,
            lost_records,
            operations,
        }
    }
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let (source, measured) = options.files()?;
    let model = source.model(&source.read()?)?;
    let plan = source.plan(&model)?;
    let observed = read_observed(measured)?;
    let comparison = Comparison::new(&model, &plan, &observed);
    if let Some(file) = &options.draw {
        let ran = Some(timeline(&observed, measured)?.clone());
        let window = options.until;
        let drawing = Drawing {
            window,
            ran,
            ..Drawing::default()
        };
        write_picture(file, &model, &plan, &drawing)?;
    }
    match source.json {
        true => print_json(&comparison)?,
        false => print(&comparison, &observed),
    }
    Ok(match comparison.as_planned {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Returns the time line of the file, or prints that it has none to draw.
fn timeline<'o>(observed: &'o Observed, file: &Path) -> Result<&'o RecordedTimeline, ExitCode> {
    match observed {
        Observed::Timeline(recorded) => Ok(recorded),
        Observed::Measured(_) => Err(fail(
            format!(
                "{} has distributions of measured times, which cannot be drawn job by job",
                file.display()
            ),
            Some("record a time line with -ORBTimeline FILE, and draw that"),
        )),
    }
}

fn print(comparison: &Comparison, observed: &Observed) {
    match observed {
        Observed::Measured(_) => print_measured(&comparison.operations),
        Observed::Timeline(_) => print_timeline(&comparison.operations),
    }
    anstream::println!();
    if comparison.not_recorded > 0 {
        let jobs = comparison.not_recorded;
        anstream::println!("{jobs} jobs of further operations were not recorded");
    }
    if comparison.lost_records > 0 {
        let records = comparison.lost_records;
        anstream::println!(
            "{records} later records had no room in the time line: what ran after them is not compared"
        );
    }
    print_verdict(&comparison.operations, comparison.as_planned);
}
