//! An SVG picture as pixels and as pages.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};

use super::text_metrics::TextMetrics;
use powerband_core::base::fonts;

/// Most pixels of a picture: 1 GiB of memory has no room for more.
const MOST_PIXELS: f64 = 200e6;

/// A picture as PNG, so many pixels for each of its own.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    pixels(&tree, scale)?
        .encode_png()
        .map_err(|error| format!("the picture cannot be written as PNG: {error}"))
}

/// A picture as pixels: width, height, and red, green, blue and opacity of each pixel.
pub fn rgba(svg: &str, scale: f64) -> Result<(usize, usize, Vec<u8>), String> {
    let pixmap = pixels(&tree(svg)?, scale)?;
    let (width, height) = (pixmap.width() as usize, pixmap.height() as usize);
    // The ground is opaque, so that no colour was multiplied by anything.
    Ok((width, height, pixmap.take()))
}

fn pixels(tree: &Tree, scale: f64) -> Result<Pixmap, String> {
    let size = tree.size();
    let side = |side: f32| (f64::from(side) * scale).round();
    let (width, height) = (side(size.width()), side(size.height()));
    let is_possible = width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS;
    let pixmap = is_possible.then(|| Pixmap::new(width as u32, height as u32));
    let Some(mut pixmap) = pixmap.flatten() else {
        return Err(format!(
            "a picture of {width} × {height} pixels is too large to be drawn; choose a smaller size or scale"
        ));
    };
    let transform =
        Transform::from_scale(width as f32 / size.width(), height as f32 / size.height());
    resvg::render(tree, transform, &mut pixmap.as_mut());
    Ok(pixmap)
}

/// A picture as PDF: lines stay lines, and words can be selected.
pub fn pdf(svg: &str) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    let page = svg2pdf::PageOptions { dpi: 96.0 };
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page)
        .map_err(|error| format!("the picture cannot be written as PDF: {error}"))
}

/// The picture taken apart, with the fonts that are built in. Those of the machine are looked for only
/// where a name has letters that ours lack, because that takes a while.
fn tree(svg: &str) -> Result<Tree, String> {
    let mut known = Database::new();
    for font in [fonts::TEXT, fonts::TEXT_SEMIBOLD, fonts::MONO] {
        known.load_font_source(Source::Binary(Arc::new(font)));
    }
    if !svg.is_ascii() && !TextMetrics::new().has_all(svg) {
        known.load_system_fonts();
    }
    known.set_sans_serif_family("Powerband Text");
    known.set_monospace_family("Powerband Mono");
    let options = Options {
        font_family: "Powerband Text".to_owned(),
        fontdb: Arc::new(known),
        ..Options::default()
    };
    Tree::from_str(svg, &options)
        .map_err(|error| format!("the picture cannot be taken apart: {error}"))
}
