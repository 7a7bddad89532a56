//! The speed of light of a network on this machine: the least time of an item for each step that was measured, and
//! for each that was not, with what it can still bring.
//!
//! The least time is that of the whole network: its operations at the line for arithmetic, or its weights once at
//! the bandwidth of their level, whichever takes longer. Bytes of activations are not in it, so it is low rather
//! than high. What a step that was not taken can bring is said at the present distance from the floor: an engine
//! that reaches half of one line is taken to reach half of the next.

use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::roofs::{PROCESSOR, Roofs, numbers_of, roof_setup};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::work::NumberFormat;
use serde::Serialize;

use super::against;
use super::bound::Bound;
use super::curve::{self, OPERATIONS_A_MAC};
use super::lines::{References, RoofLine};
use super::node::WRONG_ABOVE;
use crate::analysis::case_rows::{CaseRow, case_rows};
use crate::analysis::journey::{Journey, StepResult, compare_steps};

/// A change below this share of the time is within the noise of any comparison.
const LEAST_NOISE: f64 = 0.01;

/// A step that makes a network faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LightStep {
    /// A step of the journey, as it was measured.
    Measured,
    /// Nodes are fused, so that what lies between them is not written and read.
    Fuse,
    /// 16-bit floats.
    HalfPrecision,
    /// 8-bit integers.
    Int8,
    /// Several items in a run.
    Batch,
    /// All threads of the machine.
    Threads,
}

impl LightStep {
    /// The steps that may be taken, in the order in which they are shown.
    pub const TO_TAKE: [Self; 5] = [
        Self::Fuse,
        Self::HalfPrecision,
        Self::Int8,
        Self::Batch,
        Self::Threads,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Fuse => "fuse nodes",
            Self::HalfPrecision => "half precision",
            Self::Int8 => "int8",
            Self::Batch => "larger batch",
            Self::Threads => "all threads",
        }
    }
}

/// The least time of an item with a step, and what the step can bring. Times are those of an item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LightRow {
    pub step: LightStep,
    /// What people read: the title of a measured step, else what would be done.
    pub title: String,
    /// The case: that of the step, or the fastest one, from which a further step would be taken.
    pub case: CaseKey,
    /// Whether it was measured: in that case, or in a step that is not as fast.
    #[serde(rename = "taken")]
    pub is_taken: bool,
    /// The time, in nanoseconds, where it was measured.
    pub measured_ns: Option<f64>,
    /// The least time with the step, in nanoseconds.
    pub floor_ns: Option<f64>,
    /// The least time as a share of the measured one; never clipped.
    pub share_of_floor: Option<f64>,
    /// What it can still bring, in nanoseconds: of a measured step its distance from the floor.
    pub can_bring_ns: Option<f64>,
    /// Whether that is within the noise of the measurement.
    #[serde(rename = "within_noise")]
    pub is_within_noise: Option<bool>,
    /// The line that it is measured against.
    pub line: String,
    /// How that is computed.
    pub formula: String,
    /// Why something is not said.
    pub reason: Option<String>,
}

/// The least time of each step of a session at its first point, and of the steps that were not taken.
pub fn light_rows(session: &Session, roofs: &[Roofs]) -> Vec<LightRow> {
    let rows = case_rows(session);
    let journey = compare_steps(session, &rows, session.plan.first_point());
    light_rows_of_cases(session, &rows, &journey, roofs)
}

/// The same for the steps of a journey in a session whose cases are in these rows.
pub fn light_rows_of_cases(
    session: &Session,
    cases: &[CaseRow],
    journey: &Journey,
    roofs: &[Roofs],
) -> Vec<LightRow> {
    // The setups of experiments are not optimisation steps.
    if session.plan.experiments.is_some() {
        return Vec::new();
    }
    let measured: Vec<&StepResult> = journey
        .steps
        .iter()
        .filter(|step| step.row.is_some())
        .collect();
    let mut found: Vec<LightRow> = measured
        .iter()
        .filter_map(|step| measured_row(session, &step.title, step.row.as_ref()?, roofs))
        .collect();
    let per_item =
        |step: &&&StepResult| step.row.as_ref().and_then(item_ns).unwrap_or(f64::INFINITY);
    let fastest = measured
        .iter()
        .min_by(|a, b| per_item(a).total_cmp(&per_item(b)));
    if let Some(row) = fastest.and_then(|step| step.row.as_ref()) {
        let steps = LightStep::TO_TAKE.into_iter();
        found.extend(steps.filter_map(|step| {
            let row = further_row(session, cases, step, row, roofs)?;
            Some(taken_before(row, session, &measured))
        }));
    }
    found
}

fn item_ns(row: &CaseRow) -> Option<f64> {
    let median = row.latency_ns.as_ref()?.median;
    let item = median / row.point.batch().max(1) as f64;
    (item > 0.0).then_some(item)
}

/// The change that is noise, as a share of the time.
fn noise(row: &CaseRow) -> f64 {
    row.ci95_rel().unwrap_or(LEAST_NOISE).max(LEAST_NOISE)
}

/// The least time of an item, with its line.
struct LeastTime {
    ns: f64,
    line: RoofLine,
    formula: String,
}

/// The least time of an item of a setup's network at a point, computed with some numbers; or why it is not known.
fn least(
    session: &Session,
    setup: usize,
    point: Point,
    numbers: NumberFormat,
    references: &References<'_>,
) -> Result<LeastTime, String> {
    let spec = session
        .plan
        .setups
        .get(setup)
        .ok_or("there is no such setup")?;
    if let Some(task) = spec.options.get("task").filter(|task| *task != "infer") {
        return Err(format!("the operations of task={task} are not counted"));
    }
    if point.others().next().is_some() {
        return Err(
            "the operations are counted for one size of the inputs, and this point has others"
                .to_owned(),
        );
    }
    let macs = session.model_of(setup).macs.filter(|macs| *macs > 0);
    let macs = macs.ok_or("the network's operations are not known")?;
    let bytes = curve::weight_bytes(session, setup, numbers);
    let quiet = |line: Option<RoofLine>, what: &str| {
        let line = line.ok_or_else(|| format!("no roof for {what} is known"))?;
        if line.is_noisy() {
            return Err(format!(
                "the {} is noisy; measure it again on a quiet machine",
                line.title
            ));
        }
        Ok(line)
    };
    let compute = quiet(
        references.compute(numbers),
        &format!("{numbers} arithmetic"),
    )?;
    let memory = quiet(references.memory(bytes), "memory")?;
    let batch = point.batch().max(1) as f64;
    let arithmetic = 1e9 * macs as f64 * OPERATIONS_A_MAC / compute.per_s;
    let weights = 1e9 * bytes as f64 / memory.per_s / batch;
    let formula = format!(
        "max(operations ÷ {}, weights ÷ {} ÷ batch) = max({}, {})",
        compute.height(),
        memory.height(),
        humanize::duration_ns(arithmetic),
        humanize::duration_ns(weights)
    );
    let (ns, line) = if arithmetic >= weights {
        (arithmetic, compute)
    } else {
        (weights, memory)
    };
    Ok(LeastTime { ns, line, formula })
}

fn key_of(row: &CaseRow) -> CaseKey {
    CaseKey {
        setup: row.setup,
        point: row.point,
    }
}

fn empty_row(step: LightStep, title: &str, case: CaseKey) -> LightRow {
    LightRow {
        step,
        title: title.to_owned(),
        case,
        is_taken: false,
        measured_ns: None,
        floor_ns: None,
        share_of_floor: None,
        can_bring_ns: None,
        is_within_noise: None,
        line: String::new(),
        formula: String::new(),
        reason: None,
    }
}

/// A step that was measured, and its distance from the floor.
fn measured_row(
    session: &Session,
    title: &str,
    row: &CaseRow,
    roofs: &[Roofs],
) -> Option<LightRow> {
    let time = item_ns(row)?;
    let mut found = LightRow {
        is_taken: true,
        measured_ns: Some(time),
        ..empty_row(LightStep::Measured, title, key_of(row))
    };
    let numbers = session
        .plan
        .setups
        .get(row.setup)
        .map_or(NumberFormat::F32, numbers_of);
    let key = found.case;
    let floor = against::references_for_setup(session, key.setup, Some(key), roofs)
        .and_then(|references| least(session, row.setup, row.point, numbers, &references));
    match floor {
        Ok(floor) => {
            let share = floor.ns / time;
            found.floor_ns = Some(floor.ns);
            found.share_of_floor = Some(share);
            found.line = format!("{} ({})", floor.line.title, floor.line.height());
            found.formula = floor.formula;
            if share > WRONG_ABOVE {
                found.reason = Some(Bound::ModelWrong.help().to_owned());
            } else {
                let left = (time - floor.ns).max(0.0);
                found.can_bring_ns = Some(left);
                found.is_within_noise = Some(left <= noise(row) * time);
            }
        }
        Err(reason) => found.reason = Some(reason),
    }
    Some(found)
}

/// A step beyond the fastest case.
fn further_row(
    session: &Session,
    cases: &[CaseRow],
    step: LightStep,
    row: &CaseRow,
    roofs: &[Roofs],
) -> Option<LightRow> {
    let time = item_ns(row)?;
    let spec = session.plan.setups.get(row.setup)?;
    let mut found = empty_row(step, step.title(), key_of(row));
    found.is_taken = is_taken(session, step, spec, row);
    let case = found.case;
    let references = against::references_for_setup(session, case.setup, Some(case), roofs);
    let bring = references.and_then(|references| {
        let beyond = FurtherSteps {
            session,
            cases,
            spec,
            row,
            time,
            references,
            roofs,
        };
        beyond.step_gain(step, found.is_taken)
    });
    match bring {
        Ok(bring) => {
            found.floor_ns = bring.floor_ns;
            found.can_bring_ns = Some(bring.ns);
            found.is_within_noise = Some(bring.ns <= noise(row) * time);
            found.line = bring.line;
            found.formula = bring.formula;
        }
        Err(reason) => found.reason = Some(reason),
    }
    Some(found)
}

/// A further step that a slower step of the session took already: what it brings with the same engine was measured,
/// and is no guess; with another engine it is another step.
fn taken_before(row: LightRow, session: &Session, measured: &[&StepResult]) -> LightRow {
    let fastest = session.plan.setups.get(row.case.setup);
    let taking = |step: &&&StepResult| {
        let spec = session.plan.setups.get(step.case.setup);
        let both = spec.zip(step.row.as_ref());
        both.is_some_and(|(spec, of_step)| is_taken(session, row.step, spec, of_step))
    };
    let has_engine = |step: &&&StepResult| {
        let spec = session.plan.setups.get(step.case.setup);
        spec.map(|spec| &spec.engine) == fastest.map(|spec| &spec.engine)
    };
    let mut steps = measured.iter().filter(taking).peekable();
    if row.is_taken || steps.peek().is_none() {
        return row;
    }
    match steps.find(has_engine) {
        Some(step) => LightRow {
            is_taken: true,
            reason: Some(format!(
                "it was measured as {}, which is not the fastest",
                step.title
            )),
            ..empty_row(row.step, &row.title, row.case)
        },
        None => LightRow {
            title: format!(
                "{} with {}",
                row.title,
                fastest.map_or("", |spec| &spec.engine)
            ),
            ..row
        },
    }
}

fn is_taken(session: &Session, step: LightStep, spec: &Setup, row: &CaseRow) -> bool {
    let numbers = numbers_of(spec);
    match step {
        LightStep::Measured => true,
        LightStep::Fuse => spec.options.get("opt").is_none_or(|level| level != "none"),
        LightStep::HalfPrecision => matches!(numbers, NumberFormat::F16 | NumberFormat::Bf16),
        LightStep::Int8 => numbers == NumberFormat::Int8,
        LightStep::Batch => row.point.batch() > 1,
        LightStep::Threads => {
            roof_setup(spec).device == PROCESSOR
                && against::threads_of(session, row.setup)
                    >= session.environment_of(row.setup).cpu.threads
        }
    }
}

/// The gain that a step may bring.
struct StepGain {
    ns: f64,
    floor_ns: Option<f64>,
    line: String,
    formula: String,
}

/// The fastest case, beyond which a step would be taken.
struct FurtherSteps<'a> {
    session: &'a Session,
    cases: &'a [CaseRow],
    spec: &'a Setup,
    row: &'a CaseRow,
    /// The time of an item, in nanoseconds.
    time: f64,
    references: References<'a>,
    roofs: &'a [Roofs],
}

impl FurtherSteps<'_> {
    fn step_gain(&self, step: LightStep, is_taken: bool) -> Result<StepGain, String> {
        match step {
            LightStep::Measured => Err("it was measured".to_owned()),
            LightStep::Fuse => self.fuse(),
            LightStep::Batch => self.batch(),
            _ if is_taken => Err("this step was taken".to_owned()),
            LightStep::HalfPrecision => self.numbers(&[NumberFormat::F16, NumberFormat::Bf16]),
            LightStep::Int8 => self.numbers(&[NumberFormat::Int8]),
            LightStep::Threads => self.threads(),
        }
    }

    fn now(&self) -> Result<LeastTime, String> {
        self.least(numbers_of(self.spec), &self.references)
    }

    fn least(
        &self,
        numbers: NumberFormat,
        references: &References<'_>,
    ) -> Result<LeastTime, String> {
        least(
            self.session,
            self.row.setup,
            self.row.point,
            numbers,
            references,
        )
    }

    /// A lower floor, at the present distance from it.
    fn lower(&self, floor: &LeastTime) -> Result<StepGain, String> {
        let now = self.now()?;
        let ns = (self.time * (1.0 - floor.ns / now.ns)).max(0.0);
        Ok(StepGain {
            ns,
            floor_ns: Some(floor.ns),
            line: format!("{} ({})", floor.line.title, floor.line.height()),
            formula: format!(
                "time × (1 − floor with the step ÷ floor) = {} × (1 − {} ÷ {}); {}",
                humanize::duration_ns(self.time),
                humanize::duration_ns(floor.ns),
                humanize::duration_ns(now.ns),
                floor.formula
            ),
        })
    }

    /// Computing with other numbers, the best of these.
    fn numbers(&self, kinds: &[NumberFormat]) -> Result<StepGain, String> {
        let mut reason = String::new();
        let mut best: Option<LeastTime> = None;
        for &numbers in kinds {
            match self.least(numbers, &self.references) {
                Ok(floor) if best.as_ref().is_none_or(|known| floor.ns < known.ns) => {
                    best = Some(floor);
                }
                Ok(_) => {}
                Err(why) => reason = why,
            }
        }
        self.lower(&best.ok_or(reason)?)
    }

    /// All threads of the machine.
    fn threads(&self) -> Result<StepGain, String> {
        if self.references.threads() == 0 {
            return Err("it runs on a card".to_owned());
        }
        let all = self.session.environment_of(self.row.setup).cpu.threads;
        let mut spec = self.spec.clone();
        spec.options.insert("threads".to_owned(), all.to_string());
        let references = self.references.with_setup(&spec, all);
        let floor = least(
            self.session,
            self.row.setup,
            self.row.point,
            numbers_of(&spec),
            &references,
        )?;
        self.lower(&floor)
    }

    /// What each run costs whatever its batch is shared by more items.
    fn batch(&self) -> Result<StepGain, String> {
        let curve =
            curve::curve_limits_of_rows(self.session, self.cases, self.row.setup, self.roofs)?;
        let batch = self.row.point.batch().max(1) as f64;
        let ns = curve.fixed.ns / batch;
        let floor = self.least_of_arithmetic()?;
        Ok(StepGain {
            ns,
            floor_ns: Some(floor),
            line: "latency = fixed + per item × batch".to_owned(),
            formula: format!(
                "fixed ÷ batch = {} ÷ {}",
                humanize::duration_ns(curve.fixed.ns),
                humanize::value(batch)
            ),
        })
    }

    /// The least time of an item where its batch is so large that reading the weights costs nothing.
    fn least_of_arithmetic(&self) -> Result<f64, String> {
        let large = self.row.point.with_batch(1 << 20);
        let numbers = numbers_of(self.spec);
        let floor = least(
            self.session,
            self.row.setup,
            large,
            numbers,
            &self.references,
        )?;
        Ok(floor.ns)
    }

    /// Bytes that lie between nodes and would no longer move.
    fn fuse(&self) -> Result<StepGain, String> {
        let key = key_of(self.row);
        let profiles = &self.session.profiles;
        let place = profiles
            .iter()
            .position(|profile| profile.case == Some(key));
        let place = place.ok_or(
            "no profile of the fastest case has the bytes of its nodes; measure it with profiles",
        )?;
        let limits = super::profile_limits(self.session, place, self.roofs);
        let known: f64 = limits
            .nodes
            .iter()
            .filter(|node| node.work.is_some())
            .map(|node| node.share)
            .sum();
        if known <= 0.0 {
            return Err("the bytes of the profile's nodes are not known".to_owned());
        }
        let mut ns = 0.0;
        let mut line = String::new();
        for node in &limits.nodes {
            let (Some(work), Some(floor)) = (node.work, node.floor) else {
                continue;
            };
            let between = work.high_bytes.saturating_sub(work.low_bytes);
            let footprint = work.low_bytes / node.calls.max(1);
            let Some(memory) = self.references.memory(footprint).filter(|_| between > 0) else {
                continue;
            };
            // No more than what is left of the node's time above its floor.
            let left = (node.time_ns - floor.ns()).max(0.0);
            ns += (1e9 * between as f64 / memory.per_s).min(left);
            line = format!("{} ({})", memory.title, memory.height());
        }
        let batch = self.row.point.batch().max(1) as f64;
        Ok(StepGain {
            ns: ns / batch,
            floor_ns: self.now().ok().map(|floor| floor.ns),
            line,
            formula: format!(
                "sum of (most bytes − fewest bytes) ÷ bandwidth over the nodes, each at most its time above its floor; nodes with {} of the time are known",
                humanize::percent(known)
            ),
        })
    }
}

#[cfg(test)]
mod tests;
