//! `punctual new NAME`: creation of a crate with an interface, a server, a client and a test.
//!
//! Its files are those of `template/`, where `@NAME@` and similar placeholders are replaced.

use clap::ValueHint;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Makes a crate with IDL, a server, a client and a test, which runs at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder to create, or an empty one; its last part is the crate's name.
    #[arg(value_name = "NAME", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Folder of Punctual's sources, of which the crate holds the relative path; by default those that this command
    /// was built from.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    punctual: Option<PathBuf>,
    /// Git repository with Punctual's sources, which the crate names instead of a folder.
    #[arg(long, value_name = "URL", conflicts_with = "punctual", value_hint = ValueHint::Url)]
    git: Option<String>,
}

/// Files of a new crate, with their contents.
const FILES: [(&str, &str); 8] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    ("build.rs", include_str!("template/build.rs.in")),
    (".gitignore", include_str!("template/gitignore.in")),
    (
        "idl/greeter.idl",
        include_str!("template/idl/greeter.idl.in"),
    ),
    ("src/lib.rs", include_str!("template/src/lib.rs.in")),
    (
        "src/bin/server.rs",
        include_str!("template/src/bin/server.rs.in"),
    ),
    (
        "src/bin/client.rs",
        include_str!("template/src/bin/client.rs.in"),
    ),
    ("tests/call.rs", include_str!("template/tests/call.rs.in")),
];

/// Reason why no crate is made, and possibly a hint.
#[derive(Debug, PartialEq, Eq)]
struct Refused {
    why: String,
    help: Option<&'static str>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    match make(options) {
        Ok(()) => {
            let folder = options.folder.display();
            println!("made {folder}; next:");
            println!("  cd {folder}");
            println!("  cargo test                 # a call over the network, within one process");
            println!("  cargo run --bin server     # and in another shell:");
            println!("  cargo run --bin client");
            ExitCode::SUCCESS
        }
        Err(refused) => crate::fail(refused.why, refused.help),
    }
}

fn make(options: &Options) -> Result<(), Refused> {
    let folder = &options.folder;
    let name = checked_name(folder)?;
    check_empty(folder)?;
    let source = match &options.git {
        Some(url) => Source::Git(quotable(url)?),
        None => Source::Folder(sources(options.punctual.as_deref())?),
    };
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    let facade = source.dependency(folder, "crates/orb/punctual")?;
    let build = source.dependency(folder, "crates/idl/build")?;
    for (file, template) in FILES {
        let text = template
            .replace("@NAME@", name)
            .replace("@MODULE@", &name.replace('-', "_"))
            .replace("@RUST@", env!("CARGO_PKG_RUST_VERSION"))
            .replace("@FACADE@", &facade)
            .replace("@BUILD@", &build);
        let path = folder.join(file);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text));
        written.map_err(|error| at(&path, &error))?;
    }
    Ok(())
}

fn at(path: &Path, error: &io::Error) -> Refused {
    Refused {
        why: format!("{}: {error}", path.display()),
        help: None,
    }
}

/// Returns the crate's name, if it is valid.
fn checked_name(folder: &Path) -> Result<&str, Refused> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_made_well = name
        .chars()
        .all(|one| one.is_ascii_alphanumeric() || one == '-' || one == '_');
    // `punctual` is the crate's dependency; the others have a meaning for cargo.
    let is_taken = ["punctual", "test", "core", "std", "alloc", "proc_macro"].contains(&name);
    match begins_well && is_made_well && !is_taken && !punctual_idl_rust::is_keyword(name) {
        true => Ok(name),
        false => Err(Refused {
            why: format!("`{name}` cannot be the name of the new crate"),
            help: Some(
                "a name has ASCII letters, digits, `-` and `_`, begins with a letter, and is not a keyword of Rust, `punctual` or `test`",
            ),
        }),
    }
}

fn check_empty(folder: &Path) -> Result<(), Refused> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(at(folder, &error)),
    };
    match is_empty {
        true => Ok(()),
        false => Err(Refused {
            why: format!("{} is not empty", folder.display()),
            help: Some("nothing was written; name a folder that does not exist yet"),
        }),
    }
}

/// Place of Punctual's sources.
enum Source<'o> {
    Folder(PathBuf),
    Git(&'o str),
}

impl Source<'_> {
    /// Returns the keys of a dependency on one of Punctual's crates, in the `Cargo.toml` of this folder.
    fn dependency(&self, folder: &Path, member: &str) -> Result<String, Refused> {
        let sources = match self {
            Source::Git(url) => return Ok(format!("git = \"{url}\"")),
            Source::Folder(sources) => sources,
        };
        let folder = folder.canonicalize().map_err(|error| at(folder, &error))?;
        let path = relative(&folder, &sources.join(member));
        let path = path.to_string_lossy();
        Ok(format!("path = \"{}\"", quotable(&path)?))
    }
}

/// Returns the path that leads from a folder to another one; both are absolute, without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components());
    let shared = shared.take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(to.components().skip(shared)).collect()
}

/// Checks that a text can stand between quotes in `Cargo.toml`.
fn quotable(text: &str) -> Result<&str, Refused> {
    let is_plain = !text.contains(['"', '\\', char::REPLACEMENT_CHARACTER]);
    match is_plain && !text.contains(char::is_control) {
        true => Ok(text),
        false => Err(Refused {
            why: format!("`{text}` cannot stand in Cargo.toml"),
            help: Some(
                "it may have no quotes, backslashes and control characters, and must be UTF-8",
            ),
        }),
    }
}

/// Returns the folder of Punctual's sources.
fn sources(given: Option<&Path>) -> Result<PathBuf, Refused> {
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = given.unwrap_or(&built_from);
    let is_there = sources.join("crates/orb/punctual/Cargo.toml").exists();
    let found = is_there.then(|| sources.canonicalize().ok()).flatten();
    found.ok_or_else(|| Refused {
        why: match given {
            Some(given) => format!("Punctual's sources are not in {}", given.display()),
            None => "Punctual's sources are not where this command was built".to_owned(),
        },
        help: Some(
            "say where they are with --punctual DIR, the folder that has `crates/orb/punctual`, or with --git URL",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(folder: PathBuf) -> Options {
        Options {
            folder,
            punctual: None,
            git: None,
        }
    }

    #[test]
    fn names_that_cargo_or_rust_would_refuse_are_refused() {
        for name in ["", "7up", "a b", "a.b", "é", "fn", "punctual", "test", "-a"] {
            assert!(checked_name(Path::new(name)).is_err(), "{name}");
        }
        assert_eq!(checked_name(Path::new("some/my-plant_2")), Ok("my-plant_2"));
    }

    #[test]
    fn a_folder_that_is_not_empty_stays_as_it_was() {
        let within = tempfile::tempdir().unwrap();
        let folder = within.path().join("plant");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("mine"), "mine").unwrap();
        let refused = make(&options(folder.clone())).unwrap_err();
        assert!(refused.why.contains("is not empty"), "{refused:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn sources_that_are_not_punctuals_are_refused() {
        let within = tempfile::tempdir().unwrap();
        let refused = sources(Some(within.path())).unwrap_err();
        assert!(refused.help.unwrap().contains("--punctual"));
    }

    #[test]
    fn the_crate_names_the_sources_by_a_relative_path_or_a_repository() {
        let to = Path::new("/home/me/punctual/crates");
        for (from, path) in [
            ("/home/me/plant", "../punctual/crates"),
            ("/home/me/plants/one", "../../punctual/crates"),
            ("/home/me/punctual/mine", "../crates"),
            ("/srv/plant", "../../home/me/punctual/crates"),
        ] {
            assert_eq!(relative(Path::new(from), to), Path::new(path), "{from}");
        }

        let within = tempfile::tempdir().unwrap();
        let read = |options: Options| {
            make(&options).unwrap();
            fs::read_to_string(options.folder.join("Cargo.toml")).unwrap()
        };
        let manifest = read(options(within.path().join("near")));
        assert!(!manifest.contains(env!("CARGO_MANIFEST_DIR")), "{manifest}");
        assert!(manifest.contains("path = \"../"), "{manifest}");
        let manifest = read(Options {
            git: Some("https://example.com/punctual.git".to_owned()),
            ..options(within.path().join("far"))
        });
        let facade = "punctual = { git = \"https://example.com/punctual.git\" }";
        assert!(manifest.contains(facade), "{manifest}");
        assert!(!manifest.contains("path"), "{manifest}");
    }

    #[test]
    fn a_repository_whose_name_would_break_the_manifest_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let refused = make(&Options {
            git: Some("a\" }\nb = { path = \"".to_owned()),
            ..options(within.path().join("plant"))
        });
        assert!(
            refused
                .unwrap_err()
                .why
                .contains("cannot stand in Cargo.toml")
        );
        assert_eq!(fs::read_dir(within.path()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_left_to_be_filled_in() {
        let within = tempfile::tempdir().unwrap();
        let folder = within.path().join("my-plant");
        make(&options(folder.clone())).unwrap();
        for (file, _) in FILES {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(!text.contains('@'), "{file}: {text}");
        }
        let client = fs::read_to_string(folder.join("src/bin/client.rs")).unwrap();
        assert!(client.contains("use my_plant::"), "{client}");
    }
}
