//! Keys and tables that a file of TOML states twice, by their names.

use std::ops::Range;

/// Key or table that is stated twice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Message that names it.
    pub(super) message: String,
    /// Line that states it first, if it is found.
    pub(super) first: Option<Range<usize>>,
}

/// Finds what a text states again by the key at a place.
pub(super) fn repeated(text: &str, place: &Range<usize>) -> Option<Repeated> {
    let key = text.get(place.clone())?;
    let mut lines = Lines::of(text);
    // Only lines with the same key are looked at: most others need not be parsed.
    let mut same = std::iter::from_fn(|| lines.next_with(key));
    let mut before: Vec<Stated> = Vec::new();
    let again = loop {
        let stated = same.next()?;
        match stated.line.end <= place.start {
            true => before.push(stated),
            false => break stated,
        }
    };
    let path = again.path(text, Some(place.end))?;
    let first = before.into_iter();
    let mut first = first.filter(|one| one.path(text, None).as_ref() == Some(&path));
    Some(Repeated {
        message: message(&path),
        first: first.next().map(|one| one.line),
    })
}

fn message(path: &[String]) -> String {
    match path {
        [table, name] if table == "operation" || table == "host" => {
            format!("{table} `{name}` is stated twice")
        }
        [table, name, key @ ..] if table == "operation" || table == "host" => {
            format!("{table} `{name}` has the key `{}` twice", key.join("."))
        }
        _ => format!("the key `{}` is stated twice", path.join(".")),
    }
}

/// Lines of a text, with the header of the table that they are in.
struct Lines<'t> {
    text: &'t str,
    next: usize,
    header: Option<Range<usize>>,
}

/// Line that may state a key, or open a table.
struct Stated {
    /// Place of the line, without blanks around it.
    line: Range<usize>,
    /// Header of its table; `None` of a header.
    header: Option<Range<usize>>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            next: 0,
            header: None,
        }
    }

    /// Returns the next line that contains a key.
    fn next_with(&mut self, key: &str) -> Option<Stated> {
        loop {
            let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
            let whole = rest.split_inclusive('\n').next().unwrap_or(rest);
            let from = self.next + (whole.len() - whole.trim_start().len());
            let line = from..from + whole.trim().len();
            self.next += whole.len();
            let is_header = whole.trim_start().starts_with('[');
            if is_header {
                self.header = Some(line.clone());
            }
            if whole.contains(key) {
                let header = self.header.clone().filter(|_| !is_header);
                return Some(Stated { line, header });
            }
        }
    }
}

impl Stated {
    /// Returns the names that lead to what the line states: of a key, up to an end, or the sign behind it.
    fn path(&self, text: &str, end: Option<usize>) -> Option<Vec<String>> {
        let line = text.get(self.line.clone())?;
        if line.starts_with('[') {
            return names(line);
        }
        let header = self.header.clone().and_then(|header| text.get(header));
        let mut path = header.map_or(Some(Vec::new()), names)?;
        let key = match end {
            Some(end) => text.get(self.line.start..end)?,
            None => line.split('=').next()?,
        };
        path.extend(names(&format!("{key} = 0"))?);
        Some(path)
    }
}

/// Returns the names of nested tables of which each has one key.
fn names(line: &str) -> Option<Vec<String>> {
    let mut table: toml::Table = line.parse().ok()?;
    let mut names = Vec::new();
    while let Some((name, value)) = std::mem::take(&mut table).into_iter().next() {
        names.push(name);
        if let toml::Value::Table(inner) = value {
            table = inner;
        }
    }
    (!names.is_empty()).then_some(names)
}
