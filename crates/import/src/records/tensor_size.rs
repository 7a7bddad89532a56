//! The size of a tensor from its shape and the type that a tool writes: `FP16`, `half_type`, `Row major linear FP32`.

/// Bytes of a tensor; nothing where the text has no type that is known.
pub(crate) fn tensor_bytes(dims: &[u64], type_text: &str) -> Option<u64> {
    let mut words = type_text.split(|c: char| !c.is_ascii_alphanumeric());
    let bits = words.find_map(bits_of_type)?;
    let elements = dims
        .iter()
        .fold(1, |product, dim| u64::saturating_mul(product, *dim));
    Some(elements.saturating_mul(bits).div_ceil(8))
}

fn bits_of_type(word: &str) -> Option<u64> {
    let word = word.to_ascii_lowercase();
    let end = word.find(|c: char| c.is_ascii_digit());
    let (letters, rest) = word.split_at(end.unwrap_or(word.len()));
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
    match (letters, digits.and_then(|digits| digits.parse().ok())) {
        ("half", None) => Some(16),
        ("float", None) => Some(32),
        ("double", None) => Some(64),
        ("bool" | "boolean", None) => Some(8),
        ("fp" | "f" | "bf" | "float" | "int" | "i" | "uint" | "u", Some(bits)) if bits <= 128 => {
            Some(bits)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_every_tool_have_their_bits() {
        let bytes = |text: &str| tensor_bytes(&[2, 8], text);
        assert_eq!(
            bytes("Channel major FP16 format where channel % 8 == 0"),
            Some(32)
        );
        assert_eq!(bytes("Row major linear FP32"), Some(64));
        assert_eq!(
            bytes("Thirty-two wide channel vectorized row major Int8 format"),
            Some(16)
        );
        assert_eq!(bytes("float_type"), Some(64));
        assert_eq!(bytes("half_type"), Some(32));
        assert_eq!(bytes("fp8e4m3fn_type"), Some(16));
        assert_eq!(bytes("bf16"), Some(32));
        assert_eq!(bytes("U1"), Some(2));
        assert_eq!(bytes("N/A due to dynamic shapes"), None);
    }
}
