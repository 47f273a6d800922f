//! `punctual protocols`: protocols that an ORB supports, and pairs that do not fit.

use punctual::Orb;
use punctual::protocol::ProtocolError;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Options of `punctual protocols`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Lists the protocols that an ORB can speak: each messaging protocol over each link, and \
                  over each link that an adapter has changed. Pairs that do not fit are shown with what \
                  the link lacks."
)]
pub(crate) struct Options {
    /// A configuration file, for its `[[library]]` and `[tls]` tables.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One messaging protocol over one link.
#[derive(Debug, Serialize)]
struct Row {
    messaging: String,
    link: String,
    /// Name in endpoints and policies.
    protocol: Option<String>,
    /// Reason for which the protocol cannot be used.
    refused: Option<String>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let rows = match rows(options) {
        Ok(rows) => rows,
        Err(error) => {
            let help = "`punctual protocols` without --config shows the built-in protocols";
            return crate::fail(error, Some(help));
        }
    };
    if options.json {
        match serde_json::to_string_pretty(&rows) {
            Ok(text) => anstream::println!("{text}"),
            Err(error) => return crate::fail(error, None),
        }
    } else {
        print_table(&rows);
    }
    ExitCode::SUCCESS
}

fn rows(options: &Options) -> Result<Vec<Row>, punctual::InitError> {
    let mut builder = Orb::builder();
    if let Some(file) = &options.config {
        builder = builder.file(file)?;
    }
    let orb = builder.build()?;
    let (messaging, links) = (orb.protocol_catalogue().messaging, links(&orb));
    let mut rows = Vec::new();
    for messaging in &messaging {
        for link in &links {
            let checked = orb.check_protocol(&format!("{messaging}+{link}"));
            rows.push(row(messaging, link, checked));
        }
    }
    Ok(rows)
}

/// Returns every link of an ORB, and its combinations with the adapters that make further messaging
/// protocols possible on it.
pub(crate) fn links(orb: &Orb) -> Vec<String> {
    let catalogue = orb.protocol_catalogue();
    let mut links = Vec::new();
    for link in &catalogue.links {
        links.push(link.clone());
        links.extend(
            catalogue
                .adapters
                .iter()
                .map(|adapter| format!("{adapter}+{link}"))
                .filter(|adapted| is_worth_it(orb, &catalogue.messaging, link, adapted)),
        );
    }
    links
}

/// Returns `true` if some messaging protocol is possible on the link with the adapter but not
/// without it.
fn is_worth_it(orb: &Orb, messaging: &[String], link: &str, adapted: &str) -> bool {
    let fits =
        |messaging: &str, link: &str| orb.check_protocol(&format!("{messaging}+{link}")).is_ok();
    messaging
        .iter()
        .any(|messaging| fits(messaging, adapted) && !fits(messaging, link))
}

fn row(messaging: &str, link: &str, checked: Result<String, ProtocolError>) -> Row {
    Row {
        messaging: messaging.to_owned(),
        link: link.to_owned(),
        refused: checked.as_ref().err().map(ToString::to_string),
        protocol: checked.ok(),
    }
}

fn print_table(rows: &[Row]) {
    let good = anstyle::AnsiColor::Green.on_default();
    let bad = anstyle::AnsiColor::Red.on_default();
    let bold = anstyle::Style::new().bold();
    anstream::println!("{bold}{:<12} {:<16} protocol{bold:#}", "messaging", "link");
    for row in rows {
        let pair = format!("{:<12} {:<16}", row.messaging, row.link);
        match (&row.protocol, &row.refused) {
            (Some(protocol), _) => anstream::println!("{pair} {good}{protocol}{good:#}"),
            (None, Some(reason)) => anstream::println!("{pair} {bad}refused{bad:#}: {reason}"),
            (None, None) => {}
        }
    }
}
