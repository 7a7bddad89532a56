//! Where the parts of the bar of wall time are, and the lines about them below.

use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::chart::area::Area;
use crate::chart::sketch::{Ink, SketchShape};
use crate::chart::wall_time::WallBar;

/// Sizes in those of type: the bar, a line below it, the space between, a sample of a colour.
const BAR: f64 = 2.6;
const LINE: f64 = 1.75;
const BETWEEN: f64 = 0.9;
const SAMPLE: f64 = 0.9;
/// Between two parts.
const GAP: f64 = 1.0;

/// The height that suits it.
pub fn height(bar: &WallBar, letters: &Letters<'_>) -> f64 {
    let lines = bar.parts.len() + 1;
    letters.size * (BAR + BETWEEN + LINE * lines as f64)
}

/// The shapes, and the area of each part, of which some may be empty.
pub fn lay_out(bar: &WallBar, area: Area, letters: &Letters<'_>) -> (Vec<SketchShape>, Vec<Area>) {
    let size = letters.size;
    let mut items = Vec::new();
    let mut places = Vec::new();
    let whole = bar.wall_ns.max(1e-9);
    let mut left = area.left;
    for part in &bar.parts {
        let right = left + area.width() * (part.ns / whole).max(0.0);
        let place = Area::new(left, area.top, right, area.top + size * BAR);
        places.push(place);
        left = right;
        if place.width() <= 0.0 {
            continue;
        }
        let gap = if place.width() > 3.0 * GAP { GAP } else { 0.0 };
        let block = SketchShape::Block {
            area: Area::new(place.left, place.top, place.right - gap, place.bottom),
            fill: part.fill,
        };
        items.push(SketchShape::group(
            "point",
            part.summary_text(),
            vec![block],
        ));
    }
    let (shares, times) = columns(bar, area, letters);
    let mut top = area.top + size * (BAR + BETWEEN);
    let mut line = |name: &str, time: &str, share: &str, ink| {
        let middle = top + size * LINE / 2.0;
        top += size * LINE;
        let at = |x, side| Anchor::new((x, middle), side, VerticalAnchor::Middle);
        let start = at(area.left + size * 1.7, HorizontalAnchor::Start);
        items.push(letters.text(start, name, Font::Words, ink));
        items.push(letters.text(
            at(times, HorizontalAnchor::End),
            time,
            Font::Numbers,
            Ink::Text,
        ));
        items.push(letters.text(
            at(shares, HorizontalAnchor::End),
            share,
            Font::Numbers,
            Ink::Quiet,
        ));
        middle
    };
    let mut samples = Vec::new();
    for part in &bar.parts {
        let (time, share) = part.numbers();
        let ink = if part.ns > 0.0 { Ink::Text } else { Ink::Quiet };
        samples.push((line(&part.name, &time, &share, ink), part));
    }
    let time = powerband_core::base::humanize::duration_ns(bar.wall_ns);
    line("wall time", &time, "100 %", Ink::Text);
    items.extend(samples.into_iter().map(|(middle, part)| {
        let half = size * SAMPLE / 2.0;
        let block = SketchShape::Block {
            area: Area::square_around((area.left + half, middle), half),
            fill: part.fill,
        };
        SketchShape::group("point", "", vec![block])
    }));
    (items, places)
}

/// Where shares and times end: close behind the longest name, so that the eye stays on its line.
fn columns(bar: &WallBar, area: Area, letters: &Letters<'_>) -> (f64, f64) {
    let widest = |texts: &mut dyn Iterator<Item = String>, font| {
        texts
            .map(|text| letters.width(&text, font))
            .fold(0.0, f64::max)
    };
    let mut names = bar.parts.iter().map(|part| part.name.clone());
    let name = widest(&mut names, Font::Words);
    let wall = powerband_core::base::humanize::duration_ns(bar.wall_ns);
    let mut times = bar.parts.iter().map(|part| part.numbers().0).chain([wall]);
    let time = widest(&mut times, Font::Numbers);
    let mut shares = bar.parts.iter().map(|part| part.numbers().1);
    let share = widest(&mut shares, Font::Numbers).max(letters.width("100 %", Font::Numbers));
    let times = area.left + letters.size * 4.0 + name + time;
    let shares = times + letters.size * 1.6 + share;
    let over = (shares - area.right).max(0.0);
    (shares - over, times - over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::colours::Fill;
    use crate::chart::layout::letters;
    use crate::chart::wall_time::WallBarPart;

    #[test]
    fn the_parts_fill_the_bar_from_left_to_right() {
        let part = |name: &str, ns: f64| WallBarPart {
            name: name.to_owned(),
            help: String::new(),
            ns,
            share: ns / 10.0,
            fill: Fill::from_hue(0),
        };
        let bar = WallBar {
            title: "Wall time".to_owned(),
            wall_ns: 10.0,
            parts: vec![
                part("computing", 6.0),
                part("copies", 0.0),
                part("gaps", 4.0),
            ],
        };
        assert!((bar.covered() - 1.0).abs() < 1e-9);
        let letters = letters();
        let area = Area::new(0.0, 0.0, 400.0, height(&bar, &letters));
        let (items, places) = lay_out(&bar, area, &letters);
        let ends: Vec<(f64, f64)> = places.iter().map(|one| (one.left, one.right)).collect();
        assert_eq!(ends, [(0.0, 240.0), (240.0, 240.0), (240.0, 400.0)]);
        let said: Vec<&str> = items
            .iter()
            .filter_map(|item| match item {
                SketchShape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(said.contains(&"6.00 ns") && said.contains(&"60.0 %") && said.contains(&"100 %"));
    }
}
