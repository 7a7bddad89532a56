//! Names of kernels: what is left of `void at::native::(anonymous namespace)::f<float, 4>(float*)`, and
//! how little of it people need to read.
//!
//! Two kernels with one base name and other template arguments are two kernels. The base name is for
//! categories and for finding counterparts, the short name for reading.

use std::collections::HashMap;

use cpp_demangle::{DemangleOptions, Symbol};

use powerband_core::base::humanize;

/// Longest short name, in characters.
const LONGEST: usize = 72;
/// Longest template arguments that distinguish kernels of one short name, in characters.
const LONGEST_ARGUMENTS: usize = 28;
/// How deep functors within functors are followed.
const DEEPEST: usize = 8;

/// Kernels that only carry another function, which is among their template arguments.
const WRAPPERS: [&str; 12] = [
    "elementwise_kernel",
    "reduce_kernel",
    "multi_tensor_apply_kernel",
    "kentry",
    "kernel_entry",
    "device_kernel",
    "Kernel",
    "Kernel2",
    "static_kernel",
    "transform_kernel",
    "unary_op_kernel",
    "unary_gated_op_kernel",
];

/// Parts of functors that do not describe what is computed.
const SHELLS: [&str; 15] = [
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "BinaryFunctor",
    "BUnaryFunctor",
    "AUnaryFunctor",
    "UnaryOpFunctor",
    "BinaryOpScalarFunctor",
    "BinaryOpListAlphaFunctor",
    "BinaryOpScalarListFunctor",
    "TernaryOpScalarFunctor",
    "PointwiseOpScalarFunctor",
    "PointwiseOpScalarListFunctor",
    "ReduceOp",
    "func_wrapper_t",
    "array",
];

/// A name taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelName {
    /// With its namespaces, without return type, template arguments and parameters.
    pub base: String,
    /// For a kernel that only carries another function, the base name of that.
    pub inner: Option<String>,
    /// The template arguments of its last part.
    arguments: String,
}

impl KernelName {
    /// Takes a name apart.
    pub fn parse(name: &str) -> Self {
        let name = without_suffixes(name);
        let name = demangled(name);
        if !is_signature(&name) {
            return Self {
                base: without_attributes(&name).to_owned(),
                ..Self::default()
            };
        }
        let outline = outline(&name);
        let inner = is_wrapper(last_part(&outline.text)).then(|| functor(&outline.arguments, 0));
        Self {
            inner: inner.flatten(),
            base: outline.text,
            arguments: outline.arguments,
        }
    }

    /// What people read: the last part, of a wrapper what it carries, of generated names what distinguishes
    /// them.
    pub fn short(&self) -> String {
        let last = last_part(&self.base);
        if let Some(inner) = &self.inner {
            return humanize::shorten(&format!("{} ({last})", last_part(inner)), LONGEST);
        }
        if let Some(short) = generated(last) {
            return short;
        }
        let is_generic = matches!(
            last,
            "kernel" | "Kernel" | "run" | "device_kernel" | "kentry"
        );
        let words = if is_generic || !self.base.contains("::") || self.base.contains(' ') {
            &self.base
        } else {
            last
        };
        humanize::shorten(words, LONGEST)
    }

    /// What kernels of one purpose have in common: the base name without the size of its tiles, and what
    /// a wrapper carries.
    pub fn family(&self) -> String {
        let trimmed = without_tiles(&self.base);
        self.inner
            .as_ref()
            .map_or_else(|| trimmed.to_owned(), |inner| format!("{trimmed}<{inner}>"))
    }
}

/// Short names of many, each another one where the whole names differ in what fits into a short name.
pub(crate) fn short_names(names: &[&str]) -> Vec<String> {
    let taken: Vec<KernelName> = names.iter().map(|name| KernelName::parse(name)).collect();
    let mut shorts: Vec<String> = taken.iter().map(KernelName::short).collect();
    let with_arguments = |place: usize, short: &str| {
        let arguments = &taken.get(place)?.arguments;
        let is_telling = taken.get(place)?.inner.is_none() && !arguments.is_empty();
        is_telling.then(|| {
            format!(
                "{short}<{}>",
                humanize::shorten(arguments, LONGEST_ARGUMENTS)
            )
        })
    };
    for place in repeated(&shorts) {
        if let Some(longer) = shorts
            .get(place)
            .and_then(|short| with_arguments(place, short))
        {
            shorts[place] = longer;
        }
    }
    let mut seen: HashMap<String, (usize, usize)> = HashMap::new();
    for (place, short) in shorts.iter_mut().enumerate() {
        let (first, count) = *seen
            .entry(short.clone())
            .and_modify(|(_, count)| *count += 1)
            .or_insert((place, 1));
        if count > 1 && names.get(first) != names.get(place) {
            *short = format!("{short} #{count}");
        }
    }
    shorts
}

/// Places whose text is there more than once.
fn repeated(texts: &[String]) -> Vec<usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    (0..texts.len())
        .filter(|&place| counts.get(texts[place].as_str()).is_some_and(|&n| n > 1))
        .collect()
}

/// Without what compilers and tools append.
fn without_suffixes(name: &str) -> &str {
    let mut name = name.trim();
    loop {
        let shorter = match name.rfind(" [clone ") {
            Some(at) if name.ends_with(']') => &name[..at],
            _ => name.strip_suffix(".kd").unwrap_or(name),
        };
        if shorter.len() == name.len() {
            return name;
        }
        name = shorter.trim_end();
    }
}

/// A linker's name as a person writes it; others, and those that cannot be demangled, as they are.
fn demangled(name: &str) -> String {
    if !name.starts_with("_Z") && !name.starts_with("__Z") {
        return name.to_owned();
    }
    let readable = Symbol::new(name).ok().and_then(|symbol| {
        symbol
            .demangle_with_options(&DemangleOptions::default())
            .ok()
    });
    readable.unwrap_or_else(|| nested_names(name).unwrap_or_else(|| name.to_owned()))
}

/// The names that a mangled name begins with, for one that is cut or cannot be demangled:
/// `_ZN2at6native3fooIfEEvT_` is `at::native::foo`.
fn nested_names(name: &str) -> Option<String> {
    let rest = name.trim_start_matches('_').strip_prefix('Z')?;
    let mut rest = rest.trim_start_matches(['N', 'K', 'V', 'r']);
    let mut parts = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            break;
        };
        let Some((part, behind)) = rest[digits..].split_at_checked(length) else {
            break;
        };
        if part != "_GLOBAL__N_1" {
            parts.push(part);
        }
        rest = behind;
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// Whether it is a function of C++, whose brackets mean something; names of layers and copies have
/// brackets of their own.
fn is_signature(name: &str) -> bool {
    if name.starts_with("PWN(") || name.starts_with('{') || name.starts_with('/') {
        return false;
    }
    let Some(at) = name.find(['<', '(']) else {
        return name.starts_with("void ");
    };
    let before = name[..at].chars().next_back();
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '>' | ']');
    name.starts_with("void ")
        || before.is_some_and(belongs)
        || name[at..].starts_with("(anonymous")
        || name[at..].starts_with("<unnamed>")
}

/// `gpu::gemm[alpha=1,beta=0]` without what is in brackets.
fn without_attributes(name: &str) -> &str {
    match name.find('[') {
        Some(at) if at > 0 && name.ends_with(']') && !name.contains(' ') => &name[..at],
        _ => name,
    }
}

/// A signature without what is in brackets.
#[derive(Default)]
struct SignatureOutline {
    text: String,
    arguments: String,
}

fn outline(signature: &str) -> SignatureOutline {
    let mut found = SignatureOutline::default();
    let mut rest = signature;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = anonymous(rest) {
            rest = after.strip_prefix("::").unwrap_or(after);
            continue;
        }
        if let Some(after) = operator(rest).filter(|_| found.text.ends_with("::")) {
            found.text.push_str("operator");
            rest = after;
            continue;
        }
        match c {
            '<' => {
                let end = closing_bracket(rest);
                inside(&rest[..end]).clone_into(&mut found.arguments);
                rest = &rest[end..];
            }
            '(' if !found.text.trim().is_empty() && !found.text.ends_with(' ') => break,
            '(' => {
                let end = closing_bracket(rest);
                found.text.push_str(inside(&rest[..end]));
                rest = &rest[end..];
            }
            '{' | '[' => rest = &rest[closing_bracket(rest)..],
            // What was in brackets belongs to what came before, such as a return type.
            ' ' => {
                found = SignatureOutline::default();
                rest = &rest[1..];
            }
            _ => {
                found.text.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    let text = found.text.trim_matches([':', '&', '*', ' ']);
    let text = text.strip_suffix("::operator").unwrap_or(text);
    found.text = text.replace("::::", "::");
    found
}

/// What is between brackets, of which the last may be missing.
fn inside(bracketed: &str) -> &str {
    let inner = bracketed.get(1..).unwrap_or_default();
    inner.strip_suffix(['>', ')']).unwrap_or(inner).trim()
}

/// What follows a namespace without a name.
fn anonymous(text: &str) -> Option<&str> {
    const ALL: [&str; 5] = [
        "(anonymous namespace)",
        "(anonymous class)",
        "<unnamed>",
        "{anonymous}",
        "'unnamed'",
    ];
    ALL.iter().find_map(|name| text.strip_prefix(name))
}

/// What follows `operator()` and its like, whose brackets are a name.
fn operator(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("operator")?;
    const ALL: [&str; 6] = ["()", "<<", ">>", "->", "<", ">"];
    ALL.iter().find_map(|symbol| rest.strip_prefix(symbol))
}

/// Where the bracket that the text begins with is closed: behind it, or at the end where it never is.
/// A `>` closes only what a `<` opened last, so that comparisons in round brackets count for nothing.
fn closing_bracket(text: &str) -> usize {
    let mut open: Vec<char> = Vec::new();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '{' | '[' => open.push(c),
            '>' if before != '-' && open.last() == Some(&'<') => {
                open.pop();
            }
            ')' | '}' | ']' => {
                let partner = match c {
                    ')' => '(',
                    '}' => '{',
                    _ => '[',
                };
                while open.pop().is_some_and(|last| last != partner) {}
            }
            _ => {}
        }
        before = c;
        if open.is_empty() {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// Arguments of a template, each for itself.
fn split(arguments: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(c) = arguments[at..].chars().next() {
        match c {
            '<' | '(' | '{' | '[' => {
                at += closing_bracket(&arguments[at..]);
                continue;
            }
            ',' => {
                parts.push(arguments[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    parts.push(arguments[start..].trim());
    parts
}

fn is_wrapper(last: &str) -> bool {
    WRAPPERS
        .iter()
        .any(|wrapper| last == *wrapper || last.contains(wrapper) && wrapper.contains("_kernel"))
}

/// The function that a wrapper carries: the first argument that is neither a number nor a plain type.
fn functor(arguments: &str, depth: usize) -> Option<String> {
    split(arguments)
        .into_iter()
        .find_map(|argument| functor_in(argument, depth))
}

fn functor_in(argument: &str, depth: usize) -> Option<String> {
    let argument = without_cast(argument).trim_start_matches(['&', '(', ' ']);
    let argument = argument.strip_prefix("void ").unwrap_or(argument);
    let found = outline(argument);
    let last = last_part(&found.text);
    if is_plain(&found.text, last) {
        return None;
    }
    if SHELLS.contains(&last) && depth < DEEPEST {
        return functor(&found.arguments, depth + 1).or(Some(found.text));
    }
    Some(found.text)
}

/// `(int)4` without the cast.
fn without_cast(argument: &str) -> &str {
    let cast = argument.trim_start().strip_prefix('(');
    let cast = cast.and_then(|cast| cast.split_once(')'));
    match cast {
        Some((kind, rest)) if is_plain(kind, kind) && !rest.is_empty() => rest,
        _ => argument,
    }
}

/// A number, a type, or where the data lie: nothing that computes.
fn is_plain(text: &str, last: &str) -> bool {
    const TYPES: [&str; 26] = [
        "float",
        "double",
        "half",
        "__half",
        "bool",
        "char",
        "short",
        "int",
        "long",
        "unsigned",
        "signed",
        "void",
        "true",
        "false",
        "int64_t",
        "int32_t",
        "uint32_t",
        "int8_t",
        "uint8_t",
        "size_t",
        "BFloat16",
        "Half",
        "__nv_bfloat16",
        "Array",
        "array",
        "Float8_e4m3fn",
    ];
    text.is_empty()
        || TYPES.contains(&last.trim_end_matches(['*', '&']))
        || last.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        || last.contains("Metadata")
        || last.starts_with("OpaqueType")
        || last == "complex"
}

/// The part behind the last namespace.
fn last_part(base: &str) -> &str {
    base.rsplit("::").next().unwrap_or(base)
}

/// Names that generators make of every parameter: what they are, and their tile.
fn generated(name: &str) -> Option<String> {
    let tile = |mark: &str| {
        let at = name.find(mark)? + mark.len();
        let tile = name[at..].split('_').next()?;
        tile.starts_with(|c: char| c.is_ascii_digit())
            .then_some(tile)
    };
    let head = |words: usize| {
        let mut ends = name.match_indices('_').map(|(at, _)| at);
        ends.nth(words - 1).map_or(name, |at| &name[..at])
    };
    if name.starts_with("Cijk_") {
        return Some(match tile("_MT") {
            Some(tile) => format!("{} MT{tile}", head(3)),
            None => head(3).to_owned(),
        });
    }
    if name.starts_with("igemm_") {
        return tile("_bt").map(|tile| format!("{} {tile}", without_tiles(name)));
    }
    None
}

/// Without the sizes of tiles and all that follows them.
fn without_tiles(base: &str) -> &str {
    const MARKS: [&str; 5] = ["_MT", "_bt", "_bx", "_tilesize", "_tile"];
    let from_digit = |at: usize| base.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let marked = MARKS.iter().filter_map(|mark| {
        let mut places = base.match_indices(mark).map(|(at, _)| at);
        places.find(|at| from_digit(at + mark.len()))
    });
    // `_128x64`, behind at least one letter of a name.
    let sized = base.match_indices('_').map(|(at, _)| at).find(|&at| {
        let rest = &base.as_bytes()[at + 1..];
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        digits > 0
            && rest.get(digits) == Some(&b'x')
            && rest.get(digits + 1).is_some_and(u8::is_ascii_digit)
    });
    let cut = marked.chain(sized).filter(|at| *at > 0).min();
    cut.map_or(base, |at| &base[..at])
}

#[cfg(test)]
mod tests;
