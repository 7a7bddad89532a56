//! What is written in the cell of a heat map, as far as there is room, and the hatching of one without a number.

use super::{Font, Letters};
use crate::analysis::verdict::Call;
use crate::chart::area::{Area, Position};
use crate::chart::heat_map::{ColourScale, Content, MapCell};

/// Least height of a cell with words, in sizes of type.
const LEAST_HEIGHT: f64 = 1.15;
/// Between the lines of the hatching.
const HATCH: f64 = 5.0;

/// A text in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellText {
    /// Their middle.
    pub at: Position,
    pub text: String,
    pub font: Font,
}

/// The mark of a verdict.
pub fn mark(call: Call) -> &'static str {
    match call {
        Call::Faster => "▲",
        Call::Slower => "▼",
        Call::Same => "=",
        Call::Inconclusive => "?",
    }
}

/// What is written in a cell where there is room: the mark of its verdict and its number, the mark alone, or
/// why it has no number.
pub fn cell_texts(
    cell: &MapCell,
    scale: &ColourScale,
    area: Area,
    letters: &Letters<'_>,
) -> Vec<CellText> {
    let room = area.width() - 0.4 * letters.size;
    // The shortest words are three digits, or the mark of a verdict.
    let least = if cell.call.is_some() { 0.6 } else { 1.8 };
    if area.height() < LEAST_HEIGHT * letters.size || room < least * letters.size {
        return Vec::new();
    }
    let (x, y) = (
        f64::midpoint(area.left, area.right),
        f64::midpoint(area.top, area.bottom),
    );
    let (text, font) = match &cell.content {
        Content::Outside => return Vec::new(),
        Content::Missing { word, .. } => (word.clone(), Font::Words),
        Content::Value(value) => (scale.text(*value), Font::Numbers),
    };
    let width = letters.width(&text, font);
    let Some(mark) = cell.call.map(mark) else {
        if width > room {
            return in_two_lines(&text, font, area, letters);
        }
        return vec![CellText {
            at: (x, y),
            text,
            font,
        }];
    };
    let own = letters.width(mark, Font::Words);
    let gap = 0.4 * letters.size;
    let mark = mark.to_owned();
    if own + gap + width > room {
        let mark = CellText {
            at: (x, y),
            text: mark,
            font: Font::Words,
        };
        return (own <= room + gap).then_some(mark).into_iter().collect();
    }
    let left = x - (own + gap + width) / 2.0;
    vec![
        CellText {
            at: (left + own / 2.0, y),
            text: mark,
            font: Font::Words,
        },
        CellText {
            at: (left + own + gap + width / 2.0, y),
            text,
            font,
        },
    ]
}

/// Words that are too long for one line of a cell, broken where the longer line is shortest; none where there is
/// no room for them either.
fn in_two_lines(text: &str, font: Font, area: Area, letters: &Letters<'_>) -> Vec<CellText> {
    let line = LEAST_HEIGHT * letters.size;
    let width = |text: &str| letters.width(text, font);
    let breaks = text.match_indices(' ').map(|(at, _)| text.split_at(at));
    let widest = |(first, rest): &(&str, &str)| width(first).max(width(rest.trim_start()));
    let best = breaks.min_by(|a, b| widest(a).total_cmp(&widest(b)));
    let room = area.width() - 0.4 * letters.size;
    let fits = |lines: &(&str, &str)| widest(lines) <= room && area.height() >= 2.0 * line;
    let Some((first, rest)) = best.filter(fits) else {
        return Vec::new();
    };
    let x = f64::midpoint(area.left, area.right);
    let y = f64::midpoint(area.top, area.bottom);
    let lines = [(first, y - line / 2.0), (rest.trim_start(), y + line / 2.0)];
    lines
        .map(|(text, y)| CellText {
            at: (x, y),
            text: text.to_owned(),
            font,
        })
        .into()
}

/// Lines across an area, from its lower left to its upper right.
pub fn hatching(area: Area) -> Vec<(Position, Position)> {
    let (wide, high) = (area.width(), area.height());
    let count = ((wide + high) / HATCH) as usize;
    let line = |number: usize| {
        // Along the left edge upwards, then along the upper edge.
        let along = number as f64 * HATCH;
        let from = (
            area.left + (along - high).max(0.0),
            area.top + along.min(high),
        );
        let to = (
            area.left + along.min(wide),
            area.top + (along - wide).max(0.0),
        );
        (from, to)
    };
    (1..=count).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::layout::letters;

    #[test]
    fn a_cell_says_as_much_as_it_has_room_for() {
        let letters = letters();
        let scale = ColourScale::of_ratios("times as fast", [0.5]);
        let mut cell = MapCell {
            content: Content::Value(1.25),
            call: Some(Call::Faster),
            ..MapCell::default()
        };
        let said = |cell: &MapCell, width: f64| -> String {
            let words = cell_texts(cell, &scale, Area::new(0.0, 0.0, width, 16.0), &letters);
            let texts: Vec<String> = words.into_iter().map(|one| one.text).collect();
            texts.join(" ")
        };
        assert_eq!(said(&cell, 60.0), "▲ 1.25 ×");
        assert_eq!(said(&cell, 40.0), "▲");
        assert_eq!(said(&cell, 3.0), "");
        cell.call = None;
        assert_eq!(
            (said(&cell, 45.0), said(&cell, 30.0)),
            ("1.25 ×".to_owned(), String::new())
        );
        let failed = MapCell::missing("failed", "it failed");
        assert_eq!(said(&failed, 60.0), "failed");
        let full = MapCell::missing("out of memory", "it was too much");
        assert_eq!(said(&full, 60.0), "", "the cell is too low for two lines");
        let high = Area::new(0.0, 0.0, 60.0, 30.0);
        let lines = cell_texts(&full, &scale, high, &letters);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["out of", "memory"]);
        assert!(lines[0].at.1 < lines[1].at.1);
        assert_eq!(said(&MapCell::default(), 60.0), "");
    }

    #[test]
    fn hatching_stays_within_its_cell() {
        let area = Area::new(10.0, 20.0, 45.0, 40.0);
        let lines = hatching(area);
        assert!(lines.len() > 5);
        for (from, to) in lines {
            assert!(area.expanded(1e-9).contains(from) && area.expanded(1e-9).contains(to));
        }
    }
}
