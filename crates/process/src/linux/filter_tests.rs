use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::*;

const ALL: [FilterOptions; 4] = [
    options(true, true),
    options(true, false),
    options(false, true),
    options(false, false),
];

const KEY: EntryKey = EntryKey([0x1111_2222_3333_4444, 0x5555_6666_7777_8888]);

const fn options(internet: bool, unix: bool) -> FilterOptions {
    FilterOptions {
        internet,
        unix,
        debuggers: unix,
    }
}

#[test]
fn a_filter_fits_into_a_message() {
    for options in ALL {
        let filter = compile(options, Some(KEY));
        assert!(filter.len().is_multiple_of(8));
        // The kernel translates it at every start.
        assert!((400..1200).contains(&filter.len()), "{}", filter.len());
    }
}

/// What the kernel passes to a filter: the call's number, the architecture, a place, and six arguments.
#[derive(Clone, Copy)]
struct Call {
    number: u32,
    architecture: u32,
    arguments: [u64; 6],
}

impl Call {
    fn word(self, offset: u32) -> u32 {
        let low = |value: u64| u32::try_from(value & 0xffff_ffff).expect("32 bits");
        match offset {
            0 => self.number,
            4 => self.architecture,
            16.. => {
                let argument = self.arguments[(offset as usize - 16) / 8];
                let is_high = offset % 8 == 4;
                low(if is_high { argument >> 32 } else { argument })
            }
            _ => panic!("a filter loads {offset}"),
        }
    }
}

/// Runs a filter; returns its verdict and the number of instructions that it took.
fn judge(filter: &[u8], call: Call) -> (u32, usize) {
    let (instructions, _) = filter.as_chunks::<8>();
    let (mut at, mut accumulator, mut taken) = (0, 0_u32, 0);
    loop {
        let [c0, c1, jt, jf, k @ ..] = instructions[at];
        let (code, k) = (u16::from_ne_bytes([c0, c1]), u32::from_ne_bytes(k));
        (at, taken) = (at + 1, taken + 1);
        let is_so = match code {
            0x20 => {
                accumulator = call.word(k);
                continue;
            }
            0x54 => {
                accumulator &= k;
                continue;
            }
            0x05 => {
                at += k as usize;
                continue;
            }
            0x06 => return (k, taken),
            0x15 => accumulator == k,
            0x25 => accumulator > k,
            0x35 => accumulator >= k,
            0x45 => accumulator & k != 0,
            _ => panic!("instruction {code:#x}"),
        };
        at += usize::from(if is_so { jt } else { jf });
    }
}

#[cfg(target_arch = "x86_64")]
const OWN: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const OWN: u32 = 0xC000_00B7;

/// The same rules by the crate of that name, one after the other.
fn reference(options: FilterOptions) -> Vec<u8> {
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let refused = REFUSED.iter();
    let refused = refused.chain(&[libc::SYS_setns]);
    for call in refused.chain(DEBUGGERS.iter().filter(|_| !options.debuggers)) {
        rules.insert(*call, Vec::new());
    }
    let word = SeccompCmpArgLen::Dword;
    let whole = SeccompCmpArgLen::Qword;
    let rule = |conditions: &[(u8, SeccompCmpArgLen, SeccompCmpOp, u64)]| {
        let conditions = conditions
            .iter()
            .map(|(argument, length, operator, value)| {
                SeccompCondition::new(*argument, length.clone(), operator.clone(), *value).unwrap()
            });
        SeccompRule::new(conditions.collect()).unwrap()
    };
    let namespaces = NAMESPACES.iter().map(|flag| u64::from(number(*flag)));
    let namespaces: Vec<SeccompRule> = namespaces
        .map(|flag| rule(&[(0, word.clone(), SeccompCmpOp::MaskedEq(flag), flag)]))
        .collect();
    rules.insert(libc::SYS_clone, namespaces.clone());
    rules.insert(libc::SYS_unshare, namespaces);
    let input = [libc::TIOCSTI, libc::TIOCLINUX];
    let input = input.map(|it| rule(&[(1, word.clone(), SeccompCmpOp::Eq, it & 0xffff_ffff)]));
    rules.insert(libc::SYS_ioctl, input.into());
    let other_limits = rule(&[
        (0, word.clone(), SeccompCmpOp::Ne, 0),
        (2, whole, SeccompCmpOp::Ne, 0),
    ]);
    rules.insert(libc::SYS_prlimit64, vec![other_limits]);
    let family = |family: libc::c_int| u64::from(number(family));
    let mut not_allowed = vec![(0, word.clone(), SeccompCmpOp::Ne, family(libc::AF_NETLINK))];
    if options.unix {
        not_allowed.push((0, word.clone(), SeccompCmpOp::Ne, family(libc::AF_UNIX)));
    }
    if options.internet {
        not_allowed.push((0, word.clone(), SeccompCmpOp::Ne, family(libc::AF_INET)));
        not_allowed.push((0, word.clone(), SeccompCmpOp::Ne, family(libc::AF_INET6)));
    }
    let netlink = rule(&[
        (0, word.clone(), SeccompCmpOp::Eq, family(libc::AF_NETLINK)),
        (
            2,
            word.clone(),
            SeccompCmpOp::Ne,
            family(libc::NETLINK_ROUTE),
        ),
    ]);
    rules.insert(libc::SYS_socket, vec![rule(&not_allowed), netlink]);
    let pair = rule(&[(0, word, SeccompCmpOp::Ne, family(libc::AF_UNIX))]);
    rules.insert(libc::SYS_socketpair, vec![pair]);
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    let bytes = program.iter().flat_map(|it| {
        let mut bytes = it.code.to_ne_bytes().to_vec();
        bytes.extend([it.jt, it.jf]);
        bytes.extend(it.k.to_ne_bytes());
        bytes
    });
    bytes.collect()
}

const ABSENT_VERDICT: u32 = 0x0005_0026;

#[test]
fn verdicts_are_those_of_the_same_rules_one_after_the_other() {
    let numbers = (0..600).chain([0x3fff_ffff, 0x4000_0000, 0x4000_0029, u32::MAX]);
    let mut values = vec![
        0,
        1,
        2,
        3,
        10,
        16,
        17,
        0x1_0000_0000,
        u64::MAX,
        libc::TIOCSTI,
    ];
    values.extend(NAMESPACES.iter().map(|flag| u64::from(number(*flag))));
    let others = [
        0,
        1,
        libc::TIOCSTI,
        libc::TIOCLINUX,
        0x1_0000_0000,
        u64::MAX,
    ];
    for options in ALL {
        let (filter, reference) = (compile(options, Some(KEY)), reference(options));
        for number in numbers.clone() {
            let is_absent = ABSENT.contains(&i64::from(number))
                || cfg!(target_arch = "x86_64") && number >= 0x4000_0000;
            for architecture in [OWN, 0x4000_0003] {
                for first in &values {
                    for other in others {
                        let call = Call {
                            number,
                            architecture,
                            arguments: [*first, other, other, 0, 0, 0],
                        };
                        let expected = match judge(&reference, call).0 {
                            _ if is_absent && architecture == OWN => ABSENT_VERDICT,
                            verdict => verdict,
                        };
                        let verdict = judge(&filter, call).0;
                        assert_eq!(verdict, expected, "{number} {first} {other}");
                    }
                }
            }
        }
    }
}

/// Whether a filter lets `setns` pass with these arguments.
fn enters(filter: &[u8], arguments: [u64; 6]) -> bool {
    let number = u32::try_from(libc::SYS_setns).unwrap();
    let call = Call {
        number,
        architecture: OWN,
        arguments,
    };
    judge(filter, call).0 == 0x7fff_0000
}

#[test]
fn only_the_whole_key_enters_namespaces() {
    let EntryKey([first, second]) = KEY;
    for options in ALL {
        let filter = compile(options, Some(KEY));
        assert!(enters(&filter, [9, 0, 0, 0, first, second]));
        for bit in 0..64 {
            assert!(!enters(&filter, [9, 0, 0, 0, first ^ 1 << bit, second]));
            assert!(!enters(&filter, [9, 0, 0, 0, first, second ^ 1 << bit]));
        }
        assert!(!enters(&filter, [9, 0, 0, 0, second, first]));
        assert!(!enters(&filter, [9, 0, 0, first, second, 0]));
        let without = compile(options, None);
        assert!(!enters(&without, [9, 0, 0, 0, first, second]));
        assert!(!enters(&without, [0; 6]));
    }
    assert_ne!(EntryKey::random().unwrap(), EntryKey::random().unwrap());
}

/// The kernel runs it for every number, at every start of a program.
#[test]
fn the_way_to_a_verdict_is_short() {
    for options in ALL {
        let filter = compile(options, Some(KEY));
        for number in 0..480 {
            let call = Call {
                number,
                architecture: OWN,
                arguments: [0; 6],
            };
            let (_, taken) = judge(&filter, call);
            assert!(taken <= 16, "{number} takes {taken}");
        }
    }
}
