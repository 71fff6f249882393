use super::*;

#[test]
fn a_start_is_read_as_it_was_written() {
    let mut writer = StartWriter::new(
        flag::STDOUT | flag::MERGE,
        2000,
        b"/bin/echo",
        b"/tmp",
        c"/dev/pts/7",
    );
    writer.arg(b"echo");
    writer.arg(b"");
    writer.edit(b"A", Some(b"1=2"));
    writer.edit(b"B", None);
    let bytes = writer.finish();
    let Some(ShimOrder::Start(start)) = ShimOrder::read(&bytes) else {
        panic!("not read as a start");
    };
    assert_eq!(start.flags, flag::STDOUT | flag::MERGE);
    assert_eq!(start.grace_ms, 2000);
    assert_eq!(start.program, c"/bin/echo");
    assert_eq!(start.cwd, c"/tmp");
    assert_eq!(start.terminal, c"/dev/pts/7");
    assert_eq!(start.args, [c"echo", c""]);
    assert_eq!(start.edits, [c"A=1=2", c"B"]);
}

#[test]
fn a_cut_start_is_refused() {
    let mut writer = StartWriter::new(0, 0, b"/bin/echo", b"", c"");
    writer.arg(b"echo");
    let bytes = writer.finish();
    for length in 0..bytes.len() {
        assert!(
            ShimOrder::read(&bytes[..length]).is_none(),
            "{length} bytes"
        );
    }
}

#[test]
fn reports_are_read_as_they_were_written() {
    let reports = [
        Report::Started { pid: 7, shim: 6 },
        Report::Failed {
            stage: StartStage::Cwd,
            errno: libc::ENOENT,
        },
        Report::Running(HolderReport::Exited {
            status: 256,
            idle: true,
        }),
        Report::Running(HolderReport::Idle),
    ];
    for report in reports {
        assert_eq!(Report::read(&report.write()), Some(report));
    }
}

#[test]
fn the_longest_report_fits() {
    let report = HolderReport::Ended {
        ended: 0,
        survivors: vec![(1, vec![b'x'; 40]); 100],
    };
    assert!(report.write().len() <= REPORT_LIMIT);
}
