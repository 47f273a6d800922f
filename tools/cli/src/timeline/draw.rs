//! Picture of joined requests: each on a line, from its sending on, with its stages at client and server.

use super::join::{Joined, Whole};
use super::offset::float;
use super::stages::within;
use std::fmt::Write;

const STYLE: &str = include_str!("draw.css");
/// Width of the names, of the bars and of the numbers, and height of a line.
const NAMES: f64 = 300.0;
const BARS: f64 = 760.0;
const NUMBERS: f64 = 150.0;
const LINE: f64 = 22.0;
const TOP: f64 = 74.0;

/// Draws the slowest requests, the slowest above: as a page, or as an SVG.
pub(super) fn slowest(joined: &Joined, count: usize, is_page: bool) -> String {
    let mut all: Vec<&Whole> = joined
        .requests
        .iter()
        .filter(|one| one.whole().is_some())
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.whole()));
    all.truncate(count);
    let picture = picture(joined, &all);
    match is_page {
        false => picture,
        true => format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>Requests at client and server</title>\n</head>\n<body>\n{picture}</body>\n</html>\n"
        ),
    }
}

fn picture(joined: &Joined, all: &[&Whole]) -> String {
    let longest = all.iter().filter_map(|one| one.whole()).max();
    let longest = float(longest.unwrap_or(1).max(1));
    let begin = joined.begin();
    let lines = f64::from(u16::try_from(all.len()).unwrap_or(u16::MAX));
    let (width, height) = (NAMES + BARS + NUMBERS, TOP + lines * LINE + 30.0);
    let mut out = String::new();
    // A string takes all that is written.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>\n{STYLE}</style>\n<rect class=\"back\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"12\" y=\"24\">The {} slowest of {} requests, from sending to the reply</text>\n",
        all.len(),
        joined.requests.len()
    );
    legend(&mut out);
    for (line, request) in all.iter().enumerate() {
        let y = TOP + LINE * f64::from(u16::try_from(line).unwrap_or(u16::MAX));
        row(&mut out, joined, request, (y, longest, begin));
    }
    for part in 0..=4_u8 {
        let x = NAMES + BARS * f64::from(part) / 4.0;
        let bottom = TOP + lines * LINE;
        let micros = longest / 1000.0 * f64::from(part) / 4.0;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\">{micros:.1} us</text>",
            bottom + 16.0
        );
    }
    out.push_str("</svg>\n");
    out
}

fn legend(out: &mut String) {
    let parts = [
        ("request", "request under way"),
        ("wait", "waits for a thread"),
        ("upcall", "upcall"),
        ("reply", "reply under way"),
        ("doubt", "uncertainty of the clocks"),
    ];
    let mut x = NAMES;
    for (class, text) in parts {
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"42\" width=\"14\" height=\"12\"/><text x=\"{}\" y=\"52\">{text}</text>",
            x + 19.0
        );
        x += 170.0;
    }
}

fn row(out: &mut String, joined: &Joined, request: &Whole, (y, longest, begin): (f64, f64, i64)) {
    let Some(received) = request.received else {
        return;
    };
    let x = |at: i64| NAMES + BARS * (float(at - request.sending) / longest).clamp(0.0, 1.0);
    let host = |file: usize| {
        joined
            .files
            .get(file)
            .map_or("", |file| &*file.process.host)
    };
    let operation = joined.operation(request);
    let short = operation.rsplit("::").next().unwrap_or(operation);
    let late = request.read - request.sending;
    let title = format!(
        "{operation}: {} to {}, request {late} ns, uncertainty {} ns",
        host(request.client),
        host(request.server),
        request.uncertainty
    );
    let (top, height) = (y + 4.0, LINE - 8.0);
    let _ = write!(
        out,
        "<g><title>{}</title><text x=\"12\" y=\"{:.1}\">{} at {:.3} ms</text>",
        escaped(&title),
        y + 15.0,
        escaped(short),
        float(request.sending - begin) / 1e6
    );
    let mut from = request.sending;
    let mut bar = |class: &str, until: Option<i64>| {
        let Some(until) = until.map(|until| within(until, from, received)) else {
            return;
        };
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{:.2}\" y=\"{top:.1}\" width=\"{:.2}\" height=\"{height:.1}\"/>",
            x(from),
            x(until) - x(from)
        );
        from = until;
    };
    bar("request", Some(request.read));
    bar("wait", request.upcall);
    bar("upcall", request.upcall_end);
    bar("reply", Some(received));
    // The server's stages may lie this much earlier or later, together.
    for edge in [Some(request.read), request.upcall_end]
        .into_iter()
        .flatten()
    {
        if request.uncertainty > 0 {
            let (left, right) = (x(edge - request.uncertainty), x(edge + request.uncertainty));
            let middle = y + LINE / 2.0;
            let _ = write!(
                out,
                "<rect class=\"doubt\" x=\"{left:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"3\"/>",
                middle - 1.5,
                right - left
            );
        }
    }
    let _ = writeln!(
        out,
        "<text class=\"number\" x=\"{:.1}\" y=\"{:.1}\">{:.1} us</text></g>",
        NAMES + BARS + NUMBERS - 12.0,
        y + 15.0,
        float(received - request.sending) / 1000.0
    );
}

/// Returns text without the characters of markup; control characters, which XML excludes, are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
