//! Alarm manager: pulls the alarms of a channel in sequences, keeps the list of those that are active, and serves it as a
//! page.
//!
//! ```sh
//! alarm-manager corbaloc::127.0.0.1:2809/NotifyEventChannelFactory --filter "\$perceivedSeverity == 'PS_CRITICAL'"
//! ```
//!
//! A batch counts as taken with the next call, so that what is pulled is noted before: in the list, and in the file of
//! `--state`. The service delivers again what was not taken when it or this program ended, and the list knows it by its
//! ids.

mod board;
mod consumer;
mod kept;
mod page;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use clap::Parser;
use punctual::Orb;
use punctual::config::parse_duration;
use punctual_console::{Console, ConsoleOptions};
use punctual_example_alarms::channel::Failure;
use punctual_example_alarms::exit::ended;
use punctual_example_alarms::{AlarmList, Sources};
use punctual_host::run::ending_signals;

use board::{Board, say};
use consumer::{Consumer, Wanted};
use kept::Kept;
use page::AlarmsPage;

/// Time between two pulls without an event.
const PAUSE: Duration = Duration::from_millis(100);

/// Time after which a service that is away is called again.
const RETRY: Duration = Duration::from_millis(500);

/// Lists the active alarms of a notification channel, and serves them as a page. Options that begin with -ORB
/// configure the ORB.
#[derive(Debug, Parser)]
#[command(name = "alarm-manager")]
struct Options {
    /// Factory of channels: an `IOR:`, `corbaloc:` or `corbaname:` text, or `file://` with the path of a file that holds one.
    factory: String,
    /// Id of the channel.
    #[arg(long, value_name = "ID", default_value_t = 0)]
    channel: i32,
    /// Constraint that alarms have to meet: `$perceivedSeverity == 'PS_CRITICAL'`. Alarms that end come in any case.
    #[arg(long, value_name = "CONSTRAINT")]
    filter: Option<String>,
    /// Language of the constraint: EXTENDED_TCL, or TCL, whose names of fields need no `$`.
    #[arg(long, default_value = "EXTENDED_TCL")]
    grammar: String,
    /// File that the list is kept in, with the reference to the connection, so that events wait while this program is
    /// away.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Address of the page. Loopback addresses only.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:2813")]
    web: String,
    /// Time without an event after which a management system counts as silent.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    heartbeat: Duration,
}

fn main() -> ExitCode {
    ended("alarm-manager", run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut signals = ending_signals()?;
    let (orb, arguments) = Orb::init(std::env::args())?;
    let options = Options::parse_from(arguments);
    let kept = match &options.state {
        Some(path) => Kept::read(path)?,
        None => Kept::default(),
    };
    let list = AlarmList::restored(kept.alarms.clone(), kept.ids.clone());
    let sources = Sources::new(options.heartbeat);
    let board = Arc::new(Board::new(list, sources, options.filter.clone()));
    let page = served(&options.web, &board)?;
    let wanted = Wanted {
        factory: options.factory,
        channel: options.channel,
        filter: options.filter,
        grammar: options.grammar,
    };
    let consumer = Consumer::resumed_or_connected(&orb, &wanted, &kept)?;
    let mut manager = Manager {
        orb,
        wanted,
        state: options.state,
        board,
        consumer,
    };
    let done = manager.keep();
    if done.is_ok() {
        say(&format!("page at http://{}/alarms", page.address()));
        manager.board.connect();
        while signals.pending().next().is_none() {
            manager.turn()?;
        }
    }
    if done.is_err() || manager.state.is_none() {
        manager.consumer.disconnect();
    }
    done
}

/// Manager with its connection to the channel.
struct Manager {
    orb: Orb,
    wanted: Wanted,
    state: Option<PathBuf>,
    board: Arc<Board>,
    consumer: Consumer,
}

impl Manager {
    /// Pulls once, or connects again. What is pulled is noted before the next turn.
    fn turn(&mut self) -> Result<(), Box<dyn Error>> {
        match self.consumer.pull() {
            Ok(events) => {
                self.board.connect();
                if events.is_empty() {
                    sleep(PAUSE);
                    return Ok(());
                }
                self.board.take(&events).iter().for_each(|line| say(line));
                self.keep()
            }
            Err(error) => {
                let problem = match Failure::of(&error) {
                    Failure::Ended => return self.connect_again(),
                    Failure::Away => "the service does not answer",
                    // The connection is still there, with the events that wait for it.
                    Failure::Full | Failure::Refused => "the service refuses to give events",
                };
                self.lose(&format!("{problem}: {error}"));
                Ok(())
            }
        }
    }

    /// Makes a connection in place of one that has ended.
    fn connect_again(&mut self) -> Result<(), Box<dyn Error>> {
        match Consumer::connected(&self.orb, &self.wanted) {
            Ok(consumer) => {
                self.consumer = consumer;
                self.keep()
            }
            Err(error) => {
                self.lose(&error.to_string());
                Ok(())
            }
        }
    }

    /// Shows why no events come, and waits for the next try.
    fn lose(&self, why: &str) {
        self.board.lose(why);
        sleep(RETRY);
    }

    /// Writes the file for another run, if there is to be one.
    fn keep(&self) -> Result<(), Box<dyn Error>> {
        let Some(path) = &self.state else {
            return Ok(());
        };
        let reference = self.consumer.reference()?;
        self.board.kept(reference, &self.wanted.grammar).write(path)
    }
}

/// Serves the page.
fn served(address: &str, board: &Arc<Board>) -> Result<Console, Box<dyn Error>> {
    let options = ConsoleOptions {
        address: address.to_owned(),
        ..ConsoleOptions::default()
    };
    let page = Console::listen(&options, vec![Box::new(AlarmsPage(board.clone()))]);
    Ok(page.map_err(|error| format!("--web {address}: {error}"))?)
}
