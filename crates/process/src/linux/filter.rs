//! The seccomp filter of a sandbox. It restricts unusual system calls, and sockets by family.
//!
//! Landlock restricts files and TCP. A filter sees only numbers, not memory, so it cannot check a path or an address.

use std::collections::BTreeMap;
use std::io;
use std::sync::OnceLock;

use super::filter_program::{self, ArgumentTest, Relation, TestOutcome, Verdict};

/// Options of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilterOptions {
    /// Whether IPv4 and IPv6 sockets are allowed.
    pub(super) internet: bool,
    /// Whether Unix sockets are allowed. Socket pairs always are.
    pub(super) unix: bool,
    /// Whether debuggers are allowed. Landlock confines them to the sandbox.
    pub(super) debuggers: bool,
}

/// The seccomp filter of a sandbox's programs.
pub(super) struct ProgramFilter {
    pub(super) options: FilterOptions,
    /// For the child of a shim, before it executes a program; empty on unsupported architectures.
    pub(super) of_program: Vec<u8>,
    /// For a shim, whose programs inherit it: the kernel translates a filter each time that it is applied.
    pub(super) of_shim: Vec<u8>,
    pub(super) key: EntryKey,
}

impl ProgramFilter {
    pub(super) fn new(options: FilterOptions) -> io::Result<Self> {
        // One key for all sandboxes, because they share idle shims.
        static KEY: OnceLock<EntryKey> = OnceLock::new();
        let key = if let Some(key) = KEY.get() {
            *key
        } else {
            let made = EntryKey::random()?;
            *KEY.get_or_init(|| made)
        };
        Ok(Self {
            options,
            of_program: compile(options, None),
            of_shim: compile(options, Some(key)),
            key,
        })
    }
}

/// A secret that lets a call of `setns` pass a filter, in arguments that the kernel ignores.
///
/// The child of a shim with a filter enters namespaces although it has inherited the filter. Programs never see the
/// key: it is only in the memory of the runtime and its shims, which `execve` replaces. With the key, a program would
/// still need privileges that it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryKey(pub(super) [u64; 2]);

/// The first argument of `setns` that contains the key. Records of the audit subsystem contain the arguments before it.
const KEY_AT: u32 = 4;

impl EntryKey {
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        if filled != bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let number = u128::from_ne_bytes(bytes);
        Ok(Self([low_word(number), low_word(number >> 64)]))
    }

    /// The tests that only this key passes.
    fn tests(self) -> Vec<ArgumentTest> {
        let halves = self.0.iter().flat_map(|it| {
            let it = u128::from(*it);
            [low_half(it), low_half(it >> 32)]
        });
        let mut tests: Vec<ArgumentTest> = (KEY_AT * 2..)
            .zip(halves)
            .map(|(half, value)| ArgumentTest {
                then: TestOutcome::NextTest,
                ..allow_only(half, value)
            })
            .collect();
        if let Some(last) = tests.last_mut() {
            last.then = TestOutcome::Allow;
        }
        tests
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only the low bits are wanted"
)]
const fn low_word(number: u128) -> u64 {
    number as u64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only the low bits are wanted"
)]
const fn low_half(number: u128) -> u32 {
    number as u32
}

/// Calls that are refused with any arguments.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    libc::SYS_kexec_file_load,
];

/// Calls that fail as if the kernel lacked them, so that callers use an alternative.
const ABSENT: &[libc::c_long] = &[
    // Its flags are in memory, where a filter cannot check them for namespaces.
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Only for `unshare`. In `clone`, these bits are the child's exit signal, and no signal has this number.
const CLONE_NEWTIME: libc::c_int = 0x80;

const OPEN_TREE_ATTR: libc::c_long = 467;

const NAMESPACES: &[libc::c_int] = &[
    CLONE_NEWTIME,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The instructions of the filter, as bytes. Empty if this architecture is not supported. With a key, a call of `setns`
/// that has it is allowed.
pub(super) fn compile(options: FilterOptions, key: Option<EntryKey>) -> Vec<u8> {
    let families = families(options);
    let entries = key.map_or_else(Vec::new, EntryKey::tests);
    let tests: [(&[libc::c_long], &[ArgumentTest]); 6] = [
        (
            if key.is_some() {
                &[libc::SYS_setns]
            } else {
                &[]
            },
            &entries,
        ),
        (
            &[libc::SYS_clone, libc::SYS_unshare],
            &[refuse_if(0, Relation::HasAnyBitOf, namespace_flags())],
        ),
        (&[libc::SYS_ioctl], &TERMINAL_INPUT),
        (&[libc::SYS_prlimit64], &OTHER_LIMITS),
        (&[libc::SYS_socket], &families),
        (
            &[libc::SYS_socketpair],
            &[allow_only(0, number(libc::AF_UNIX))],
        ),
    ];
    let mut calls = BTreeMap::new();
    let mut judge = |call: libc::c_long, verdict| {
        calls.insert(u32::try_from(call).expect("a small number"), verdict);
    };
    for call in REFUSED {
        judge(*call, Verdict::Refuse);
    }
    judge(libc::SYS_setns, Verdict::Refuse);
    for call in ABSENT {
        judge(*call, Verdict::Absent);
    }
    if !options.debuggers {
        for call in DEBUGGERS {
            judge(*call, Verdict::Refuse);
        }
    }
    for (index, (judged, _)) in tests.iter().enumerate() {
        for call in *judged {
            judge(*call, Verdict::ByArguments(index));
        }
    }
    filter_program::write(&calls, &tests.map(|(_, tests)| tests))
}

/// System calls of debuggers.
const DEBUGGERS: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];

/// System calls that type into a terminal.
const TERMINAL_INPUT: [ArgumentTest; 2] = [
    ArgumentTest {
        otherwise: TestOutcome::NextTest,
        ..refuse_if(2, Relation::Equals, low(libc::TIOCSTI))
    },
    refuse_if(2, Relation::Equals, low(libc::TIOCLINUX)),
];

/// Limits of other processes. A low limit can end a process like a signal, and Landlock has no rule for it. The first
/// argument is the process; the third is a pointer to the new limit.
const OTHER_LIMITS: [ArgumentTest; 3] = [
    ArgumentTest {
        otherwise: TestOutcome::NextTest,
        ..allow_only(0, 0)
    },
    ArgumentTest {
        then: TestOutcome::NextTest,
        ..allow_only(4, 0)
    },
    allow_only(5, 0),
];

/// The allowed socket families. For netlink, only the part that lists interfaces.
fn families(options: FilterOptions) -> Vec<ArgumentTest> {
    let mut allowed = Vec::new();
    if options.unix {
        allowed.push(libc::AF_UNIX);
    }
    if options.internet {
        allowed.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let allowed = allowed.into_iter().map(|family| ArgumentTest {
        otherwise: TestOutcome::NextTest,
        ..allow_only(0, number(family))
    });
    let netlink = ArgumentTest {
        then: TestOutcome::NextTest,
        ..allow_only(0, number(libc::AF_NETLINK))
    };
    let route = allow_only(4, number(libc::NETLINK_ROUTE));
    allowed.chain([netlink, route]).collect()
}

fn namespace_flags() -> u32 {
    let flags = NAMESPACES.iter().map(|flag| flag.cast_unsigned());
    flags.fold(0, |all, flag| all | flag)
}

const fn refuse_if(half: u32, relation: Relation, value: u32) -> ArgumentTest {
    ArgumentTest {
        half,
        relation,
        value,
        then: TestOutcome::Refuse,
        otherwise: TestOutcome::Allow,
    }
}

const fn allow_only(half: u32, value: u32) -> ArgumentTest {
    ArgumentTest {
        half,
        relation: Relation::Equals,
        value,
        then: TestOutcome::Allow,
        otherwise: TestOutcome::Refuse,
    }
}

const fn number(constant: libc::c_int) -> u32 {
    constant.cast_unsigned()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the kernel looks at the lower half of a request"
)]
const fn low(request: libc::c_ulong) -> u32 {
    request as u32
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
