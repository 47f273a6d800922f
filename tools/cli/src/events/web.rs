//! `punctual events serve --web`: the web page of a channel, if built in.

use crate::web::{WEB, WEB_HOST, WEB_REMOTE};
use punctual_host::Problem;
use punctual_host::run::Companion;
use punctual_host::settings::{Setting, Values};
use punctual_rtevent_service::EventService;

/// Settings of the page.
pub(super) const SETTINGS: &[&Setting] = &[&WEB.setting, &WEB_REMOTE.setting, &WEB_HOST.setting];

/// Returns the part of the process that serves the page, if the settings enable it.
#[cfg(feature = "web")]
pub(super) fn page(values: &Values) -> Result<Companion<EventService>, Problem> {
    use punctual_console::Events;

    Ok(crate::web::companion(
        values,
        Box::new(|service: &std::sync::Arc<EventService>, _| {
            vec![Box::new(Events {
                service: service.as_ref().clone(),
            })]
        }),
    ))
}

/// Refuses a page that is not built in.
#[cfg(not(feature = "web"))]
pub(super) fn page(values: &Values) -> Result<Companion<EventService>, Problem> {
    crate::web::refuse(values)
}
