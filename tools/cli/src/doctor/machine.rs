//! Files in which the kernel describes the machine, and reasons for which they cannot be used.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A machine, represented by the files in which its kernel describes it. Tests use files in a
/// temporary folder.
#[derive(Debug)]
pub(super) struct Machine {
    root: PathBuf,
}

/// Reason for which a value is unknown.
#[derive(Debug)]
pub(super) enum Unknown {
    /// The file does not exist.
    Missing(String),
    /// The file cannot be read.
    Refused(String, io::Error),
    /// The file's contents are unexpected.
    NotUnderstood(String, String),
}

/// Limit of the bytes read from a file. All files are shorter, except `/proc/cpuinfo`, whose first
/// processor is enough.
const MAX_TEXT: u64 = 1 << 20;

/// Maximum number of characters shown of unexpected contents.
const MAX_SHOWN: usize = 40;

impl Machine {
    /// Returns the machine on which this process runs.
    pub(super) fn this() -> Self {
        Self::under(Path::new("/"))
    }

    /// Returns the machine whose files are in a folder.
    pub(super) fn under(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file of the machine; `file` begins with a slash.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.root.join(file.trim_start_matches('/'))
    }

    /// Returns the path on the machine of a file in the machine's folder.
    pub(super) fn name(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        format!("/{}", path.display())
    }

    /// Returns the contents of a file, trimmed. They are printed on a terminal: control characters
    /// are replaced.
    pub(super) fn text(&self, file: &str) -> Result<String, Unknown> {
        let read = || {
            let mut bytes = Vec::new();
            File::open(self.path(file))?
                .take(MAX_TEXT)
                .read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| Unknown::of(file, error))?;
        let printable = |one: char| match one {
            '\n' | '\t' => one,
            one if one.is_control() => char::REPLACEMENT_CHARACTER,
            one => one,
        };
        let text: String = String::from_utf8_lossy(&bytes)
            .chars()
            .map(printable)
            .collect();
        Ok(text.trim().to_owned())
    }

    /// Returns the number in a file.
    pub(super) fn number<T: FromStr>(&self, file: &str) -> Result<T, Unknown> {
        let text = self.text(file)?;
        text.parse()
            .map_err(|_| Unknown::NotUnderstood(file.to_owned(), text))
    }

    /// Returns the names in a folder, sorted.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>, Unknown> {
        let list = || {
            let names = fs::read_dir(self.path(folder))?;
            let names = names.map(|one| Ok(one?.file_name().to_string_lossy().into_owned()));
            names.collect::<io::Result<Vec<_>>>()
        };
        let mut names = list().map_err(|error| Unknown::of(folder, error))?;
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the rest of the file's line that begins with `label`.
    pub(super) fn line(&self, file: &str, label: &str) -> Result<String, Unknown> {
        let text = self.text(file)?;
        let said = text.lines().find_map(|line| line.strip_prefix(label));
        match said {
            Some(said) => Ok(said.trim().to_owned()),
            None => Err(Unknown::NotUnderstood(file.to_owned(), text)),
        }
    }

    /// Returns `true` if the kernel has at least this version.
    pub(super) fn has_linux(&self, version: (u32, u32)) -> Result<bool, Unknown> {
        let file = "/proc/sys/kernel/osrelease";
        let release = self.text(file)?;
        let mut numbers = release.split(['.', '-']).map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor) >= version),
            _ => Err(Unknown::NotUnderstood(file.to_owned(), release)),
        }
    }
}

impl Unknown {
    pub(super) fn of(file: &str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(file.to_owned()),
            _ => Self::Refused(file.to_owned(), error),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(file) => write!(f, "there is no {file}"),
            Self::Refused(file, error) => write!(f, "{file}: {error}"),
            Self::NotUnderstood(file, text) => {
                let line = text.lines().next().unwrap_or_default();
                let shown: String = line.chars().take(MAX_SHOWN).collect();
                write!(f, "{file} is not understood: `{shown}`")
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A simulated machine for tests; its files are removed when it is dropped.
    pub(in super::super) struct SimulatedMachine {
        folder: tempfile::TempDir,
        pub(in super::super) machine: Machine,
    }

    impl SimulatedMachine {
        pub(in super::super) fn of(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let machine = Machine::under(folder.path());
            let made_up = Self { folder, machine };
            made_up.write(files);
            made_up
        }

        pub(in super::super) fn write(&self, files: &[(&str, &str)]) {
            for (file, text) in files {
                let path = self.folder.path().join(file.trim_start_matches('/'));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let made_up = SimulatedMachine::of(&[("/a", "\u{1b}[31mred\nlines\n"), ("/n", "12x")]);
        let machine = &made_up.machine;
        let reason = |unknown: Unknown| unknown.to_string();
        assert_eq!(reason(machine.text("/b").unwrap_err()), "there is no /b");
        assert_eq!(
            reason(machine.number::<u32>("/n").unwrap_err()),
            "/n is not understood: `12x`"
        );
        assert_eq!(machine.text("/a").unwrap(), "\u{fffd}[31mred\nlines");
        assert_eq!(
            reason(machine.line("/a", "Label:").unwrap_err()),
            "/a is not understood: `\u{fffd}[31mred`"
        );
        // A folder is not a file.
        made_up.write(&[("/folder/file", "")]);
        let refused = machine.text("/folder").unwrap_err();
        assert!(matches!(refused, Unknown::Refused(..)), "{refused}");
    }

    #[test]
    fn a_kernel_is_older_or_newer() {
        let has = |release: &str| {
            let made_up = SimulatedMachine::of(&[("/proc/sys/kernel/osrelease", release)]);
            made_up.machine.has_linux((6, 12)).ok()
        };
        assert_eq!(has("6.12.0-rt1\n"), Some(true));
        assert_eq!(has("6.12-rc1"), Some(true));
        assert_eq!(has("7.0.1"), Some(true));
        assert_eq!(has("5.14.0-427.el9"), Some(false));
        assert_eq!(has("of my own"), None);
        assert_eq!(has(""), None);
    }
}
