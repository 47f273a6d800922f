//! `punctual idl`: compile OMG IDL to Rust, or check it.

use crate::fail;
use crate::idl_options::IdlOptions;
use punctual_idl::diagnostic::{Diagnostic, Severity, SourceLabel, render};
use punctual_idl::{Compilation, implied};
use punctual_idl_rust::{Generated, SideBySide, generate_each};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Each FILE.idl becomes FILE.rs, unless there is an error in it: then the others are written all the same, and the exit
/// status is 1. Diagnostics go to standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    front: IdlOptions,
    /// Compile the files as one, into NAME.rs.
    #[arg(long, value_name = "NAME")]
    together: Option<String>,
    /// Generate the types that several files include once for each file.
    #[arg(long, conflicts_with = "together")]
    separate: bool,
    /// Rust path of the modules that hold the generated files, each named after its file, by which files refer to one
    /// another's types; by default the modules are siblings.
    #[arg(
        long,
        value_name = "PATH",
        default_value = "super",
        conflicts_with = "together"
    )]
    modules: String,
    /// Write Rust files into this folder, which is created if missing.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Check the IDL only.
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// Use another crate's Rust types for the included declarations of an IDL scope.
    #[arg(long, value_name = "SCOPE=PATH")]
    extern_path: Vec<String>,
    /// Generate asynchronous calls: `sendp_`, `sendc_` and `_async` methods of references, and reply handlers of interfaces.
    #[arg(long, alias = "ami")]
    asynchronous: bool,
    /// Print the IDL that asynchronous calls imply (`AMI_…Handler`, `AMI_…Poller`), for compilers of other ORBs, instead of Rust.
    #[arg(long, conflicts_with_all = ["check", "out"])]
    implied_idl: bool,
    /// Generate a trait for servants that answer later (asynchronous method handling).
    #[arg(long)]
    amh: bool,
    /// Generate a trait for servants with `async` operations.
    #[arg(long)]
    async_servants: bool,
    /// References are not nil unless the IDL says `@non_nil(FALSE)`.
    #[arg(long)]
    non_nil: bool,
    /// Rust type of an IDL native type.
    #[arg(long, value_name = "NAME=TYPE")]
    native: Vec<String>,
    /// Print diagnostics as JSON, one a line, on standard output.
    #[arg(long)]
    json: bool,
    /// The IDL files. Types of what several of them include are generated for one of them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let (front, rust) = match settings(options) {
        Ok(settings) => settings,
        Err(message) => return fail(message, None),
    };
    let together = options.together.as_ref().map(|name| {
        let compilation = punctual_idl::compile_together(name, &options.files, &front);
        (PathBuf::from(format!("{name}.idl")), compilation)
    });
    let each = options.files.iter().filter(|_| options.together.is_none());
    let each = each.map(|file| (file.clone(), punctual_idl::compile(file, &front)));
    let mut failed = false;
    let compiled = together.into_iter().chain(each);
    let compiled: Vec<_> = compiled
        .filter_map(|(file, compilation)| match compilation {
            Ok(compilation) => {
                show(&compilation.warnings, options.json);
                Some((file, compilation))
            }
            Err(failure) => {
                show(&failure.diagnostics, options.json);
                failed = true;
                None
            }
        })
        .collect();
    if options.implied_idl {
        for (_, compilation) in compiled {
            print_implied(compilation);
        }
    } else if !options.check && !compiled.is_empty() {
        failed |= !generate(options, &rust, &compiled);
    }
    match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Writes the Rust of valid files; returns `true` if all could be written.
fn generate(
    options: &Options,
    rust: &punctual_idl_rust::Options,
    compiled: &[(PathBuf, Compilation)],
) -> bool {
    let specifications: Vec<_> = compiled
        .iter()
        .map(|(file, compilation)| (file.as_path(), &compilation.specification))
        .collect();
    let SideBySide { each, warnings } = generate_each(&specifications, rust);
    let mut done: Vec<(&Path, Generated)> = Vec::new();
    let mut is_right = true;
    for ((file, _), generated) in compiled.iter().zip(each) {
        match generated {
            Ok(generated) => {
                show(&generated.warnings, options.json);
                done.push((file, generated));
            }
            Err(diagnostics) => {
                show(&diagnostics, options.json);
                is_right = false;
            }
        }
    }
    show(&warnings, options.json);
    let sources = done
        .iter()
        .map(|(file, generated)| (*file, generated.source.as_str()));
    let written = write_all(&options.out, sources);
    if let Err(message) = &written {
        fail(message, None);
    }
    is_right && written.is_ok()
}

fn settings(
    options: &Options,
) -> Result<(punctual_idl::Options, punctual_idl_rust::Options), String> {
    let rust = punctual_idl_rust::Options {
        extern_paths: pairs("--extern-path", &options.extern_path)?,
        natives: pairs("--native", &options.native)?,
        asynchronous: options.asynchronous,
        amh: options.amh,
        async_servants: options.async_servants,
        non_nil: options.non_nil,
        modules: options.modules.clone(),
        separate: options.separate,
        ..punctual_idl_rust::Options::default()
    };
    Ok((options.front.front(), rust))
}

fn pairs(option: &str, values: &[String]) -> Result<Vec<(String, String)>, String> {
    let pair = |value: &String| {
        let (left, right) = value.split_once('=').ok_or_else(|| {
            format!("invalid value `{value}` for {option}: expected two names with `=` between")
        })?;
        Ok((left.to_owned(), right.to_owned()))
    };
    values.iter().map(pair).collect()
}

/// Prints the implied IDL of a file.
fn print_implied(compilation: Compilation) {
    let mut specification = compilation.specification;
    let handlers = implied::add_handlers(&mut specification);
    let text = implied::text(&specification, &handlers);
    // The reader may have closed the pipe.
    let _ = write!(std::io::stdout(), "{text}");
}

fn write_all<'a>(
    out: &Path,
    sources: impl Iterator<Item = (&'a Path, &'a str)>,
) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut written: Vec<PathBuf> = Vec::new();
    for (file, source) in sources {
        let name = Path::new(file.file_name().unwrap_or(file.as_os_str())).with_extension("rs");
        let path = out.join(name);
        if written.contains(&path) {
            return Err(format!(
                "two of the files would be written to {}",
                path.display()
            ));
        }
        std::fs::write(&path, source).map_err(|error| format!("{}: {error}", path.display()))?;
        written.push(path);
    }
    Ok(())
}

/// Maximum number of diagnostics printed for a file; errors are fewer.
const MOST_SHOWN: usize = 100;

/// Prints diagnostics: for people to standard error, as JSON to standard output.
pub(crate) fn show(diagnostics: &[Diagnostic], json: bool) {
    if json {
        for diagnostic in diagnostics {
            let shape = JsonDiagnostic::from(diagnostic);
            // Text and numbers always serialize.
            let line = serde_json::to_string(&shape).unwrap_or_default();
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    } else if !diagnostics.is_empty() {
        let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let (shown, more) = diagnostics.split_at(diagnostics.len().min(MOST_SHOWN));
        let text = render(shown, color);
        // The reader may have closed the pipe.
        let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
        if !more.is_empty() {
            let _ = writeln!(std::io::stderr(), "and {} more", more.len());
        }
    }
}

#[derive(Serialize)]
struct JsonDiagnostic<'d> {
    severity: &'static str,
    message: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<JsonPlace<'d>>,
    related: Vec<JsonPlace<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'d str>,
}

#[derive(Serialize)]
struct JsonPlace<'d> {
    file: &'d str,
    line: u32,
    column: u32,
    text: &'d str,
}

impl<'d> From<&'d Diagnostic> for JsonDiagnostic<'d> {
    fn from(diagnostic: &'d Diagnostic) -> Self {
        Self {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: &diagnostic.message,
            place: diagnostic.primary.as_ref().map(JsonPlace::from),
            related: diagnostic.secondary.iter().map(JsonPlace::from).collect(),
            help: diagnostic.help.as_deref(),
        }
    }
}

impl<'d> From<&'d SourceLabel> for JsonPlace<'d> {
    fn from(label: &'d SourceLabel) -> Self {
        let (line, column) = label.line_column();
        Self {
            file: label.file.name(),
            line,
            column,
            text: &label.text,
        }
    }
}
