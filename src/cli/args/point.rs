//! Which points of a sweep a command is about: `--batch 8`, `--at batch=8,seq=128`.

use powerband_core::domain::point::{BATCH, Point, list};

/// Sizes that points are to have; all points where nothing is said.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PointArgs {
    /// This batch size only.
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// These sizes only, as in batch=8,seq=128.
    #[arg(long, value_name = "DIM=SIZE", value_delimiter = ',', value_parser = binding)]
    at: Vec<(String, usize)>,
}

impl PointArgs {
    /// The same as words of a command.
    pub(crate) fn to_words(&self) -> Vec<String> {
        let batch = self.batch.map(|batch| format!("--batch={batch}"));
        let at = self
            .at
            .iter()
            .map(|(name, size)| format!("--at={name}={size}"));
        batch.into_iter().chain(at).collect()
    }

    /// Whether any point is left out.
    pub(crate) fn is_given(&self) -> bool {
        self.batch.is_some() || !self.at.is_empty()
    }

    /// Whether a point has these sizes.
    pub(crate) fn takes(&self, point: Point) -> bool {
        self.bindings()
            .all(|(name, size)| point.get(name) == Some(size))
    }

    /// The only point that has these sizes; nothing where none is given, and a sentence where there are several or none.
    pub(crate) fn one_of(
        &self,
        points: impl IntoIterator<Item = Point>,
    ) -> Result<Option<Point>, String> {
        if !self.is_given() {
            return Ok(None);
        }
        let all: Vec<Point> = points.into_iter().collect();
        let taken: Vec<Point> = all
            .iter()
            .copied()
            .filter(|point| self.takes(*point))
            .collect();
        match taken.as_slice() {
            [one] => Ok(Some(*one)),
            [] => Err(format!(
                "there is no {}; there are {}",
                self.sizes_text(),
                list(all)
            )),
            several => Err(format!(
                "{} points have {}: {}; say which with --at",
                several.len(),
                self.sizes_text(),
                list(several.iter().copied())
            )),
        }
    }

    /// The point with these sizes; nothing where none is given.
    pub(crate) fn point(&self) -> Option<Point> {
        self.is_given().then(|| Point::new(self.bindings()))
    }

    /// The sizes in words.
    pub(crate) fn sizes_text(&self) -> String {
        let words: Vec<String> = self
            .bindings()
            .map(|(name, size)| format!("{name} {size}"))
            .collect();
        words.join(", ")
    }

    fn bindings(&self) -> impl Iterator<Item = (&str, usize)> {
        let batch = self.batch.map(|batch| (BATCH, batch));
        let at = self.at.iter().map(|(name, size)| (name.as_str(), *size));
        batch.into_iter().chain(at)
    }
}

fn binding(text: &str) -> Result<(String, usize), String> {
    let refused = || format!("\"{text}\" is no dimension with a size, as in seq=128");
    let (name, size) = text.split_once('=').ok_or_else(refused)?;
    let size = size.trim().parse().map_err(|_not_a_number| refused())?;
    Ok((name.trim().to_owned(), size))
}
