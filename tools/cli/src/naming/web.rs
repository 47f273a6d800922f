//! `punctual naming serve --web`: the page of names, where it is built in.

use crate::serving::Problem;
use punctual::Orb;
use punctual_naming::NamingService;

/// A page to look at.
#[derive(Debug, clap::Args)]
pub(super) struct WebOptions {
    /// Serve a page of the names by HTTP at this address, as 127.0.0.1:2811: the tree, what references say, which objects
    /// answer, and changes where --allow grants them to the browser's address. Loopback addresses only, unless
    /// --web-remote is given. It has to be built in: `--features web`.
    #[arg(long, value_name = "ADDRESS")]
    web: Option<String>,
    /// Let --web have an address that other machines reach. Whoever reaches it reads all names, in clear.
    #[arg(long, requires = "web")]
    web_remote: bool,
    /// A name that browsers reach the page by, as names.example or names.example:443. Requests for other hosts than the
    /// address itself are refused. May be given more than once.
    #[arg(long, value_name = "HOST", requires = "web")]
    web_host: Vec<String>,
    /// Do not ask the objects that the page shows whether they answer: that connects wherever their references say.
    #[arg(long, requires = "web")]
    no_web_answers: bool,
}

#[cfg(feature = "web")]
pub(super) use punctual_console::Console as Page;

/// What there is where no page is built in.
#[cfg(not(feature = "web"))]
#[derive(Debug)]
pub(super) enum Page {}

/// Serves the page until it is dropped, if it is wanted.
#[cfg(feature = "web")]
pub(super) fn served(
    options: &WebOptions,
    orb: &Orb,
    service: &NamingService,
) -> Result<Option<Page>, Problem> {
    use punctual_console::{ConsoleError, ConsoleOptions, Naming};

    const ON_PAGES: &str = "an address of this machine and a port, as 127.0.0.1:2811";
    const ON_OTHERS: &str = "name a loopback address, as 127.0.0.1:2811, or add --web-remote: whoever reaches it then reads \
                             all names, and changes what --allow grants to their addresses";
    let Some(address) = &options.web else {
        return Ok(None);
    };
    let at = ConsoleOptions {
        address: address.clone(),
        is_for_others: options.web_remote,
        hosts: options.web_host.clone(),
        ..ConsoleOptions::default()
    };
    let naming = Naming {
        directory: service.directory(),
        orb: orb.clone(),
        asks: !options.no_web_answers,
    };
    let page = Page::listen(&at, naming).map_err(|error| {
        let help = match error {
            ConsoleError::ForOthers(_) => ON_OTHERS,
            _ => ON_PAGES,
        };
        (format!("--web {address}: {error}"), help)
    })?;
    eprintln!("web page at http://{}/", page.address());
    Ok(Some(page))
}

/// Refuses the page, which is not built in.
#[cfg(not(feature = "web"))]
pub(super) fn served(
    options: &WebOptions,
    _: &Orb,
    _: &NamingService,
) -> Result<Option<Page>, Problem> {
    match &options.web {
        None => Ok(None),
        Some(address) => Err((
            format!("--web {address}: the page is not built into this program"),
            "build it with `cargo build --release --package punctual-cli --features web`",
        )),
    }
}

/// Ends the page, if there is one, before the ORB that it asks objects by.
pub(super) fn end(_: Option<Page>) {}
