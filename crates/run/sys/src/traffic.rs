//! How the kernel sends what a socket is given, and looks for what it receives: pace, class, busy
//! polling (`socket(7)`).

use crate::clock;
use std::ffi::{c_int, c_ulong};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Traffic options of a socket; each `None` leaves it to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// `SO_MAX_PACING_RATE`: the most bytes a second that the kernel sends. Packets of TCP are paced by
    /// TCP itself, those of UDP only by the queueing discipline `fq`.
    pub pacing_rate: Option<NonZeroU64>,
    /// `SO_PRIORITY`: class of packets for the queueing discipline (`prio`, `mqprio`, `etf`, VLAN
    /// priorities). Above 6 needs CAP_NET_ADMIN.
    pub socket_priority: Option<u8>,
    /// `SO_BUSY_POLL` in whole microseconds: time for which a receive that finds nothing polls the
    /// network device's queue. More than before needs CAP_NET_ADMIN.
    pub busy_poll: Option<Duration>,
}

impl Traffic {
    /// Sets the options on a socket.
    ///
    /// # Errors
    /// Errors of `setsockopt(2)`: EPERM without CAP_NET_ADMIN.
    pub fn apply(&self, socket: impl AsFd) -> io::Result<()> {
        let socket = socket.as_fd();
        if let Some(rate) = self.pacing_rate {
            let rate = c_ulong::try_from(rate.get()).map_err(|_| too_large("pacing_rate"))?;
            set(socket, SOCKET, libc::SO_MAX_PACING_RATE, rate)?;
        }
        if let Some(priority) = self.socket_priority {
            set(socket, SOCKET, libc::SO_PRIORITY, c_int::from(priority))?;
        }
        if let Some(time) = self.busy_poll {
            let micros = c_int::try_from(time.as_micros());
            let micros = micros.map_err(|_| too_large("busy_poll_us"))?;
            set(socket, SOCKET, libc::SO_BUSY_POLL, micros)?;
        }
        Ok(())
    }

    /// Returns the options that a socket has.
    ///
    /// # Errors
    /// Errors of `getsockopt(2)`.
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let socket = socket.as_fd();
        let rate: c_ulong = get(socket, SOCKET, libc::SO_MAX_PACING_RATE)?;
        // All bits are set where there is no limit.
        let limit = (rate != c_ulong::MAX).then_some(rate);
        // Four bytes on some systems.
        #[allow(clippy::useless_conversion)]
        let limit = limit.map(u64::from);
        let priority: c_int = get(socket, SOCKET, libc::SO_PRIORITY)?;
        let micros: c_int = get(socket, SOCKET, libc::SO_BUSY_POLL)?;
        Ok(Self {
            pacing_rate: limit.and_then(NonZeroU64::new),
            socket_priority: u8::try_from(priority).ok(),
            busy_poll: u64::try_from(micros).ok().map(Duration::from_micros),
        })
    }
}

/// Has threads that wait on an `epoll` set poll the network devices' queues of its sockets for this time before they sleep
/// (`EPIOCSPARAMS`, Linux 6.9), as `SO_BUSY_POLL` does for a thread that waits for one socket. Devices without such queues,
/// such as loopback, are not polled.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] where the kernel cannot, else those of `ioctl_eventpoll(2)`.
pub fn set_epoll_busy_poll(epoll: impl AsFd, time: Duration) -> io::Result<()> {
    let micros = c_int::try_from(time.as_micros());
    let micros = micros.map_err(|_| too_large("busy_poll_us"))?;
    let mut params = no_epoll_params();
    params.busy_poll_usecs = micros.cast_unsigned();
    epoll_ioctl(epoll, libc::EPIOCSPARAMS, &mut params)
}

/// Returns the time that [`set_epoll_busy_poll`] has set; zero without one.
///
/// # Errors
/// As [`set_epoll_busy_poll`].
pub fn epoll_busy_poll(epoll: impl AsFd) -> io::Result<Duration> {
    let mut params = no_epoll_params();
    epoll_ioctl(epoll, libc::EPIOCGPARAMS, &mut params)?;
    Ok(Duration::from_micros(params.busy_poll_usecs.into()))
}

/// Returns parameters that leave the number of packets at once to the kernel, and do not put polling before interrupts.
fn no_epoll_params() -> libc::epoll_params {
    // SAFETY: the structure has numbers only, for which zeros are values; its padding has to be zero.
    unsafe { std::mem::zeroed() }
}

fn epoll_ioctl(
    epoll: impl AsFd,
    request: libc::Ioctl,
    params: &mut libc::epoll_params,
) -> io::Result<()> {
    // SAFETY: both requests take a pointer to this structure, which the kernel reads or writes during the call.
    let done = unsafe { libc::ioctl(epoll.as_fd().as_raw_fd(), request, &raw mut *params) };
    let error = match done {
        0 => return Ok(()),
        _ => io::Error::last_os_error(),
    };
    // An older kernel knows no such request, another was built without busy polling.
    Err(match error.raw_os_error() {
        Some(libc::ENOTTY | libc::EOPNOTSUPP) => io::ErrorKind::Unsupported.into(),
        // Before Linux 6.9 no request at all.
        Some(libc::EINVAL) if request == libc::EPIOCGPARAMS => io::ErrorKind::Unsupported.into(),
        _ => error,
    })
}

/// Returns the number of the device's queue (NAPI id) by which a socket's last packets came (`SO_INCOMING_NAPI_ID`); `None`
/// before any, and for devices without such queues, such as loopback.
///
/// # Errors
/// Errors of `getsockopt(2)`: ENOPROTOOPT where the kernel was built without busy polling.
pub fn napi_id(socket: impl AsFd) -> io::Result<Option<u32>> {
    let id: c_int = get(socket, SOCKET, libc::SO_INCOMING_NAPI_ID)?;
    Ok(Some(id.cast_unsigned()).filter(|id| *id != 0))
}

/// Clock of launch times, which the queueing discipline decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaunchClock {
    /// `CLOCK_TAI`, for `etf`. Needs CAP_NET_ADMIN.
    #[default]
    Tai,
    /// `CLOCK_MONOTONIC`, for `fq`.
    Monotonic,
}

impl LaunchClock {
    /// Returns the nanoseconds of the clock now.
    ///
    /// # Errors
    /// The kernel has no such clock.
    pub fn now(self) -> io::Result<u64> {
        match self {
            Self::Tai => clock::tai_nanos(),
            Self::Monotonic => Ok(clock::nanos()),
        }
    }

    /// Lets a datagram socket's sends have launch times of this clock (`SO_TXTIME`).
    ///
    /// # Errors
    /// Errors of `setsockopt(2)`: EPERM for the clock of TAI without CAP_NET_ADMIN.
    pub fn apply(self, socket: impl AsFd) -> io::Result<()> {
        let clock = match self {
            Self::Tai => libc::CLOCK_TAI,
            Self::Monotonic => libc::CLOCK_MONOTONIC,
        };
        // No flags: a datagram that is too late is dropped without a report, and no deadline mode.
        set(socket, SOCKET, libc::SO_TXTIME, [clock, 0])
    }

    /// Returns the clock of a socket's launch times, if its sends have such.
    ///
    /// # Errors
    /// Errors of `getsockopt(2)`.
    pub fn of(socket: impl AsFd) -> io::Result<Option<Self>> {
        // Without launch times the clock is CLOCK_REALTIME.
        let [clock, _]: [c_int; 2] = get(socket, SOCKET, libc::SO_TXTIME)?;
        Ok(match clock {
            libc::CLOCK_TAI => Some(Self::Tai),
            libc::CLOCK_MONOTONIC => Some(Self::Monotonic),
            _ => None,
        })
    }
}

/// Type of the value of a socket option: numbers of four or eight bytes.
trait OptionValue: Copy + Default {}
impl OptionValue for c_int {}
impl OptionValue for c_ulong {}
/// `struct sock_txtime`, clock and flags: rustix has not the clock of TAI here.
impl OptionValue for [c_int; 2] {}

fn too_large(name: &str) -> io::Error {
    let why = format!("{name}: more than this system's sockets take");
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Level of options that all sockets have.
const SOCKET: c_int = libc::SOL_SOCKET;

/// `IPV6_MULTICAST_ALL` of `linux/in6.h`, which libc has not for all systems.
const IPV6_MULTICAST_ALL: c_int = 29;

/// Sets whether a socket gets the datagrams to all groups that any socket of this host has joined (`IP_MULTICAST_ALL`, the
/// kernel's default), or only to those that it has joined itself.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub(crate) fn receive_all_groups(socket: impl AsFd, all: bool) -> io::Result<()> {
    let (level, name) = (libc::IPPROTO_IP, libc::IP_MULTICAST_ALL);
    set(socket, level, name, c_int::from(all))
}

/// As [`receive_all_groups`], of IPv6 groups (`IPV6_MULTICAST_ALL`). Kernels before Linux 4.20 have no choice.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub(crate) fn receive_all_groups_of_ipv6(socket: impl AsFd, all: bool) -> io::Result<()> {
    let (level, name) = (libc::IPPROTO_IPV6, IPV6_MULTICAST_ALL);
    match set(socket, level, name, c_int::from(all)) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(()),
        done => done,
    }
}

/// Returns whether a socket gets the datagrams to all IPv6 groups of this host.
#[cfg(test)]
pub(crate) fn receives_all_groups_of_ipv6(socket: impl AsFd) -> io::Result<bool> {
    get::<c_int>(socket, libc::IPPROTO_IPV6, IPV6_MULTICAST_ALL).map(|all| all != 0)
}

fn set<T: OptionValue>(socket: impl AsFd, level: c_int, name: c_int, value: T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes, which `value` has.
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            length,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get<T: OptionValue>(socket: impl AsFd, level: c_int, name: c_int) -> io::Result<T> {
    let mut value = T::default();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, which `value` has; any bits are a number.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    match done {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::time::Instant;

    #[test]
    fn options_are_read_back_and_what_is_not_given_stays_as_it_was() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = Traffic::of(&socket).unwrap();
        assert_eq!(before.pacing_rate, None);
        let wanted = Traffic {
            pacing_rate: NonZeroU64::new(5_000_000_000),
            socket_priority: Some(6),
            busy_poll: None,
        };
        wanted.apply(&socket).unwrap();
        let expected = Traffic {
            busy_poll: before.busy_poll,
            ..wanted
        };
        assert_eq!(Traffic::of(&socket).unwrap(), expected);
        Traffic::default().apply(&socket).unwrap();
        assert_eq!(Traffic::of(&socket).unwrap(), expected);
    }

    #[test]
    fn the_clock_of_launch_times_is_read_back_or_needs_a_right() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(LaunchClock::of(&socket).unwrap(), None);
        for clock in [LaunchClock::Monotonic, LaunchClock::Tai] {
            match clock.apply(&socket) {
                Ok(()) => assert_eq!(LaunchClock::of(&socket).unwrap(), Some(clock)),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            }
        }
    }

    #[test]
    fn busy_polling_is_set_or_needs_a_right() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let wanted = Traffic {
            busy_poll: Some(Duration::from_micros(70)),
            ..Traffic::default()
        };
        match wanted.apply(&socket) {
            Ok(()) => assert_eq!(Traffic::of(&socket).unwrap().busy_poll, wanted.busy_poll),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }

    #[test]
    fn busy_polling_of_an_epoll_set_is_read_back_or_the_kernel_cannot() {
        let epoll = crate::epoll::Epoll::new().unwrap();
        let time = Duration::from_micros(70);
        match set_epoll_busy_poll(&epoll, time) {
            Ok(()) => assert_eq!(epoll_busy_poll(&epoll).unwrap(), time),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
                println!("skipped: Linux before 6.9, or one without busy polling");
            }
        }
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(epoll_busy_poll(&socket).is_err());
    }

    #[test]
    fn packets_over_loopback_come_by_no_queue_of_a_device() {
        let (here, there) = (
            UdpSocket::bind("127.0.0.1:0").unwrap(),
            UdpSocket::bind("127.0.0.1:0").unwrap(),
        );
        let to = here.local_addr().unwrap();
        there.send_to(b"x", to).unwrap();
        here.recv_from(&mut [0; 4]).unwrap();
        match napi_id(&here) {
            Ok(id) => assert_eq!(id, None),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOPROTOOPT)),
        }
    }

    #[test]
    fn a_paced_connection_sends_no_faster_than_its_rate() {
        const LENGTH: usize = 4_000_000;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let paced = Traffic {
            pacing_rate: NonZeroU64::new(4_000_000),
            ..Traffic::default()
        };
        paced.apply(&client).unwrap();
        let sends = std::thread::spawn(move || client.write_all(&vec![7; LENGTH]));
        let begun = Instant::now();
        server.read_exact(&mut vec![0; LENGTH]).unwrap();
        sends.join().unwrap().unwrap();
        // A third of a second: the first packets, and what the kernel has in its hands, are not paced.
        let took = begun.elapsed();
        assert!(took > Duration::from_millis(333), "{took:?}");
    }
}
