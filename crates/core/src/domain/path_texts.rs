//! Paths of files in texts. Names of nodes in a network look like paths, too, and are none.

/// What paths of files begin with, and parts of networks hardly.
const ROOTS: &str = "\
    Users Volumes afs bin data dev etc export gpfs home lib lib64 lustre media mnt nfs nix opt private \
    proc projects root run scratch srv sys tmp usr users var work workspace workspaces";
/// Roots that are the same on every machine, besides those that begin with `lib`.
const SYSTEM_ROOTS: [&str; 8] = ["bin", "dev", "etc", "proc", "run", "sbin", "sys", "usr"];
/// Folders of users, in lower case.
const HOMES: [&str; 2] = ["home", "users"];
/// How deep a folder of users lies, at most: `/net/fs1/export/home`.
const HOME_DEPTH: usize = 4;
/// What files of measurements, programs and networks end with, in lower case.
const EXTENSIONS: &str = "\
    bash bat bin cc cfg ckpt conf cpp csv cu cuh dll dylib engine exe gguf go gz h5 hdf5 hpp htm html \
    ini ipynb java jpeg jpg js json jsonl log md mlmodel npy npz nsys-rep ncu-rep onnx ort parquet pb \
    pdf pickle pkl plan png pt pt2 pth ptx py pyc pyx ron rs safetensors sh so sqlite tar tflite toml ts \
    tsv txt xml yaml yml";
/// A name in a path has so many words, at most.
const MOST_WORDS: usize = 6;

pub(super) fn is_separator(sign: char) -> bool {
    matches!(sign, '/' | '\\')
}

/// Calls `take` with each path in a text, in order.
pub(super) fn each_path<'a>(text: &'a str, mut take: impl FnMut(&'a str)) {
    if !text.contains(is_separator) {
        return;
    }
    let mut end = 0;
    for (at, _) in text.char_indices() {
        if at < end {
            continue;
        }
        if let Some(length) = path_length(text, at) {
            end = at + length;
            take(&text[at..end]);
        }
    }
}

/// The last part of a path, which may say less than that: a folder of a user is `~`, a server an `address`.
pub(super) fn last_part(path: &str) -> &str {
    let address = after_scheme(path);
    let body = address.map_or(path, |body| body.split(['?', '#']).next().unwrap_or(body));
    let body = body.trim_end_matches(is_separator);
    let (folder, last) = body.rsplit_once(is_separator).unwrap_or(("", body));
    if address.is_some() && folder.is_empty() && !body.starts_with(is_separator) {
        "address"
    } else if user_of_path(path) == Some(last) {
        "~"
    } else {
        last
    }
}

/// The user whose folder a path is in.
pub(super) fn user_of_path(path: &str) -> Option<&str> {
    let body = after_scheme(path).unwrap_or(path);
    let is_absolute = body.len() < path.len() || path.starts_with(is_separator) || is_drive(path);
    let mut parts = body.split(is_separator).filter(|part| !part.is_empty());
    let is_home = |part: &str| HOMES.contains(&part.to_ascii_lowercase().as_str());
    if !is_absolute || !parts.by_ref().take(HOME_DEPTH).any(is_home) {
        return None;
    }
    parts.next().filter(|user| !has_extension(user))
}

/// Whether a path is one that every machine has.
pub(super) fn is_of_system(path: &str) -> bool {
    let root = path.split(is_separator).nth(1).unwrap_or_default();
    path.starts_with('/') && (root.starts_with("lib") || SYSTEM_ROOTS.contains(&root))
}

/// How long the path is that begins at a place of a text.
fn path_length(text: &str, at: usize) -> Option<usize> {
    let (before, here) = text.split_at(at);
    let is_word = !before.chars().next_back().is_some_and(is_within_word);
    let is_begin = is_begin_of_path(here);
    if is_begin && (is_word || is_switch(before)) || is_home_folder(here) {
        return Some(length_with_spaces(here));
    }
    let begins_name = here.starts_with(|sign: char| is_within_word(sign) || sign == '@');
    let end = here.find(|sign| ends_path(sign) || matches!(sign, '=' | ':' | '('));
    let word = &here[..end.unwrap_or(here.len())];
    let is_file = || word.contains(is_separator) && has_extension(word);
    (is_word && begins_name && is_file()).then_some(word.len())
}

/// Whether a text begins as only a path does: with a scheme, a drive, a server, a known root, `~` or `..`.
fn is_begin_of_path(text: &str) -> bool {
    let after_tilde = text.strip_prefix('~').map(|rest| {
        let user = rest.trim_start_matches(|sign: char| sign.is_alphanumeric() || sign == '_');
        user.starts_with('/') && !rest.starts_with(|sign: char| sign.is_ascii_digit())
    });
    let is_relative = ["./", "../", ".\\", "..\\"];
    after_tilde == Some(true)
        || is_relative.iter().any(|begin| text.starts_with(begin))
        || is_drive(text)
        || after_scheme(text).is_some()
        || is_rooted(text)
}

fn is_rooted(text: &str) -> bool {
    let below = text.trim_start_matches(is_separator);
    let separators = text.len() - below.len();
    let root = below.split_once(is_separator).map(|(root, _)| root);
    root.is_some_and(|root| match separators {
        0 => false,
        1 => is_among(ROOTS, root),
        _ => root.starts_with(char::is_alphanumeric) && !root.contains(ends_path),
    })
}

/// Whether it begins with a folder of users, which is one wherever it stands.
fn is_home_folder(text: &str) -> bool {
    let below = text.strip_prefix(is_separator);
    let root = below.and_then(|below| below.split_once(is_separator));
    root.is_some_and(|(root, _)| matches!(root, "home" | "Users"))
}

fn is_drive(text: &str) -> bool {
    let rest = text.strip_prefix(|letter: char| letter.is_ascii_alphabetic());
    let rest = rest.and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| rest.starts_with(is_separator))
}

/// What follows the scheme of an address, as in `file://` and `http://`.
fn after_scheme(text: &str) -> Option<&str> {
    let in_scheme = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '-' | '_');
    let rest = text.trim_start_matches(in_scheme);
    let has_scheme = text.starts_with(char::is_alphabetic) && rest.len() < text.len();
    rest.strip_prefix("://").filter(|_| has_scheme)
}

/// Whether a text ends with the name of a switch, which a path may follow at once, as in `-I/opt/include`.
fn is_switch(before: &str) -> bool {
    let rest = before.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let rest = rest.strip_suffix('-').filter(|_| rest.len() < before.len());
    rest.is_some_and(|rest| !rest.chars().next_back().is_some_and(is_within_word))
}

/// How long the path is that a text begins with. It goes on behind a space where the next word has a separator, or
/// one of the next ends as files do.
fn length_with_spaces(text: &str) -> usize {
    let mut end = text.find(ends_path).unwrap_or(text.len());
    while !has_extension(&text[..end]) {
        let Some(more) = length_behind_space(&text[end..]) else {
            break;
        };
        end += more;
    }
    end
}

fn length_behind_space(text: &str) -> Option<usize> {
    let is_mark = |sign: char| sign != ' ' && ends_path(sign);
    let phrase = text.split(is_mark).next()?.strip_prefix(' ')?;
    let mut end = 0;
    for (place, word) in phrase.split(' ').take(MOST_WORDS).enumerate() {
        if word.starts_with('-') || word.contains('=') || is_begin_of_path(word) {
            return None;
        }
        end += 1 + word.len();
        if has_extension(word) || (place == 0 && word.contains(is_separator)) {
            return Some(end);
        }
    }
    None
}

/// Whether a path ends as the names of files do; what follows in brackets or behind a colon is a line.
fn has_extension(path: &str) -> bool {
    let last = path.rsplit(is_separator).next().unwrap_or(path);
    let name = last.split([':', '(', '?', '#']).next().unwrap_or(last);
    let Some((stem, extension)) = name.trim_end_matches('.').rsplit_once('.') else {
        return false;
    };
    let extension = extension.to_ascii_lowercase();
    is_among(EXTENSIONS, &extension) || stem.split('.').skip(1).any(|part| part == "so")
}

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn is_within_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '/' | '.' | '_' | '-' | '\\')
}

fn ends_path(sign: char) -> bool {
    sign.is_whitespace()
        || sign.is_control()
        || matches!(
            sign,
            '"' | '\'' | '`' | ',' | ';' | ')' | ']' | '}' | '<' | '>' | '|'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> String {
        let mut clean = text.to_owned();
        each_path(text, |path| {
            clean = clean.replacen(path, last_part(path), 1);
        });
        clean
    }

    #[test]
    fn of_every_path_the_last_part_stays() {
        for (text, clean) in [
            ("file:///home/zoe/x.onnx", "x.onnx"),
            ("\\\\fs1\\team\\zoe\\net.onnx", "net.onnx"),
            ("at C:\\Users\\zoe\\x", "at x"),
            ("C:/Users/zoe/x, D:\\\\nets\\\\y.onnx", "x, y.onnx"),
            ("/projects/zoe/secret/net.onnx", "net.onnx"),
            ("/elsewhere/zoe/net.onnx is read", "net.onnx is read"),
            ("//fs1/home/zoe/nets", "nets"),
            (
                "of /home/zoe/My Documents/Quarterly secret.onnx, twice",
                "of Quarterly secret.onnx, twice",
            ),
            ("/home/zoe/My Own Documents/secret.onnx", "secret.onnx"),
            ("/home/zoe/nets on 12 devices", "nets on 12 devices"),
            ("/opt/a --out /opt/b.json", "a --out b.json"),
            ("http://gpu7.lab/x and http://gpu7.lab", "x and address"),
            ("https://bob@gpu7.lab:80/a/b?user=bob", "b"),
            ("-I/home/zoe/include -L/opt/lib -O2", "-Iinclude -Llib -O2"),
            ("../thesis_bobby/model.py", "model.py"),
            ("./secret/run", "run"),
            ("thesis/model.py(3): f", "model.py(3): f"),
            (
                "/workspace/bobby-company/net.py:12: call",
                "net.py:12: call",
            ),
            ("~/pictures/cats, ~zoe/dogs", "cats, dogs"),
            ("/home/zoe and /home/zoe/", "~ and ~"),
            (
                "runtime=/opt/ort/libonnxruntime.so.1.22.0",
                "runtime=libonnxruntime.so.1.22.0",
            ),
            ("fs1/home/zoe/nets", "fs1nets"),
            ("{\"file\":\"/scratch/zoe/a\"}", "{\"file\":\"a\"}"),
        ] {
            assert_eq!(replaced(text), clean, "{text}");
        }
    }

    #[test]
    fn names_of_nodes_and_rates_are_no_paths() {
        for text in [
            "/layer1/conv/Conv",
            "/net/net.0/Conv",
            "/lstm/cell.h",
            "/shared/Gather",
            "/layer4/layer4.1/relu/Relu",
            "/model/layers.0/self_attn/q_proj.weight",
            "encoder/layer.3/output_0",
            "12 GB/s, ~5/s",
            "aten::conv2d / cudnn::f<a/b>",
            "ResNet/50 // 3",
            "\\d",
            "",
        ] {
            assert_eq!(replaced(text), text);
        }
    }

    #[test]
    fn users_have_folders() {
        for (path, user) in [
            ("/home/zoe/x", Some("zoe")),
            ("C:\\Users\\zoe\\x", Some("zoe")),
            ("//fs1/export/home/zoe", Some("zoe")),
            ("file:///home/zoe/x.onnx", Some("zoe")),
            ("/data/users/zoe/x", Some("zoe")),
            ("src/home/widgets/x.py", None),
            ("/opt/home/index.py", None),
            ("/opt/x", None),
        ] {
            assert_eq!(user_of_path(path), user, "{path}");
        }
        assert!(is_of_system("/usr/share/x") && is_of_system("/lib64/x"));
        assert!(!is_of_system("/home/usr/x") && !is_of_system("usr/lib/x"));
    }
}
