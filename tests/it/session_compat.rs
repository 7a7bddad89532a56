//! Every session file that was ever written opens, and what is written is read back the same.

use std::path::Path;

use powerband_store::session_file;

use crate::support;

#[test]
fn every_kept_version_opens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let versions = support::files(&root);
    assert!(!versions.is_empty(), "there are kept sessions");
    for version in versions {
        let files = support::files(&version);
        assert!(!files.is_empty(), "{}", version.display());
        for file in files {
            let opened = session_file::read(&file).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(opened.newer, None);
            let session = opened.session;
            assert!(
                session.cases.iter().all(|case| case.outcome.is_final()),
                "{}",
                file.display()
            );
            assert!(
                session.cases.iter().any(|case| case.n_samples() > 0),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let kept =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions/v1/outcomes.ron");
    let session = session_file::read(&kept).unwrap().session;
    let path = folder.path().join("again.ron");
    session_file::write(&path, &session).unwrap();
    assert_eq!(session_file::read(&path).unwrap().session, session);
}
