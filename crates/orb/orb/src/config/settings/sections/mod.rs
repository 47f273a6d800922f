//! Table of all settings: a file for each section of the configuration file.

mod concurrency;
mod fault_tolerance;
mod general;
mod limits;
mod one_way_buffering;
mod real_time;
mod tables;
mod tcp;
mod timeouts;
#[cfg(feature = "tls")]
mod tls;

use super::section::Section;
use super::setting::Setting;

/// All sections, in the order of the sample file. Settings of a section are applied in their order.
pub(super) const SECTIONS: &[Section] = &[
    general::SECTION,
    tables::SECTION,
    concurrency::SECTION,
    one_way_buffering::SECTION,
    real_time::SECTION,
    real_time::DYNAMIC_SCHEDULING,
    fault_tolerance::SECTION,
    #[cfg(feature = "tls")]
    tls::SECTION,
    timeouts::SECTION,
    limits::SECTION,
    tcp::SECTION,
];

/// Returns all settings of the configuration, each with its section.
pub(super) fn all() -> impl Iterator<Item = (&'static Section, &'static Setting)> {
    let sections = SECTIONS.iter();
    sections.flat_map(|section| {
        section
            .settings
            .iter()
            .map(move |setting| (section, setting))
    })
}
