//! Versions of libraries: their order, and whether one is the version that a setup wants.
//!
//! Input is text out of file names, folder names and setups, none of which is sure to be a version.

use std::cmp::Ordering;

/// Orders versions: 1.9 before 1.22, 1.22.0rc1 before 1.22, 1.22 before 1.22.0.post1.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let (a, b) = (version_key(a), version_key(b));
    // A part that is not there counts as zero.
    let at = |key: &[(u8, u64)], i: usize| key.get(i).copied().unwrap_or((NUMBER, 0));
    (0..a.len().max(b.len()))
        .map(|i| at(&a, i).cmp(&at(&b, i)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Whether a version goes on where a shorter one stops, by whole parts: 1.22.0 continues 1.22, not 1.2.
pub fn continues(version: &str, shorter: &str) -> bool {
    version
        .strip_prefix(shorter)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Newest first, and what has no version last.
pub fn newest_first(a: Option<&str>, b: Option<&str>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare_versions(b, a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The rank of a number among the parts of a version.
const NUMBER: u8 = 2;

/// A version as ranked parts: words such as `rc` and `dev` before nothing, `post` after it.
fn version_key(version: &str) -> Vec<(u8, u64)> {
    let version = version.split('+').next().unwrap_or_default();
    let mut key = Vec::new();
    for part in version.split(['.', '-', '_']) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let is_number = first.is_ascii_digit();
            let end = rest
                .find(|c: char| c.is_ascii_digit() != is_number)
                .unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            key.push(match token {
                _ if is_number => (NUMBER, token.parse().unwrap_or(u64::MAX)),
                "dev" => (0, 0),
                "a" | "alpha" => (1, 0),
                "b" | "beta" => (1, 1),
                "post" => (NUMBER + 1, 0),
                _ => (1, 2),
            });
            rest = after;
        }
    }
    key
}

/// A version with or without a flavor, as in `runtime=1.22-cuda`.
pub struct WantedVersion<'a> {
    pub version: &'a str,
    pub flavor: Option<&'a str>,
}

impl<'a> WantedVersion<'a> {
    /// Nothing where the text is no version, and so a path.
    pub fn parse(wanted: &'a str) -> Option<Self> {
        let (version, flavor) = match wanted.split_once('-') {
            Some((version, flavor)) => (version, Some(flavor)),
            None => (wanted, None),
        };
        let is_version = version.starts_with(|c: char| c.is_ascii_digit())
            && version
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '.');
        let is_flavor =
            |flavor: &str| !flavor.is_empty() && flavor.chars().all(|c| c.is_ascii_alphanumeric());
        (is_version && flavor.is_none_or(is_flavor)).then_some(Self { version, flavor })
    }

    /// Whether this version and flavor will do.
    pub fn matches(&self, version: Option<&str>, flavor: Option<&str>) -> bool {
        let is_flavor =
            |wanted: &str| flavor.is_some_and(|flavor| flavor.eq_ignore_ascii_case(wanted));
        version.is_some_and(|version| continues(version, self.version))
            && self.flavor.is_none_or(is_flavor)
    }
}

/// Whether `runtime=` names a library or a folder, and not a version of those that are here.
pub fn names_path(wanted: &str) -> bool {
    WantedVersion::parse(wanted.trim()).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_an_order() {
        let sorted = [
            "1.9.3",
            "1.22.0.dev2025",
            "1.22.0b2",
            "1.22.0rc1",
            "1.22",
            "1.22.0.post3",
            "1.22.1",
            "1.31.0",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(
                compare_versions(pair[0], pair[1]),
                Ordering::Less,
                "{pair:?}"
            );
            assert_eq!(
                compare_versions(pair[1], pair[0]),
                Ordering::Greater,
                "{pair:?}"
            );
        }
        assert_eq!(compare_versions("1.22", "1.22.0"), Ordering::Equal);
        assert_eq!(newest_first(Some("1.0"), None), Ordering::Less);
    }

    #[test]
    fn versions_match_by_whole_parts() {
        let check = |wanted: &str, version: &str, flavor: Option<&str>| {
            WantedVersion::parse(wanted)
                .unwrap()
                .matches(Some(version), flavor)
        };
        assert!(check("1.22", "1.22.0", None));
        assert!(check("1.22.0", "1.22.0", Some("cpu")));
        assert!(check("1", "1.22.0", None));
        assert!(!check("1.2", "1.22.0", None));
        assert!(!check("1.22.0", "1.22", None));
        assert!(check("1.22-cuda", "1.22.0", Some("cuda")));
        assert!(!check("1.22-cuda", "1.22.0", Some("cpu")));
        assert!(!check("1.22-cuda", "1.22.0", None));
    }

    #[test]
    fn paths_are_no_versions() {
        for path in [
            "/opt/1.22",
            "./1.22",
            "libonnxruntime.so",
            "cuda",
            "1.22-",
            "1.22/lib",
            "",
        ] {
            assert!(WantedVersion::parse(path).is_none(), "{path}");
        }
    }
}
