//! The elements of a picture, as they are written.

use std::fmt::Write as _;
use std::rc::Rc;

use crate::chart::area::{Area, Position};
use crate::chart::colours::{Colours, Depth, Fill, Rgb};
use crate::chart::layout::outline::Outline;
pub(super) use crate::chart::layout::{HorizontalAnchor, VerticalAnchor};
use crate::chart::palette;
use crate::chart::spec::SeriesId;
use crate::export::style::{Measures, Style};
use crate::export::text_metrics::{self, TextMetrics, Typeface};

/// Font families: common ones, then ours, then generic ones.
const WORDS: &str = "Inter, 'Powerband Text', 'Helvetica Neue', Arial, sans-serif";
const NUMBERS: &str = "'JetBrains Mono', 'Powerband Mono', Menlo, Consolas, monospace";
/// Beyond this no text in a tooltip helps.
const LONGEST_TITLE: usize = 2_000;

/// The style of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStyle {
    pub(super) kind: Typeface,
    pub(super) size: f64,
    pub(super) colour: Rgb,
    pub(super) side: HorizontalAnchor,
    pub(super) height: VerticalAnchor,
    /// Their class, for programs that read the picture.
    pub(super) class: &'static str,
}

impl TextStyle {
    pub(super) fn anchored(self, side: HorizontalAnchor, height: VerticalAnchor) -> Self {
        Self {
            side,
            height,
            ..self
        }
    }

    pub(super) fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    pub(super) colour: Rgb,
    pub(super) width: f64,
    pub(super) dashes: &'static [f64],
    pub(super) class: &'static str,
}

impl Pen {
    pub(super) fn new(colour: Rgb, width: f64) -> Self {
        Self {
            colour,
            width,
            dashes: &[],
            class: "",
        }
    }

    pub(super) fn dashed(self, dashes: &'static [f64]) -> Self {
        Self { dashes, ..self }
    }

    pub(super) fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    fn attributes(self) -> String {
        let mut text = format!(
            "stroke=\"{}\" stroke-width=\"{}\"",
            self.colour.hex(),
            number(self.width)
        );
        if !self.dashes.is_empty() {
            let dashes: Vec<String> = self.dashes.iter().map(|length| number(*length)).collect();
            let dashes = dashes.join(" ");
            write_to(&mut text, format_args!(" stroke-dasharray=\"{dashes}\""));
        }
        write_class(&mut text, self.class);
        text
    }
}

/// A picture that is being written.
pub(super) struct SvgCanvas {
    out: String,
    hatches: Vec<usize>,
    clips: usize,
    pub(super) letters: Rc<TextMetrics>,
    pub(super) colours: &'static Colours,
    pub(super) measures: Measures,
    pub(super) is_print: bool,
}

impl SvgCanvas {
    pub(super) fn new(style: &Style) -> Self {
        Self {
            out: String::new(),
            hatches: Vec::new(),
            clips: 0,
            letters: Rc::new(TextMetrics::new()),
            colours: style.colours(),
            measures: style.measures(),
            is_print: style.preset.is_print(),
        }
    }

    /// The whole document.
    pub(super) fn finish(self, title: &str, width: f64, height: f64) -> String {
        let (w, h) = (number(width), number(height));
        let mut document = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n<title>{}</title>\n",
            title_text(title)
        );
        if !self.hatches.is_empty() {
            document.push_str("<defs>\n");
            for index in &self.hatches {
                document.push_str(&hatch(*index, self.colours));
            }
            document.push_str("</defs>\n");
        }
        write_to(
            &mut document,
            format_args!(
                "<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n",
                self.colours.panel.hex()
            ),
        );
        document.push_str(&self.out);
        document.push_str("</svg>\n");
        document
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        write_to(&mut self.out, element);
        self.out.push('\n');
    }

    /// The words at axes and in legends.
    pub(super) fn caption(&self, colour: Rgb) -> TextStyle {
        TextStyle {
            kind: Typeface::Words,
            size: self.measures.caption,
            colour,
            side: HorizontalAnchor::Start,
            height: VerticalAnchor::Middle,
            class: "",
        }
    }

    /// Numbers at axes.
    pub(super) fn figures(&self, colour: Rgb) -> TextStyle {
        TextStyle {
            kind: Typeface::Numbers,
            ..self.caption(colour)
        }
    }

    pub(super) fn width_of(&self, text: &str, words: TextStyle) -> f64 {
        self.letters.width(text, words.kind, words.size)
    }

    /// A text cut to its room.
    pub(super) fn cut(&self, text: &str, words: TextStyle, room: f64) -> String {
        let clean = text_metrics::clean(text);
        self.letters.cut(&clean, words.kind, words.size, room)
    }

    /// Words on one line.
    pub(super) fn text(&mut self, (x, y): Position, text: &str, words: TextStyle) {
        let text = text_metrics::escaped(text);
        if text.is_empty() || !(x.is_finite() && y.is_finite()) {
            return;
        }
        // The height of a capital letter is 0.73 em; half of it stands above the middle.
        let base = match words.height {
            VerticalAnchor::Top => y + words.size,
            VerticalAnchor::Middle => y + words.size * 0.365,
            VerticalAnchor::Bottom => y - words.size * 0.26,
        };
        let (family, weight) = match words.kind {
            Typeface::Words => (WORDS, ""),
            Typeface::Title => (WORDS, " font-weight=\"600\""),
            Typeface::Numbers => (NUMBERS, ""),
        };
        let anchor = match words.side {
            HorizontalAnchor::Start => "",
            HorizontalAnchor::Middle => " text-anchor=\"middle\"",
            HorizontalAnchor::End => " text-anchor=\"end\"",
        };
        let mut class = String::new();
        write_class(&mut class, words.class);
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\" font-family=\"{family}\" font-size=\"{}\"{weight}{anchor} fill=\"{}\"{class}>{text}</text>",
            number(x),
            number(base),
            number(words.size),
            words.colour.hex(),
        ));
    }

    pub(super) fn line(&mut self, from: Position, to: Position, pen: Pen) {
        if !is_finite(&[from, to]) {
            return;
        }
        self.put(format_args!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1),
            pen.attributes()
        ));
    }

    /// A line through points.
    pub(super) fn path(&mut self, points: &[Position], pen: Pen) {
        if points.len() > 1 && is_finite(points) {
            self.put(format_args!(
                "<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>",
                list(points),
                pen.attributes()
            ));
        }
    }

    /// What is between points.
    pub(super) fn area(&mut self, points: &[Position], colour: Rgb, opacity: f64) {
        if points.len() > 2 && is_finite(points) {
            self.put(format_args!(
                "<polygon points=\"{}\" fill=\"{}\"{}/>",
                list(points),
                colour.hex(),
                opacity_of(opacity)
            ));
        }
    }

    pub(super) fn rect(&mut self, area: Area, colour: Rgb, opacity: f64, radius: f64) {
        let fill = format!("fill=\"{}\"{}", colour.hex(), opacity_of(opacity));
        self.rect_with(area, &fill, radius);
    }

    fn rect_with(&mut self, area: Area, fill: &str, radius: f64) {
        if !is_finite(&[(area.left, area.top), (area.right, area.bottom)]) {
            return;
        }
        let mut round = String::new();
        if radius > 0.0 {
            write_to(&mut round, format_args!(" rx=\"{}\"", number(radius)));
        }
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{round} {fill}/>",
            number(area.left),
            number(area.top),
            number(area.width()),
            number(area.height()),
        ));
    }

    /// A column or a tile; on paper each hue has a hatching of its own, and each depth a ground.
    pub(super) fn filled(&mut self, area: Area, fill: Fill, opacity: f64, radius: f64) {
        if !self.is_print {
            let colour = self.colours.fill(fill);
            // Mixed with the ground and opaque: nothing behind it shines through.
            let colour = self.colours.panel.towards(colour, opacity);
            self.rect(area, colour, 1.0, radius);
            return;
        }
        let colour = self.colours.hue(fill);
        let paleness = match fill.depth {
            Depth::Plain => 0.72,
            Depth::Soft => 0.92,
            Depth::Strong => 0.48,
        };
        let ground = colour.towards(self.colours.panel, paleness);
        self.rect(area, ground, 1.0, radius);
        if let Some(index) = fill.hue.map(|index| index % palette::COLOURS) {
            if !self.hatches.contains(&index) {
                self.hatches.push(index);
            }
            // The hatching is coloured by its index among the colours, so that a sixth one differs.
            self.rect_with(area, &format!("fill=\"url(#hatch{index})\""), radius);
        }
        self.outline(area, Pen::new(colour, self.measures.hair), radius);
    }

    pub(super) fn outline(&mut self, area: Area, pen: Pen, radius: f64) {
        let fill = format!("fill=\"none\" {}", pen.attributes());
        self.rect_with(area, &fill, radius);
    }

    pub(super) fn circle(
        &mut self,
        (x, y): Position,
        radius: f64,
        fill: Option<Rgb>,
        pen: Option<Pen>,
    ) {
        if !is_finite(&[(x, y)]) {
            return;
        }
        let fill = fill.map_or_else(|| "none".to_owned(), Rgb::hex);
        let stroke = pen.map_or_else(String::new, |pen| format!(" {}", pen.attributes()));
        self.put(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\"{stroke}/>",
            number(x),
            number(y),
            number(radius)
        ));
    }

    /// The marker of a palette index.
    pub(super) fn marker(&mut self, at: Position, index: usize, r: f64) {
        self.strong_marker(at, index, r, 1.0);
    }

    /// The same, of which what is behind shines through.
    pub(super) fn strong_marker(&mut self, at: Position, index: usize, r: f64, opacity: f64) {
        let colour = self.colours.series(index).hex();
        if !is_finite(&[at]) {
            return;
        }
        let shape = match Outline::from_marker(palette::marker(index), r) {
            Outline::Circle(r) => format!("<circle r=\"{}\"", number(r)),
            Outline::Polygon(corners) => polygon(&corners),
            Outline::Cross(long, short) => {
                let (long, short) = (number(long), number(short));
                format!(
                    "<path d=\"M-{long} -{short}H-{short}V-{long}H{short}V-{short}H{long}V{short}H{short}V{long}H-{short}V{short}H-{long}Z\""
                )
            }
        };
        self.put(format_args!(
            "{shape} transform=\"translate({} {})\" fill=\"{colour}\"{}/>",
            number(at.0),
            number(at.1),
            opacity_of(opacity)
        ));
    }

    /// What is drawn together, with what a browser says of it under the hand.
    pub(super) fn group(&mut self, class: &str, title: &str, draw: impl FnOnce(&mut Self)) {
        let mut attributes = String::new();
        write_class(&mut attributes, class);
        self.put(format_args!("<g{attributes}>"));
        if !title.is_empty() {
            self.put(format_args!("<title>{}</title>", title_text(title)));
        }
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// Shapes of a series, which a report hides together.
    pub(super) fn series(&mut self, series: Option<SeriesId>, draw: impl FnOnce(&mut Self)) {
        let Some(series) = series else {
            return draw(self);
        };
        let before = self.out.len();
        self.put(format_args!("<g data-series=\"{}\">", series.0));
        let begin = self.out.len();
        draw(self);
        if self.out.len() == begin {
            self.out.truncate(before);
        } else {
            self.put(format_args!("</g>"));
        }
    }

    /// What is drawn turned around a place, clockwise by an angle in radians.
    pub(super) fn turned(&mut self, (x, y): Position, angle: f64, draw: impl FnOnce(&mut Self)) {
        if angle == 0.0 {
            return draw(self);
        }
        self.put(format_args!(
            "<g transform=\"rotate({} {} {})\">",
            number(angle.to_degrees()),
            number(x),
            number(y)
        ));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// What is drawn within a rectangle and nowhere else.
    pub(super) fn clipped(&mut self, area: Area, draw: impl FnOnce(&mut Self)) {
        self.clips += 1;
        let id = self.clips;
        self.put(format_args!(
            "<clipPath id=\"clip{id}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n<g clip-path=\"url(#clip{id})\">",
            number(area.left),
            number(area.top),
            number(area.width()),
            number(area.height()),
        ));
        draw(self);
        self.put(format_args!("</g>"));
    }
}

fn title_text(title: &str) -> String {
    let short: String = title.chars().take(LONGEST_TITLE).collect();
    text_metrics::escaped(&short)
}

fn write_to(out: &mut String, what: std::fmt::Arguments<'_>) {
    if out.write_fmt(what).is_err() {
        // Writing into memory does not fail.
    }
}

fn write_class(out: &mut String, class: &str) {
    if !class.is_empty() {
        write_to(out, format_args!(" class=\"{class}\""));
    }
}

fn polygon(points: &[Position]) -> String {
    format!("<polygon points=\"{}\"", list(points))
}

fn list(points: &[Position]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", number(*x), number(*y)))
        .collect();
    points.join(" ")
}

fn is_finite(points: &[Position]) -> bool {
    points.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}

fn opacity_of(opacity: f64) -> String {
    if opacity < 1.0 {
        format!(" fill-opacity=\"{}\"", number(opacity))
    } else {
        String::new()
    }
}

/// Coordinates to a hundredth of a pixel, without needless zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Lines or dots that distinguish columns without colour.
fn hatch(index: usize, colours: &Colours) -> String {
    let colour = colours.series(index).towards(colours.panel, 0.2).hex();
    let line = |d: &str| {
        format!("<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"0.7\"/>")
    };
    let inside = match index {
        0 => line("M-1 6L6 -1M-1 1L1 -1M4 6L6 4"),
        1 => line("M-1 -1L6 6M4 -1L6 1M-1 4L1 6"),
        2 => line("M0 2.5H5"),
        3 => line("M2.5 0V5"),
        _ => line("M0 2.5H5M2.5 0V5"),
    };
    format!(
        "<pattern id=\"hatch{index}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">{inside}</pattern>\n"
    )
}
