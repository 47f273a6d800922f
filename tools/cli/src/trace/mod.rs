//! `punctual trace`: decodes the values of messages in the log of a program that runs with
//! `-ORBTrace giop,payload`. Compiled stubs contain no type descriptions, so the program itself
//! prints bytes only.
//!
//! [`log`] reads lines, [`calls`] finds the request of a reply, [`values`] decodes by the
//! declarations that [`known`] has from an IDL file or an Interface Repository, and [`show`]
//! prints. A log may have any length and contents: memory is bounded.

mod bounded;
mod calls;
mod known;
mod log;
mod show;
mod values;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Stdout, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::call::{self, Problem};
use crate::fail;
use crate::idl_options::OptionsOfIdl;
use crate::shown;
use calls::{Calls, Contents, Reason};
use known::KnownDeclarations;
use log::{Event, Log, NoBody};
use show::{LogProblem, Text};

/// Options of `punctual trace`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Reads the log of a program that runs with -ORBTrace giop,payload, passes each line on, and adds the \
                  arguments and results of each message as values, by the program's IDL or an Interface Repository.",
    after_long_help = concat!(
        "Examples:\n  \
         my-server -ORBTrace giop,payload 2>&1 | punctual trace --idl plant.idl\n  \
         punctual trace --idl plant.idl --json server.log\n\n\
         docs/call.md, \"Seeing what travels\", shows what is printed.\n"
    )
)]
pub(crate) struct Options {
    /// The log; without it, standard input.
    #[arg(value_name = "FILE")]
    log: Option<PathBuf>,
    /// The IDL that declares the interfaces; may be given several times.
    #[arg(long, value_name = "FILE")]
    idl: Vec<PathBuf>,
    #[command(flatten)]
    front: OptionsOfIdl,
    /// The Interface Repository that knows the interfaces.
    #[arg(long, value_name = "REFERENCE", conflicts_with = "idl")]
    ifr: Option<String>,
    /// Print a JSON object for each message instead of the log.
    #[arg(long)]
    json: bool,
    /// A configuration file, e.g. with TLS certificates for the Interface Repository.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    let known = match known(options, orb_options) {
        Ok(known) => known,
        Err(problem) => return problem.report(),
    };
    let input: Box<dyn Read> = match &options.log {
        None => Box::new(io::stdin()),
        Some(path) if path.as_os_str() == "-" => Box::new(io::stdin()),
        Some(path) => match File::open(path) {
            Ok(file) => Box::new(file),
            Err(error) => return fail(format!("{}: {error}", path.display()), None),
        },
    };
    let mut output = Output::new(known, options.json);
    match output.pass(BufReader::new(input)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader may have closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => fail(error, None),
    }
}

fn known(options: &Options, orb_options: &[String]) -> Result<KnownDeclarations, Problem> {
    let mut known = KnownDeclarations::new();
    for file in &options.idl {
        known.add_idl(&call::compiled(file, &options.front)?);
    }
    if options.idl.is_empty() {
        let orb = call::orb(options.config.as_deref(), orb_options)?;
        let repository = call::repository(&orb, options.ifr.as_deref())?;
        let repository = repository.ok_or_else(|| {
            Problem::usage(
                "the types of the log's messages are unknown",
                "name the IDL with --idl FILE, or an Interface Repository with --ifr REFERENCE",
            )
        })?;
        known.add_repository(&repository)?;
    }
    Ok(known)
}

/// Maximum length of a line that is parsed, in bytes; longer ones are passed on unparsed.
const LONGEST_LINE: u64 = 64 << 10;

/// Output of the log, and the state of its parsing.
struct Output {
    log: Log,
    calls: Calls,
    text: Text,
    is_json: bool,
    remarked: HashSet<LogProblem>,
    /// True if the last output was a complete line.
    is_at_start: bool,
    out: BufWriter<Stdout>,
}

impl Output {
    fn new(known: KnownDeclarations, is_json: bool) -> Self {
        Self {
            log: Log::default(),
            calls: Calls::new(known),
            text: Text::default(),
            is_json,
            remarked: HashSet::new(),
            is_at_start: true,
            out: BufWriter::new(io::stdout()),
        }
    }

    /// Passes a whole log on, each line as soon as it has arrived.
    fn pass(&mut self, mut input: BufReader<Box<dyn Read>>) -> io::Result<()> {
        let (mut line, mut is_in_line) = (Vec::new(), false);
        loop {
            line.clear();
            if input
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?
                == 0
            {
                break;
            }
            let is_part = line.last() != Some(&b'\n') && line.len() as u64 == LONGEST_LINE;
            match is_part || is_in_line {
                true => self.noise(&line, is_in_line)?,
                false => self.line(&line)?,
            }
            is_in_line = is_part;
            if input.buffer().is_empty() {
                self.out.flush()?;
            }
        }
        let event = self.log.end();
        self.add(event)?;
        if !self.log.has_messages() {
            self.remark(LogProblem::NoMessages);
        }
        self.out.flush()
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(text) = str::from_utf8(line) else {
            return self.noise(line, false);
        };
        let text = text.trim_end_matches(['\n', '\r']);
        let before = self.log.ends_before(text);
        self.add(before)?;
        if text.starts_with("payload ") {
            // The program has printed a value of a type that it knows: it is shown here, too.
            return Ok(());
        }
        self.pass_on(line)?;
        let event = self.log.take(text);
        self.add(event)
    }

    /// Passes on text that is not a line of a trace, or the rest of a line that has begun before.
    fn noise(&mut self, octets: &[u8], has_begun: bool) -> io::Result<()> {
        if !has_begun {
            let event = self.log.end();
            self.add(event)?;
        }
        self.pass_on(octets)
    }

    fn pass_on(&mut self, octets: &[u8]) -> io::Result<()> {
        if self.is_json {
            return Ok(());
        }
        self.is_at_start = octets.ends_with(b"\n");
        self.out.write_all(octets)
    }

    /// Writes the decoded contents of a message.
    fn add(&mut self, event: Option<Event>) -> io::Result<()> {
        let message = match event {
            None => return Ok(()),
            Some(Event::Foreign) => {
                self.remark(LogProblem::Foreign);
                return Ok(());
            }
            Some(Event::Message(message)) => message,
        };
        let Some(told) = self.calls.take(message) else {
            return Ok(());
        };
        if matches!(
            told.says,
            Contents::Nothing(Reason::NoBody(NoBody::NotShown))
        ) {
            self.remark(LogProblem::NoOctets);
        }
        if self.is_json {
            return writeln!(self.out, "{}", shown::json(show::json(&told)?));
        }
        for line in self.text.lines(&told) {
            if !std::mem::replace(&mut self.is_at_start, true) {
                writeln!(self.out)?;
            }
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// Prints a remark about the whole log, at most once.
    fn remark(&mut self, remark: LogProblem) {
        if self.remarked.insert(remark) {
            let note = anstyle::AnsiColor::Cyan.on_default().bold();
            anstream::eprintln!("{note}note{note:#}: {}", remark.text());
        }
    }
}
