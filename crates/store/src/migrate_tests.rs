use super::*;

fn tables(connection: &Connection) -> Vec<String> {
    connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn an_empty_database_becomes_the_present_one_and_stays_it() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let made = tables(&connection);
    assert_eq!(
        made,
        [
            "message",
            "notice",
            "part",
            "permission",
            "rule",
            "said",
            "session"
        ]
    );
    migrate(&mut connection).unwrap();
    assert_eq!(tables(&connection), made);
}

#[test]
fn every_older_version_becomes_the_present_one_and_keeps_its_rows() {
    for version in 1..=STEPS.len() {
        let mut connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..version] {
            connection.execute_batch(step).unwrap();
        }
        connection
            .pragma_update(None, "user_version", version.cast_signed())
            .unwrap();
        connection
            .execute_batch(
                "INSERT INTO session (id, project, directory, front_end, runtime, pid, version, created, updated)
                 VALUES ('ses_1', 'p', '/', 'drive', 'r', 1, '0', 1, 1)",
            )
            .unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(super::version(&connection).unwrap(), STEPS.len());
        let kept: String = connection
            .query_row("SELECT id FROM session", [], |row| row.get(0))
            .unwrap();
        assert_eq!(kept, "ses_1");
    }
}

#[test]
fn a_newer_one_is_left_alone_and_said_so() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    let error = migrate(&mut connection).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the record has version 999 and this Windlass knows up to {}; update it",
            STEPS.len()
        )
    );
    assert_eq!(tables(&connection), [""; 0]);
}
