//! `punctual naming serve --web`: the web page of names, if built in.

use punctual_host::Problem;
use punctual_host::run::Companion;
use punctual_host::settings::{Key, Setting, Values};
use punctual_naming::NamingServer;

const WEB: Key<Option<String>> = Key::text("web").value_name("ADDRESS").doc(
    "Serve a page of the names by HTTP at this address, as 127.0.0.1:2811: the tree, what references say, which \
     objects answer, and changes where --allow grants them to the browser's address. Loopback addresses only, unless \
     --web-remote is given. A program that was built with `--no-default-features` has no page.",
);
const WEB_REMOTE: Key<bool> = Key::flag("web-remote").requires(&["web"]).doc(
    "Let --web have an address that other machines reach. Whoever reaches it reads all names, in clear.",
);
const WEB_HOST: Key<Vec<String>> = Key::list("web-host", any)
    .value_name("HOST")
    .requires(&["web"])
    .doc(
        "A name that browsers reach the page by, as names.example or names.example:443. Requests for other hosts than \
         the address itself are refused. May be given more than once.",
    );
const NO_WEB_ANSWERS: Key<bool> = Key::flag("no-web-answers").requires(&["web"]).doc(
    "Do not ask the objects that the page shows whether they answer: that connects to the addresses in their references.",
);

/// Settings of the page.
pub(super) const SETTINGS: &[&Setting] = &[
    &WEB.setting,
    &WEB_REMOTE.setting,
    &WEB_HOST.setting,
    &NO_WEB_ANSWERS.setting,
];

/// Accepts any host: the page checks them.
fn any(_: &str) -> Result<(), String> {
    Ok(())
}

/// Returns the part of the process that serves the page, if the settings enable it.
#[cfg(feature = "web")]
pub(super) fn page(values: &Values) -> Result<Companion<NamingServer>, Problem> {
    use punctual_console::{Console, ConsoleError, ConsoleOptions, Naming};

    const ON_PAGES: &str = "an address of this machine and a port, as 127.0.0.1:2811";
    const ON_OTHERS: &str = "name a loopback address, as 127.0.0.1:2811, or add --web-remote: every client that \
                             reaches it can then read all names, and change what --allow grants to its address";
    let address = values.get(&WEB);
    let options = ConsoleOptions {
        address: address.clone().unwrap_or_default(),
        is_for_others: values.get(&WEB_REMOTE),
        hosts: values.get(&WEB_HOST),
        ..ConsoleOptions::default()
    };
    let asks = !values.get(&NO_WEB_ANSWERS);
    Ok(Box::new(
        move |server: &std::sync::Arc<NamingServer>, orb| {
            let Some(address) = address else {
                return Ok(Box::new(()));
            };
            let names = Naming {
                directory: server.service.directory(),
                orb: orb.clone(),
                asks,
            };
            let page = Console::listen(&options, vec![Box::new(names)]).map_err(|error| {
                let help = match error {
                    ConsoleError::ForOthers(_) => ON_OTHERS,
                    _ => ON_PAGES,
                };
                Problem::new(format!("--web {address}: {error}"), help)
            })?;
            eprintln!("web page at http://{}/", page.address());
            Ok(Box::new(page))
        },
    ))
}

/// Refuses a page that is not built in.
#[cfg(not(feature = "web"))]
pub(super) fn page(values: &Values) -> Result<Companion<NamingServer>, Problem> {
    match values.get(&WEB) {
        None => Ok(Box::new(|_, _| Ok(Box::new(())))),
        Some(address) => Err(Problem::new(
            format!("--web {address}: the page is not built into this program"),
            "build it with the default features: `cargo build --release --package punctual-cli`",
        )),
    }
}
