//! `punctual group serve --web`: the web page of the service, if built in.

use crate::web::{WEB, WEB_HOST, WEB_REMOTE};
use punctual_groups_service::GroupService;
use punctual_host::Problem;
use punctual_host::run::Companion;
use punctual_host::settings::{Setting, Values};

/// Settings of the page.
pub(super) const SETTINGS: &[&Setting] = &[&WEB.setting, &WEB_REMOTE.setting, &WEB_HOST.setting];

/// Returns the part of the process that serves the page, if the settings enable it.
#[cfg(feature = "web")]
pub(super) fn page(values: &Values) -> Result<Companion<GroupService>, Problem> {
    use punctual_console::Groups;

    Ok(crate::web::companion(
        values,
        Box::new(|service: &std::sync::Arc<GroupService>, _| {
            vec![Box::new(Groups {
                service: service.clone(),
            })]
        }),
    ))
}

/// Refuses a page that is not built in.
#[cfg(not(feature = "web"))]
pub(super) fn page(values: &Values) -> Result<Companion<GroupService>, Problem> {
    crate::web::refuse(values)
}
