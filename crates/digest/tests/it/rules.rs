//! The rules, one example each.

use windlass_digest::{DigestSettings, Digester, SectionContent};

use super::support::{SETTINGS, Scatter, digest, lines};

#[test]
fn a_build_shows_its_ends_its_warnings_and_its_result() {
    let text = lines(400, |i| {
        let step = i + 1;
        match step {
            120 => {
                format!("[{step}/400] compiling unit {step}\nunit_120.c:7: warning: unused value\n")
            }
            _ => format!("[{step}/400] compiling unit {step}\n"),
        }
    });
    let digested = digest(&format!("{text}build failed: 1 of 400 units\n"));
    assert_eq!(
        digested.text(),
        "\
[1/400] compiling unit 1
[2/400] compiling unit 2
[3/400] compiling unit 3
[… 115 lines like these: 4–118 …]
[119/400] compiling unit 119
[120/400] compiling unit 120
unit_120.c:7: warning: unused value
[121/400] compiling unit 121
[122/400] compiling unit 122
[… 274 lines like these: 124–397 …]
[397/400] compiling unit 397
[398/400] compiling unit 398
[399/400] compiling unit 399
[400/400] compiling unit 400
build failed: 1 of 400 units
"
    );
}

#[test]
fn a_repeated_warning_becomes_a_list_of_its_places() {
    let text = lines(40, |i| {
        format!(
            "src/m{}.c:{i}:3: warning: unused variable 'v{i}' [unused-variable]\n",
            i / 20
        )
    });
    let text = format!("{text}a\nb\nc\nd\ndone\n");
    let shown = digest(&text).text();
    assert!(shown.starts_with("src/m0.c:0:3: warning: unused variable 'v0' [unused-variable]\n"));
    assert!(
        shown.contains("[… 37 lines like these: 4–40; unused-variable at src/m0.c:3:3,4:3,"),
        "{shown}"
    );
    assert!(shown.contains("src/m1.c:20:3,21:3,"), "{shown}");
}

#[test]
fn errors_of_a_compiler_are_never_folded() {
    let text = lines(60, |i| {
        format!("src/m.c:{i}:3: error: unknown type name 'v' in this very long line\n")
    });
    assert!(digest(&text).is_whole());
}

#[test]
fn frames_of_a_recursion_show_first_and_last() {
    let frames = lines(200, |_| {
        "  File \"walk.py\", line 7, in walk\n    return walk(node.next)\n".to_owned()
    });
    let text = format!("Traceback (most recent call last):\n{frames}RecursionError: too deep\n");
    let digested = digest(&text);
    let shown = digested.text();
    assert!(shown.len() < 800, "{shown}");
    assert!(shown.ends_with("RecursionError: too deep\n"));
}

#[test]
fn results_of_a_search_are_data() {
    let text = lines(200, |i| {
        format!("src/a{}.rs:{i}: let total = sum({i});\n", i % 9)
    });
    assert!(digest(&text).is_whole());
}

#[test]
fn an_outlier_of_a_log_is_shown() {
    let text = lines(300, |i| {
        let time = if i == 200 { 48211 } else { 10 + i % 7 };
        format!("2026-11-16T10:00:{:02}Z INFO served in {time} ms\n", i / 5)
    });
    assert!(digest(&text).text().contains("48211"));
}

#[test]
fn few_errors_of_a_log_are_all_shown() {
    let text = lines(300, |i| {
        let said = if i % 40 == 7 {
            "ERROR write failed on shard"
        } else {
            "INFO wrote shard"
        };
        format!("2026-11-16T10:00:{:02}Z {said} {i}\n", i / 5)
    });
    let shown = digest(&text).text();
    assert_eq!(shown.matches("ERROR").count(), 8, "{shown}");
}

#[test]
fn marker_text_of_a_tool_is_a_line_like_any_other() {
    let mut text = lines(300, |i| format!("[{}/300] linking part {i}\n", i + 1));
    text.insert_str(0, "[… 95 lines like these: 4–98 …]\n");
    let digested = digest(&text);
    assert!(!digested.is_whole());
    let first = &digested.sections[0];
    assert!(matches!(&first.content, SectionContent::Shown(shown) if shown.starts_with("[… 95")));
    assert_eq!(
        digested
            .left_out()
            .map(|lines| lines.end() - lines.start() + 1)
            .sum::<u64>(),
        301 - 8
    );
}

#[test]
fn data_over_the_limit_keeps_its_rare_lines() {
    let text = lines(3000, |i| match i {
        1500 => "disk7   exhausted, 0 blocks left\n".to_owned(),
        _ => format!("disk{i}\tonline\t{}\t{}\n", i * 7 % 1000, i * 13 % 997),
    });
    let shown = digest(&text).text();
    assert!(shown.len() <= SETTINGS.limit);
    assert!(shown.contains("exhausted"));
}

#[test]
fn a_line_that_is_too_long_for_the_limit_shows_both_ends() {
    let text = format!("{{\"a\":\"{}\"}}\n", "x".repeat(100_000));
    let mut digester = Digester::default();
    digester.push(text.trim_end(), std::time::Duration::ZERO);
    let outcome = digester.digest(DigestSettings {
        from: 0,
        limit: 4096,
    });
    let shown = outcome.text();
    assert!(shown.len() <= 4096, "{}", shown.len());
    assert!(
        shown.starts_with("{\"a\":\"xxx") && shown.ends_with("xxx\"}\n"),
        "{shown}"
    );
    let SectionContent::Shortened {
        head,
        omitted,
        tail,
    } = &outcome.sections[0].content
    else {
        panic!("the line is shown in part");
    };
    assert_eq!(head.len() + omitted + tail.len(), text.len() - 1);
}

#[test]
fn a_success_with_a_reservation_is_shown() {
    let text = lines(100, |i| {
        let reserved = if i == 50 {
            " # SKIP no network here"
        } else {
            ""
        };
        format!("ok {i} - case number {i} of the suite{reserved}\n")
    });
    let digested = digest(&text);
    assert!(!digested.is_whole());
    assert!(digested.text().contains("SKIP no network here"));
}

#[test]
fn a_request_that_was_not_answered_well_is_shown() {
    let text = lines(200, |i| {
        let status = if i % 60 == 7 { 503 } else { 200 };
        format!("GET /api/items/{i} {status} {} ms\n", 3 + i % 9)
    });
    let digested = digest(&text);
    assert!(!digested.is_whole());
    assert_eq!(digested.text().matches(" 503 ").count(), 4);
}

#[test]
fn errors_that_differ_in_a_number_are_not_a_repeated_block() {
    let text = lines(100, |i| {
        format!(
            "cannot reach the host on port {}\nwaiting for the host\n",
            8000 + i
        )
    });
    assert!(digest(&text).is_whole());
}

#[test]
fn announcements_of_successes_go_with_them() {
    let text = lines(90, |i| {
        let (word, more) = if i == 44 {
            ("FAIL", "    thing_test.go:33: got 3, want 4\n")
        } else {
            ("PASS", "")
        };
        format!(
            "=== RUN   TestThing{i}\n--- {word}: TestThing{i} (0.{}s)\n{more}",
            i % 10
        )
    });
    let shown = digest(&text).text();
    assert!(shown.len() < 1000, "{shown}");
    assert!(shown.contains(
        "=== RUN   TestThing44\n--- FAIL: TestThing44 (0.4s)\n    thing_test.go:33: got 3, want 4\n"
    ));
}

#[test]
fn values_with_times_in_a_column_are_data() {
    let rows = |row: usize| {
        format!(
            "2026-03-04 09:{:02}:{:02},s{},{}\n",
            row / 60,
            row % 60,
            row % 3,
            row * 7 % 31
        )
    };
    let text = String::from("time,sensor,value\n") + &lines(200, rows);
    assert!(digest(&text).is_whole());
    let pairs = |row: usize| {
        format!(
            "2026-03-04T09:{:02}:{:02};{}\n",
            row / 60,
            row % 60,
            row * 7 % 31
        )
    };
    let text = String::from("time;value\n") + &lines(200, pairs);
    assert!(digest(&text).is_whole());
    // A comma between seconds and milliseconds does not make a log a table.
    let log = |row: usize| {
        format!(
            "2026-03-04 09:{:02}:{:02},{:03} INFO request {row} done\n",
            row / 60,
            row % 60,
            row * 7 % 1000
        )
    };
    assert!(!digest(&lines(200, log)).is_whole());
}

#[test]
fn a_counter_that_is_padded_is_of_one_kind_at_every_width() {
    let text = lines(400, |step| {
        format!("[{:3}/400] CC src/file_{step}.o\n", step + 1)
    });
    let digested = digest(&text);
    assert_eq!(digested.left_out().count(), 1, "{}", digested.text());
}

#[test]
fn a_warning_is_named_by_its_code() {
    let warning = |place: usize| {
        format!(
            "/src/App.cs({place},5): warning CS8618: Property 'P{place}' is null. [/src/App.csproj]\n"
        )
    };
    let text = digest(&lines(40, warning)).text();
    assert!(text.contains("; CS8618 at /src/App.cs:3,5"), "{text}");
}

#[test]
fn trouble_in_an_object_is_shown_whatever_its_level_is_called() {
    let line = |i: usize, level: &str, message: &str| {
        let (minute, second) = (i / 60, i % 60);
        format!("\"2026-11-17T10:{minute:02}:{second:02}Z\" {level} \"{message}\"\n")
    };
    let forms: [fn(&str) -> String; 4] = [
        |rest| {
            rest.replacen(' ', ",\"@level\":", 1)
                .replacen(' ', ",\"@message\":", 1)
        },
        |rest| {
            let nested = rest.replacen(' ', ",\"log\":{\"level\":", 1);
            nested.replacen(' ', "},\"message\":", 1)
        },
        |rest| {
            rest.replacen(' ', ",\"LEVEL\":", 1)
                .replacen(' ', ",\"MESSAGE\":", 1)
        },
        |rest| {
            rest.replacen(' ', ",\"log.level\":", 1)
                .replacen(' ', ",\"msg\":", 1)
        },
    ];
    for form in forms {
        let text = lines(200, |i| {
            let level = if i == 100 { "\"error\"" } else { "\"info\"" };
            let rest = form(line(i, level, &format!("order {i} stored")).trim_end());
            // The error has more to tell than the others.
            let detail = if i == 100 { ",{\"code\":[5,7]}" } else { "" };
            format!("{{\"@timestamp\":{rest},\"detail\":[1{detail}]}}\n")
        });
        let shown = digest(&text).text();
        assert!(shown.len() < text.len() / 4, "{shown}");
        assert!(shown.contains("\"error\""), "{shown}");
    }
}

#[test]
fn trouble_that_only_the_message_of_an_object_tells_is_shown() {
    let text = lines(200, |i| {
        let message = if i % 20 == 10 { "lost" } else { "sent" };
        let second = i % 60;
        format!(
            "{{\"log\":\"packet {i} {message}\",\"time\":\"10:{:02}:{second:02}\"}}\n",
            i / 60
        )
    });
    let shown = digest(&text).text();
    assert!(shown.len() < text.len() / 2, "{shown}");
    assert_eq!(shown.matches("lost").count(), 10, "{shown}");
}

#[test]
fn a_rare_value_among_several_common_ones_is_shown() {
    let mut scatter = Scatter(1);
    let text = lines(500, |i| {
        let backend = if i == 250 { 9 } else { scatter.below(4) + 1 };
        let took = scatter.below(30) + 1;
        let (minute, second) = (i / 60, i % 60);
        format!(
            "10:{minute:02}:{second:02} INFO routed request {i} to backend-{backend} in {took}ms\n"
        )
    });
    let shown = digest(&text).text();
    assert!(shown.contains("backend-9"), "{shown}");
    assert!(shown.lines().count() < 30, "{shown}");
}

#[test]
fn a_value_that_is_neither_rare_nor_common_is_shown_once() {
    let mut scatter = Scatter(2);
    let text = lines(600, |i| {
        let status = if i > 50 && i % 20 == 0 { 500 } else { 200 };
        let size = scatter.below(9000);
        let (minute, second) = (i / 60, i % 60);
        format!("10:{minute:02}:{second:02} GET /orders/{i} {status} {size}\n")
    });
    let shown = digest(&text).text();
    assert!(shown.contains("GET /orders/60 500"), "{shown}");
    assert!(shown.lines().count() < 30, "{shown}");
}

#[test]
fn a_number_far_below_others_that_are_alike_is_shown() {
    let mut scatter = Scatter(3);
    let text = lines(400, |i| {
        let samples = if i == 200 {
            0
        } else {
            900 + scatter.below(100)
        };
        let (minute, second) = (i / 60, i % 60);
        format!(
            "time=10:{minute:02}:{second:02} level=info msg=\"scrape done\" samples={samples}\n"
        )
    });
    let shown = digest(&text).text();
    assert!(shown.contains("samples=0\n"), "{shown}");
}

#[test]
fn identifiers_that_begin_with_digits_are_no_outliers() {
    let mut scatter = Scatter(4);
    let text = lines(400, |i| {
        let (minute, second) = (i / 60, i % 60);
        let id = scatter.next() & 0xff_ffff;
        format!("10:{minute:02}:{second:02} INFO stored {id:06x}1f\n")
    });
    let shown = digest(&text).text();
    assert_eq!(shown.lines().count(), 9, "{shown}");
}

#[test]
fn sentences_with_commas_are_no_separated_values() {
    let text = lines(300, |i| {
        let set = if i == 150 { "1" } else { "1,2,3" };
        let (minute, second) = (i / 60, i % 60);
        format!("[10:{minute:02}:{second:02},512] INFO replicas of part {i} are {set} now\n")
    });
    let shown = digest(&text).text();
    assert!(shown.lines().count() < 30, "{shown}");
    assert!(shown.contains("replicas of part 150 are 1 now"), "{shown}");
}

#[test]
fn successes_in_brackets_and_before_a_long_measure_are_left_out() {
    let text = lines(100, |i| match i {
        50 => "[FAILED] Failed to start the database.\n".to_owned(),
        _ => format!("[  OK  ] Started unit-{i}.service.\n"),
    });
    let shown = digest(&text).text();
    assert!(shown.lines().count() < 20, "{shown}");
    assert!(shown.contains("[FAILED]"), "{shown}");
    let text = lines(100, |i| match i {
        50 => "51/100 Test #51: t51 .....***Failed   0.05 sec\n".to_owned(),
        _ => format!(
            "{}/100 Test #{0}: t{0} .....   Passed   0.0{} sec\n",
            i + 1,
            i % 10
        ),
    });
    let shown = digest(&text).text();
    assert!(shown.lines().count() < 20, "{shown}");
    assert!(shown.contains("***Failed"), "{shown}");
}

#[test]
fn one_line_with_more_values_hides_no_rare_value() {
    let text = lines(200, |i| {
        let (minute, second) = (i / 60, i % 60);
        let shard = if i == 100 { 7 } else { 1 };
        let more = if i == 150 { ",[1,2]" } else { "" };
        format!(
            "{{\"time\":\"10:{minute:02}:{second:02}\",\"msg\":\"stored\",\"shard\":[{shard}{more}]}}\n"
        )
    });
    let shown = digest(&text).text();
    assert!(shown.contains("\"shard\":[7]"), "{shown}");
    assert!(shown.contains("[1,[1,2]]"), "{shown}");
    assert!(shown.lines().count() < 20, "{shown}");
}
