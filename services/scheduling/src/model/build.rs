//! Builds a model of a file: resolves names, checks values against one another.

use super::file::{self, File};
use super::names::nearest;
use super::sources::Sources;
use super::timed::{self, Timed, TimedOperation};
use super::{Host, Interference, MOST_OPERATIONS, Message, Model, Operation, Range, order};
use crate::strategy::{ALL, by_name};
use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::model::Specification;
use punctual_idl::source::SourceFile;
use std::collections::HashMap;
use std::sync::Arc;
use toml::Spanned;

/// Name of the host of a file that names none.
const ONLY_HOST: &str = "localhost";
/// Number of faults up to which similar names are searched.
const SUGGESTIONS: usize = 20;
/// Maximum number of processors of all hosts.
const MOST_PROCESSORS: usize = 4096;
/// Number of operations of a cycle that an error names.
const SHOWN: usize = 6;

/// Reads a model from a TOML text; `name` is the file's name in diagnostics.
///
/// # Errors
/// All faults that are found, each with its place.
pub fn read(name: &str, text: &str) -> Result<Model, Vec<Diagnostic>> {
    read_with_idl(name, text, &[])
}

/// Reads a model from a TOML text and the operations that specifications of IDL time by `@rt`, each
/// under the name `Module::Interface::operation`. A table of the text with that name completes the
/// operation; what both state, the text decides.
///
/// # Errors
/// All faults that are found, each with its place in the text or in the IDL.
pub fn read_with_idl(
    name: &str,
    text: &str,
    idl: &[&Specification],
) -> Result<Model, Vec<Diagnostic>> {
    completed(name, text, Timed::Idl(idl))
}

/// Reads a model from a TOML text and operations that are timed by `@rt`, as generated stubs carry them: as
/// [`read_with_idl`], without the IDL. An operation may be given several times with the same values.
///
/// # Errors
/// All faults that are found, each with its place in the text, or the name of the operation.
pub fn read_with_operations(
    name: &str,
    text: &str,
    operations: &[TimedOperation],
) -> Result<Model, Vec<Diagnostic>> {
    completed(name, text, Timed::Stubs(operations))
}

fn completed(name: &str, text: &str, timed: Timed<'_>) -> Result<Model, Vec<Diagnostic>> {
    let mut sources = Sources::new(Arc::new(SourceFile::new(name, text)));
    let mut file = file::parse(&sources).map_err(|fault| vec![*fault])?;
    let faults = timed::add(&mut file, timed, &mut sources);
    match faults.is_empty() {
        true => build(file, sources),
        false => Err(faults),
    }
}

/// Builds the model.
///
/// # Errors
/// All faults of names and values; a cycle of calls only if there are no other faults.
fn build(file: File, sources: Sources) -> Result<Model, Vec<Diagnostic>> {
    let mut builder = Builder::new(&file, sources.clone());
    builder.check_strategy(file.strategy.as_ref());
    let messages = builder.messages(&file.message);
    // In the order of the file, which the table of names has lost.
    let mut tables: Vec<_> = file.operation.iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    builder.operation_names = index(tables.iter().map(|(name, _)| *name));
    if let Some((name, _)) = tables.get(MOST_OPERATIONS) {
        let message = format!("a model has {MOST_OPERATIONS} operations at most");
        return Err(vec![sources.error(message, name.span(), "one too many")]);
    }
    let operations: Vec<_> = tables
        .iter()
        .map(|(name, table)| builder.operation(name, table))
        .collect();
    if builder.faults.is_empty() {
        builder.check_releases(&operations);
    }
    if builder
        .hosts
        .iter()
        .map(|host| host.processors)
        .sum::<usize>()
        > MOST_PROCESSORS
    {
        let message = format!("all hosts together have {MOST_PROCESSORS} processors at most");
        builder.fault(message, 0..0, "");
    }
    if operations.is_empty() {
        builder.fault(
            "the model has no operation",
            0..0,
            "add a table [operation.NAME], or `@rt` to an operation of IDL",
        );
    }
    if !builder.faults.is_empty() {
        return Err(builder.faults);
    }
    let strategy = file.strategy.map(Spanned::into_inner);
    let order = order::callers_first(&operations)
        .map_err(|cycle| vec![cycle_fault(&sources, &operations, &cycle)])?;
    Ok(Model {
        strategy,
        protocol: file.lock_protocol.into(),
        hosts: builder.hosts,
        messages,
        mutexes: file.mutexes.into_iter().map(Spanned::into_inner).collect(),
        operations,
        order,
        sources,
    })
}

/// Names that are known, and the faults found so far.
pub(super) struct Builder {
    sources: Sources,
    pub(super) hosts: Vec<Host>,
    pub(super) host_names: HashMap<String, usize>,
    pub(super) mutex_names: HashMap<String, usize>,
    pub(super) operation_names: HashMap<String, usize>,
    faults: Vec<Diagnostic>,
}

/// Returns the index of each name.
fn index<'n>(names: impl Iterator<Item = &'n Spanned<String>>) -> HashMap<String, usize> {
    let numbered = names.enumerate();
    numbered
        .map(|(at, name)| (name.as_ref().clone(), at))
        .collect()
}

impl Builder {
    fn new(file: &File, sources: Sources) -> Self {
        let mut tables: Vec<_> = file.host.iter().collect();
        tables.sort_by_key(|(name, _)| name.span().start);
        let mut builder = Self {
            sources,
            hosts: Vec::new(),
            host_names: index(tables.iter().map(|(name, _)| *name)),
            mutex_names: index(file.mutexes.iter()),
            operation_names: HashMap::new(),
            faults: Vec::new(),
        };
        for (name, table) in tables {
            let processors = builder.processors(table.processors.as_ref());
            let interference = builder.interference(table.interference.as_ref());
            let name = name.as_ref().clone();
            builder.hosts.push(Host {
                name,
                processors,
                interference,
            });
        }
        if builder.hosts.is_empty() {
            let name = ONLY_HOST.to_owned();
            builder.host_names.insert(name.clone(), 0);
            builder.hosts.push(Host {
                name,
                processors: 1,
                interference: None,
            });
        }
        if builder.mutex_names.len() < file.mutexes.len() {
            builder.repeated(&file.mutexes);
        }
        builder
    }

    pub(super) fn fault(&mut self, message: impl Into<String>, place: Range<usize>, label: &str) {
        let fault = self.sources.error(message, place, label);
        self.faults.push(fault);
    }

    fn check_strategy(&mut self, name: Option<&Spanned<String>>) {
        let Some(name) = name else { return };
        if by_name(name.as_ref()).is_none() {
            let known: Vec<_> = ALL.iter().map(|strategy| strategy.name()).collect();
            let message = format!("there is no strategy `{}`", name.as_ref());
            let fault = self.sources.error(message, name.span(), "not found");
            let help = format!("there are {}", known.join(", "));
            self.faults.push(fault.with_help(help));
        }
    }

    fn repeated(&mut self, names: &[Spanned<String>]) {
        let mut seen = HashMap::new();
        for name in names {
            if let Some(first) = seen.insert(name.as_ref(), name.span()) {
                let message = format!("mutex `{}` is listed twice", name.as_ref());
                let fault = self.sources.error(message, name.span(), "again here");
                let fault = self.sources.and(fault, first, "first here");
                self.faults.push(fault);
            }
        }
    }

    fn processors(&mut self, count: Option<&Spanned<u32>>) -> usize {
        let Some(count) = count else { return 1 };
        if !(1..=4096).contains(count.as_ref()) {
            let message = "a host has 1 to 4096 processors";
            self.fault(message, count.span(), "not possible");
        }
        (*count.as_ref()).clamp(1, 4096) as usize
    }

    fn interference(
        &mut self,
        stated: Option<&Spanned<file::Interference>>,
    ) -> Option<Interference> {
        let stated = stated?;
        let file::Interference { most, every } = *stated.as_ref();
        if most >= every {
            let message = format!(
                "the platform takes {most} in any {every}, which leaves no time to the operations"
            );
            let label = "`most` has to be below `every`";
            self.fault(message, stated.span(), label);
        }
        (!most.is_zero()).then_some(Interference { most, every })
    }

    /// Returns the index of a name, or 0 and a fault that suggests a similar one.
    pub(super) fn resolve(
        &mut self,
        name: &Spanned<String>,
        what: &str,
        names: fn(&Self) -> &HashMap<String, usize>,
    ) -> usize {
        if let Some(&found) = names(self).get(name.as_ref()) {
            return found;
        }
        // Each search looks at all names: the first faults are enough.
        let near = match self.faults.len() {
            ..SUGGESTIONS => nearest(name.as_ref(), names(self).keys()),
            _ => None,
        };
        let message = format!("there is no {what} `{}`", name.as_ref());
        let mut fault = self.sources.error(message, name.span(), "not found");
        if let Some(near) = near {
            fault = fault.with_help(format!("did you mean `{near}`?"));
        }
        self.faults.push(fault);
        0
    }

    fn messages(&mut self, tables: &[file::Message]) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for table in tables {
            let [from, to] = [&table.from, &table.to]
                .map(|name| self.resolve(name, "host", |builder| &builder.host_names));
            if messages.iter().any(|message| message.joins(from, to)) {
                let message = "the time of messages between these hosts is given twice; it holds for both directions";
                self.fault(message, table.to.span(), "again here");
            }
            let (between, time) = ((from, to), table.time);
            messages.push(Message { between, time });
        }
        messages
    }

    /// Checks that each operation is released: by its period, or by another operation.
    fn check_releases(&mut self, operations: &[Operation]) {
        let mut is_called = vec![false; operations.len()];
        for call in operations.iter().flat_map(|one| &one.calls) {
            if let Some(is_called) = is_called.get_mut(call.operation) {
                *is_called = true;
            }
        }
        for (operation, is_called) in operations.iter().zip(is_called) {
            if is_called && operation.threads == 0 && !operation.jitter.is_zero() {
                let message = format!(
                    "operation `{}` is released by its callers, which determine its jitter",
                    operation.name
                );
                self.fault(message, operation.place.clone(), "remove the key `jitter`");
            }
            let message = match (operation.period, is_called, operation.threads) {
                (None, false, _) => {
                    "is never released: no operation calls it, and it has no `period`"
                }
                (None, true, 1..) => "has threads of its own, and no `period` at which they run",
                _ => continue,
            };
            let message = format!("operation `{}` {message}", operation.name);
            self.fault(message, operation.place.clone(), "add the key `period`");
        }
    }
}

/// Makes the error of a cycle of calls.
fn cycle_fault(sources: &Sources, operations: &[Operation], cycle: &[usize]) -> Diagnostic {
    let name = |at: &usize| format!("`{}`", operations[*at].name);
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(name).collect();
    if cycle.len() > SHOWN {
        names.push(format!("{} more", cycle.len() - SHOWN));
    }
    let message = format!(
        "operations call one another in a cycle: {}",
        names.join(", ")
    );
    let place = |at: usize| {
        let next = cycle[(at + 1) % cycle.len()];
        let calls = &operations[cycle[at]].calls;
        let call = calls.iter().find(|call| call.operation == next);
        call.map_or_else(
            || operations[cycle[at]].place.clone(),
            |call| call.place.clone(),
        )
    };
    let label = |at: usize| format!("called by `{}`", operations[cycle[at]].name);
    let mut fault = sources.error(message, place(0), label(0));
    for at in 1..cycle.len().min(SHOWN) {
        fault = sources.and(fault, place(at), label(at));
    }
    fault
}
