//! Messages that the window shares with the command line: options that they name, as the fields of the window.
//!
//! Problems with a model's inputs are found far below, where the command line is the only reader that has words for
//! them. The window has a field for each of these options, called as the option is.

use powerband_planning::form::fields;

/// The text with names of fields in place of options: `use --batch 4` is `use batch 4`.
pub(crate) fn without_options(text: impl Into<String>) -> String {
    let mut text = text.into();
    let mut names: Vec<&str> = fields::ALL.iter().map(|info| info.option).collect();
    // The beginning of an option may be another one.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        let (option, field) = (format!("--{name}"), name.replace('-', " "));
        if let Some(rest) = text.strip_prefix(&option) {
            text = powerband_core::base::humanize::capitalised(&field) + rest;
        }
        text = text.replace(&format!(". {option}"), &format!(". The {field}"));
        text = text.replace(&option, &field);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_onnx::input_values::ValuesError;
    use powerband_onnx::shapes;

    #[test]
    fn options_become_the_fields_of_the_window() {
        let texts = [
            (
                "leaves a size open: seq of ids. Choose with --shape ids=Nx128",
                "leaves a size open: seq of ids. Choose with shape ids=Nx128",
            ),
            (
                "x is time×rows×64. --batch-axis chooses another.",
                "x is time×rows×64. The batch axis chooses another.",
            ),
            (
                "--shape gives 3 for x. Use --batch 4, or --batch-axis x=1",
                "Shape gives 3 for x. Use batch 4, or batch axis x=1",
            ),
        ];
        for (text, expected) in texts {
            assert_eq!(without_options(text), expected);
        }
    }

    #[test]
    fn problems_with_inputs_name_no_option() {
        let shape = shapes::parse_override("ids").unwrap_err().to_string();
        let fill = ValuesError::UnknownInput {
            name: "x".to_owned(),
            known: vec!["y".to_owned()],
        };
        for text in [shape, fill.to_string()] {
            assert!(text.contains("--"), "{text}");
            let shown = without_options(text);
            assert!(!shown.contains("--"), "{shown}");
        }
    }
}
