//! Made-up outputs that must stay as they are, or must not.

use std::time::Duration;

use super::support::{Scatter, digest, digest_slowly, lines};

#[track_caller]
fn stays(text: &str) {
    stays_slowly(text, Duration::ZERO);
}

#[track_caller]
fn stays_slowly(text: &str, step: Duration) {
    let digested = digest_slowly(text, step);
    assert!(digested.is_whole(), "{}", digested.text());
    assert_eq!(digested.text(), text);
}

#[test]
fn a_status_of_many_modified_files_stays() {
    let head = "On branch main\nChanges not staged for commit:\n";
    let files = lines(300, |i| {
        format!("\tmodified:   crates/x{}/src/file_{i}.rs\n", i % 7)
    });
    stays(&format!("{head}{files}"));
}

#[test]
fn a_short_status_stays() {
    stays(&lines(300, |i| {
        format!(" M crates/x{}/src/file_{i}.rs\n", i % 7)
    }));
}

#[test]
fn a_table_of_pods_stays() {
    let mut scatter = Scatter(1);
    let rows = lines(120, |i| {
        let (status, restarts) = if i == 57 {
            ("CrashLoopBackOff", 41)
        } else {
            ("Running", 0)
        };
        let (id, age) = (scatter.below(1 << 20), scatter.below(90));
        format!("web-{i:04x}-{id:05x}   1/1     {status}   {restarts}          {age}d\n")
    });
    stays(&format!("NAME   READY   STATUS   RESTARTS   AGE\n{rows}"));
}

#[test]
fn found_files_stay() {
    let mut scatter = Scatter(2);
    stays(&lines(600, |_| {
        let folder = ["a", "b", "c", "d", "e", "f"][usize::try_from(scatter.below(6)).unwrap()];
        format!("./src/{folder}/{:x}.ts\n", scatter.below(1 << 30))
    }));
}

#[test]
fn objects_on_lines_stay() {
    let mut scatter = Scatter(3);
    stays(&lines(200, |i| {
        format!(
            "{{\"id\": {i}, \"name\": \"n{i}\", \"cents\": {}}}\n",
            scatter.below(9999)
        )
    }));
}

#[test]
fn pinned_packages_stay() {
    let mut scatter = Scatter(4);
    stays(&lines(200, |i| {
        format!(
            "pkg{i}=={}.{}.{}\n",
            scatter.below(9),
            scatter.below(20),
            scatter.below(9)
        )
    }));
}

#[test]
fn an_environment_stays() {
    let mut scatter = Scatter(5);
    stays(&lines(120, |i| {
        format!("VAR_{i}=/opt/x/{i}:{}\n", scatter.below(999))
    }));
}

#[test]
fn symbols_stay() {
    let mut scatter = Scatter(6);
    stays(&lines(200, |i| {
        format!("{:016x} T _ZN4core3fmt{i}E\n", scatter.next())
    }));
}

#[test]
fn a_hex_dump_stays() {
    let mut scatter = Scatter(7);
    stays(&lines(100, |i| {
        let bytes: Vec<String> = (0..16)
            .map(|_| format!("{:02x}", scatter.below(256)))
            .collect();
        format!("{:08x}  {}\n", i * 16, bytes.join(" "))
    }));
}

#[test]
fn a_summary_of_changes_stays() {
    let mut scatter = Scatter(8);
    stays(&lines(120, |i| {
        format!(" crates/a{i}/src/lib.rs | {} +++--\n", scatter.below(90))
    }));
}

#[test]
fn sizes_of_folders_stay() {
    let mut scatter = Scatter(9);
    stays(&lines(200, |i| {
        format!("{}K\t./dir{i}\n", scatter.below(900))
    }));
}

#[test]
fn round_trips_that_arrive_one_by_one_stay() {
    let mut scatter = Scatter(10);
    let text = lines(120, |i| {
        let time = if i == 77 {
            9312
        } else {
            90 + scatter.below(50)
        };
        let (whole, tenth) = (time / 10, time % 10);
        format!("64 bytes from 1.1.1.1: icmp_seq={i} ttl=57 time={whole}.{tenth} ms\n")
    });
    stays_slowly(&text, Duration::from_millis(200));
}

#[test]
fn headers_with_one_refusal_stay() {
    let mut scatter = Scatter(11);
    stays(&lines(80, |i| {
        let status = if i == 41 {
            "429 Too Many Requests"
        } else {
            "200 OK"
        };
        format!(
            "< HTTP/1.1 {status}\n< x-request-id: {:x}\n<\n",
            scatter.next()
        )
    }));
}

#[test]
fn yaml_stays() {
    stays(&lines(60, |i| {
        let port = 8000 + i;
        format!("- name: svc{i}\n  port: {port}\n  replicas: 2\n  env:\n    MODE: prod\n")
    }));
}

#[test]
fn separated_values_stay() {
    let mut scatter = Scatter(12);
    stays(&lines(300, |i| {
        let letter = ["a", "b", "c"][usize::try_from(scatter.below(3)).unwrap()];
        format!("{i},0.{:04},{letter}\n", scatter.below(10000))
    }));
}

#[test]
fn a_list_of_done_tasks_stays() {
    stays(&lines(150, |i| format!("- [x] item {i} is done\n")));
}

#[test]
fn a_migration_that_tells_balances_stays() {
    let mut scatter = Scatter(13);
    let text = lines(200, |i| {
        let (from, to) = (scatter.below(999), scatter.below(999));
        format!("[{}/200] user_{i} balance {from} -> {to}\n", i + 1)
    });
    stays_slowly(&text, Duration::from_millis(50));
}

#[test]
fn the_one_check_that_is_not_ok_is_shown() {
    let text = lines(150, |i| {
        format!(
            "check rule_{i} ... {}\n",
            if i == 77 { "slow" } else { "ok" }
        )
    });
    let digested = digest(&text);
    assert!(!digested.is_whole());
    assert!(digested.text().contains("rule_77 ... slow\n"));
}

#[test]
fn compiled_crates_that_arrive_one_by_one_are_left_out() {
    let text = lines(150, |i| format!("   Compiling crate{i} v1.{i}.0\n"));
    let text = format!("{text}error: linking with `cc` failed\n");
    let digested = digest_slowly(&text, Duration::from_millis(100));
    assert!(!digested.is_whole());
    assert!(digested.text().contains("linking with `cc` failed\n"));
}

#[test]
fn compiled_crates_in_a_burst_stay() {
    let mut scatter = Scatter(14);
    stays(&lines(150, |i| {
        let name: String = (0..6)
            .map(|_| char::from(b'a' + u8::try_from(scatter.below(8)).unwrap()))
            .collect();
        format!("   Compiling {name} v1.{i}.0\n")
    }));
}

#[test]
fn the_one_odd_status_of_a_log_is_shown() {
    let mut scatter = Scatter(15);
    let text = lines(240, |i| {
        let status = if i == 99 { 418 } else { 200 };
        let (path, time) = (scatter.below(1 << 20), scatter.below(90));
        format!(
            "2026-11-16 10:{:02}:{:02} INFO GET /a/{path:x} {status} {time}ms\n",
            i / 60,
            i % 60
        )
    });
    let digested = digest(&text);
    assert!(!digested.is_whole());
    assert!(digested.text().contains(" 418 "));
}
