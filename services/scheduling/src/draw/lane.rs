//! Row of the picture: the jobs of a stream.

use super::markup::Markup;
use super::scale::Scale;
use crate::measured::RecordedJob;
use crate::time::Time;
use crate::timeline::{Activity, Job, Slice};

/// Height of a row.
pub(super) const HEIGHT: f64 = 34.0;
/// Height of the base of the bars in a row.
const BASE: f64 = 29.0;
/// Height of a bar.
const BAR: f64 = 14.0;
/// Height of the tips of releases, and of the ends of deadlines, in a row.
const TIP: f64 = 5.0;
/// Least distance of the arrows of a row in pixels.
const LEAST_DISTANCE: f64 = 12.0;
/// Number of colours of chains.
const COLOURS: usize = 6;

/// Row of a stream.
pub(super) struct Lane<'t> {
    pub(super) name: &'t str,
    /// Number of the chain, from which the colour follows.
    pub(super) chain: usize,
    pub(super) period: Time,
    pub(super) top: f64,
    pub(super) scale: Scale,
}

impl Lane<'_> {
    /// Returns whether the arrows of the row stand far enough apart to be drawn.
    pub(super) fn has_arrows(&self) -> bool {
        self.scale.length(self.period) >= LEAST_DISTANCE
    }

    pub(super) fn base_line(&self, markup: &mut Markup) {
        let base = self.top + BASE;
        markup.line("base", (self.scale.left, base), (self.scale.right(), base));
    }

    /// Draws a job with its slices.
    pub(super) fn job(&self, markup: &mut Markup, job: &Job, slices: &[Slice]) {
        markup.open("job", &self.described(job));
        self.wait(markup, job);
        for slice in slices {
            self.slice(markup, job, slice);
        }
        markup.close();
    }

    /// Draws the release of a job; after the bars of all jobs, which would hide it.
    pub(super) fn release(&self, markup: &mut Markup, job: &Job) {
        if self.has_arrows() {
            let (base, tip) = (self.top + BASE, self.top + TIP);
            markup.arrow("release", self.scale.x(job.release), (base, tip));
        }
    }

    /// Draws the deadline of a job; after all releases, which are often at the same time.
    pub(super) fn deadline(&self, markup: &mut Markup, job: &Job) {
        if job.deadline > self.scale.until {
            return;
        }
        let (base, tip) = (self.top + BASE, self.top + TIP);
        let x = self.scale.x(job.deadline);
        if job.is_missed {
            markup.arrow("deadline missed", x, (tip, base));
            markup.cross("mark", (x, self.top + TIP + 1.0));
        } else if self.has_arrows() {
            markup.arrow("deadline", x, (tip, base));
        }
    }

    /// Draws a recorded job: a line from reading its request, and a bar for its upcall, of which only begin and end are
    /// known.
    pub(super) fn recorded_job(
        &self,
        markup: &mut Markup,
        title: &str,
        job: &RecordedJob,
        deadline: Time,
    ) {
        markup.open("job", title);
        let (from, to) = (self.scale.x(job.read), self.scale.x(job.end));
        let middle = self.top + BASE - BAR / 2.0;
        markup.rect("area", (from, self.top + TIP), (to - from, BASE - TIP));
        markup.line("wait", (from, middle), (self.scale.x(job.begin), middle));
        let class = format!("ran c{}", self.chain % COLOURS);
        self.bar(markup, &class, (job.begin, job.end.min(deadline)), BAR);
        self.bar(markup, "ran late", (job.begin.max(deadline), job.end), BAR);
        markup.close();
        if job.end > deadline && deadline <= self.scale.until {
            markup.cross("mark", (self.scale.x(deadline), self.top + TIP + 1.0));
        }
    }

    fn described(&self, job: &Job) -> String {
        let (name, number) = (self.name, job.number + 1);
        let (release, deadline) = (job.release, job.deadline);
        let end = match job.end {
            Some(end) => {
                let response = end - job.source_release;
                format!("ends at {end}, response {response}")
            }
            None => "ends behind the window".to_owned(),
        };
        let missed = if job.is_missed { ": missed" } else { "" };
        format!(
            "{name}, job {number}\nreleased at {release}\n{end}\ndeadline at {deadline}{missed}"
        )
    }

    /// Draws the line from release to end, with an invisible area for the pointer.
    fn wait(&self, markup: &mut Markup, job: &Job) {
        let (from, to) = (self.scale.x(job.release), self.scale.x(self.end(job)));
        let middle = self.top + BASE - BAR / 2.0;
        markup.rect("area", (from, self.top + TIP), (to - from, BASE - TIP));
        markup.line("wait", (from, middle), (to, middle));
    }

    fn end(&self, job: &Job) -> Time {
        job.end.unwrap_or(self.scale.until)
    }

    fn slice(&self, markup: &mut Markup, job: &Job, slice: &Slice) {
        let (from, to) = (slice.from, slice.to);
        let base = self.top + BASE;
        match slice.activity {
            Activity::Running => {
                let class = format!("run c{}", self.chain % COLOURS);
                self.bar(markup, &class, (from, to.min(job.deadline)), BAR);
                self.bar(markup, "run late", (from.max(job.deadline), to), BAR);
            }
            Activity::Blocked => self.bar(markup, "blocked", (from, to), BAR / 2.0),
            Activity::Awaiting => {
                let (left, right) = (self.scale.x(from), self.scale.x(to));
                let middle = base - BAR / 2.0;
                markup.line("awaits", (left, middle), (right, middle));
            }
        }
    }

    fn bar(&self, markup: &mut Markup, class: &str, (from, to): (Time, Time), height: f64) {
        if from < to {
            let (left, right) = (self.scale.x(from), self.scale.x(to));
            let top = self.top + BASE - BAR / 2.0 - height / 2.0;
            markup.rect(class, (left, top), (right - left, height));
        }
    }
}
