//! The migration ladder: from the text of an older session file to the current version, step by step.
//!
//! The step from N to N + 1 stands at place N − 1 of [`STEPS`], and in a file of its own beside this one.

use super::version::CURRENT;
use super::version_1;

/// Turns the text of one version into the text of the next.
pub type Migration = fn(&str) -> Result<String, String>;

/// The steps, that from version 1 to 2 first.
pub const STEPS: &[Migration] = &[version_1::to_version_2];

/// The text in the current version.
pub fn migrate(text: &str, from: u32) -> Result<String, String> {
    migrate_by(STEPS, text, from, CURRENT)
}

fn migrate_by(steps: &[Migration], text: &str, from: u32, to: u32) -> Result<String, String> {
    let mut text = text.to_owned();
    for version in from..to {
        let step = (version as usize)
            .checked_sub(1)
            .and_then(|place| steps.get(place))
            .ok_or_else(|| format!("there never was a version {version} of session files"))?;
        text = step(&text)
            .map_err(|reason| format!("from version {version} to {}: {reason}", version + 1))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_its_step() {
        assert_eq!(STEPS.len() as u32 + 1, CURRENT);
    }

    #[test]
    fn steps_are_taken_in_order_from_the_right_one() {
        let steps: [Migration; 3] = [
            |t| Ok(format!("{t}a")),
            |t| Ok(format!("{t}b")),
            |_| Err("no".to_owned()),
        ];
        assert_eq!(migrate_by(&steps, "x", 1, 3).unwrap(), "xab");
        assert_eq!(migrate_by(&steps, "x", 2, 3).unwrap(), "xb");
        assert_eq!(migrate_by(&steps, "x", 3, 3).unwrap(), "x");
        assert_eq!(
            migrate_by(&steps, "x", 3, 4).unwrap_err(),
            "from version 3 to 4: no"
        );
        assert!(
            migrate_by(&steps, "x", 0, 3)
                .unwrap_err()
                .contains("never was")
        );
    }
}
