//! `punctual naming serve --web`: the web page of names, if built in.

use super::process::NamingProcess;
use crate::web::{WEB_HOST, WEB_REMOTE};
use punctual_host::Problem;
use punctual_host::run::Companion;
use punctual_host::settings::{Key, Setting, Values};

const WEB: Key<Option<String>> = Key::text("web").value_name("ADDRESS").doc(
    "Serve a page of the names by HTTP at this address, as 127.0.0.1:2811: the tree, what references say, which \
     objects answer, and changes where --allow grants them to the browser's address; with --groups, a page of the \
     groups, too. Loopback addresses only, unless \
     --web-remote is given. A program that was built with `--no-default-features` has no page.",
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

/// Returns the part of the process that serves the page, if the settings enable it.
#[cfg(feature = "web")]
pub(super) fn page(values: &Values) -> Result<Companion<NamingProcess>, Problem> {
    use punctual_console::{Groups, Naming, Page};

    let asks = !values.get(&NO_WEB_ANSWERS);
    Ok(crate::web::companion(
        values,
        Box::new(move |process: &std::sync::Arc<NamingProcess>, orb| {
            let mut pages: Vec<Box<dyn Page>> = vec![Box::new(Naming {
                directory: process.names.service.directory(),
                orb: orb.clone(),
                asks,
            })];
            if let Some(groups) = &process.groups {
                let service = groups.service.clone();
                pages.push(Box::new(Groups { service }));
            }
            pages
        }),
    ))
}

/// Refuses a page that is not built in.
#[cfg(not(feature = "web"))]
pub(super) fn page(values: &Values) -> Result<Companion<NamingProcess>, Problem> {
    crate::web::refuse(values)
}
