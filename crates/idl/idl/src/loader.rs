//! Source of texts, and their conversion from bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Encoding;

/// Reader of source files. The compiler passes the paths that it makes from the folder of the
/// including file and from the include folders.
pub trait SourceLoader {
    /// Returns the bytes of a file, or `None` when there is no such file.
    ///
    /// # Errors
    /// The file exists and cannot be read, or is longer than `limit` bytes
    /// ([`io::ErrorKind::FileTooLarge`]).
    fn load(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>>;

    /// Returns the bytes of a file that another one includes, as [`SourceLoader::load`] does.
    ///
    /// # Errors
    /// As of [`SourceLoader::load`]. [`FileSystem`] reads regular files only, as a pipe may be waited
    /// for without end.
    fn load_included(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
        self.load(path, limit)
    }
}

/// Loader that reads IDL files from the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl SourceLoader for FileSystem {
    fn load(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
        use io::Read as _;

        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(bytes))
    }

    fn load_included(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
        match std::fs::metadata(path) {
            // Opening a pipe waits for its writer.
            Ok(file) if !file.is_file() && !file.is_dir() => {
                let why = "it is a pipe, a socket or a device, and no regular file";
                Err(io::Error::new(io::ErrorKind::InvalidInput, why))
            }
            _ => self.load(path, limit),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
    )
}

/// Loader of files held in memory, for tests and for embedding.
#[derive(Clone, Default)]
pub struct InMemory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl InMemory {
    /// Makes an in-memory loader without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file to the in-memory loader, or replaces it.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), bytes.into());
        self
    }
}

impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.keys()).finish()
    }
}

impl SourceLoader for InMemory {
    fn load(&self, path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
        match self.files.get(path) {
            Some(bytes) if bytes.len() > limit => Err(io::ErrorKind::FileTooLarge.into()),
            Some(bytes) => Ok(Some(bytes.clone())),
            None => Ok(None),
        }
    }
}

/// Decoded text, with the faults found in its bytes.
#[derive(Default)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// Positions of bytes that were not UTF-8; each became U+FFFD.
    pub(crate) invalid: Vec<usize>,
    /// Position of the first byte for which the file was taken to be ISO 8859-1.
    pub(crate) guessed: Option<usize>,
}

pub(crate) fn decode(bytes: Vec<u8>, encoding: Encoding) -> Decoded {
    if encoding == Encoding::Latin1 {
        return Decoded {
            text: latin1(&bytes),
            ..Decoded::default()
        };
    }
    let (bytes, first) = match String::from_utf8(bytes) {
        Ok(text) => {
            return Decoded {
                text,
                ..Decoded::default()
            };
        }
        Err(error) => {
            let first = error.utf8_error().valid_up_to();
            (error.into_bytes(), first)
        }
    };
    if encoding == Encoding::Guess {
        // The UTF-8 before that byte is decoded differently now, and so becomes longer.
        let first = latin1(&bytes[..first]).len();
        return Decoded {
            text: latin1(&bytes),
            guessed: Some(first),
            ..Decoded::default()
        };
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    let mut invalid = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            invalid.push(text.len());
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Decoded {
        text,
        invalid,
        guessed: None,
    }
}

/// Decodes ISO 8859-1, the first 256 characters of Unicode.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Returns the reason why bytes do not seem to be text; `None` if they do.
pub(crate) fn binary(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Some("it looks like UTF-16: save it as UTF-8");
    }
    let start = &bytes[..bytes.len().min(1 << 12)];
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(**byte, 0x08..=0x0D | 0x1A);
    let controls = start.iter().filter(is_control).count();
    let is_binary = bytes.contains(&0) || controls > 8 && controls > start.len() / 20;
    is_binary.then_some("it has bytes in it that no text has: is it the right file?")
}
