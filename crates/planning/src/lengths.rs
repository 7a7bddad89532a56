//! How long requests to a language model are: the dimensions `prompt` and `new` of a point.

use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;

/// The dimension of a point with the tokens of each prompt.
pub const PROMPT: &str = "prompt";
/// The dimension of a point with the new tokens of each sequence.
pub const NEW: &str = "new";
/// Tokens of a prompt where the sweep does not say.
pub const USUAL_PROMPT: usize = 128;
/// New tokens where the sweep does not say.
pub const USUAL_NEW: usize = 32;

/// The points of a plan with the lengths of requests, where one of its setups makes tokens and the sweep does not
/// say how many.
pub fn with_lengths(points: Vec<Point>, setups: &[Setup]) -> Vec<Point> {
    if !setups.iter().any(Setup::is_generate_task) {
        return points;
    }
    let usual = [(PROMPT, USUAL_PROMPT), (NEW, USUAL_NEW)];
    let completed = points.into_iter().map(|point| {
        let missing = usual.iter().filter(|(name, _)| point.get(name).is_none());
        missing.fold(point, |point, (name, size)| point.with(name, *size))
    });
    completed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_requests_have_their_lengths() {
        let lengths = |setup: &str, point: Point| {
            let points = with_lengths(vec![point], &[setup.parse().unwrap()]);
            points[0].to_string()
        };
        let plain = Point::of_batch(2);
        assert_eq!(lengths("ort", plain), "batch 2");
        assert_eq!(
            lengths("ort,task=generate", plain),
            "batch 2, new 32, prompt 128"
        );
        assert_eq!(
            lengths("ort,task=generate", plain.with("prompt", 7)),
            "batch 2, new 32, prompt 7"
        );
    }
}
