//! The seccomp filter of a sandbox: calls that no ordinary program needs, and sockets by their family.
//!
//! Files and TCP are Landlock's. A filter sees numbers and no memory, so it cannot judge a path or an address.

use std::collections::{BTreeMap, BTreeSet};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::filter_shortcut::shortcut;

/// Choices of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilterOptions {
    /// Sockets of IPv4 and IPv6 can be made.
    pub(super) internet: bool,
    /// Unix sockets can be made. Pairs of them always can.
    pub(super) unix: bool,
    /// Debuggers work. Landlock keeps them within the sandbox.
    pub(super) debuggers: bool,
}

/// Calls that are refused whatever their arguments are.
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
    libc::SYS_setns,
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

/// Calls that are answered as a kernel answers that does not have them: callers then go another way.
const ABSENT: &[libc::c_long] = &[
    // Its flags are in memory, where a filter cannot see namespaces among them.
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// For `unshare` alone; with `clone` these bits are the signal of the child's end, and no signal has this one.
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

/// The instructions of the filter, as bytes. Empty where there is none for this architecture.
pub(super) fn compile(options: FilterOptions) -> Vec<u8> {
    let rules = compile_rules(options);
    if rules.is_empty() {
        return rules;
    }
    let mut program = shortcut(&judged(options));
    program.extend(rules);
    program
}

/// The numbers of the calls that the rules are about.
fn judged(options: FilterOptions) -> BTreeSet<u32> {
    let calls = rules(options).into_keys();
    let calls = calls.chain(ABSENT.iter().copied());
    calls
        .map(|call| u32::try_from(call).expect("a small number"))
        .collect()
}

/// The part of the filter that judges.
fn compile_rules(options: FilterOptions) -> Vec<u8> {
    let Ok(arch) = std::env::consts::ARCH.try_into() else {
        return Vec::new();
    };
    let filter = SeccompFilter::new(
        rules(options),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
        arch,
    );
    let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    let Ok(program) = program else {
        return Vec::new();
    };
    let program = program
        .iter()
        .flat_map(|it| bytes(it.code, it.jt, it.jf, it.k));
    absent_calls().into_iter().chain(program).collect()
}

/// Instructions that come before the others: calls that seem absent, and on x86-64 the second numbering of all calls.
fn absent_calls() -> Vec<u8> {
    let absent = instruction::ERRNO | libc::ENOSYS.cast_unsigned();
    let mut program = bytes(instruction::LOAD, 0, 0, instruction::NUMBER_AT).to_vec();
    let mut test = |jump, number| {
        program.extend(bytes(jump, 0, 1, number));
        program.extend(bytes(instruction::RETURN, 0, 0, absent));
    };
    if cfg!(target_arch = "x86_64") {
        test(instruction::JUMP_AT_LEAST, 0x4000_0000);
    }
    for call in ABSENT {
        let number = u32::try_from(*call).expect("a small number");
        test(instruction::JUMP_EQUAL, number);
    }
    program
}

/// Numbers of the language of filters.
pub(super) mod instruction {
    pub(in super::super) const LOAD: u16 = 0x20;
    pub(in super::super) const JUMP: u16 = 0x05;
    pub(in super::super) const JUMP_EQUAL: u16 = 0x15;
    pub(in super::super) const JUMP_AT_LEAST: u16 = 0x35;
    pub(in super::super) const RETURN: u16 = 0x06;
    pub(in super::super) const ERRNO: u32 = 0x0005_0000;
    pub(in super::super) const ALLOW: u32 = 0x7fff_0000;
    pub(in super::super) const NUMBER_AT: u32 = 0;
    pub(in super::super) const ARCHITECTURE_AT: u32 = 4;
}

pub(super) fn bytes(code: u16, jt: u8, jf: u8, k: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..2].copy_from_slice(&code.to_ne_bytes());
    bytes[2..4].copy_from_slice(&[jt, jf]);
    bytes[4..].copy_from_slice(&k.to_ne_bytes());
    bytes
}

fn rules(options: FilterOptions) -> BTreeMap<i64, Vec<SeccompRule>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED {
        rules.insert(*call, Vec::new());
    }
    if !options.debuggers {
        for call in [
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
        ] {
            rules.insert(call, Vec::new());
        }
    }
    let namespaces = || {
        let flags = NAMESPACES
            .iter()
            .map(|flag| u64::from(flag.cast_unsigned()));
        flags.map(|flag| rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)]))
    };
    rules.insert(libc::SYS_clone, namespaces().collect());
    rules.insert(libc::SYS_unshare, namespaces().collect());
    let input = [libc::TIOCSTI, libc::TIOCLINUX];
    let input = input.map(|request| rule(&[(1, SeccompCmpOp::Eq, request & 0xffff_ffff)]));
    rules.insert(libc::SYS_ioctl, input.into());
    // Limits of other processes: a low one ends a process as a signal does, and no rule of Landlock is about it.
    let other_limits = SeccompRule::new(vec![
        condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0),
        condition(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0),
    ]);
    let other_limits = other_limits.expect("there are conditions");
    rules.insert(libc::SYS_prlimit64, vec![other_limits]);
    rules.insert(libc::SYS_socket, families(options));
    let unix = number(libc::AF_UNIX);
    rules.insert(
        libc::SYS_socketpair,
        vec![rule(&[(0, SeccompCmpOp::Ne, unix)])],
    );
    rules
}

/// The families of sockets that are refused.
fn families(options: FilterOptions) -> Vec<SeccompRule> {
    let netlink = number(libc::AF_NETLINK);
    let mut allowed = vec![netlink];
    if options.unix {
        allowed.push(number(libc::AF_UNIX));
    }
    if options.internet {
        allowed.extend([number(libc::AF_INET), number(libc::AF_INET6)]);
    }
    allowed.sort_unstable();
    let mut rules = Vec::new();
    let mut from = None;
    for family in &allowed {
        let mut between = vec![(0, SeccompCmpOp::Lt, *family)];
        between.extend(from.map(|from| (0, SeccompCmpOp::Gt, from)));
        rules.push(rule(&between));
        from = Some(*family);
    }
    rules.extend(from.map(|from| rule(&[(0, SeccompCmpOp::Gt, from)])));
    // Of netlink only the part that lists interfaces.
    let route = number(libc::NETLINK_ROUTE);
    rules.push(rule(&[
        (0, SeccompCmpOp::Eq, netlink),
        (2, SeccompCmpOp::Ne, route),
    ]));
    rules
}

fn number(constant: libc::c_int) -> u64 {
    u64::from(constant.cast_unsigned())
}

fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> SeccompRule {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        condition(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    SeccompRule::new(conditions.collect()).expect("there is a condition")
}

fn condition(
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> SeccompCondition {
    SeccompCondition::new(argument, length, operator, value).expect("calls have six arguments")
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
