//! Which program this is, as it was built: version, commit and features.

use std::sync::LazyLock;

/// The version of the package.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, where that can be known.
pub(crate) const COMMIT: Option<&str> = option_env!("POWERBAND_COMMIT");

/// The optional features that it was built with.
pub(crate) const FEATURES: &[&str] = &[
    #[cfg(feature = "tract")]
    "tract",
];

/// All of it: `0.1.0 (commit 9bc1007a2b3c, features: none)`.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let features = match FEATURES {
        [] => "none".to_owned(),
        some => some.join(", "),
    };
    let commit = COMMIT.unwrap_or("unknown");
    format!("{VERSION} (commit {commit}, features: {features})")
});
