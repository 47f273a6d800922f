//! File systems of the virtual machines, which are in their memory.

use super::{TARGET, kernel::Kernel};
use crate::run::{Result, cargo};
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages whose tests and programs run in the machine.
const PACKAGES: [&str; 2] = ["punctual-vsock", "punctual-example-vsock"];

/// Folders of an emulator's own files on this machine, and those of them that it needs for a machine without a screen.
const FIRMWARE: [(&str, &[&str]); 2] = [
    (
        "/usr/share/qemu",
        &["kvmvapic.bin", "linuxboot_dma.bin", "linuxboot.bin"],
    ),
    ("/usr/share/seabios", &["bios-256k.bin"]),
];

/// Emulator, and the folders in which it may have its parts.
const EMULATOR: &str = "/usr/bin/qemu-system-x86_64";
const PARTS: [&str; 2] = ["/usr/lib/x86_64-linux-gnu/qemu", "/usr/lib/qemu"];

/// Program that has been built.
pub(super) struct Program {
    path: PathBuf,
    name: String,
    is_test: bool,
}

/// Builds the tests, and the programs of the example.
pub(super) fn build() -> Result<Vec<Program>> {
    #[derive(Deserialize)]
    struct Artifact {
        executable: Option<PathBuf>,
        target: Option<Named>,
        profile: Option<Profile>,
    }
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    #[derive(Deserialize)]
    struct Profile {
        test: bool,
    }
    let mut command = cargo();
    command.args(["test", "--no-run", "--tests", "--target", TARGET]);
    command.args(["--message-format", "json-render-diagnostics"]);
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("the tests cannot be built: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let artifacts = text.lines().filter_map(|line| {
        let artifact: Artifact = serde_json::from_str(line).ok()?;
        Some(Program {
            path: artifact.executable?,
            name: artifact.target?.name,
            is_test: artifact.profile?.test,
        })
    });
    Ok(artifacts.collect())
}

/// Folder that becomes a file system.
pub(super) struct Image(PathBuf);

impl Image {
    /// Makes a folder with the first program in it.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let image = Self(folder.to_owned());
        for folder in ["bin", "dev", "modules", "proc", "tests", "tmp"] {
            image.make(Path::new(folder))?;
        }
        let busybox = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join("busybox"))
            .find(|path| path.is_file())
            .ok_or("busybox is not installed")?;
        image.file(&busybox, "bin/busybox")?;
        image.write("init", include_bytes!("init.sh"))?;
        Ok(image)
    }

    /// Adds modules of the kernel.
    pub(super) fn modules(&mut self, kernel: &Kernel, names: &[&str]) -> Result<()> {
        names.iter().try_for_each(|name| {
            let contents = kernel.module(name)?;
            self.write(&format!("modules/{name}.ko"), &contents)
        })
    }

    /// Adds the programs of the example.
    pub(super) fn programs(&mut self, programs: &[Program]) -> Result<()> {
        let mut programs = programs.iter().filter(|one| !one.is_test);
        programs.try_for_each(|one| self.file(&one.path, &format!("bin/{}", one.name)))
    }

    /// Adds the tests.
    pub(super) fn tests(&mut self, programs: &[Program]) -> Result<()> {
        let mut tests = programs.iter().filter(|one| one.is_test);
        tests.try_for_each(|one| self.file(&one.path, &format!("tests/{}", one.name)))
    }

    /// Adds an emulator for a virtual machine in the machine.
    pub(super) fn emulator(&mut self) -> Result<()> {
        let own = |path: &Path| self.file(path, &path.to_string_lossy());
        own(Path::new(EMULATOR))?;
        let libraries = Command::new("ldd")
            .arg(EMULATOR)
            .output()
            .map_err(|error| format!("ldd could not be started: {error}"))?;
        let libraries = String::from_utf8_lossy(&libraries.stdout).into_owned();
        for library in libraries
            .split_whitespace()
            .filter(|one| one.starts_with('/'))
        {
            own(Path::new(library))?;
        }
        for part in PARTS {
            let part = Path::new(part).join("accel-tcg-x86_64.so");
            if part.exists() {
                own(&part)?;
            }
        }
        for (folder, names) in FIRMWARE {
            for name in names {
                self.file(
                    &Path::new(folder).join(name),
                    &format!("usr/share/qemu/{name}"),
                )?;
            }
        }
        Ok(())
    }

    /// Adds a file; `at` is its path in the image.
    pub(super) fn file(&self, file: &Path, at: &str) -> Result<()> {
        let contents = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        self.write(at, &contents)
    }

    /// Makes the file that a kernel unpacks.
    pub(super) fn pack(&self) -> Result<PathBuf> {
        let packed = self.0.with_extension("cpio");
        let (folder, into) = (self.0.display(), packed.display());
        let script = format!("cd '{folder}' && find . | cpio --quiet -o -H newc >'{into}'");
        let status = Command::new("sh").args(["-c", &script]).status();
        match status {
            Ok(status) if status.success() => Ok(packed),
            Ok(status) => Err(format!("cpio ended with {status}")),
            Err(error) => Err(format!("sh could not be started: {error}")),
        }
    }

    fn make(&self, folder: &Path) -> Result<()> {
        let folder = self.0.join(folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn write(&self, at: &str, contents: &[u8]) -> Result<()> {
        let at = Path::new(at.trim_start_matches('/'));
        if let Some(folder) = at.parent() {
            self.make(folder)?;
        }
        let path = self.0.join(at);
        fs::write(&path, contents)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}
