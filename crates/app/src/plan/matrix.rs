//! A matrix: several values of several keys.

use super::form::Alternative;

/// A matrix as the user fills it in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// The setup that is varied, by its place; nothing for the last one.
    pub base: Option<usize>,
    /// Values of each row, as typed, with commas between.
    pub(super) values: Vec<(String, String)>,
}

/// A change of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixEdit {
    /// Shows it, empty.
    Open,
    /// Hides it.
    Close,
    /// Varies this setup.
    Base(usize),
    /// Another row, by its key.
    Row(String),
    /// The values of a row.
    Values(String, String),
    /// Adds a value to a row, or takes it out.
    Toggle(String, String),
    /// Adds the setups to the plan.
    Add,
}

/// A row of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// Its key, `engine` or `device`.
    pub key: String,
    /// What people read.
    pub title: String,
    /// What it does.
    pub help: String,
    /// Its values as typed.
    pub typed: String,
    /// What can be chosen; none where values are typed.
    pub choices: Vec<Alternative>,
}

/// A setup that the matrix makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// Its text.
    pub spec: String,
    /// Why it is left out; nothing where it is added.
    pub left_out: Option<String>,
}

impl Matrix {
    /// The values of a row, as typed.
    pub(super) fn typed(&self, key: &str) -> &str {
        let row = self.values.iter().find(|(name, _)| name == key);
        row.map_or("", |(_, typed)| typed)
    }

    /// Changes it. Opening, closing and adding are up to the application.
    pub(super) fn edit(&mut self, edit: MatrixEdit) {
        match edit {
            MatrixEdit::Base(place) => self.base = Some(place),
            MatrixEdit::Row(key) => self.put(key, None),
            MatrixEdit::Values(key, typed) => self.put(key, Some(typed)),
            MatrixEdit::Toggle(key, value) => {
                let mut all = values(self.typed(&key));
                let before = all.len();
                all.retain(|one| *one != value);
                if all.len() == before {
                    all.push(value);
                }
                self.put(key, Some(all.join(", ")));
            }
            MatrixEdit::Open | MatrixEdit::Close | MatrixEdit::Add => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values
            .iter()
            .all(|(_, typed)| values(typed).is_empty())
    }

    fn put(&mut self, key: String, typed: Option<String>) {
        match self.values.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = typed.unwrap_or_default(),
            None => self.values.push((key, typed.unwrap_or_default())),
        }
    }
}

impl MatrixRow {
    /// Whether one of its choices is taken.
    pub fn contains(&self, value: &str) -> bool {
        values(&self.typed).iter().any(|one| one == value)
    }
}

/// What is typed between commas.
pub(super) fn values(typed: &str) -> Vec<String> {
    let parts = typed.split(',').map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(ToOwned::to_owned).collect()
}
