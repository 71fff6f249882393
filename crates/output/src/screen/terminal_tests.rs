use proptest::collection::vec;
use proptest::prelude::*;

use super::super::recording::bytes;
use super::super::style::{Colour, Style, UnderlineKind};
use super::*;

fn screen(escaped: &str) -> Screen {
    let mut screen = Screen::new(6, 20);
    screen.feed(&bytes(escaped));
    screen
}

fn shown(escaped: &str) -> String {
    screen(escaped).rows().join("\n").trim_end().to_owned()
}

fn reply(escaped: &str) -> String {
    let mut screen = Screen::new(6, 20);
    String::from_utf8(screen.feed(&bytes(escaped))).unwrap()
}

#[test]
fn text_is_drawn_where_the_cursor_is() {
    assert_eq!(shown("one\r\n\\e[4;5Htwo\\e[Hthree"), "three\n\n\n    two");
}

#[test]
fn tabs_reach_the_next_stop() {
    assert_eq!(shown("a\\tb\\r\\n\\t\\tc"), "a       b\n                c");
}

#[test]
fn long_lines_wrap() {
    assert_eq!(
        shown("abcdefghijklmnopqrstuvwxyz"),
        "abcdefghijklmnopqrst\nuvwxyz"
    );
}

#[test]
fn wide_and_combining_characters_are_kept() {
    assert_eq!(shown("日本 e\\xcc\\x81x"), "日本 e\u{301}x");
    assert_eq!(screen("日本").cursor(), (1, 5));
}

#[test]
fn a_region_scrolls_alone() {
    let text = shown("top\\e[6;1Hbottom\\e[2;4r\\e[2;1Ha\\r\\nb\\r\\nc\\r\\nd");
    assert_eq!(text, "top\nb\nc\nd\n\nbottom");
}

#[test]
fn the_alternate_screen_comes_and_goes_by_any_of_its_names() {
    for mode in [47, 1047, 1049] {
        let mut screen = screen("shell");
        screen.feed(format!("\x1b[?{mode}h\x1b[2J\x1b[Hfull").as_bytes());
        assert!(screen.is_full_screen());
        assert_eq!(screen.rows()[0], "full");
        screen.feed(format!("\x1b[?{mode}l").as_bytes());
        assert!(!screen.is_full_screen());
        assert_eq!(screen.rows()[0], "shell");
    }
}

#[test]
fn queries_are_answered_in_order() {
    assert_eq!(reply("ab\\e[6n"), "\x1b[1;3R");
    assert_eq!(reply("\\e[c\\e[5n"), "\x1b[?64;6;21;22;28c\x1b[0n");
    assert!(reply("\\e[>c").starts_with("\x1b[>41;"));
    assert_eq!(reply("\\e]11;?\\a"), "\x1b]11;rgb:0000/0000/0000\x07");
    assert_eq!(
        reply("\\e]4;1;?\\e\\\\"),
        "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\"
    );
    assert_eq!(
        reply("\\e]10;#102030\\a\\e]10;?\\a"),
        "\x1b]10;rgb:1010/2020/3030\x07"
    );
    assert_eq!(reply("\\e[18t\\e[14t"), "\x1b[8;6;20t\x1b[4;96;160t");
    assert_eq!(reply("\\e[?1049$p"), "\x1b[?1049;2$y");
    assert_eq!(reply("\\e]52;c;?\\a"), "\x1b]52;c;\x07");
}

#[test]
fn a_flood_of_queries_is_answered_within_a_bound() {
    let mut screen = Screen::new(24, 80);
    assert!(screen.feed(&b"\x1b[6n".repeat(100_000)).len() <= 16 * 1024);
}

#[test]
fn the_title_is_reported_put_aside_and_kept_short() {
    let mut screen = screen("\\e]0;editor\\a");
    assert_eq!(screen.title(), Some("editor"));
    screen.feed(b"\x1b[22t\x1b]2;other\x07\x1b[23t");
    assert_eq!(screen.title(), Some("editor"));
    screen.feed(format!("\x1b]2;{}\x07", "é".repeat(5000)).as_bytes());
    assert!(screen.title().unwrap().len() <= 1024);
}

#[test]
fn modes_are_reported() {
    let mut screen = screen("\\e[?1h\\e=\\e[?2004h\\e[?1002h\\e[?1004h\\e[?25l");
    let all = ScreenModes {
        application_cursor: true,
        application_keypad: true,
        bracketed_paste: true,
        mouse: Some(MouseTracking::Drags),
        mouse_sgr: false,
        focus: true,
    };
    assert_eq!(screen.modes(), all);
    assert!(!screen.cursor_visible());
    screen.feed(b"\x1bc");
    assert_eq!(screen.modes(), ScreenModes::default());
    assert!(screen.cursor_visible());
}

#[test]
fn drawing_together_hides_nothing_and_is_reported() {
    let mut screen = screen("\\e[?2026hhalf");
    assert!(screen.is_drawing());
    assert_eq!(screen.rows()[0], "half");
    screen.feed(b"\x1b[?2026l");
    assert!(!screen.is_drawing());
}

#[test]
fn looks_are_reported_in_runs() {
    let mut screen = screen("a\\e[1;31mb\\e[0;48;2;1;2;3mc ");
    let runs = &screen.styled_rows()[0].runs;
    let texts: Vec<&str> = runs.iter().map(|run| run.text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "c "]);
    assert_eq!(runs[0].style, Style::default());
    assert_eq!(runs[1].style.foreground, Some(Colour::Indexed(1)));
    assert!(runs[1].style.bold);
    assert_eq!(runs[2].style.background, Some(Colour::Rgb(1, 2, 3)));
}

#[test]
fn sizes_are_kept_within_bounds() {
    assert_eq!(Screen::new(0, 0).size(), (1, 2));
    assert_eq!(Screen::new(u16::MAX, u16::MAX).size(), (512, 1024));
    let mut screen = Screen::new(24, 80);
    screen.resize(0, 1);
    screen.feed("日本日本".as_bytes());
    assert_eq!(screen.size(), (1, 2));
}

#[test]
fn a_cell_holds_few_combining_characters() {
    let mut screen = Screen::new(2, 10);
    screen.feed(format!("a{}", "\u{301}".repeat(10_000)).as_bytes());
    assert!(screen.rows()[0].chars().count() < 32);
}

#[test]
fn fifty_megabytes_of_anything_do_no_harm() {
    let mut screen = Screen::new(24, 80);
    let mut reader = ScreenReader::default();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut chunk = vec![0; 64 * 1024];
    for round in 0..800_u16 {
        for bytes in chunk.chunks_exact_mut(8) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes.copy_from_slice(&random.to_ne_bytes());
        }
        screen.feed(&chunk);
        if round % 16 == 0 {
            let told = screen.read(&mut reader, ScreenView::New, 4096);
            assert!(told.text.len() <= 4096);
            screen.resize(1 + round % 50, round % 200);
        }
    }
}

/// Pieces that programs are made of, and pieces that they should not be made of.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let sequence = (
        "[?>=!]?",
        vec(0..70_u16, 0..7),
        "[$*'\" ]?",
        prop::sample::select(b"ABCDEFGHIJKLMPSTXZ@`abcdefghlmnpqrstuvxyz{}~".to_vec()),
    );
    prop_oneof![
        "[a-z 日é\u{301}\t]{0,30}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "\r\n", "\n", "\r", "\x08", "\t", "\x1bM", "\x1bD", "\x1bE"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::sample::select(vec![
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[2J",
            "\x1b[H\x1b[J",
            "\x1bc",
            "\x1b[?7l",
            "\x1b[?7h",
            "\x1b[?40h\x1b[?3h",
            "\x1b[?69h",
            "\x1b[3;9s",
            "\x1b[?6h",
            "\x1b[?45h",
            "\x1b[?1045h",
            "\x1b[?47h",
            "\x1b[?1047l",
            "\x1b6",
            "\x1b9",
            "\x1bV",
            "\x1b[1\"q",
            "\x1bP$qm\x1b\\",
            "\x1bP+q436f;544e\x1b\\",
            "\x1b[99b",
            "\x1b[r",
            "\x1b#8",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        sequence.prop_map(|(private, numbers, mark, end)| {
            let numbers: Vec<String> = numbers.iter().map(u16::to_string).collect();
            let mut bytes = format!("\x1b[{private}{}{mark}", numbers.join(";")).into_bytes();
            bytes.push(end);
            bytes
        }),
        vec(any::<u8>(), 0..20),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Feed(Vec<u8>),
    Resize(u16, u16),
    Read(ScreenView, usize),
    Type(String),
}

fn step() -> impl Strategy<Value = Step> {
    let view = prop::sample::select(vec![ScreenView::New, ScreenView::Screen, ScreenView::All]);
    prop_oneof![
        8 => piece().prop_map(Step::Feed),
        1 => (0..40_u16, 0..90_u16).prop_map(|(rows, cols)| Step::Resize(rows, cols)),
        1 => (view, 0..3000_usize).prop_map(|(view, limit)| Step::Read(view, limit)),
        1 => "[a-z\n]{0,10}".prop_map(Step::Type),
    ]
}

proptest! {
    #[test]
    fn no_steps_do_harm_and_no_read_exceeds_its_limit(steps in vec(step(), 0..200)) {
        let mut screen = Screen::new(10, 20);
        let mut reader = ScreenReader::default();
        for step in steps {
            match step {
                Step::Feed(bytes) => drop(screen.feed(&bytes)),
                Step::Resize(rows, cols) => screen.resize(rows, cols),
                Step::Type(text) => screen.typed(&text),
                Step::Read(view, limit) => {
                    let told = screen.read(&mut reader, view, limit);
                    prop_assert!(told.text.len() <= limit);
                }
            }
            let (rows, cols) = screen.size();
            let (row, col) = screen.cursor();
            prop_assert!(row <= rows && col <= cols);
            prop_assert_eq!(screen.rows().len(), usize::from(rows));
            let ids = screen.emulator.rows.ids().len();
            prop_assert!(screen.is_full_screen() || ids == usize::from(rows));
        }
    }

    #[test]
    fn any_cuts_of_the_bytes_give_the_same_screen(
        pieces in vec(piece(), 0..60),
        cuts in vec(1..9_usize, 1..20),
    ) {
        let bytes = pieces.concat();
        let mut whole = Screen::new(10, 20);
        let replies = whole.feed(&bytes);
        let mut cut = Screen::new(10, 20);
        let mut cut_replies = Vec::new();
        let (mut rest, mut cuts) = (bytes.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let (part, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            cut_replies.extend(cut.feed(part));
            rest = after;
        }
        prop_assert_eq!(whole.styled_rows(), cut.styled_rows());
        prop_assert_eq!(whole.cursor(), cut.cursor());
        prop_assert_eq!(replies, cut_replies);
        let all = |screen: &mut Screen| {
            screen.read(&mut ScreenReader::default(), ScreenView::All, usize::MAX)
        };
        prop_assert_eq!(all(&mut whole), all(&mut cut));
    }

    #[test]
    fn a_row_that_changes_is_reported_as_changed(pieces in vec(piece(), 0..60)) {
        let mut screen = Screen::new(10, 20);
        for piece in pieces {
            let (generation, before) = (screen.generation(), screen.styled_rows());
            screen.feed(&piece);
            let told = screen.changed_since(generation);
            for (row, (before, now)) in before.iter().zip(screen.styled_rows()).enumerate() {
                let row = u16::try_from(row).unwrap();
                prop_assert!(before == &now || told.contains(&row), "row {}", row);
            }
        }
    }

    #[test]
    fn the_region_that_scrolls_is_the_emulators(pieces in vec(piece(), 0..60)) {
        let mut screen = Screen::new(10, 20);
        screen.feed(&pieces.concat());
        screen.feed(b"\x1b[?1049l\x1b[?7h\x1b[?6l\x1b[?69l\x1b[4l\x1b(B\x0f\x1b[0\"q");
        let region = screen.emulator.rows.region();
        // A mark in every row, then everything that scrolls moves by one.
        for row in 1..=10 {
            screen.feed(format!("\x1b[{row};1H\x1b[2K{row}").as_bytes());
        }
        screen.feed(b"\x1b[S");
        let expected: Vec<String> = (0..10)
            .map(|row| match row {
                row if !region.contains(&row) => (row + 1).to_string(),
                row if row + 1 == region.end => String::new(),
                row => (row + 2).to_string(),
            })
            .collect();
        prop_assert_eq!(screen.rows(), expected);
    }
}

#[test]
fn where_a_wide_character_found_no_room_is_a_blank_like_any_other() {
    let mut screen = Screen::new(3, 4);
    screen.feed("\x1b[30mabc日".as_bytes());
    let before = screen.styled_row(0);
    assert_eq!(before.as_ref().unwrap().runs[0].text, "abc ");
    let generation = screen.generation();
    screen.feed(b"\x1b[2Dx");
    assert_eq!(screen.changed_since(generation), [1]);
    assert_eq!(screen.styled_row(0), before);
}

/// One that draws everything at once and as it comes.
fn feed_plainly(screen: &mut Screen, bytes: &[u8]) -> Vec<u8> {
    screen.generation += 1;
    screen.advance(bytes);
    screen.note_changes();
    screen.emulator.take_replies()
}

/// Everything that can be told of a screen, and what it will tell later.
fn all_of(screen: &mut Screen) -> impl PartialEq + fmt::Debug + use<> {
    let (beginning, lost) = screen.emulator.store.beginning();
    (
        (screen.rows(), screen.styled_rows()),
        (screen.cursor(), screen.modes()),
        screen.emulator.rows.ids().to_vec(),
        (screen.emulator.lines(beginning), lost),
        screen.emulator.noted,
    )
}

/// Lines as a log has them, as many as may fill a small screen many times.
fn log() -> impl Strategy<Value = Vec<u8>> {
    vec("[ -~]{0,30}| {0,20}|[a-z]{10}|[a-z]{20}", 0..40).prop_map(|lines| {
        lines
            .iter()
            .flat_map(|line| format!("{line}\r\n").into_bytes())
            .collect()
    })
}

fn output() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop_oneof![
        "[a-z\t\r\n\u{8}]{0,8}".prop_map(String::into_bytes),
        "[é日e\u{301}│x]{0,8}(\r\n)?".prop_map(String::into_bytes),
        Just(b"no end".to_vec()),
        Just(b"\x0e\x0f".to_vec()),
        vec(any::<u8>(), 0..4),
        prop::sample::select(vec![
            "\\e[44m",
            "\\e[0m",
            "\\e[1;31m",
            "\\e[3b",
            "\\e[A",
            "\\e[2;3H",
            "\\e[J",
            "\\e[2J",
            "\\e[K",
            "\\e[?1049h",
            "\\e[?1049l",
            "\\e[2;4r",
            "\\e[r",
            "\\e[4h",
            "\\e[4l",
            "\\e[?7l",
            "\\e[?7h",
            "\\e[?69h\\e[2;9s",
            "\\e[?69l",
            "\\e(0",
            "\\e(B",
            "\\e7",
            "\\e8",
            "\\e[6n",
            "\\e[3",
            "\\e]0;title\\a",
            "\\eM",
            "\\eD",
            "\\ec",
            "\\e[20h",
            "\\e[6;1H",
            "\\e[L",
        ])
        .prop_map(bytes),
    ];
    vec(prop_oneof![3 => log(), 2 => odd], 0..4).prop_map(|parts| parts.concat())
}

fn step_of_a_log() -> impl Strategy<Value = Step> {
    use ScreenView::{All, New, Screen};
    prop_oneof![
        12 => output().prop_map(Step::Feed),
        2 => prop::sample::select(vec![New, New, Screen, All]).prop_map(|view| Step::Read(view, usize::MAX)),
        1 => "[a-z]{0,5}\n?".prop_map(Step::Type),
        1 => (1u16..9, 2u16..30).prop_map(|(rows, cols)| Step::Resize(rows, cols)),
    ]
}

proptest! {
    #[test]
    fn what_is_drawn_late_or_never_makes_no_difference(
        (rows, cols) in (1u16..9, 2u16..30),
        steps in vec(step_of_a_log(), 1..12),
        cut in 1usize..400,
    ) {
        let mut late = Screen::new(rows, cols);
        let mut plain = Screen::new(rows, cols);
        let mut readers = [ScreenReader::default(), ScreenReader::default()];
        for step in steps {
            match step {
                Step::Feed(bytes) => {
                    for part in bytes.chunks(cut) {
                        prop_assert_eq!(late.feed(part), feed_plainly(&mut plain, part));
                    }
                }
                Step::Read(view, limit) => {
                    let [first, second] = &mut readers;
                    let told = late.read(first, view, limit);
                    prop_assert_eq!(told, plain.read(second, view, limit));
                    prop_assert_eq!(all_of(&mut late), all_of(&mut plain));
                }
                Step::Type(text) => {
                    late.typed(&text);
                    plain.typed(&text);
                }
                Step::Resize(rows, cols) => {
                    late.resize(rows, cols);
                    plain.resize(rows, cols);
                }
            }
        }
        prop_assert_eq!(all_of(&mut late), all_of(&mut plain));
    }
}

#[test]
fn a_flood_of_lines_leaves_what_drawing_it_would() {
    let mut late = Screen::new(24, 80);
    let mut plain = Screen::new(24, 80);
    let line = |number: usize| format!("{number} {:>1$}\r\n", 'x', number % 200).into_bytes();
    let text: Vec<u8> = (0..20_000).flat_map(line).collect();
    for part in text.chunks(4095) {
        late.feed(part);
        feed_plainly(&mut plain, part);
    }
    let told = |screen: &mut Screen| {
        screen.read(&mut ScreenReader::default(), ScreenView::All, usize::MAX)
    };
    assert_eq!(told(&mut late), told(&mut plain));
    assert_eq!(all_of(&mut late), all_of(&mut plain));
}

#[test]
fn the_last_line_is_one_of_the_screen() {
    let last = |escaped: &str| screen(escaped).last_line();
    assert_eq!(last(""), None);
    assert_eq!(last("one\\r\\ntwo\\r\\n").as_deref(), Some("two"));
    assert_eq!(last("one\\r\\n$ ").as_deref(), Some("$"));
    let scrolled = format!("one{}", "\\r\\n".repeat(9));
    assert_eq!(last(&scrolled).as_deref(), Some("one"));
    assert_eq!(last(&format!("{scrolled}\\e[H\\e[2J")), None);
    let full = "\\e[?1049h\\e[2J\\e[1;1Hhead\\e[6;1Hstatus";
    assert_eq!(last(&format!("{full}\\e[3;1H")).as_deref(), Some("status"));
    assert_eq!(last(&format!("{full}\\e[1;2H")).as_deref(), Some("head"));
    assert_eq!(
        last(&format!("{full}\\e[1;2H\\e[?25l")).as_deref(),
        Some("status")
    );
    assert_eq!(
        last(&format!("sh$ x\\r\\n{full}\\e[?1049l")).as_deref(),
        Some("sh$ x")
    );
}

#[test]
fn a_row_that_lines_have_led_to_was_not_placed() {
    let check = |escaped: &str, text: &str, is_placed| {
        let line = screen(escaped).cursor_line();
        let text = text.to_owned();
        assert_eq!(line, CursorLine { text, is_placed }, "{escaped}");
    };
    check("Password: ", "Password:", false);
    check("\\e[H\\e[2J$ su\\r\\nPassword: ", "Password:", false);
    check("\\e[2J\\e[3;4HPush", "   Push", true);
    check(&format!("\\e[2;1H{}", "x".repeat(25)), "xxxxx", true);
}

#[test]
fn a_tab_to_a_stop_of_the_programs_own_is_reported_as_blanks() {
    let mut screen = screen("\\e[3g\\e[4G\\eH\\r\\ta\\tb");
    let told = screen.read(&mut ScreenReader::default(), ScreenView::New, 100);
    assert_eq!(told.text, format!("   a{}b", " ".repeat(15)));
}

#[test]
fn a_link_is_reported_with_the_text_that_it_is_under() {
    let mut screen = Screen::new(2, 40);
    screen.feed(
        b"see \x1b]8;id=1;https://a.example/x;y\x1b\\here\x1b[1m bold\x1b[0m\x1b]8;;\x1b\\ too",
    );
    let row = screen.styled_row(0).unwrap();
    let runs: Vec<_> = row
        .runs
        .iter()
        .map(|run| (run.text.as_str(), run.link.as_deref()))
        .collect();
    let address = Some("https://a.example/x;y");
    assert_eq!(
        runs,
        [
            ("see ", None),
            ("here", address),
            (" bold", address),
            (" too", None)
        ]
    );
}

#[test]
fn links_that_nothing_shows_any_more_make_room_for_others() {
    let mut screen = Screen::new(2, 40);
    let long = "x".repeat(1000);
    for number in 0..500 {
        screen.feed(
            format!("\x1b]8;;https://{number}/{long}\x07link {number}\x1b]8;;\x07\r\n").as_bytes(),
        );
    }
    let row = screen.styled_row(0).unwrap();
    assert!(
        row.runs[0]
            .link
            .as_deref()
            .unwrap()
            .starts_with("https://499/")
    );
    // Too long, with a control character, or not text at all: no link.
    for address in ["y".repeat(3000).as_bytes(), b"a\xffb"] {
        screen.feed(b"\r\x1b]8;;");
        screen.feed(address);
        screen.feed(b"\x07none\x1b]8;;\x07");
        assert_eq!(screen.styled_row(1).unwrap().runs[0].link, None);
    }
}

#[test]
fn underlines_and_the_cursor_are_reported_as_the_program_wants_them() {
    let mut screen = Screen::new(1, 40);
    screen.feed(b"\x1b[4ma\x1b[21mb\x1b[4:3mc\x1b[4:4md\x1b[4:5me\x1b[4:0mf");
    let row = screen.styled_row(0).unwrap();
    let kinds: Vec<_> = row
        .runs
        .iter()
        .map(|run| (run.style.underline, run.style.underline_kind))
        .collect();
    assert_eq!(
        kinds,
        [
            (true, None),
            (true, Some(UnderlineKind::Double)),
            (true, Some(UnderlineKind::Curly)),
            (true, Some(UnderlineKind::Dotted)),
            (true, Some(UnderlineKind::Dashed)),
            (false, None),
        ]
    );
    let mut look = |number: u8| {
        screen.feed(format!("\x1b[{number} q").as_bytes());
        let look = screen.cursor_look();
        (look.shape, look.blinks)
    };
    assert_eq!(look(0), (CursorShape::Block, false));
    assert_eq!(look(1), (CursorShape::Block, true));
    assert_eq!(look(4), (CursorShape::Underline, false));
    assert_eq!(look(5), (CursorShape::Bar, true));
}

#[test]
fn the_use_of_the_mouse_is_reported_as_the_program_wants_it() {
    let mut screen = Screen::new(1, 40);
    let mut mouse = |sequence: &str| {
        screen.feed(sequence.as_bytes());
        (screen.modes().mouse, screen.modes().mouse_sgr)
    };
    assert_eq!(mouse("\x1b[?9h"), (Some(MouseTracking::Presses), false));
    assert_eq!(
        mouse("\x1b[?1000h\x1b[?1006h"),
        (Some(MouseTracking::Clicks), true)
    );
    assert_eq!(mouse("\x1b[?1002h"), (Some(MouseTracking::Drags), true));
    assert_eq!(mouse("\x1b[?1003h"), (Some(MouseTracking::Motion), true));
    assert_eq!(mouse("\x1b[?1003l\x1b[?1006l"), (None, false));
}
