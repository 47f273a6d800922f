//! IDL as people have it: constructs that public code bases contain, one file for each, which the
//! compiler's own tests read too (`crates/idl/idl/tests/it/published.rs` explains their heads).
//!
//! Each file is generated with the options that it states, and rustc checks the Rust with all
//! warnings denied. omniidl, where installed, has to accept or refuse it as it states.

use crate::run::{Result, is_installed, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{check_crate, in_file, target, write};

/// Minimum number of IDL files that the check expects to find.
const LEAST: usize = 15;

pub(super) fn check() -> Result<()> {
    let folder = root().join("crates/idl/idl/tests/it/published");
    let files = Published::all(&folder)?;
    if files.len() < LEAST {
        return Err(format!("{}: {} files", folder.display(), files.len()));
    }
    let out = target().join("idl-corpus/published");
    let source = out.join("src");
    let mut modules = String::from("#![deny(warnings)]\n");
    let mut wrong = Vec::new();
    for file in &files {
        if file.generate(&source)? {
            modules.push_str(&format!("pub mod {};\n", file.name));
        } else {
            wrong.push(format!("`{}` is refused", file.name));
        }
    }
    write(&source.join("lib.rs"), &modules)?;
    check_crate(&out)?;
    println!("idl-corpus: {} constructs of public IDL", files.len());
    if is_installed("omniidl") {
        for file in &files {
            wrong.extend(file.differs_at_omniidl(&out)?);
        }
        println!("idl-corpus: omniidl was asked about them");
    } else {
        println!("idl-corpus: omniidl is not installed, and was not asked (Debian: omniidl)");
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("; ")),
    }
}

/// IDL file with a construct from publicly available IDL.
struct Published {
    path: PathBuf,
    /// Name of the IDL file without folder and extension.
    name: String,
    /// Command-line options with which `punctual idl` compiles the file.
    options: Vec<String>,
    is_accepted_by_omniidl: bool,
}

impl Published {
    fn all(folder: &Path) -> Result<Vec<Published>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).map_err(in_file(folder))? {
            let path = entry.map_err(in_file(folder))?.path();
            if path.is_file() {
                all.push(Published::read(path)?);
            }
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    fn read(path: PathBuf) -> Result<Published> {
        let bytes = fs::read(&path).map_err(in_file(&path))?;
        let text = String::from_utf8_lossy(&bytes);
        let stated = |beginning: &str| {
            let mut head = text.lines().take_while(|line| line.starts_with("// "));
            head.find_map(|line| line.strip_prefix(beginning))
        };
        let is_accepted_by_omniidl = match stated("// omniidl: ") {
            Some("accepts") => true,
            Some(refuses) if refuses.starts_with("refuses: ") => false,
            _ => return Err(format!("{}: no word about omniidl", path.display())),
        };
        let options = stated("// options: ").unwrap_or_default();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Published {
            name: name.into_owned(),
            options: options.split_whitespace().map(str::to_owned).collect(),
            is_accepted_by_omniidl,
            path,
        })
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Generates Rust; what the compiler warns of is expected, and not shown.
    fn generate(&self, out: &Path) -> Result<bool> {
        let punctual = target().join("debug/punctual");
        let mut command = Command::new(&punctual);
        command.arg("idl").args(&self.options).arg("--out").arg(out);
        command.arg("-I").arg(self.folder()).arg(&self.path);
        let output = command.output().map_err(in_file(&punctual))?;
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.status.success())
    }

    /// Returns what omniidl does that the file does not state.
    fn differs_at_omniidl(&self, out: &Path) -> Result<Option<String>> {
        let mut command = Command::new("omniidl");
        command.arg(format!("-I{}", self.folder().display()));
        let mut options = self.options.iter();
        while let Some(option) = options.next() {
            match option.as_str() {
                "--lenient" => command.arg("-nc"),
                "-D" => command.arg(format!("-D{}", options.next().map_or("", |name| name))),
                other => return Err(format!("`{other}`: no such option of omniidl is known")),
            };
        }
        let ended = command
            .arg("-bcxx")
            .arg(format!("-C{}", out.display()))
            .arg(&self.path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("omniidl: {error}"))?;
        let does = match (ended.success(), self.is_accepted_by_omniidl) {
            (true, false) => "accepts",
            (false, true) => "refuses",
            _ => return Ok(None),
        };
        Ok(Some(format!("omniidl {does} `{}`", self.name)))
    }
}
