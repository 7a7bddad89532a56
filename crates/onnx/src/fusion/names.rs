//! What the names that ONNX Runtime makes up still say about the file.
//!
//! A node that it rewrites often keeps the name of the node or of the tensor that it was made from,
//! with something before or after it. Nothing here is certain: a name is believed only where the
//! file has it.

/// Put before the name of a tensor that was cast for an operator without 16-bit arithmetic.
const BEFORE: [&str; 2] = ["InsertedPrecisionFreeCast_", "InsertedCast_"];
/// Put after the name of a node that was rewritten.
const AFTER_NODE: [&str; 3] = ["_new_reshape", "_nhwc", "/"];
/// Put after the name of a tensor, to call the node that makes it in blocks of channels.
const AFTER_TENSOR: [&str; 2] = ["_nchwc", "_bn_nchwc"];

/// Node or tensor of the file that a prepared node is named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameOrigin<'a> {
    /// A node of this name.
    Node(&'a str),
    /// The node that makes this tensor.
    Tensor(&'a str),
}

/// What a node of the prepared graph may be named after, the likeliest first.
pub(crate) fn namesakes(name: &str) -> Vec<NameOrigin<'_>> {
    let mut found = vec![NameOrigin::Node(name)];
    let mut rest = name;
    while let Some(shorter) = shortened(rest) {
        found.push(NameOrigin::Node(shorter));
        rest = shorter;
    }
    for after in AFTER_TENSOR {
        if let Some(tensor) = rest.strip_suffix(after) {
            found.push(NameOrigin::Tensor(tensor));
            found.extend(uncast(tensor).map(NameOrigin::Tensor));
        }
    }
    found
}

/// The tensor that this one is a cast of, by its name.
pub(crate) fn uncast(tensor: &str) -> Option<&str> {
    BEFORE.iter().find_map(|before| tensor.strip_prefix(before))
}

/// The name without the last thing that was put after it; never empty.
fn shortened(name: &str) -> Option<&str> {
    let ends = AFTER_NODE.iter();
    let shorter = unnumbered(name)
        .or_else(|| unfused(name))
        .or_else(|| ends.into_iter().find_map(|end| name.strip_suffix(end)))?;
    (!shorter.is_empty()).then_some(shorter)
}

/// Without the number that makes a name unique.
fn unnumbered(name: &str) -> Option<&str> {
    let (shorter, number) = name.rsplit_once("_token_")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(shorter)
}

/// Without the fusion that made the node, as in `MatMul_19/MatMulAddFusion`.
fn unfused(name: &str) -> Option<&str> {
    let (shorter, last) = name.rsplit_once('/')?;
    last.ends_with("Fusion").then_some(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_lead_back() {
        let cases = [
            ("conv1_token_17", NameOrigin::Node("conv1")),
            ("MatMul_19/MatMulAddFusion", NameOrigin::Node("MatMul_19")),
            ("Mul_13/LayerNormFusion/", NameOrigin::Node("Mul_13")),
            ("Reshape_34_new_reshape", NameOrigin::Node("Reshape_34")),
            ("relu.out_nchwc", NameOrigin::Tensor("relu.out")),
            ("norm1.out_bn_nchwc", NameOrigin::Tensor("norm1.out")),
            (
                "InsertedPrecisionFreeCast_relu.out_nchwc",
                NameOrigin::Tensor("relu.out"),
            ),
        ];
        for (name, expect) in cases {
            assert!(namesakes(name).contains(&expect), "{name}");
        }
    }

    #[test]
    fn the_longer_reading_comes_first() {
        let found = namesakes("a_bn_nchwc");
        assert_eq!(
            found[1..],
            [NameOrigin::Tensor("a_bn"), NameOrigin::Tensor("a")]
        );
    }

    #[test]
    fn odd_names_are_left_alone() {
        for name in ["", "_token_", "_token_x", "/model/Conv"] {
            assert_eq!(namesakes(name), [NameOrigin::Node(name)]);
        }
        assert_eq!(namesakes("/"), [NameOrigin::Node("/")]);
    }
}
