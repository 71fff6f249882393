//! More attacks on a sandbox from within, as the user that runs the tests, and again as an ordinary user: signals and
//! descriptors by unusual calls, the system call table of 32-bit programs, and spellings of this machine's address.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_sandbox::{HostPattern, NetworkRule};
use windlass_skip::skip;

use crate::sandbox::{Machine, as_both_users, run, with_network, workspace};
use crate::support::{launcher, shell};

as_both_users!(
    "sandbox_attacks":
    no_call_signals_or_reads_a_process_outside,
    calls_of_32_bit_programs_are_refused,
    no_spelling_of_this_machine_passes_the_proxy,
);

/// The calls by number on x86-64: `pidfd_send_signal`, `pidfd_getfd`, `tgkill`, `rt_sigqueueinfo`, `rt_tgsigqueueinfo`,
/// `process_vm_readv`, `kcmp`, `move_pages`, `migrate_pages`, `get_robust_list`, `ptrace` (seize) and `setpgid`. The last part
/// makes the kernel send the signal, for a socket that has data.
const CALLS: &str = r"
import ctypes, errno, fcntl, os, signal, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_long
def call(number, *words):
    ctypes.set_errno(0)
    words = [word(it) if isinstance(it, int) else it for it in words]
    return libc.syscall(word(number), *words), errno.errorcode.get(ctypes.get_errno())
info = ctypes.create_string_buffer(struct.pack('iii', signal.SIGUSR1, 0, -1), 128)
local = ctypes.create_string_buffer(8)
vector = lambda at: ctypes.create_string_buffer(struct.pack('QQ', at, 8))
pidfd = os.pidfd_open(VICTIM)
own = ctypes.addressof(local)
for name, result in {
    'pidfd_send_signal': call(424, pidfd, signal.SIGUSR1, 0, 0),
    'pidfd_getfd': call(438, pidfd, 0, 0),
    'tgkill': call(234, VICTIM, VICTIM, signal.SIGUSR1),
    'rt_sigqueueinfo': call(129, VICTIM, signal.SIGUSR1, info),
    'rt_tgsigqueueinfo': call(297, VICTIM, VICTIM, signal.SIGUSR1, info),
    'process_vm_readv': call(310, VICTIM, vector(own), 1, vector(own), 1, 0),
    'kcmp': call(312, os.getpid(), VICTIM, 0, 0, 0),
    'move_pages': call(279, VICTIM, 0, 0, 0, 0, 0),
    'migrate_pages': call(256, VICTIM, 0, 0, 0),
    'get_robust_list': call(274, VICTIM, local, local),
    'ptrace': call(101, 0x4206, VICTIM, 0, 0),
    'setpgid': call(109, VICTIM, 0),
}.items():
    if result[0] != -1 or result[1] not in ('EPERM', 'ESRCH'):
        print(name, result)
F_SETSIG, F_SETOWN_EX, FIOSETOWN = 10, 15, 0x8901
for way in ('F_SETOWN', 'F_SETOWN_EX', 'FIOSETOWN'):
    ours, theirs = socket.socketpair()
    if way == 'F_SETOWN':
        fcntl.fcntl(ours, fcntl.F_SETOWN, VICTIM)
    elif way == 'F_SETOWN_EX':
        fcntl.fcntl(ours, F_SETOWN_EX, struct.pack('ii', 1, VICTIM))
    else:
        fcntl.ioctl(ours, FIOSETOWN, struct.pack('i', VICTIM))
    fcntl.fcntl(ours, F_SETSIG, signal.SIGUSR1)
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    theirs.send(b'x')
print('tried')
";

async fn no_call_signals_or_reads_a_process_outside() {
    if !cfg!(target_arch = "x86_64") {
        skip!("the numbers and the code are those of x86_64");
    }
    let machine = Machine::new();
    let victim = launcher().start(shell("exec sleep 1000")).await.unwrap();
    let script = CALLS.replace("VICTIM", &victim.pid().to_string());
    std::fs::write(machine.root.join("attack.py"), script).unwrap();
    let confined = machine.launcher(&workspace());
    let (text, exit) = run(&confined, "python3 attack.py", &machine.root, &machine.home).await;
    assert!(exit.success() && text == "tried\n", "{exit:?}: {text}");
    assert!(victim.exit().is_none());
}

async fn calls_of_32_bit_programs_are_refused() {
    if !cfg!(target_arch = "x86_64") {
        skip!("the numbers and the code are those of x86_64");
    }
    let machine = Machine::new();
    // `mov eax, 20 (getpid); int 0x80; ret`
    let script = r#"python3 -c '
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("called" if call() > 0 else "refused")'"#;
    let confined = machine.launcher(&workspace());
    let (text, _) = run(&confined, script, &machine.root, &machine.home).await;
    assert!(!text.contains("called"), "{text}");
}

async fn no_spelling_of_this_machine_passes_the_proxy() {
    let machine = Machine::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reached = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reached);
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let everything = HostPattern::parse("*").unwrap();
    let confined = machine.launcher(&with_network(NetworkRule::Allow(vec![everything])));
    let script = format!(
        r"
import os, socket, struct
proxy = int(os.environ['HTTP_PROXY'].rsplit(':', 1)[1])
def ask(*messages):
    s = socket.create_connection(('127.0.0.1', proxy), 20)
    for message in messages:
        s.sendall(message)
        reply = s.recv(64)
    return reply
names = '''127.0.0.1 localhost LOCALHOST [::1] [::ffff:127.0.0.1] 0.0.0.0 [::] 127.1 2130706433 0x7f000001
017700000001 127.255.255.254'''.split() + [socket.gethostname()]
for name in names:
    for request in (f'CONNECT {{name}}:{port} HTTP/1.1\r\n\r\n', f'GET http://{{name}}:{port}/ HTTP/1.1\r\n\r\n'):
        reply = ask(request.encode())
        if b' 403 ' not in reply and b' 502 ' not in reply:
            print(name, reply)
for kind, address in (
    (1, bytes([127, 0, 0, 1])), (1, bytes(4)), (4, bytes(15) + b'\x01'), (4, bytes(16)),
    (4, bytes(10) + b'\xff\xff\x7f\x00\x00\x01'), (3, b'\x09localhost'), (3, b'\x0a2130706433'),
):
    reply = ask(b'\x05\x01\x00', b'\x05\x01\x00' + bytes([kind]) + address + struct.pack('>H', {port}))
    if reply[1] == 0:
        print(kind, address, reply)
print('tried')
"
    );
    std::fs::write(machine.root.join("attack.py"), script).unwrap();
    let (text, exit) = run(&confined, "python3 attack.py", &machine.root, &machine.home).await;
    assert!(exit.success() && text == "tried\n", "{exit:?}: {text}");
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}
