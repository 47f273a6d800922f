//! File systems of the virtual machines, which are in their memory.

use super::kernel::Kernel;
use crate::built::Executable;
use crate::run::Result;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Folder that becomes a file system.
pub(crate) struct Image(PathBuf);

impl Image {
    /// Makes a folder with the first program in it.
    pub(crate) fn new(folder: &Path, init: &[u8]) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let image = Self(folder.to_owned());
        for folder in [
            "bin", "dev", "modules", "proc", "run", "sys", "tests", "tmp",
        ] {
            image.make(Path::new(folder))?;
        }
        let busybox = installed("busybox").ok_or("busybox is not installed")?;
        image.file(&busybox, "bin/busybox")?;
        image.write("init", init)?;
        Ok(image)
    }

    /// Adds modules of the kernel.
    pub(crate) fn modules(&mut self, kernel: &Kernel, names: &[&str]) -> Result<()> {
        names.iter().try_for_each(|name| {
            let contents = kernel.module(name)?;
            self.write(&format!("modules/{name}.ko"), &contents)
        })
    }

    /// Adds programs that need no libraries.
    pub(crate) fn programs(&mut self, programs: &[Executable]) -> Result<()> {
        let mut programs = programs.iter().filter(|one| !one.is_test);
        programs.try_for_each(|one| self.file(&one.file, &format!("bin/{}", one.name)))
    }

    /// Adds the tests.
    pub(crate) fn tests(&mut self, programs: &[Executable]) -> Result<()> {
        let mut tests = programs.iter().filter(|one| one.is_test);
        tests.try_for_each(|one| self.file(&one.file, &format!("tests/{}", one.name)))
    }

    /// Adds a program at its own path or another, with the libraries that it needs.
    pub(crate) fn with_libraries(&self, program: &Path, at: &str) -> Result<()> {
        self.file(program, at)?;
        let libraries = Command::new("ldd")
            .arg(program)
            .output()
            .map_err(|error| format!("ldd could not be started: {error}"))?;
        let libraries = String::from_utf8_lossy(&libraries.stdout).into_owned();
        let mut paths = libraries
            .split_whitespace()
            .filter(|one| one.starts_with('/'));
        paths.try_for_each(|path| self.file(Path::new(path), path))
    }

    /// Adds programs and tests that have been built for this machine, with their libraries. Programs are at their paths on
    /// this machine, too, where tests look for them.
    pub(crate) fn programs_with_libraries(&self, programs: &[Executable]) -> Result<()> {
        programs.iter().try_for_each(|one| {
            if one.is_test {
                return self.with_libraries(&one.file, &format!("tests/{}", one.name));
            }
            self.with_libraries(&one.file, &format!("bin/{}", one.name))?;
            self.link(&format!("/bin/{}", one.name), &one.file)
        })
    }

    /// Adds programs that are installed on this machine, with their libraries.
    pub(crate) fn installed(&self, names: &[&str]) -> Result<()> {
        names.iter().try_for_each(|name| {
            let path = installed(name).ok_or_else(|| format!("{name} is not installed"))?;
            self.with_libraries(&path, &format!("bin/{name}"))
        })
    }

    /// Adds an emulator for a virtual machine in the machine.
    pub(crate) fn emulator(&mut self) -> Result<()> {
        let own = |path: &Path| self.file(path, &path.to_string_lossy());
        self.with_libraries(Path::new(EMULATOR), EMULATOR)?;
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
    pub(crate) fn file(&self, file: &Path, at: &str) -> Result<()> {
        let contents = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        self.write(at, &contents)
    }

    /// Makes the file that a kernel unpacks.
    pub(crate) fn pack(&self) -> Result<PathBuf> {
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

    /// Makes a symbolic link.
    fn link(&self, to: &str, at: &Path) -> Result<()> {
        let at = Path::new(at.to_str().unwrap_or_default().trim_start_matches('/'));
        if let Some(folder) = at.parent() {
            self.make(folder)?;
        }
        let path = self.0.join(at);
        std::os::unix::fs::symlink(to, &path)
            .map_err(|error| format!("{}: {error}", path.display()))
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

/// Returns the path of a program.
fn installed(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
