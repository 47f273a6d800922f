//! Constants that are lists, with as many elements on a line as fit.

use super::margin::{INDENT, MARGIN, room};

/// Returns the text of a constant with these elements in its list, which is empty in the given
/// text.
pub(super) fn filled(empty: &str, indent: usize, elements: &[String]) -> String {
    let empty = empty.trim();
    let mut text = " ".repeat(indent);
    let Some(head) = empty.strip_suffix("];").filter(|_| !elements.is_empty()) else {
        return text + empty + "\n";
    };
    let on_one_line = elements.join(", ");
    text.push_str(head);
    if empty.len() + on_one_line.len() <= room(indent) {
        return text + &on_one_line + "];\n";
    }
    text.reserve(on_one_line.len() * 5 / 4);
    let room = MARGIN.saturating_sub(indent + INDENT);
    let mut taken = room;
    for element in elements {
        if taken + " ,".len() + element.len() <= room {
            text.push(' ');
            taken += 1;
        } else {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent + INDENT));
            taken = 0;
        }
        text.push_str(element);
        text.push(',');
        taken += element.len() + 1;
    }
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push_str("];\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the list `&[…]` of a constant that is indented by 4.
    fn listed(elements: &[String]) -> String {
        filled("const C: &[&str] = &[];\n", INDENT, elements)
    }

    #[test]
    fn a_list_stands_on_one_line_up_to_the_margin() {
        let element = |octets| vec!["x".repeat(octets)];
        let room = MARGIN - "    const C: &[&str] = &[];".len();
        assert_eq!(listed(&[]), "    const C: &[&str] = &[];\n");
        let line = listed(&element(room));
        assert_eq!((line.lines().count(), line.len()), (1, MARGIN + 1));
        assert_eq!(
            listed(&element(room + 1)),
            format!(
                "    const C: &[&str] = &[\n        {},\n    ];\n",
                "x".repeat(room + 1)
            )
        );
    }

    #[test]
    fn lines_of_a_long_list_are_filled() {
        let elements: Vec<String> = (0..100).map(|n| format!("\"op{n}\"")).collect();
        let text = listed(&elements);
        let lines: Vec<&str> = text.lines().collect();
        let [_, inner @ .., _] = lines.as_slice() else {
            panic!("{text}");
        };
        for two in inner.windows(2) {
            let next = two[1].trim_start().split(' ').next().unwrap();
            assert!(
                two[0].len() <= MARGIN && two[0].len() + 1 + next.len() > MARGIN,
                "{text}"
            );
        }
        let joined: String = inner
            .iter()
            .map(|line| line.trim_start().to_owned() + " ")
            .collect();
        assert_eq!(joined.trim_end(), elements.join(", ") + ",");
    }
}
