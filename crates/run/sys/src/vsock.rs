//! Stream sockets between virtual machines and their host, and between processes of one of them (`vsock(7)`).
//!
//! They differ from other stream sockets in what the layers above notice: `shutdown` neither wakes a thread in `accept` nor
//! stops a listener, so that [`Listener`] waits with an event of its own; a connection that is refused is reset; and
//! `SO_SNDTIMEO` does not bound `connect`, for which there is a separate option.

use crate::event::EventFd;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::ioctl;
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketFlags, SocketType, acceptfrom_with, bind, connect as dial,
    getsockname, listen as start_listening, socket_with,
};
use std::ffi::{c_int, c_long};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Context id that stands for all of this machine's when listening.
pub const CID_ANY: u32 = libc::VMADDR_CID_ANY;
/// Context id of the machine itself: a loopback, by the kernel module `vsock_loopback`.
pub const CID_LOCAL: u32 = libc::VMADDR_CID_LOCAL;
/// Context id of a virtual machine's host.
pub const CID_HOST: u32 = libc::VMADDR_CID_HOST;
/// Port that stands for one of the kernel's choice when listening.
pub const PORT_ANY: u32 = libc::VMADDR_PORT_ANY;

// Names of `linux/vm_sockets.h`, which libc has not.
const SO_VM_SOCKETS_BUFFER_SIZE: c_int = 0;
const SO_VM_SOCKETS_BUFFER_MAX_SIZE: c_int = 2;
const SO_VM_SOCKETS_CONNECT_TIMEOUT_OLD: c_int = 6;
const IOCTL_VM_SOCKETS_GET_LOCAL_CID: ioctl::Opcode = ioctl::opcode::none(7, 0xb9);

/// Address of a socket: a machine's context id, and a port of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VsockAddress {
    /// Context id of the machine.
    pub cid: u32,
    /// Port, from 0 on; those below 1,024 need CAP_NET_BIND_SERVICE to be listened at.
    pub port: u32,
}

/// Listening socket. It refuses connections as soon as it is closed, however many threads wait in [`Listener::accept`].
#[derive(Debug)]
pub struct Listener {
    /// Non-blocking socket, `None` once it is closed: closing it is the only way to stop listening. Threads that accept hold
    /// the lock for reading.
    socket: RwLock<Option<OwnedFd>>,
    /// Set when it is to be closed.
    closing: EventFd,
    address: VsockAddress,
}

impl Listener {
    /// Listens at an address. `buffer` is the size of each accepted connection's receive buffer, in bytes; `None` leaves it to
    /// the kernel, which has 256 KiB.
    ///
    /// # Errors
    /// Errors of `socket(2)`, EAFNOSUPPORT where the kernel has no such sockets; of `setsockopt(2)`, `bind(2)` and
    /// `listen(2)`.
    pub fn bind(at: VsockAddress, backlog: i32, buffer: Option<u64>) -> io::Result<Self> {
        let socket = socket(SocketFlags::NONBLOCK)?;
        set_buffer(&socket, buffer)?;
        bind(&socket, &at)?;
        start_listening(&socket, backlog)?;
        Ok(Self {
            address: bound(&getsockname(&socket)?)?,
            socket: RwLock::new(Some(socket)),
            closing: EventFd::new()?,
        })
    }

    /// Returns the address at which it listens, with the port that the kernel chose and perhaps [`CID_ANY`].
    #[must_use]
    pub fn address(&self) -> VsockAddress {
        self.address
    }

    /// Waits for a connection, and returns its socket and the peer's address; `None` once the listener is closed.
    ///
    /// # Errors
    /// Errors of `accept(2)`.
    pub fn accept(&self) -> io::Result<Option<(OwnedFd, VsockAddress)>> {
        let socket = self.socket.read().unwrap_or_else(PoisonError::into_inner);
        let Some(socket) = &*socket else {
            return Ok(None);
        };
        loop {
            match acceptfrom_with(socket, SocketFlags::CLOEXEC) {
                Ok((accepted, peer)) => {
                    let peer = peer.ok_or(io::ErrorKind::InvalidData)?;
                    return Ok(Some((accepted, bound(&peer)?)));
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
            let mut waited = [socket.as_fd(), self.closing.as_fd()]
                .map(|one| PollFd::from_borrowed_fd(one, PollFlags::IN));
            match poll(&mut waited, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if !waited[1].revents().is_empty() {
                return Ok(None);
            }
        }
    }

    /// Stops listening: resets the connections that wait to be accepted, and ends each waiting [`Listener::accept`].
    pub fn close(&self) {
        self.closing.notify();
        let mut socket = self.socket.write().unwrap_or_else(PoisonError::into_inner);
        drop(socket.take());
    }
}

/// Connects to an address, and returns the socket and its own address. Waits up to `timeout`; without one the kernel waits for
/// 2 s. `buffer` is the size of its receive buffer, as for [`Listener::bind`].
///
/// # Errors
/// `WouldBlock` when the time-out has passed, and ETIMEDOUT when the kernel's own has; ECONNRESET where nothing listens; ENODEV
/// where no device leads to the machine, and EADDRNOTAVAIL to [`CID_LOCAL`] where there is no loopback; those of `socket(2)` and
/// `setsockopt(2)`.
pub fn connect(
    to: VsockAddress,
    timeout: Option<Duration>,
    buffer: Option<u64>,
) -> io::Result<(OwnedFd, VsockAddress)> {
    let begun = Instant::now();
    let socket = loop {
        let socket = socket(SocketFlags::empty())?;
        set_buffer(&socket, buffer)?;
        if to.cid == CID_LOCAL {
            // Fails where there is no loopback: the kernel would look for this machine at the other end of a device.
            let (cid, port) = (CID_LOCAL, PORT_ANY);
            bind(&socket, &VsockAddress { cid, port })?;
        }
        if let Some(timeout) = timeout {
            let left = timeout.saturating_sub(begun.elapsed());
            set(
                &socket,
                SO_VM_SOCKETS_CONNECT_TIMEOUT_OLD,
                Timeval::of(left),
            )?;
        }
        match dial(&socket, &to) {
            Ok(()) => break socket,
            // A signal has ended the attempt, and the kernel goes on with another only from a new socket.
            Err(Errno::INTR) => {}
            Err(Errno::TIMEDOUT) if timeout.is_some() => {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Err(error) => return Err(error.into()),
        }
    };
    let mut own = bound(&getsockname(&socket)?)?;
    if own.cid == CID_ANY {
        // The kernel does not write down by which of this machine's ids it goes.
        own.cid = match local_cid() {
            Ok(cid) if cid == to.cid => CID_LOCAL,
            Ok(cid) => cid,
            Err(_) => CID_ANY,
        };
    }
    Ok((socket, own))
}

/// Returns the context id of this machine: of a virtual machine its own, of a host [`CID_HOST`], and [`CID_LOCAL`] where there
/// is only a loopback.
///
/// # Errors
/// Errors of opening `/dev/vsock`, which may be absent or forbidden, and of `ioctl(2)`.
pub fn local_cid() -> io::Result<u32> {
    let device = File::open("/dev/vsock")?;
    // SAFETY: the request writes one `unsigned int` (`vsock_dev_do_ioctl`).
    let cid = unsafe {
        let request = ioctl::Getter::<IOCTL_VM_SOCKETS_GET_LOCAL_CID, u32>::new();
        ioctl::ioctl(&device, request)
    }?;
    Ok(if cid == CID_ANY { CID_LOCAL } else { cid })
}

fn socket(flags: SocketFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::VSOCK, SocketType::STREAM, flags, None)
}

/// Sets the size of a socket's receive buffer, and raises its limit, which otherwise is 256 KiB.
fn set_buffer(socket: &OwnedFd, size: Option<u64>) -> io::Result<()> {
    let Some(size) = size else {
        return Ok(());
    };
    set(socket, SO_VM_SOCKETS_BUFFER_MAX_SIZE, size)?;
    set(socket, SO_VM_SOCKETS_BUFFER_SIZE, size)
}

// SAFETY: the closure gets a whole `sockaddr_vm`, and its size.
unsafe impl SocketAddrArg for VsockAddress {
    unsafe fn with_sockaddr<R>(
        &self,
        f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R,
    ) -> R {
        let address = libc::sockaddr_vm {
            svm_family: AddressFamily::VSOCK.as_raw(),
            svm_reserved1: 0,
            svm_port: self.port,
            svm_cid: self.cid,
            svm_zero: [0; 4],
        };
        f((&raw const address).cast(), LENGTH)
    }
}

/// Size of a socket's address.
const LENGTH: SocketAddrLen = size_of::<libc::sockaddr_vm>() as SocketAddrLen;

/// Returns the address that the kernel gave, of a socket of this kind.
fn bound(address: &SocketAddrAny) -> io::Result<VsockAddress> {
    if address.address_family() != AddressFamily::VSOCK || address.addr_len() < LENGTH {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // SAFETY: so many bytes are initialised; whatever they are is an address.
    let address = unsafe {
        address
            .as_ptr()
            .cast::<libc::sockaddr_vm>()
            .read_unaligned()
    };
    Ok(VsockAddress {
        cid: address.svm_cid,
        port: address.svm_port,
    })
}

/// Time as the option takes it: `struct __kernel_old_timeval`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Timeval {
    seconds: c_long,
    microseconds: c_long,
}

impl Timeval {
    /// Converts a time, at least one microsecond: none would mean the kernel's own. At most a million seconds, since some
    /// kernels refuse what their clock's ticks cannot count.
    fn of(time: Duration) -> Self {
        let time = time.clamp(Duration::from_micros(1), Duration::from_secs(1_000_000));
        Self {
            seconds: c_long::try_from(time.as_secs()).unwrap_or(c_long::MAX),
            microseconds: c_long::from(time.subsec_micros() as i32),
        }
    }
}

/// Type of the value of a socket option, without padding.
trait OptionValue: Copy {}
impl OptionValue for u64 {}
impl OptionValue for Timeval {}

fn set<T: OptionValue>(socket: &OwnedFd, name: c_int, value: T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes, which `value` has.
    let done = unsafe {
        let value = (&raw const value).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::AF_VSOCK, name, value, length)
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
