//! Words at both axes and hairlines; no box, no grid of squares.

use std::rc::Rc;

use super::canvas::{HorizontalAnchor, Pen, SvgCanvas, TextStyle, VerticalAnchor};
use crate::chart::area::{Area, Position};
use crate::chart::layout::{self, Font, PlotSurface as _, Size, ticks};
use crate::chart::spec::{Axis, ChartSpec};
use crate::export::text_metrics::{self, TextMetrics, Typeface};

/// Lines of a label below the axis.
const LINES: usize = 3;
/// More labels than this are not broken but left out where they touch.
const MOST_BROKEN: usize = 12;

/// A label below the axis.
struct Label {
    at: f64,
    lines: Vec<String>,
}

/// Where a chart is drawn.
pub(super) struct SvgPlot<'a> {
    pub(super) spec: &'a ChartSpec,
    pub(super) inner: Area,
    labels: Vec<Label>,
    label_words: TextStyle,
    letters: Rc<TextMetrics>,
    marker: f64,
}

impl layout::PlotSurface for SvgPlot<'_> {
    fn spec(&self) -> &ChartSpec {
        self.spec
    }

    fn inner(&self) -> Area {
        self.inner
    }

    fn marker(&self) -> f64 {
        self.marker
    }

    fn place(&self, x: f64, y: f64) -> Position {
        (
            self.inner.left + self.spec.x.share(x) * self.inner.width(),
            self.inner.bottom - self.spec.y.share(y) * self.inner.height(),
        )
    }

    fn size(&self, text: &str, font: Font) -> Size {
        let kind = match font {
            Font::Words => Typeface::Words,
            Font::Numbers => Typeface::Numbers,
        };
        let (text, size) = (text_metrics::clean(text), self.label_words.size);
        (self.letters.width(&text, kind, size), size * 1.25)
    }
}

impl<'a> SvgPlot<'a> {
    /// Finds room for words at the axes; the rest is for the data.
    pub(super) fn new(canvas: &SvgCanvas, spec: &'a ChartSpec, area: Area) -> Self {
        let numbers = canvas.figures(canvas.colours.quiet);
        let widths = spec.y.ticks.iter();
        let widths = widths.map(|tick| canvas.width_of(&tick.text, numbers));
        let size = canvas.measures.caption;
        let left = area.left + widths.fold(size * 1.6, f64::max) + size * 0.8;
        // Half of the last label may reach over the end of the axis.
        let right = area.right - size * 0.9;
        let is_named = spec.x.ticks.iter().any(|tick| has_letters(&tick.text));
        let label_words = TextStyle {
            kind: if is_named {
                Typeface::Words
            } else {
                Typeface::Numbers
            },
            ..numbers
        };
        let labels = labels(canvas, &spec.x, right - left, label_words);
        let lines = labels.iter().map(|label| label.lines.len()).max();
        let foot = size * (1.95 + 1.25 * lines.unwrap_or(1) as f64);
        let head = if spec.y.title.is_empty() { 0.5 } else { 1.9 };
        Self {
            inner: Area::new(
                left,
                area.top + size * head,
                right.max(left + 1.0),
                (area.bottom - foot).max(area.top + size * head + 1.0),
            ),
            spec,
            labels,
            label_words,
            letters: Rc::clone(&canvas.letters),
            marker: canvas.measures.marker,
        }
    }

    /// Hairlines, which lie behind everything.
    pub(super) fn hairlines(&self, canvas: &mut SvgCanvas) {
        let pen = Pen::new(canvas.colours.line, canvas.measures.hair).class("y-tick");
        for tick in &self.spec.y.ticks {
            let y = self.place(self.spec.x.low, tick.at).1;
            if self.inner.expanded(0.5).contains((self.inner.left, y)) {
                canvas.line((self.inner.left, y), (self.inner.right, y), pen);
            }
        }
        if canvas.is_print {
            let pen = Pen::new(canvas.colours.faint, canvas.measures.hair);
            let bottom = self.inner.bottom;
            canvas.line((self.inner.left, bottom), (self.inner.right, bottom), pen);
        }
    }

    /// Words at both axes.
    pub(super) fn draw_text(&self, canvas: &mut SvgCanvas, area: Area) {
        let titles = canvas.caption(if canvas.is_print {
            canvas.colours.quiet
        } else {
            canvas.colours.faint
        });
        let y_title = canvas.cut(&self.spec.y.title, titles, area.width());
        let at = (area.left, self.inner.top - titles.size * 1.9);
        let words = titles
            .anchored(HorizontalAnchor::Start, VerticalAnchor::Top)
            .class("y-title");
        canvas.text(at, &y_title, words);
        let x_title = canvas.cut(&self.spec.x.title, titles, area.width());
        let words = titles
            .anchored(HorizontalAnchor::End, VerticalAnchor::Bottom)
            .class("x-title");
        canvas.text((self.inner.right, area.bottom), &x_title, words);
        let numbers = canvas.figures(canvas.colours.quiet).class("y-tick");
        let numbers = numbers.anchored(HorizontalAnchor::End, VerticalAnchor::Middle);
        for tick in &self.spec.y.ticks {
            let y = self.place(self.spec.x.low, tick.at).1;
            if self.inner.expanded(0.5).contains((self.inner.left, y)) {
                let at = (self.inner.left - numbers.size * 0.7, y);
                canvas.text(at, &tick.text, numbers);
            }
        }
        self.below(canvas);
    }

    /// The labels below the axis: the last one always, the others where there is room.
    fn below(&self, canvas: &mut SvgCanvas) {
        let words = self
            .label_words
            .anchored(HorizontalAnchor::Middle, VerticalAnchor::Top);
        let middle = |label: &Label| self.place(label.at, self.spec.y.low).0;
        let width = |label: &Label| {
            let widths = label.lines.iter().map(|line| canvas.width_of(line, words));
            widths.fold(0.0, f64::max)
        };
        let places = self
            .labels
            .iter()
            .map(|label| (middle(label), width(label)));
        let places: Vec<(f64, f64)> = places.collect();
        let top = self.inner.bottom + words.size * 0.5;
        for place in ticks::with_room(&places, (self.inner.left, self.inner.right)) {
            let (x, label) = (places[place].0, &self.labels[place]);
            for (row, line) in (0..).map(f64::from).zip(&label.lines) {
                let at = (x, top + row * words.size * 1.25);
                canvas.text(at, line, words.class("x-tick"));
            }
        }
    }
}

fn labels(canvas: &SvgCanvas, axis: &Axis, room: f64, words: TextStyle) -> Vec<Label> {
    let slot = room / axis.ticks.len().max(1) as f64 - words.size * 0.7;
    let is_broken = words.kind == Typeface::Words && axis.ticks.len() <= MOST_BROKEN;
    let label = |tick: &crate::chart::spec::Tick| {
        let text = text_metrics::clean(&tick.text);
        let lines = if is_broken {
            let letters = &canvas.letters;
            letters.broken(&text, words.kind, words.size, slot, LINES)
        } else {
            vec![text]
        };
        Label { at: tick.at, lines }
    };
    axis.ticks.iter().map(label).collect()
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}
