//! Which program this is, as it was built: version and commit.

use std::sync::LazyLock;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, where that can be known.
pub(crate) const COMMIT: Option<&str> = option_env!("POWERBAND_COMMIT");

/// Both: `0.1.0 (commit 9bc1007a2b3c)`.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let commit = COMMIT.unwrap_or("unknown");
    format!("{VERSION} (commit {commit})")
});
