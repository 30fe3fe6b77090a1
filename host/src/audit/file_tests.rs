//! Files by the day.

use std::time::Duration;

use super::*;

#[expect(clippy::disallowed_methods, reason = "a test reads what was written")]
fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[test]
fn each_day_has_a_file_of_its_own() {
    let folder = std::env::temp_dir().join(format!("plugway-daily-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("audit.jsonl");
    let daily = AuditRotation { size: 1 << 20, keep: 3, daily: true };
    let mut file = AuditFile::open(&path, daily).unwrap();
    // Nothing was written yet that could be put aside.
    file.day -= 1;
    file.write(b"one\n", Duration::ZERO).1.unwrap();
    assert_eq!(read(&numbered(&path, 1)), None);

    file.day = time::day(SystemTime::now()) - 1;
    file.write(b"two\n", Duration::ZERO).1.unwrap();
    assert_eq!(read(&path).as_deref(), Some("two\n"));
    assert_eq!(read(&numbered(&path, 1)).as_deref(), Some("one\n"));
    assert_eq!(file.day, time::day(SystemTime::now()));

    // A process that starts on the next day knows by the file when it was written last.
    file.file.set_modified(SystemTime::now() - Duration::from_hours(24)).unwrap();
    drop(file);
    let mut file = AuditFile::open(&path, daily).unwrap();
    file.write(b"three\n", Duration::ZERO).1.unwrap();
    assert_eq!(read(&path).as_deref(), Some("three\n"));
    assert_eq!(read(&numbered(&path, 1)).as_deref(), Some("two\n"));
    assert_eq!(read(&numbered(&path, 2)).as_deref(), Some("one\n"));

    let mut file = AuditFile { rotation: AuditRotation { daily: false, ..daily }, ..file };
    file.day -= 1;
    file.write(b"four\n", Duration::ZERO).1.unwrap();
    assert_eq!(read(&path).as_deref(), Some("three\nfour\n"));
    std::fs::remove_dir_all(&folder).unwrap();
}
