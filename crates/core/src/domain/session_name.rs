//! The name that a session has until the user gives it another: what is in it, in a few words.
//!
//! The one place that decides it, for runs and for imported files, in the window and on the command line.

use super::plan::Plan;

/// Most letters of a name.
const LONGEST: usize = 48;
/// Most letters of the model or file, which leaves room for what else is in it.
const LONGEST_HEAD: usize = 30;
/// The device that is not mentioned.
const USUAL_DEVICE: &str = "cpu";

/// `resnet18@cifar · ort, rten, int8`: the model, then the engines, other devices than the CPU and other
/// precisions of its setups, each once.
pub fn of_plan(model: &str, plan: &Plan) -> String {
    let mut words: Vec<&str> = Vec::new();
    for setup in &plan.setups {
        let device = setup.device.split(':').next();
        let device = device.filter(|device| *device != USUAL_DEVICE);
        let precision = setup.options.get("precision").map(String::as_str);
        for word in [Some(setup.engine.as_str()), device, precision]
            .into_iter()
            .flatten()
        {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    fitted(model, &words)
}

/// `trace, +2 · NVIDIA Nsight Systems`: the first file without its ending, how many more, and the tool.
pub fn of_import(file: &str, more: usize, tool: &str) -> String {
    let head = match more {
        0 => shortened(file, LONGEST_HEAD),
        more => format!("{}, +{more}", shortened(file, LONGEST_HEAD - 6)),
    };
    let tool: Vec<&str> = Some(tool)
        .filter(|tool| !tool.is_empty())
        .into_iter()
        .collect();
    fitted(&head, &tool)
}

/// As many of the words as fit, then how many are left out.
fn fitted(head: &str, words: &[&str]) -> String {
    let head = shortened(head, LONGEST_HEAD);
    let mut name = head.clone();
    for (place, word) in words.iter().enumerate() {
        let left_out = words.len() - place;
        let between = if place == 0 { " · " } else { ", " };
        let longer = format!("{name}{between}{word}");
        // What is left out after it needs room too.
        let room = if left_out > 1 { ", +99".len() } else { 0 };
        if letters(&longer) + room > LONGEST {
            return match place {
                0 => format!("{head} · {}", shortened(word, LONGEST - letters(&head) - 3)),
                _ => format!("{name}, +{left_out}"),
            };
        }
        name = longer;
    }
    name
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

fn shortened(text: &str, most: usize) -> String {
    if letters(text) <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_in_a_session() {
        assert_eq!(
            fitted("resnet18@cifar", &["ort", "rten", "int8"]),
            "resnet18@cifar · ort, rten, int8"
        );
        assert_eq!(
            of_import("trace", 0, "PyTorch profiler"),
            "trace · PyTorch profiler"
        );
        assert_eq!(of_import("trace", 2, "nsys"), "trace, +2 · nsys");
        assert_eq!(of_import("table", 0, ""), "table");
    }

    #[test]
    fn a_name_is_short_whatever_is_in_it() {
        let engines = [
            "onnxruntime",
            "rten",
            "tract",
            "torch",
            "cuda",
            "rocm",
            "fp16",
            "int8",
        ];
        let name = fitted("resnet18@cifar", &engines);
        assert_eq!(name, "resnet18@cifar · onnxruntime, rten, tract, +5");
        let long = "a-very-long-name-of-a-model-that-nothing-shortened".repeat(2);
        for words in [
            &engines[..],
            &engines[..1],
            &["an engine with a name that goes on and on"],
        ] {
            let name = fitted(&long, words);
            assert!(letters(&name) <= LONGEST, "{name}");
            assert!(name.contains(" · "), "{name}");
        }
        assert!(letters(&of_import(&long, 11, &long)) <= LONGEST);
    }
}
