//! Links of a page, and their possible targets.

/// Returns the targets of the links of a page, each with its line. Code contains no links.
#[must_use]
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, prose) in prose(text) {
        let mut rest = prose.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else {
                break;
            };
            links.push((line, target.to_owned()));
            rest = after;
        }
    }
    links
}

/// Returns the anchors of a page: those of its headings, as GitHub and mdbook make them, and those
/// of `<a id="…">`.
#[must_use]
pub fn headings(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if let Some((_, rest)) = line.split_once("<a id=\"")
            && !is_code
        {
            anchors.extend(rest.split_once('"').map(|(id, _)| id.to_owned()));
        }
        let title = line.trim_start_matches('#');
        if is_code || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor = anchor(title.trim());
        let same = |other: &&String| **other == anchor || is_numbered(other, &anchor);
        let count = anchors.iter().filter(same).count();
        anchors.push(match count {
            0 => anchor,
            _ => format!("{anchor}-{count}"),
        });
    }
    anchors
}

fn is_numbered(other: &str, anchor: &str) -> bool {
    let number = other.strip_prefix(anchor).and_then(|n| n.strip_prefix('-'));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns the numbered lines of a guide page outside of code blocks.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            let outside = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            lines.push((number + 1, outside));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_none() {
        let text = "[a](b.md) and [c](d.md#e)\n`[no](link)`\n```rust\nx[0](y)\n```\n[`code`](f.md)";
        let found = links(text);
        let targets: Vec<_> = found
            .iter()
            .map(|(line, to)| (*line, to.as_str()))
            .collect();
        assert_eq!(targets, [(1, "b.md"), (1, "d.md#e"), (6, "f.md")]);
    }

    #[test]
    fn headings_have_the_anchors_of_github() {
        let text =
            "# One, two: `three`\n## A\n## A\n```sh\n# no heading\n```\n<a id=\"here\"></a>\n";
        assert_eq!(headings(text), ["one-two-three", "a", "a-1", "here"]);
    }
}
