//! Shared code of text tables: rows with unquoted commas, units in cells, numbers in words.

/// A row of a table whose first column is a name that may hold the separator without quotation marks:
/// the last `n` fields are taken from the right, the rest is the name.
pub(crate) fn name_then(row: &str, separator: char, n: usize) -> Option<(String, Vec<&str>)> {
    let mut rest = row.trim_end_matches(['\r', '\n']);
    let mut fields = Vec::with_capacity(n);
    for _ in 0..n {
        let (left, field) = rest.rsplit_once(separator)?;
        fields.push(field.trim().trim_matches('"'));
        rest = left;
    }
    fields.reverse();
    Some((unquoted(rest), fields))
}

/// A field without its quotation marks; doubled ones within are single ones.
pub fn unquoted(field: &str) -> String {
    let field = field.trim();
    let inner = field
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) => inner.replace("\"\"", "\""),
        None => field.to_owned(),
    }
}

/// The fields of a row with quotation marks. One that is opened and not closed before a separator is
/// closed where a mark stands before a separator: names may hold marks that were not doubled.
pub fn fields(row: &str, separator: char) -> Vec<String> {
    let row = row.trim_end_matches(['\r', '\n']);
    let mut fields = Vec::new();
    let mut rest = row;
    loop {
        let (field, left) = if let Some(inner) = rest.strip_prefix('"') {
            let (field, left) = inner.split_at(closing(inner, separator));
            let left = left.strip_prefix('"').unwrap_or_default();
            (field.replace("\"\"", "\""), left)
        } else {
            let end = rest.find(separator).unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), &rest[end..])
        };
        fields.push(field);
        match left.strip_prefix(separator) {
            Some(left) => rest = left,
            None => break,
        }
    }
    fields
}

/// Where the mark stands that closes a field: before a separator or at the end, and not doubled.
fn closing(inner: &str, separator: char) -> usize {
    let mut from = 0;
    while let Some(at) = inner[from..].find('"').map(|at| from + at) {
        let after = &inner[at + 1..];
        if after.starts_with('"') && !after[1..].is_empty() && !after[1..].starts_with(separator) {
            from = at + 2;
        } else if after.is_empty() || after.starts_with(separator) {
            return at;
        } else {
            from = at + 1;
        }
    }
    inner.len()
}

/// A kernel's name without what compilers and loaders append to it.
pub fn kernel_name(name: &str) -> &str {
    let name = name.trim();
    let ends = [" [clone .kd]", " (.kd)"];
    let end = ends.iter().find_map(|end| name.strip_suffix(end));
    let name = end.unwrap_or(name);
    name.strip_suffix(".kd").unwrap_or(name)
}

/// A number with thousands divided by commas, or in powers of ten.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_matches('"').replace(',', "");
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A whole number; one that is written with decimals or as a power of ten is rounded.
pub fn whole_number(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches('"');
    text.parse().ok().or_else(|| {
        let value = number(text)?;
        (0.0..1.8e19).contains(&value).then(|| value.round() as u64)
    })
}

/// Nanoseconds in a unit of time; nothing for what is none.
pub(crate) fn unit_ns(unit: &str) -> Option<f64> {
    match unit
        .trim()
        .trim_matches(|c| c == '(' || c == ')')
        .to_lowercase()
        .as_str()
    {
        "ns" | "nsec" | "nsecond" | "nanosecond" | "nanoseconds" => Some(1.0),
        "us" | "µs" | "μs" | "usec" | "usecond" | "microsecond" | "microseconds" => Some(1e3),
        "ms" | "msec" | "msecond" | "millisecond" | "milliseconds" => Some(1e6),
        "s" | "sec" | "second" | "seconds" => Some(1e9),
        _ => None,
    }
}

/// A time with its unit in one cell: `10.400ms`, `-77.000us`, `1.2 s`; in nanoseconds.
pub fn time_ns(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    let split = cell.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E')?;
    Some(number(&cell[..split])? * unit_ns(&cell[split..])?)
}

/// Nanoseconds of a time that was read as a float; below zero is zero.
pub fn ns(value: f64, unit_ns: f64) -> u64 {
    (value * unit_ns).round().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_the_right_where_names_hold_commas() {
        let row = "void f<int, float>(int, char const*) [clone .kd],442,598069423,1353098,90.32";
        let (name, rest) = name_then(row, ',', 4).unwrap();
        assert_eq!(name, "void f<int, float>(int, char const*) [clone .kd]");
        assert_eq!(rest, ["442", "598069423", "1353098", "90.32"]);
        assert_eq!(name_then("a,1", ',', 4), None);
    }

    #[test]
    fn marks_that_nobody_doubled_stay_in_the_name() {
        let row = "\"KERNEL\",\"op \"x\" of y, z\",5,\"say \"\"a\"\"\"";
        assert_eq!(
            fields(row, ','),
            ["KERNEL", "op \"x\" of y, z", "5", "say \"a\""]
        );
        assert_eq!(fields("a;;\"\"", ';'), ["a", "", ""]);
    }

    #[test]
    fn kernels_lose_what_compilers_append() {
        assert_eq!(kernel_name("f(int) [clone .kd]"), "f(int)");
        assert_eq!(kernel_name("f(int) (.kd)"), "f(int)");
        assert_eq!(
            kernel_name("__amd_rocclr_copyBuffer.kd"),
            "__amd_rocclr_copyBuffer"
        );
        assert_eq!(kernel_name("plain"), "plain");
    }

    #[test]
    fn times_carry_their_units() {
        assert_eq!(time_ns("10.400ms"), Some(10_400_000.0));
        assert_eq!(time_ns("-77.000us"), Some(-77_000.0));
        assert_eq!(time_ns("1.5e-3 s"), Some(1_500_000.0));
        assert_eq!(time_ns("12"), None);
        assert_eq!(whole_number("1,215,000,000.00"), Some(1_215_000_000));
        assert_eq!(whole_number("18446744073709551615"), Some(u64::MAX));
        assert_eq!(number("nan"), None);
    }
}
