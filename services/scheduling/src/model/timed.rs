//! Operations that IDL times by `@rt`.

use super::file::{File, Operation};
use super::sources::Sources;
use crate::level::Level;
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::model::{Declaration, RtInfo, RtLevel, RtValue, Specification};
use punctual_idl::source::{FileId, Location};
use std::collections::HashMap;
use std::ops::Range;
use toml::Spanned;

/// Adds the timed operations of specifications to a file. What the file states of an operation
/// itself is kept, and completed.
///
/// # Errors
/// Operations that are timed twice.
pub(super) fn add(
    file: &mut File,
    idl: &[&Specification],
    sources: &mut Sources,
) -> Vec<Diagnostic> {
    let mut adding = Adding {
        file,
        sources,
        seen: HashMap::new(),
        faults: Vec::new(),
    };
    for specification in idl {
        adding.specification(specification);
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
                    self.complete(name, place, info, annotated);
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

    fn complete(&mut self, name: String, place: Range<usize>, info: &RtInfo, start: usize) {
        let table = match self.file.operation.get_mut(name.as_str()) {
            Some(table) => table,
            None => {
                let name = Spanned::new(place, name);
                self.file.operation.entry(name).or_default()
            }
        };
        complete(table, info, start);
    }
}

/// Adds the values that a table does not state itself. The values' places begin at `start`.
fn complete(table: &mut Operation, info: &RtInfo, start: usize) {
    let times = [
        (&mut table.wcet, &info.wcet),
        (&mut table.typical, &info.typical),
        (&mut table.cached, &info.cached),
        (&mut table.period, &info.period),
        (&mut table.deadline, &info.deadline),
    ];
    for (own, stated) in times {
        let stated = stated.as_ref().map(|stated| spanned(stated, start));
        *own = own.take().or(stated);
    }
    let time = |stated: &RtValue<u64>| Time::from_nanos(stated.value);
    table.offset = table.offset.or(info.offset.as_ref().map(time));
    table.jitter = table.jitter.or(info.jitter.as_ref().map(time));
    let level = |stated: &RtValue<RtLevel>| Level::from(stated.value);
    table.criticality = table.criticality.or(info.criticality.as_ref().map(level));
    table.importance = table.importance.or(info.importance.as_ref().map(level));
    let threads = info.threads.as_ref();
    table.threads = table.threads.or(threads.map(|threads| threads.value));
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
