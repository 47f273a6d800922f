//! Frame of a picture: size, style and background.

use super::markup::escaped;

/// Width of a picture in pixels.
pub(super) const WIDTH: f64 = 1400.0;
/// Distance from the edges.
pub(super) const MARGIN: f64 = 16.0;

/// Puts the elements into a picture of the given height.
pub(super) fn framed(title: &str, height: f64, body: &str) -> String {
    let (title, style) = (escaped(title), include_str!("style.css"));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" \
         width=\"{WIDTH:.0}\" height=\"{height:.0}\" preserveAspectRatio=\"xMidYMin meet\" role=\"img\" aria-label=\"{title}\">\n\
         <style>\n{style}</style>\n\
         <rect class=\"back\" x=\"-3000\" y=\"-3000\" width=\"9000\" height=\"{:.0}\"/>\n\
         {body}</svg>\n",
        height + 6000.0,
    )
}
