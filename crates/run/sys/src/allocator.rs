//! Memory that glibc's allocator keeps after it was freed.
//!
//! By default it raises the size from which it returns a block to the system as blocks are freed, to
//! 32 MiB, and keeps up to eight arenas for each processor, each with what it once needed. After a
//! flood of long messages a server would occupy several times what it holds.

/// Size in bytes from which a freed block is returned to the system at once.
#[cfg(target_env = "gnu")]
const RETURNED_FROM: libc::c_int = 256 * 1024;

/// Makes the allocator return freed blocks of 256 KiB and more to the system at once, and use no
/// more arenas than two for each processor. To be called at the start of a process; without effect on
/// allocators other than glibc's.
pub fn return_freed_memory() {
    #[cfg(target_env = "gnu")]
    {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let arenas = libc::c_int::try_from(2 * processors).unwrap_or(libc::c_int::MAX);
        // SAFETY: `mallopt` takes numbers only. Another thread that allocates at this moment uses the
        // earlier or the later value.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, RETURNED_FROM);
            libc::mallopt(libc::M_ARENA_MAX, arenas);
        }
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns the memory that the process occupies, in bytes.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.unwrap().trim().trim_end_matches(" kB");
        kib.parse::<usize>().unwrap() << 10
    }

    #[test]
    fn large_blocks_are_returned_however_large_earlier_ones_were() {
        const MIB: usize = 1 << 20;
        return_freed_memory();
        // Without a fixed size, glibc keeps blocks of up to this size from now on.
        drop(std::hint::black_box(vec![1_u8; 24 * MIB]));
        let before = resident();
        let mut blocks: Vec<Vec<u8>> = (0..32).map(|_| vec![1; 4 * MIB]).collect();
        // The last one would keep the others from being returned.
        let last = blocks.pop();
        assert!(resident() > before + 100 * MIB);
        drop(blocks);
        assert!(resident() < before + 32 * MIB);
        drop(last);
    }
}
