//! Web page of a service, if built in: its address, and who may reach it.

#[cfg(feature = "web")]
use punctual::Orb;
use punctual_host::Problem;
use punctual_host::run::Companion;
use punctual_host::settings::{Key, Values};
#[cfg(feature = "web")]
use std::sync::Arc;

/// Setting for the address of the page.
pub(crate) const WEB: Key<Option<String>> = Key::text("web").value_name("ADDRESS").doc(
    "Serve a page of the service by HTTP at this address, as 127.0.0.1:2811. Loopback addresses only, unless --web-remote \
     is given. A program that was built with `--no-default-features` has no page.",
);
pub(crate) const WEB_REMOTE: Key<bool> = Key::flag("web-remote").requires(&["web"]).doc(
    "Let --web have an address that other machines reach. Whoever reaches it reads all that it shows, in clear.",
);
pub(crate) const WEB_HOST: Key<Vec<String>> = Key::list("web-host", any)
    .value_name("HOST")
    .requires(&["web"])
    .doc(
        "A name that browsers reach the page by, as names.example or names.example:443. Requests for other hosts than \
         the address itself are refused. May be given more than once.",
    );

/// Accepts any host: the page checks them.
fn any(_: &str) -> Result<(), String> {
    Ok(())
}

/// Pages of a service, made when the service is there.
#[cfg(feature = "web")]
pub(crate) type MakePages<S> =
    Box<dyn FnOnce(&Arc<S>, &Orb) -> Vec<Box<dyn punctual_console::Page>> + Send>;

/// Returns the part of the process that serves pages, if the settings enable it.
#[cfg(feature = "web")]
pub(crate) fn companion<S: 'static>(values: &Values, make: MakePages<S>) -> Companion<S> {
    use punctual_console::{Console, ConsoleError, ConsoleOptions};

    const ON_PAGES: &str = "an address of this machine and a port, as 127.0.0.1:2811";
    const ON_OTHERS: &str = "name a loopback address, as 127.0.0.1:2811, or add --web-remote: every client that \
                             reaches it can then read all that it shows, and change what --allow grants to its address";
    let address = values.get(&WEB);
    let options = ConsoleOptions {
        address: address.clone().unwrap_or_default(),
        is_for_others: values.get(&WEB_REMOTE),
        hosts: values.get(&WEB_HOST),
        ..ConsoleOptions::default()
    };
    Box::new(move |service, orb| {
        let Some(address) = address else {
            return Ok(Box::new(()));
        };
        let page = Console::listen(&options, make(service, orb)).map_err(|error| {
            let help = match error {
                ConsoleError::ForOthers(_) => ON_OTHERS,
                _ => ON_PAGES,
            };
            Problem::new(format!("--web {address}: {error}"), help)
        })?;
        eprintln!("web page at http://{}/", page.address());
        Ok(Box::new(page))
    })
}

/// Refuses a page that is not built in.
#[cfg(not(feature = "web"))]
pub(crate) fn refuse<S: 'static>(values: &Values) -> Result<Companion<S>, Problem> {
    match values.get(&WEB) {
        None => Ok(Box::new(|_, _| Ok(Box::new(())))),
        Some(address) => Err(Problem::new(
            format!("--web {address}: the page is not built into this program"),
            "build it with the default features: `cargo build --release --package punctual-cli`",
        )),
    }
}
