//! Tables and sentences of what the program writes, read back: a terminal's, Markdown, HTML, CSV.

/// A table as it is written: what stands above its columns, and its cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WrittenTable {
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The tables on a terminal: a line of heads behind an empty line, then lines with as many cells.
pub(crate) fn of_terminal(text: &str) -> Vec<WrittenTable> {
    let cells = |line: &str| -> Vec<String> {
        let parts = line.split("  ").map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut sheets = Vec::new();
    for block in text.split("\n\n") {
        let mut lines = block.lines().skip_while(|line| cells(line).len() < 3);
        let Some(heads) = lines.next().map(cells) else {
            continue;
        };
        let rows: Vec<Vec<String>> = lines
            .take_while(|line| !line.starts_with(['·', ' ', '!']))
            .map(cells)
            .take_while(|row| row.len() == heads.len())
            .collect();
        sheets.push(WrittenTable { heads, rows });
    }
    sheets
}

/// The tables of Markdown.
pub(crate) fn of_markdown(text: &str) -> Vec<WrittenTable> {
    let mut sheets: Vec<WrittenTable> = Vec::new();
    let mut is_within = false;
    for line in text.lines() {
        let Some(line) = line
            .strip_prefix("| ")
            .and_then(|line| line.strip_suffix(" |"))
        else {
            is_within &= line.starts_with("|:") || line.starts_with("|-");
            continue;
        };
        let cells = line.split(" | ").map(plain_cell).collect();
        if is_within {
            sheets.last_mut().expect("a table").rows.push(cells);
        } else {
            sheets.push(WrittenTable {
                heads: cells,
                rows: Vec::new(),
            });
            is_within = true;
        }
    }
    sheets
}

/// A cell without its marks: bold, code, escapes, the number of a footnote.
fn plain_cell(cell: &str) -> String {
    let is_mark = |c: char| matches!(c, '*' | '`' | '\\');
    without_footnote(&cell.replace(is_mark, ""))
}

fn without_footnote(cell: &str) -> String {
    let is_number = |c: char| matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹');
    cell.trim().trim_end_matches(is_number).trim().to_owned()
}

/// The tables of a page.
pub(crate) fn of_html(page: &str) -> Vec<WrittenTable> {
    let tables = page.split("<table>").skip(1);
    tables
        .map(|table| {
            let table = table.split("</table>").next().unwrap_or_default();
            let mut rows = table.split("<tr>").skip(1).map(|row| {
                let cells = row
                    .split("<t")
                    .skip(1)
                    .filter(|cell| cell.starts_with(['h', 'd']));
                let cells = cells.filter(|cell| !cell.starts_with("head"));
                cells
                    .map(|cell| {
                        let (_, inner) = cell.split_once('>').unwrap_or_default();
                        let inner = inner.split("<span class=\"unit\">").next();
                        let inner = inner.unwrap_or_default().split("</t").next();
                        text_of(inner.unwrap_or_default())
                    })
                    .collect::<Vec<_>>()
            });
            WrittenTable {
                heads: rows.next().unwrap_or_default(),
                rows: rows.collect(),
            }
        })
        .collect()
}

/// What a reader sees of a piece of a page, without footnotes.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut depth = 0_u32;
    let without_notes = html.split("<sup").next().unwrap_or_default();
    for c in without_notes.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    let text = text
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    without_footnote(&text.replace("&quot;", "\"").replace("&#39;", "'"))
}

/// A number as it is shown: its value in the unit of plain numbers (nanoseconds, bytes, a share of 1), and half a
/// unit of its last digit. Nothing for words.
pub(crate) fn shown_number(text: &str) -> Option<(f64, f64)> {
    let text = text.replace('−', "-").replace(',', "");
    let (digits, unit) = match text.split_once(' ') {
        Some((digits, unit)) => (digits, unit.trim()),
        None => (text.as_str(), ""),
    };
    let value: f64 = digits.parse().ok()?;
    let (mantissa, exponent) = match digits.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let decimals = mantissa
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * 10_f64.powi(exponent - decimals as i32);
    // The last digits of a number above a thousand may be rounded to three digits.
    let half = half
        .max(value.abs() * 0.000_51)
        .min(half.max(value.abs() * 0.005_1));
    let scale = match unit {
        "" | "×" | "/s" | "/J" | "W" | "MHz" | "°C" | "runs" | "run" | "J" | "ns" | "B" => 1.0,
        "%" => 0.01,
        "µJ" => 1e-6,
        "mJ" => 1e-3,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some((value * scale, half * scale))
}

#[test]
fn tables_are_read_from_every_kind_of_document() {
    let sheet = WrittenTable {
        heads: ["Setup", "Batch", "Median"].map(str::to_owned).to_vec(),
        rows: vec![
            ["a:cpu", "1", "1.02 ms"].map(str::to_owned).to_vec(),
            ["b:cpu", "1", "–"].map(str::to_owned).to_vec(),
        ],
    };
    let text =
        "Head\n\nSetup  Batch   Median\na:cpu      1  1.02 ms\nb:cpu      1        –\n· Said\n";
    assert_eq!(of_terminal(text), std::slice::from_ref(&sheet));
    let numbers = of_markdown("| Batch | p99 |\n|--:|--:|\n| 1 | 2 |\n");
    assert_eq!((numbers.len(), numbers[0].rows.len()), (1, 1));
    let text = "# x\n\n| Setup | Batch | Median |\n|:--|--:|--:|\n| `a:cpu` | 1 | **1.02 ms** |\n| b:cpu | 1 | –¹ |\n\nend";
    assert_eq!(of_markdown(text), std::slice::from_ref(&sheet));
    let page = "<table>\n<thead><tr><th scope=\"col\">Setup</th><th scope=\"col\">Batch</th><th scope=\"col\" class=\"number\">Median <span class=\"unit\">ms</span></th></tr></thead>\n<tbody>\n<tr><td class=\"word\"><code>a:cpu</code></td><td>1</td><td>1.02 ms</td></tr>\n<tr><td>b:cpu</td><td>1</td><td title=\"why\">–<sup>1</sup></td></tr>\n</tbody></table>";
    assert_eq!(of_html(page), [sheet]);
}

#[test]
fn numbers_have_a_value_and_the_error_of_their_last_digit() {
    let near = |text: &str, value: f64, half: f64| {
        let (found, error) = shown_number(text).expect("a number");
        assert!((found - value).abs() <= 1e-9 * value, "{text}: {found}");
        assert!((error / half - 1.0).abs() < 0.1, "{text}: {error}");
    };
    near("1.02 ms", 1.02e6, 5e3);
    near("85.1 %", 0.851, 0.000_5);
    near("1,628 /s", 1628.0, 0.83);
    near("313 MiB", 313.0 * 1_048_576.0, 524_288.0);
    assert_eq!(shown_number("faster"), None);
}
