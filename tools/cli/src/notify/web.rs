//! `punctual notify serve --web`: the web page of the service, if built in.

use crate::web::{WEB, WEB_HOST, WEB_REMOTE};
use punctual_host::Problem;
use punctual_host::run::Companion;
use punctual_host::settings::{Setting, Values};
use punctual_notification::NotificationService;

/// Settings of the page.
pub(super) const SETTINGS: &[&Setting] = &[&WEB.setting, &WEB_REMOTE.setting, &WEB_HOST.setting];

/// Returns the part of the process that serves the page, if the settings enable it.
#[cfg(feature = "web")]
pub(super) fn page(values: &Values) -> Result<Companion<NotificationService>, Problem> {
    use punctual_console::Channels;

    Ok(crate::web::companion(
        values,
        Box::new(|service: &std::sync::Arc<NotificationService>, _| {
            vec![Box::new(Channels {
                service: service.as_ref().clone(),
            })]
        }),
    ))
}

/// Refuses a page that is not built in.
#[cfg(not(feature = "web"))]
pub(super) fn page(values: &Values) -> Result<Companion<NotificationService>, Problem> {
    crate::web::refuse(values)
}
