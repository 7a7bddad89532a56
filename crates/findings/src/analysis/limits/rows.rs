//! What limits the rows of a breakdown: each row stands for one node, or for several together.

use std::collections::BTreeMap;

use super::bound::Bound;
use super::case_limits::Limits;
use super::findings::LEADS_BY;
use super::node::NodeLimit;
use crate::analysis::breakdown::{self, Breakdown, BreakdownLevel, RowLimit};
use crate::analysis::category::{Category, Rules};
use powerband_core::domain::profile::Profile;

/// Gives each row of a breakdown of this profile what limits it.
pub fn add_row_limits(
    breakdown: &mut Breakdown,
    profile: &Profile,
    rules: &Rules,
    limits: &Limits,
) {
    // An operator is one row, whatever the categories of its kernels.
    let of_row =
        |category: Category| (breakdown.level != BreakdownLevel::Operator).then_some(category);
    let mut members: BTreeMap<(String, Option<Category>), Vec<&NodeLimit>> = BTreeMap::new();
    for node in &limits.nodes {
        if let Some(total) = profile.totals.get(node.total) {
            let (name, category, _) =
                breakdown::key(total, rules.categorise(total), breakdown.level);
            let row = members.entry((name, of_row(category))).or_default();
            row.push(node);
        }
    }
    for row in &mut breakdown.rows {
        let nodes = members.get(&(row.name.clone(), of_row(row.category)));
        row.limit = nodes.map(|nodes| row_limit(nodes));
    }
}

fn row_limit(nodes: &[&NodeLimit]) -> RowLimit {
    if let [node] = nodes {
        return RowLimit {
            bound: node.bound.clone(),
            max_speed_up: node.at_most_here,
            formula: node.formula.clone(),
        };
    }
    let whole: f64 = nodes.iter().map(|node| node.time_ns).sum();
    let judged = || nodes.iter().filter(|node| node.at_most_here.is_some());
    let times: f64 = judged().map(|node| node.time_ns).sum();
    let floors: f64 = judged()
        .filter_map(|node| node.floor)
        .map(|floor| floor.ns())
        .sum();
    RowLimit {
        bound: leading(nodes, whole),
        max_speed_up: (floors > 0.0).then(|| whole / (whole - times + floors)),
        formula: format!("sum of the floors of {} nodes", judged().count()),
    }
}

/// The cause of most of the time, where it leads the next by ten points.
fn leading(nodes: &[&NodeLimit], whole: f64) -> Result<Bound, String> {
    let mut times: BTreeMap<Result<Bound, String>, f64> = BTreeMap::new();
    for node in nodes {
        *times.entry(node.bound.clone()).or_default() += node.time_ns;
    }
    let mut times: Vec<(Result<Bound, String>, f64)> = times.into_iter().collect();
    times.sort_by(|a, b| b.1.total_cmp(&a.1));
    let next = times.get(1).map_or(0.0, |(_, time)| *time);
    match times.into_iter().next() {
        Some((bound, time)) if time - next >= LEADS_BY * whole => bound,
        Some(_) => Err("no single cause".to_owned()),
        None => Err("it has no nodes".to_owned()),
    }
}
