//! The selected row of the kernels screen, by what it stands for: it is the same row in bars, treemap and
//! table, and in another profile.

use super::action::{Kernels, SelectedRow};
use super::{KernelsResult, KernelsState};
use powerband_findings::analysis::breakdown::{BreakdownLevel, BreakdownRow, FilterGroup};

impl SelectedRow {
    /// What a row of a level stands for.
    pub fn of_row(level: BreakdownLevel, row: &BreakdownRow) -> Self {
        match level {
            BreakdownLevel::Category => Self::Category(row.category),
            BreakdownLevel::Operator => Self::Operator(row.name.clone()),
            BreakdownLevel::Kernel => Self::Kernel(row.name.clone()),
        }
    }

    /// What a click on it does: a category and an operator list their kernels, a kernel shows its instances.
    pub fn opened(self) -> Kernels {
        match self {
            Self::Category(category) => Kernels::Within(Some(FilterGroup::Category(category))),
            Self::Operator(name) => Kernels::Within(Some(FilterGroup::Operator(name))),
            kernel @ Self::Kernel(_) => Kernels::Select(Some(kernel)),
        }
    }

    /// What the rows of a category or an operator are listed for.
    fn of_within(within: &FilterGroup) -> Self {
        match within {
            FilterGroup::Category(category) => Self::Category(*category),
            FilterGroup::Operator(name) => Self::Operator(name.clone()),
        }
    }

    /// The level that has a row for it.
    fn level(&self) -> BreakdownLevel {
        match self {
            Self::Category(_) => BreakdownLevel::Category,
            Self::Operator(_) => BreakdownLevel::Operator,
            Self::Kernel(_) => BreakdownLevel::Kernel,
        }
    }
}

impl KernelsState {
    /// The selected row.
    pub fn selected(&self) -> Option<&SelectedRow> {
        self.selected.as_ref()
    }

    /// The selected kernel, by its whole name.
    pub fn selected_kernel(&self) -> Option<&str> {
        match self.selected.as_ref()? {
            SelectedRow::Kernel(name) => Some(name),
            SelectedRow::Category(_) | SelectedRow::Operator(_) => None,
        }
    }

    /// Selects a row, whichever level is shown.
    pub(crate) fn choose(&mut self, row: SelectedRow) {
        self.selected = Some(row);
    }

    /// What a row stands for, by its place: of the breakdown, or of the comparison where there is one.
    pub fn row_meaning(&self, place: usize) -> Option<SelectedRow> {
        let found = self.found.result.as_ref()?;
        meaning_in(found, self.level, place)
    }

    /// The selected row, by its place among some rows.
    pub(super) fn row_among(&self, found: &KernelsResult, rows: &[usize]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        let is_it = |place: &usize| is_selected_row(found, self.level, *place, selected);
        rows.iter().position(is_it)
    }

    /// Lists the kernels of a row, or goes back to the row.
    pub(crate) fn set_within(&mut self, within: Option<FilterGroup>) {
        let mut filter = self.filter().clone();
        let owner = within.as_ref().or(filter.within.as_ref());
        let Some(owner) = owner.map(SelectedRow::of_within) else {
            return;
        };
        self.level = if within.is_some() {
            BreakdownLevel::Kernel
        } else {
            owner.level()
        };
        self.selected = Some(owner);
        filter.within = within;
        self.set_filter(filter);
    }

    /// Shows rows of another level. The kernels of a row are not listed where the row itself is shown.
    pub(crate) fn set_level(&mut self, level: BreakdownLevel) {
        self.level = level;
        let mut filter = self.filter().clone();
        let owner = filter.within.as_ref().map(SelectedRow::of_within);
        if owner.is_some_and(|owner| owner.level() == level) {
            filter.within = None;
            self.set_filter(filter);
        }
    }
}

fn meaning_in(found: &KernelsResult, level: BreakdownLevel, place: usize) -> Option<SelectedRow> {
    let Some(comparison) = &found.comparison else {
        let row = found.breakdown(level).rows.get(place)?;
        return Some(SelectedRow::of_row(level, row));
    };
    let row = comparison.rows.get(place)?;
    let member = row.after.first().or_else(|| row.before.first())?;
    Some(SelectedRow::Kernel(member.name.clone()))
}

/// Whether a row is what is selected; a row of a comparison is where it has the kernel on either side.
fn is_selected_row(
    found: &KernelsResult,
    level: BreakdownLevel,
    place: usize,
    selected: &SelectedRow,
) -> bool {
    if let Some(comparison) = &found.comparison {
        let SelectedRow::Kernel(name) = selected else {
            return false;
        };
        let row = comparison.rows.get(place).into_iter();
        let mut members = row.flat_map(|row| row.after.iter().chain(&row.before));
        return members.any(|member| member.name == *name);
    }
    let row = found.breakdown(level).rows.get(place);
    row.is_some_and(|row| match selected {
        SelectedRow::Category(category) => {
            level == BreakdownLevel::Category && row.category == *category
        }
        SelectedRow::Operator(name) => level == BreakdownLevel::Operator && row.name == *name,
        SelectedRow::Kernel(name) => level == BreakdownLevel::Kernel && row.name == *name,
    })
}
