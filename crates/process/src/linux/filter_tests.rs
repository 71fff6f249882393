use super::*;

const ALL: [FilterOptions; 4] = [
    options(true, true),
    options(true, false),
    options(false, true),
    options(false, false),
];

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
        let filter = compile(options);
        assert!(filter.len().is_multiple_of(8));
        assert!((100..4096 * 8).contains(&filter.len()), "{}", filter.len());
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

/// Runs a filter; gives its verdict and the number of instructions that it took.
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

#[test]
fn the_shortcut_changes_no_verdict() {
    let numbers = (0..1024).chain([0x3fff_ffff, 0x4000_0000, 0x4000_0029, u32::MAX]);
    let values = [0, 1, 2, 3, 10, 16, 17, 0x2000_0000, 0x1_0000_0000, u64::MAX];
    let others = [0, 1, 0x5412, u64::MAX];
    for options in ALL {
        let (whole, rules) = (compile(options), compile_rules(options));
        assert!(whole.len() > rules.len());
        for number in numbers.clone() {
            for architecture in [OWN, 0x4000_0003] {
                for first in values {
                    for other in others {
                        let call = Call {
                            number,
                            architecture,
                            arguments: [first, other, other, 0, 0, 0],
                        };
                        let (verdict, _) = judge(&rules, call);
                        assert_eq!(judge(&whole, call).0, verdict, "{number} {first} {other}");
                    }
                }
            }
        }
    }
}

/// The kernel runs it for every number, at every start of a program.
#[test]
fn calls_without_rules_are_allowed_within_a_few_instructions() {
    for options in ALL {
        let filter = compile(options);
        let judged = judged(options);
        for number in (0..480).filter(|number| !judged.contains(number)) {
            let call = Call {
                number,
                architecture: OWN,
                arguments: [0; 6],
            };
            let (verdict, taken) = judge(&filter, call);
            assert_eq!(verdict, instruction::ALLOW);
            assert!(taken <= 12, "{number} takes {taken}");
        }
    }
}
