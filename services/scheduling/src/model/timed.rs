//! Operations that IDL times by `@rt`.

use super::file::{File, Operation};
use super::sources::Sources;
use crate::level::Level;
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::model::{Declaration, RtInfo, RtLevel, RtValue, Specification};
use punctual_idl::source::{FileId, Location, SourceFile};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// Timing of an operation as `@rt` states it, in the form in which generated stubs carry it. What the annotation leaves
/// out is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedOperation {
    /// Name of the operation in the model: `Module::Interface::operation`.
    pub name: String,
    /// Worst-case execution time, without the operations that it calls.
    pub wcet: Option<Time>,
    /// Usual execution time.
    pub typical: Option<Time>,
    /// Execution time with warm caches.
    pub cached: Option<Time>,
    /// Distance of two releases, or the minimum distance.
    pub period: Option<Time>,
    /// Deadline, counted from the release.
    pub deadline: Option<Time>,
    /// Time of the first release.
    pub offset: Option<Time>,
    /// Maximum time from a nominal release to the actual one.
    pub jitter: Option<Time>,
    /// Harm of a missed deadline.
    pub criticality: Option<Level>,
    /// Preference among operations that are otherwise equal.
    pub importance: Option<Level>,
    /// Number of threads of its own.
    pub threads: Option<u32>,
}

/// Operations that stand elsewhere than in the file of the model.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timed<'t> {
    Idl(&'t [&'t Specification]),
    Stubs(&'t [TimedOperation]),
}

/// Adds timed operations to a file. What the file states of an operation itself is kept, and completed.
///
/// # Errors
/// Operations that are timed twice.
pub(super) fn add(file: &mut File, timed: Timed<'_>, sources: &mut Sources) -> Vec<Diagnostic> {
    let mut adding = Adding {
        file,
        sources,
        seen: HashMap::new(),
        faults: Vec::new(),
    };
    match timed {
        Timed::Idl(idl) => idl.iter().for_each(|one| adding.specification(one)),
        Timed::Stubs(operations) => adding.operations(operations),
    }
    adding.faults
}

/// Operations found so far.
struct Adding<'a> {
    file: &'a mut File,
    sources: &'a mut Sources,
    /// Place of each operation's declaration: the file's name, and the place there and here.
    seen: HashMap<String, (String, Location, Range<usize>)>,
    faults: Vec<Diagnostic>,
}

impl Adding<'_> {
    fn specification(&mut self, specification: &Specification) {
        let mut starts = HashMap::new();
        for declaration in &specification.declarations {
            let Some(info) = declaration.rt() else {
                continue;
            };
            let start = self.start(specification, declaration.file(), &mut starts);
            // A macro of another file may have made the annotation.
            let annotated = self.start(specification, info.location.file, &mut starts);
            let file = specification.file(declaration.file()).name();
            for name in declaration.names_in_schedule() {
                if self.is_new(&name, file, declaration, start) {
                    let place = shifted(&declaration.location, start);
                    self.complete(name, place, stated(info, annotated));
                }
            }
        }
    }

    /// Returns where a file begins among the sources.
    fn start(
        &mut self,
        specification: &Specification,
        file: FileId,
        starts: &mut HashMap<FileId, usize>,
    ) -> usize {
        *starts.entry(file).or_insert_with(|| {
            let text = specification.files[file.index()].clone();
            self.sources.add(text)
        })
    }

    /// Returns whether an operation has not been added; reports one of that name elsewhere. A file
    /// that several files include is read several times.
    fn is_new(&mut self, name: &str, file: &str, declaration: &Declaration, start: usize) -> bool {
        let location = &declaration.location;
        let place = shifted(location, start);
        let Some((first_file, first, first_place)) = self.seen.get(name) else {
            let seen = (file.to_owned(), location.clone(), place);
            self.seen.insert(name.to_owned(), seen);
            return true;
        };
        if first_file != file || first.span != location.span {
            let message = format!("the timing of `{name}` is stated twice");
            let fault = self.sources.error(message, place, "again here");
            let fault = self.sources.and(fault, first_place.clone(), "first here");
            let help = "leave out one of the files, or one `@rt`";
            self.faults.push(fault.with_help(help));
        }
        false
    }

    fn complete(&mut self, name: String, place: Range<usize>, stated: Operation) {
        let table = match self.file.operation.get_mut(name.as_str()) {
            Some(table) => table,
            None => {
                let name = Spanned::new(place, name);
                self.file.operation.entry(name).or_default()
            }
        };
        complete(table, stated);
    }

    /// Adds operations as stubs carry them, each on a line of a text of its own.
    fn operations(&mut self, operations: &[TimedOperation]) {
        let lines: String = operations
            .iter()
            .map(|one| format!("{}\n", one.name))
            .collect();
        let text = SourceFile::new("RT_OPERATIONS of the stubs", lines);
        let mut at = self.sources.add(Arc::new(text));
        let mut seen: HashMap<&str, (&TimedOperation, Range<usize>)> = HashMap::new();
        for one in operations {
            let place = at..at + one.name.len();
            at = place.end + 1;
            match seen.get(&*one.name) {
                None => {
                    seen.insert(&one.name, (one, place.clone()));
                    self.complete(one.name.clone(), place.clone(), one.stated(&place));
                }
                // Interfaces that inherit an operation have it, too.
                Some((first, _)) if *first == one => {}
                Some((_, first)) => {
                    let message = format!("the timing of `{}` is stated twice", one.name);
                    let fault = self
                        .sources
                        .error(message, place, "again here, with other values");
                    let fault = self.sources.and(fault, first.clone(), "first here");
                    self.faults.push(fault);
                }
            }
        }
    }
}

impl TimedOperation {
    /// Creates a timing that states nothing.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            wcet: None,
            typical: None,
            cached: None,
            period: None,
            deadline: None,
            offset: None,
            jitter: None,
            criticality: None,
            importance: None,
            threads: None,
        }
    }

    /// Returns the values as a table that stands at a place.
    fn stated(&self, place: &Range<usize>) -> Operation {
        let spanned = |time: Option<Time>| time.map(|time| Spanned::new(place.clone(), time));
        Operation {
            wcet: spanned(self.wcet),
            typical: spanned(self.typical),
            cached: spanned(self.cached),
            period: spanned(self.period),
            deadline: spanned(self.deadline),
            offset: self.offset,
            jitter: self.jitter,
            criticality: self.criticality,
            importance: self.importance,
            threads: self.threads,
            ..Operation::default()
        }
    }
}

/// Returns the values of an annotation as a table. Their places begin at `start`.
fn stated(info: &RtInfo, start: usize) -> Operation {
    let spanned = |time: &Option<RtValue<u64>>| Some(spanned(time.as_ref()?, start));
    let time = |stated: &RtValue<u64>| Time::from_nanos(stated.value);
    let level = |stated: &RtValue<RtLevel>| Level::from(stated.value);
    Operation {
        wcet: spanned(&info.wcet),
        typical: spanned(&info.typical),
        cached: spanned(&info.cached),
        period: spanned(&info.period),
        deadline: spanned(&info.deadline),
        offset: info.offset.as_ref().map(time),
        jitter: info.jitter.as_ref().map(time),
        criticality: info.criticality.as_ref().map(level),
        importance: info.importance.as_ref().map(level),
        threads: info.threads.as_ref().map(|threads| threads.value),
        ..Operation::default()
    }
}

/// Adds the values that a table does not state itself.
fn complete(table: &mut Operation, stated: Operation) {
    table.wcet = table.wcet.take().or(stated.wcet);
    table.typical = table.typical.take().or(stated.typical);
    table.cached = table.cached.take().or(stated.cached);
    table.period = table.period.take().or(stated.period);
    table.deadline = table.deadline.take().or(stated.deadline);
    table.offset = table.offset.or(stated.offset);
    table.jitter = table.jitter.or(stated.jitter);
    table.criticality = table.criticality.or(stated.criticality);
    table.importance = table.importance.or(stated.importance);
    table.threads = table.threads.or(stated.threads);
}

fn spanned(stated: &RtValue<u64>, start: usize) -> Spanned<Time> {
    let time = Time::from_nanos(stated.value);
    Spanned::new(shifted(&stated.location, start), time)
}

fn shifted(location: &Location, start: usize) -> Range<usize> {
    location.span.start + start..location.span.end + start
}

impl From<RtLevel> for Level {
    fn from(level: RtLevel) -> Self {
        match level {
            RtLevel::VeryLow => Self::VeryLow,
            RtLevel::Low => Self::Low,
            RtLevel::Medium => Self::Medium,
            RtLevel::High => Self::High,
            RtLevel::VeryHigh => Self::VeryHigh,
        }
    }
}
