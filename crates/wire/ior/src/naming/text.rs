//! Stringified names (CosNaming 1.3, §2.4).

use thiserror::Error;

/// Component of a name: IDL's `CosNaming::NameComponent`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameComponent {
    /// Identifier of the name component: its `id` field.
    pub id: String,
    /// Kind of the name component: its `kind` field.
    pub kind: String,
}

/// Reason why a text is not a stringified name. Offsets are in bytes.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StringifiedNameError {
    /// The stringified name is empty.
    #[error("the name is empty")]
    Empty,
    /// A component is empty: between two slashes, before the first or after the last.
    #[error("the component at offset {0} is empty; `.` is a component whose id and kind are empty")]
    EmptyComponent(usize),
    /// A component ends with a dot and no kind.
    #[error(
        "the component at offset {0} ends with a dot; without a kind, a component is its id alone"
    )]
    EmptyKind(usize),
    /// A component of the stringified name has more than one unescaped dot.
    #[error(
        "the component at offset {0} has a second dot; write `\\.` where it is part of the id or the kind"
    )]
    SecondDot(usize),
    /// A backslash stands before a character that needs none, or at the end.
    #[error("invalid escape at offset {0}: expected `\\/`, `\\.` or `\\\\`")]
    BadEscape(usize),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for StringifiedNameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

use StringifiedNameError as Error;

/// Parses a stringified name: at least one component.
///
/// # Errors
/// [`StringifiedNameError`].
pub fn from_text(text: &str) -> Result<Vec<NameComponent>, StringifiedNameError> {
    if text.is_empty() {
        return Err(Error::Empty);
    }
    let mut name = Vec::new();
    let mut reading = Reading::at(0);
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, escaped @ ('/' | '.' | '\\'))) => reading.push(escaped),
                _ => return Err(Error::BadEscape(at)),
            },
            '/' => name.push(std::mem::replace(&mut reading, Reading::at(at + 1)).ended()?),
            '.' => reading.dot()?,
            other => reading.push(other),
        }
    }
    name.push(reading.ended()?);
    Ok(name)
}

/// Parser state within one component of a stringified name.
struct Reading {
    start: usize,
    component: NameComponent,
    has_dot: bool,
}

impl Reading {
    fn at(start: usize) -> Self {
        Self {
            start,
            component: NameComponent::default(),
            has_dot: false,
        }
    }

    fn push(&mut self, character: char) {
        match self.has_dot {
            true => self.component.kind.push(character),
            false => self.component.id.push(character),
        }
    }

    fn dot(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.has_dot, true) {
            true => Err(Error::SecondDot(self.start)),
            false => Ok(()),
        }
    }

    fn ended(self) -> Result<NameComponent, Error> {
        let NameComponent { id, kind } = &self.component;
        match (self.has_dot, id.is_empty(), kind.is_empty()) {
            (false, true, _) => Err(Error::EmptyComponent(self.start)),
            // A single dot is the component that is empty in both.
            (true, false, true) => Err(Error::EmptyKind(self.start)),
            _ => Ok(self.component),
        }
    }
}

/// Formats the ids and kinds of a name's components as text. No components give an empty text.
pub fn to_text<'n>(components: impl IntoIterator<Item = (&'n str, &'n str)>) -> String {
    let mut text = String::new();
    for (index, (id, kind)) in components.into_iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        push_escaped(&mut text, id);
        if !kind.is_empty() || id.is_empty() {
            text.push('.');
            push_escaped(&mut text, kind);
        }
    }
    text
}

fn push_escaped(text: &mut String, part: &str) {
    for character in part.chars() {
        if matches!(character, '/' | '.' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
}
