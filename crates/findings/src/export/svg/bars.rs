//! Where the time went, as bars with names and numbers; and what makes a difference, to both sides.

use super::canvas::{HorizontalAnchor, Pen, SvgCanvas, VerticalAnchor};
use crate::chart::area::Area;
use crate::chart::breakdown::{Bar, ChangeBar};
use crate::chart::layout::bars::{NAMES, from_left, from_middle};
use crate::export::text_metrics::Typeface;
use powerband_core::base::humanize;

/// Height of a bar with the space below it, in sizes of type.
const ROW: f64 = 2.0;

/// The height that suits so many bars.
pub(super) fn height(canvas: &SvgCanvas, bars: usize) -> f64 {
    bars as f64 * canvas.measures.body * ROW
}

/// Where the parts of a bar's line are.
struct BarLine {
    row: Area,
    bar: Area,
    first: f64,
    second: f64,
}

/// A line for each bar. `numbers` are the two columns at the right.
fn lines(
    canvas: &SvgCanvas,
    area: Area,
    names: &[&str],
    numbers: &[(String, String)],
) -> Vec<BarLine> {
    let size = canvas.measures.body;
    let widest = |texts: &mut dyn Iterator<Item = &String>, kind: Typeface| {
        texts
            .map(|text| canvas.letters.width(text, kind, size))
            .fold(0.0, f64::max)
    };
    let first = widest(&mut numbers.iter().map(|pair| &pair.0), Typeface::Numbers);
    let second = widest(&mut numbers.iter().map(|pair| &pair.1), Typeface::Numbers);
    let name = names
        .iter()
        .map(|name| canvas.letters.width(name, Typeface::Words, size))
        .fold(0.0, f64::max);
    let name = name.min(area.width() * NAMES);
    let step = area.height() / names.len().max(1) as f64;
    let left = area.left + name + size;
    let right = area.right - first - second - size * 2.0;
    (0..names.len())
        .map(|place| {
            let top = area.top + place as f64 * step;
            let thick = (step * 0.56).min(size * 3.0);
            let middle = top + step / 2.0;
            BarLine {
                row: Area::new(area.left, top, area.left + name, top + step),
                bar: Area::new(left, middle - thick / 2.0, right, middle + thick / 2.0),
                first: area.right - second - size,
                second: area.right,
            }
        })
        .collect()
}

fn draw_bar_text(canvas: &mut SvgCanvas, line: &BarLine, name: &str, numbers: &(String, String)) {
    let size = canvas.measures.body;
    let middle = f64::midpoint(line.row.top, line.row.bottom);
    let mut words = canvas.caption(canvas.colours.text).class("bar");
    words.size = size;
    let short = canvas.cut(name, words, line.row.width() + 0.5);
    canvas.text((line.row.left, middle), &short, words);
    let mut figures = canvas.figures(canvas.colours.text);
    figures.size = size;
    let figures = figures.anchored(HorizontalAnchor::End, VerticalAnchor::Middle);
    canvas.text((line.first, middle), &numbers.0, figures);
    let quiet = super::canvas::TextStyle {
        colour: canvas.colours.quiet,
        ..figures
    };
    canvas.text((line.second, middle), &numbers.1, quiet);
}

/// Bars, the longest first.
pub(super) fn draw(canvas: &mut SvgCanvas, bars: &[Bar], area: Area) {
    let names: Vec<&str> = bars.iter().map(|bar| bar.name.as_str()).collect();
    let numbers: Vec<(String, String)> = bars
        .iter()
        .map(|bar| (humanize::percent(bar.share), humanize::duration_ns(bar.ns)))
        .collect();
    let lines = lines(canvas, area, &names, &numbers);
    for ((bar, line), numbers) in bars.iter().zip(&lines).zip(&numbers) {
        let title = format!("{}: {}, {}", bar.name, numbers.0, numbers.1);
        canvas.group("point", &title, |canvas| {
            if bar.row.is_some() {
                canvas.filled(from_left(line.bar, bar.length), bar.colour, 0.85, 2.0);
            }
            draw_bar_text(canvas, line, &bar.name, numbers);
        });
    }
}

/// Bars to the left of the middle, which are gains, and to the right, which are losses.
pub(super) fn changes(canvas: &mut SvgCanvas, steps: &[ChangeBar], area: Area) {
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    let numbers: Vec<(String, String)> = steps
        .iter()
        .map(|step| (String::new(), humanize::time_change(step.ns)))
        .collect();
    let lines = lines(canvas, area, &names, &numbers);
    for ((step, line), numbers) in steps.iter().zip(&lines).zip(&numbers) {
        let title = format!("{}: {}", step.name, numbers.1);
        let bar = from_middle(line.bar, step.length);
        let colour = if step.ns < 0.0 {
            canvas.colours.good
        } else {
            canvas.colours.bad
        };
        canvas.group("point", &title, |canvas| {
            canvas.rect(bar, colour, 0.85, 2.0);
            draw_bar_text(canvas, line, &step.name, numbers);
        });
    }
    if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
        let middle = f64::midpoint(first.bar.left, first.bar.right);
        let pen = Pen::new(canvas.colours.faint, canvas.measures.hair);
        canvas.line((middle, first.row.top), (middle, last.row.bottom), pen);
    }
}
