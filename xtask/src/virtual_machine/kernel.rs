//! Kernel of the virtual machine.

use crate::run::{Result, is_installed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Package that depends on the newest kernel for virtual machines.
const PACKAGE: &str = "linux-image-cloud-amd64";

/// Kernel, as a package of Debian's has it.
pub(crate) struct Kernel {
    image: PathBuf,
    modules: PathBuf,
}

impl Kernel {
    /// Returns the kernel in a folder, or without one Debian's, which is downloaded once.
    pub(crate) fn of(folder: Option<&Path>, work: &Path) -> Result<Self> {
        if let Some(folder) = folder {
            return Self::in_folder(folder);
        }
        let folder = work.join("kernel");
        if let Ok(kernel) = Self::in_folder(&folder) {
            return Ok(kernel);
        }
        download(&folder)?;
        Self::in_folder(&folder)
    }

    fn in_folder(folder: &Path) -> Result<Self> {
        let named = |folder: PathBuf, start: &str| {
            let mut files: Vec<PathBuf> = fs::read_dir(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| {
                    path.file_name()
                        .is_some_and(|name| name.to_string_lossy().starts_with(start))
                })
                .collect();
            files.sort();
            files
                .pop()
                .ok_or_else(|| format!("{}: there is no {start}*", folder.display()))
        };
        Ok(Self {
            image: named(folder.join("boot"), "vmlinuz")?,
            modules: named(folder.join("lib/modules"), "")?,
        })
    }

    /// Returns the path of the kernel itself.
    pub(crate) fn image(&self) -> &Path {
        &self.image
    }

    /// Returns the contents of a module.
    pub(crate) fn module(&self, name: &str) -> Result<Vec<u8>> {
        let endings = [
            ("ko", None),
            ("ko.xz", Some("xz")),
            ("ko.zst", Some("zstd")),
        ];
        for (ending, packer) in endings {
            let Some(path) = found(&self.modules, &format!("{name}.{ending}")) else {
                continue;
            };
            let Some(packer) = packer else {
                return fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
            };
            let unpacked = Command::new(packer)
                .args(["--decompress", "--stdout"])
                .arg(&path)
                .output()
                .map_err(|error| format!("{packer} could not be started: {error}"))?;
            return Ok(unpacked.stdout);
        }
        Err(format!(
            "{}: there is no module {name}",
            self.modules.display()
        ))
    }
}

/// Looks for a file in a folder and those in it.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let here = entries
        .iter()
        .find(|path| path.file_name().is_some_and(|one| one == name));
    here.cloned().or_else(|| {
        let folders = entries
            .iter()
            .filter(|path| path.is_dir() && !path.is_symlink());
        folders.into_iter().find_map(|folder| found(folder, name))
    })
}

/// Downloads Debian's package, which is not installed.
fn download(folder: &Path) -> Result<()> {
    let absent = ["apt-get", "apt-cache", "dpkg-deb"]
        .into_iter()
        .find(|program| !is_installed(program));
    if let Some(program) = absent {
        return Err(format!(
            "there is no `{program}` to get a kernel by; name one by --kernel"
        ));
    }
    let packages = folder.with_file_name("packages");
    for folder in [folder, &packages] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let depends = output(Command::new("apt-cache").args(["depends", PACKAGE]))?;
    let name = depends
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: linux-image-"))
        .ok_or_else(|| format!("apt knows no package {PACKAGE} (`apt-get update`, or --kernel)"))?;
    let name = format!("linux-image-{name}");
    output(
        Command::new("apt-get")
            .current_dir(&packages)
            .args(["download", "--quiet=2", &name]),
    )?;
    let file = fs::read_dir(&packages)
        .map_err(|error| format!("{}: {error}", packages.display()))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| {
            path.file_name()
                .is_some_and(|one| one.to_string_lossy().starts_with(&name))
        })
        .ok_or_else(|| format!("apt-get has downloaded no {name}"))?;
    output(
        Command::new("dpkg-deb")
            .arg("--extract")
            .arg(&file)
            .arg(folder),
    )?;
    fs::remove_file(&file).map_err(|error| format!("{}: {error}", file.display()))
}

fn output(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command
        .output()
        .map_err(|error| format!("{shown} could not be started: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{shown} has failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_found_in_the_folders_of_its_package_with_modules_that_need_unpacking_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("lib/modules/6.1/kernel/net/vmw_vsock");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(folder.path().join("boot")).unwrap();
        assert!(Kernel::in_folder(folder.path()).is_err());
        let image = folder.path().join("boot/vmlinuz-6.1");
        fs::write(&image, "kernel").unwrap();
        fs::write(deep.join("vsock.ko"), "module").unwrap();
        let kernel = Kernel::of(Some(folder.path()), Path::new("/nowhere")).unwrap();
        assert_eq!(kernel.image(), image);
        assert_eq!(kernel.module("vsock").unwrap(), b"module");
        let error = kernel.module("vhost_vsock").unwrap_err();
        assert!(error.contains("no module vhost_vsock"), "{error}");
    }
}
