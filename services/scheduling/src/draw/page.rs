//! Whole documents: an SVG picture, and the page around it.

use super::markup::escaped;
use super::{Options, picture};
use crate::model::Model;
use crate::plan::Plan;

/// Draws the timeline of a plan as an SVG picture, in the colours of light or dark surroundings.
///
/// `plan` has to be a plan of this model.
#[must_use]
pub fn svg(model: &Model, plan: &Plan, options: &Options) -> String {
    picture::draw(model, plan, options)
}

/// Draws the timeline of a plan as an HTML page, with zoom and pan by mouse and keyboard.
///
/// The page loads nothing. `plan` has to be a plan of this model.
#[must_use]
pub fn html(model: &Model, plan: &Plan, options: &Options) -> String {
    let title = escaped(&picture::title(plan));
    let picture = svg(model, plan, options);
    let (style, script) = (include_str!("page.css"), include_str!("page.js"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <nav><button id=\"in\" title=\"Zoom in (+)\">+</button>\
         <button id=\"out\" title=\"Zoom out (-)\">&#8722;</button>\
         <button id=\"all\" title=\"Show all (0)\">All</button>\
         <span>Wheel or + and &#8722;: zoom. Drag or arrows: move. Point at a job: its times.</span></nav>\n\
         <main tabindex=\"0\">\n{picture}</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )
}
