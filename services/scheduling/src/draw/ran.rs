//! What ran, below a row: the jobs of a recorded time line.

use super::lane::Lane;
use super::markup::Markup;
use crate::measured::{RecordedJob, RecordedTimeline};
use crate::time::Time;

/// Number of jobs of a row above which only the first are drawn.
const MOST_JOBS: usize = 2_000;

/// Jobs that ran, by operation, from an origin on.
pub(super) struct Ran<'r> {
    recorded: &'r RecordedTimeline,
    origin: Time,
}

impl<'r> Ran<'r> {
    /// Returns the jobs of a time line, from the first request of these operations on.
    pub(super) fn of<'n>(
        recorded: &'r RecordedTimeline,
        operations: impl Iterator<Item = &'n str>,
    ) -> Self {
        let first = operations.filter_map(|name| recorded.jobs(name).first());
        let origin = first.map(|job| job.read).min().unwrap_or(Time::ZERO);
        Self { recorded, origin }
    }

    /// Returns whether jobs of the operation in the window are not drawn for want of room.
    pub(super) fn is_cut(&self, operation: &str, until: Time) -> bool {
        self.within(operation, until).nth(MOST_JOBS).is_some()
    }

    /// Draws the jobs of an operation in a lane; those behind its window are left out.
    pub(super) fn draw(
        &self,
        markup: &mut Markup,
        lane: &Lane<'_>,
        (operation, deadline): (&str, Time),
    ) {
        lane.base_line(markup);
        let jobs = self.within(operation, lane.scale.until).take(MOST_JOBS);
        for (job, number) in jobs.zip(1..) {
            let title = described((operation, number), &job, deadline);
            lane.recorded_job(markup, &title, &job, job.read + deadline);
        }
    }

    /// Returns the jobs of an operation in the window, by the time of the picture.
    fn within(&self, operation: &str, until: Time) -> impl Iterator<Item = RecordedJob> {
        let jobs = self.recorded.jobs(operation).iter();
        let jobs = jobs.map(|job| RecordedJob {
            read: job.read - self.origin,
            begin: job.begin - self.origin,
            end: job.end - self.origin,
        });
        jobs.take_while(move |job| job.read <= until)
    }
}

fn described((operation, number): (&str, u64), job: &RecordedJob, deadline: Time) -> String {
    let (read, wait, response) = (job.read, job.wait(), job.response());
    let missed = match response > deadline {
        true => ": missed",
        false => "",
    };
    format!(
        "{operation}, recorded job {number}\nread at {read}\nwaited {wait}, response {response}\ndeadline {deadline}{missed}"
    )
}
